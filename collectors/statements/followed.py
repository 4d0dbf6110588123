"""The columns of one statement: its text made readable, its tree, and the edges in that."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dbt_graft.collectors.statements.columns.edge_collector import ParsedColumnEdge
from dbt_graft.collectors.statements.columns.edges import FollowedColumns, column_edges
from dbt_graft.collectors.statements.columns.outputs import outputs_into, split_composed
from dbt_graft.collectors.statements.columns.readable import make_readable
from dbt_graft.collectors.statements.columns.tree import (
    NoTreeError,
    syntax_tree,
    table_mismatch,
)
from dbt_graft.collectors.statements.tables.scan import scan
from dbt_graft.collectors.statements.tables.scan_state import TableAccess
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.collectors.statements.text.tokens import Token, tokenise
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Direction, Subtype

_LOADS = frozenset({Operation.BULK_INSERT, Operation.COPY_INTO})
_CALLS = frozenset({"EXEC", "EXECUTE"})
# The result of such a statement goes nowhere: its condition, a variable, a cursor.
_NO_RESULT = frozenset({"DECLARE", "IF", "RETURN", "SET", "WHILE"})


def follow_columns(
    text: str,
    tokens: list[Token],
    accesses: Sequence[TableAccess],
    dialect: Dialect,
    columns: Callable[[Name], Sequence[str]],
    holding_data: frozenset[str],
) -> FollowedColumns:
    """The column edges of a statement; its gap says why some are missing.

    Args:
        accesses: The tables that the token scan found.
        columns: A table as the scan names it -> its columns; empty where they are not known.
        holding_data: The variables, folded, that were filled from tables.
    """
    if loaded := _loaded_columns(accesses):
        return loaded
    reads = [access.name for access in accesses if access.direction is Direction.READ]
    writes = [access.name for access in accesses if access.direction is Direction.WRITE]
    outer: list[str] = []
    if dialect is Dialect.TSQL and (composed := split_composed(text, tokens)):
        text, tokens, insert = composed
        outer.append(make_readable(insert, tokenise(insert, dialect)))
        changed = {access.name for access in scan(tokens, dialect).accesses}
        writes.sort(key=lambda name: name not in changed)
    try:
        tree, *outputs = [
            syntax_tree(readable, tokens, dialect)
            for readable in (*_readable_texts(text, tokens, dialect), *outer)
        ]
    except NoTreeError as error:
        if not writes and tokens[0].word in _NO_RESULT:
            return FollowedColumns(())
        calls = any(token.word in _CALLS for token in tokens)
        reason = "those of a procedure's rows are not known" if calls else error
        return FollowedColumns((), f"columns not resolved: {reason}")
    followed = column_edges(tree, reads, writes, dialect, columns, outputs, holding_data)
    names = {access.name[-1].casefold() for access in accesses if not _is_function(access)}
    if mismatch := table_mismatch([tree, *outputs], names):
        return followed._replace(gap=f"tables not confirmed: {mismatch}")
    gap = followed.gap and f"columns not resolved: {followed.gap}"
    return followed._replace(gap=gap)


def _is_function(access: TableAccess) -> bool:
    """Whether it is the rows of a function: that a table is a view, no statement shows."""
    return access.kind is Kind.VIEW and access.direction is Direction.READ


def _readable_texts(text: str, tokens: list[Token], dialect: Dialect) -> list[str]:
    """A statement as sqlglot reads it, then what its OUTPUT … INTO writes."""
    if dialect is not Dialect.TSQL:
        return [text]
    return [make_readable(text, tokens), *outputs_into(text, tokens)]


def _loaded_columns(accesses: Sequence[TableAccess]) -> FollowedColumns | None:
    """The columns of INSERT BULK, by which bcp and bulk copies announce the rows that they send.

    BULK INSERT and COPY INTO take those of a file by their places, which no text shows.
    """
    if any(a.operation in _LOADS and a.kind is Kind.PATH for a in accesses):
        return FollowedColumns((), "columns not resolved: those of a file go by their places")
    edges = tuple(
        ParsedColumnEdge(access.name, column, (), column, Subtype.IDENTITY)
        for access in accesses
        if access.operation is Operation.BULK_INSERT
        for column, _ in access.columns
    )
    return FollowedColumns(edges) if edges else None
