"""The length of a data interval that a schedule of Airflow does not say.

By default a schedule of Airflow 3 only triggers: the interval of a run has no length. That of a
schedule which triggers several times a day goes up to the next time; it is not the day.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from dbt_graft.collectors.openlineage.event import Facets
from dbt_graft.collectors.openlineage.facets import mapping, text

_HOURS, _MINUTES = 24, 60
_DAY = _HOURS * _MINUTES
_PART = re.compile(r"(?:\*|(?P<first>\d{1,2})(?:-(?P<last>\d{1,2}))?)(?:/(?P<step>[1-9]\d?))?")


def interval_end(facets: Facets, start: datetime, end: datetime | None) -> datetime | None:
    """The end of the data interval of a run, by the timetable among its facets."""
    if end != start:
        return end
    timetable = mapping(facets, "airflow", "dag", "timetable") or mapping(
        facets, "airflowDagRun", "dag", "timetable"
    )
    seconds = timetable.get("delta")
    if isinstance(seconds, (int, float)) and 0 < seconds < _DAY * _MINUTES:
        return start + timedelta(seconds=seconds)
    listed = timetable.get("expressions")
    expressions = listed if isinstance(listed, list) else [text(timetable, "expression")]
    ticks = sorted({tick for expression in expressions for tick in _ticks(expression)})
    if len(ticks) < 2:
        return end
    local = start.astimezone(_zone(text(timetable, "timezone")))
    at = local.hour * _MINUTES + local.minute
    following = next((tick for tick in ticks if tick > at), ticks[0] + _DAY)
    return start + timedelta(minutes=following - at)


def _ticks(expression: Any) -> Iterable[int]:
    """The minutes of a day at which a cron expression triggers; none of one that is not known."""
    fields = expression.split() if isinstance(expression, str) else []
    if len(fields) != 5:
        return ()
    minutes, hours = _values(fields[0], _MINUTES), _values(fields[1], _HOURS)
    return (hour * _MINUTES + minute for hour in hours for minute in minutes)


def _values(field: str, limit: int) -> Sequence[int]:
    values: set[int] = set()
    for part in field.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            return ()
        first, step = int(match["first"] or 0), int(match["step"] or 1)
        is_one = match["first"] and not match["last"] and not match["step"]
        last = first if is_one else int(match["last"] or limit - 1)
        values |= {value for value in range(first, last + 1, step) if value < limit}
    return sorted(values)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name or "UTC")
    except (ValueError, OSError, KeyError):
        return ZoneInfo("UTC")
