"""The length of a data interval that a schedule of Airflow does not say.

By default a schedule of Airflow 3 only triggers: the interval of a run has no length. That of a
schedule which triggers several times a day goes up to the next time; it is not the day.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from dbt_graft.collectors.openlineage.event import Facets
from dbt_graft.collectors.openlineage.facets import mapping, text

_DAY, _SECOND = timedelta(days=1), timedelta(seconds=1)


def interval_end(facets: Facets, start: datetime, end: datetime | None) -> datetime | None:
    """The end of the data interval of a run, by the timetable among its facets."""
    if end != start:
        return end
    timetable = mapping(facets, "airflow", "dag", "timetable") or mapping(
        facets, "airflowDagRun", "dag", "timetable"
    )
    seconds = timetable.get("delta")
    if isinstance(seconds, (int, float)) and 0 < seconds < _DAY.total_seconds():
        return start + timedelta(seconds=seconds)
    listed = timetable.get("expressions")
    expressions = listed if isinstance(listed, list) else [timetable.get("expression")]
    texts = tuple(expression for expression in expressions if isinstance(expression, str))
    return _next_of_several(texts, text(timetable, "timezone"), start) or end


# All tasks of a run of a DAG ask the same.
@lru_cache(maxsize=1024)
def _next_of_several(expressions: tuple[str, ...], zone: str, start: datetime) -> datetime | None:
    """The next time of a schedule; None where it triggers at most once on the day of the start."""
    local = start.astimezone(_zone(zone))
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    first = _ticks(expressions, midnight - _SECOND)
    if len({tick for tick in first if tick.date() == local.date()}) < 2:
        return None
    return min(_ticks(expressions, local)).astimezone(start.tzinfo)


def _ticks(expressions: tuple[str, ...], after: datetime) -> list[datetime]:
    """The next two times of each cron expression; none of one that Airflow does not read."""
    # That of Airflow itself; most logs have no such schedule.
    from croniter import CroniterError, croniter

    ticks: list[datetime] = []
    for expression in expressions:
        with suppress(CroniterError):
            schedule = croniter(expression, after)
            ticks += [schedule.get_next(datetime) for _ in range(2)]
    return ticks


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name or "UTC")
    except (ValueError, OSError, KeyError):
        return ZoneInfo("UTC")
