"""Verbs of Spark, Delta and Iceberg alone: CACHE, LOAD, COPY INTO, CONVERT, RESTORE, CALL."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dbt_graft.collectors.statements.tables.scan_state import ScanState
from dbt_graft.collectors.statements.text.procedures import (
    OF_CURRENT_CATALOG,
    PROCEDURES,
    READ,
    TEMPORARY,
)
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.operations import Operation


def _cache(state: ScanState, at: int) -> int:
    """`CACHE TABLE t` reads a table, `CACHE TABLE v AS SELECT …` makes a temporary view."""
    state.operation = Operation.CACHE_TABLE
    if state.word(at + 1) == "SELECT":
        return at + 1
    table = state.table(state.skip(at + 1, "LAZY", "TABLE"))
    if table is None:
        return state.end
    end = table.end
    if state.word(end) == "OPTIONS":
        end = state.after(end + 1)
    if end >= state.end:
        state.read(at, table)
    else:
        state.write(table, state.operation, kind=Kind.TEMPORARY)
    return state.skip(end, "AS")


def _load(state: ScanState, at: int) -> int:
    """`LOAD DATA INPATH files.`/x` INTO TABLE t`"""
    state.operation = Operation.LOAD_DATA
    into = state.find(at, "INTO")
    target = state.name(state.skip(into + 1, "TABLE")) if into else None
    if target:
        state.write(target, state.operation)
    else:
        state.no_table(state.end if into is None else into + 1)
    path = state.find(at, "INPATH")
    source = state.name(path + 1) if path else None
    if source and source.kind is Kind.PATH:
        state.read(at, source)
    return state.end


def _copy(state: ScanState, at: int) -> int:
    """`COPY INTO t FROM files.`/x``, `COPY INTO t FROM (SELECT … FROM files.`/x`)`"""
    state.operation = Operation.COPY_INTO
    target = state.table(state.skip(at + 1, "INTO"))
    if target is None:
        return state.end
    state.scope.has_from = True
    state.write(target, state.operation)
    return target.end


def _restore(state: ScanState, at: int) -> int:
    """`RESTORE TABLE t TO VERSION AS OF 3`, `CONVERT TO DELTA t`"""
    state.operation = Operation(state.word(at))
    if table := state.table(state.skip(at + 1, "TABLE", "TO", "DELTA")):
        state.write(table, state.operation)
    return state.end


def _call(state: ScanState, at: int) -> int:
    state.operation = Operation.CALL
    procedure = state.name(at + 1)
    if procedure is None or state.word(procedure.end) != "(":
        return state.end
    called = procedure.name[-1].casefold()
    tables = PROCEDURES.get(called, {})
    catalog = () if called in OF_CURRENT_CATALOG else procedure.name[:-2]
    position, end = procedure.end + 1, state.after(procedure.end) - 1
    for index in range(len(tables)):
        named = state.word(position + 1) == "=>"
        argument = state.word(position).casefold() if named else list(tables)[index]
        table = state.name(position + 2 if named else position)
        role = tables.get(argument) if table else None
        if table and argument == "table" and len(table.name) == 2:
            table = table._replace(name=(*catalog, *table.name))
        if table and role == READ:
            state.read(at, table)
        elif table and role:
            kind = Kind.TEMPORARY if role == TEMPORARY else Kind.TABLE
            state.write(table, state.operation, kind=kind)
        while position < end and state.word(position) != ",":
            position = state.after(position)
        position += 1
    return state.end


SPARK_VERBS: Mapping[str, Callable[[ScanState, int], int]] = {
    "CACHE": _cache,
    "CALL": _call,
    "CONVERT": _restore,
    "COPY": _copy,
    "LOAD": _load,
    "RESTORE": _restore,
}
