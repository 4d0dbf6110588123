"""The items of values that a loop goes over."""

from __future__ import annotations

from dataclasses import replace

from dbt_graft.collectors.python_code.libraries.databases import RESULT
from dbt_graft.collectors.python_code.values.frames import column, row_of
from dbt_graft.collectors.python_code.values.limits import MOST_ITERATIONS
from dbt_graft.collectors.python_code.values.machine import Machine, to_value
from dbt_graft.collectors.python_code.values.values import (
    UNKNOWN,
    Const,
    Data,
    Form,
    Frame,
    Items,
    ObjectCell,
    OneOf,
    Thing,
    Value,
    all_inputs,
    change,
)
from dbt_graft.lineage.records import Subtype


def iterate(machine: Machine, value: Value | None) -> Items:
    """The items of a value; of a row its values, of a frame its columns or their names."""
    items = machine.items(value)
    if items is not None and items.open and items.rest is None:
        reason = "the values of a row go by their places, and those are not known"
        return replace(items, rest=machine.missing(reason))
    if items is not None:
        return items
    match value:
        case Const(value=str(text)):
            return Items(tuple(Const(char) for char in text[: MOST_ITERATIONS + 1]))
        case Data():
            is_series = value.form is Form.SERIES
            rest = replace(value, form=Form.VALUE, index=()) if is_series else value
            return Items((), rest, value.rows)
        case OneOf():
            joined = machine.join_all([iterate(machine, item) for item in value.values])
            return joined if isinstance(joined, Items) else Items((), UNKNOWN)
        case Thing():
            return _of_thing(machine, value)
    cell = machine.cell(value)
    if isinstance(cell, ObjectCell) and RESULT in cell.names:
        rows = machine.frame(cell.names[RESULT])
        return rows_of(rows) if rows is not None else Items((), UNKNOWN)
    return _of_frame(machine, cell) if isinstance(cell, Frame) else Items((), machine.data(value))


def _of_frame(machine: Machine, frame: Frame) -> Items:
    if frame.library == "series" and not frame.open:
        return Items(tuple(frame.columns.values()), frame.rest, frame.rows)
    if frame.library == "polars":
        unknown = machine.unknown("the columns that are gone through are not known")
        series = tuple(column(machine, frame, name) for name in frame.columns)
        return Items(series, unknown if frame.open or frame.rest else None)
    return rows_of(frame) if frame.library == "query" else column_names(frame)


def _of_thing(machine: Machine, thing: Thing) -> Items:
    if thing.role in {"groups", "column groups"}:
        return _groups(machine, thing)
    if thing.role == "file":
        return Items((), Data(origin=machine.gap("the lines of a file are not followed")))
    if "items" in thing.traits:
        return iterate(machine, thing.traits["items"])
    return Items((), machine.data(thing))


def rows_of(frame: Frame) -> Items:
    """The rows of a frame: any number of one kind."""
    return Items((), row_of(frame), frame.rows)


def column_names(frame: Frame) -> Items:
    """The names of a frame's columns."""
    names = tuple(map(to_value, frame.columns))
    return Items(names, UNKNOWN if frame.open or frame.rest else None)


def _groups(machine: Machine, groups: Thing) -> Items:
    """`for key, group in df.groupby(…)`: the rows of a group are those of the frame."""
    frame = machine.frame(groups.owner)
    pairs = [iterate(machine, pair).items for pair in iterate(machine, groups.traits["keys"]).items]
    keys = tuple(machine.data(pair[1]) for pair in pairs if len(pair) == 2)
    key = keys[0] if len(keys) == 1 and groups.role == "groups" else Items(keys)
    if frame is None or groups.owner is None:
        return Items((), machine.data(groups))
    inputs = all_inputs(keys)
    rows = frame.rows | change(inputs, Subtype.GROUP_BY)
    return Items((), Items((key, machine.new(frame))), rows)
