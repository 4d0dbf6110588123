"""Dates of data as sets of ranges: union, intersection, units of a grain, and their print.

Ranges are half-open and count hours since 1970, so that all sets are numbers in order. Nothing here
is a list of days: a year is one range.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from dbt_graft.lineage.dates.period import Grain, Period
from dbt_graft.lineage.frozen import frozen

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = _EPOCH.date().toordinal()
_MONDAY = 3  # 1970 began on a Thursday
_MONTHS = {Grain.MONTH: 1, Grain.QUARTER: 3, Grain.YEAR: 12}

# The hours of 1 January 1 and of 31 December 9999: a range that begins or ends there is open.
FIRST = (1 - _EPOCH_DAY) * 24
LAST = (date.max.toordinal() - _EPOCH_DAY) * 24

HourRange = tuple[int, int]


def hour_of(moment: datetime) -> int:
    """The hour that a moment lies in, since 1970."""
    return (moment - _EPOCH) // timedelta(hours=1)


def moment_of(hour: int) -> datetime:
    """The beginning of an hour."""
    return _EPOCH + timedelta(hours=hour)


def unit_of(hour: int, grain: Grain) -> int:
    """The number of the unit that an hour lies in: of its day, its week since Monday, its month…"""
    if grain is Grain.HOUR:
        return hour
    if grain is Grain.DAY:
        return hour // 24
    if grain is Grain.WEEK:
        return (hour // 24 + _MONDAY) // 7
    return _month_of(hour // 24) // _MONTHS[grain]


def unit_start(unit: int, grain: Grain) -> int:
    """The first hour of a unit; units beyond all years are open ends."""
    if grain is Grain.HOUR:
        hour = unit
    elif grain is Grain.DAY:
        hour = unit * 24
    elif grain is Grain.WEEK:
        hour = (unit * 7 - _MONDAY) * 24
    else:
        year, month = divmod(unit * _MONTHS[grain], 12)
        if not 1 <= year <= 9999:
            return FIRST if year < 1 else LAST
        hour = (date(year, month + 1, 1).toordinal() - _EPOCH_DAY) * 24
    return min(max(hour, FIRST), LAST)


@lru_cache(maxsize=1 << 14)
def _month_of(day: int) -> int:
    first = date.fromordinal(min(max(day + _EPOCH_DAY, 1), date.max.toordinal()))
    return first.year * 12 + first.month - 1


@frozen
class Dates:
    """A set of dates.

    Attributes:
        ranges: Half-open, in hours since 1970, sorted; none touches another.
    """

    ranges: tuple[HourRange, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __or__(self, other: Dates) -> Dates:
        if not other.ranges or self.ranges == other.ranges:
            return self
        return dates_in((*self.ranges, *other.ranges)) if self.ranges else other

    def __and__(self, other: Dates) -> Dates:
        if not other.ranges or self.ranges == _ALL_RANGES:
            return other
        if not self.ranges or other.ranges == _ALL_RANGES:
            return self
        if self.ranges[0][0] >= other.ranges[-1][1] or other.ranges[0][0] >= self.ranges[-1][1]:
            return NO_DATES
        common, i, j = [], 0, 0
        while i < len(self.ranges) and j < len(other.ranges):
            start = max(self.ranges[i][0], other.ranges[j][0])
            end = min(self.ranges[i][1], other.ranges[j][1])
            if start < end:
                common.append((start, end))
            if self.ranges[i][1] < other.ranges[j][1]:
                i += 1
            else:
                j += 1
        return Dates(tuple(common))

    def __sub__(self, other: Dates) -> Dates:
        if not self.ranges or not other.ranges or not self & other:
            return self
        edges = [FIRST, *(hour for hour_range in other.ranges for hour in hour_range), LAST]
        between = zip(edges[::2], edges[1::2], strict=True)
        return self & Dates(tuple((a, b) for a, b in between if a < b))

    @property
    def is_all(self) -> bool:
        """Whether no date is missing."""
        return self.ranges == _ALL_RANGES

    @property
    def span(self) -> HourRange:
        """From the first to the last of them."""
        return self.ranges[0][0], self.ranges[-1][1]

    def meets(self, other: Dates) -> bool:
        """Whether any of them is among the others."""
        ours, others = self.ranges, other.ranges
        if len(ours) == len(others) == 1:
            return ours[0][0] < others[0][1] and others[0][0] < ours[0][1]
        return bool(self & other)

    def covers(self, other: Dates) -> bool:
        """Whether all others are among them."""
        return not other - self

    def widen(self, grain: Grain) -> Dates:
        """All units of a grain that have one of them."""
        if grain is Grain.HOUR:
            return self
        return dates_in(
            (
                start if start <= FIRST else unit_start(unit_of(start, grain), grain),
                end if end >= LAST else unit_start(unit_of(end - 1, grain) + 1, grain),
            )
            for start, end in self.ranges
        )

    def units(self, grain: Grain) -> Iterator[int]:
        """The numbers of all units that have one of them; ranges must not be open."""
        for start, end in self.widen(grain).ranges:
            yield from range(unit_of(start, grain), unit_of(end - 1, grain) + 1)

    def count(self, grain: Grain) -> int:
        """The number of those units."""
        return sum(
            unit_of(end - 1, grain) - unit_of(start, grain) + 1
            for start, end in self.widen(grain).ranges
        )


_ALL_RANGES = ((FIRST, LAST),)
NO_DATES = Dates()
ALL_DATES = Dates(_ALL_RANGES)


def dates_in(ranges: Iterable[HourRange]) -> Dates:
    """The dates in ranges of any order, which may overlap."""
    merged: list[HourRange] = []
    for start, end in sorted(ranges):
        start, end = max(start, FIRST), min(end, LAST)
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return Dates(tuple(merged))


def dates_between(start: datetime | None, end: datetime | None) -> Dates:
    """The dates from one up to, not with, another; None is an open side."""
    return dates_in(
        [(FIRST if start is None else hour_of(start), LAST if end is None else hour_of(end))]
    )


def unit_dates(unit: int, grain: Grain) -> Dates:
    """The dates of one unit."""
    return dates_in([(unit_start(unit, grain), unit_start(unit + 1, grain))])


def entire_dates(periods: Sequence[Period]) -> Dates:
    """The dates of periods of which all is meant, in the units of their grains."""
    return dates_of([period for period in periods if not period.in_part])


def dates_of(periods: Sequence[Period]) -> Dates:
    """The dates of periods, of which all or a part is meant, in the units of their grains."""
    if len(periods) == 1:
        return _period_dates(periods[0].start, periods[0].end, periods[0].grain)
    dates = NO_DATES
    for period in periods:
        dates |= _period_dates(period.start, period.end, period.grain)
    return dates


@lru_cache(maxsize=1 << 14)
def _period_dates(start: datetime | None, end: datetime | None, grain: Grain) -> Dates:
    return dates_between(start, end).widen(grain)
