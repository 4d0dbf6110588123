"""Statements that rename a table, move it to another schema, or switch its partitions.

Each reads the old table and writes the new one:

    ALTER TABLE db.a RENAME TO b        EXEC sp_rename 'dbo.a', 'b'      RENAME OBJECT dbo.a TO b
    ALTER SCHEMA new TRANSFER old.a     ALTER TABLE a SWITCH PARTITION 1 TO b
    ALTER TABLE b EXCHANGE PARTITION (d = ?) WITH TABLE a
"""

from __future__ import annotations

from dbt_graft.collectors.statements.tables.definitions import create_view
from dbt_graft.collectors.statements.tables.scan_state import ScanState
from dbt_graft.collectors.statements.text.names import NameAt
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.operations import Operation


def alter(state: ScanState, at: int) -> int:
    """`ALTER TABLE`, `ALTER VIEW`, `ALTER SCHEMA`; anything else changes no table."""
    altered = state.word(at + 1)
    if altered == "VIEW" and state.find(at, "AS"):
        return create_view(state, at + 2, Kind.VIEW)
    if altered == "SCHEMA":
        return _transfer(state, at + 2)
    state.operation = Operation.ALTER
    if altered in ("TABLE", "VIEW"):
        table = state.name(at + 2)
        if table is None:
            state.no_table(at + 2)
        else:
            _alter_table(state, at, table if altered == "TABLE" else table.as_view())
    return state.end


def _alter_table(state: ScanState, at: int, table: NameAt) -> None:
    action = state.word(table.end)
    to = state.find(table.end, "TO")
    other = state.name(to + 1) if to else None
    if action == "RENAME" and other and to == table.end + 1:  # not RENAME COLUMN a TO b
        _rename(state, at, table, other)
    elif action == "SWITCH" and other:
        _move(state, at, Operation.SWITCH, table, other)
    elif action == "EXCHANGE" and (source := _partition_from(state, table.end)):
        _move(state, at, Operation.EXCHANGE, source, table)
    else:
        state.write(table, Operation.ALTER)


def _partition_from(state: ScanState, at: int) -> NameAt | None:
    """Hive: `ALTER TABLE t EXCHANGE PARTITION (d = ?) WITH TABLE u`"""
    with_ = state.find(at, "WITH")
    return state.name(state.skip(with_, "WITH", "TABLE")) if with_ else None


def _transfer(state: ScanState, at: int) -> int:
    """`ALTER SCHEMA new TRANSFER OBJECT::old.t`; types and XML schemas are no tables."""
    state.operation = Operation.TRANSFER
    schema, transfer = state.name(at), state.find(at, "TRANSFER")
    if schema is None or transfer is None:
        return state.end
    position = state.skip(transfer + 1, "OBJECT", "::")
    table = None if state.find(position, "::") else state.name(position)
    if table:
        new = table._replace(name=(*table.name[:-2], *schema.name, table.name[-1]))
        _move(state, position, Operation.TRANSFER, table, new)
    return state.end


def rename_object(state: ScanState, at: int) -> int:
    """`RENAME OBJECT dbo.a TO b`, `RENAME OBJECT dbo.a COLUMN c TO d`; Azure Synapse."""
    state.operation = Operation.RENAME
    position = state.skip(at + 1, "OBJECT", "::")
    old = state.name(position)
    new = state.name(old.end + 1) if old and state.word(old.end) == "TO" else None
    if old and new:
        _rename(state, position, old, new)
    elif old and state.word(old.end) == "COLUMN":
        state.operation = Operation.ALTER
        state.write(old, Operation.ALTER)
    return state.end


def sp_rename(state: ScanState, at: int) -> int:
    """`sp_rename dbo.a, b`, `sp_rename dbo.a.c, d, COLUMN`, strings already written as names.

    https://learn.microsoft.com/sql/relational-databases/system-stored-procedures/sp-rename-transact-sql
    """
    old = _known_name(state, at)
    new = _known_name(state, old.end + 1) if old else None
    if old is None or new is None:
        state.problem = "renamed table not known"
        return state.end
    kind = state.word(new.end + 1)
    if kind == "COLUMN":
        state.operation = Operation.ALTER
        state.write(old._replace(name=old.name[:-1]), Operation.ALTER)
    elif kind in ("", "OBJECT"):
        _rename(state, at, old, new)
    return state.end


def _known_name(state: ScanState, at: int) -> NameAt | None:
    return None if state.word(at)[:1] == "@" else state.name(at)


def _rename(state: ScanState, at: int, old: NameAt, new: NameAt) -> None:
    """A new name without its schema stays in that of the old one."""
    name = (*old.name[: max(0, len(old.name) - len(new.name))], *new.name)
    _move(state, at, Operation.RENAME, old, old._replace(name=name))


def _move(state: ScanState, at: int, operation: Operation, old: NameAt, new: NameAt) -> None:
    state.operation = operation
    state.read(at, old)
    state.write(new, operation)
