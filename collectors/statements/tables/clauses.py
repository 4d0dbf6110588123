"""The clauses of a statement: what each says of the tables that come behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from dbt_graft.collectors.statements.tables.scan_state import Scope, Walk
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.tokens import keywords

# What ends a FROM clause.
ENDS_FROM = keywords(
    """WHERE GROUP ORDER HAVING SET UNION EXCEPT INTERSECT OPTION WINDOW LIMIT QUALIFY WHEN VALUES
    FOR SORT CLUSTER DISTRIBUTE LATERAL MINUS |>"""
)


def _open(walk: Walk, at: int) -> int:
    walk.scopes.append(Scope(at, walk.closes[at]))
    return at + 1


def _select(walk: Walk, at: int) -> int:
    walk.scope.has_from, walk.scope.in_from = True, False
    return at + 1


def _from(walk: Walk, at: int) -> int:
    scope = walk.scope
    # FOR SYSTEM_TIME FROM … TO …, IS DISTINCT FROM
    clause = walk.word(at - 1) not in ("SYSTEM_TIME", "DISTINCT")
    begins = at == scope.start + 1 or walk.word(at - 1) == "AS"  # CREATE VIEW v AS FROM t
    if clause and (scope.has_from or begins):
        scope.has_from = scope.in_from = scope.expects = True
    return at + 1


def _comma(walk: Walk, at: int) -> int:
    row = walk.scope.rows and walk.word(at - 1) == ")" and walk.word(at + 1) == "("
    walk.scope.expects = walk.scope.in_from and not row
    return at + 1


def _join(walk: Walk, at: int) -> int:
    walk.scope.expects = True
    return at + 1


def _using(walk: Walk, at: int) -> int:
    walk.scope.expects = walk.scope.target is not None and (
        walk.dialect is Dialect.TSQL or walk.operation == "MERGE"
    )
    return at + 1


def _insert(walk: Walk, at: int) -> int:
    """MERGE … THEN INSERT (a, b): the columns of its target."""
    target, columns = walk.scope.target, walk.columns(at + 1)
    if target and columns:
        walk.writes = [
            replace(write, columns=columns) if write.name == target.name else write
            for write in walk.writes
        ]
    return at + 1


def _output(walk: Walk, at: int) -> int:
    walk.scope.outputs, walk.scope.in_from = True, False
    return at + 1


def _into(walk: Walk, at: int) -> int:
    scope, found = walk.scope, walk.name(at + 1)
    if found is None or walk.dialect is Dialect.SPARK:
        return at + 1
    if scope.outputs:
        walk.write(found, "INSERT", walk.columns(found.end))
        scope.outputs = False
    elif walk.is_outermost and scope.has_from and not scope.in_from:
        walk.operation = "SELECT INTO"
        walk.write(found, walk.operation)
    return found.end


def _table(walk: Walk, at: int) -> int:
    """TABLE standing for a query or an argument: `INSERT INTO t TABLE u`, `f(TABLE u)`; Spark."""
    walk.scope.expects = walk.dialect is Dialect.SPARK and walk.word(at - 1) != "SELECT"
    return at + 1


# `t FOR SYSTEM_TIME AS OF …`, `t FOR VERSION AS OF …`
_TRAVELS = ("SYSTEM_", "VERSION", "TIMESTAMP", "PATH")


def _ends_from(walk: Walk, at: int) -> int:
    if not walk.word(at + 1).startswith(_TRAVELS):
        walk.scope.in_from = False
    return at + 1


CLAUSES: Mapping[str, Callable[[Walk, int], int]] = {
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
