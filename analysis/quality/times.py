"""Deadlines and ages as people write them: `08:00 Europe/Berlin`, `PT2H`, `2h`, `1 week`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

_CLOCK = re.compile(
    r"T?(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::\d\d)?\s*"
    r"(?:(?:Z|UTC|GMT)|(?P<zone>[A-Za-z_]+/[\w/+-]+)"
    r"|(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)?)?"
)
_ISO = re.compile(
    r"P(?:(?P<y>\d{1,4})Y)?(?:(?P<w>\d{1,6})W)?(?:(?P<d>\d{1,6})D)?"
    r"(?:T(?:(?P<h>\d{1,6})H)?(?:(?P<m>\d{1,6})M)?(?:(?P<s>\d{1,9})S)?)?",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    r"(?P<number>\d{1,6})\s*(?:(?P<s>s|secs?|seconds?)|(?P<m>m|mins?|minutes?)|(?P<h>h|hrs?|hours?)"
    r"|(?P<d>d|days?)|(?P<w>w|wks?|weeks?)|(?P<y>y|yrs?|years?))"
)
_UNITS = {
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(days=7),
    "y": timedelta(days=365),
}
# No zone is farther from UTC: `08:00-18:00` is from 8 to 18 hours.
_FARTHEST = timedelta(hours=14)
_MINUTES = 24 * 60


def time_of_day(text: str) -> tuple[time, tzinfo] | None:
    """The time of day and its zone, UTC where none is written; None of other texts."""
    match = _CLOCK.fullmatch(text.strip())
    if not match:
        return None
    zone: tzinfo = UTC
    try:
        if match["zone"]:
            zone = ZoneInfo(match["zone"])
        elif match["sign"]:
            ahead = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"] or 0))
            if ahead > _FARTHEST:
                return None
            zone = timezone(ahead if match["sign"] == "+" else -ahead)
        return time(int(match["hour"]), int(match["minute"])), zone
    except (ValueError, OSError, KeyError):  # 25:00, a zone that nobody knows
        return None


def clock_text(value: object) -> str:
    """A time of day as text: YAML reads `18:30` as a number of minutes."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MINUTES:
        return f"{value // 60:02}:{value % 60:02}"
    return str(value).strip()


def length(text: str) -> timedelta | None:
    """The length of time; None of other texts, and of none at all."""
    plain = text.strip()
    if match := _PLAIN.fullmatch(plain.casefold()):
        units = match.groupdict()
        number = int(units.pop("number"))
        return (
            sum((number * _UNITS[unit] for unit, word in units.items() if word), timedelta())
            or None
        )
    if match := _ISO.fullmatch(plain):
        parts = match.groupdict(default="0")
        return (
            sum((int(count) * _UNITS[unit] for unit, count in parts.items()), timedelta()) or None
        )
    return None


def next_at(now: datetime, clock: time, zone: tzinfo) -> datetime:
    """The next moment with this time of day, `now` included.

    A time that a change of the clocks leaves out is that of the clock before; of one that comes
    twice the first counts.
    """
    today = now.astimezone(zone).date()
    moment = datetime.combine(today, clock, zone).astimezone(UTC)
    if moment < now:
        moment = datetime.combine(today + timedelta(days=1), clock, zone).astimezone(UTC)
    return moment
