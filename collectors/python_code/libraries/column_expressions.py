"""Expressions of columns that a frame gives their values later: `pl.col("a")`, `F.sum("a")`."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from functools import reduce

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
from dbt_graft.collectors.python_code.script import UNKNOWN_PART
from dbt_graft.collectors.python_code.values.frames import (
    change_open,
    find_column,
    resolve,
    rest_of,
    row_of,
    selected,
)
from dbt_graft.collectors.python_code.values.machine import Arguments, Call, Handler, Machine
from dbt_graft.collectors.python_code.values.selections import (
    UNSURE,
    both,
    complement,
    either,
    is_selection,
    like,
    listed,
    names_of,
    names_without,
    with_text,
)
from dbt_graft.collectors.python_code.values.values import (
    NOTHING,
    PENDING,
    UNKNOWN,
    Const,
    Data,
    DictCell,
    Form,
    Frame,
    Function,
    Input,
    Items,
    Key,
    Library,
    LineGap,
    Method,
    OpenPart,
    Text,
    Thing,
    Value,
    all_gaps,
    all_inputs,
    change,
    decided,
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
    coalesce concat cov duration rolling_corr rolling_cov arg_sort_by
    greatest least struct array datediff months_between corr covar_samp nvl ifnull
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
    bucket call_function call_udf concat_ws date_part date_trunc datepart extract format
    format_string locate printf timestamp_add timestamp_diff""")
# Functions whose named texts are columns, without these.
_NAMED, _OPTIONS = words("struct duration"), words("time_unit schema eager")
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
    if isinstance(value, Thing) and value.role == "struct":
        made = machine.derived([value.traits["all"]])
        name = next(iter(names_of(made.name) or ()), None) if is_selection(made.name) else made.name
        return replace(made, form=Form.EXPRESSION, name=name)
    if text_is_column and (value == UNKNOWN or isinstance(value, Library | Text)):
        gap = machine.gap("a column whose name is not known")
        return Data(gaps=frozenset({gap}), form=Form.EXPRESSION)
    data = machine.data(value)
    return replace(data, form=Form.EXPRESSION)


def col(call: Call) -> Value:
    """`pl.col("a")`, `F.col("a")`; of several names, a pattern or a type, several."""
    selection = _selection(call)
    if selection is None:
        gap = call.gap("a column whose name is not known")
        return Data(gaps=frozenset({gap}), form=Form.EXPRESSION)
    return named(selection)


def _selection(call: Call) -> str | None:
    """The columns that arguments mean: names, patterns, types, selectors; None if not known."""
    machine = call.machine
    items = [item for value in call.arguments.positional for item in _items(machine, value)]
    selections: list[str] = []
    names: list[str] = []
    for item in items:
        name = item.name if isinstance(item, Data) else machine.key(item)
        if isinstance(name, Library):  # a type
            selections.append(UNSURE)
        elif is_selection(name):
            selections.append(str(name))
        elif isinstance(name, str) and name.startswith("^") and name.endswith("$"):
            selections.append(like(name))
        elif isinstance(name, str):
            names.append(name)
        elif not isinstance(item, Const):
            return None
    if not selections and len(names) == 1:
        return names[0]
    if names:
        selections.append(listed(names))
    return reduce(either, selections) if selections else None


def _is_polars(value: Value) -> bool:
    return isinstance(value, Library) and value.name.startswith("polars")


def all_columns(call: Call) -> Value:
    """`pl.all()`, `cs.all()`."""
    return named(ANY_COLUMN) if not call.arguments.positional else aggregate_of(call)


def aggregate_of(call: Call) -> Value:
    """`pl.sum("a", "b")`: of columns by their names."""
    if not call.arguments.positional:
        return call_function(call)
    return aggregate(replace(call, owner=col(call)))


def excluded(call: Call) -> Value:
    """`pl.exclude("a")`, `pl.all().exclude("a")`."""
    owner = call.owner.name if isinstance(call.owner, Data) else ANY_COLUMN
    out = _selection(call)
    if out is None:
        return named(UNSURE)
    return named(both(str(owner), complement(out if is_selection(out) else listed([out]))))


def by_texts(call: Call) -> Value:
    """`cs.starts_with("a", "b")`, `cs.ends_with("c")`, `cs.contains("d")`."""
    texts = [t for value in call.arguments.positional for t in call.machine.keys(value) or [None]]
    names = [text for text in texts if isinstance(text, str)]
    if not names or len(names) < len(texts):
        return named(UNSURE)
    if call.name == "matches":
        return named(like(f".*{names[0].removeprefix('^')}"))
    before = "" if call.name == "starts_with" else ".*"
    return named(with_text(names, before, r"\Z" if call.name == "ends_with" else ""))


def selected_by_name(call: Call) -> Value:
    """`cs.by_name("a", "b")`."""
    selection = _selection(call) or UNSURE
    return named(selection if is_selection(selection) else listed([selection]))


def unsure_selection(call: Call) -> Value:
    """`cs.numeric()`: columns by what only a run knows."""
    return named(UNSURE)


def rename_columns(call: Call) -> Value:
    """`.name.suffix("_sum")`: another name for a column, or for each of several."""
    owner = call.machine.data(call.owner.owner if isinstance(call.owner, Thing) else None)
    text = call.text("suffix" if call.name == "suffix" else "prefix", 0)
    name: Key = None
    names = names_of(owner.name) if is_selection(owner.name) else None
    if names is not None and call.name in {"map", "to_lowercase", "to_uppercase"}:
        each = (Thing("name", {}, _of_name(owner, name)) for name in names)
        return Items(tuple(rename_columns(replace(call, owner=thing)) for thing in each))
    if call.name == "keep":
        name = owner.name
    elif call.name in {"suffix", "prefix"} and text is not None and UNKNOWN_PART not in text:
        name = f"{owner.name}{text}" if call.name == "suffix" else f"{text}{owner.name}"
    elif not is_selection(owner.name) and isinstance(owner.name, str):
        if call.name in {"to_lowercase", "to_uppercase"}:
            name = owner.name.lower() if call.name == "to_lowercase" else owner.name.upper()
        elif call.name == "map" and call.arguments.positional:
            made = call.machine.call(call.arguments.positional[0], Const(owner.name))
            name = call.machine.text(made)
    if name is None:
        gap = call.gap("columns get names that are not known")
        return replace(owner, name=None, origin=gap)
    return replace(owner, name=name, place=call.place)


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
        for part in _items(call.machine, value):
            is_column = is_name and not (at and part == UNKNOWN)  # further ones may be numbers
            is_column = is_column and not is_sqlalchemy
            arguments.append(as_expression(call.machine, part, text_is_column=is_column))
    arguments += call.machine.all_parts(call.arguments.more)
    return arguments + [
        as_expression(call.machine, value, text_is_column=name in _NAMED and key not in _OPTIONS)
        for key, value in (call.arguments.named or {}).items()
    ]


def call_function(call: Call) -> Value:
    """A function of columns, by its name: an aggregate, a number of rows, or a change."""
    name = call.name
    if name in _CONSTANT:
        return Data(form=Form.EXPRESSION, name=name)
    if name in {"lit", "typedLit"}:  # of a value that was read before
        literal = call.machine.data(call.get("", 0))
        return replace(literal, form=Form.EXPRESSION, name="?")
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
    makes_rows = is_spark and name in _MAKES_ROWS
    if name in _RANGES:  # as many rows as there are between them
        data = replace(data, rows=data.rows | change(data.inputs, Subtype.JOIN))
    label = _label(call, arguments)
    made = replace(data, name=label, form=Form.EXPRESSION, is_aggregate=is_aggregate)
    return replace(made, makes_rows=True) if makes_rows else made


def _label(call: Call, arguments: list[Data]) -> Key:
    """The name of a function's column: that of the first argument, or its own text."""
    if isinstance(call.owner, Library) and call.owner.name.startswith("pyspark"):
        return _SPARK_LABELS.get(call.name) or _labelled(call.name, arguments)
    label: Key = arguments[0].name if arguments else None
    return next(iter(names_of(label) or ()), None) if is_selection(label) else label


def _labelled(name: str, arguments: list[Data]) -> str | None:
    """The text of a function's call in Spark, `?` for literals; None where one is not known."""
    texts: list[str] = []
    for data in arguments:
        is_plain = all(item.subtype is Subtype.IDENTITY for item in data.inputs)
        if data.inputs and not is_plain and "(" not in str(data.name):
            return None  # `a + 1`
        texts.append(str(data.name or "?"))
    if name in {"countDistinct", "count_distinct"}:
        return f"count(DISTINCT {', '.join(texts)})"
    return f"{SPARK_NAMES.get(name, name)}({', '.join(texts)})"


# The columns of these are structs.
_SPARK_LABELS = {"window": "window", "session_window": "session_window"}
SPARK_NAMES = {"mean": "avg", "sumDistinct": "sum", "sum_distinct": "sum"}
_MORE_AGGREGATES = words("""
    countDistinct count_distinct approx_count_distinct collect_list collect_set stddev variance
    stddev_pop var_pop var_samp stddev_samp sumDistinct sum_distinct first_value last_value
    max_by min_by percentile_approx kurtosis skewness bool_or bool_and string_agg group_concat
    array_agg any_value bit_and bit_or bit_xor corr count_if covar_pop covar_samp every listagg
    percentile regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope some try_avg
    try_sum""")
_RANGES = words("arange date_range datetime_range int_range linear_space time_range")
_MAKES_ROWS = words("explode explode_outer posexplode posexplode_outer inline inline_outer")


def _items(machine: Machine, value: Value) -> list[Value]:
    items = machine.items(value)
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
    if _is_polars(call.owner):
        conditions = machine.new_list([_conditions(call)])
        return Thing("when", {"conditions": conditions, "values": machine.new_list([])})
    condition = as_expression(machine, call.get("condition", 0), text_is_column=False)
    conditions = machine.new_list([condition])
    value = call.get("value", 1)
    values = machine.new_list([value] if value is not None else [])
    return Thing("when", {"conditions": conditions, "values": values, "spark": Const(True)})


def _conditions(call: Call) -> Data:
    """Conditions of Polars that hold together: expressions, and `column=value`."""
    machine = call.machine
    parts = [as_expression(machine, v) for v in call.arguments.positional]
    equal = (call.arguments.named or {}).items()
    parts += [machine.derived([named(name), value]) for name, value in equal]
    return replace(derive(parts, call.place), form=Form.EXPRESSION)


def call_when_method(call: Call) -> Value:
    """`.then(…)`, `.when(…)`, `.otherwise(…)`, and what is done with the value."""
    machine, owner = call.machine, call.owner
    assert isinstance(owner, Thing)
    conditions = list(iterate(machine, owner.traits["conditions"]).items)
    values = list(iterate(machine, owner.traits["values"]).items)
    is_spark = "spark" in owner.traits
    if call.name == "when" and is_spark:
        conditions.append(machine.data(call.get("condition", 0)))
        values += call.arguments.positional[1:]
    elif call.name == "when":
        conditions.append(_conditions(call))
    elif call.name in {"then", "otherwise"}:
        added = call.arguments.values()
        values += added if is_spark else [as_expression(machine, value) for value in added]
    lists = {"conditions": machine.new_list(conditions), "values": machine.new_list(values)}
    thing = Thing("when", {**owner.traits, **lists})
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
    name = values[0].name if values and "spark" not in thing.traits else None
    return replace(choose(conditions, values, machine.place), form=Form.EXPRESSION, name=name)


def struct(call: Call) -> Value:
    """`pl.struct("a", b=…)`: columns in one, which a function gets as a dictionary."""
    machine = call.machine
    items = [item for value in call.arguments.positional for item in _items(machine, value)]
    fields = [as_expression(machine, item) for item in items]
    named_fields = (call.arguments.named or {}).items()
    fields += [
        replace(as_expression(machine, value), name=name)
        for name, value in named_fields
        if name not in _OPTIONS
    ]
    entries: dict[Key, Value] = {}
    opened: list[frozenset[OpenPart]] = []
    for field in fields:
        names = names_of(field.name) if is_selection(field.name) else [field.name]
        without = names_without(field.name) if names is None else None
        if names is None and without is None:
            return call_function(call)
        if without is not None:
            opened.append(frozenset({OpenPart(PENDING, frozenset(without))}))
        for name in names or ():
            entries[name] = replace(_of_name(field, name), form=Form.VALUE)
    cell = DictCell(entries, open=tuple(opened))
    return Thing("struct", {"fields": machine.new(cell), "all": machine.new_list(fields)})


def _of_name(data: Data, name: str) -> Data:
    """An expression of several columns for one of them, which has its name."""
    selection = data.name
    if not is_selection(selection):
        return data
    inputs, rows = (
        frozenset(i._replace(column=name) if i.column == selection else i for i in items)
        for items in (data.inputs, data.rows)
    )
    return replace(data, inputs=inputs, rows=rows, name=name)


def call_struct_method(call: Call) -> Value:
    """A method of columns in one."""
    machine, owner = call.machine, call.owner
    assert isinstance(owner, Thing)
    if call.name == "map_elements" and call.arguments.positional:
        fields = machine.cell(owner.traits["fields"])
        assert isinstance(fields, DictCell)
        made = machine.data(machine.call(call.arguments.positional[0], machine.new(fields)))
        name = as_expression(machine, owner).name
        return replace(made, form=Form.EXPRESSION, name=name, place=call.place)
    method = EXPRESSION_METHODS.get(call.name) or call_series_method
    return method(replace(call, owner=as_expression(machine, owner)))


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
    texts = call.machine.items(call.get("", 0)) or Items((call.get("", 0) or UNKNOWN,))
    made = [parse_expression(call, text) for text in texts.values]
    return made[0] if len(made) == 1 else call.machine.new_list(made)


def parse_expression(call: Call, value: Value) -> Data | Items:
    """The columns that an expression of SQL makes, as the same in a query; several of `stack`."""
    text = call.machine.text(value)
    if text is None:
        gap = call.gap("the text of an expression is not known")
        return replace(call.machine.data(value).with_gap(gap), form=Form.EXPRESSION)
    try:
        query = f"SELECT {text} FROM graft_row"  # noqa: S608
        tree = parse_statements(query, Dialect.SPARK.value)[0]
        projection = tree.selects[0] if isinstance(tree, exp.Query) and tree.selects else tree
        (shape,) = parse(tree.transform(_with_dots).sql(Dialect.SPARK.value), Dialect.SPARK)
        if projection.find(exp.Query):
            raise ValueError(text)
    except (SqlglotError, RecursionError, ValueError):
        gap = call.gap("an expression in SQL is not read")
        return Data(gaps=frozenset({gap}), form=Form.EXPRESSION)
    inputs: dict[str, set[Input]] = {}
    makes_rows = False
    gaps: set[LineGap] = set()
    for edge in shape.column_edges:
        made = ColumnInput(PENDING, edge.from_column, edge.subtype, edge.masking)
        if edge.subtype is Subtype.JOIN:
            makes_rows = True
        elif UNKNOWN_PART not in edge.from_column:
            inputs.setdefault(edge.column, set()).add(made)
        else:
            gaps.add(call.gap("a part of an expression is not known"))
    parts = change(call.machine.data(value).inputs)
    if parts or inputs:  # it is a value
        gaps = set()
    if isinstance(projection, exp.Column) and not gaps:
        return named(_with_dots(projection).name)
    is_aggregate = projection.find(exp.AggFunc) is not None and not projection.find(exp.Window)
    base = Data(
        place=call.place,
        form=Form.EXPRESSION,
        gaps=frozenset(gaps),
        is_aggregate=is_aggregate,
        makes_rows=makes_rows,
    )
    if len(shape.result) > 1:
        each = ((name, parts.union(inputs.get(name, ()))) for name in shape.result)
        return Items(tuple(replace(base, inputs=of_it, name=name) for name, of_it in each))
    all_of_it = parts.union(*inputs.values())
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
    by_name = (call.get("window"), call.get("partition_by"), call.get("order_by"))
    more = call.arguments.more
    for value in [*call.arguments.positional, *more, *filter(None, by_name)]:
        for item in _items(machine, value):
            if isinstance(item, Thing) and item.role == "window":
                deciding += machine.parts(item)
            elif isinstance(item, Const | Data):
                deciding.append(as_expression(machine, item))
    data = machine.data(call.owner)
    owner = decided(data, data.inputs)
    window = NOTHING.union(*(change(data.inputs, Subtype.WINDOW) for data in deciding))
    return replace(
        owner,
        inputs=owner.inputs | window,
        gaps=owner.gaps.union(*map(all_gaps, deciding)),
        is_aggregate=False,
        place=owner.place or call.place,
    )


def window(call: Call) -> Value:
    """`Window.partitionBy("k").orderBy("d")`."""
    before = call.owner.traits["columns"] if isinstance(call.owner, Thing) else None
    columns = list(iterate(call.machine, before).items) if before is not None else []
    if call.name in {"partitionBy", "orderBy"}:
        for value in (*call.arguments.positional, *call.arguments.more):
            columns += [as_expression(call.machine, v) for v in _items(call.machine, value)]
    return Thing("window", {"columns": call.machine.new_list(columns)})


def evaluate_columns(
    call: Call,
    frame: Frame,
    values: Iterable[Value],
    named_values: Mapping[str, Value] | None,
    keys: Container[Key] = (),
) -> Frame:
    """The columns that `select` and its like make of a frame, with what decides on their rows.

    Args:
        keys: Columns that no selection means, those that rows are grouped by.
    """
    columns: dict[Key, Data] = {}
    opened: list[frozenset[OpenPart]] = []
    rest: Data | None = None
    rows: set[Input] = set()
    for value in values:
        for item in _items(call.machine, value):
            part = call.machine.frame(item)  # `df["*"]`, `df.colRegex("a.*")`
            if part is None:
                part = _evaluated(call, frame, _expression_of(call.machine, frame, item), keys)
            columns.update(part.columns)
            opened += part.open
            rest = part.rest or rest
            rows |= part.rows
    for name, value in (named_values or {}).items():
        is_text = isinstance(value, Const)
        expression = as_expression(call.machine, value, text_is_column=is_text)
        part = _evaluated(call, frame, replace(expression, name=name), keys)
        columns[name] = replace(part.columns[name], place=call.place)
        rows |= part.rows
    return Frame(columns, tuple(opened), rest, frozenset(rows), library=frame.library)


def _expression_of(machine: Machine, frame: Frame, item: Value) -> Data:
    """An expression, or the text that is the name of one: of Polars a pattern too."""
    text = machine.text(item) or ""
    if text == ANY_COLUMN:
        return named(ANY_COLUMN)
    if frame.library == "polars" and text.startswith("^") and text.endswith("$"):
        return named(like(text))
    return as_expression(machine, item)


def _evaluated(call: Call, frame: Frame, expression: Data, keys: Container[Key] = ()) -> Frame:
    """The columns that an expression makes: one, or one of each that it selects."""
    machine, name = call.machine, expression.name
    means = (item for item in expression.inputs if item.source == PENDING)
    selects = [item for item in means if is_selection(item.column) and item.column in str(name)]
    if selects:
        return _of_each(call, frame, expression, min(selects), keys)
    data = resolve(machine, expression, frame)
    is_chosen = not data.is_aggregate and any(item.source == PENDING for item in expression.rows)
    rows = data.rows if is_chosen else NOTHING
    if not is_chosen and frame.library == "spark":  # a value that was read before
        data = decided(data, frame.rows)
    if data.makes_rows:
        rows |= change(data.inputs, Subtype.JOIN)
        data = replace(data, makes_rows=False)
    generates = _GENERATES.match(str(name))
    if generates:
        columns = _generated(call, data, generates)
        return Frame(columns, rest=columns.pop(None, None), rows=rows)
    if name is None or UNKNOWN_PART in str(name):
        gap = data.origin or call.gap("a column is made whose name is not known")
        return Frame(rest=rest_of(data, gap), rows=rows)
    return Frame({_short(name): data}, rows=rows)


def _of_each(
    call: Call, frame: Frame, expression: Data, item: Input, keys: Container[Key]
) -> Frame:
    """An expression of several columns, for each of them."""
    machine, selection = call.machine, item.column
    chosen = selected(machine, frame, selection)
    is_renamed = expression.name != selection

    def of(data: Data) -> Data:
        made = resolve_pending(
            expression,
            lambda name: data if name == selection else find_column(machine, frame, name),
        )
        return replace(made, name=None)

    columns = {
        str(expression.name).replace(selection, str(name)) if is_renamed else name: of(data)
        for name, data in chosen.columns.items()
        if name not in keys or names_of(selection) is not None
    }
    rest = chosen.rest and replace(of(chosen.rest), origin=chosen.rest.origin)
    if chosen.open and is_renamed:
        rest = machine.unknown("columns that the code does not name get other names")
    is_chosen = not expression.is_aggregate and bool(expression.rows)
    beside = of(Data())  # what other columns have a part in each
    parts = [*columns.values(), beside]
    rows = NOTHING.union(*(data.rows for data in parts)) if is_chosen else NOTHING
    if chosen.open and (beside.inputs or beside.rows - rows):
        rest = machine.unknown("columns that the code does not name are made of others too")
    opened = () if is_renamed else change_open(chosen.open, item.subtype)
    return Frame(columns, opened, rest, rows)


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


def _short(name: Key) -> Key:
    """The name of a column behind the alias of its table: `o.id`."""
    if isinstance(name, str) and "." in name and name.replace(".", "").isidentifier():
        return name.rpartition(".")[2]
    return name


def condition(call: Call, frame: Frame, value: Value | None) -> Data:
    """A condition on a frame's rows: an expression, or a text in SQL."""
    if isinstance(value, Function):  # of an RDD's rows
        value = call.machine.call(value, row_of(frame))
    data = call.machine.data(value)
    if call.machine.text(value) is not None or data == UNKNOWN:
        data = call.machine.data(parse_expression(call, value or UNKNOWN))
    if isinstance(value, Thing) and value.role == "when":
        data = _chosen(call.machine, value)
    return resolve(call.machine, data, frame)


def all_of(call: Call, frame: Frame, values: Iterable[Value]) -> list[tuple[Key, Data]]:
    """Columns by names or expressions: of `group_by`, `sort`."""
    pairs: list[tuple[Key, Data]] = []
    for value in values:
        for item in _items(call.machine, value):
            data = _expression_of(call.machine, frame, item)
            if isinstance(item, Const) and not is_selection(data.name):
                pairs.append((_short(data.name), find_column(call.machine, frame, data.name)))
                continue
            made = _evaluated(call, frame, data)
            pairs += made.columns.items()
            if made.rest or made.open:
                gap = call.gap("which columns are selected is not known")
                pairs.append((None, (made.rest or Data()).with_gap(gap)))
    return pairs


def _chosen_values(call: Call) -> Value:
    """Values that conditions choose, or the first in another order: `.filter(…)`, `.sort_by(…)`."""
    owner = call.machine.data(call.owner)
    if call.name == "filter":
        return replace(owner, rows=owner.rows | change(_conditions(call).inputs, Subtype.FILTER))
    by = [call.get("by", 0)] if call.name.endswith("k_by") else call.arguments.positional
    items = [item for value in by for item in _items(call.machine, value or UNKNOWN)]
    inputs = all_inputs(as_expression(call.machine, item) for item in items)
    return replace(owner, rows=owner.rows | change(inputs, Subtype.SORT))


def _of_columns(call: Call) -> Value:
    """A method whose texts are columns: `.repeat_by("n")`."""
    named_values = (call.arguments.named or {}).values()
    values = [as_expression(call.machine, value) for value in call.arguments.positional]
    arguments = Arguments((*values, *named_values))
    return call_series_method(replace(call, arguments=arguments))


def _rolled_by(call: Call) -> Value:
    """`.rolling_sum_by("day", "7d")`: of the rows before each, by a column."""
    by = as_expression(call.machine, call.get("by", 0))
    data = aggregate(call)
    inputs = data.inputs | change(by.inputs, Subtype.WINDOW)
    return replace(data, inputs=inputs, is_aggregate=False)


EXPRESSION_METHODS: Mapping[str, Handler] = {
    "exclude": excluded,
    "over": over,
    **dict.fromkeys(words("append clip dot gather is_between pow repeat_by"), _of_columns),
    **dict.fromkeys(words("filter sort_by top_k_by bottom_k_by"), _chosen_values),
    **{
        f"rolling_{name}": aggregate
        for name in words("sum mean min max std var median quantile skew apply map")
    },
    **dict.fromkeys(
        words("""rolling_sum_by rolling_mean_by rolling_min_by rolling_max_by rolling_std_by
            rolling_var_by rolling_median_by rolling_quantile_by rolling_rank_by ewm_mean_by
            interpolate_by"""),
        _rolled_by,
    ),
}
