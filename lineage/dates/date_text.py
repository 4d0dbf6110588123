"""Dates of data as people write and read them: `2026-10-03..2026-10-05`, `3 to 5 Oct 2026`."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from dbt_graft.lineage.dates.calendar import (
    FIRST,
    LAST,
    NO_DATES,
    Dates,
    HourRange,
    dates_in,
    hour_of,
    moment_of,
    unit_of,
    unit_start,
)
from dbt_graft.lineage.dates.period import Grain

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_WRITTEN = re.compile(
    r"(?P<year>\d{4})(-(?:W(?P<week>\d{2})|Q(?P<quarter>[1-4])|(?P<month>\d{2})"
    r"(-(?P<day>\d{2})([T ](?P<hour>\d{2})(:00)?)?)?))?"
)
_FORM = "write 2026-10-03, 2026-10-03..2026-10-05, 2026-10 or 2026-10-03T05"


def parse_dates(text: str) -> Dates:
    """The dates in a text: single units and ranges, last unit included, with commas between.

    A side of a range may be empty: `2026-10-03..` is open.

    Raises:
        ValueError: It is written otherwise, or there is no such date.
    """
    dates = NO_DATES
    for part in text.split(","):
        first, dots, last = part.strip().partition("..")
        start = _unit(first)[0] if first else FIRST
        end = _unit(last)[1] if last else LAST if dots else _unit(first)[1]
        if not (first or last):
            raise ValueError(f"{part.strip()!r} has no dates: {_FORM}")
        if start >= end:
            raise ValueError(f"{part.strip()!r} ends before it begins")
        dates |= dates_in([(start, end)])
    return dates


def _unit(text: str) -> HourRange:
    match = _WRITTEN.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text.strip()!r} is not a date: {_FORM}")
    year, month, day = int(match["year"]), int(match["month"] or 1), int(match["day"] or 1)
    try:
        moment = datetime(year, month, day, int(match["hour"] or 0), tzinfo=UTC)
        if match["week"]:
            moment = datetime.combine(
                datetime.fromisocalendar(year, int(match["week"]), 1), moment.time(), UTC
            )
        elif match["quarter"]:
            moment = moment.replace(month=int(match["quarter"]) * 3 - 2)
    except ValueError as error:
        raise ValueError(f"{text.strip()!r} is not a date: {error}") from error
    names = {"hour": Grain.HOUR, "day": Grain.DAY, "week": Grain.WEEK, "month": Grain.MONTH}
    named = (grain for name, grain in {**names, "quarter": Grain.QUARTER}.items() if match[name])
    grain = next(named, Grain.YEAR)
    hour = hour_of(moment)
    return hour, unit_start(unit_of(hour, grain) + 1, grain)


def dates_text(dates: Dates, grain: Grain = Grain.DAY, most: int = 0) -> str:
    """Dates for people: `3 to 5 Oct, 9 Oct 2026`.

    Args:
        grain: Of months, quarters and years only their names are written, where they are complete.
        most: The number of ranges that are written; 0 for all.
    """
    if dates.is_all:
        return "all dates"
    if not dates:
        return "no dates"
    shown = dates.ranges[:most] if most else dates.ranges
    left_out = len(dates.ranges) - len(shown)
    return ", ".join(_range_text(hour_range, grain) for hour_range in shown) + (
        f" and {left_out} more" if left_out else ""
    )


def dates_json(dates: Dates) -> dict[str, Any]:
    """Dates as JSON: ranges, their ends excluded, null where open."""
    return {"all": dates.is_all, "ranges": dates_iso(dates)}


def dates_iso(dates: Dates) -> list[list[str | None]]:
    """Ranges for programs: `[["2026-10-03", "2026-10-06"]]`, the end excluded, None where open."""
    return [[_iso(start), _iso(end)] for start, end in dates.ranges]


def dates_from_iso(ranges: list[list[str | None]]) -> Dates:
    """The dates of what `dates_iso` made.

    Raises:
        ValueError: They are not written so.
    """
    return dates_in(
        (
            FIRST if start is None else hour_of(_moment(start)),
            LAST if end is None else hour_of(_moment(end)),
        )
        for start, end in ranges
    )


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _iso(hour: int) -> str | None:
    if hour in (FIRST, LAST):
        return None
    return moment_of(hour).strftime("%Y-%m-%dT%H:00" if hour % 24 else "%Y-%m-%d")


def _range_text(hours: HourRange, grain: Grain) -> str:
    start, end = hours
    if start % 24 or end % 24:
        return _hours_text(start, end)
    if grain in (Grain.MONTH, Grain.QUARTER, Grain.YEAR) and _is_complete(hours, grain):
        return _coarse_text(start, end, grain)
    first, last = moment_of(start), moment_of(end - 24)
    if start <= FIRST:
        return f"up to {_day(last)}"
    if end >= LAST:
        return f"since {_day(first)}"
    if first == last:
        return _day(first)
    if first.year != last.year:
        return f"{_day(first)} to {_day(last)}"
    month = "" if first.month == last.month else f" {_MONTHS[first.month - 1]}"
    return f"{first.day}{month} to {_day(last)}"


def _is_complete(hours: HourRange, grain: Grain) -> bool:
    start, end = hours
    if start <= FIRST or end >= LAST:
        return False
    return all(unit_start(unit_of(hour, grain), grain) == hour for hour in (start, end))


def _coarse_text(start: int, end: int, grain: Grain) -> str:
    first, last = moment_of(start), moment_of(end - 24)
    if grain is Grain.YEAR:
        return str(first.year) if first.year == last.year else f"{first.year} to {last.year}"
    names = [
        f"Q{(moment.month + 2) // 3}" if grain is Grain.QUARTER else _MONTHS[moment.month - 1]
        for moment in (first, last)
    ]
    if first.year != last.year:
        return f"{names[0]} {first.year} to {names[1]} {last.year}"
    return (
        f"{names[0]} {last.year}"
        if names[0] == names[1]
        else f"{names[0]} to {names[1]} {last.year}"
    )


def _hours_text(start: int, end: int) -> str:
    first, last = moment_of(start), moment_of(end)
    if start <= FIRST:
        return f"up to {_day(last)} {last:%H:%M}"
    if end >= LAST:
        return f"since {_day(first)} {first:%H:%M}"
    same_day = start // 24 == (end - 1) // 24
    until = f"{last:%H:%M}" if same_day and end % 24 else "24:00" if same_day else None
    return f"{_day(first)} {first:%H:%M} to {until or f'{_day(last)} {last:%H:%M}'}"


def _day(moment: datetime) -> str:
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"
