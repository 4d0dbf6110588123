"""Statements that define a table, a view or a synonym: `CREATE …`, `REPLACE TABLE …`."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_graft.collectors.statements.tables.scan_state import QUERY_STARTS, ScanState
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.modules import KINDS as MODULES
from dbt_graft.collectors.statements.text.names import GLOBAL_TEMP, Name
from dbt_graft.collectors.statements.text.tokens import Token, keywords
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.operations import Operation

_MODIFIERS = keywords(
    """OR ALTER REPLACE TEMP TEMPORARY GLOBAL LOCAL EXTERNAL MATERIALIZED REFRESH STREAMING LIVE
    PRIVATE"""
)


def create(state: ScanState, at: int) -> int:
    """`CREATE TABLE`, `CREATE VIEW`, `CREATE SYNONYM`; anything else touches no table."""
    position = state.skip(at + 1, *_MODIFIERS)
    match state.word(position):
        case "VIEW":
            words = {state.word(near) for near in range(at, position)}
            temporary = words & {"TEMP", "TEMPORARY"}
            return create_view(state, position + 1, Kind.TEMPORARY if temporary else Kind.VIEW)
        case "TABLE":
            return _create_table(state, position + 1)
        case "SYNONYM":
            _create_synonym(state, position + 1)
        case kind:
            state.verb = f"CREATE {kind}" if kind in MODULES else "CREATE"
    return state.end


def _create_synonym(state: ScanState, at: int) -> None:
    """`CREATE SYNONYM s FOR d.dbo.t`"""
    state.operation = Operation.CREATE_SYNONYM
    synonym = state.name(at)
    base = state.name(synonym.end + 1) if synonym else None
    if synonym and base:
        state.write(synonym, state.operation)
        state.read(at, base)


def create_view(state: ScanState, at: int, kind: Kind) -> int:
    """`CREATE VIEW v …` from the name on, the words before it included in `kind`."""
    state.operation = Operation.CREATE_VIEW
    view = state.table(state.skip(at, "IF", "NOT", "EXISTS"))
    if view is None:
        return state.end
    if kind is Kind.TEMPORARY and "GLOBAL" in (state.word(at - 2), state.word(at - 3)):
        view = view._replace(name=(GLOBAL_TEMP, *view.name))
    state.write(view, state.operation, kind=kind)
    options = state.find(view.end, "OPTIONS")
    if options and state.find(view.end, "USING"):  # CREATE TEMP VIEW v USING csv OPTIONS (path …)
        names = (state.name(near) for near in range(options, state.after(options + 1)))
        for path in names:
            if path and path.kind is Kind.PATH:
                state.read(options, path)
    return view.end


def _create_table(state: ScanState, at: int) -> int:
    state.operation = Operation.CREATE_TABLE
    table = state.table(state.skip(at, "IF", "NOT", "EXISTS"))
    if table is None:
        return state.end
    query = _query(state, table.end)
    clone = state.skip(table.end, "SHALLOW", "DEEP", "AS")
    is_clone = state.word(clone) == "CLONE"
    source = state.name(state.skip(clone + 1, "OF")) if is_clone else None
    if state.word(table.end) == "LIKE" and (pattern := state.name(table.end + 1)):
        state.operation = Operation.CREATE_TABLE_LIKE
        state.read(table.end, pattern)
    if source:
        state.read(clone, source)
    if source or query:
        state.operation = Operation.CREATE_TABLE_AS
    state.write(table, state.operation, state.columns(table.end))
    return state.end if query is None else query


def declared_tables(tokens: list[Token]) -> Iterator[tuple[Name, tuple[str, ...]]]:
    """The table variables of `DECLARE @t TABLE (a int, …)`, with their columns."""
    state = ScanState(tokens, Dialect.TSQL)
    for at in range(2, state.end):
        name = tokens[at - 1 - (state.word(at - 1) == "AS")].text
        if state.word(at) == "TABLE" and name[:1] == "@":
            yield (name,), tuple(column for column, _ in state.columns(at + 1))


def _query(state: ScanState, at: int) -> int | None:
    """The place of the query whose rows a new table takes; Spark may leave its AS out."""
    before = state.find(at, "AS")
    while before and state.word(before + 1) not in QUERY_STARTS:
        before = state.find(before + 1, "AS")  # CREATE TABLE t (…) AS NODE
    if before is not None:
        return before + 1
    return state.find(at, "SELECT") if state.dialect is Dialect.SPARK else None
