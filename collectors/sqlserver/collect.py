"""The collector of Extended Events.

    splits of files -> events, folded to segments -> sessions in order, and their runs
          -> texts parsed and resolved -> the rows of the store

Only the fold looks at every event. The number of its segments grows with the number of different
statements, so the steps after it do not depend on the length of the log. Where the segments of a
run come together, its rows are assembled. Events that are polled over a connection are folded while
they come, before an engine is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

import pyarrow as pa

from dbt_graft.collectors.engines.engine import Engine, EngineRows
from dbt_graft.collectors.engines.reading import Reading
from dbt_graft.collectors.engines.results import ArrowResults, record_tables
from dbt_graft.collectors.files import LogFile, changed_logs, log_files, report_nothing
from dbt_graft.collectors.folder_walk import Report
from dbt_graft.collectors.schema import arrow, record
from dbt_graft.collectors.source import is_stale, position_before
from dbt_graft.collectors.sqlserver.assemble import AssembledRows, LogCounts, assemble
from dbt_graft.collectors.sqlserver.event import Chunk, FileSplit, LogDamage
from dbt_graft.collectors.sqlserver.files.formats import file_splits, may_hold_events
from dbt_graft.collectors.sqlserver.odbc.polling import Polled
from dbt_graft.collectors.sqlserver.resolution.resolve import TextResolver
from dbt_graft.collectors.sqlserver.resolution.views import view_records
from dbt_graft.collectors.sqlserver.runs.folding import (
    RunRules,
    damage_batch,
    fold_chunks,
    fold_splits,
)
from dbt_graft.collectors.sqlserver.runs.segment import Segment
from dbt_graft.collectors.sqlserver.server.snapshot import Snapshot
from dbt_graft.collectors.store.arrow_tables import (
    distinct,
    drop_origins,
    table,
    tables,
    union,
    unnest_records,
)
from dbt_graft.collectors.store.positions import of_logs
from dbt_graft.collectors.store.tables import Collected, OpenSession, ReadLog
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Records, Reject

# Workers get this many bytes at a time, or this many times some small files.
_BYTES, _TIMES = 32 << 20, 64
# Notes on the log have no time: 1970.
_NO_TIME = 1970

Positions = Mapping[str, tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Server:
    """The server whose events they are.

    Attributes:
        namespace: Of its datasets: `mssql://sql01:1433`.
        snapshot: The tables, views and modules in its databases.
        snapshot_label: The snapshot in origins.
        open_sessions: Its sessions that were open at the end of earlier collects: rows of the
            store's `sessions`.
    """

    namespace: str
    rules: RunRules = field(default_factory=RunRules)
    snapshot: Snapshot | None = None
    snapshot_label: str = ""
    open_sessions: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class SqlServerLogs:
    """Files with Extended Events of one server.

    Attributes:
        path: A local path or URL; a file or a folder.
        label: The path in origins (as `graft.yml` writes it).
    """

    path: str
    label: str


@dataclass(frozen=True, slots=True)
class Polling:
    """A source that is asked for the events after a position.

    Attributes:
        label: The source in origins.
        poll: Gives chunks, each with the position after it.
    """

    label: str
    poll: Callable[[str], Polled]


@dataclass(frozen=True, slots=True)
class PolledSegments:
    """The events of a poll, already folded.

    Attributes:
        origin: Names the position from which it was read, so that reading from there again
            replaces it.
        position: How far it was read.
        segments: Batches of `Segment`.
        again: It was read from the start again.
    """

    origin: str
    position: str
    segments: list[pa.RecordBatch] = field(repr=False)
    again: bool = False


def new_logs(
    logs: SqlServerLogs, positions: Positions, report: Report = report_nothing
) -> list[LogFile]:
    """The files below a path that the store does not know as they are now; needs no Spark.

    Args:
        positions: Of each origin in the store, as `collectors.store.positions` gives them.
        report: Takes what cannot be listed.

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
    last, again = _last_position(polling.label, positions)
    origin = f"{polling.label}@{last}"
    start = "" if again else last
    reached = [start]

    def chunks() -> Iterator[Chunk]:
        for chunk, position in polling.poll(start):
            reached.append(position)
            yield chunk

    folded = fold_chunks(origin, chunks(), rules)
    segments = [rows for rows in folded if rows.num_rows]
    return [PolledSegments(origin, reached[-1], segments, again)] if reached[-1] != start else []


def collect(
    engine: Engine,
    logs: SqlServerLogs,
    server: Server,
    positions: Positions,
    reading: Reading | None = None,
) -> Collected | None:
    """Collect the files below a path that are new to the store or have changed.

    Args:
        positions: Of each origin in the store, as `collectors.store.positions` gives them.
        reading: Counts the files that were read.

    Returns:
        The rows of the store; None where no file is new or has changed.

    Raises:
        GraftError: The path does not exist or cannot be listed.
    """
    new = new_logs(logs, positions)
    if not new:
        return None
    cut = [(log, file_splits(log)) for log in new]
    unreadable = ((log.origin, damage) for log, damage in cut if isinstance(damage, LogDamage))
    splits = [
        split
        for _, log_splits in cut
        if not isinstance(log_splits, LogDamage)
        for split in log_splits
    ]
    begun = sum(split.start == 0 for split in splits)
    counter = (reading or Reading()).counter(
        begun, sum(split.end - split.start for split in splits)
    )
    folded = _distribute(engine, splits).map(partial(fold_splits, server.rules, counter), Segment)
    segments = folded.union(pa.Table.from_batches([damage_batch(unreadable)]))
    return _collect_segments(segments, {log.origin: log.position for log in new}, server, positions)


def collect_polled(
    engine: Engine, polled: Sequence[PolledSegments], server: Server
) -> Collected | None:
    """Collect what was polled; None where nothing was."""
    if not polled:
        return None
    batches = [rows for poll in polled for rows in poll.segments]
    folded = pa.Table.from_batches(batches, arrow(Segment))
    segments = engine.spread(folded, 1, 0)
    positions = {poll.origin: poll.position for poll in polled}
    return _collect_segments(segments, positions, server)


def covered_polls(
    label: str,
    polled: Iterable[PolledSegments],
    positions: Positions,
    last_event_times: Mapping[str, datetime],
) -> dict[str, str]:
    """The earlier polls of a source that was read from the start again -> their positions.

    A poll that was over before the first event that the source still has is not among them: its
    events are nowhere else.
    """
    times = [
        at
        for poll in polled
        for rows in poll.segments
        for at in rows.column("started").to_pylist()
        if at and at.year > _NO_TIME
    ]
    first = min(times, default=None)
    now = {poll.origin for poll in polled}
    return {
        origin: position_before(position)
        for origin, (position, _) in of_logs(positions, [label]).items()
        if origin.startswith(f"{label}@") and origin not in now
        if first and last_event_times.get(origin, first) >= first
    }


def replace_origins(collected: Collected, origins: Mapping[str, str]) -> Collected:
    """The collected records, with origins whose records they replace."""
    return union(collected, tables(Records(), origins)) if origins else collected


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


def _distribute(engine: Engine, splits: list[FileSplit]) -> EngineRows:
    size = sum(split.end - split.start for split in splits)
    portions = max(1, min(len(splits), max(_TIMES, size // _BYTES)))
    return engine.spread(table(FileSplit, splits), portions, size)


def _collect_segments(
    segments: EngineRows,
    positions: Mapping[str, str],
    server: Server,
    positions_before: Positions | None = None,
) -> Collected:
    """The rows of the store; their number grows with statements, not events."""
    sessions = [dict(row) for row in server.open_sessions]
    goes_on = pa.Table.from_pylist(sessions, arrow(OpenSession)).rename_columns({"act": "kind"})
    work = partial(
        assemble,
        server.namespace,
        server.rules.idle_seconds,
        partial(TextResolver, server.namespace, server.snapshot),
        server.rules.date_columns,
    )
    # A run is in one partition: a named one with all its sessions.
    assembled = (
        segments.union(goes_on)
        .group(("task", "run"), "session", ("first_ended", "first_sequence"))
        .map(work, AssembledRows)
        .gather()
    )
    collected = _tables(assembled, positions, positions_before or {})
    return union(collected, _views(collected.accesses, server)) if server.snapshot else collected


def _tables(
    assembled: pa.Table, positions: Mapping[str, str], positions_before: Positions
) -> Collected:
    """The tables in the rows of all partitions; what several of them found stands there once.

    The records of a log that could not be read stay as they are in the store; where it has none,
    what was read counts until then.
    """
    unread = unnest_records(assembled, "unread", Reject).sort_by("position").to_pylist()
    pending = {row["origin"]: record(Reject, row) for row in reversed(unread)}
    stored = pending.keys() & of_logs(positions_before, pending.keys()).keys()

    results = ArrowResults(assembled)
    store_tables = {**record_tables(results), "sessions": results.records("sessions")}
    if stored:
        store_tables = {
            name: drop_origins(rows, stored) if "origin" in rows.column_names else rows
            for name, rows in store_tables.items()
        }
    store_tables["shapes"] = distinct(store_tables["shapes"], "shape_id")
    edges = store_tables["column_edges"]
    store_tables["column_edges"] = distinct(edges, *edges.column_names)
    counted = unnest_records(assembled, "logs", LogCounts).to_pylist()
    events = {log["origin"]: (log["events"], log["noise"]) for log in counted}
    read = {
        origin: "" if origin in pending else position
        for origin, position in positions.items()
        if origin not in stored
    }
    return Collected(
        **store_tables,
        origins=table(
            ReadLog, (ReadLog(*entry, *events.get(entry[0], (0, 0))) for entry in read.items())
        ),
        pending=tuple(pending[origin] for origin in sorted(pending)),
    )


def _views(accesses: pa.Table, server: Server) -> Collected:
    """The definitions of the views that runs read."""
    assert server.snapshot
    names = distinct(accesses.select(["namespace", "name"]), "namespace", "name")
    ids = [DatasetId(row["namespace"], row["name"]) for row in names.to_pylist()]
    records = view_records(server.snapshot, ids, server.namespace, server.snapshot_label)
    taken = server.snapshot.taken_at.isoformat()
    return tables(records, {access.origin: taken for access in records.accesses})
