"""The door of this room for the pipeline: places with Extended Events as sources.

A place is a folder of files, a running session or a table; `event_source` makes one kind of source
of all three. What reads events is imported once some are new. Commands use `tools` instead.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from dbt_graft.collectors.engines.engine import Engine
from dbt_graft.collectors.engines.reading import Reading
from dbt_graft.collectors.files import LogPath, report_nothing
from dbt_graft.collectors.folder_walk import Report
from dbt_graft.collectors.source import LogSource, is_stale
from dbt_graft.collectors.sqlserver.listing import (
    PolledSegments,
    Polling,
    Server,
    new_logs,
    poll_new,
)
from dbt_graft.collectors.sqlserver.odbc.live import LiveSession, poll
from dbt_graft.collectors.sqlserver.odbc.table import EventTable, poll_table
from dbt_graft.collectors.sqlserver.runs.captured import event_filter
from dbt_graft.collectors.sqlserver.runs.clients import TaskClients
from dbt_graft.collectors.sqlserver.runs.rules import RunRules
from dbt_graft.collectors.sqlserver.server.snapshot import Snapshot, read_snapshot
from dbt_graft.collectors.store.positions import of_logs
from dbt_graft.collectors.store.read import last_event_times, open_sessions
from dbt_graft.collectors.store.tables import Collected, Positions
from dbt_graft.lineage.frozen import frozen

__all__ = [
    "EventTable",
    "LiveSession",
    "RunRules",
    "ServerSettings",
    "event_source",
]


@frozen
class ServerSettings:
    """A server as it is configured.

    Attributes:
        store: The lineage store, which knows the sessions that earlier collects left open.
        snapshot: The file with a snapshot of its databases; None without one.
    """

    namespace: str
    store: str
    rules: RunRules = field(default_factory=RunRules)
    snapshot: Path | None = None
    snapshot_label: str = ""
    without: Collection[str] = ()

    def server(self, *, again: bool = False) -> Server:
        """The server, with what the store and the snapshot hold of it.

        Args:
            again: Its logs are read again, from a time before the open sessions.

        Raises:
            GraftError: The snapshot cannot be read.
        """
        snapshot = self._read_snapshot()
        return Server(
            namespace=self.namespace,
            rules=self.run_rules(snapshot),
            snapshot=snapshot,
            snapshot_label=self.snapshot_label,
            open_sessions=[] if again else open_sessions(self.store, self.namespace, self.without),
        )

    def run_rules(self, snapshot: Snapshot | None = None) -> RunRules:
        """The rules, with the parameters of the procedures in the snapshot.

        Raises:
            GraftError: The snapshot cannot be read.
        """
        snapshot = snapshot or self._read_snapshot()
        parameters = snapshot.procedure_parameters() if snapshot else {}
        return replace(self.rules, parameters=parameters)

    def _read_snapshot(self) -> Snapshot | None:
        return read_snapshot(self.snapshot) if self.snapshot else None


def event_source(
    location: LogPath | LiveSession | EventTable,
    server: ServerSettings,
    label: str,
    settings: str,
) -> LogSource:
    """A place as a source; of a session or a table, only the events of tasks are read.

    Args:
        label, settings: See `LogSource`.
    """
    if isinstance(location, LogPath):
        return LogSource(
            lambda positions, report=report_nothing: new_logs(location, positions, report),
            partial(_collect_files, location, server),
            label,
            settings,
        )
    clients = TaskClients(server.rules.task)
    location = replace(location, wanted=event_filter(clients))
    if isinstance(location, EventTable):
        name, poll_location = location.table, partial(poll_table, location)
    else:
        name, poll_location = location.session or location.path, partial(poll, location)
    polled = _Polled(Polling(f"{server.namespace}/{name}", poll_location, clients), server)
    return LogSource(polled.new_logs, polled.collect, label, settings)


def _collect_files(
    logs: LogPath,
    server: ServerSettings,
    engine: Engine,
    positions: Positions,
    reading: Reading,
) -> Collected | None:
    from dbt_graft.collectors.sqlserver.collect import collect

    new = {log.origin for log in new_logs(logs, positions)}
    before = of_logs(positions, new)
    again = any(is_stale(before[origin][0]) for origin in new & before.keys())
    return collect(engine, logs, server.server(again=again), positions, reading)


@dataclass(slots=True)
class _Polled:
    """Polled when it is asked for new logs; the segments wait for the collect."""

    polling: Polling
    settings: ServerSettings
    waiting: list[PolledSegments] = field(default_factory=list)

    def new_logs(self, positions: Positions, _: Report = report_nothing, /) -> list[PolledSegments]:
        self.waiting = poll_new(self.polling, self.settings.run_rules(), positions)
        return self.waiting

    def collect(self, engine: Engine, positions: Positions, _: Reading) -> Collected | None:
        from dbt_graft.collectors.sqlserver.collect import (
            collect_polled,
            covered_polls,
            replace_origins,
        )

        again = any(polled.again for polled in self.waiting)
        collected = collect_polled(engine, self.waiting, self.settings.server(again=again))
        if not collected or not again:
            return collected
        times = last_event_times(self.settings.store, self.settings.without)
        covered = covered_polls(self.polling.label, self.waiting, positions, times)
        return replace_origins(collected, covered)
