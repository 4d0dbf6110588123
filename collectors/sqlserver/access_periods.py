"""Dates in the conditions of a text -> the periods of the datasets that it reads or changes.

Only dates on date columns stay: by configuration, by name, or by the type that the server's catalog
has. What other columns were compared with goes no further.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta

from dbt_graft.collectors.sqlserver.shown import StatementAccess
from dbt_graft.collectors.statements.periods.shape import TextDate
from dbt_graft.lineage.building.period_flow import derive_periods
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.date_columns import DateColumns, DateRank, has_time
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.dates.period_union import known_union, union
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Direction, Evidence

_CHANGES = frozenset({Operation.DELETE, Operation.UPDATE, Operation.MERGE})
_DAY = timedelta(days=1)

Periods = tuple[Period, ...]


def access_periods(access: StatementAccess, columns: DateColumns) -> Periods:
    """The dates of data that an access is about; empty where its text does not limit them."""
    segment, statement = access.shown
    if statement.procedure is not None or statement.evidence is not Evidence.OBSERVED:
        return ()  # the text is that of the call
    dates = segment.counts.dates
    if not dates:
        return ()
    if access.direction is Direction.READ or access.operation in _CHANGES:
        return _table_periods(access, dates, columns)
    read: dict[DatasetId, Periods] = {}
    for table_access in statement.accesses:
        if table_access.direction is Direction.READ:
            source = access._replace(table=table_access.table, direction=Direction.READ)
            read[table_access.table.dataset] = _table_periods(source, dates, columns)
    inputs = (
        (edge.to_column, edge.from_dataset, edge.from_column, edge.subtype)
        for edge in statement.column_edges
        if edge.to_dataset == access.table.dataset
    )
    return derive_periods(inputs, read) if any(read.values()) else ()


def _table_periods(
    access: StatementAccess, dates: Iterable[TextDate], columns: DateColumns
) -> Periods:
    changes = access.direction is Direction.WRITE
    types = {column.name.casefold(): column.type for column in access.table.columns}
    names = [access.table.dataset.name, access.table.alias.name if access.table.alias else ""]
    by_column: dict[str, list[TextDate]] = defaultdict(list)
    for date in dates:
        is_column = date.sure or date.column.casefold() in types
        if date.changes is changes and is_column and any(is_named(n, date.table) for n in names):
            by_column[date.column].append(date)
    ranks = {column: columns.rank(column, types.get(column.casefold(), "")) for column in by_column}
    for column in sorted(ranks, key=lambda name: (-ranks[name], name)):
        if ranks[column] is DateRank.NONE:
            continue
        type_ = types.get(column.casefold(), "")
        periods = union(_period(date, type_) for date in by_column[column])
        if periods:
            return periods
    return ()


def is_named(dataset: str, written: str) -> bool:
    """Whether a dataset's name ends as a table is written: `Shop.dbo.orders`, `dbo.orders`."""
    folded = dataset.casefold()
    return bool(folded) and (folded == written or folded.endswith(f".{written}"))


def _period(date: TextDate, type_: str) -> Period:
    # `> '2026-11-01'` holds for the afternoon of that day, where the column has times.
    is_same_day = date.after and date.start is not None and has_time(type_)
    start = date.start - _DAY if is_same_day and date.start else date.start
    return Period(start, date.end, Grain(date.grain), PeriodEvidence.PREDICATE, date.column)


def add_periods(before: Periods | None, periods: Periods) -> Periods:
    """The periods of another statement added to those before; None for the first."""
    return periods if before is None else known_union(before, periods)
