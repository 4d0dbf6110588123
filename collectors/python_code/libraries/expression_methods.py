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
from dbt_graft.collectors.python_code.libraries.pandas_series import aggregate, call_series_method
from dbt_graft.collectors.python_code.values.machine import Arguments, Call, Handler
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
    by = [call.get("by", 0)] if call.name.endswith("k_by") else call.arguments.positional
    items = [item for value in by for item in items_of(call.machine, value or UNKNOWN)]
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
