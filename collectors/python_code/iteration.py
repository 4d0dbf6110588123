"""The items of values that a loop goes over."""

from __future__ import annotations

from dataclasses import replace

from dbt_graft.collectors.python_code.databases import RESULT
from dbt_graft.collectors.python_code.frames import row_of
from dbt_graft.collectors.python_code.limits import MOST_ITERATIONS
from dbt_graft.collectors.python_code.machine import Machine, to_value
from dbt_graft.collectors.python_code.values import (
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
)


def iterate(machine: Machine, value: Value | None) -> Items:
    """The items of a value; of a row its values, of a frame the names of its columns."""
    items = machine.items(value)
    if items is not None:
        return items
    if isinstance(value, Const) and isinstance(value.value, str):
        return Items(tuple(Const(char) for char in value.value[: MOST_ITERATIONS + 1]))
    if isinstance(value, Data):
        rest = replace(value, form=Form.VALUE, index=()) if value.form is Form.SERIES else value
        return Items((), rest, value.rows)
    if isinstance(value, OneOf):
        joined: Value | None = None
        for alternative in value.values:
            joined = (
                machine.join(joined, iterate(machine, alternative))
                if joined
                else iterate(machine, alternative)
            )
        return joined if isinstance(joined, Items) else Items((), UNKNOWN)
    cell = machine.cell(value)
    if isinstance(cell, ObjectCell) and RESULT in cell.names:
        rows = machine.frame(cell.names[RESULT])
        return rows_of(rows) if rows is not None else Items((), UNKNOWN)
    frame = machine.frame(value)
    if frame is not None:
        return rows_of(frame) if frame.library in {"query", "sparkrows"} else _names(frame)
    if isinstance(value, Thing) and value.role == "file":
        return Items((), Data(origin=machine.gap("the lines of a file are not followed")))
    if isinstance(value, Thing) and "items" in value.traits:
        return iterate(machine, value.traits["items"])
    return Items((), machine.data(value))


def rows_of(frame: Frame) -> Items:
    """The rows of a frame: any number of one kind."""
    return Items((), row_of(frame), frame.rows)


def _names(frame: Frame) -> Items:
    names = tuple(map(to_value, frame.columns))
    return Items(names, UNKNOWN if frame.open or frame.rest else None)
