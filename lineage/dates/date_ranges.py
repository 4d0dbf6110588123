"""Date ranges: what a date in a partition, a path or a predicate says about dates of data.

`2026-11-01` is a day, `2026-11` a month, `2026-W45` a week, `2026-11-01-05` an hour. Ranges are
half-open and begin and end with a unit of their grain. Hours are those of UTC where the text has an
offset: on the day on which clocks go back, two hours have one name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from enum import IntEnum

from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.frozen import frozen

_DAY = timedelta(days=1)
_FINEST_FIRST = tuple(Grain)
_MONTHS_OF_QUARTER = 3
_YEAR = r"(?P<year>(?:19|20|21)\d\d)"
# Those of texts: the year 1 and the year 9999 stand for no date.
YEARS = range(1900, 2200)
# Those in which something runs: the times of events in logs.
RUN_YEARS = range(1970, 2200)
_MONTH = r"(?P<month>0[1-9]|1[0-2])"
_DAY_OF_MONTH = r"(?P<day>0[1-9]|[12]\d|3[01])"
_WEEK = r"0[1-9]|[1-4]\d|5[0-3]"
_TIME = (
    r"[ T](?P<time>\d\d(?::?\d\d(?::?\d\d(?:[.,]\d{1,9})?)?)?)"
    r" ?(?P<offset>Z|UTC|[-+]\d\d(?::?\d\d)?)?"
)
_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"{_YEAR}(?P<sign>[-/_.]?){_MONTH}(?P=sign){_DAY_OF_MONTH}(?:{_TIME})?",
        rf"{_YEAR}(?P<sign>[-/_]?){_MONTH}(?P=sign){_DAY_OF_MONTH}[-_T]?(?P<hour>[01]\d|2[0-3])",
        rf"{_YEAR}[-/_]?{_MONTH}",
        rf"{_YEAR}-?[Qq](?P<quarter>[1-4])",
        rf"{_YEAR}-?[Ww](?P<week>{_WEEK})",
    )
)
# Those which the name of the column must tell from others.
_NAMED_FORMS = {
    Grain.YEAR: re.compile(_YEAR),
    Grain.WEEK: re.compile(rf"{_YEAR}[-_/]?(?P<week>{_WEEK})"),
}
_LONGEST = 40
_HOURS = 24


class Extent(IntEnum):
    """The part of its units that a range is about; of two conditions the greater one holds.

    PART: some hours of a day. PART_OF_TIMES: all of it, unless the column has times:
    `<= '2026-11-01'` is then only the midnight of that day. ONLY_OF_TIMES: nothing of it, unless
    the column has times: `> '2026-11-01'`.
    """

    ALL = 0
    PART_OF_TIMES = 1
    PART = 2
    ONLY_OF_TIMES = 3


class Place(IntEnum):
    """The place of a time in its unit."""

    BEGINNING = 0
    INSIDE = 1
    END = 2


@frozen
class DateRange:
    """Dates from `start` up to, not with, `end`; None where a side is open.

    Attributes:
        place: The place in its unit of a time that was written.
        extent: The part of each unit that it is about.
    """

    start: datetime | None
    end: datetime | None
    grain: Grain
    place: Place = Place.BEGINNING
    extent: Extent = Extent.ALL


def date_range(text: str, named: Grain | None = None) -> DateRange | None:
    """The unit that a text names; None where it is no date.

    Args:
        named: The unit that the column's name shows: in `year` four digits are one, in `event_hour`
            a time is its hour; elsewhere a time is its day.
    """
    text = text.strip().strip("'\"")
    if len(text) > _LONGEST:
        return None
    if named in _NAMED_FORMS and (match := _NAMED_FORMS[named].fullmatch(text)):
        return _build_range(match.groupdict(), named)
    for form in _FORMS:
        if match := form.fullmatch(text):
            return _build_range(match.groupdict(), named)
    return None


def _build_range(parts: Mapping[str, str | None], named: Grain | None) -> DateRange | None:
    year = int(parts["year"] or 0)
    try:
        if named is Grain.YEAR and len(parts) == 1:
            return unit(datetime(year, 1, 1, tzinfo=UTC), Grain.YEAR)
        if week := parts.get("week"):
            return unit(
                datetime.fromisocalendar(year, int(week), 1).replace(tzinfo=UTC), Grain.WEEK
            )
        if quarter := parts.get("quarter"):
            month = _MONTHS_OF_QUARTER * int(quarter) - 2
            return unit(datetime(year, month, 1, tzinfo=UTC), Grain.QUARTER)
        month, day = int(parts["month"] or 1), parts.get("day")
        if day is None:
            return unit(datetime(year, month, 1, tzinfo=UTC), Grain.MONTH)
        start = datetime(year, month, int(day), tzinfo=UTC)
    except ValueError:
        return None  # the 31st of June
    if hour := parts.get("hour"):
        return unit(start + timedelta(hours=int(hour)), Grain.HOUR)
    time = parts.get("time") or ""
    if time and named is Grain.HOUR:
        return _hour(start, time, parts.get("offset") or "")
    return DateRange(start, start + _DAY, Grain.DAY, _place(time))


def _place(time: str) -> Place:
    """The place of a time in its day; `23:59:59`, whatever its fraction, is the end of it."""
    if not time.strip("0:.,"):
        return Place.BEGINNING
    return Place.END if time.replace(":", "").startswith("235959") else Place.INSIDE


def _hour(day: datetime, time: str, offset: str) -> DateRange | None:
    hour = int(time[:2])
    if hour >= _HOURS:
        return None
    start = day + timedelta(hours=hour)
    if offset[:1] in ("+", "-"):
        digits = offset[1:].replace(":", "")
        east = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
        start -= east if offset[0] == "+" else -east
    place = Place.INSIDE if time[2:].strip("0:.,") else Place.BEGINNING
    return replace(unit(begin_of_unit(start, Grain.HOUR), Grain.HOUR), place=place)


def unit(start: datetime, grain: Grain) -> DateRange:
    """The unit of a grain that begins with a time."""
    return DateRange(start, next_unit(start, grain), grain)


def next_unit(start: datetime, grain: Grain) -> datetime:
    """The beginning of the next unit."""
    match grain:
        case Grain.HOUR:
            return start + timedelta(hours=1)
        case Grain.DAY:
            return start + _DAY
        case Grain.WEEK:
            return start + 7 * _DAY
        case Grain.YEAR:
            return start.replace(year=start.year + 1)
    months = _MONTHS_OF_QUARTER if grain is Grain.QUARTER else 1
    years, month = divmod(start.month - 1 + months, 12)
    return start.replace(year=start.year + years, month=month + 1)


def begin_of_unit(at: datetime, grain: Grain) -> datetime:
    """The beginning of the unit that a time is in."""
    if grain is Grain.HOUR:
        return at.replace(minute=0, second=0, microsecond=0)
    day = at.replace(hour=0, minute=0, second=0, microsecond=0)
    match grain:
        case Grain.DAY:
            return day
        case Grain.WEEK:
            return day - day.weekday() * _DAY
        case Grain.MONTH:
            return day.replace(day=1)
        case Grain.QUARTER:
            return day.replace(month=1 + (day.month - 1) // 3 * 3, day=1)
    return day.replace(month=1, day=1)


def widen(dates: DateRange, grain: Grain) -> DateRange:
    """A range that begins and ends with units of a coarser grain."""
    if _FINEST_FIRST.index(grain) <= _FINEST_FIRST.index(dates.grain):
        return dates
    start = dates.start and begin_of_unit(dates.start, grain)
    end = dates.end and begin_of_unit(dates.end, grain)
    if end is not None and end != dates.end:
        end = next_unit(end, grain)
    return DateRange(start, end, grain)


def finer(a: Grain, b: Grain) -> Grain:
    """The finer one of two grains."""
    return min(a, b, key=_FINEST_FIRST.index)
