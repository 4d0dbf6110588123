"""The commands that run a task again for dates: its own, Airflow's, or dbt's.

Names come from logs: each is quoted for the shell.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from dbt_graft.analysis.dates.taint_plan import Rerun, RerunStep, TaintPlan
from dbt_graft.exporters.dag_factory.templates import fill_command, names_in
from dbt_graft.exporters.reprocessing.airflow_commands import (
    backfill_commands,
    clear_commands,
    tasks_to_clear,
    trap_of_clearing,
)
from dbt_graft.lineage.dates.calendar import FIRST, LAST, NO_DATES, Dates, moment_of
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import Run

_ADD = "add `rerun:` to its entry below `tasks` in graft.yml"


@dataclass(frozen=True, slots=True)
class RerunSettings:
    """The environment of the commands.

    Attributes:
        orchestrator_runs: Those of an orchestrator, by id.
        selections: dbt's unique_id -> what selects the node.
        microbatch: The unique_ids of models that dbt builds by event time.
        airflow: Airflow's major version.
    """

    orchestrator_runs: Mapping[str, Run] = field(default_factory=dict)
    selections: Mapping[str, str] = field(default_factory=dict)
    microbatch: frozenset[str] = frozenset()
    airflow: int = 3


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
    if names & {"start", "end", "last"} and _is_open(rerun.dates):
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
    ranges = rerun.dates.ranges if names & {"start", "end", "last"} else rerun.dates.ranges[:1]
    return ((moment_of(start), moment_of(end)) for start, end in ranges)


def _dbt(rerun: Rerun, settings: RerunSettings) -> RerunStep:
    select = settings.selections.get(rerun.name) or rerun.name.split(".", 2)[-1]
    command = f"dbt build --select {shlex.quote(select)}"
    if rerun.name in settings.microbatch:
        if _is_open(rerun.dates):
            return RerunStep(rerun, (f"{command} --full-refresh",), note="all dates count")
        return RerunStep(
            rerun,
            tuple(
                f"{command} --event-time-start {_text(moment_of(start))}"
                f" --event-time-end {_text(moment_of(end))}"
                for start, end in rerun.dates.ranges
            ),
        )
    if rerun.is_incremental:
        note = "an incremental model keeps what is there: without --full-refresh the dates stay bad"
        return RerunStep(rerun, (f"{command} --full-refresh",), note=note)
    return RerunStep(rerun, (command,))


def _is_open(dates: Dates) -> bool:
    return not dates or dates.span[0] <= FIRST or dates.span[1] >= LAST


def _last(end: datetime, grain: Grain) -> datetime:
    """The last unit before an end."""
    return end - (timedelta(hours=1) if grain is Grain.HOUR else timedelta(days=1))


def _text(moment: datetime) -> str:
    moment = moment.astimezone(UTC)
    return f"{moment:%Y-%m-%d}" if moment.hour == 0 else f"{moment:%Y-%m-%dT%H:%M:%S}"
