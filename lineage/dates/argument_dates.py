"""The date that a task was started for, among the arguments of its command: `--date 2026-11-01`.

Only dates are taken, and only those behind names that are known, or one that stands alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, time

from dbt_graft.lineage.dates.date_ranges import DateRange, date_range
from dbt_graft.lineage.dates.period import Grain

_DAYS = re.compile(
    r"(?:(?:run|execution|exec|logical|business|process(?:ing)?|load|target|data|partition|as_of)_)?"
    r"(?:date|day|dt|ds|partition)"
)
_NAMES = {
    "first": re.compile(
        r"(?:event_time_|date_|data_interval_)?(?:start|from|begin)(?:_?date|_day|_dt)?"
    ),
    "behind": re.compile(r"(?:event_time|data_interval)_end"),
    "last": re.compile(r"(?:date_)?(?:end|to|until)(?:_?date|_day|_dt)?"),
    "days": _DAYS,
}
_OPTION = re.compile(r"-{1,2}(?P<name>[A-Za-z][\w-]*)(?:=(?P<value>.*))?")
_PAIR = re.compile(r"(?P<name>[A-Za-z]\w*)=(?P<value>.+)")
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].*)?")
_SIDES = ("first", "behind", "last")
_LONGEST = 20_000
_GRAINS = (Grain.DAY, Grain.MONTH)


def argument_interval(command: str) -> tuple[datetime, datetime] | None:
    """The days that a command names, up to, not with, the second time; None where it is not clear.

    `--start-date A --end-date B` is with B, as in Airflow; dbt's `--event-time-end B` is without.
    Two times of day are the hours between them.
    """
    by_kind: dict[str, set[DateRange]] = defaultdict(set)
    for kind, dates in _dates(command[:_LONGEST]):
        by_kind[kind].add(dates)
    first, ends = by_kind["first"], by_kind["last"] | by_kind["behind"]
    if len(first) == 1 and len(ends) == 1:
        [begin], [end] = first, ends
        return _interval(begin.start, end.start if by_kind["behind"] else end.end)
    days = by_kind["days"] or by_kind["alone"]
    if first or ends or len(days) != 1:
        return None
    [only] = days
    return _interval(only.start, only.end)


def _dates(command: str) -> Iterator[tuple[str, DateRange]]:
    """The dates behind known names, each with the kind of its name."""
    name = ""
    for word in command.split():
        option = _OPTION.fullmatch(word) or _PAIR.fullmatch(word)
        if option:
            name = option["name"].replace("-", "_").casefold()
            if not option["value"]:
                continue
        value = (option["value"] if option else word).strip("'\"")
        kind = _kind(name, value)
        dates = (kind in _SIDES and _moment(value)) or _date(value)
        if dates and kind:
            yield kind, dates
        name = ""


def _kind(name: str, value: str) -> str:
    if not name:
        return "alone" if _ISO.fullmatch(value) else ""
    return next((kind for kind, names in _NAMES.items() if names.fullmatch(name)), "")


def _moment(value: str) -> DateRange | None:
    """A time of day, without a length; None for a date, or midnight."""
    if not _ISO.fullmatch(value):
        return None
    try:
        at = datetime.fromisoformat(value)
        at = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return DateRange(at, at, Grain.HOUR) if at.time() != time() else None


def _date(value: str) -> DateRange | None:
    # A time of day in the argument is not part of the date.
    day = value[:10] if _ISO.fullmatch(value) else value
    dates = date_range(day)
    return dates if dates and dates.grain in _GRAINS else None


def _interval(start: datetime | None, end: datetime | None) -> tuple[datetime, datetime] | None:
    return (start, end) if start and end and start < end else None
