"""SQL over the views, by DuckDB: in memory, without files, network or extensions."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from dbt_graft.exporters.data.functions import FUNCTIONS
from dbt_graft.exporters.data.view_data import ViewData
from dbt_graft.exporters.data.views import VIEWS
from dbt_graft.lineage.errors import GraftError, add_extra

if TYPE_CHECKING:
    import duckdb

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
# PIVOT is several statements to DuckDB.
_QUERIES = ("SELECT", "EXPLAIN", "MULTI")


class QueryError(GraftError):
    """A query that is not valid SQL, or not one query."""


@contextmanager
def answer(data: ViewData, query: str) -> Iterator[pa.RecordBatchReader]:
    """The rows of a query as Arrow batches, while the context lasts.

    Raises:
        QueryError: It is not one query, or DuckDB cannot run it.
        GraftError: DuckDB is not installed.
    """
    try:
        # What was read until now stays; of DuckDB's own objects those that stay would be leaks.
        gc.freeze()
        import duckdb
    except ImportError as error:
        raise GraftError(
            "queries need DuckDB, which is not installed",
            remedy=add_extra("query"),
        ) from error
    with duckdb.connect(":memory:", config=_SETTINGS) as connection:
        try:
            # After two seconds it would stand in the output, of programs too.
            connection.execute("SET enable_progress_bar = false")
            _check(connection, query)
            _fill(connection, data, query)
            connection.execute("SET TimeZone = 'UTC'")
            # What does not fit into memory would be written into this folder.
            connection.execute("SET temp_directory = ''")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            yield connection.sql(query).to_arrow_reader()
        except duckdb.Error as error:
            problem = str(error).strip().removeprefix(_OURS)
            raise QueryError(problem, remedy=_remedy(problem)) from error


# DuckDB's words before an error of our table functions.
_OURS = "Invalid Input Error: "
_LISTS = {
    "there is no such dataset": "datasets",
    "datasets have this name": "datasets",
    "is no run that": "runs",
}
_UNREAD = re.compile(r'syntax error at or near "(\w+)"')


def _remedy(error: str) -> str:
    """The next step after an error of DuckDB: some columns have names that SQL has for itself."""
    match = _UNREAD.search(error)
    if match and any(match[1].lower() == name for view in VIEWS for name in view.schema().names):
        return f'write "{match[1]}" in double quotes: it is a word of SQL, too'
    if view := next((view for words, view in _LISTS.items() if words in error), ""):
        return f'`graft query "from {view}"` lists them'
    return "`graft query --views` lists the views and their columns"


def _check(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    statements = connection.extract_statements(query)
    if len(statements) != 1:
        raise QueryError(
            f"{len(statements)} statements where one query is needed",
            remedy="write one SELECT",
        )
    kind = statements[0].type.name
    if kind not in _QUERIES:
        raise QueryError(f"{kind} is not a query: the views are read-only", remedy="write a SELECT")


def _fill(connection: duckdb.DuckDBPyConnection, data: ViewData, query: str) -> None:
    """Make the views: those that the query names with their rows, the others empty."""
    # As one text: an empty Arrow table for each view takes four times as long.
    statements = [view.sql for view in VIEWS]
    statements += [function.sql for function in FUNCTIONS.values()]
    connection.execute(";".join(statements))
    needed = _named_views(connection, query)
    for view in VIEWS:
        if view.name in needed:
            connection.register("rows_of_view", view.batches(data))
            connection.execute(f"INSERT INTO {view.name} FROM rows_of_view")
            connection.unregister("rows_of_view")


def _named_views(connection: duckdb.DuckDBPyConnection, query: str) -> set[str]:
    """The views that a query needs; those that it may need where DuckDB does not parse it alone."""
    import duckdb

    words = set(re.findall(r"\w+", query.lower()))
    try:
        names = {name.lower() for name in connection.get_table_names(query)}
    except duckdb.Error:
        names = words
    functions = [FUNCTIONS[name] for name in FUNCTIONS.keys() & words]
    return names.union(*(function.views for function in functions))
