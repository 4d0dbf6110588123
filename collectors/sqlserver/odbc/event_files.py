"""The files of a session, and the events it lost, as the server knows them.

SQL Server and Managed Instance have sessions of the server; Azure SQL Database and Fabric have
sessions of a database, under other names, and write to URLs.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

from dbt_graft.collectors.sqlserver.event import LogDamage
from dbt_graft.collectors.sqlserver.odbc.failure import OdbcFailure
from dbt_graft.collectors.sqlserver.odbc.polling import rows
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen

if TYPE_CHECKING:
    import pyodbc

_SERVER = """
SELECT CAST(SERVERPROPERTY('EngineEdition') AS int),
       CAST(SERVERPROPERTY('ProductMajorVersion') AS int)
"""
_RUNNING = """
SELECT s.dropped_event_count, s.dropped_buffer_count, s.largest_event_dropped_size, t.target_data
FROM sys.dm_xe_sessions s
LEFT JOIN sys.dm_xe_session_targets t
  ON t.event_session_address = s.address AND t.target_name = 'event_file'
WHERE s.name = ?
"""
# The setting of a target may be of any type; this is the standard's name of nvarchar.
_DEFINED = """
SELECT CAST(f.value AS national character varying(4000))
FROM sys.server_event_sessions s
LEFT JOIN sys.server_event_session_fields f
  ON f.event_session_id = s.event_session_id AND f.name = 'filename'
WHERE s.name = ?
"""
# https://learn.microsoft.com/sql/t-sql/functions/serverproperty-transact-sql
_OF_A_DATABASE = frozenset({5, 12})
_SQL_SERVER_2022 = 16
_DENIED = frozenset({229, 230, 262, 297, 300})
_CURRENT_FILE = re.compile(r'<File name="([^"]*)"')
_NUMBERED = re.compile(r"_0_\d+\.xel$|(?:\.xel)?$", re.IGNORECASE)


@frozen
class EventServer:
    """The kind of a server, as far as sessions differ by it.

    Attributes:
        edition: SQL Server's `EngineEdition`.
        version: 16 is SQL Server 2022; 0 where the server has none.
    """

    edition: int
    version: int

    @property
    def of_a_database(self) -> bool:
        """Whether sessions belong to a database."""
        return self.edition in _OF_A_DATABASE

    @property
    def permission(self) -> str:
        """The permission that a login needs to read events."""
        if self.of_a_database:
            return "VIEW DATABASE STATE"
        if self.version >= _SQL_SERVER_2022:
            return "VIEW SERVER PERFORMANCE STATE"
        return "VIEW SERVER STATE"

    def denial(self, failure: OdbcFailure) -> GraftError | None:
        """The error that names the missing permission; None where another thing failed."""
        if failure.state != "42501" and _DENIED.isdisjoint(failure.numbers):
            return None
        to = "the user" if self.of_a_database else "the login"
        return failure.error(
            f"{to} may not read events", "", f"GRANT {self.permission} TO {to} of this connection"
        )


@frozen
class SessionFiles:
    """The files of a session, and the events it lost.

    Attributes:
        path: All its files, as `sys.fn_xe_file_target_read_file` takes them.
    """

    path: str
    losses: list[LogDamage]


def event_server(connection: pyodbc.Connection) -> EventServer:
    """The kind of a server; asking needs no permission."""
    ((edition, version),) = rows(connection, _SERVER)
    return EventServer(edition or 0, version or 0)


def session_files(connection: pyodbc.Connection, server: EventServer, name: str) -> SessionFiles:
    """The files of a session.

    Raises:
        GraftError: There is no such session, or it has no files.
        pyodbc.Error: A permission is missing, or the connection is lost.
    """
    running = list(rows(connection, scope_query(_RUNNING, server), name))
    for events, buffers, largest, target in running:
        if file := _CURRENT_FILE.search(target or ""):
            losses = _losses(name, events or 0, buffers or 0, largest or 0)
            return SessionFiles(_pattern(unescape(file[1])), losses)
    defined = [file for (file,) in rows(connection, scope_query(_DEFINED, server), name)]
    if not defined and not running:
        raise GraftError(
            "there is no such event session, or the login may not see it",
            place=name,
            remedy="create it (`graft logs sqlserver-session` prints how), "
            f"GRANT {server.permission}",
        )
    if not any(defined):
        raise GraftError(
            "the event session writes to no file",
            place=name,
            remedy="add the target package0.event_file: `graft logs sqlserver-session` prints how",
        )
    stopped = LogDamage(f"event session {name}", "it is not running: nothing is recorded")
    return SessionFiles(_pattern(next(filter(None, defined))), [] if running else [stopped])


def _losses(name: str, events: int, buffers: int, largest: int) -> list[LogDamage]:
    if not (events or buffers or largest):
        return []
    reason = f"since it started it has dropped {events} events and {buffers} buffers"
    if largest:
        reason += f", the largest event had {largest} bytes: raise MAX_MEMORY or set MAX_EVENT_SIZE"
    else:
        reason += ": raise MAX_MEMORY"
    return [LogDamage(f"event session {name}", reason)]


def _pattern(file: str) -> str:
    """All files of a session, by its newest one or the name in its definition."""
    prefix = _NUMBERED.sub("", file, count=1)
    return f"{prefix}_0_" if "://" in file else f"{prefix}_0_*.xel"


def scope_query(sql: str, server: EventServer) -> str:
    """A query of the views of a server's sessions, as one of a database's where it has these."""
    if not server.of_a_database:
        return sql
    return sql.replace("sys.dm_xe_", "sys.dm_xe_database_").replace("sys.server_", "sys.database_")
