"""Numbers, times and kinds in words."""

from __future__ import annotations

from datetime import UTC, datetime

from markupsafe import Markup

from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.describe import Role
from dbt_graft.lineage.records import Evidence, Subtype

# Written as an entity: one character beyond Latin 1 doubles the memory that a page takes.
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
    Evidence.OBSERVED: "seen in a log",
    Evidence.DECLARED: "declared by people",
    Evidence.INFERRED: "inferred, not seen",
}
# What a column does to another, said of the first.
SUBTYPE = {
    Subtype.IDENTITY: "as it is",
    Subtype.TRANSFORMATION: "changed",
    Subtype.AGGREGATION: "aggregated",
    Subtype.JOIN: "joins",
    Subtype.FILTER: "filters",
    Subtype.GROUP_BY: "groups",
    Subtype.SORT: "sorts",
    Subtype.WINDOW: "orders or groups a window",
    Subtype.CONDITIONAL: "decides",
}
# By scheme, or by the whole namespace where it has none.
_PLATFORM = {
    "mssql": "SQL Server",
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
_ENGINE = {"sqlserver": "SQL Server", "mssql": "SQL Server", "spark": "Spark", "dbt": "dbt"}


def platform(dataset: DatasetId) -> str:
    """The product that holds a dataset, as people call it."""
    scheme = dataset.namespace.partition("://")[0]
    return _PLATFORM.get(scheme.lower(), scheme)


def engine(name: str) -> str:
    """The engine that a task runs on, as people call it."""
    return _ENGINE.get(name.lower(), name)


def number(value: int) -> str:
    """17812 as `17,812`."""
    return f"{value:,}"


def count(value: int, noun: str, plural: str = "") -> str:
    """`1 row`, `17,812 rows`."""
    return f"{value:,} {noun if value == 1 else plural or noun + 's'}"


def moment(value: datetime | None) -> Markup:
    """A time that the browser turns into `2 hours ago`; without script, UTC to the minute."""
    if value is None:
        return DASH
    utc = value.astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        f"{utc:%Y-%m-%dT%H:%M:%SZ}", f"{utc:%Y-%m-%d %H:%M} UTC"
    )


def duration(started: datetime | None, ended: datetime | None) -> Markup | str:
    """`4 s`, `3 min 20 s`, `2 h 5 min`; a dash where one end is not known."""
    if started is None or ended is None:
        return DASH
    seconds = (ended - started).total_seconds()
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes_left} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
