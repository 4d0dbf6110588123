"""The data interval of an orchestrator's run as the dates that the run wrote.

It counts where nothing stronger tells the dates, and for writes only: what a run for one day reads
may be of any day. An interval without a length, as one of Airflow's backfills, means its day.

A table that is replaced as a whole is a snapshot, whatever interval its runs have. Where runs are
for hours, an overwrite without any partition counts as that of its hour: if it replaced more, the
hours before may be bad for longer than they were, and are never clean too early.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dbt_graft.lineage.dates.date_ranges import YEARS, begin_of_unit
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Run

_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)
# Runs of orchestrators above each other: a task, its DAG, the DAG that triggered that.
_MOST_PARENTS = 8


def with_nominal_periods(accesses: Iterable[Access], runs: Iterable[Run]) -> list[Access]:
    """Accesses, writes without dates with those of their run's data interval."""
    by_key = {(run.task, run.run_id): run for run in runs}
    by_id = {run.run_id: run for run in by_key.values()}
    listed = list(accesses)
    if not any(run.nominal_start for run in by_key.values()):
        return listed
    dated_datasets = {
        access.dataset for access in listed if access.periods or access.partitions is not None
    }
    intervals: dict[tuple[str, str], Period | None] = {}
    dated = []
    for access in listed:
        if (
            not access.periods
            and access.direction is Direction.WRITE
            and access.operation.brings_data
        ):
            key = (access.task, access.run_id)
            if key not in intervals:
                intervals[key] = data_interval(by_key.get(key), by_id)
            period = intervals[key]
            is_dated = access.dataset in dated_datasets
            if period and not _replaces_all(access, period, is_dated=is_dated):
                access = replace(access, periods=(period,))
        dated.append(access)
    return dated


def _replaces_all(access: Access, interval: Period, *, is_dated: bool) -> bool:
    if access.operation is not Operation.INSERT_OVERWRITE:
        return access.operation.replaces
    return not is_dated and interval.grain is not Grain.HOUR


def data_interval(run: Run | None, runs: Mapping[str, Run]) -> Period | None:
    """The dates of the interval of a run, or of the nearest run above it that has one."""
    for _ in range(_MOST_PARENTS):
        if run is None or run.nominal_start:
            break
        run = runs.get(run.parent_run_id or "")
    if run is None or run.nominal_start is None:
        return None
    return nominal_period(run.nominal_start, run.nominal_end, run.timezone or "")


def nominal_period(start: datetime, end: datetime | None, timezone: str = "") -> Period | None:
    """The hours, days or months of a data interval; None for one that is shorter than an hour.

    None, too, for one to a date that stands for none, in the year 1 or 9999. The day of its start
    is the first, as in Airflow's `ds`: an interval from 05:00 to 05:00 is one.

    Args:
        timezone: The zone that days are of, `Europe/Berlin`; or the offset of the clock in the
            events, by which a day of 23 or 25 hours is known at its end.
    """
    end = end or start
    if start.year not in YEARS or end.year not in YEARS:
        return None
    if timedelta(0) < end - start < _DAY - _HOUR:
        return _hours(start, end)
    first, last = _wall_clock(start, end, timezone)
    # A time that clocks leave out comes an hour later: no day begins by that.
    days = -(-min(last - first, end - start) // _DAY)
    first = begin_of_unit(first, Grain.DAY)
    last = first + max(1, days) * _DAY
    months = all(at == begin_of_unit(at, Grain.MONTH) for at in (first, last))
    return Period(first, last, Grain.MONTH if months else Grain.DAY, PeriodEvidence.INTERVAL)


def _hours(start: datetime, end: datetime) -> Period | None:
    """The hours of UTC: each has a name of its own, on the day on which clocks go back too."""
    if end - start < _HOUR:
        return None
    first = begin_of_unit(start.astimezone(UTC), Grain.HOUR)
    last = first - -(end - start) // _HOUR * _HOUR
    return Period(first, last, Grain.HOUR, PeriodEvidence.INTERVAL)


def _wall_clock(start: datetime, end: datetime, timezone: str) -> tuple[datetime, datetime]:
    """The times on the clock of a zone, as if they were of UTC."""
    zone = _zone(timezone)
    if isinstance(zone, ZoneInfo):
        first, last = (at.astimezone(zone).replace(tzinfo=UTC) for at in (start, end))
        return first, last
    last = end.astimezone(zone).replace(tzinfo=UTC)
    days = round((end - start) / _DAY)
    is_days = days and abs(end - start - days * _DAY) <= _HOUR
    if zone is not UTC and is_days and last == begin_of_unit(last, Grain.DAY):
        return last - days * _DAY, last
    return start.astimezone(UTC), end.astimezone(UTC)


@lru_cache(maxsize=1 << 10)
def _zone(timezone: str) -> tzinfo:
    if timezone[:1] in ("+", "-"):
        return datetime.strptime(timezone, "%z").tzinfo or UTC
    try:
        return ZoneInfo(timezone) if timezone else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
