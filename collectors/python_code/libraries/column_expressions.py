"""Expressions of columns that a frame gives their values later: `pl.col("a")`, `F.sum("a")`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.python_code.libraries.iteration import iterate
from dbt_graft.collectors.python_code.libraries.masks import masking_of
from dbt_graft.collectors.python_code.libraries.pandas_series import (
    AGGREGATES,
    aggregate,
    call_series_method,
    choose,
)
from dbt_graft.collectors.python_code.values.frames import find_column, resolve
from dbt_graft.collectors.python_code.values.machine import Call, Handler, Machine
from dbt_graft.collectors.python_code.values.values import (
    NOTHING,
    PENDING,
    UNKNOWN,
    Const,
    Data,
    Form,
    Frame,
    Function,
    Input,
    Inputs,
    Items,
    Key,
    Library,
    Method,
    Thing,
    Value,
    change,
    derive,
    resolve_pending,
)
from dbt_graft.collectors.statements.columns.tree import parse_statements
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.records import ANY_COLUMN, Subtype

# Functions of rows' order, which only their window's columns go into.
_NUMBERING = words(
    "row_number rank dense_rank percent_rank cume_dist ntile monotonically_increasing_id"
)
# Functions whose texts after the first are columns too.
_VARIADIC = words("""
    coalesce concat greatest least struct array datediff months_between corr covar_samp nvl ifnull
    nullif concat_str sum_horizontal max_horizontal min_horizontal mean_horizontal any_horizontal
    all_horizontal date datetime create_map arrays_zip hash xxhash64 countDistinct count_distinct
    concat_list add_months array_except array_intersect array_repeat array_union arrays_overlap
    atan2 bit_get btrim contains covar_pop date_add date_diff date_sub dateadd endswith equal_null
    find_in_set get getbit grouping_id hypot ilike left levenshtein like log make_date
    make_interval make_timestamp map_concat map_from_arrays map_zip_with mask max_by min_by
    named_struct nanvl nvl2 overlay parse_url pmod position pow power regexp regexp_count
    regexp_instr regexp_like regexp_substr regr_avgx regr_avgy regr_count regr_intercept regr_r2
    regr_slope repeat replace right rlike sequence slice split_part stack startswith substr
    substring to_char to_number try_add try_divide try_element_at try_multiply try_subtract
    width_bucket zip_with""")
# Functions whose first text is no column: a format, a separator, a unit.
_TEXT_FIRST = words("""
    bucket call_function call_udf concat_ws date_part date_trunc datepart extract format_string
    locate printf timestamp_add timestamp_diff""")
_CONSTANT = words("""
    current_date current_timestamp now rand randn uuid input_file_name spark_partition_id""")


def named(name: str) -> Data:
    """A column by its name; one with a dot stays in backticks, which says that it has no fields."""
    name = name if "." in name else name.strip("`")
    pending = ColumnInput(PENDING, name)
    return Data(frozenset({pending}), name=name, form=Form.EXPRESSION)


def as_expression(machine: Machine, value: Value | None, *, text_is_column: bool = True) -> Data:
    """A value as an expression; a text is the name of a column, `when` one of several values."""
    if isinstance(value, Thing) and value.role == "when":
        return _chosen(machine, value)
    if isinstance(value, Const) and isinstance(value.value, str) and text_is_column:
        return named(value.value)
    data = machine.data(value)
    return replace(data, form=Form.EXPRESSION)


def col(call: Call) -> Value:
    """`pl.col("a")`, `F.col("a")`; of several names, several."""
    names = [
        name
        for value in call.arguments.positional
        for name in call.machine.keys(value) or []
        if isinstance(name, str)
    ]
    if not names:
        gap = call.gap("a column whose name is not known")
        return Data(gaps=frozenset({gap}), form=Form.EXPRESSION)
    if len(names) == 1:
        return named(names[0])
    return Thing("columns of", {"names": call.machine.new_list([Const(name) for name in names])})


def all_columns(call: Call) -> Value:
    """`pl.all()`."""
    return named(ANY_COLUMN) if not call.arguments.positional else call_function(call)


def excluded(call: Call) -> Value:
    """`pl.exclude("a")`, `pl.all().exclude("a")`."""
    names = [
        Const(name)
        for value in call.arguments.positional
        for name in call.machine.keys(value) or []
        if isinstance(name, str)
    ]
    return Thing("columns except", {"without": call.machine.new_list(names)})


def call_columns_method(call: Call) -> Value:
    """A method of several columns: of each."""
    made = [
        call_series_method(replace(call, owner=named(name)))
        for item in _items(call.machine, call.owner)
        for name in call.machine.keys(item) or []
        if isinstance(name, str)
    ]
    return call.machine.new_list(made) if made else UNKNOWN


def _arguments(call: Call) -> list[Data]:
    """The columns that a function gets, also by their names; functions of them are followed."""
    name = call.name
    arguments: list[Data] = []
    is_sqlalchemy = isinstance(call.owner, Library) and call.owner.name.startswith("sqlalchemy")
    for at, value in enumerate(call.arguments.positional):
        if isinstance(value, Function):  # of the items of what goes before
            item = replace(derive(arguments, call.place), form=Form.EXPRESSION)
            value = call.machine.call(value, *[item] * len(value.node.args.args))
        is_name = (at > 0) if name in _TEXT_FIRST else (at == 0 or name in _VARIADIC)
        arguments += [
            as_expression(call.machine, item, text_is_column=is_name and not is_sqlalchemy)
            for item in _items(call.machine, value)
        ]
    named_values = (call.arguments.named or {}).values()
    return arguments + [as_expression(call.machine, v, text_is_column=False) for v in named_values]


def call_function(call: Call) -> Value:
    """A function of columns, by its name: an aggregate, a number of rows, or a change."""
    name = call.name
    if name in _CONSTANT:
        return Data(form=Form.EXPRESSION, name=name)
    if name in {"lit", "typedLit"}:  # of a value that was read before
        literal = call.machine.data(call.get("", 0))
        return replace(literal, form=Form.EXPRESSION, name="literal")
    arguments = _arguments(call)
    if name == "broadcast":
        return call.get("df", 0) or UNKNOWN
    if name in {"desc", "asc"} and arguments:
        return arguments[0]
    if name in _NUMBERING:
        return Data(form=Form.EXPRESSION, name=f"{name}()", place=call.place)
    is_count = name in {"count", "len"} and all(
        not data.inputs or data.name in {ANY_COLUMN, "1"} for data in arguments
    )
    is_spark = isinstance(call.owner, Library) and call.owner.name.startswith("pyspark")
    if is_count:
        name = "count(1)" if is_spark else name
        return Data(form=Form.EXPRESSION, name=name, place=call.place, is_aggregate=True)
    is_aggregate = name in _MORE_AGGREGATES or (name in AGGREGATES and name != "size")
    subtype = Subtype.AGGREGATION if is_aggregate else Subtype.TRANSFORMATION
    data = derive(arguments, call.place, subtype, masking_of(name, is_method=False))
    label = arguments[0].name if arguments else None
    if is_spark:
        label = f"{name}({', '.join(str(data.name) for data in arguments if data.name)})"
    makes_rows = is_spark and name in _MAKES_ROWS
    made = replace(data, name=label, form=Form.EXPRESSION, is_aggregate=is_aggregate)
    return replace(made, makes_rows=True) if makes_rows else made


_MORE_AGGREGATES = words("""
    countDistinct count_distinct approx_count_distinct collect_list collect_set stddev variance
    stddev_pop var_pop var_samp stddev_samp sumDistinct sum_distinct first_value last_value
    max_by min_by percentile_approx kurtosis skewness bool_or bool_and string_agg group_concat
    array_agg any_value bit_and bit_or bit_xor corr count_if covar_pop covar_samp every listagg
    percentile regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope some try_avg
    try_sum""")
_MAKES_ROWS = words("explode explode_outer posexplode posexplode_outer inline inline_outer")


def _items(machine: Machine, value: Value) -> list[Value]:
    items = machine.items(value)
    if isinstance(value, Thing) and "names" in value.traits:
        items = machine.items(value.traits["names"])
    return items.values if items is not None else [value]


def user_defined(call: Call) -> Value:
    """`F.udf(function)`, or the decorator `@F.udf(returnType=…)`."""
    function = call.get("f", 0)
    traits = {"function": function} if isinstance(function, Function) else {}
    return Method(Thing("udf", traits), "__call__")


def call_user_defined(call: Call) -> Value:
    """A function of the script's on columns; of a decorator, the function that it makes."""
    machine = call.machine
    function = call.owner.traits.get("function") if isinstance(call.owner, Thing) else None
    if function is None:
        return user_defined(call)
    given = call.arguments.positional
    columns = (replace(as_expression(machine, value), form=Form.VALUE) for value in given)
    made = machine.data(machine.call(function, *columns))
    return replace(made, form=Form.EXPRESSION, name="udf", place=call.place)


def when(call: Call) -> Value:
    """`pl.when(condition).then(value)`, `F.when(condition, value)`."""
    machine = call.machine
    condition = as_expression(machine, call.get("condition", 0), text_is_column=False)
    conditions = machine.new_list([condition])
    value = call.get("value", 1)
    values = machine.new_list([value] if value is not None else [])
    return Thing("when", {"conditions": conditions, "values": values})


def call_when_method(call: Call) -> Value:
    """`.then(…)`, `.when(…)`, `.otherwise(…)`, and what is done with the value."""
    machine, owner = call.machine, call.owner
    assert isinstance(owner, Thing)
    conditions = list(iterate(machine, owner.traits["conditions"]).items)
    values = list(iterate(machine, owner.traits["values"]).items)
    if call.name == "when":
        conditions.append(machine.data(call.get("condition", 0)))
        values += call.arguments.positional[1:]
    elif call.name in {"then", "otherwise"}:
        values += call.arguments.positional
    traits = {"conditions": machine.new_list(conditions), "values": machine.new_list(values)}
    thing = Thing("when", traits)
    if call.name in {"when", "then"}:
        return thing
    value = _chosen(machine, thing)
    if call.name == "otherwise":
        return value
    return call_series_method(replace(call, owner=value))


def _chosen(machine: Machine, thing: Thing) -> Data:
    """The value of `when`: one of several."""
    conditions = [machine.data(v) for v in iterate(machine, thing.traits["conditions"]).items]
    values = [machine.data(v) for v in iterate(machine, thing.traits["values"]).items]
    return replace(choose(conditions, values, machine.place), form=Form.EXPRESSION)


def case(call: Call) -> Value:
    """`case((condition, value), …, else_=value)`."""
    machine = call.machine
    pairs = [iterate(machine, value).items for value in call.arguments.positional]
    last = call.get("else_")
    values = [*(pair[1] for pair in pairs if len(pair) == 2), *([last] if last else [])]
    conditions = [machine.data(pair[0]) for pair in pairs if len(pair) == 2]
    return choose(conditions, list(map(machine.data, values)), call.place)


def sql_expression(call: Call) -> Value:
    """`F.expr("a + b AS c")`."""
    text = call.text("", 0)
    return parse_expression(call, text) if text is not None else UNKNOWN


def parse_expression(call: Call, text: str) -> Data | Items:
    """The columns that an expression of SQL makes, as the same in a query; several of `stack`."""
    try:
        query = f"SELECT {text} FROM graft_row"  # noqa: S608
        tree = parse_statements(query, Dialect.SPARK.value)[0]
        projection = tree.selects[0] if isinstance(tree, exp.Query) and tree.selects else tree
        (shape,) = parse(tree.transform(_with_dots).sql(Dialect.SPARK.value), Dialect.SPARK)
    except (SqlglotError, RecursionError, ValueError):
        gap = call.gap("an expression in SQL is not read")
        return Data(gaps=frozenset({gap}), form=Form.EXPRESSION)
    inputs: dict[str, set[Input]] = {}
    makes_rows = False
    for edge in shape.column_edges:
        made = ColumnInput(PENDING, edge.from_column, edge.subtype, edge.masking)
        if edge.subtype is Subtype.JOIN:
            makes_rows = True
        else:
            inputs.setdefault(edge.column, set()).add(made)
    if isinstance(projection, exp.Column):
        return named(_with_dots(projection).name)
    is_aggregate = projection.find(exp.AggFunc) is not None and not projection.find(exp.Window)
    base = Data(
        place=call.place,
        form=Form.EXPRESSION,
        is_aggregate=is_aggregate,
        makes_rows=makes_rows,
    )
    if len(shape.result) > 1:
        each = ((name, frozenset(inputs.get(name, ()))) for name in shape.result)
        return Items(tuple(replace(base, inputs=of_it, name=name) for name, of_it in each))
    all_of_it = frozenset().union(*inputs.values())
    return replace(base, inputs=all_of_it, name=next(iter(shape.result), None))


def _with_dots(node: exp.Expr) -> exp.Expr:
    """A column with what stands before its name as a part of that: a table, or a struct."""
    if not isinstance(node, exp.Column) or len(node.parts) < 2:
        return node
    return exp.column(".".join(part.name for part in node.parts), quoted=True)


def over(call: Call) -> Value:
    """`.over("k")`, `.over(Window.partitionBy("k").orderBy("d"))`."""
    machine = call.machine
    deciding: list[Data] = []
    for value in [*call.arguments.positional, *(call.arguments.named or {}).values()]:
        for item in _items(machine, value):
            if isinstance(item, Thing) and item.role == "window":
                deciding += machine.parts(item)
            elif isinstance(item, Const | Data):
                deciding.append(as_expression(machine, item))
    owner = machine.data(call.owner)
    window = NOTHING.union(*(change(data.inputs, Subtype.WINDOW) for data in deciding))
    return replace(
        owner, inputs=owner.inputs | window, is_aggregate=False, place=owner.place or call.place
    )


def window(call: Call) -> Value:
    """`Window.partitionBy("k").orderBy("d")`."""
    before = call.owner.traits["columns"] if isinstance(call.owner, Thing) else None
    columns = list(iterate(call.machine, before).items) if before is not None else []
    if call.name in {"partitionBy", "orderBy"}:
        for value in call.arguments.positional:
            columns += [as_expression(call.machine, v) for v in _items(call.machine, value)]
    return Thing("window", {"columns": call.machine.new_list(columns)})


def evaluate_columns(
    call: Call, frame: Frame, values: Iterable[Value], named_values: Mapping[str, Value] | None
) -> tuple[dict[Key, Data], Inputs]:
    """The columns that `select` and its like make of a frame, and what makes several rows of one.

    A column without a name is None.
    """
    columns: dict[Key, Data] = {}
    making: Inputs = NOTHING
    for value in values:
        for item in _items(call.machine, value):
            if item == Const(ANY_COLUMN):
                item = named(ANY_COLUMN)
            if isinstance(item, Thing) and item.role == "columns except":
                gone = call.machine.keys(item.traits["without"]) or []
                columns.update({k: d for k, d in frame.columns.items() if k not in gone})
                continue
            if isinstance(item, Data) and item.name == ANY_COLUMN:
                columns.update(_of_each(item, frame))
                continue
            made = resolve(call.machine, as_expression(call.machine, item), frame)
            making |= made.inputs if made.makes_rows else NOTHING
            made = replace(made, makes_rows=False)
            if call.machine.frame(item) is not None:  # `df.colRegex("a.*")`
                columns[None] = replace(made, origin=made.origin or call.gap("columns of a frame"))
                continue
            generates = _GENERATES.match(str(made.name))
            columns.update(
                _generated(call, made, generates) if generates else {_short(made.name): made}
            )
    for name, value in (named_values or {}).items():
        made = resolve(call.machine, as_expression(call.machine, value), frame)
        making |= made.inputs if made.makes_rows else NOTHING
        columns[name] = replace(made, place=call.place, makes_rows=False)
    return columns, making


# Spark names the columns of these by what they take apart, an array or a map.
_GENERATES = re.compile(
    r"((?P<pos>pos)?explode|(?P<fields>inline|json_tuple))(?:_outer)?\((?P<made_by>\w+(?=\())?",
    re.IGNORECASE,
)
_ARRAYS = words("""
    array array_distinct array_except array_intersect array_repeat array_sort array_union
    arrays_zip collect_list collect_set filter flatten map_entries map_keys map_values sequence
    slice sort_array split transform""")
_MAPS = words("""
    create_map map map_concat map_filter map_from_arrays map_from_entries str_to_map
    transform_keys transform_values""")


def _generated(call: Call, data: Data, generates: re.Match[str]) -> dict[Key, Data]:
    """The columns of `explode(…)` without a name of its own."""
    made_by = (generates["made_by"] or "").casefold()
    if generates["fields"] or made_by not in _ARRAYS | _MAPS:
        gap = call.gap(
            f"the fields that `{generates['fields']}` makes columns of are not known"
            if generates["fields"]
            else "`explode` makes `col` of an array, `key` and `value` of a map: not known which"
        )
        return {None: replace(data, name=None, origin=gap)}
    columns: dict[Key, Data] = {"pos": replace(data, name="pos")} if generates["pos"] else {}
    names = ("key", "value") if made_by in _MAPS else ("col",)
    return columns | {name: replace(data, name=name) for name in names}


def _of_each(data: Data, frame: Frame) -> dict[Key, Data]:
    """An expression of all columns, for each of them."""
    return {
        name: replace(resolve_pending(data, {ANY_COLUMN: column}.__getitem__), name=None)
        for name, column in frame.columns.items()
    }


def _short(name: Key) -> Key:
    """The name of a column behind the alias of its table: `o.id`."""
    if isinstance(name, str) and "." in name and name.replace(".", "").isidentifier():
        return name.rpartition(".")[2]
    return name


def condition(call: Call, frame: Frame, value: Value | None) -> Data:
    """A condition on a frame's rows: an expression, or a text in SQL."""
    text = call.machine.text(value)
    data = call.machine.data(parse_expression(call, text) if text is not None else value)
    if isinstance(value, Thing) and value.role == "when":
        data = _chosen(call.machine, value)
    return resolve(call.machine, data, frame)


def all_of(call: Call, frame: Frame, values: Iterable[Value]) -> list[tuple[Key, Data]]:
    """Columns by names or expressions: of `group_by`, `sort`."""
    pairs: list[tuple[Key, Data]] = []
    for value in values:
        for item in _items(call.machine, value):
            data = as_expression(call.machine, item)
            resolved = resolve(call.machine, data, frame)
            if isinstance(item, Const):
                resolved = find_column(call.machine, frame, data.name)
            pairs.append((_short(data.name), resolved))
    return pairs


EXPRESSION_METHODS: Mapping[str, Handler] = {
    "exclude": excluded,
    "over": over,
    **{
        f"rolling_{name}": aggregate
        for name in words("sum mean min max std var median quantile skew apply map")
    },
}
