"""A snapshot of SQL Server's databases, taken over a connection from their own catalogs.

No row of any table is read, and the literals of modules are taken out here: a snapshot holds none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

from dbt_graft.analysis.render.phrases import join_names
from dbt_graft.collectors.sqlserver.odbc.connection import load_pyodbc
from dbt_graft.collectors.sqlserver.odbc.event_files import event_server
from dbt_graft.collectors.sqlserver.odbc.failure import odbc_failure
from dbt_graft.collectors.sqlserver.odbc.polling import rows
from dbt_graft.collectors.sqlserver.server.snapshot import (
    Module,
    ModuleKind,
    Snapshot,
    SnapshotDatabase,
    SnapshotRelation,
)
from dbt_graft.collectors.statements.normalise import normalise_quoted
from dbt_graft.collectors.statements.text.double_quotes import QUOTES_ARE_NAMES, QUOTES_ARE_VALUES
from dbt_graft.collectors.statements.text.protect import without_password
from dbt_graft.collectors.statements.time_limit import UnreadableTextError, run_limited
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Column

if TYPE_CHECKING:
    import pyodbc

_WHERE = "SELECT CAST(SERVERPROPERTY('ServerName') AS nvarchar(128)), DB_NAME()"
# The first four are master, tempdb, model and msdb.
_DATABASES = (
    "SELECT name, state_desc, HAS_DBACCESS(name) FROM sys.databases "
    "WHERE database_id > 4 AND is_distributor = 0 ORDER BY name"
)
_COLUMNS = """
SELECT t.TABLE_SCHEMA, t.TABLE_NAME, t.TABLE_TYPE, c.COLUMN_NAME, c.DATA_TYPE,
       c.CHARACTER_MAXIMUM_LENGTH, c.NUMERIC_PRECISION, c.NUMERIC_SCALE, c.DATETIME_PRECISION
FROM {database}.INFORMATION_SCHEMA.TABLES AS t
LEFT JOIN {database}.INFORMATION_SCHEMA.COLUMNS AS c
  ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME
ORDER BY t.TABLE_SCHEMA, t.TABLE_NAME, c.ORDINAL_POSITION
"""
_SYNONYMS = """
SELECT s.name, y.name, y.base_object_name
FROM {database}.sys.synonyms AS y
JOIN {database}.sys.schemas AS s ON s.schema_id = y.schema_id
"""
# SQL Server has them since 2016.
_HAS_DATA_SOURCES = "SELECT 1 FROM {database}.sys.all_views WHERE name = 'external_data_sources'"
_DATA_SOURCES = "SELECT name, location FROM {database}.sys.external_data_sources"
_MODULES = """
SELECT s.name, o.name, o.type, m.definition, m.uses_quoted_identifier
FROM {database}.sys.sql_modules AS m
JOIN {database}.sys.objects AS o ON o.object_id = m.object_id
JOIN {database}.sys.schemas AS s ON s.schema_id = o.schema_id
WHERE o.is_ms_shipped = 0 AND o.type IN ('V', 'P', 'FN', 'IF', 'TF', 'TR')
ORDER BY s.name, o.name
"""
_KINDS = {
    "V": ModuleKind.VIEW,
    "P": ModuleKind.PROCEDURE,
    "FN": ModuleKind.FUNCTION,
    "IF": ModuleKind.FUNCTION,
    "TF": ModuleKind.FUNCTION,
    "TR": ModuleKind.TRIGGER,
}
_WITH_LENGTH = frozenset({"char", "varchar", "nchar", "nvarchar", "binary", "varbinary"})
_WITH_PRECISION = frozenset({"decimal", "numeric"})
_WITH_FRACTION = frozenset({"datetime2", "datetimeoffset", "time"})
_MOST_NAMED = 5


@frozen
class TakenSnapshot:
    """A snapshot, and notices of what is missing in it and why."""

    snapshot: Snapshot
    notices: tuple[str, ...] = ()


def take_snapshot(
    connection: pyodbc.Connection, databases: Sequence[str] | None = None
) -> TakenSnapshot:
    """Take a snapshot of some databases, or of all but SQL Server's own.

    A database that is offline or that the login may not enter is left out with a notice.

    Args:
        databases: Their names; None for all that there are. Azure SQL Database has only the one
            that the connection leads to.

    Raises:
        GraftError: One that was named is not there, or the server does not answer.
    """
    odbc = load_pyodbc()
    try:
        ((server, current),) = rows(connection, _WHERE)
        if event_server(connection).of_a_database:
            there = [(current, "ONLINE", 1)]
        else:
            there = list(rows(connection, _DATABASES))
    except odbc.Error as error:
        raise odbc_failure(error).error("the server refused", "the list of databases") from error
    if databases is not None:
        there = _select_databases(there, databases)
    databases_by_name: dict[str, SnapshotDatabase] = {}
    notices: list[str] = []
    for name, state, may_enter in there:
        if state != "ONLINE" or not may_enter:
            reason = "the login may not enter it" if state == "ONLINE" else f"it is {state}"
            notices.append(f"{name}: left out, {reason}")
            continue
        try:
            databases_by_name[name], missing = _database(connection, name)
        except odbc.Error as error:
            failure = odbc_failure(error)
            if failure.transient:  # half a snapshot would look complete
                raise failure.error("reading failed", name, "try again") from error
            notices.append(f"{name}: left out, {failure.message}")
        else:
            notices += [f"{name}: {notice}" for notice in missing]
    taken_at = datetime.now(UTC).replace(microsecond=0)
    return TakenSnapshot(Snapshot(server or "", taken_at, databases_by_name), tuple(notices))


def _select_databases(there: list[Any], names: Sequence[str]) -> list[Any]:
    by_name = {row[0].casefold(): row for row in there}
    missing = [name for name in names if name.casefold() not in by_name]
    if missing:
        raise GraftError(
            f"the server has no database of its users' called {', '.join(missing)}",
            remedy=f"name some of these: {', '.join(row[0] for row in there) or 'there are none'}",
        )
    return [by_name[name] for name in dict.fromkeys(name.casefold() for name in names)]


def _database(connection: pyodbc.Connection, name: str) -> tuple[SnapshotDatabase, list[str]]:
    """A database, and notices of what could not be read."""

    def ask(query: str) -> Iterator[tuple[Any, ...]]:
        return rows(connection, query.format(database=f"[{name.replace(']', ']]')}]"))

    relations = {
        f"{schema}.{table}": SnapshotRelation(
            Kind.VIEW if kind == "VIEW" else Kind.TABLE,
            tuple(Column(row[3], _type(*row[4:])) for row in columns if row[3] is not None),
        )
        for (schema, table, kind), columns in groupby(ask(_COLUMNS), key=lambda row: row[:3])
    }
    synonyms = {f"{schema}.{synonym}": base for schema, synonym, base in ask(_SYNONYMS)}
    data_sources = {}
    if list(ask(_HAS_DATA_SOURCES)):
        data_sources = {source: without_password(place) for source, place in ask(_DATA_SOURCES)}
    modules: dict[str, Module] = {}
    hidden: list[str] = []
    unread: list[str] = []
    for schema, module, kind, text, quotes_are_names in ask(_MODULES):
        if text is None:
            hidden.append(f"{schema}.{module}")
        else:
            try:
                setting = QUOTES_ARE_NAMES if quotes_are_names else QUOTES_ARE_VALUES
                normalised = run_limited(normalise_quoted, text, setting)
            except UnreadableTextError as error:
                unread.append(f"{schema}.{module} ({error})")
            else:
                modules[f"{schema}.{module}"] = Module(_KINDS[kind.strip()], normalised)
    notices = []
    if not relations:
        notices.append("no table or view can be seen; grant the login VIEW DEFINITION in it")
    if hidden:
        notices.append(
            f"{len(hidden)} modules have no text that can be read (encrypted, or VIEW DEFINITION "
            f"is missing): {join_names(hidden, _MOST_NAMED)}"
        )
    if unread:
        notices.append(f"{len(unread)} modules are left out: {join_names(unread, _MOST_NAMED)}")
    return SnapshotDatabase(relations, synonyms, modules, data_sources), notices


def _type(
    name: str, length: int | None, precision: int | None, scale: int | None, fraction: int | None
) -> str:
    """A type as a declaration writes it: `varchar(20)`, `decimal(10,2)`, `datetime2(7)`."""
    if name in _WITH_LENGTH and length is not None:
        return f"{name}({'max' if length == -1 else length})"
    if name in _WITH_PRECISION and precision is not None:
        return f"{name}({precision},{scale or 0})"
    if name in _WITH_FRACTION and fraction is not None:
        return f"{name}({fraction})"
    return name
