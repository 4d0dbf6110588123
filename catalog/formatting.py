"""Formatting of values for people: numbers, times, and labels of kinds and platforms."""

from __future__ import annotations

from datetime import UTC, datetime

from markupsafe import Markup

from dbt_graft.analysis.render.phrases import time_text
from dbt_graft.lineage.building.evidences import evidence_text
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.describe import Role
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.records import Evidence, Outcome, Status, Subtype
from dbt_graft.lineage.usage import Usage

# An entity: one character beyond Latin 1 doubles the memory that a page takes.
DASH = Markup("&ndash;")

KIND = {
    Kind.TABLE: "Table",
    Kind.VIEW: "View",
    Kind.PATH: "Files",
    Kind.TOPIC: "Topic",
    Kind.TEMPORARY: "Temporary table",
}
ROLE = {
    Role.MODEL: "dbt model",
    Role.SEED: "dbt seed",
    Role.SNAPSHOT: "dbt snapshot",
    Role.SOURCE: "dbt source",
    Role.PROMOTED: "promoted source",
    Role.ADDED: "new to dbt",
    Role.NEW_SOURCE: "new source",
}
EVIDENCE = {
    Evidence.OBSERVED: "observed in logs",
    Evidence.CODE: "in the code of the task, seen in no log",
    Evidence.DECLARED: "declared",
    Evidence.INFERRED: "inferred",
}
# What the evidence of a column edge means, for readers who must not take a guess for a fact.
EVIDENCE_OF_COLUMNS = {
    Evidence.CODE: "Read in the task's code: logs show that it reads the one and writes the other",
    Evidence.DECLARED: "From SQL, YAML or code: no log shows it",
    Evidence.INFERRED: "A guess by the columns' names: no log shows it",
}
STATUS = {Status.OK: "succeeded", Status.FAILED: "failed", Status.UNKNOWN: "unknown"}
OUTCOME = {
    Outcome.PARSED: "parsed",
    Outcome.PARTIAL: "parsed in part",
    Outcome.FAILED: "not parsed",
}
# What is done with a column: to its values, or by it.
SUBTYPE = {
    Subtype.IDENTITY: "copied",
    Subtype.TRANSFORMATION: "changed",
    Subtype.AGGREGATION: "aggregated",
    Subtype.JOIN: "joined by",
    Subtype.FILTER: "filtered by",
    Subtype.GROUP_BY: "grouped by",
    Subtype.SORT: "sorted by",
    Subtype.WINDOW: "windowed by",
    Subtype.CONDITIONAL: "decided by",
}
# By scheme, or by the whole namespace where it has none.
_PLATFORM = {
    "arn:aws:glue": "AWS Glue",
    "awsathena": "Amazon Athena",
    "clickhouse": "ClickHouse",
    "databricks": "Databricks",
    "dremio": "Dremio",
    "duckdb": "DuckDB",
    "fabric-warehouse": "Microsoft Fabric",
    "mssql": "SQL Server",
    "mysql": "MySQL",
    "oracle": "Oracle",
    "redshift": "Amazon Redshift",
    "trino": "Trino",
    "spark": "Spark",
    "hive": "Hive",
    "postgres": "PostgreSQL",
    "snowflake": "Snowflake",
    "bigquery": "BigQuery",
    "kafka": "Kafka",
    "file": "Files",
    "s3": "Amazon S3",
    "s3a": "Amazon S3",
    "gs": "Google Cloud Storage",
    "abfss": "Azure Data Lake",
    "hdfs": "HDFS",
}
# The scheme that stands for a product with several: the first of them.
_FIRST_SCHEME = {name: scheme for scheme, name in reversed(_PLATFORM.items())}
_ENGINE = _PLATFORM | {
    "airflow": "Airflow",
    "dagster": "Dagster",
    "flink": "Flink",
    "prefect": "Prefect",
    "sqlserver": "SQL Server",
}


def platform(dataset: DatasetId) -> str:
    """The name of the product that holds a dataset."""
    scheme = _scheme(dataset)
    return _PLATFORM.get(scheme.lower(), scheme)


def platform_scheme(dataset: DatasetId) -> str:
    """The scheme that stands for the product: `s3` for `s3a://…` too."""
    return _FIRST_SCHEME.get(platform(dataset), _scheme(dataset).lower())


def _scheme(dataset: DatasetId) -> str:
    scheme = dataset.namespace.partition("://")[0]
    return ":".join(scheme.split(":")[:3]) if scheme.startswith("arn:") else scheme


def role_label(role: str) -> str:
    """A role in dbt as builds remember it; empty for what dbt did not know."""
    return next((label for key, label in ROLE.items() if key == role), role or "not in dbt")


def engine(name: str) -> str:
    """The name of the engine that a task runs on."""
    return _ENGINE.get(name.lower(), name)


def evidence_label(edge: Flow | Usage) -> str:
    """The evidence of an edge, with its sources where there are several."""
    return evidence_text(edge.evidences) or EVIDENCE[edge.evidence]


def number(value: int) -> str:
    """`17,812`"""
    return f"{value:,}"


def moment(value: datetime | None) -> Markup:
    """A time as UTC to the minute; the browser's script shows it as `2 hours ago`."""
    if value is None:
        return DASH
    utc = value.astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        f"{utc:%Y-%m-%dT%H:%M:%SZ}", f"{time_text(utc)} UTC"
    )


def exact_moment(value: datetime) -> str:
    """The same time in the browser too: `since 2 hours ago` is no English."""
    return f"{time_text(value)} UTC"


def duration(started: datetime | None, ended: datetime | None) -> Markup | str:
    """`4 s`, `3 min`, `3 min 20 s`, `2 h 5 min`; a dash where one of the two is not known."""
    if started is None or ended is None:
        return DASH
    seconds = (ended - started).total_seconds()
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes_left} min"
    parts = ((minutes, "min"), (rest, "s"))
    return " ".join(f"{number} {unit}" for number, unit in parts if number)
