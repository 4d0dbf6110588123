"""Segments, put in the order of runs -> the rows of the store, on the executors.

All segments of a run are in one partition, so that a run is assembled where its segments arrive.
What several partitions find (a shape, a dataset) comes once from each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby

import pyarrow as pa

from dbt_graft.collectors.schema import Row, batch, record
from dbt_graft.collectors.sqlserver import records
from dbt_graft.collectors.sqlserver.records import DatasetTotals
from dbt_graft.collectors.sqlserver.resolution.resolve import (
    ResolvedText,
    SentText,
    TextResolver,
)
from dbt_graft.collectors.sqlserver.runs.segment import Segment, SegmentKind
from dbt_graft.collectors.sqlserver.runs.sessions import RunSegment, run_segments
from dbt_graft.collectors.sqlserver.shown import (
    ResolvedSegment,
    distinct_statements,
    statement_accesses,
)
from dbt_graft.collectors.store import LogRecords, OpenSession
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.date_columns import DateColumns
from dbt_graft.lineage.records import Access, ColumnEdge, Reject, Run, Shape

# A batch goes out with about so many accesses.
_ACCESSES = 5_000
_RAN = (SegmentKind.STATEMENT, SegmentKind.UNRESOLVED_HANDLE)
_GOES_ON = (SegmentKind.RUNNING, SegmentKind.PREPARED)

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class LogCounts:
    """The events of a part of a log, and how many of them were left out by rule."""

    origin: str
    events: int = 0
    noise: int = 0


@dataclass(frozen=True, slots=True)
class AssembledRows:
    """Rows of the store, and of logs.

    Attributes:
        unread: Of the rejects, those of logs that their storage did not give.
    """

    records: LogRecords
    unread: tuple[Reject, ...] = ()
    sessions: tuple[OpenSession, ...] = ()
    logs: tuple[LogCounts, ...] = ()


def assemble(
    server: str,
    idle_seconds: int,
    resolver: Callable[[], TextResolver],
    columns: DateColumns | None = None,
) -> Callable[[Batches], Batches]:
    """Batches of `Segment`, and of the store's `sessions`, by run -> batches of `AssembledRows`.

    Args:
        server: The namespace of the server's datasets.
        idle_seconds: A pause of a session that ends its run.
        resolver: Makes what resolves the texts.
        columns: The columns whose values are dates of data.
    """

    def run(batches: Batches) -> Batches:
        with closing(resolver()) as texts:
            assembler = Assembler(server, texts, columns=columns or DateColumns())
            rows = (row for each in batches for row in each.to_pylist())
            about_logs: list[Segment] = []
            ordered_segments = run_segments(_without_notes(rows, about_logs), server, idle_seconds)
            for _, segments in groupby(ordered_segments, key=_run_key):
                assembler.add(list(segments))
                if len(assembler.accesses) >= _ACCESSES:
                    yield batch(AssembledRows, [assembler.take_records()])
            yield batch(AssembledRows, [assembler.take_records(), assembler.rest(about_logs)])

    return run


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


@dataclass(slots=True)
class Assembler:
    """Takes the segments of run after run."""

    server: str
    texts: TextResolver
    accesses: list[Access] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    sessions: list[OpenSession] = field(default_factory=list)
    shapes: dict[str, Shape] = field(default_factory=dict)
    column_edges: dict[ColumnEdge, None] = field(default_factory=dict)
    datasets: dict[tuple[DatasetId, str], DatasetTotals] = field(default_factory=dict)
    columns: DateColumns = field(default_factory=DateColumns)

    def add(self, segments: Sequence[RunSegment]) -> None:
        """Take the segments of some runs, each whole."""
        self.sessions += [
            self._open_session(segment) for segment in segments if segment.key.kind in _GOES_ON
        ]
        ran = [segment for segment in segments if segment.key.kind in _RAN]
        by_run: dict[str, list[ResolvedSegment]] = {}
        for segment, text in zip(ran, self._resolve_texts(ran), strict=True):
            by_run.setdefault(segment.run_id, []).append((segment, text))
        for resolved in by_run.values():
            self._add_run(resolved)

    def _resolve_texts(self, segments: Sequence[RunSegment]) -> list[ResolvedText | None]:
        sent = [
            None if segment.key.text is None else SentText(segment.key.text, segment.key.database)
            for segment in segments
        ]
        texts = self.texts.resolve(filter(None, sent))
        return [None if text is None else texts[text] for text in sent]

    def _add_run(self, segments: Sequence[ResolvedSegment]) -> None:
        self.runs += records.runs(segments)
        for segment, _ in segments:
            if segment.key.kind is SegmentKind.UNRESOLVED_HANDLE:
                shape = records.unresolved_handle(segment)
                self.shapes.setdefault(shape.shape_id, shape)
        statements = distinct_statements(segments)
        for _, statement in statements:
            self.shapes.setdefault(statement.shape.shape_id, statement.shape)
        accesses = list(statement_accesses(statements))
        self.accesses += records.accesses(accesses, self.columns)
        records.add_datasets(self.datasets, accesses)
        self.column_edges.update(dict.fromkeys(records.column_edges(statements)))

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
            started=records.time(counts.started),
            first_ended=records.time(counts.first_ended),
            last_ended=records.time(counts.last_ended),
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
        rejects, unread = [], []
        for note in notes:
            if note.key.kind is SegmentKind.DAMAGE:
                damage = note.damage
                reject = Reject(note.origin, damage.position, damage.reason, damage.excerpt)
                rejects.append(reject)
                if damage.unread:
                    unread.append(reject)
            else:
                of_log = counts.setdefault(note.origin, {})
                of_log[note.key.kind] = of_log.get(note.key.kind, 0) + note.counts.times
        log_records = LogRecords(
            shapes=tuple(self.shapes.values()),
            datasets=tuple(totals.dataset_record() for totals in self.datasets.values()),
            column_edges=tuple(self.column_edges),
            rejects=tuple(rejects),
        )
        return AssembledRows(
            log_records,
            unread=tuple(unread),
            sessions=tuple(self.sessions),
            logs=tuple(
                LogCounts(
                    origin,
                    events=of_log.get(SegmentKind.EVENTS, 0),
                    noise=of_log.get(SegmentKind.NOISE, 0),
                )
                for origin, of_log in counts.items()
            ),
        )
