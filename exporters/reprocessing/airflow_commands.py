"""The commands of Airflow that run tasks, or complete DAGs, again for dates.

Airflow takes both ends of a range. A day without a time is its midnight, and a time without a zone
is of `[core] default_timezone`: ranges are written from 00:00Z to 23:59:59Z.
"""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from dbt_graft.analysis.dates.taint_plan import Rerun
from dbt_graft.lineage.building.orchestration import orchestrator_task
from dbt_graft.lineage.dates.calendar import (
    FIRST,
    LAST,
    NO_DATES,
    Dates,
    dates_in,
    hour_of,
    moment_of,
)
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.records import Run

_AIRFLOW = "airflow"
_DEPTH = 8
_FOLLOWS = "what is in other DAGs follows"


def tasks_to_clear(
    rerun: Rerun, orchestrator_runs: Mapping[str, Run], version: int
) -> dict[tuple[str, str], Dates]:
    """DAG and task -> the days of the logical dates of the bad runs.

    Args:
        orchestrator_runs: The runs of orchestrators, by id.
        version: Airflow's major version.
    """
    dates_by_task: dict[tuple[str, str], Dates] = defaultdict(lambda: NO_DATES)
    for run in rerun.runs:
        task = orchestrator_task(run, orchestrator_runs)
        if task is None or task.engine != _AIRFLOW or not task.dag:
            continue
        at = _logical_date(run, orchestrator_runs, version)
        if at:
            day = hour_of(at) // 24 * 24
            dates_by_task[task.dag, task.task] |= dates_in([(day, day + 24)])
        elif not any(start <= FIRST or end >= LAST for start, end in rerun.dates.ranges):
            dates_by_task[task.dag, task.task] |= rerun.dates
    return dates_by_task


def clear_commands(dag: str, task: str, dates: Dates, version: int) -> list[str]:
    """The commands that clear a task's runs: one for each range of days."""
    # Airflow 2 has a pattern there, Airflow 3 a part of the id.
    pattern = task if version >= 3 else f"^{re.escape(task)}$"
    return [
        f"airflow tasks clear {shlex.quote(dag)} -s {start} -e {end} -t {shlex.quote(pattern)} -y"
        for start, end in _ends(dates)
    ]


def trap_of_clearing(version: int) -> str:
    """The note beside the commands of `clear_commands`."""
    part = "-t takes each task of the DAG whose id contains it; " if version >= 3 else ""
    return f"{part}{_FOLLOWS}"


def backfill_commands(dag: str, dates: Dates, version: int) -> list[str]:
    """The commands that run a complete DAG again: one for each range of days."""
    if version < 3:
        return [
            f"airflow dags backfill {shlex.quote(dag)} -s {start} -e {end} --reset-dagruns -y"
            for start, end in _ends(dates)
        ]
    return [
        f"airflow backfill create --dag-id {shlex.quote(dag)} --from-date {start} --to-date {end}"
        " --reprocess-behavior completed"
        for start, end in _ends(dates)
    ]


def _logical_date(run: Run, orchestrator_runs: Mapping[str, Run], version: int) -> datetime | None:
    """The logical date of a run: in Airflow 2 its run id has it, else the data interval's start.

    They differ where a run was started by hand.
    """
    current: Run | None = run
    for _ in range(_DEPTH):
        if current is None:
            return None
        logical_date = (
            _date_of_run_id(current) if version < 3 and current.engine == _AIRFLOW else None
        )
        if logical_date or current.nominal_start:
            return logical_date or current.nominal_start
        current = orchestrator_runs.get(current.parent_run_id or "")
    return None


def _date_of_run_id(run: Run) -> datetime | None:
    """The date in `shop/load/scheduled__2026-10-03T00:00:00+00:00`; None where it has another."""
    text = (run.application_id or "").rpartition("/")[2].partition("__")[2]
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _ends(dates: Dates) -> Iterator[tuple[str, str]]:
    """Ranges of days: the first, and the last with the end of its day."""
    for start, end in dates.widen(Grain.DAY).ranges:
        if start > FIRST and end < LAST:
            yield f"{moment_of(start):%Y-%m-%d}T00:00Z", f"{moment_of(end - 24):%Y-%m-%d}T23:59:59Z"
