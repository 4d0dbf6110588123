"""Dates in the conditions of a text -> the dates of data that its statement reads or changes.

Only dates on date columns stay: by configuration, by name, or by the type that the server's catalog
has. What other columns were compared with goes no further. Partitions that a text switches or
truncates are named by their numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from dbt_graft.collectors.sqlserver.resolution.statement import ResolvedStatement
from dbt_graft.collectors.sqlserver.runs.segment import SegmentCounts
from dbt_graft.collectors.statement import DatasetAccess
from dbt_graft.collectors.statements.periods.shape import TextDate
from dbt_graft.lineage.building.period_flow import derive_periods
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.date_columns import DateColumns, DateRank, has_time
from dbt_graft.lineage.dates.date_conditions import known_extents
from dbt_graft.lineage.dates.period import DataPosition, Period
from dbt_graft.lineage.dates.period_union import PARTITIONS, condition_periods
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Evidence

_CHANGES = frozenset({Operation.DELETE, Operation.UPDATE, Operation.MERGE})

Periods = tuple[Period, ...]
Accesses = tuple[DatasetAccess, ...]


def dated_accesses(
    statement: ResolvedStatement, counts: SegmentCounts, columns: DateColumns
) -> tuple[Accesses, Accesses]:
    """The reads and writes of a statement, with the dates and partitions that its text tells.

    Args:
        columns: The columns whose values are dates of data.
    """
    is_shown = statement.procedure is None and statement.evidence is Evidence.OBSERVED
    # The text of another statement is that of the call.
    if not is_shown or not (counts.dates or counts.partitions):
        return statement.reads, statement.writes
    reads = tuple(
        access._replace(
            periods=_table_periods(access, counts, columns, changes=False),
            positions=_positions(access, counts, changes=False),
        )
        for access in statement.reads
    )
    read = {access.dataset: access.periods for access in reads}
    writes = tuple(
        access._replace(
            periods=_table_periods(access, counts, columns, changes=True)
            if access.operation in _CHANGES
            else _derived_periods(access, statement, read),
            positions=_positions(access, counts, changes=True),
        )
        for access in statement.writes
    )
    return reads, writes


def _derived_periods(
    access: DatasetAccess, statement: ResolvedStatement, read: Mapping[DatasetId, Periods]
) -> Periods:
    inputs = (
        (edge.to_column, edge.from_dataset, edge.from_column, edge.subtype)
        for edge in statement.edges
        if edge.to_dataset == access.dataset
    )
    return derive_periods(inputs, read) if any(read.values()) else ()


def _table_periods(
    access: DatasetAccess, counts: SegmentCounts, columns: DateColumns, *, changes: bool
) -> Periods:
    types = {column.name.casefold(): column.type for column in access.columns}
    by_column: dict[str, list[TextDate]] = defaultdict(list)
    for date in counts.dates:
        is_column = date.sure or date.column.casefold() in types
        if date.changes is changes and is_column and _is_named(access, date.table):
            by_column[date.column].append(date)
    ranks = {column: columns.rank(column, types.get(column.casefold(), "")) for column in by_column}
    for column in sorted(ranks, key=lambda name: (-ranks[name], name)):
        if ranks[column] is DateRank.NONE:
            continue
        has_times = has_time(types.get(column.casefold(), ""))
        ranges = known_extents((date.range for date in by_column[column]), has_time=has_times)
        if periods := condition_periods(ranges, column):
            return periods
    return ()


def _positions(
    access: DatasetAccess, counts: SegmentCounts, *, changes: bool
) -> tuple[DataPosition, ...]:
    """The partitions that an access is about; empty where it is about the table.

    A position without numbers is about some partitions, and the text does not tell which.
    """
    ranges = [
        (partitions.first, partitions.last)
        for partitions in counts.partitions
        if partitions.operation == access.operation.value
        and partitions.changes is changes
        and _is_named(access, partitions.table)
    ]
    if any(first is None for first, _ in ranges):
        return ()
    return tuple(DataPosition(PARTITIONS, _text(first), _text(last)) for first, last in ranges)


def _text(number: int | None) -> str:
    return str(number) if number else ""


def _is_named(access: DatasetAccess, written: str) -> bool:
    """Whether a dataset's name ends as a table is written: `Shop.dbo.orders`, `dbo.orders`."""
    names = (access.dataset.name, access.alias.name if access.alias else "")
    folded = (name.casefold() for name in names if name)
    return any(name == written or name.endswith(f".{written}") for name in folded)
