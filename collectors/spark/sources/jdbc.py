"""Reads over JDBC: a table, or a query that the database ran.

`Scan JDBCRelation(dbo.Orders) [numPartitions=1]`, `Scan JDBCRelation((SELECT …) q) […]`. A query is
parsed in the T-SQL dialect. Spark 4.3 shows the query that it sent even for a table
(`External engine query: SELECT "id" FROM dbo.Orders WHERE …`).
"""

from __future__ import annotations

import re

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.spark.plans.columns import NOTHING, ColumnInputs, PlanSource
from dbt_graft.collectors.spark.sources.databases import JdbcDatabase, name_parts
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.shape import ParsedShape
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.double_quotes import QUOTES_ARE_NAMES, QUOTES_ARE_VALUES
from dbt_graft.collectors.statements.time_limit import UnreadableTextError, run_limited
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import ANY_COLUMN, Direction, EdgeType

_RELATION = "JDBCRelation("
_END = re.compile(r"\) \[numPartitions=\d+\]")
_QUERY = re.compile(r"\(\s*(?:SELECT|WITH)\b", re.IGNORECASE)
_ALIAS = re.compile(r"\)\s*(?:AS\s+)?[\w\"`\[\]]*\s*$", re.IGNORECASE)
_PUSHED = re.compile(r"\*[A-Z]\w+\((?P<name>[^(),]+)")


@frozen
class ExternalTable:
    """A table of a database, or a query that it ran.

    Attributes:
        text: The table's name as the database writes it, or the query in brackets.
        pushed: The columns that the database filtered by.
    """

    text: str
    pushed: tuple[str, ...] = ()

    @property
    def is_query(self) -> bool:
        """Whether it is a query, not a table."""
        return bool(_QUERY.match(self.text))


def jdbc_relation(name: str, text: str = "") -> ExternalTable | None:
    """Return the JDBC relation in an operator's name or arguments; None where there is none.

    Args:
        text: The operator's line, which has the filters that the database ran.
    """
    begins = name.find(_RELATION)
    if begins < 0:
        return None
    ends = [match.start() for match in _END.finditer(name, begins)]
    inside = name[begins + len(_RELATION) : ends[-1] if ends else len(name)]
    filters = text.rpartition("PushedFilters: ")[2]
    pushed = tuple(sorted({match["name"] for match in _PUSHED.finditer(filters)}))
    return ExternalTable(inside if ends else inside.removesuffix(")"), pushed)


def tables(table: ExternalTable, database: JdbcDatabase) -> list[DatasetId]:
    """The datasets that are read; none where the query cannot be parsed."""
    if not table.is_query:
        parts = name_parts(table.text)
        return [database.table(parts)] if parts else []
    reads = {
        database.table(access.name)
        for shape in _shapes(table.text, database)
        for access in shape.accesses
        if access.direction is Direction.READ
    }
    return sorted(reads)


def query_source(query: ExternalTable, database: JdbcDatabase) -> PlanSource:
    """The columns of a query's result with their inputs; without columns for a table."""
    columns: dict[str, ColumnInputs] = {}
    influences: set[ColumnInput[DatasetId]] = set()
    for shape in _shapes(query.text, database) if query.is_query else ():
        for edge in shape.column_edges:
            dataset = database.table(edge.from_table)
            column_input = ColumnInput(dataset, edge.from_column, edge.subtype, edge.masking)
            if edge.column == ANY_COLUMN and edge.subtype.type is EdgeType.INDIRECT:
                influences.add(column_input)
            else:
                name = edge.column.casefold()
                columns[name] = columns.get(name, NOTHING) | {column_input}
    return PlanSource(columns=columns, influences=frozenset(influences))


def _shapes(text: str, database: JdbcDatabase) -> tuple[ParsedShape, ...]:
    query = _query(text)
    if "`" in text:
        dialect = Dialect.SPARK
    else:  # MySQL has no schemas, and values in double quotes
        dialect = Dialect.TSQL
        query = (QUOTES_ARE_NAMES if database.has_schemas else QUOTES_ARE_VALUES) + query
    try:
        return run_limited(parse, query, dialect)
    except UnreadableTextError:
        return ()


def _query(text: str) -> str:
    """`(SELECT …) alias` without brackets and alias."""
    closed = _ALIAS.search(text[-200:])
    end = len(text[:-200]) + closed.start() if closed else len(text)
    return text[text.index("(") + 1 : end]
