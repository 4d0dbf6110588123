"""A query in any dialect of sqlglot -> the columns of its result, and where each comes from.

For queries that are whole and not captured, such as dbt's compiled models: the tables are those of
the tree, and no token scan is needed.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt_graft.collectors.statements.columns.queries import add_ctes, query_rowset
from dbt_graft.collectors.statements.columns.query_scope import QueryContext, QueryScope
from dbt_graft.collectors.statements.columns.rewrites import make_readable
from dbt_graft.collectors.statements.columns.rowsets import (
    NOTHING,
    InputColumns,
    Rowset,
    RowsetColumn,
)
from dbt_graft.collectors.statements.columns.sources import table_parts
from dbt_graft.collectors.statements.columns.tree import NoTreeError, parse_statements
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.files import protect_files
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.collectors.statements.text.tokens import tokenise
from dbt_graft.lineage.frozen import frozen

_log = logging.getLogger(__name__)

# sqlglot does not know the word.
_BULK = re.compile(r"(\bOPENROWSET\s*\(\s*)BULK\b", re.IGNORECASE)


@frozen
class QueryColumns:
    """The result of a query.

    Attributes:
        columns: In their order; one called `*` stands for all that are not known.
        row_inputs: The columns that decide which rows there are.
        tables: The tables that it reads, folded, in their order.
        gaps: Why something is missing; empty where all was followed.
    """

    columns: tuple[RowsetColumn, ...] = ()
    row_inputs: InputColumns = NOTHING
    tables: tuple[Name, ...] = ()
    gaps: tuple[str, ...] = ()


def query_columns(
    text: str, dialect: str, columns: Callable[[Name], Sequence[str]] = lambda _: ()
) -> QueryColumns:
    """The columns of a query's result.

    Args:
        text: One query; literals may still be in it, other statements around it.

    Raises:
        NoTreeError: sqlglot does not support it, or there is no query in it.
    """
    try:
        statements = (
            _parse_tsql(text) if dialect == Dialect.TSQL else parse_statements(text, dialect)
        )
    except (SqlglotError, RecursionError, ValueError) as error:
        _log.debug("sqlglot reads no tree", exc_info=True)
        raise NoTreeError("the parser does not support this statement") from error
    position = next((at for at in reversed(range(len(statements))) if _query(statements[at])), None)
    if position is None:
        raise NoTreeError("it is not a query")
    context = QueryContext(dialect, None, columns, query_rowset, variables=_variables(statements))
    scope = QueryScope(context)
    try:
        if len(statements) > 1:
            _add_others(statements[:position] + statements[position + 1 :], scope)
        rowset = _result(statements[position], scope)
    except (AttributeError, IndexError, KeyError, TypeError, RecursionError):
        _log.debug("a statement has an unknown form", exc_info=True)
        return QueryColumns(tables=tuple(context.read), gaps=("the statement has an unknown form",))
    return QueryColumns(
        tuple(rowset.columns), rowset.influences, tuple(context.read), tuple(context.gaps)
    )


def _parse_tsql(text: str) -> list[exp.Expr]:
    """The trees of T-SQL, which is made readable where sqlglot does not know a form."""
    text = protect_files(text)
    try:
        return parse_statements(text, Dialect.TSQL.value)
    except SqlglotError:
        readable = make_readable(text, tokenise(text, Dialect.TSQL))
        return parse_statements(_BULK.sub(r"\1", readable), Dialect.TSQL.value)


def _result(statement: exp.Expr, scope: QueryScope) -> Rowset:
    query = _query(statement) or statement
    if statement is not query:
        add_ctes(statement, scope)
    return query_rowset(query, scope)


def _query(statement: exp.Expr) -> exp.Expr | None:
    """The query of a statement: of itself, of CREATE … AS, of INSERT."""
    if isinstance(statement, exp.Create | exp.Insert):
        statement = statement.expression
    return statement if isinstance(statement, exp.Query | exp.Pivot) else None


def _add_others(statements: Iterable[exp.Expr], scope: QueryScope) -> None:
    """Make the tables known that other statements create; what else they do is a gap."""
    for statement in statements:
        query = _query(statement)
        target = statement.args.get("into") or statement  # SELECT … INTO t
        if (
            query
            and isinstance(target, exp.Create | exp.Into)
            and isinstance(target.this, exp.Table)
        ):
            path = table_parts(target.this)
            scope.ctes[path[-1]] = query_rowset(query, scope).rename(path)
        else:
            scope.context.gap("other statements than the query are left out")


def _variables(statements: Iterable[exp.Expr]) -> frozenset[str]:
    """The names, folded, that DECLARE makes."""
    return frozenset(
        name.name.casefold()
        for statement in statements
        if isinstance(statement, exp.Declare)
        for item in statement.expressions
        for name in (item.this if isinstance(item.this, list) else [item.this])
    )
