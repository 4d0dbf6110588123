"""The module csv: rows of files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dbt_graft.collectors.python_code.libraries.iteration import iterate
from dbt_graft.collectors.python_code.libraries.reading import read_file
from dbt_graft.collectors.python_code.libraries.writing import write_frame
from dbt_graft.collectors.python_code.script import Medium
from dbt_graft.collectors.python_code.values.frames import frame_of_rows, record_of
from dbt_graft.collectors.python_code.values.machine import Call, Handler
from dbt_graft.collectors.python_code.values.values import (
    UNKNOWN,
    Const,
    DictCell,
    Frame,
    Items,
    ObjectCell,
    Ref,
    Thing,
    Value,
)

ROLE = "<role>"
WRITER = Const("csv writer")


def _path(call: Call) -> Value | None:
    file = call.get("f", 0) or call.get("csvfile", 0)
    return file.traits.get("path") if isinstance(file, Thing) else file


def _reader(call: Call) -> Value:
    path = call.machine.text(_path(call))
    frame = read_file(call.machine, path, "query")
    return Items((), Items((), None, frame.rows, (), frame.open))


def _dict_reader(call: Call) -> Value:
    path = call.machine.text(_path(call))
    names = call.keys("fieldnames", 1)
    columns = names if names and names != [None] else None
    frame = read_file(call.machine, path, "query", columns)
    return Items((), call.machine.new(record_of(frame)), frame.rows)


def _writer(call: Call) -> Value:
    names = call.get("fieldnames", 1) if call.name == "DictWriter" else None
    path = _path(call) or UNKNOWN
    cell = ObjectCell({ROLE: WRITER, "<path>": path, "<header>": names or Const(None)})
    return call.machine.new(cell)


def is_writer(call: Call) -> bool:
    """Whether the owner is a writer of rows."""
    cell = call.machine.cell(call.owner)
    return isinstance(cell, ObjectCell) and cell.names.get(ROLE) == WRITER


def call_writer_method(call: Call) -> Value:
    """`writerow`, `writerows`: texts alone at first are the header."""
    machine, owner = call.machine, call.owner
    cell = machine.cell(owner)
    assert isinstance(cell, ObjectCell)
    assert isinstance(owner, Ref)
    value = call.get("row", 0) or call.get("rows", 0) or UNKNOWN
    names = machine.keys(cell.names["<header>"])
    if call.name == "writerow":
        texts = machine.keys(value) if machine.items(value) is not None else None
        is_header = names == [None] and texts is not None and not _is_dict(call, value)
        if is_header:
            machine.put(owner, replace(cell, names={**cell.names, "<header>": value}))
            return UNKNOWN
        value = Items((value,))
    elif call.name != "writerows":
        return UNKNOWN
    rows = iterate(machine, value)
    frame = frame_of_rows(machine, rows, None if names == [None] else names)
    if frame is None:
        frame = Frame(rest=machine.unknown("the rows that are written are not known"))
    write_frame(machine, frame, Medium.FILE, cell.names["<path>"])
    return UNKNOWN


def _is_dict(call: Call, value: Value) -> bool:
    return isinstance(call.machine.cell(value), DictCell)


CSV_FUNCTIONS: Mapping[str, Handler] = {
    "csv.DictReader": _dict_reader,
    "csv.DictWriter": _writer,
    "csv.reader": _reader,
    "csv.writer": _writer,
}
