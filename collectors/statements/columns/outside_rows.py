"""Rows from outside of the query's database: files, stages, and tables of other servers.

What they come from is called a place and stands for a table, by a name of three parts of which the
first is empty: `("", "read_parquet", "s3://lake/orders")`, the function and the path as the query
writes it; `("", STAGE, "@raw.stage/orders")` of Snowflake; and for a dataset of another server
`("", TABLE, "postgres://crm:5432/shop.public.orders")`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.statements.columns.outside_names import STAGE, TABLE
from dbt_graft.collectors.statements.columns.query_scope import QueryContext, QueryScope
from dbt_graft.collectors.statements.columns.rowsets import (
    NOTHING,
    InputColumns,
    Rowset,
    RowsetColumn,
    table_rowset,
)
from dbt_graft.collectors.statements.columns.tree import parse_statements
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.files import FILES
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.records import ANY_COLUMN
from dbt_graft.lineage.redaction import redact_name

# Functions whose first argument is a path, or a list of paths.
_FILE_READERS = {
    "duckdb": """delta_scan iceberg_scan parquet_scan read_avro read_blob read_csv read_csv_auto
        read_json read_json_auto read_json_objects read_json_objects_auto read_ndjson
        read_ndjson_auto read_ndjson_objects read_parquet read_text read_xlsx sqlite_scan
        st_read""",
    "clickhouse": """cosn deltalake deltalakes3 file gcs hdfs hudi iceberg icebergs3 oss paimon
        paimons3 s3 sqlite url""",
    "databricks": "cloud_files read_files",
    "spark": "read_files",
    "tsql": "openrowset",
}
_FILES = {(dialect, name) for dialect, names in _FILE_READERS.items() for name in names.split()}
# ClickHouse: before the path stands the name of a cluster.
_ON_CLUSTER = "cluster"
# Functions with the connection, the database or schema, and the table as arguments.
_TABLE_READERS = {
    ("duckdb", "postgres_scan"): "postgres",
    ("duckdb", "postgres_scan_pushdown"): "postgres",
    ("clickhouse", "postgresql"): "postgres",
    ("clickhouse", "mysql"): "mysql",
    ("clickhouse", "mongodb"): "mongodb",
}
# Functions with a connection and a query that runs there; the query's dialect, where it is known.
_QUERY_READERS = {("postgres", "dblink"): "postgres", ("bigquery", "external_query"): None}
_CHANGES = ("databricks", "table_changes")  # of the table that it names
_READERS = _FILES | {*_TABLE_READERS, *_QUERY_READERS, _CHANGES}
_FILE_NAME = re.compile(
    r".*/.*|.+\.(?:parquet|csv|tsv|json|jsonl|ndjson|avro|xlsx)(?:\.(?:gz|zst|zstd|bz2))?",
    re.IGNORECASE | re.DOTALL,
)
_FORMATS = frozenset({"avro", "csv", "delta", "iceberg", "json", "orc", "parquet", "text"})
_SETTING = re.compile(r"(\w+)\s*=\s*(?:'([^']*)'|(\S+))")
# Only DuckDB reads where dbt runs.
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/|/")
_POSTGRES_PORT = "5432"


class _Server(NamedTuple):
    """The server of a connection, `crm:5432`, empty for the own one; and the database."""

    host: str
    database: str


def outside_rows(
    node: exp.Expr, path: Name, names: Sequence[str], scope: QueryScope
) -> Rowset | None:
    """The rows of a source from outside; None for a source that is none.

    Where the query does not say what a function reads, that is a gap.
    """
    dialect = scope.context.dialect
    function = called_function(node)
    if not isinstance(function, exp.Func):
        place = _named_file(node, dialect) if isinstance(node, exp.Table) else None
        if place and dialect == Dialect.TSQL and not _ABSOLUTE.match(place[2]):
            return _unknown_rows("openrowset", path, scope)  # a drive of the server
        return _place_rows(path, [place], names, scope) if place else None
    name = function_name(function)
    reader = (dialect, name if (dialect, name) in _READERS else name.removesuffix(_ON_CLUSTER))
    if reader not in _READERS:
        return None
    arguments = _arguments(function)[int(reader[1] != name) :]
    rows = None
    if reader in _QUERY_READERS:
        rows = _remote_rows(reader, arguments, path, names, scope)
    elif places := _places(reader, arguments):
        rows = _place_rows(path, places, names, scope)
    return _unknown_rows(name, path, scope) if rows is None else rows


def _unknown_rows(function: str, path: Name, scope: QueryScope) -> Rowset:
    scope.context.gap(not_followed(function))
    return Rowset(path, [RowsetColumn(ANY_COLUMN, NOTHING)])


def not_followed(function: str) -> str:
    """The reason why the rows of a table function have no inputs."""
    return f"a table function is not followed: {function}"


def _places(reader: tuple[str, str], arguments: Sequence[exp.Expr]) -> list[Name]:
    """The places that a function reads; none where its arguments do not say it."""
    dialect, name = reader
    if platform := _TABLE_READERS.get(reader):
        return _table_places(platform, arguments)
    texts = _literals(arguments[0]) if arguments else []
    if reader == _CHANGES:
        return [tuple(text.casefold().split(".")) for text in texts]
    if dialect == "duckdb" or all(map(_ABSOLUTE.match, texts)):
        return [_file(dialect, name, text) for text in texts]
    return []


def called_function(node: exp.Expr) -> exp.Expr:
    """The function of `f(…)`, `db.f(…)`, `TABLE(f(…))` and `STREAM f(…)` in FROM."""
    if isinstance(node, exp.Table | exp.Lateral | exp.TableFromRows | exp.Stream):
        return called_function(node.this)
    if isinstance(node, exp.Dot):
        return called_function(node.expression)
    is_wrapper = isinstance(node, exp.Anonymous) and node.name.casefold() == "table"
    return called_function(node.expressions[0]) if is_wrapper and node.expressions else node


def function_name(function: exp.Expr) -> str:
    """The folded name of a function, as the query writes it if sqlglot does not know it."""
    if isinstance(function, exp.Anonymous):
        return function.name.casefold()
    return function.sql_name().casefold() if isinstance(function, exp.Func) else function.key


def _arguments(function: exp.Expr) -> list[exp.Expr]:
    first = [function.this] if isinstance(function.this, exp.Expr) else []
    return [*first, *function.expressions]


def _literals(argument: exp.Expr) -> list[str]:
    """The text of an argument, or the texts of a list; none where any of them is computed."""
    parts = argument.expressions if isinstance(argument, exp.Array | exp.Tuple) else [argument]
    if all(isinstance(part, exp.Literal | exp.National) for part in parts):
        return [part.name for part in parts if part.name]
    return []


def _named_file(node: exp.Table, dialect: str) -> Name | None:
    """A file or stage by its name alone: `FROM 'a.parquet'`, ``delta.`/lake/a` ``, `@stage/a`."""
    text = node.name
    if dialect == "snowflake" and text[:1] == "@" and not node.args.get("db"):
        return "", STAGE, redact_name(text)
    if dialect in {"spark", "databricks"} and node.db.casefold() in _FORMATS and "/" in text:
        return _file(dialect, node.db.casefold(), text)
    if dialect == Dialect.TSQL and node.db.casefold() == FILES:
        return _file(dialect, "openrowset", text)
    is_file = dialect == "duckdb" and not node.args.get("db") and _FILE_NAME.fullmatch(text)
    return _file(dialect, "file", text) if is_file else None


def _file(dialect: str, function: str, path: str) -> Name:
    # Paths without a scheme are on Databricks' own file system, as in Spark's logs.
    scheme = "dbfs:" if dialect == "databricks" and path[:1] == "/" else ""
    return "", function, redact_name(f"{scheme}{path}")


def _place_rows(
    path: Name, places: Sequence[Name], names: Sequence[str], scope: QueryScope
) -> Rowset:
    """Rows whose columns have their names in the query only, unless a source of dbt is there."""
    for place in places:
        scope.context.read[place] = None
    if len(places) == 1:
        rows = table_rowset(path, places[0], scope.context.columns(places[0]))
    else:
        of_all = frozenset(ColumnInput(place, ANY_COLUMN) for place in places)
        rows = Rowset(path, [RowsetColumn(ANY_COLUMN, of_all)])
    if names and rows.is_open:  # AS t(a, b): by their places
        of_any = NOTHING.union(*(column.inputs for column in rows.columns))
        of_any = frozenset(column._replace(column=ANY_COLUMN) for column in of_any)
        return Rowset(path, [RowsetColumn(name, of_any) for name in names])
    return rows.rename(path, names)


def _table_places(platform: str, arguments: Sequence[exp.Expr]) -> list[Name]:
    """The table of `postgres_scan(connection, schema, table)`, `mysql(host, database, table)`."""
    texts = [text for argument in arguments[:3] for text in _literals(argument)]
    if len(texts) < 3:
        return []
    connection, middle, table = texts
    if "=" in connection or "://" in connection:  # of DuckDB
        server = _server(connection)
        parts = [server.database, middle, table]
    else:
        server = _Server(connection, middle)
        schema = _literals(arguments[5]) if len(arguments) > 5 else []
        of_schema = [*schema, "public"][:1] if platform == "postgres" else []
        parts = [middle, *of_schema, table]
    if not server.host or not all(parts):
        return []
    return [("", TABLE, f"{platform}://{server.host}/{'.'.join(parts)}")]


def _server(connection: str) -> _Server:
    """The server of `host=crm dbname=shop` or `postgresql://crm/shop`."""
    if "://" in connection:
        try:
            address = urlsplit(connection)
            host, port = address.hostname or "", str(address.port or _POSTGRES_PORT)
        except ValueError:
            return _Server("", "")
        return _Server(f"{host}:{port}" if host else "", address.path.strip("/"))
    settings: Mapping[str, str] = {
        key.casefold(): quoted or plain for key, quoted, plain in _SETTING.findall(connection)
    }
    host = settings.get("host") or settings.get("hostaddr", "")
    port = settings.get("port", _POSTGRES_PORT)
    return _Server(f"{host}:{port}" if host else "", settings.get("dbname", ""))


def _remote_rows(
    key: tuple[str, str],
    arguments: Sequence[exp.Expr],
    path: Name,
    names: Sequence[str],
    scope: QueryScope,
) -> Rowset | None:
    """The result of a query that another server runs: `dblink('host=crm …', 'SELECT …')`."""
    texts = [text for argument in arguments[:2] for text in _literals(argument)]
    if len(texts) != 2:
        return None
    connection, sql = texts
    try:
        (query, *_) = parse_statements(sql, _QUERY_READERS[key])
    except (SqlglotError, RecursionError, ValueError):
        return None
    if not isinstance(query, exp.Query):
        return None
    server = _server(connection) if key[1] == "dblink" else None
    if server and not server.database:
        return None
    remote = QueryContext(_QUERY_READERS[key] or "", None, lambda _: (), scope.context.query)
    result = scope.context.query(query, QueryScope(remote))
    for gap in remote.gaps:
        scope.context.gap(gap)

    def place_of(table: Name) -> Name:
        if server is None:
            return ("", TABLE, f"{connection}/{'.'.join(table)}")
        full = (server.database, "public")[: max(0, 3 - len(table))] + table
        return ("", TABLE, f"postgres://{server.host}/{'.'.join(full)}") if server.host else full

    places = {table: place_of(table) for table in remote.read}
    scope.context.read.update(dict.fromkeys(places.values()))

    def placed(inputs: InputColumns) -> InputColumns:
        return frozenset(column._replace(source=places[column.source]) for column in inputs)

    columns = [RowsetColumn(column.name, placed(column.inputs)) for column in result.columns]
    return Rowset(path, columns, placed(result.influences)).rename(path, names)
