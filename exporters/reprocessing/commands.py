"""The commands that run a task again for dates: its own, Airflow's, or dbt's.

Names come from logs: each is quoted for the shell. Ends of Airflow's ranges are inclusive, but a
date is its midnight, so that a range ends at 23:59:59.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from dbt_graft.exporters.dag_factory.templates import filled_command, names_in
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
from dbt_graft.lineage.orchestration import orchestrated_by
from dbt_graft.lineage.records import Run
from dbt_graft.lineage.states.taint_plan import Rerun, TaintPlan

_AIRFLOW = "airflow"
_DEPTH = 8
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


@dataclass(frozen=True, slots=True)
class RerunStep:
    """A task of the plan with its commands.

    Attributes:
        commands: For a shell, in order; none where it is not known how it runs.
        url: The page from which people start it.
        note: A trap of the commands, or the reason why there are none.
    """

    rerun: Rerun
    commands: tuple[str, ...] = ()
    url: str = ""
    note: str = ""


def rerun_steps(plan: TaintPlan, settings: RerunSettings) -> list[RerunStep]:
    """The tasks of a plan with their commands, in its order."""
    return [_step(one, settings) for one in plan.reruns]


def backfills(plan: TaintPlan, settings: RerunSettings) -> list[str]:
    """The commands that run complete DAGs again, where events show the DAGs of tasks."""
    dags: dict[str, Dates] = defaultdict(lambda: NO_DATES)
    for rerun in plan.reruns:
        for (dag, _), dates in _airflow_tasks(rerun, settings).items():
            dags[dag] |= dates
    return [
        _backfill(shlex.quote(dag), start, end, settings.airflow)
        for dag, dates in sorted(dags.items())
        for start, end in _days(dates)
    ]


def _step(rerun: Rerun, settings: RerunSettings) -> RerunStep:
    if not rerun.name:
        return RerunStep(rerun, note="no log shows who writes it: correct it where it comes from")
    own = rerun.info.rerun
    if "://" in own and " " not in own:
        return RerunStep(rerun, url=own)
    if own:
        return _own_command(rerun, own)
    if rerun.is_definition:
        return _dbt(rerun, settings)
    tasks = _airflow_tasks(rerun, settings)
    commands = [
        _clear(shlex.quote(dag), shlex.quote(task), start, end)
        for (dag, task), dates in sorted(tasks.items())
        for start, end in _days(dates)
    ]
    if commands:
        note = "-t takes each task of the DAG whose id contains it; what is in other DAGs follows"
        return RerunStep(rerun, tuple(commands), note=note)
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
            commands.append(filled_command(template, values, jinja=False))
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


def _airflow_tasks(rerun: Rerun, settings: RerunSettings) -> dict[tuple[str, str], Dates]:
    """DAG and task of Airflow -> the logical dates of the runs to clear."""
    found: dict[tuple[str, str], Dates] = defaultdict(lambda: NO_DATES)
    for run in rerun.runs:
        above = orchestrated_by(run, settings.orchestrator_runs)
        if above is None or above.engine != _AIRFLOW or not above.dag:
            continue
        nominal = _nominal_start(run, settings.orchestrator_runs)
        if nominal:
            day = hour_of(nominal) // 24 * 24
            found[above.dag, above.task] |= dates_in([(day, day + 24)])
        elif not _is_open(rerun.dates):
            found[above.dag, above.task] |= rerun.dates
    return found


def _nominal_start(run: Run, above: Mapping[str, Run]) -> datetime | None:
    one: Run | None = run
    for _ in range(_DEPTH):
        if one is None or one.nominal_start:
            return one.nominal_start if one else None
        one = above.get(one.parent_run_id or "")
    return None


def _days(dates: Dates) -> Iterator[tuple[str, str]]:
    """Ranges of days: the first, and the last with the end of its day."""
    for start, end in dates.widened(Grain.DAY).ranges:
        if start > FIRST and end < LAST:
            yield f"{moment_of(start):%Y-%m-%d}", f"{moment_of(end - 24):%Y-%m-%d}T23:59:59"


def _clear(dag: str, task: str, start: str, end: str) -> str:
    return f"airflow tasks clear {dag} -s {start} -e {end} -t {task} -y"


def _backfill(dag: str, start: str, end: str, version: int) -> str:
    if version < 3:
        return f"airflow dags backfill {dag} -s {start} -e {end} --reset-dagruns -y"
    return (
        f"airflow backfill create --dag-id {dag} --from-date {start} --to-date {end}"
        " --reprocess-behavior completed"
    )


def _is_open(dates: Dates) -> bool:
    return not dates or dates.span[0] <= FIRST or dates.span[1] >= LAST


def _last(end: datetime, grain: Grain) -> datetime:
    """The last unit before an end."""
    return end - (timedelta(hours=1) if grain is Grain.HOUR else timedelta(days=1))


def _text(moment: datetime) -> str:
    moment = moment.astimezone(UTC)
    return f"{moment:%Y-%m-%d}" if moment.hour == 0 else f"{moment:%Y-%m-%dT%H:%M:%S}"
