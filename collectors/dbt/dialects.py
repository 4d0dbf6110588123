"""The SQL dialect of a dbt adapter, by its name in sqlglot."""

from __future__ import annotations

# Adapter type in the manifest -> dialect. Adapters that share an engine share its dialect.
_DIALECTS = {
    "athena": "athena",
    "bigquery": "bigquery",
    "clickhouse": "clickhouse",
    "cratedb": "postgres",
    "databend": "snowflake",
    "databricks": "databricks",
    "doris": "doris",
    "dremio": "dremio",
    "drill": "drill",
    "druid": "druid",
    "duckdb": "duckdb",
    "exasol": "exasol",
    "fabric": "tsql",
    "fabricspark": "spark",
    "glue": "spark",
    "greenplum": "postgres",
    "hive": "hive",
    "impala": "hive",
    "mariadb": "mysql",
    "materialize": "materialize",
    "mysql": "mysql",
    "mysql5": "mysql",
    "oracle": "oracle",
    "postgres": "postgres",
    "presto": "presto",
    "redshift": "redshift",
    "risingwave": "risingwave",
    "singlestore": "singlestore",
    "snowflake": "snowflake",
    "spark": "spark",
    "sqlite": "sqlite",
    "sqlserver": "tsql",
    "starrocks": "starrocks",
    "synapse": "tsql",
    "tidb": "mysql",
    "teradata": "teradata",
    "trino": "trino",
    "upsolver": "presto",
    "vertica": "postgres",
    "watsonx_presto": "presto",
    "watsonx_spark": "spark",
    "yellowbrick": "postgres",
}


def dialect_of(adapter: str) -> str | None:
    """The dialect of an adapter; None for an adapter that we do not know."""
    return _DIALECTS.get(adapter.strip().lower())
