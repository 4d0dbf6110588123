"""The data interval of an orchestrator's run as the dates that the run wrote.

It counts where nothing stronger tells the dates, and for writes only: what a run for one day reads
may be of any day. A backfill of Airflow has an interval without a length: it means its day.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from dbt_graft.lineage.dates.date_ranges import begin_of_unit
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.records import Access, Direction, Run

_DAY = timedelta(days=1)
# Runs of orchestrators above each other: a task, its DAG, the DAG that triggered that.
_MOST_PARENTS = 8


def with_nominal_periods(accesses: Iterable[Access], runs: Iterable[Run]) -> list[Access]:
    """Accesses, writes without dates with those of their run's data interval."""
    by_key = {(run.task, run.run_id): run for run in runs}
    by_id = {run.run_id: run for run in by_key.values()}
    if not any(run.nominal_start for run in by_key.values()):
        return list(accesses)
    intervals: dict[tuple[str, str], tuple[Period, ...]] = {}
    dated = []
    for access in accesses:
        if (
            not access.periods
            and access.direction is Direction.WRITE
            and access.operation.brings_data
        ):
            key = (access.task, access.run_id)
            if key not in intervals:
                intervals[key] = _interval(by_key.get(key), by_id)
            access = replace(access, periods=intervals[key]) if intervals[key] else access
        dated.append(access)
    return dated


def _interval(run: Run | None, runs: Mapping[str, Run]) -> tuple[Period, ...]:
    """The interval of a run, or of the nearest run above it that has one."""
    for _ in range(_MOST_PARENTS):
        if run is None or run.nominal_start:
            break
        run = runs.get(run.parent_run_id or "")
    if run is None or run.nominal_start is None:
        return ()
    return (nominal_period(run.nominal_start, run.nominal_end),)


def nominal_period(start: datetime, end: datetime | None) -> Period:
    """The days of a data interval; of an interval of months, the months.

    The day of its start is the first, as in Airflow's `ds`: an interval from 05:00 to 05:00 is one.
    """
    first = begin_of_unit(start.astimezone(UTC), Grain.DAY)
    days = max(1, -((start - (end or start)) // _DAY))
    last = first + days * _DAY
    months = all(at == begin_of_unit(at, Grain.MONTH) for at in (first, last))
    return Period(first, last, Grain.MONTH if months else Grain.DAY, PeriodEvidence.INTERVAL)
