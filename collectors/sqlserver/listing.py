"""The events of SQL Server that a store does not have: new files, and new events of a session.

Listing files needs nothing of what reads them, so a build without new logs starts fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

import pyarrow as pa

from dbt_graft.collectors.files import LogFile, LogPath, changed_logs, log_files, report_nothing
from dbt_graft.collectors.folder_walk import Report
from dbt_graft.collectors.source import is_stale, position_before
from dbt_graft.collectors.sqlserver.event import Chunk
from dbt_graft.collectors.sqlserver.files.formats import may_hold_events
from dbt_graft.collectors.sqlserver.odbc.polling import Polled
from dbt_graft.collectors.sqlserver.runs.clients import TaskClients
from dbt_graft.collectors.sqlserver.runs.rules import RunRules
from dbt_graft.collectors.sqlserver.server.snapshot import Snapshot
from dbt_graft.collectors.store.positions import of_logs
from dbt_graft.collectors.store.tables import Positions
from dbt_graft.lineage.frozen import frozen


@frozen
class Server:
    """The server whose events they are.

    Attributes:
        open_sessions: Its sessions that were open at the end of earlier collects: rows of the
            store's `sessions`.
    """

    namespace: str
    rules: RunRules = field(default_factory=RunRules)
    snapshot: Snapshot | None = None
    snapshot_label: str = ""
    open_sessions: Sequence[Mapping[str, Any]] = ()


@frozen
class Polling:
    """A source that is asked for the events after a position.

    Attributes:
        poll: Gives chunks, each with the position after it.
        clients: Finds the tasks of its events.
    """

    label: str
    poll: Callable[[str], Polled]
    clients: TaskClients


@frozen
class PolledSegments:
    """The events of a poll, already folded.

    Attributes:
        origin: Names the position from which it was read, so that reading from there again
            replaces it.
        segments: Batches of `Segment`.
        again: It was read from the start again.
    """

    origin: str
    position: str
    segments: list[pa.RecordBatch] = field(repr=False)
    again: bool = False


def new_logs(logs: LogPath, positions: Positions, report: Report = report_nothing) -> list[LogFile]:
    """The files below a path that the store does not know as they are now; needs no Spark.

    Raises:
        GraftError: The path does not exist or cannot be listed.
    """
    listed = log_files(logs.path, logs.label, lambda log: may_hold_events(log, logs.path), report)
    return changed_logs(listed, of_logs(positions, (log.origin for log in listed)))


def poll_new(polling: Polling, rules: RunRules, positions: Positions) -> list[PolledSegments]:
    """The events after the position that the store knows, at most one poll; needs no Spark.

    Raises:
        GraftError: The source cannot be read.
    """
    from dbt_graft.collectors.sqlserver.runs.folding import fold_chunks

    last, again = _last_position(polling.label, positions)
    origin = f"{polling.label}@{last}"
    start = "" if again else last
    reached = [start]

    def chunks() -> Iterator[Chunk]:
        for chunk, position in polling.poll(start):
            reached.append(position)
            yield chunk

    folded = fold_chunks(origin, chunks(), rules, polling.clients)
    segments = [rows for rows in folded if rows.num_rows]
    return [PolledSegments(origin, reached[-1], segments, again)] if reached[-1] != start else []


def _last_position(label: str, positions: Positions) -> tuple[str, bool]:
    """The position up to which a source was polled, and whether it is to be read again.

    A poll begins where the one before ended.
    """
    positions = of_logs(positions, [label])
    position, seen, again = "", set[str](), False
    while f"{label}@{position}" in positions and position not in seen:
        seen.add(position)
        reached = positions[f"{label}@{position}"][0]
        again |= is_stale(reached)
        position = position_before(reached)
    return position, again
