"""What Spark read over JDBC: a table, or a query that the database ran.

`Scan JDBCRelation(dbo.Orders) [numPartitions=1]`, `Scan JDBCRelation((SELECT …) q) […]`. A query is
parsed as SQL Server's; Spark 4.3 shows even for a table the query that it sent
(`External engine query: SELECT "id" FROM dbo.Orders WHERE …`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dbt_graft.collectors.spark.sources.databases import JdbcDatabase, name_parts
from dbt_graft.collectors.statements.parse import ParsedShape, normalise, parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Direction, Subtype

_RELATION = "JDBCRelation("
_END = re.compile(r"\) \[numPartitions=\d+\]")
_QUERY = re.compile(r"\(\s*(?:SELECT|WITH)\b", re.IGNORECASE)
_ALIAS = re.compile(r"\)\s*(?:AS\s+)?[\w\"`\[\]]*\s*$", re.IGNORECASE)
_PUSHED = re.compile(r"\*[A-Z]\w+\((?P<name>[^(),]+)")


@dataclass(frozen=True, slots=True)
class ExternalTable:
    """A table's name, or a query, in a database.

    Attributes:
        text: A table as the database names it, or the query in brackets.
        pushed: The columns that the database filtered by.
    """

    text: str
    pushed: tuple[str, ...] = ()

    @property
    def is_query(self) -> bool:
        """Whether it is a query, not a table."""
        return bool(_QUERY.match(self.text))


@dataclass(frozen=True, slots=True)
class QueryColumn:
    """A column of a table has a part in a column of a query's result (`*`: in its rows)."""

    column: str
    dataset: DatasetId
    from_column: str
    subtype: Subtype
    masking: bool


def jdbc_relation(name: str, text: str = "") -> ExternalTable | None:
    """The JDBC relation that an operator's name or arguments tell of.

    Args:
        text: The operator's whole line: it has the filters that the database ran.
    """
    begins = name.find(_RELATION)
    if begins < 0:
        return None
    ends = [found.start() for found in _END.finditer(name, begins)]
    inside = name[begins + len(_RELATION) : ends[-1] if ends else len(name)]
    filters = text.rpartition("PushedFilters: ")[2]
    pushed = tuple(sorted({found["name"] for found in _PUSHED.finditer(filters)}))
    return ExternalTable(inside if ends else inside.removesuffix(")"), pushed)


def tables(found: ExternalTable, database: JdbcDatabase) -> list[DatasetId]:
    """The datasets that are read; none where the query cannot be read."""
    if not found.is_query:
        parts = name_parts(found.text)
        return [database.table(parts)] if parts else []
    reads = {
        database.table(access.name)
        for shape in _shapes(found.text)
        for access in shape.accesses
        if access.direction is Direction.READ
    }
    return sorted(reads)


def query_columns(found: ExternalTable, database: JdbcDatabase) -> list[QueryColumn]:
    """What has a part in the columns of a query's result, and in its rows."""
    return [
        QueryColumn(
            edge.column,
            database.table(edge.from_table),
            edge.from_column,
            edge.subtype,
            edge.masking,
        )
        for shape in (_shapes(found.text) if found.is_query else ())
        for edge in shape.column_edges
    ]


def _shapes(text: str) -> tuple[ParsedShape, ...]:
    dialect = Dialect.SPARK if "`" in text else Dialect.TSQL
    return parse(normalise(_query(text), dialect), dialect)


def _query(text: str) -> str:
    """`(SELECT …) alias` without brackets and alias."""
    closed = _ALIAS.search(text[-200:])
    end = len(text[:-200]) + closed.start() if closed else len(text)
    return text[text.index("(") + 1 : end]
