"""Statements as every source makes them, and the records of the lineage store in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import reduce
from operator import attrgetter
from typing import Any, NamedTuple

from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.period import DataPosition, Period
from dbt_graft.lineage.dates.period_union import known_positions, known_union
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key
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

# What is counted of an access.
COUNTS = ("rows", "bytes", "files", "partitions")

_NO_RUN = Run("", "", "")
_NO_TIME = datetime.min.replace(tzinfo=UTC)
# An access without what is counted, and when.
_same = attrgetter(
    *("dataset", "kind", "direction", "operation", "shape_id", "status", "evidence"),
    *("origin", "procedure"),
)


class DatasetAccess(NamedTuple):
    """A dataset that a statement reads or writes; a count is None where the log has none.

    Attributes:
        columns: Its columns, as far as the statement or a catalog has them.
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
    ordinal: str = ""


@frozen
class Statement:
    """A statement of a run, or equal ones: the datasets that it reads and writes, and its columns.

    Attributes:
        shape_id, run: Empty as long as they are not known.
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


def access_records(statements: Iterable[Statement]) -> Iterator[Access]:
    """`accesses`"""
    for statement in statements:
        run = statement.run
        for direction, access in statement.accesses():
            yield Access(
                task=run.task,
                run_id=run.run_id,
                dataset=access.dataset,
                kind=access.kind,
                direction=direction,
                operation=access.operation,
                shape_id=statement.shape_id,
                statements=statement.times,
                rows=access.rows,
                bytes=access.bytes,
                files=access.files,
                partitions=access.partitions,
                first_at=statement.first_at,
                last_at=statement.last_at,
                status=statement.status,
                evidence=statement.evidence,
                origin=run.origin,
                procedure=statement.procedure,
                periods=access.periods,
                positions=access.positions,
            )


def merge_records(accesses: Iterable[Access]) -> Iterator[Access]:
    """The `accesses` of a run: those that differ in nothing but counts and times as one."""
    for equal in group_by_key((_same(access), access) for access in accesses).values():
        if len(equal) == 1:
            yield equal[0]
            continue
        yield replace(
            equal[0],
            statements=sum(access.statements for access in equal),
            first_at=reduce(_first, (access.first_at for access in equal)),
            last_at=reduce(_last, (access.last_at for access in equal)),
            **add_counts(equal),
        )


def add_counts(accesses: Sequence[DatasetAccess | Access]) -> dict[str, Any]:
    """The counts of several accesses to a dataset, added up, and the dates of all."""
    counts = {
        count: [number for access in accesses if (number := getattr(access, count)) is not None]
        for count in COUNTS
    }
    return {
        **{count: sum(numbers) if numbers else None for count, numbers in counts.items()},
        "periods": reduce(known_union, (access.periods for access in accesses)),
        "positions": reduce(known_positions, (access.positions for access in accesses)),
    }


def _first(a: datetime | None, b: datetime | None) -> datetime | None:
    return min(a, b) if a and b else a or b


def _last(a: datetime | None, b: datetime | None) -> datetime | None:
    return max(a, b) if a and b else a or b


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
                ordinal=edge.ordinal,
            )


@dataclass(slots=True)
class _DatasetTotals:
    """A dataset as statements show it, added up.

    Attributes:
        is_defined: A statement named all columns that it had then.
        changed: The last time that it was written, dropped or renamed, and whether it was gone
            after that.
    """

    dataset: DatasetId
    origin: str
    kind: Kind
    columns: Columns = ()
    is_defined: bool = False
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
        self.is_defined |= not is_read and operation.defines and bool(access.columns)
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
            has_all_columns=self.is_defined,
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
                if access.columns and access.columns != totals.columns:
                    totals.columns = self._merge(totals.columns, access.columns)

    def records(self) -> list[Dataset]:
        """`datasets`"""
        return [totals.record() for totals in self._totals.values()]
