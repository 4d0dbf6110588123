"""The platform of dbt's relations, as a namespace of datasets, by the project's connection.

Namespaces are those of OpenLineage's dbt integration, so that datasets of its events and of ours
are the same: `postgres://db:5432`, `snowflake://org-account`, `duckdb://shop.duckdb`, `bigquery`
(https://openlineage.io/docs/spec/naming, OpenLineage's `provider/dbt/processor.py`). Where dbt's
profile cannot be read, the platform alone is the namespace: `postgres`.

dbt looks for `profiles.yml` in DBT_PROFILES_DIR, in the project and in `~/.dbt`, and takes the
target of DBT_TARGET or the profile's own: https://docs.getdbt.com/docs/core/connection-profiles.
Only the settings that are asked for are rendered: a password is never looked at.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from dbt_graft.lineage.errors import exception_summary
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.openlineage import snowflake_namespace

_log = logging.getLogger(__name__)

# dbt hides the values of these variables everywhere.
_SECRET = "DBT_ENV_SECRET"  # noqa: S105
# "dbt's warehouse, whichever it is", in name rules and declared lineage.
DBT = "dbt"
# Spark logs do not say where their metastore is: this stands for it.
SPARK = "spark"
# Nor do events of openlineage-spark on Databricks say where their Unity Catalog is.
_UNITY = "unity-catalog"
# Adapters whose relations are tables of Spark's metastore.
_ON_SPARK = frozenset({"databricks", "fabricspark", "glue", "spark", "watsonx_spark"})
_SCHEME = {
    "athena": "awsathena",
    "fabric": "fabric-warehouse",
    "sqlserver": "mssql",
    "synapse": "mssql",
}
# A cluster, which Airflow calls `redshift://shop.eu-west-1:5439`, as OpenLineage's convention does.
_REDSHIFT = re.compile(
    r"redshift://(?P<cluster>[^.]+)\.[^.]+\.(?P<region>[^.]+)\.redshift(?:-serverless)?"
    r"\.amazonaws\.com(?P<port>.*)"
)
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


@frozen
class Connection:
    """The settings of one target of a profile; none if dbt's profile cannot be read here."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)

    def get(self, key: str, default: str = "") -> str:
        """Return a setting with its `env_var` filled in; the default where that cannot be done."""
        value = self.settings.get(key)
        if value is None or isinstance(value, (dict, list)):
            return default
        return render_text(str(value), self.environ) or default


def read_connection(project: Path, environ: Mapping[str, str]) -> Connection:
    """Return the connection that dbt uses for a project unless it is called with other options."""
    name = environ.get("DBT_PROFILE") or _mapping(project / "dbt_project.yml").get("profile")
    folders = [project, Path(environ.get("HOME") or "~").expanduser() / ".dbt"]
    if profiles_dir := environ.get("DBT_PROFILES_DIR"):
        folders.insert(0, Path(profiles_dir).expanduser())
    for folder in folders:
        path = folder / "profiles.yml"
        if _is_file(path):
            profile = _mapping(path).get(str(name))
            break
    else:
        return Connection()
    if not isinstance(profile, dict) or not isinstance(profile.get("outputs"), dict):
        return Connection()
    target = environ.get("DBT_TARGET") or render_text(
        str(profile.get("target", "default")), environ
    )
    settings = profile["outputs"].get(target)
    return Connection(settings if isinstance(settings, dict) else {}, environ)


def render_text(text: str, environ: Mapping[str, str]) -> str:
    """Return a text of a profile with its Jinja filled in; empty where that cannot be done."""
    if "{" not in text:
        return text
    # Few profiles have templates; for all others every question would wait for it.
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import SandboxedEnvironment

    def env_var(name: str, default: str | None = None) -> str:
        setting = None if name.startswith(_SECRET) else environ.get(name, default)
        if setting is None:
            raise TemplateError(name)
        return setting

    jinja = SandboxedEnvironment(undefined=StrictUndefined)
    try:
        return jinja.from_string(text).render(env_var=env_var)
    except Exception as error:  # a template can raise anything
        _log.debug("dbt's profile: a text is not rendered: %s", exception_summary(error))
        return ""


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # this account may not look there
        return False


@lru_cache(maxsize=8)
def load_yaml(text: str) -> Any:
    """The document of a small file that is asked for again and again: dbt's project and profiles.

    Raises:
        yaml.YAMLError: It is not valid.
    """
    return yaml.safe_load(text)


def _mapping(path: Path) -> dict[str, Any]:
    try:
        document = load_yaml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return {}
    return document if isinstance(document, dict) else {}


@frozen
class Platform:
    """The platform of dbt's relations.

    Attributes:
        namespace: The namespace of their datasets: `spark`, `mssql://crm:1433`.
        aliases: Other namespaces whose datasets are the same.
        database: That of names without one; empty if the profile does not tell.
    """

    namespace: str
    aliases: frozenset[str] = frozenset({DBT})
    database: str = ""


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
    namespace = namespace or _namespace(adapter, profile)
    aliases = {DBT}
    if cluster := _REDSHIFT.fullmatch(namespace):
        aliases.add(f"redshift://{cluster['cluster']}.{cluster['region']}{cluster['port']}".lower())
    if adapter in _ON_SPARK:
        aliases.add(SPARK)
    if adapter == "databricks":
        aliases |= {_UNITY, namespace.replace(adapter, "unitycatalog", 1).casefold()}
    return Platform(namespace, frozenset(aliases), _database(adapter, profile))


def _database(adapter: str, connection: Connection) -> str:
    """The database of a connection; DuckDB's has the name of its file."""
    keys = ("database", "dbname", "catalog", "project")
    named = next((name for key in keys if (name := connection.get(key))), "")
    if named or adapter != "duckdb" or not connection.settings:
        return named
    path = connection.get("path", ":memory:").partition("?")[0]
    return re.split(r"[/:\\]", path.rstrip(":"))[-1].partition(".")[0]


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
    "snowflake": lambda connection: snowflake_namespace(connection.get("account")),
    "spark": _spark,
}
