"""The commands that run a task again for dates: its own, Airflow's, or dbt's.

Names come from logs: each is quoted for the shell. Airflow takes both ends of a range. A day
without a time is its midnight, and a time without a zone is of `[core] default_timezone`: ranges
are written from 00:00Z to 23:59:59Z.
"""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import UTC, datetime, timedelta

from dbt_graft.analysis.dates.taint_plan import Rerun, RerunStep, TaintPlan
from dbt_graft.exporters.dag_factory.templates import fill_command, names_in
from dbt_graft.lineage.airflow_names import task_of_instance
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
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Run

_ADD = "add `rerun:` to its entry below `tasks` in graft.yml"
_AIRFLOW = "airflow"
# The names in a command that make it one for dates.
DATE_NAMES = frozenset({"start", "end", "last"})
_DEPTH = 8
_FOLLOWS = "what is in other DAGs follows"


@frozen
class RerunSettings:
    """The environment of the commands.

    Attributes:
        orchestrator_runs: Those of an orchestrator, by id.
        selections: dbt's unique_id -> what selects the node.
        microbatch: The unique_ids of models that dbt builds by event time.
        airflow: Airflow's major version.
        is_late: Rows are missing where tasks run again, and none is wrong.
    """

    orchestrator_runs: Mapping[str, Run] = field(default_factory=dict)
    selections: Mapping[str, str] = field(default_factory=dict)
    microbatch: frozenset[str] = frozenset()
    airflow: int = 3
    is_late: bool = False


def rerun_steps(plan: TaintPlan, settings: RerunSettings) -> list[RerunStep]:
    """The tasks of a plan with their commands, in its order."""
    return [_step(rerun, settings) for rerun in plan.reruns]


def backfills(plan: TaintPlan, settings: RerunSettings) -> list[str]:
    """The commands that run complete DAGs again, where events show the DAGs of tasks."""
    dags: dict[str, Dates] = defaultdict(lambda: NO_DATES)
    for rerun in plan.reruns:
        tasks = tasks_to_clear(rerun, settings.orchestrator_runs, settings.airflow)
        for (dag, _), dates in tasks.items():
            dags[dag] |= dates
    return [
        command
        for dag, dates in sorted(dags.items())
        for command in backfill_commands(dag, dates, settings.airflow)
    ]


def _step(rerun: Rerun, settings: RerunSettings) -> RerunStep:
    if not rerun.name:
        return RerunStep(rerun, note="no log shows who writes it: correct it where it comes from")
    instruction = rerun.info.rerun
    if "://" in instruction and " " not in instruction:
        return RerunStep(rerun, url=instruction)
    if instruction:
        return _own_command(rerun, instruction)
    if rerun.is_definition:
        return _dbt(rerun, settings)
    tasks = tasks_to_clear(rerun, settings.orchestrator_runs, settings.airflow)
    commands = [
        command
        for (dag, task), dates in sorted(tasks.items())
        for command in clear_commands(dag, task, dates, settings.airflow)
    ]
    if commands:
        note = trap_of_clearing(settings.airflow)
        return RerunStep(rerun, tuple(commands), note=note, is_clearing=True)
    return RerunStep(rerun, note=f"it is not known how it runs: {_ADD}")


def _own_command(rerun: Rerun, template: str) -> RerunStep:
    names = names_in(template)
    if not names:
        return RerunStep(rerun, (template,))
    if names & DATE_NAMES and is_open(rerun.dates):
        note = "all dates count, and its command needs {start} and {end}: fill them in"
        return RerunStep(rerun, (template,), note=note)
    commands = []
    try:
        for start, end in _parts(rerun, names):
            values = {
                "task": rerun.name,
                "start": _text(start),
                "end": _text(end),
                "last": _text(_last(end, rerun.grain)),
            }
            commands.append(fill_command(template, values, jinja=False))
    except GraftError as error:
        return RerunStep(rerun, note=f"its `rerun` cannot be filled in: {error.problem}")
    return RerunStep(rerun, tuple(commands))


def _parts(rerun: Rerun, names: set[str]) -> Iterator[tuple[datetime, datetime]]:
    ranges = rerun.dates.ranges if names & DATE_NAMES else ((FIRST, LAST),)
    return ((moment_of(start), moment_of(end)) for start, end in ranges)


def _dbt(rerun: Rerun, settings: RerunSettings) -> RerunStep:
    select = settings.selections.get(rerun.name) or rerun.name.split(".", 2)[-1]
    command = f"dbt build --select {shlex.quote(select)}"
    is_microbatch = rerun.name in settings.microbatch
    if settings.is_late and (rerun.is_incremental or is_microbatch) and is_open(rerun.dates):
        note = (
            "it adds what it lacks; rows that its own condition takes for old need --full-refresh"
        )
        return RerunStep(rerun, (command,), note=note)
    if is_microbatch:
        if is_open(rerun.dates):
            return RerunStep(rerun, (f"{command} --full-refresh",), note="all dates count")
        return RerunStep(
            rerun,
            tuple(
                f"{command} --event-time-start {_text(moment_of(start))}"
                f" --event-time-end {_text(moment_of(end))}"
                for start, end in rerun.dates.ranges
            ),
        )
    if rerun.is_incremental and not settings.is_late:
        note = "an incremental model keeps what is there: without --full-refresh the dates stay bad"
        return RerunStep(rerun, (f"{command} --full-refresh",), note=note)
    return RerunStep(rerun, (command,))


def is_open(dates: Dates) -> bool:
    """Whether no first or no last date is known."""
    return not dates or dates.span[0] <= FIRST or dates.span[1] >= LAST


def _last(end: datetime, grain: Grain) -> datetime:
    """The last unit before an end."""
    return end - (timedelta(hours=1) if grain is Grain.HOUR else timedelta(days=1))


def _text(moment: datetime) -> str:
    moment = moment.astimezone(UTC)
    return f"{moment:%Y-%m-%d}" if moment.hour == 0 else f"{moment:%Y-%m-%dT%H:%M:%S}"


def tasks_to_clear(
    rerun: Rerun, orchestrator_runs: Mapping[str, Run], version: int
) -> dict[tuple[str, str], Dates]:
    """DAG and task -> the days of the logical dates of the bad runs."""
    dates_by_task: dict[tuple[str, str], Dates] = defaultdict(lambda: NO_DATES)
    for run in rerun.runs:
        task = orchestrator_task(run, orchestrator_runs)
        if task is None or task.engine != _AIRFLOW or not task.dag:
            continue
        name = task_of_instance(task.task)
        at = _logical_date(run, orchestrator_runs, version)
        if at:
            day = hour_of(at) // 24 * 24
            dates_by_task[task.dag, name] |= dates_in([(day, day + 24)])
        elif not any(start <= FIRST or end >= LAST for start, end in rerun.dates.ranges):
            dates_by_task[task.dag, name] |= rerun.dates
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
