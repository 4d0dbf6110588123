"""The columns that expressions make of a frame: of `select`, `group_by`, `sort` and conditions."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.python_code.libraries.column_expressions import (
    as_expression,
    items_of,
    named,
    value_of_when,
)
from dbt_graft.collectors.python_code.libraries.sql_expressions import parse_expression
from dbt_graft.collectors.python_code.values.frames import (
    change_open,
    find_column,
    resolve,
    rest_of,
    row_of,
    selected,
)
from dbt_graft.collectors.python_code.values.machine import Call, Machine
from dbt_graft.collectors.python_code.values.selections import is_selection, like, names_of
from dbt_graft.collectors.python_code.values.values import (
    NOTHING,
    PENDING,
    UNKNOWN,
    Const,
    Data,
    Frame,
    Function,
    Input,
    Key,
    OpenPart,
    Thing,
    Value,
    change,
    decided,
    resolve_pending,
)
from dbt_graft.lineage.code import UNKNOWN_PART
from dbt_graft.lineage.records import ANY_COLUMN, Subtype


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
        for item in items_of(call.machine, value):
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
    return Frame({short_name(name): data}, rows=rows)


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


def short_name(name: Key) -> Key:
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
        data = value_of_when(call.machine, value)
    return resolve(call.machine, data, frame)


def all_of(call: Call, frame: Frame, values: Iterable[Value]) -> list[tuple[Key, Data]]:
    """Columns by names or expressions: of `group_by`, `sort`."""
    pairs: list[tuple[Key, Data]] = []
    for value in values:
        for item in items_of(call.machine, value):
            data = _expression_of(call.machine, frame, item)
            if isinstance(item, Const) and not is_selection(data.name):
                pairs.append((short_name(data.name), find_column(call.machine, frame, data.name)))
                continue
            made = _evaluated(call, frame, data)
            pairs += made.columns.items()
            if made.rest or made.open:
                gap = call.gap("which columns are selected is not known")
                pairs.append((None, (made.rest or Data()).with_gap(gap)))
    return pairs
