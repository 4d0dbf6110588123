"""Bad data as people name it, what it went into, and the report of a bad run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.access_index import Execution
from dbt_graft.analysis.dates.bad_writes import (
    BadWrite,
    bad_dates,
    bad_runs,
    runs_between,
    runs_named,
    runs_of_version,
)
from dbt_graft.analysis.dates.incident import Incident, bad_run_answer, dag_run_answer
from dbt_graft.analysis.dates.late_outputs import LateOutput, late_outputs
from dbt_graft.analysis.dates.taint import Taint, spread
from dbt_graft.analysis.dates.taint_plan import taint_plan
from dbt_graft.analysis.dates.tasks_around import tasks_of_taint
from dbt_graft.analysis.history.bad_streak import first_bad_run
from dbt_graft.analysis.history.dag_runs import DagRun, find_dag_run
from dbt_graft.collectors.store.selected import tasks_of_runs
from dbt_graft.collectors.store.taints import recorded_taints
from dbt_graft.exporters.reprocessing.commands import backfills, rerun_steps
from dbt_graft.exporters.run_manifest import run_manifest
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.dated_lineage import DatedLineage, dated_lineage
from dbt_graft.graft.project.names import find_run, find_task, tasks_beside
from dbt_graft.graft.project.project import Project
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import Dates
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import Run, Status


@dataclass(frozen=True, slots=True)
class BadData:
    """Bad data: dates of a dataset, or what bad runs wrote.

    Attributes:
        dataset: Its name; with runs, only what they wrote into it.
        runs: Ids of bad runs.
        between: Ids of two runs of a task: bad are those after the earlier, up to the later.
        task, version: All runs of a task, or those with this version of its code.
    """

    dataset: str = ""
    dates: Dates | None = None
    runs: tuple[str, ...] = ()
    between: tuple[str, str] | None = None
    task: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class FollowedData:
    """Bad writes, and their taint downstream to the ends."""

    dated: DatedLineage
    bad: list[BadWrite]
    taint: Taint
    late: tuple[LateOutput, ...] = ()

    def incident(self, number: int | None = None) -> Incident:
        """The plan to mend it.

        Args:
            number: Its id on record.
        """
        dated = self.dated
        plan = taint_plan(dated.history, self.bad, self.taint, dated.consumers, dated.owners)
        steps = rerun_steps(plan, dated.rerun)
        return Incident(plan, steps, backfills(plan, dated.rerun), number, self.late)


def follow_bad_data(config: Config, named: BadData) -> FollowedData:
    """Bad data, and what it went into.

    Raises:
        GraftError: There is no such dataset, task or run, or nothing is known of what it wrote.
    """

    project = Project(config)

    def tasks_around(history: AccessHistory) -> set[str]:
        """The tasks whose runs are all needed."""
        if named.dates:
            return tasks_of_taint(history, [project.find_dataset(named.dataset)])
        runs = (*named.runs, *(named.between or ()))
        runs = tuple(run for name in runs for run in _run_ids(history, name))
        tasks = tasks_of_runs(config.path(config.store), runs)
        return _tasks_around(history, {named.task} if named.task else tasks)

    dated = dated_lineage(project, tasks_around)
    dataset = project.find_dataset(named.dataset) if named.dataset else None
    return _follow(dated, _bad_writes(dated.history, named, dataset))


def report_run(config: Config, name: str, task: str | None) -> tuple[Answer, Incident | None]:
    """The report of a bad run, and what must be done about it; None if nothing must.

    Args:
        name: Its id, `last` for the newest of the task, or the id of an incident on record.

    Raises:
        GraftError: There is no such run, or several are meant.
    """
    run_id, task = _run_on_record(config, name) or (name, task)

    def tasks_around(history: AccessHistory) -> set[str]:
        run_ids = _run_ids(history, run_id)
        tasks = {task} if task else tasks_of_runs(config.path(config.store), run_ids)
        beside = {other for known in tasks for other in tasks_beside(history.lineage, known)}
        return beside | _tasks_around(history, tasks)

    dated = dated_lineage(Project(config), tasks_around)
    history = dated.history
    if dag_run := None if task else _dag_run(history, run_id):
        return _report_dag_run(dated, dag_run)
    run_task, run = find_run(history.lineage, run_id, task)
    manifest = run_manifest(history, dated.descriptions, run_task, run)
    failed = [check["id"] for check in manifest["quality"]["checks"] if check["status"] == "failed"]
    first = first_bad_run(history.lineage, run_task, run, failed)
    bad = bad_runs(history, [_execution(run)])
    if run.status is not Status.FAILED:
        incident = _follow(dated, bad).incident() if bad else None
        return bad_run_answer(manifest, first, incident), incident
    # What it wrote before it failed is bad only where a test says so.
    wrong = {
        check["dataset"]
        for check in manifest["quality"]["checks"]
        if check["status"] == Status.FAILED
    }
    wrong_writes = [write for write in bad if str(write.dataset) in wrong]
    outputs = late_outputs(history, run_task, run, first.run.started_at if first else None)
    late = tuple(output for output in outputs if output.dates)
    if late or wrong_writes:
        followed = _follow(dated, wrong_writes, {_execution(run): late} if late else None)
        incident = followed.incident()
        return bad_run_answer(manifest, first, incident), incident
    if outputs:
        verdict = "all that it should have written was written since"
    elif bad:
        verdict = "it had written all that its last good run wrote"
    else:
        verdict = "no log shows what it should have written"
    return bad_run_answer(manifest, first, None, verdict), None


def _report_dag_run(dated: DatedLineage, dag_run: DagRun) -> tuple[Answer, Incident | None]:
    """The report of a run of a DAG: its tasks, and what those that failed should have written."""
    history = dated.history
    late: dict[Execution, list[LateOutput]] = {}
    for attempt in (*dag_run.tries.values(), *dag_run.missing.values()):
        if attempt.status is Status.FAILED and (task := history.lineage.tasks.get(attempt.task)):
            # What the engine's log shows of a try stands for it.
            run = next(
                (run for run in task.runs if attempt.run_id in (run.run_id, run.parent_run_id)),
                attempt,
            )
            first = first_bad_run(history.lineage, task, run, ())
            outputs = late_outputs(history, task, run, first.run.started_at if first else None)
            late[_execution(run)] = [output for output in outputs if output.dates]
    followed = _follow(dated, [], {key: outputs for key, outputs in late.items() if outputs})
    incident = followed.incident() if followed.late else None
    return dag_run_answer(dag_run, incident), incident


def _dag_run(history: AccessHistory, name: str) -> DagRun | None:
    return find_dag_run(history.lineage.history.orchestrator_runs, name)


def _run_ids(history: AccessHistory, name: str) -> list[str]:
    """The ids of the runs that a name means: of a run of a DAG those of its tasks."""
    dag_run = _dag_run(history, name)
    return [run.run_id for run in dag_run.tries.values()] if dag_run else [name]


def _execution(run: Run) -> Execution:
    return run.task, run.parent_run_id or run.run_id


def _follow(
    dated: DatedLineage,
    bad: list[BadWrite],
    late: Mapping[Execution, Sequence[LateOutput]] | None = None,
) -> FollowedData:
    """Bad writes, and what failed runs should have written, to the ends of what they went into."""
    if not late:
        return FollowedData(dated, bad, spread(dated.history, bad))
    missed = [
        BadWrite(output.dataset, output.dates, *execution, output.since)
        for execution, outputs in late.items()
        for output in outputs
    ]
    before = {(write.task, write.dataset): write.dates for write in missed}
    outputs = tuple(output for of_run in late.values() for output in of_run)
    since = min(output.since for output in outputs)
    taint = spread(dated.history, bad, before, since)
    for write in missed:
        if write.at and (write.task, write.dataset) in taint.tainted:
            taint.runs[write.task, write.dataset].setdefault(write.run, write.at)
    return FollowedData(dated, [*missed, *bad], taint, outputs)


def _tasks_around(history: AccessHistory, tasks: set[str]) -> set[str]:
    return tasks | tasks_of_taint(history, history.written_by(tasks))


def _run_on_record(config: Config, name: str) -> tuple[str, str] | None:
    """The run, and its task, with which an incident on record begins; None if it is none's id."""
    for incident in recorded_taints(config.path(config.store)):
        if str(incident.number) == name:
            if not incident.run:
                raise GraftError(
                    "no log shows the run with which this incident begins",
                    place=name,
                    remedy=f"see `graft incident open {incident.dataset} --dates … --dry-run`",
                )
            return incident.run, incident.task
    return None


def _bad_writes(
    history: AccessHistory, named: BadData, dataset: DatasetId | None
) -> list[BadWrite]:
    if named.dates and dataset:
        return bad_dates(history, dataset, named.dates)
    if named.task:
        runs = runs_of_version(history, find_task(history.lineage, named.task), named.version)
    elif named.between:
        first, second = (_single_run(history, run_id) for run_id in named.between)
        runs = runs_between(history, first, second)
    else:
        runs = [run for run_id in named.runs for run in _runs(history, run_id)]
    bad = [write for write in bad_runs(history, runs) if dataset in (None, write.dataset)]
    if not bad:
        raise GraftError(
            "these runs wrote nothing that the logs show",
            place=named.task or ", ".join(named.runs or named.between or ()),
            remedy="list what a task did with `graft show TASK`",
        )
    return bad


def _runs(history: AccessHistory, name: str) -> list[Execution]:
    executions = [
        execution for run_id in _run_ids(history, name) for execution in runs_named(history, run_id)
    ]
    if not executions:
        raise GraftError("there is no such run", place=name, remedy="take its id from a page")
    return executions


def _single_run(history: AccessHistory, run_id: str) -> Execution:
    executions = _runs(history, run_id)
    if len(executions) > 1:
        tasks = ", ".join(sorted({task for task, _ in executions})[:5])
        raise GraftError(f"it is a run of several tasks: {tasks}", place=run_id)
    return executions[0]
