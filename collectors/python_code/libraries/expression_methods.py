"""Methods of expressions, windows and structs: `.over(…)`, `.sort_by("a")`, `pl.struct("a")`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.python_code.libraries.column_expressions import (
    as_expression,
    conditions_of,
    items_of,
)
from dbt_graft.collectors.python_code.libraries.column_functions import OPTIONS, call_function
from dbt_graft.collectors.python_code.libraries.column_selections import excluded, narrow_to
from dbt_graft.collectors.python_code.libraries.iteration import iterate
from dbt_graft.collectors.python_code.libraries.pandas_series import (
    aggregate,
    call_accessor_method,
    call_series_method,
)
from dbt_graft.collectors.python_code.values.machine import Arguments, Call, Handler, Machine
from dbt_graft.collectors.python_code.values.selections import is_selection, names_of, names_without
from dbt_graft.collectors.python_code.values.values import (
    NOTHING,
    PENDING,
    UNKNOWN,
    Const,
    Data,
    DictCell,
    Form,
    Key,
    OpenPart,
    Text,
    Thing,
    Value,
    all_gaps,
    all_inputs,
    change,
    decided,
)
from dbt_graft.lineage.records import Subtype


def struct(call: Call) -> Value:
    """`pl.struct("a", b=…)`: columns in one, which a function gets as a dictionary."""
    machine = call.machine
    items = [item for value in call.arguments.positional for item in items_of(machine, value)]
    fields = [as_expression(machine, item) for item in items]
    named_fields = (call.arguments.named or {}).items()
    fields += [
        replace(as_expression(machine, value), name=name)
        for name, value in named_fields
        if name not in OPTIONS
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
            entries[name] = replace(narrow_to(field, name), form=Form.VALUE)
    cell = DictCell(entries, open=tuple(opened))
    return Thing("struct", {"fields": machine.new(cell), "all": machine.new_list(fields)})


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


def over(call: Call) -> Value:
    """`.over("k")`, `.over(Window.partitionBy("k").orderBy("d"))`."""
    machine = call.machine
    deciding: list[Data] = []
    by_name = (call.get("window"), call.get("partition_by"), call.get("order_by"))
    more = call.arguments.more
    for value in [*call.arguments.positional, *more, *filter(None, by_name)]:
        for item in items_of(machine, value):
            if isinstance(item, Thing) and item.role == "window":
                deciding += machine.parts(item)
            elif isinstance(item, Const | Data):
                deciding.append(as_expression(machine, item))
    data = machine.data(call.owner)
    owner = decided(data, data.inputs)
    window = NOTHING.union(*(change(data.inputs, Subtype.WINDOW) for data in deciding))
    if call.text("mapping_strategy") == "explode":  # as many rows as the groups have
        owner = replace(owner, rows=change(window, Subtype.GROUP_BY))
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
            columns += [as_expression(call.machine, v) for v in items_of(call.machine, value)]
    return Thing("window", {"columns": call.machine.new_list(columns)})


def _chosen_values(call: Call) -> Value:
    """Values that conditions choose, or the first in another order: `.filter(…)`, `.sort_by(…)`."""
    owner = call.machine.data(call.owner)
    if call.name == "filter":
        return replace(owner, rows=owner.rows | change(conditions_of(call).inputs, Subtype.FILTER))
    more = () if call.name.endswith("k_by") else call.arguments.positional[1:]
    by = [call.get("by", 0), *more]
    items = [item for value in by for item in items_of(call.machine, value or UNKNOWN)]
    inputs = all_inputs(as_expression(call.machine, item) for item in items)
    return replace(owner, rows=owner.rows | change(inputs, Subtype.SORT))


def _with_columns(call: Call, most: int | None = None) -> Call:
    """A call with columns for its texts, as many as there may be; options keep theirs."""
    machine, values = call.machine, call.arguments.positional
    named = (call.arguments.named or {}).items()
    arguments = Arguments(
        (*(_column(machine, value) for value in values[:most]), *values[len(values[:most]) :]),
        {key: _column(machine, v) if key in _NAMED_COLUMNS else v for key, v in named},
    )
    return replace(call, arguments=arguments)


def _column(machine: Machine, value: Value) -> Value:
    return as_expression(machine, value) if isinstance(value, Const | Text | Thing) else value


def _of_columns(call: Call) -> Value:
    """A method whose texts are columns: `.repeat_by("n")`."""
    return call_series_method(_with_columns(call))


def call_accessor(call: Call) -> Value:
    """A method behind `.str`, `.list`; of expressions some texts are columns: `.list.get("i")`."""
    assert isinstance(call.owner, Thing)
    owner = call.owner.owner
    if isinstance(owner, Data) and owner.form is Form.EXPRESSION:
        kind = call.machine.text(call.owner.traits["accessor"])
        most = len(call.arguments.positional) if call.name in _ALL_COLUMNS else 1
        has_columns = call.name in _ACCESSOR_COLUMNS.get(kind or "", ())
        call = _with_columns(call, most if has_columns else 0)
    return call_accessor_method(call)


def _aggregate_by(call: Call) -> Value:
    """`.max_by("day")`: the value where another is greatest."""
    by = as_expression(call.machine, call.get("by", 0))
    data = aggregate(call)
    chosen = change(by.inputs, Subtype.CONDITIONAL)
    return replace(data, inputs=data.inputs | chosen, gaps=data.gaps | all_gaps(by))


def _counted(call: Call) -> Value:
    """Values of which the column's own decide how many there are: `.arg_true()`."""
    subtype = Subtype.FILTER if call.name == "arg_true" else Subtype.GROUP_BY
    data = call.machine.data(call_series_method(call))
    return replace(data, rows=data.rows | change(data.inputs, subtype))


def _rolled_by(call: Call) -> Value:
    """`.rolling_sum_by("day", "7d")`: of the rows before each, by a column."""
    is_plain = call.name == "rolling"  # `pl.sum("a").rolling("day", period="7d")`
    by = as_expression(call.machine, call.get("index_column" if is_plain else "by", 0))
    data = call.machine.data(call.owner) if is_plain else aggregate(call)
    inputs = data.inputs | change(by.inputs, Subtype.WINDOW)
    return replace(data, inputs=inputs, gaps=data.gaps | all_gaps(by), is_aggregate=False)


# Options whose texts are columns.
_NAMED_COLUMNS = words("""
    other base by exponent fraction
    lower_bound upper_bound index indices n offset length patterns time
    year month day hour minute second microsecond""")
# Methods behind `.str` and its like whose first text is a column, or all of them.
_ACCESSOR_COLUMNS = {
    "str": words(
        "contains_any extract_many find_many head pad_end pad_start replace_many slice tail zfill"
    ),
    "dt": words("add_business_days combine replace"),
    "list": words("""concat gather gather_every get head sample set_difference set_intersection
        set_symmetric_difference set_union shift slice tail"""),
    "arr": words("concat dot get head shift slice tail"),
    "bin": words("get head slice tail"),
}
_ALL_COLUMNS = words("gather_every replace slice")

EXPRESSION_METHODS: Mapping[str, Handler] = {
    "exclude": excluded,
    "over": over,
    **dict.fromkeys(
        words("append clip dot gather get is_between is_close is_in log pow repeat_by truncdiv"),
        _of_columns,
    ),
    **dict.fromkeys(words("filter sort_by top_k_by bottom_k_by"), _chosen_values),
    **dict.fromkeys(words("max_by min_by"), _aggregate_by),
    **dict.fromkeys(words("arg_true arg_unique unique_counts"), _counted),
    **{
        f"rolling_{name}": aggregate
        for name in words("sum mean min max std var median quantile skew apply map")
    },
    **dict.fromkeys(
        words("""rolling_sum_by rolling_mean_by rolling_min_by rolling_max_by rolling_std_by
            rolling_var_by rolling_median_by rolling_quantile_by rolling_rank_by ewm_mean_by
            ewm_sum_by interpolate_by rolling"""),
        _rolled_by,
    ),
}
