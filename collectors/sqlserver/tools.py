"""The door of this room for commands that look at events, and set a server up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain, islice
from typing import TYPE_CHECKING

from dbt_graft.analysis.finding import Finding
from dbt_graft.collectors.files import LogFile, log_files
from dbt_graft.collectors.sqlserver.event import (
    Chunk,
    EventFilter,
    ExtendedEvent,
    FileSplit,
    LogDamage,
)
from dbt_graft.collectors.sqlserver.files.event_text import timestamp, to_json, to_xml, value_text
from dbt_graft.collectors.sqlserver.files.formats import file_splits, may_hold_events
from dbt_graft.collectors.sqlserver.files.readers import read_split
from dbt_graft.collectors.sqlserver.files.xel.read import read_xel, xel_splits
from dbt_graft.collectors.sqlserver.odbc.connection import connect, load_pyodbc
from dbt_graft.collectors.sqlserver.odbc.drivers import best_driver
from dbt_graft.collectors.sqlserver.runs.clients import TaskClients
from dbt_graft.collectors.sqlserver.server.check import check_session
from dbt_graft.collectors.sqlserver.server.session_script import SessionOptions, session_script
from dbt_graft.collectors.sqlserver.server.session_state import session_state
from dbt_graft.collectors.sqlserver.server.snapshot import Snapshot, read_snapshot, write_snapshot

if TYPE_CHECKING:
    from dbt_graft.collectors.sqlserver.server.catalog_queries import TakenSnapshot

__all__ = [
    "Chunk",
    "EventFilter",
    "ExtendedEvent",
    "LogDamage",
    "SessionOptions",
    "Snapshot",
    "best_installed_driver",
    "check_server_session",
    "client_names",
    "read_snapshot",
    "session_script",
    "take_snapshot",
    "timestamp",
    "to_json",
    "to_xml",
    "try_connection",
    "value_text",
    "write_snapshot",
    "xel_chunks",
]


def xel_chunks(log: LogFile, wanted: EventFilter) -> Iterator[Chunk]:
    """The events of a .xel file, and the damages in it, block by block."""
    for split in xel_splits(log):
        yield from read_xel(split, wanted)


def check_server_session(setting: str, name: str, *, patient: bool = True) -> list[Finding]:
    """Findings on a session of a server, the worst first; empty where it serves lineage.

    Args:
        setting: The connection: `env:NAME` or `dsn:NAME`.
        patient: Try again for a minute or so where the connection fails.

    Raises:
        GraftError: The server cannot be reached, or refuses.
    """
    with closing(connect(setting, patient=patient)) as connection:
        return check_session(session_state(connection, name), name)


def try_connection(setting: str) -> None:
    """Connect to a server once.

    Raises:
        GraftError: It cannot be reached, or refuses.
    """
    connect(setting, patient=False).close()


def take_snapshot(setting: str, databases: Sequence[str] | None = None) -> TakenSnapshot:
    """Take a snapshot of a server's databases, or of some of them.

    Raises:
        GraftError: The server cannot be reached or refuses, or has no database of a name.
    """
    # It imports the parser, which nothing else here needs.
    from dbt_graft.collectors.sqlserver.server import catalog_queries

    with closing(connect(setting)) as connection:
        return catalog_queries.take_snapshot(connection, databases)


def best_installed_driver() -> str:
    """The ODBC driver that a connection uses where it names none.

    Raises:
        GraftError: The driver manager or a driver is missing.
    """
    return best_driver(load_pyodbc().drivers())


# Chunks that are looked at, of the newest logs.
_CHUNKS = 50


def client_names(path: str, label: str, task: str) -> list[str]:
    """The client names in the newest logs at a path that are no task's, the most frequent first.

    They are as in `TaskClients.others`: `etl::*`. A log that cannot be read has none.

    Raises:
        GraftError: The path does not exist or cannot be listed.
    """
    clients = TaskClients(task)
    logs = log_files(path, label, lambda log: may_hold_events(log, path))

    def splits() -> Iterator[FileSplit]:
        for log in reversed(logs):
            log_splits = file_splits(log)
            yield from [] if isinstance(log_splits, LogDamage) else log_splits

    chunks = (read_split(split, EventFilter(application=clients.is_task)) for split in splits())
    for _ in islice(chain.from_iterable(chunks), _CHUNKS):
        pass
    return [name for name, _ in clients.others.most_common()]
