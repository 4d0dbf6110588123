"""Writes of a script: frames and rows into tables and files."""

from __future__ import annotations

from dataclasses import replace

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.python_code.script import UNKNOWN_PART, Medium
from dbt_graft.collectors.python_code.values.frames import exclude
from dbt_graft.collectors.python_code.values.machine import Machine
from dbt_graft.collectors.python_code.values.values import (
    Data,
    Frame,
    Key,
    Value,
    all_gaps,
)
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.records import ANY_COLUMN


def write_frame(
    machine: Machine,
    frame: Frame,
    medium: Medium,
    name: Value | str | None,
    dialect: Dialect = Dialect.TSQL,
) -> None:
    """Record that a frame is written; where the name is one of several, to each."""
    names = [name] if isinstance(name, str) else machine.texts(name)
    for text in names or [UNKNOWN_PART]:
        target = machine.record.add_target(machine.place, medium, text, dialect)
        if text == UNKNOWN_PART:
            kind = "table" if medium is Medium.TABLE else "file"
            machine.record.add_gap(machine.gap(f"the {kind} that is written is not known"), target)
        write_columns(machine, frame, target)


def write_columns(machine: Machine, frame: Frame, target: int) -> None:
    """Record the columns of a frame as those of a target."""
    record = machine.record
    names = {name: column_name(name) for name in frame.columns}
    record.add_columns(target, names.values())
    for name, data in frame.columns.items():
        _write_column(machine, target, names[name], data)
    record.add_edges(target, ANY_COLUMN, frame.rows | machine.control, machine.place)
    if frame.open:
        record.open_target(target)
    for group in exclude(frame.open, list(names.values())):
        for part in group:
            inputs = frozenset({ColumnInput(part.source, ANY_COLUMN, part.subtype)})
            without = tuple(sorted(part.without))
            record.add_edges(target, ANY_COLUMN, inputs, machine.place, without)
    gaps = set(frame.gaps)
    if not (frame.columns or frame.open or frame.rest or gaps):
        gaps.add(machine.gap("no column of what is written is known"))
    if frame.rest is not None:
        record.open_target(target)
        unnamed = machine.gap("the columns that are written are not known")
        gaps |= all_gaps(frame.rest) or {unnamed}
    for gap in sorted(gaps):
        record.add_gap(gap, target, ANY_COLUMN)


def _write_column(machine: Machine, target: int, name: str, data: Data) -> None:
    place = data.place or machine.place
    machine.record.add_edges(target, name, data.inputs, place)
    for gap in sorted(all_gaps(data)):
        machine.record.add_gap(gap, target, name)


def column_name(name: Key) -> str:
    """The name of a column as text; of several levels, these with `_` between."""
    if isinstance(name, tuple):
        return "_".join(str(part) for part in name if part != "")
    return str(name)


def with_index(frame: Frame, label: list[object] | None, *, is_table: bool) -> Frame:
    """The frame with its index as columns in front."""
    index: dict[Key, Data] = {}
    levels = frame.index or ((None, Data()),)
    for at, (level, data) in enumerate(levels):
        name = label[at] if label and at < len(label) else level
        if name is None:
            if not is_table:
                continue
            name = "index" if len(levels) == 1 else f"level_{at}"
        if isinstance(name, str | int | float | tuple):
            index[name] = data
    return replace(frame, columns={**index, **frame.columns})
