"""An event session as a server describes it: its definition, and how it runs.

After Microsoft's reference of the Extended Events catalog views and dynamic management views;
Azure SQL Database has them by other names, of sessions that belong to one database.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from dbt_graft.collectors.sqlserver.odbc.connection import load_pyodbc
from dbt_graft.collectors.sqlserver.odbc.event_files import EventServer, event_server, scope_query
from dbt_graft.collectors.sqlserver.odbc.failure import odbc_failure
from dbt_graft.collectors.sqlserver.odbc.polling import rows
from dbt_graft.lineage.frozen import frozen

if TYPE_CHECKING:
    import pyodbc

_SESSION = """
SELECT event_session_id, event_retention_mode_desc, max_memory, track_causality, startup_state
FROM sys.server_event_sessions WHERE name = ?
"""
_EVENTS = """
SELECT event_id, name, predicate FROM sys.server_event_session_events WHERE event_session_id = ?
"""
_ACTIONS = "SELECT event_id, name FROM sys.server_event_session_actions WHERE event_session_id = ?"
_TARGETS = "SELECT target_id, name FROM sys.server_event_session_targets WHERE event_session_id = ?"
# A value is a sql_variant, which not every driver reads.
_FIELDS = """
SELECT object_id, name, CAST(value AS varchar(4000))
FROM sys.server_event_session_fields WHERE event_session_id = ?
"""
_RUNNING = """
SELECT dropped_event_count, dropped_buffer_count, largest_event_dropped_size
FROM sys.dm_xe_sessions WHERE name = ?
"""


@frozen
class CapturedEvent:
    """An event of a session.

    Attributes:
        settings: What was set for the event: `collect_statement` -> `1`.
        predicate: As the server writes it; empty where all are captured.
    """

    actions: frozenset[str] = frozenset()
    settings: Mapping[str, str] = field(default_factory=dict)
    predicate: str = ""


@frozen
class DroppedEvents:
    """Losses of a running session since it was started: counts, and bytes of the largest event."""

    events: int = 0
    buffers: int = 0
    largest: int = 0


@frozen
class SessionState:
    """The definition of a session, and how it runs.

    Attributes:
        retention: ALLOW_SINGLE_EVENT_LOSS, ALLOW_MULTIPLE_EVENT_LOSS or NO_EVENT_LOSS.
        kilobytes: Of memory for events that wait.
        targets: Where it writes: `event_file` -> what was set for it.
        dropped: None where it does not run.
    """

    retention: str
    kilobytes: int
    tracks_causality: bool
    starts_itself: bool
    events: Mapping[str, CapturedEvent]
    targets: Mapping[str, Mapping[str, str]]
    dropped: DroppedEvents | None


def session_state(connection: pyodbc.Connection, name: str) -> SessionState | None:
    """Ask for a session; None where there is none of that name, or none that the login may see.

    Raises:
        GraftError: The server refuses; the error names the missing permission.
    """
    odbc = load_pyodbc()
    server = EventServer(0, 0)
    try:
        server = event_server(connection)
        return _session(connection, server, name)
    except odbc.Error as error:
        failure = odbc_failure(error)
        refused = failure.error("the server refused", f"event session {name}")
        raise server.denial(failure) or refused from error


def _session(connection: pyodbc.Connection, server: EventServer, name: str) -> SessionState | None:
    def ask(query: str, value: str | int) -> Iterator[tuple[Any, ...]]:
        return rows(connection, scope_query(query, server), value)

    sessions = list(ask(_SESSION, name))
    if not sessions:
        return None
    number, retention, memory, causality, startup = sessions[0]
    settings: dict[int, dict[str, str]] = defaultdict(dict)
    for object_id, setting, value in ask(_FIELDS, number):
        settings[object_id][setting] = value or ""
    actions: dict[int, set[str]] = defaultdict(set)
    for event_id, action in ask(_ACTIONS, number):
        actions[event_id].add(action)
    events = {
        event: CapturedEvent(frozenset(actions[event_id]), settings[event_id], predicate or "")
        for event_id, event, predicate in ask(_EVENTS, number)
    }
    targets = {target: settings[target_id] for target_id, target in ask(_TARGETS, number)}
    running = list(ask(_RUNNING, name))
    return SessionState(
        retention=retention,
        kilobytes=memory or 0,
        tracks_causality=bool(causality),
        starts_itself=bool(startup),
        events=events,
        targets=targets,
        dropped=DroppedEvents(*(count or 0 for count in running[0])) if running else None,
    )
