"""SQL over the views, by DuckDB: in memory, without files, network or extensions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from dbt_graft.exporters.data.views import VIEWS
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.errors import GraftError

if TYPE_CHECKING:
    import duckdb

# Table functions over edges. A dataset is named as in `dataset`, or by its name alone, in any case.
_ALONG = """\
CREATE MACRO {function}(start) AS TABLE
WITH RECURSIVE found(dataset, distance) USING KEY (dataset) AS (
    SELECT DISTINCT {there} AS dataset, 1 AS distance
    FROM edges JOIN datasets ON datasets.dataset = {here}
    WHERE lower(start) IN (lower(datasets.dataset), lower(datasets.name))
    UNION
    SELECT {there} AS dataset, min(found.distance) + 1 AS distance
    FROM found JOIN edges ON {here} = found.dataset
    WHERE {there} NOT IN (SELECT dataset FROM recurring.found)
    GROUP BY {there}
)
SELECT dataset, distance FROM found ORDER BY distance, dataset
"""
_ENDS = {
    "downstream_of": {"here": "edges.from_dataset", "there": "edges.to_dataset"},
    "upstream_of": {"here": "edges.to_dataset", "there": "edges.from_dataset"},
}
FUNCTIONS = {
    "downstream_of": "The datasets downstream of one, each with its distance in edges.",
    "upstream_of": "The datasets upstream of one, each with its distance in edges.",
}
_OF_FUNCTIONS = {"edges", "datasets"}
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
# PIVOT is several statements to DuckDB.
_QUERIES = ("SELECT", "EXPLAIN", "MULTI")


class QueryError(GraftError):
    """A query that is not valid SQL, or not one query."""


@contextmanager
def answer(described: DescribedLineage, query: str) -> Iterator[pa.RecordBatchReader]:
    """The rows of a query as Arrow batches, while the context lasts.

    Raises:
        QueryError: It is not one query, or DuckDB cannot run it.
        GraftError: DuckDB is not installed.
    """
    try:
        import duckdb
    except ImportError as error:
        raise GraftError(
            "queries need DuckDB, which is not installed",
            remedy="run `pip install 'dbt-graft[query]'`",
        ) from error
    with duckdb.connect(":memory:", config=_SETTINGS) as connection:
        try:
            _check(connection, query)
            _fill(connection, described, query)
            connection.execute("SET TimeZone = 'UTC'")
            # What does not fit into memory would be written into this folder.
            connection.execute("SET temp_directory = ''")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            yield connection.sql(query).to_arrow_reader()
        except duckdb.Error as error:
            raise QueryError(str(error).strip(), remedy=_REMEDY) from error


_REMEDY = "`graft query --views` lists the views and their columns"


def _check(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    statements = connection.extract_statements(query)
    if len(statements) != 1:
        raise QueryError(
            f"{len(statements)} statements where one query is needed",
            remedy="write one SELECT",
        )
    kind = statements[0].type.name
    if kind not in _QUERIES:
        raise QueryError(f"{kind} is no query: the views are read-only", remedy="write a SELECT")


def _fill(connection: duckdb.DuckDBPyConnection, described: DescribedLineage, query: str) -> None:
    """Make the views: those that the query may name with their rows, the others empty."""
    words = set(re.findall(r"\w+", query.lower()))
    if words & FUNCTIONS.keys():
        words |= _OF_FUNCTIONS
    for view in VIEWS:
        rows = view.batches(described) if view.name in words else view.schema().empty_table()
        connection.register("rows_of_view", rows)
        connection.execute(f"CREATE TABLE {view.name} AS FROM rows_of_view")
        connection.unregister("rows_of_view")
    for function, ends in _ENDS.items():
        connection.execute(_ALONG.format(function=function, **ends))
