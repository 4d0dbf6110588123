"""Extended events -> events of tasks, with the fields that the fold needs."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

from dbt_graft.collectors.sqlserver.event import (
    EXISTING_CONNECTION,
    EventFilter,
    ExtendedEvent,
    Mapped,
    Value,
)
from dbt_graft.collectors.sqlserver.runs.clients import TaskClients
from dbt_graft.collectors.statements.text.double_quotes import QUOTES_ARE_NAMES, QUOTES_ARE_VALUES

# Information and warnings are below: no statement fails by them.
_LEAST_SEVERITY = 11
# Sums of such numbers still fit into 64 bits.
_MOST, _MOST_ROWS = 1 << 53, 1 << 40
_INTEGER = re.compile(r"\s*[-+]?\d{1,18}\s*")
_QUOTED_IDENTIFIER = re.compile(r"\bset quoted_identifier (on|off)\b", re.IGNORECASE)
# What sp_statement_completed shows beside modules: a batch of its own, a prepared statement.
_NO_PROCEDURE = frozenset({"ADHOC", "PREPARED", "20801", "20816"})


class Level(IntEnum):
    """The distance of an event from the statement: where several show one, the lowest counts.

    The statements of a batch show what ran and how many rows it touched, the batch or call shows
    what was asked for, statements of modules show what ran inside. Beginnings come last.
    """

    STATEMENT = 0
    REQUEST = 1
    INSIDE = 2
    STATEMENT_BEGUN = 3
    REQUEST_BEGUN = 4
    INSIDE_BEGUN = 5


LEVELS = {
    "sql_statement_completed": Level.STATEMENT,
    "sql_batch_completed": Level.REQUEST,
    "rpc_completed": Level.REQUEST,
    "sp_statement_completed": Level.INSIDE,
    "sql_statement_starting": Level.STATEMENT_BEGUN,
    "sql_batch_starting": Level.REQUEST_BEGUN,
    "rpc_starting": Level.REQUEST_BEGUN,
    "sp_statement_starting": Level.INSIDE_BEGUN,
}
# Requests that drivers send without any text.
TRANSACTIONS = {
    "begin_tran_completed": "begin",
    "commit_tran_completed": "commit",
    "rollback_tran_completed": "rollback",
}
CONNECTIONS = frozenset({"login", "logout", EXISTING_CONNECTION})
NAMES = frozenset({*LEVELS, *TRANSACTIONS, *CONNECTIONS, "error_reported"})
_REQUESTS = frozenset({"sql_batch_completed", "rpc_completed"})


class TaskEvent(NamedTuple):
    """One event of a task.

    Attributes:
        at: When it was recorded, in microseconds since 1970 in UTC.
        started: When the statement began, in the same unit.
        activity: The id of its request; empty where that was not captured.
        text: The statement as it was captured; None for events without one.
        ok: Whether it ended well; None where the event does not show it.
        procedure: The module that it ran inside of.
        note: Of an event without text: `begin`, `commit` or `rollback` of a
            transaction, or `error`: a statement failed. Of a connection, its setting for double
            quotes; empty where that was not captured.
    """

    name: str
    task: str
    run: str
    session: str
    at: int
    sequence: int
    started: int
    activity: str
    database: str
    text: str | None
    ok: bool | None
    rows: int | None
    procedure: str
    note: str


def event_filter(clients: TaskClients) -> EventFilter:
    """A filter for the events of tasks."""
    return EventFilter(NAMES, clients.is_task)


def task_events(clients: TaskClients) -> Callable[[ExtendedEvent], TaskEvent | None]:
    """A function that makes a task's event of an extended event; None where it is no task's."""

    def to_task_event(event: ExtendedEvent) -> TaskEvent | None:
        data, actions = event.data, event.client
        owner = clients.owner(str(actions.get("client_app_name") or ""))
        if owner is None:
            return None
        at = event.at // 10
        text = data.get("batch_text")
        if text is None:
            text = data.get("statement")
        result = data.get("result")
        database = actions.get("database_name")
        return TaskEvent(
            event.name,
            *owner,
            str(actions.get("session_id") or ""),
            at,
            _integer(actions.get("event_sequence")) or 0,
            at - (_integer(data.get("duration"), at) or 0),
            str(actions.get("attach_activity_id") or "").rpartition("-")[0],
            str((data.get("database_name") if database is None else database) or ""),
            None if text is None else str(text),
            None if result is None else _word(result) in ("OK", "0", ""),
            _integer(data.get("row_count"), _MOST_ROWS),
            "" if event.name in _REQUESTS else _procedure(event),
            "" if event.name in LEVELS else _note(event),
        )

    return to_task_event


def _note(event: ExtendedEvent) -> str:
    if event.name == "error_reported":
        severity = _integer(event.data.get("severity"))
        return "error" if severity is None or severity >= _LEAST_SEVERITY else ""
    if event.name in CONNECTIONS:
        return _setting(event)
    return TRANSACTIONS.get(event.name, "")


def _setting(event: ExtendedEvent) -> str:
    """The setting for double quotes that a connection begins with.

    One that was recovered has that of the connection before.
    """
    options = _QUOTED_IDENTIFIER.search(_word(event.data.get("options_text")))
    if options is None or _word(event.data.get("is_recovered")).casefold() == "true":
        return ""
    return QUOTES_ARE_NAMES if options[1].casefold() == "on" else QUOTES_ARE_VALUES


def _procedure(event: ExtendedEvent) -> str:
    if _word(event.data.get("object_type")).upper() in _NO_PROCEDURE:
        return ""
    return str(event.data.get("object_name") or "")


def _word(value: Value) -> str:
    if isinstance(value, Mapped):
        return value.text or str(value.value)
    return "" if value is None else str(value)


def _integer(value: Value, most: int = _MOST) -> int | None:
    """A number that can be added up; None where a log has none, or nonsense."""
    if isinstance(value, Mapped):
        value = value.value
    elif isinstance(value, str) and _INTEGER.fullmatch(value):
        value = int(value)
    return value if isinstance(value, int) and 0 <= value < most else None
