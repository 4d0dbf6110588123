"""Deadlines and ages as people write them: `08:00 Europe/Berlin`, `PT2H`, `2h`, `1 day`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

_CLOCK = re.compile(
    r"T?(\d{1,2}):(\d\d)(?::\d\d)?\s*(?:(?:Z|UTC)|([A-Za-z_]+/[\w/+-]+)|([+-])(\d\d):?(\d\d))?"
)
_ISO = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?)?", re.IGNORECASE)
_PLAIN = re.compile(r"(\d{1,6})\s*(m|min|minutes?|h|hours?|d|days?)")
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}


def time_of_day(text: str) -> tuple[time, tzinfo] | None:
    """The time of day and its zone, UTC where none is written; None of other texts."""
    found = _CLOCK.fullmatch(text.strip())
    if not found:
        return None
    zone: tzinfo = UTC
    try:
        if found[3]:
            zone = ZoneInfo(found[3])
        elif found[4]:
            ahead = timedelta(hours=int(found[5]), minutes=int(found[6]))
            zone = timezone(ahead if found[4] == "+" else -ahead)
        return time(int(found[1]), int(found[2])), zone
    except (ValueError, OSError, KeyError):  # 25:00, a zone that nobody knows
        return None


def length(text: str) -> timedelta | None:
    """The length of time; None of other texts, and of none at all."""
    plain = text.strip()
    if found := _PLAIN.fullmatch(plain.casefold()):
        return int(found[1]) * _UNITS[found[2][0]] or None
    if found := _ISO.fullmatch(plain):
        days, hours, minutes = (int(one or 0) for one in found.groups())
        return timedelta(days=days, hours=hours, minutes=minutes) or None
    return None


def next_at(now: datetime, clock: time, zone: tzinfo) -> datetime:
    """The next moment with this time of day, `now` included."""
    local = now.astimezone(zone)
    found = datetime.combine(local.date(), clock, zone)
    if found < local:
        found = datetime.combine(local.date() + timedelta(days=1), clock, zone)
    return found.astimezone(UTC)
