"""The clauses of a statement, and where a table comes next after each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from dbt_graft.collectors.statements.tables.scan_state import ScanScope, ScanState
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.source_words import ENDS_FROM
from dbt_graft.lineage.operations import Operation


def _open(state: ScanState, at: int) -> int:
    state.scopes.append(ScanScope(at, state.closes[at]))
    return at + 1


def _select(state: ScanState, at: int) -> int:
    state.scope.has_from, state.scope.in_from = True, False
    return at + 1


def _from(state: ScanState, at: int) -> int:
    scope = state.scope
    # FOR SYSTEM_TIME FROM … TO …, IS DISTINCT FROM, the parameter `:from`
    clause = state.word(at - 1) not in ("SYSTEM_TIME", "DISTINCT", ":")
    begins = at == scope.start + 1 or state.word(at - 1) == "AS"  # CREATE VIEW v AS FROM t
    if clause and (scope.has_from or begins):
        scope.has_from = scope.in_from = scope.expects = True
    return at + 1


def _comma(state: ScanState, at: int) -> int:
    row = state.scope.rows and state.word(at - 1) == ")" and state.word(at + 1) == "("
    state.scope.expects = state.scope.in_from and not row
    return at + 1


def _join(state: ScanState, at: int) -> int:
    state.scope.expects = state.word(at + 1) not in (",", ")")  # OPTION (HASH JOIN)
    return at + 1


def _using(state: ScanState, at: int) -> int:
    state.scope.expects = state.scope.target is not None and (
        state.dialect is Dialect.TSQL or state.operation is Operation.MERGE
    )
    return at + 1


def _insert(state: ScanState, at: int) -> int:
    """MERGE … THEN INSERT (a, b): the columns of its target."""
    target, columns = state.scope.target, state.columns(at + 1)
    if target and columns:
        state.writes = [
            replace(write, columns=columns) if write.name == target.name else write
            for write in state.writes
        ]
    return at + 1


def _output(state: ScanState, at: int) -> int:
    state.scope.outputs, state.scope.in_from = True, False
    return at + 1


def _into(state: ScanState, at: int) -> int:
    scope, target = state.scope, state.name(at + 1)
    if state.dialect is Dialect.SPARK:
        return at + 1
    if target is None:
        state.no_table(at + 1)
        return at + 1
    if scope.outputs:
        state.write(target, Operation.INSERT, state.columns(target.end))
        scope.outputs = False
    elif state.is_outermost and scope.has_from and not scope.in_from:
        state.operation = Operation.SELECT_INTO
        state.write(target, state.operation)
    return target.end


def _table(state: ScanState, at: int) -> int:
    """TABLE standing for a query or an argument: `INSERT INTO t TABLE u`, `f(TABLE u)`; Spark."""
    state.scope.expects = state.dialect is Dialect.SPARK and state.word(at - 1) != "SELECT"
    return at + 1


# `t FOR SYSTEM_TIME AS OF …`, `t FOR VERSION AS OF …`
_TRAVELS = ("SYSTEM_", "VERSION", "TIMESTAMP", "PATH")


def _ends_from(state: ScanState, at: int) -> int:
    if not state.word(at + 1).startswith(_TRAVELS):
        state.scope.in_from = False
    return at + 1


CLAUSES: Mapping[str, Callable[[ScanState, int], int]] = {
    **dict.fromkeys(ENDS_FROM, _ends_from),
    "(": _open,
    ",": _comma,
    "APPLY": _join,
    "FROM": _from,
    "INSERT": _insert,
    "INTO": _into,
    "JOIN": _join,
    "OUTPUT": _output,
    "SELECT": _select,
    "TABLE": _table,
    "USING": _using,
}
