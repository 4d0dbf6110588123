"""Databases of JDBC URLs, and the names of their tables as OpenLineage has them.

`jdbc:sqlserver://crm:1433;databaseName=Shop` and the table `Orders` are `mssql://crm:1433` +
`Shop.dbo.Orders`, as from Extended Events. Only host, port, database and schema of a URL are
used. https://openlineage.io/docs/spec/naming,
https://learn.microsoft.com/sql/connect/jdbc/building-the-connection-url

Spark logs no URL with a read, and redacts it with a write. Such a table has the namespace `jdbc`,
and a name rule (`jdbc/dbo.*` -> `mssql://crm:1433/Shop.dbo.*`) gives its dataset.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dbt_graft.collectors.spark.gap_reasons import UNKNOWN_DATABASE
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.openlineage import mssql_namespace, snowflake_namespace

_PROPERTY = re.compile(
    r";\s*(?P<key>[^=;]{1,100})=(?:\{(?P<braced>(?:[^}]|\}\})*)\}|(?P<value>[^;]*))"
)
_HOST = re.compile(
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^:\\/;?,\[\]]*)(?:\\(?P<instance>[^:;/]*))?(?::(?P<port>\d{1,5}))?"
)
_ORACLE_HOST = re.compile(r"\(\s*HOST\s*=\s*(?P<host>[^()\s]+)\s*\)", re.IGNORECASE)
_ORACLE_PORT = re.compile(r"\(\s*PORT\s*=\s*(?P<port>\d{1,5})\s*\)", re.IGNORECASE)
_ORACLE_SERVICE = re.compile(
    r"\(\s*(?:SERVICE_NAME|SID)\s*=\s*(?P<name>[^()\s]+)\s*\)", re.IGNORECASE
)
_NAME_PART = re.compile(
    r'\[(?P<brackets>(?:[^\]]|\]\])*)\]|"(?P<quotes>(?:[^"]|"")*)"|`(?P<ticks>(?:[^`]|``)*)`'
    r"|(?P<plain>[^.\[\]\"`\s()]+)|(?P<omitted>(?=\.))"
)


@frozen
class _DatabaseProduct:
    """A database product: OpenLineage's scheme, its default port and schema."""

    scheme: str
    port: int
    schema: str = ""
    has_schemas: bool = True


_PRODUCTS: Mapping[str, _DatabaseProduct] = {
    "sqlserver": _DatabaseProduct("mssql", 1433, "dbo"),
    "postgresql": _DatabaseProduct("postgres", 5432, "public"),
    "redshift": _DatabaseProduct("redshift", 5439, "public"),
    "mysql": _DatabaseProduct("mysql", 3306, has_schemas=False),
    "mariadb": _DatabaseProduct("mariadb", 3306, has_schemas=False),
    "oracle": _DatabaseProduct("oracle", 1521),
    "db2": _DatabaseProduct("db2", 50000),
    "snowflake": _DatabaseProduct("snowflake", 443, "PUBLIC"),
    "trino": _DatabaseProduct("trino", 8080),
    **dict.fromkeys(("clickhouse", "ch"), _DatabaseProduct("clickhouse", 8123, has_schemas=False)),
    "teradata": _DatabaseProduct("teradata", 1025, has_schemas=False),
    "sap": _DatabaseProduct("sap", 30015),
    "vertica": _DatabaseProduct("vertica", 5433, "public"),
}


@frozen
class JdbcDatabase:
    """A database behind JDBC.

    Attributes:
        namespace: `mssql://crm:1433`; `jdbc` where it is unknown.
        database: Its name, the first part of tables' names; empty where it is unknown.
        has_schemas: Tables are in schemas of a database; else two parts are database and table.
    """

    namespace: str = UNKNOWN_DATABASE
    database: str = ""
    schema: str = ""
    has_schemas: bool = True

    def table(self, parts: tuple[str, ...]) -> DatasetId:
        """The dataset of a table named by one to three parts; defaults stand for empty parts."""
        defaults = (self.database, self.schema) if self.has_schemas else (self.database,)
        full = ["", "", *parts][-len(defaults) - 1 :]
        name = [part or default for part, default in zip(full, (*defaults, ""), strict=True)]
        return DatasetId(self.namespace, ".".join(part for part in name if part))


def name_parts(text: str) -> tuple[str, ...]:
    """The parts of a table's name with the quotes of any database; empty where it is no name."""
    parts: list[str] = []
    at = 0
    text = text.strip()
    while match := _NAME_PART.match(text, at):
        quoted = [part for part in match.groups() if part is not None]
        parts.append(quoted[0].replace("]]", "]").replace('""', '"').replace("``", "`"))
        at = match.end()
        if text[at : at + 1] != ".":
            break
        at += 1
    return tuple(parts) if parts and at == len(text) and parts[-1] else ()


def database_of(url: str) -> JdbcDatabase:
    """Return the database of a JDBC URL; an unknown one for other text."""
    scheme, _, rest = url.strip().removeprefix("jdbc:").partition(":")
    if not url.strip().startswith("jdbc:") or not rest:
        return JdbcDatabase()
    if scheme.lower() in ("microsoft", "jtds", "aws-wrapper", "log4jdbc"):
        wrapped, _, rest = rest.partition(":")
        scheme = "sqlserver" if scheme.lower() != "aws-wrapper" else wrapped
        if scheme == "sqlserver":
            return _sql_server(rest.removeprefix("//"))
    kind = _PRODUCTS.get(scheme.lower())
    if scheme.lower() == "sqlserver":
        return _sql_server(rest.removeprefix("//"))
    if scheme.lower() == "oracle":
        return _oracle(rest)
    if kind is None or "//" not in rest:
        # An embedded or unknown database: its name is the text before any property.
        name = re.split(r"[;?]", rest, maxsplit=1)[0].rpartition("@")[2]
        return JdbcDatabase(scheme.lower(), name.lstrip("/"))
    return _url_database(kind, rest.partition("//")[2])


def _sql_server(rest: str) -> JdbcDatabase:
    """`host\\instance:port;databaseName=…`, all also as properties; jTDS: `host:port/database`."""
    server, separator, _ = rest.partition(";")
    path = ""
    if "/" in server:
        server, _, path = server.partition("/")
    properties = {
        match["key"].strip().lower(): (match["braced"] or match["value"] or "").strip()
        for match in _PROPERTY.finditer(separator + rest.partition(";")[2])
    }

    def option(*keys: str) -> str:
        return next((properties[key] for key in keys if properties.get(key)), "")

    at = _HOST.match(server)
    host = (at["host"] if at else "") or option("servername", "server")
    host, _, named = host.partition("\\")
    instance = (at["instance"] if at else "") or named or option("instancename", "instance")
    port = (at["port"] if at else "") or option("portnumber", "port")
    database = option("databasename", "database") or path
    return JdbcDatabase(mssql_namespace(host, port, instance), database, "dbo")


def _oracle(rest: str) -> JdbcDatabase:
    """`thin:user/password@//host:1521/service`, `thin:@host:1521:sid`, `thin:@(DESCRIPTION=…)`"""
    address = rest.rpartition("@")[2]
    if address.startswith("("):
        at, listens = _ORACLE_HOST.search(address), _ORACLE_PORT.search(address)
        name = _ORACLE_SERVICE.search(address)
        where = f"{at['host'] if at else 'localhost'}:{listens['port'] if listens else 1521}"
        return JdbcDatabase(f"oracle://{where.lower()}", name["name"] if name else "")
    address = re.sub(r"^(?:tcps?:)?/*", "", address).partition("?")[0]
    host, *parts = re.split(r"[:/]", address)
    port = parts.pop(0) if parts and parts[0].isdigit() else "1521"
    return JdbcDatabase(f"oracle://{host.lower()}:{port}", parts[0] if parts else "")


def _url_database(kind: _DatabaseProduct, rest: str) -> JdbcDatabase:
    """`user:password@host:port/database?currentSchema=…`; of several hosts, the first."""
    address, _, query = rest.partition("?")
    authority, _, path = address.partition("/")
    if kind.scheme == "teradata":  # `host/DATABASE=shop,USER=u`
        path, query = "", path.replace(",", "&")
    options = re.split(r"[&;]", f"{query};{path.partition(';')[2]}")
    properties = {
        key.lower(): value for key, _, value in (option.partition("=") for option in options)
    }
    match = _HOST.match(authority.rpartition("@")[2].partition(",")[0].partition(";")[0])
    host = (match["host"].lower() if match else "") or "localhost"
    port = (match["port"] if match else None) or kind.port
    schema = properties.get("currentschema") or properties.get("schema") or kind.schema
    database = re.split(r"[;:]", path, maxsplit=1)[0] or next(
        (properties[key] for key in ("db", "database", "databasename") if properties.get(key)), ""
    )
    if kind.scheme == "snowflake":
        return JdbcDatabase(snowflake_namespace(host), database, schema)
    if kind.scheme == "trino":
        database, _, schema = database.partition("/")
    return JdbcDatabase(f"{kind.scheme}://{host}:{port}", database, schema, kind.has_schemas)
