"""SQLAlchemy's models: classes that are tables, read and written by a session."""

from __future__ import annotations

from dataclasses import replace

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.python_code.libraries.writing import write_frame
from dbt_graft.collectors.python_code.script import Medium
from dbt_graft.collectors.python_code.values.frames import frame_of_rows
from dbt_graft.collectors.python_code.values.machine import Call, Machine
from dbt_graft.collectors.python_code.values.values import (
    Class,
    Data,
    DictCell,
    Frame,
    Items,
    Key,
    ObjectCell,
    OpenPart,
    Thing,
    Value,
)
from dbt_graft.collectors.statements.text.dialect import Dialect


def model_table(machine: Machine, value: Value | None) -> str | None:
    """The table of a model; None for other values."""
    if not isinstance(value, Class):
        return None
    names = machine.names(value.scope)
    table = machine.text(names.get("__tablename__"))
    arguments = names.get("__table_args__")
    schema = None
    several = machine.items(arguments) or Items()
    for item in [arguments, *several.items]:
        cell = machine.cell(item)
        if isinstance(cell, DictCell):
            schema = machine.text(cell.entries.get("schema"))
    return f"{schema}.{table}" if schema and table else table


def read_model(machine: Machine, value: Value | None) -> Frame | None:
    """The rows of a model's table; None for other values."""
    table = model_table(machine, value)
    if table is None or not isinstance(value, Class):
        return None
    source = machine.record.add_source(machine.place, Medium.TABLE, table, Dialect.TSQL)
    columns: dict[Key, Data] = {
        attribute: Data(frozenset({ColumnInput(source, name)}), name=attribute)
        for attribute, name in _column_names(machine, value).items()
    }
    opened = () if columns else (frozenset({OpenPart(source)}),)
    return Frame(columns, opened, library="query")


def _column_names(machine: Machine, model: Class) -> dict[object, str]:
    """The attributes of a model that are columns, with the names that these have in its table."""
    return {
        attribute: machine.text(item.traits["name"]) or attribute
        for attribute, item in machine.names(model.scope).items()
        if isinstance(item, Thing) and item.role == "sa.column"
    }


def model_column(machine: Machine, model: Class, name: str, value: Value) -> Value:
    """`Order.id`: a column of the model's table; else the value."""
    if not isinstance(value, Thing) or value.role != "sa.column":
        return value
    frame = read_model(machine, model)
    return frame.columns.get(name, value) if frame is not None else value


def write_objects(call: Call) -> bool:
    """`session.add(Order(…))`, `session.bulk_insert_mappings(Order, rows)`: whether it is one."""
    machine = call.machine
    mapper = call.get("mapper", 0)
    if isinstance(mapper, Class) and model_table(machine, mapper) is not None:
        rows = machine.items(call.get("mappings", 1)) or Items()
        return _write(machine, mapper, rows)
    value = call.get("instance", 0) or call.get("instances", 0) or call.get("objects", 0)
    items = machine.items(value) or Items((value,) if value is not None else ())
    written = False
    for item in [*items.items, items.rest]:
        cell = machine.cell(item)
        if isinstance(cell, ObjectCell):
            fields = {name: field for name, field in cell.names.items() if name[:1] != "_"}
            if cell.of is not None and model_table(machine, cell.of) is not None:
                row = machine.new(DictCell(fields))
                written = _write(machine, cell.of, Items((row,), rows=items.rows))
    return written


def _write(machine: Machine, model: Class, rows: Items) -> bool:
    frame = frame_of_rows(machine, rows, None)
    if frame is None:
        frame = Frame(rest=machine.unknown("the rows that are written are not known"))
    names = _column_names(machine, model)
    columns = {names.get(attribute, attribute): data for attribute, data in frame.columns.items()}
    named = replace(frame, columns=columns)
    write_frame(machine, named, Medium.TABLE, model_table(machine, model))
    return True
