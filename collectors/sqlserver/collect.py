"""The collector of Extended Events.

    splits of files -> events, folded to segments -> sessions in order, and their runs
          -> texts parsed and resolved -> the rows of the store

Only the fold looks at every event. The number of its segments grows with the number of different
statements, so the steps after it do not depend on the length of the log. Where the segments of a
run come together, its rows are assembled. Events that are polled over a connection are folded while
they come, before an engine is needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial

import pyarrow as pa

from dbt_graft.collectors.engines.engine import ArrowResults, Engine, EngineRows, record_tables
from dbt_graft.collectors.engines.reading import Reading
from dbt_graft.collectors.files import LogPath
from dbt_graft.collectors.schema import arrow, record
from dbt_graft.collectors.source import position_before
from dbt_graft.collectors.sqlserver.assemble import AssembledRows, LogCounts, OtherClient, assemble
from dbt_graft.collectors.sqlserver.event import FileSplit, LogDamage
from dbt_graft.collectors.sqlserver.files.formats import file_splits
from dbt_graft.collectors.sqlserver.listing import PolledSegments, Server, new_logs
from dbt_graft.collectors.sqlserver.resolution.resolve import TextResolver
from dbt_graft.collectors.sqlserver.resolution.views import view_records
from dbt_graft.collectors.sqlserver.runs.folding import damage_batch, fold_splits
from dbt_graft.collectors.sqlserver.runs.segment import Segment
from dbt_graft.collectors.store.arrow_tables import (
    distinct,
    drop_origins,
    table,
    tables,
    union,
    unnest_records,
)
from dbt_graft.collectors.store.positions import of_logs
from dbt_graft.collectors.store.tables import Collected, OpenSession, Positions, ReadLog
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Records, Reject

# Workers get this many bytes at a time, or this many times some small files.
_BYTES, _TIMES = 32 << 20, 64
# Notes on the log have no time: 1970.
_NO_TIME = 1970


def collect(
    engine: Engine,
    logs: LogPath,
    server: Server,
    positions: Positions,
    reading: Reading | None = None,
) -> Collected | None:
    """Collect the files below a path that are new to the store or have changed.

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
        other_clients=_other_clients(assembled, stored),
    )


def _other_clients(assembled: pa.Table, stored: Collection[str]) -> dict[str, int]:
    """Name -> events of clients that are not tasks, in logs that could be read."""
    events: Counter[str] = Counter()
    for row in unnest_records(assembled, "others", OtherClient).to_pylist():
        if row["origin"] not in stored:
            events[row["name"]] += row["events"]
    return dict(events)


def _views(accesses: pa.Table, server: Server) -> Collected:
    assert server.snapshot
    names = distinct(accesses.select(["namespace", "name"]), "namespace", "name")
    ids = [DatasetId(row["namespace"], row["name"]) for row in names.to_pylist()]
    records = view_records(server.snapshot, ids, server.namespace, server.snapshot_label)
    taken = server.snapshot.taken_at.isoformat()
    return tables(records, {access.origin: taken for access in records.accesses})
