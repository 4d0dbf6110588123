"""Reads of a script, as frames: the results of queries, tables and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.python_code.libraries.sql_columns import (
    result_columns,
    with_question_marks,
)
from dbt_graft.collectors.python_code.script import Medium
from dbt_graft.collectors.python_code.values.frames import as_keys
from dbt_graft.collectors.python_code.values.machine import Machine
from dbt_graft.collectors.python_code.values.values import (
    NOTHING,
    UNKNOWN,
    Const,
    Data,
    Frame,
    Inputs,
    Key,
    OneOf,
    OpenPart,
    Value,
    change,
    counted,
)
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.code import UNKNOWN_PART
from dbt_graft.lineage.records import Subtype


def read_query(
    machine: Machine, text: Value | None, dialect: Dialect, library: str, *parameters: Value | None
) -> Value:
    """The result of a query; its parameters decide on rows."""
    deciding = [machine.data(value) for value in (*parameters, text)]
    rows = change(NOTHING.union(*map(machine.condition, deciding)), Subtype.FILTER)
    frames = [_result(machine, sql, dialect, library, rows) for sql in machine.texts(text)]
    if frames:
        return machine.join_all([machine.new(frame) for frame in frames]) or UNKNOWN
    gap = machine.gap("the text of the query is not known")
    machine.record.add_gap(gap)
    rest = Data(gaps=frozenset({gap}), origin=gap)
    return machine.new(Frame(rest=rest, library=library, rows=rows))


def _result(machine: Machine, sql: str, dialect: Dialect, library: str, rows: Inputs) -> Frame:
    if sql.strip() and not any(char.isspace() for char in sql.strip()):  # a name
        return read_table(machine, sql, dialect, library)
    source = machine.record.add_source(
        machine.place, Medium.STATEMENT, with_question_marks(sql), dialect
    )
    result = result_columns(with_question_marks(sql), dialect)
    columns: dict[Key, Data] = {}
    for at, name in enumerate(result.names):
        if name:
            columns[name] = Data(frozenset({ColumnInput(source, name)}))
        else:
            unnamed = machine.missing("a column of the query has no name")
            columns[at] = replace(unnamed, rows=counted(frozenset({ColumnInput(source, "")})))
    if result.has_unknown:
        rest = machine.unknown("columns of the query are not known")
        return Frame(columns, rest=rest, library=library, rows=rows)
    open_part = frozenset({OpenPart(source, frozenset(result.names))})
    return Frame(columns, (open_part,) if result.is_open else (), library=library, rows=rows)


def read_table(
    machine: Machine,
    name: str,
    dialect: Dialect,
    library: str,
    columns: Sequence[object] | None = None,
) -> Frame:
    """A table, or those of its columns that are named."""
    return _read(machine, Medium.TABLE, name.strip(), dialect, library, columns)


def read_file(
    machine: Machine,
    path: str | None,
    library: str,
    columns: Sequence[object] | None = None,
    dialect: Dialect = Dialect.TSQL,
) -> Frame:
    """A file, or those of its columns that are named."""
    return _read(machine, Medium.FILE, path or UNKNOWN_PART, dialect, library, columns)


def _read(
    machine: Machine,
    medium: Medium,
    text: str,
    dialect: Dialect,
    library: str,
    columns: Sequence[object] | None,
) -> Frame:
    source = machine.record.add_source(machine.place, medium, text, dialect)
    if columns is not None:
        named: dict[Key, Data] = {
            key: Data(frozenset({ColumnInput(source, str(key))})) for key in as_keys(columns)
        }
        return Frame(named, library=library)
    return Frame(open=(frozenset({OpenPart(source)}),), library=library)


def one_text(machine: Machine, value: Value | None) -> str | None:
    """A text; of several, none."""
    if isinstance(value, OneOf):
        return None
    if isinstance(value, Const) and not isinstance(value.value, str):
        return None
    return machine.text(value)
