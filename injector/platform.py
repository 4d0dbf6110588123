"""The platform of dbt's relations, as a namespace of datasets.

Namespaces are those of OpenLineage's dbt integration, so that datasets of its events and of ours
are the same: `postgres://db:5432`, `snowflake://org-account`, `duckdb://shop.duckdb`, `bigquery`
(https://openlineage.io/docs/spec/naming, OpenLineage's `provider/dbt/processor.py`). Where dbt's
profile cannot be read, the platform alone is the namespace: `postgres`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dbt_graft.injector.profile import Connection

# "dbt's warehouse, whichever it is", in name rules and declared lineage.
DBT = "dbt"
# Spark logs do not say where their metastore is: this stands for it.
SPARK = "spark"
# Adapters whose relations are tables of Spark's metastore.
_ON_SPARK = frozenset({"databricks", "fabricspark", "glue", "spark", "watsonx_spark"})

_SCHEME = {
    "athena": "awsathena",
    "fabric": "fabric-warehouse",
    "sqlserver": "mssql",
    "synapse": "mssql",
}
# Settings that hold a host, in the order they are looked up.
_HOST = ("host", "server", "hostname", "software_host")
_PORT = {
    "clickhouse": "8123",
    "dremio": "9047",
    "mysql": "3306",
    "oracle": "1521",
    "postgres": "5432",
    "redshift": "5439",
    "sqlserver": "1433",
    "synapse": "1433",
    "trino": "8080",
}
_SPARK_PORT = {"thrift": "10001", "http": "443", "odbc": "443"}


@dataclass(frozen=True, slots=True)
class Platform:
    """The platform of dbt's relations.

    Attributes:
        namespace: The namespace of their datasets: `spark`, `mssql://crm:1433`.
        aliases: Other namespaces whose datasets are the same.
    """

    namespace: str
    aliases: frozenset[str] = frozenset({DBT})


def platform(
    adapter: str, connection: Connection | None = None, namespace: str | None = None
) -> Platform:
    """Return the platform of an adapter.

    Args:
        adapter: The manifest's `adapter_type`.
        connection: dbt's profile; it counts if it is for the same adapter.
        namespace: The namespace, if the user has set one.
    """
    adapter = adapter.lower()
    profile = connection or Connection()
    if profile.get("type").lower() != adapter:
        profile = Connection()
    aliases = {DBT, SPARK} if adapter in _ON_SPARK else {DBT}
    return Platform(namespace or _namespace(adapter, profile), frozenset(aliases))


def _namespace(adapter: str, connection: Connection) -> str:
    scheme = _SCHEME.get(adapter, adapter) or DBT
    namespace = _NAMESPACES.get(adapter, _server(adapter))(connection)
    return namespace or scheme


def _server(adapter: str) -> Callable[[Connection], str]:
    """The namespace `<scheme>://<host>:<port>`."""

    def namespace(connection: Connection) -> str:
        host = next((host_name for key in _HOST if (host_name := _host(connection.get(key)))), "")
        port = connection.get("port", _PORT.get(adapter, ""))
        # `crm,1444` and `tcp:crm` are SQL Server's.
        host, comma, own_port = host.removeprefix("tcp:").partition(",")
        port = own_port.strip() if comma else port
        return f"{_SCHEME.get(adapter, adapter)}://{host}{f':{port}' if port else ''}" * bool(host)

    return namespace


def _spark(connection: Connection) -> str:
    """A session has no server."""
    method = connection.get("method")
    host = _host(connection.get("host"))
    if method not in _SPARK_PORT or not host:
        return ""
    return f"spark://{host}:{connection.get('port', _SPARK_PORT[method])}"


def _databricks(connection: Connection) -> str:
    host = _host(connection.get("host"))
    return f"databricks://{host}" if host else ""


def _duckdb(connection: Connection) -> str:
    # MotherDuck's token can be part of the path: `md:shop?motherduck_token=…`.
    path = connection.get("path", ":memory:").partition("?")[0]
    return f"duckdb://{path}" if connection.settings else ""


def _snowflake(connection: Connection) -> str:
    """`<organisation>-<account>`, or an account locator with its region and cloud."""
    account = connection.get("account")
    if account and ("." in account or not re.search(r"[-_]", account)):
        located, _, rest = account.partition(".")
        region, _, cloud = rest.partition(".")
        account = f"{located}.{region or 'us-west-1'}.{cloud or 'aws'}"
    return f"snowflake://{account}" if account else ""


def _glue(connection: Connection) -> str:
    role = connection.get("role_arn").split(":")
    account = connection.get("account_id", role[4] if len(role) > 4 else "")
    region = connection.get("region")
    return f"arn:aws:glue:{region}:{account}" if region and account else ""


def _athena(connection: Connection) -> str:
    region = connection.get("region_name")
    return f"awsathena://athena.{region}.amazonaws.com" if region else ""


def _host(setting: str) -> str:
    """A host without the scheme, user and path that people write around it."""
    return setting.rpartition("://")[2].partition("/")[0].rpartition("@")[2]


_NAMESPACES: Mapping[str, Callable[[Connection], str]] = {
    "athena": _athena,
    "bigquery": lambda _: "bigquery",
    "databricks": _databricks,
    "duckdb": _duckdb,
    "glue": _glue,
    "snowflake": _snowflake,
    "spark": _spark,
}
