"""A query in any dialect of sqlglot -> the columns of its result, and where each comes from.

For queries that are whole and not captured, such as dbt's compiled models: the tables are those of
the tree, and no token scan is needed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt_graft.collectors.statements.columns.input_columns import NOTHING, InputColumns
from dbt_graft.collectors.statements.columns.queries import query_rowset
from dbt_graft.collectors.statements.columns.query_scope import QueryContext, QueryScope
from dbt_graft.collectors.statements.columns.rowsets import RowsetColumn
from dbt_graft.collectors.statements.columns.sources import table_parts
from dbt_graft.collectors.statements.columns.tree import NoTreeError
from dbt_graft.collectors.statements.text.names import Name

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
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
        text: One query; literals may still be in it.
        dialect: By its name in sqlglot: `snowflake`.
        columns: A table as the query names it, folded -> its columns; empty where they are not
            known.

    Raises:
        NoTreeError: sqlglot does not support it, or it is not one query.
    """
    try:
        tree = sqlglot.parse_one(text, read=dialect)
    except (SqlglotError, RecursionError, ValueError) as error:
        _log.debug("sqlglot reads no tree", exc_info=True)
        raise NoTreeError("the parser does not support this statement") from error
    if not isinstance(tree, exp.Query):
        raise NoTreeError("it is not a query")
    tables = dict.fromkeys(_tables(tree))
    context = QueryContext(dialect, {name: name for name in tables}, columns, query_rowset)
    try:
        rowset = query_rowset(tree, QueryScope(context))
    except (AttributeError, IndexError, KeyError, TypeError, RecursionError):
        _log.debug("a statement has an unknown form", exc_info=True)
        return QueryColumns(tables=tuple(tables), gaps=("the statement has an unknown form",))
    return QueryColumns(
        tuple(rowset.columns), rowset.influences, tuple(tables), tuple(context.gaps)
    )


def _tables(tree: exp.Query) -> list[Name]:
    ctes = {cte.alias_or_name.casefold() for cte in tree.find_all(exp.CTE)}
    found = (table_parts(table) for table in tree.find_all(exp.Table))
    return [name for name in found if name and not (len(name) == 1 and name[0] in ctes)]
