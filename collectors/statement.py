"""Statements as every source makes them, and the records of the lineage store in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import attrgetter
from typing import NamedTuple

from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.period import DataPosition, Period
from dbt_graft.lineage.dates.period_union import known_positions, known_union
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    Evidence,
    Masking,
    Run,
    Status,
    Subtype,
)

Columns = tuple[Column, ...]

_NO_RUN = Run("", "", "")
_NO_TIME = datetime.min.replace(tzinfo=UTC)


class DatasetAccess(NamedTuple):
    """A dataset that a statement reads or writes; a count is None where the log has none.

    Attributes:
        columns: Its columns, as far as the statement or a catalog has them.
        alias: Another name of it, by which the statement names it.
        periods: The dates of data; empty where nothing tells them.
    """

    dataset: DatasetId
    kind: Kind
    operation: Operation
    rows: int | None = None
    bytes: int | None = None
    files: int | None = None
    partitions: int | None = None
    columns: Columns = ()
    alias: DatasetId | None = None
    periods: tuple[Period, ...] = ()
    positions: tuple[DataPosition, ...] = ()


class StatementEdge(NamedTuple):
    """A column edge of a statement; see `ColumnEdge`."""

    to_dataset: DatasetId
    to_column: str
    from_dataset: DatasetId
    from_column: str
    subtype: Subtype
    masking: bool = False
    masked_by: Masking = Masking.NONE


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a run, or equal ones: the datasets that it reads and writes, and its columns.

    Attributes:
        shape_id, run: Empty as long as they are not known.
        procedure: The stored procedure that ran it.
        times: How often it ran.
        first_at, last_at: None where it has no time.
    """

    shape_id: str = ""
    reads: tuple[DatasetAccess, ...] = ()
    writes: tuple[DatasetAccess, ...] = ()
    edges: tuple[StatementEdge, ...] = ()
    run: Run = _NO_RUN
    status: Status = Status.OK
    evidence: Evidence = Evidence.OBSERVED
    procedure: str | None = None
    times: int = 1
    first_at: datetime | None = None
    last_at: datetime | None = None

    def accesses(self) -> Iterator[tuple[Direction, DatasetAccess]]:
        """The datasets that it writes, then those that it reads."""
        for access in self.writes:
            yield Direction.WRITE, access
        for access in self.reads:
            yield Direction.READ, access


def add_counts(a: DatasetAccess, b: DatasetAccess) -> DatasetAccess:
    """Two accesses to a dataset as one: the sums of what is counted, and the dates of both."""
    return a._replace(
        rows=_add(a.rows, b.rows),
        bytes=_add(a.bytes, b.bytes),
        files=_add(a.files, b.files),
        partitions=_add(a.partitions, b.partitions),
        periods=known_union(a.periods, b.periods),
        positions=known_positions(a.positions, b.positions),
    )


def _add(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else a + b


def _first(a: datetime | None, b: datetime | None) -> datetime | None:
    return min(a, b) if a and b else a or b


def _last(a: datetime | None, b: datetime | None) -> datetime | None:
    return max(a, b) if a and b else a or b


@dataclass(slots=True)
class _AccessTotals:
    """Accesses that differ in nothing but counts and times, added up.

    Attributes:
        statement: The first of their statements.
    """

    statement: Statement
    direction: Direction
    access: DatasetAccess
    times: int
    first_at: datetime | None
    last_at: datetime | None

    def add(self, access: DatasetAccess, statement: Statement) -> None:
        self.access = add_counts(self.access, access)
        self.times += statement.times
        self.first_at = _first(self.first_at, statement.first_at)
        self.last_at = _last(self.last_at, statement.last_at)

    def record(self) -> Access:
        statement, access = self.statement, self.access
        return Access(
            task=statement.run.task,
            run_id=statement.run.run_id,
            dataset=access.dataset,
            kind=access.kind,
            direction=self.direction,
            operation=access.operation,
            shape_id=statement.shape_id,
            statements=self.times,
            rows=access.rows,
            bytes=access.bytes,
            files=access.files,
            partitions=access.partitions,
            first_at=self.first_at,
            last_at=self.last_at,
            status=statement.status,
            evidence=statement.evidence,
            origin=statement.run.origin,
            procedure=statement.procedure,
            periods=access.periods,
            positions=access.positions,
        )


def access_records(statements: Iterable[Statement]) -> list[Access]:
    """`accesses`: those that differ in nothing but counts and times are one."""
    totals: dict[tuple[object, ...], _AccessTotals] = {}
    for statement in statements:
        run, times = statement.run, (statement.times, statement.first_at, statement.last_at)
        same = (
            *(run.task, run.run_id, run.origin, statement.shape_id),
            *(statement.status, statement.evidence, statement.procedure),
        )
        for direction, access in statement.accesses():
            key = (*same, direction, access.dataset, access.kind, access.operation)
            if (earlier := totals.get(key)) is not None:
                earlier.add(access, statement)
            else:
                totals[key] = _AccessTotals(statement, direction, access, *times)
    return [total.record() for total in totals.values()]


def column_edge_records(statements: Iterable[Statement]) -> Iterator[ColumnEdge]:
    """`column_edges`; equal statements give equal ones."""
    for statement in statements:
        run = statement.run
        for edge in statement.edges:
            yield ColumnEdge(
                task=run.task,
                to_dataset=edge.to_dataset,
                to_column=edge.to_column,
                from_dataset=edge.from_dataset,
                from_column=edge.from_column,
                type=edge.subtype.type,
                subtype=edge.subtype,
                masking=edge.masking,
                shape_id=statement.shape_id,
                origin=run.origin,
                # What a run makes of what it read, no log shows.
                evidence=Evidence.INFERRED if edge.from_dataset == MEMORY else statement.evidence,
                masked_by=edge.masked_by,
            )


@dataclass(slots=True)
class _DatasetTotals:
    """A dataset as statements show it, added up.

    Attributes:
        changed: The last time that it was written, dropped or renamed, and whether it was gone
            after that.
    """

    dataset: DatasetId
    origin: str
    kind: Kind
    columns: Columns = ()
    symlinks: set[DatasetId] = field(default_factory=set)
    first_seen: datetime | None = None
    last_seen: datetime | None = None
    changed: tuple[datetime, bool] = (_NO_TIME, False)

    def add(self, statement: Statement, direction: Direction, access: DatasetAccess) -> None:
        self.kind = access.kind if access.kind is Kind.VIEW else self.kind
        if access.alias is not None:
            self.symlinks.add(access.alias)
        self.first_seen = _first(self.first_seen, statement.first_at)
        self.last_seen = _last(self.last_seen, statement.last_at)
        # The old name is what a rename reads.
        is_read, operation = direction is Direction.READ, access.operation
        if not is_read or operation.renames:
            is_gone = is_read or operation.removes
            self.changed = max(self.changed, (statement.last_at or _NO_TIME, is_gone))

    def record(self) -> Dataset:
        changed_at, is_gone = self.changed
        return Dataset(
            id=self.dataset,
            kind=self.kind,
            columns=self.columns,
            symlinks=tuple(sorted(self.symlinks, key=attrgetter("namespace", "name"))),
            first_seen=self.first_seen,
            last_seen=self.last_seen,
            dropped_at=changed_at if is_gone else None,
            origin=self.origin,
        )


class SeenDatasets:
    """The datasets of statements, by log.

    Failed statements leave no dataset, and temporary tables are none.

    Args:
        merge: Makes the columns of a dataset of those that two accesses have.
    """

    def __init__(self, merge: Callable[[Columns, Columns], Columns]) -> None:
        self._merge = merge
        self._totals: dict[tuple[DatasetId, str], _DatasetTotals] = {}

    def add(self, statements: Iterable[Statement]) -> None:
        """Take statements."""
        for statement in statements:
            if statement.status is Status.FAILED:
                continue
            for direction, access in statement.accesses():
                if access.kind is Kind.TEMPORARY:
                    continue
                key = (access.dataset, statement.run.origin)
                totals = self._totals.get(key)
                if totals is None:
                    totals = self._totals[key] = _DatasetTotals(*key, access.kind)
                totals.add(statement, direction, access)
                totals.columns = self._merge(totals.columns, access.columns)

    def records(self) -> list[Dataset]:
        """`datasets`"""
        return [totals.record() for totals in self._totals.values()]
