"""Units of partitions that are named after their beginning: `month=2026-10-01`, `dt=… 00:00:00`.

`date_trunc` writes a month as its first day, and Hive a day as its midnight. So all values that a
column has in the logs decide on its unit: by its name they need only begin such units, without it
there must be some of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.date_columns import name_grain
from dbt_graft.lineage.dates.date_ranges import DateRange, begin_of_unit, next_unit, widen
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.dates.period_union import union
from dbt_graft.lineage.records import Access

# So many values that begin units make a rule.
_FEWEST = 3
_COARSEST_FIRST = (Grain.YEAR, Grain.QUARTER, Grain.MONTH, Grain.WEEK)
_Column = tuple[DatasetId, str]


@dataclass(slots=True)
class _Values:
    """The values of a column.

    Attributes:
        days, hours: The beginnings of those that are units of a day, of an hour.
        is_run: Some of them follow upon each other, so that they are no beginnings.
    """

    days: set[datetime] = field(default_factory=set)
    hours: set[datetime] = field(default_factory=set)
    is_run: bool = False


def with_spaced_periods(accesses: Iterable[Access]) -> list[Access]:
    """Accesses, with the units of partitions that are named after their beginning."""
    listed = list(accesses)
    values: dict[_Column, _Values] = defaultdict(_Values)
    for access in listed:
        for period in access.periods:
            if period.column and period.grain in (Grain.HOUR, Grain.DAY):
                _add_value(values[access.dataset, period.column], period)
    grains = {key: grain for key, found in values.items() if (grain := _grain(key[1], found))}
    if not grains:
        return listed
    return [
        replace(access, periods=union(_widened(period, access, grains) for period in periods))
        if (periods := access.periods)
        and any((access.dataset, period.column) in grains for period in periods)
        else access
        for access in listed
    ]


def _add_value(values: _Values, period: Period) -> None:
    if period.start is None or period.end is None:
        return
    if period.end == next_unit(period.start, period.grain):
        (values.days if period.grain is Grain.DAY else values.hours).add(period.start)
    elif period.evidence in (PeriodEvidence.PARTITION, PeriodEvidence.LOCATION):
        values.is_run = True


def _grain(column: str, values: _Values) -> Grain | None:
    """The unit that the values of a column are the beginnings of; None where they are their own."""
    named = name_grain(column)
    if values.is_run or named is Grain.HOUR:
        return None
    if values.hours:
        enough = 1 if named else 2
        if len(values.hours) < enough or not _begin(values.hours, Grain.DAY):
            return None
    starts = values.days | values.hours
    if named in _COARSEST_FIRST:
        return named if _begin(starts, named) else Grain.DAY if values.hours else None
    if len(starts) >= _FEWEST:
        for grain in _COARSEST_FIRST:
            if _begin(starts, grain):
                return grain
    return Grain.DAY if values.hours else None


def _begin(starts: Collection[datetime], grain: Grain) -> bool:
    return all(start == begin_of_unit(start, grain) for start in starts)


def _widened(period: Period, access: Access, grains: dict[_Column, Grain]) -> Period:
    grain = grains.get((access.dataset, period.column))
    if grain is None:
        return period
    dates = widen(DateRange(period.start, period.end, period.grain), grain)
    return replace(period, start=dates.start, end=dates.end, grain=dates.grain)
