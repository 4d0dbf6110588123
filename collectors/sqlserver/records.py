"""Statements that a run shows, and their accesses -> records of the lineage store."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from operator import attrgetter

from dbt_graft.collectors.sqlserver.access_periods import access_periods, add_periods
from dbt_graft.collectors.sqlserver.access_positions import access_positions
from dbt_graft.collectors.sqlserver.runs.sessions import RunSegment
from dbt_graft.collectors.sqlserver.shown import (
    ResolvedSegment,
    ShownStatement,
    StatementAccess,
    dataset_of_run,
)
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.date_columns import DateColumns
from dbt_graft.lineage.dates.period import DataPosition, Period
from dbt_graft.lineage.dates.period_union import known_partitions
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    Evidence,
    Outcome,
    Run,
    Shape,
    Status,
)

ENGINE = "sqlserver"
_UNKNOWN_HANDLE = "ran a statement that was prepared before the capture began"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def accesses(statement_accesses: Iterable[StatementAccess], columns: DateColumns) -> list[Access]:
    """`accesses` of a run: those of statements that differ in nothing but time are one.

    Rows are known where a statement that wrote data was its text's only one.

    Args:
        columns: The columns whose values are dates of data.
    """
    counts_by_access: dict[Access, _AccessCounts] = {}
    for statement_access in statement_accesses:
        segment, statement = statement_access.shown
        access = Access(
            task=segment.key.task,
            run_id=segment.run_id,
            dataset=statement_access.dataset,
            kind=statement_access.table.kind,
            direction=statement_access.direction,
            operation=statement_access.operation,
            shape_id=statement.shape.shape_id,
            status=statement_access.status,
            evidence=statement.evidence,
            origin=segment.origin,
            procedure=statement.procedure or segment.key.procedure or None,
        )
        counts = counts_by_access.setdefault(
            access, _AccessCounts(statement_access.first_at, statement_access.last_at)
        )
        counts.add(statement_access)
        counts.periods = add_periods(counts.periods, access_periods(statement_access, columns))
        positions = access_positions(statement_access)
        earlier = counts.positions
        counts.positions = positions if earlier is None else known_partitions(earlier, positions)
    return [
        replace(
            access,
            statements=counts.statements,
            rows=counts.rows,
            first_at=time(counts.first_at),
            last_at=time(counts.last_at),
            periods=counts.periods or (),
            positions=counts.positions or (),
        )
        for access, counts in counts_by_access.items()
    ]


@dataclass(slots=True)
class _AccessCounts:
    first_at: int
    last_at: int
    statements: int = 0
    rows: int | None = None
    periods: tuple[Period, ...] | None = None
    positions: tuple[DataPosition, ...] | None = None

    def add(self, access: StatementAccess) -> None:
        counts, statement = access.shown.segment.counts, access.shown.statement
        self.first_at = min(self.first_at, access.first_at)
        self.last_at = max(self.last_at, access.last_at)
        self.statements += counts.times * statement.times
        writes_rows = access.direction is Direction.WRITE and access.operation.writes_rows
        if writes_rows and statement.alone and counts.rows is not None:
            self.rows = counts.rows + (self.rows or 0)


def runs(segments: Iterable[ResolvedSegment]) -> list[Run]:
    """`runs`, one for each log; one whose last statement on a dataset failed counts as failed."""
    segments_by_origin: dict[str, list[ResolvedSegment]] = defaultdict(list)
    for segment in segments:
        segments_by_origin[segment[0].origin].append(segment)
    return [_run(segments) for segments in segments_by_origin.values()]


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


def column_edges(statements: Iterable[ShownStatement]) -> Iterator[ColumnEdge]:
    """`column_edges`; `accesses` shows which failed."""
    for segment, statement in statements:
        for edge in statement.column_edges:
            is_sent = edge.from_dataset == MEMORY
            if is_sent and segment.key.procedure:
                continue  # a procedure's own constants
            yield ColumnEdge(
                task=segment.key.task,
                to_dataset=dataset_of_run(edge.to_dataset, segment),
                to_column=edge.to_column,
                from_dataset=dataset_of_run(edge.from_dataset, segment),
                from_column=edge.from_column,
                type=edge.type,
                subtype=edge.subtype,
                masking=bool(edge.masking),
                masked_by=edge.masking,
                shape_id=statement.shape.shape_id,
                origin=segment.origin,
                evidence=Evidence.INFERRED if is_sent else statement.evidence,
            )


@dataclass(slots=True)
class DatasetTotals:
    """Datasets as the accesses show them, added up: `datasets`.

    Attributes:
        columns: Of the write that named the most, typed ones first.
        is_view: A statement made one.
        last_drop, last_write: When it was last dropped or renamed, and written otherwise.
    """

    dataset: DatasetId
    origin: str
    first_seen: int
    last_seen: int = 0
    is_view: bool = False
    columns: tuple[Column, ...] = ()
    symlinks: set[DatasetId] = field(default_factory=set)
    last_drop: int = -1
    last_write: int = -1

    def add(self, access: StatementAccess) -> None:
        """Take an access."""
        self.first_seen = min(self.first_seen, access.first_at)
        self.last_seen = max(self.last_seen, access.last_at)
        self.is_view |= access.table.kind is Kind.VIEW
        self.columns = max(self.columns, access.table.columns, key=_column_rank)
        if access.table.alias is not None:
            self.symlinks.add(access.table.alias)
        is_write = access.direction is Direction.WRITE
        # The old name is what a rename reads.
        if access.operation.removes or (access.operation.renames and not is_write):
            self.last_drop = max(self.last_drop, access.last_at)
        elif is_write:
            self.last_write = max(self.last_write, access.last_at)

    def dataset_record(self) -> Dataset:
        """The dataset as a record."""
        is_dropped = self.last_drop >= 0 and self.last_write <= self.last_drop
        return Dataset(
            id=self.dataset,
            kind=Kind.VIEW if self.is_view else Kind.TABLE,
            columns=self.columns,
            symlinks=tuple(sorted(self.symlinks, key=attrgetter("namespace", "name"))),
            first_seen=time(self.first_seen),
            last_seen=time(self.last_seen),
            dropped_at=time(self.last_drop) if is_dropped else None,
            origin=self.origin,
        )


def _column_rank(columns: tuple[Column, ...]) -> tuple[bool, int]:
    return any(column.type for column in columns), len(columns)


def add_datasets(
    datasets: dict[tuple[DatasetId, str], DatasetTotals], accesses: Iterable[StatementAccess]
) -> None:
    """Add accesses to the datasets found so far, by dataset and log.

    Failed statements leave no dataset, temporary tables are none.
    """
    for access in accesses:
        if access.status is Status.FAILED or access.table.kind is Kind.TEMPORARY:
            continue
        key = (access.dataset, access.shown.segment.origin)
        if key not in datasets:
            datasets[key] = DatasetTotals(*key, first_seen=access.first_at)
        datasets[key].add(access)


def time(microseconds: int) -> datetime:
    """A time of a segment."""
    return _EPOCH + timedelta(microseconds=microseconds)
