"""Names and ids of OpenLineage: of datasets, of the jobs of tasks and dbt models, of runs.

Airflow's provider makes its run ids of what is known before a run: the DAG, the task, its try and
its logical date. So the run of a task instance can be named without its events.
"""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.paths import path_dataset
from dbt_graft.lineage.redaction import redact_name

# The namespace of the jobs of our tasks.
NAMESPACE = "graft"
# The producer of our events begins with it.
REPOSITORY = "https://github.com/dbt-graft/dbt-graft"
# The version of an engine that no log names: the facet requires one, and a consumer may take it
# apart as Python's packages or SemVer have it.
UNKNOWN_VERSION = "0.0.0+unknown"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DBT = "dbt."
_VIEW = "view."
# Their datasets are paths: a scheme has several spellings, and an address may hold a secret.
_STORES = frozenset(
    {"file", "s3", "s3a", "s3n", "gs", "hdfs", "viewfs", "webhdfs", "dbfs", "abfs", "abfss"}
    | {"wasb", "wasbs", "adl"}
)


# `crm:1433/INSTANCE`
_SQL_SERVER = re.compile(
    r"(?P<host>\[[^]]*\]|[^:/\\]*)(?::(?P<port>\d+))?(?:[/\\](?P<instance>[^:/]+))?/?"
)
# `sqlserver://crm:1433;database=Shop;` of openlineage-spark before 1.18.
_DATABASE = re.compile(r";database(?:name)?=(?P<database>[^;]+)", re.IGNORECASE)
# `table/raw/orders` of a data catalogue of AWS.
_GLUE = re.compile(r"arn:aws[\w-]*:glue:[^/]*")
_GLUE_TABLE = re.compile(r"table/(?P<database>[^/]+)/(?P<table>[^/]+)")


class JobId(NamedTuple):
    """A job's identity in OpenLineage."""

    namespace: str
    name: str


def dataset_id(namespace: str, name: str) -> DatasetId:
    """The dataset that an event names; its `namespace` and `name` are OpenLineage's again.

    Paths have one spelling: `s3a://lake` + `/raw/x` is `s3://lake` + `raw/x`, `file` + `x` is
    `file` + `/x`. Secrets in them are left out before they are joined to a path. A table that
    producers call in several ways has its name in engines' logs and dbt: OpenLineage's Java client
    calls a SQL Server `sqlserver://crm`, its naming convention `mssql://crm:1433`; a table of AWS
    Glue is `table/raw/orders` there, and `raw.orders` in dbt's events; `postgresql://` is
    `postgres://`, and a locator of Snowflake without a cloud lies in AWS.

    Raises:
        ValueError: Namespace or name is missing.
    """
    namespace, name = redact_name(namespace.strip()).rstrip("/"), redact_name(name.strip())
    scheme, mark, authority = namespace.partition("://")
    if not scheme or not name:
        raise ValueError("a dataset of OpenLineage has a namespace and a name")
    scheme = scheme.lower().rstrip(":")
    if scheme == "sqlserver" and (server := _SQL_SERVER.fullmatch(authority.partition(";")[0])):
        if (named := _DATABASE.search(authority)) and name.count(".") <= 1:
            name = f"{named['database']}.{name if '.' in name else f'dbo.{name}'}"
        return DatasetId(mssql_namespace(**server.groupdict(default="")), name)
    if scheme == "snowflake" and authority and "/" not in authority:
        return DatasetId(snowflake_namespace(authority), name)
    scheme = "postgres" if scheme == "postgresql" else scheme
    if _GLUE.fullmatch(namespace) and (table := _GLUE_TABLE.fullmatch(name)):
        name = f"{table['database']}.{table['table']}"
    if is_store(scheme):
        return path_dataset(f"{scheme}://{authority}/{name.lstrip('/')}")
    return DatasetId(f"{scheme}://{authority}" if mark else namespace, name)


def is_store(namespace: str) -> bool:
    """Whether the datasets of a namespace are paths: `s3://lake`, `dbfs`."""
    return namespace.partition("://")[0] in _STORES


def mssql_namespace(host: str, port: str = "", instance: str = "") -> str:
    """The namespace of a SQL Server: `mssql://crm:1433`, or `mssql://crm\\SALES` of an instance.

    A driver prefers a port to an instance; with an instance only, the port is unknown.
    """
    host = host.lower() or "localhost"
    if host.endswith(".fabric.microsoft.com"):  # as OpenLineage names what dbt has there
        return f"fabric-warehouse://{host}"
    return (
        f"mssql://{host}\\{instance}" if instance and not port else f"mssql://{host}:{port or 1433}"
    )


def snowflake_namespace(account: str) -> str:
    """The namespace of an account, as a profile or a URL names it; `snowflake` of an empty name.

    `org-shop` is an organisation's; `xy12345.eu-west-1` locates one in a region of AWS, as
    `fix_account_name` of OpenLineage's `provider/dbt/processor.py` completes it.
    """
    account = account.strip().removeprefix("https://").partition("/")[0].partition(":")[0]
    account = account.removesuffix(".snowflakecomputing.com").removesuffix(".privatelink")
    if "." in account or not re.search(r"[-_]", account):
        located, _, rest = account.partition(".")
        region, _, cloud = rest.partition(".")
        account = located and f"{located}.{region or 'us-west-1'}.{cloud or 'aws'}"
    return f"snowflake://{account}" if account else "snowflake"


def task_job(task: str, namespace: str = NAMESPACE) -> JobId:
    """The job of one of our tasks, which has its name."""
    return JobId(namespace, task)


def dbt_job(unique_id: str, namespace: str = NAMESPACE) -> JobId:
    """The job of a dbt model, seed or snapshot: `dbt.model.shop.orders`."""
    return JobId(namespace, f"{_DBT}{unique_id}")


def view_job(view: DatasetId, namespace: str = NAMESPACE) -> JobId:
    """The job of a view, which nobody runs: `view.mssql://crm:1433/Shop.dbo.Current`."""
    return JobId(namespace, f"{_VIEW}{view}")


def dbt_node(job: JobId, namespace: str = NAMESPACE) -> str | None:
    """The unique_id of the dbt node whose job this is; None for another job."""
    is_dbt = job.namespace == namespace and job.name.startswith(_DBT)
    return job.name.removeprefix(_DBT) if is_dbt else None


def is_view(job: JobId, namespace: str = NAMESPACE) -> bool:
    """Whether this is the job of a view."""
    return job.namespace == namespace and job.name.startswith(_VIEW)


def parse_job(text: str) -> JobId | None:
    """The job written `namespace/name`, as runs in the store have it; None if it is none.

    The namespace ends at the first slash after `scheme://`, as that of a dataset does.
    """
    scheme, mark, rest = text.partition("://")
    head, _, name = (rest if mark else text).partition("/")
    if not head or not name:
        return None
    return JobId(f"{scheme}{mark}{head}" if mark else head, name)


def run_uuid(task: str, engine: str, run_id: str, namespace: str = NAMESPACE) -> UUID:
    """The run id in OpenLineage of a run in the store: its own if that is a UUID.

    A run whose start is read later than its end keeps its id: no time is in it.
    """
    try:
        return UUID(run_id)
    except ValueError:
        return static_uuid(_EPOCH, f"{namespace}.{task}.{engine}.{run_id}")


def static_uuid(instant: datetime, data: bytes | str) -> UUID:
    """A UUID of version 7 with the time of `instant`, made of its arguments alone.

    Bit by bit what `generate_static_uuid` of `openlineage.client.uuid` makes: behind the 48 bits
    of the time follow 76 of a SHA-1 of the time as text and the data, less those that version and
    variant take.

    Args:
        instant: Aware.
    """
    utc = instant.astimezone(UTC)
    content = data.encode() if isinstance(data, str) else data
    digest = hashlib.sha1(utc.isoformat().encode() + content, usedforsecurity=False).digest()
    milliseconds = int(utc.timestamp() * 1000)  # as they round it
    bits = (milliseconds & (1 << 48) - 1) << 80 | int.from_bytes(digest) >> 84
    bits &= ~(0xF << 76 | 0b11 << 62)
    return UUID(int=bits | 7 << 76 | 0b10 << 62)


def airflow_task_run_id(
    namespace: str,
    dag_id: str,
    task_id: str,
    try_number: int,
    map_index: int,
    logical_date: datetime,
) -> UUID:
    """The run id that Airflow gives one try of a task instance.

    Args:
        namespace: The `namespace` in Airflow's section `openlineage`, `default` if not set.
        task_id: With its groups: `raw.load_orders`.
        map_index: -1 where the task is not mapped.
        logical_date: The `run_after` of a DAG run that has no logical date.
    """
    return static_uuid(logical_date, f"{namespace}.{dag_id}.{task_id}.{try_number}.{map_index}")
