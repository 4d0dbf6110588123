"""Segments, put in the order of runs -> the rows of the store, on the executors.

All segments of a run are in one partition, so that a run is assembled where its segments arrive.
What several partitions find (a shape, a dataset) comes once from each.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import groupby

from dbt_graft.collectors.engines.engine import Batches
from dbt_graft.collectors.schema import Flat, Row, batch, record
from dbt_graft.collectors.sqlserver.resolution.resolve import TextResolver, resolve_texts
from dbt_graft.collectors.sqlserver.runs.segment import Segment, SegmentKind, time
from dbt_graft.collectors.sqlserver.runs.sessions import RunSegment, run_segments
from dbt_graft.collectors.sqlserver.shown import (
    ResolvedSegment,
    distinct_statements,
    run_statements,
)
from dbt_graft.collectors.statement import (
    Columns,
    SeenDatasets,
    Statement,
    access_records,
    column_edge_records,
    merge_records,
)
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.store.tables import LogRecords, OpenSession
from dbt_graft.lineage.dates.date_columns import DateColumns
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.records import Access, Outcome, Reject, Run, Shape

ENGINE = "sqlserver"
_UNKNOWN_HANDLE = "ran a statement that was prepared before the capture began"
# A batch goes out with about so many accesses.
_ACCESSES = 5_000
_RAN = (SegmentKind.STATEMENT, SegmentKind.UNRESOLVED_HANDLE)
_GOES_ON = (SegmentKind.RUNNING, SegmentKind.PREPARED)


@frozen
class LogCounts:
    """The events of a part of a log, and how many of them were left out by rule."""

    origin: str
    events: int = 0
    noise: int = 0


@frozen
class OtherClient:
    """The events in a part of a log of the clients of a name that are no task."""

    origin: str
    name: str
    events: int


@frozen
class AssembledRows:
    """Rows of the store, and of logs.

    Attributes:
        unread: Of the rejects, those of logs that their storage did not give.
    """

    records: Flat[LogRecords]
    unread: tuple[Reject, ...] = ()
    sessions: tuple[OpenSession, ...] = ()
    logs: tuple[LogCounts, ...] = ()
    others: tuple[OtherClient, ...] = ()


def assemble(
    server: str,
    idle_seconds: int,
    resolver: Callable[[], TextResolver],
    columns: DateColumns,
    batches: Batches,
) -> Batches:
    """Batches of `Segment`, and of the store's `sessions`, by run -> batches of `AssembledRows`."""
    with closing(resolver()) as texts:
        assembler = Assembler(server, texts, columns=columns)
        rows = (row for each in batches for row in each.to_pylist())
        about_logs: list[Segment] = []
        ordered_segments = run_segments(_without_notes(rows, about_logs), server, idle_seconds)
        for _, segments in groupby(ordered_segments, key=_run_key):
            assembler.add(list(segments))
            if len(assembler.accesses) >= _ACCESSES:
                yield batch(AssembledRows, [assembler.take_records()])
        yield batch(AssembledRows, [assembler.take_records(), assembler.rest(about_logs)])


def _without_notes(rows: Iterable[Row], notes: list[Segment]) -> Iterator[Row]:
    """The rows about sessions; those about the log go to `notes`."""
    for row in rows:
        if row["task"] or row["session"]:
            yield row
        else:
            notes.append(record(Segment, row))


def _run_key(segment: RunSegment) -> tuple[str, ...]:
    """Segments with one key that follow each other are worked on together."""
    key = segment.key
    return key.task, key.run, "" if key.run else key.session


def _most_columns(a: Columns, b: Columns) -> Columns:
    """Of the write that named the most, typed ones first."""
    return max(a, b, key=lambda columns: (any(column.type for column in columns), len(columns)))


@dataclass(slots=True)
class Assembler:
    """Takes the segments of run after run.

    Attributes:
        edges: Of the statements with the same column edges in a log the first.
    """

    server: str
    texts: TextResolver
    accesses: list[Access] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    sessions: list[OpenSession] = field(default_factory=list)
    shapes: dict[str, Shape] = field(default_factory=dict)
    edges: dict[tuple[object, ...], Statement] = field(default_factory=dict)
    datasets: SeenDatasets = field(default_factory=lambda: SeenDatasets(_most_columns))
    columns: DateColumns = field(default_factory=DateColumns)

    def add(self, segments: Sequence[RunSegment]) -> None:
        """Take the segments of some runs, each whole."""
        self.sessions += [
            self._open_session(segment) for segment in segments if segment.key.kind in _GOES_ON
        ]
        ran = [segment for segment in segments if segment.key.kind in _RAN]
        resolved = zip(ran, resolve_texts(ran, self.texts), strict=True)
        for of_run in group_by_key((pair[0].run_id, pair) for pair in resolved).values():
            self._add_run(of_run)

    def _add_run(self, segments: Sequence[ResolvedSegment]) -> None:
        shown = distinct_statements(segments)
        gaps: dict[str, set[str]] = defaultdict(set)
        for segment, resolved in shown:
            self.shapes.setdefault(resolved.shape_id, resolved.shape)
            if not (resolved.reads or resolved.writes):
                gaps[segment.origin].add(resolved.shape_id)
        for segment, _ in segments:
            if segment.key.kind is SegmentKind.UNRESOLVED_HANDLE:
                shape = unresolved_handle(segment)
                self.shapes.setdefault(shape.shape_id, shape)
                gaps[segment.origin].add(shape.shape_id)
        runs = {
            origin: replace(run, gaps=tuple(sorted(gaps.get(origin, ()))))
            for origin, run in run_records(segments).items()
        }
        self.runs += runs.values()
        statements = list(run_statements(shown, runs, self.columns))
        self.accesses += merge_records(access_records(statements))
        self.datasets.add(statements)
        for statement in statements:
            run, same = statement.run, (statement.shape_id, statement.evidence, statement.edges)
            self.edges.setdefault((run.task, run.origin, *same), statement)

    def _open_session(self, segment: RunSegment) -> OpenSession:
        key, counts = segment.key, segment.counts
        return OpenSession(
            server=self.server,
            session=key.session,
            act=key.kind.value,
            task=key.task,
            run=key.run,
            run_id=segment.run_id,
            handle=key.handle,
            text=key.text,
            temporaries=key.temporaries,
            started=time(counts.started),
            first_ended=time(counts.first_ended),
            last_ended=time(counts.last_ended),
            first_sequence=counts.first_sequence,
            origin=segment.origin,
        )

    def take_records(self) -> AssembledRows:
        """The accesses and runs since the last call."""
        log_records = LogRecords(accesses=tuple(self.accesses), runs=tuple(self.runs))
        self.accesses, self.runs = [], []
        return AssembledRows(log_records)

    def rest(self, notes: Iterable[Segment]) -> AssembledRows:
        """All that was added up, and what segments say about their logs."""
        counts: dict[str, dict[SegmentKind, int]] = {}
        rejects, unread, others = [], [], []
        for note in notes:
            if note.key.kind is SegmentKind.DAMAGE:
                damage = note.damage
                reject = Reject(note.origin, damage.position, damage.reason, damage.excerpt)
                rejects.append(reject)
                if damage.unread:
                    unread.append(reject)
            elif note.key.kind is SegmentKind.OTHER_CLIENT:
                others.append(OtherClient(note.origin, note.key.text or "", note.counts.times))
            else:
                of_log = counts.setdefault(note.origin, {})
                of_log[note.key.kind] = of_log.get(note.key.kind, 0) + note.counts.times
        log_records = LogRecords(
            shapes=tuple(self.shapes.values()),
            datasets=tuple(self.datasets.records()),
            column_edges=tuple(dict.fromkeys(column_edge_records(self.edges.values()))),
            rejects=tuple(rejects),
        )
        return AssembledRows(
            log_records,
            unread=tuple(unread),
            sessions=tuple(self.sessions),
            others=tuple(others),
            logs=tuple(
                LogCounts(
                    origin,
                    events=of_log.get(SegmentKind.EVENTS, 0),
                    noise=of_log.get(SegmentKind.NOISE, 0),
                )
                for origin, of_log in counts.items()
            ),
        )


def run_records(segments: Iterable[ResolvedSegment]) -> dict[str, Run]:
    """A run as each log shows it; one whose last statement on a dataset failed has failed."""
    by_origin = group_by_key((resolved[0].origin, resolved) for resolved in segments)
    return {origin: _run(of_log) for origin, of_log in by_origin.items()}


def _run(segments: Sequence[ResolvedSegment]) -> Run:
    def order(resolved: ResolvedSegment) -> tuple[bool, int, int]:
        segment, text = resolved
        touches = text is not None and bool(text.statements)
        return touches, segment.counts.last_ended, segment.counts.last_sequence

    last, _ = max(segments, key=order)
    return Run(
        run_id=last.run_id,
        task=last.key.task,
        engine=ENGINE,
        started_at=time(min(segment.counts.started for segment, _ in segments)),
        ended_at=time(max(segment.counts.last_ended for segment, _ in segments)),
        status=last.status,
        origin=last.origin,
    )


def unresolved_handle(segment: RunSegment) -> Shape:
    """The shape of a statement by a handle whose text no log shows: it failed."""
    text = f"EXEC sp_execute {segment.key.handle} -- session {segment.key.session}"
    return Shape(
        shape_id=f"lost-{hashlib.sha256(text.encode()).hexdigest()[:20]}",
        dialect=Dialect.TSQL.value,
        text=text,
        parser="",
        outcome=Outcome.FAILED,
        reason=_UNKNOWN_HANDLE,
    )
