"""The SQL in a job's facet `sql`, as a shape: without literals and secrets."""

from __future__ import annotations

import re
from functools import lru_cache

from dbt_graft.collectors.openlineage.event import Facets
from dbt_graft.collectors.openlineage.facets import text
from dbt_graft.collectors.statements.normalise import normalise
from dbt_graft.collectors.statements.text.dialect import Dialect

# Where "…" is a name. Elsewhere, and where the facet does not say, it may be a string.
_QUOTES_NAMES = re.compile(
    r"(ansi|athena|duckdb|greenplum|oracle|postgres\w*|presto|redshift|snowflake|teradata|trino"
    r"|vertica|tsql|mssql|sqlserver|synapse|fabric)",
    re.IGNORECASE,
)
# Strings that only the rules of some dialects find the end of: $$…$$, and among these E'…\'…'.
_DOLLARS = re.compile(r"\$\w*\$")
_TSQL = re.compile(r"(tsql|mssql|sqlserver|synapse|fabric)", re.IGNORECASE)
_LONGEST = 100_000


def shown_sql(facets: Facets) -> tuple[str, str]:
    """The dialect and the text of a job's SQL; an empty text where it has none to be shown."""
    query, dialect = text(facets, "sql", "query"), text(facets, "sql", "dialect")
    if not query or len(query) > _LONGEST or _DOLLARS.search(query):
        return "", ""
    return _normalise_sql(query, dialect)


@lru_cache(maxsize=2_000)
def _normalise_sql(query: str, dialect: str) -> tuple[str, str]:
    if not _QUOTES_NAMES.fullmatch(dialect):
        return Dialect.SPARK.value, normalise(query, Dialect.SPARK).strip()
    if not _TSQL.fullmatch(dialect) and "\\" in query:
        return "", ""
    return dialect.lower(), normalise(query, Dialect.TSQL).strip()
