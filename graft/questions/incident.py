"""Bad data as people name it, and what it went into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

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
from dbt_graft.analysis.dates.incident import Incident, is_late_alone
from dbt_graft.analysis.dates.late_outputs import LateOutput
from dbt_graft.analysis.dates.taint import Taint, spread
from dbt_graft.analysis.dates.taint_plan import taint_plan
from dbt_graft.analysis.dates.tasks_around import tasks_of_taint
from dbt_graft.analysis.history.dag_runs import DagRun, find_dag_run
from dbt_graft.collectors.store.selected import tasks_of_runs
from dbt_graft.exporters.reprocessing.commands import backfills, rerun_steps
from dbt_graft.graft.project.asked_lineage import AskedLineage
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.dated_lineage import DatedLineage, dated_lineage
from dbt_graft.graft.project.names import find_task
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import Dates
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.gaps import open_tasks


@frozen
class BadData:
    """Bad data: dates of a dataset, or what bad runs wrote.

    Attributes:
        dataset: Its name; with runs, only what they wrote into it.
        runs: Ids of bad runs.
        between: Ids of two runs of a task: bad are those after the earlier, up to the later.
        task, version: All runs of a task, or those with this version of its code; with runs, only
            those of this task.
    """

    dataset: str = ""
    dates: Dates | None = None
    runs: tuple[str, ...] = ()
    between: tuple[str, str] | None = None
    task: str = ""
    version: str = ""


@frozen
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
        steps = rerun_steps(plan, replace(dated.rerun, is_late=is_late_alone(plan, self.late)))
        unknown = tuple(open_tasks(dated.history.lineage))
        return Incident(plan, steps, backfills(plan, dated.rerun), number, self.late, unknown)


def follow_bad_data(config: Config, named: BadData) -> FollowedData:
    """Bad data, and what it went into.

    Raises:
        GraftError: There is no such dataset, task or run, or nothing is known of what it wrote.
    """
    asked = AskedLineage(config)

    def tasks_around(history: AccessHistory) -> set[str]:
        """The tasks whose runs are all needed."""
        if named.dates:
            return tasks_of_taint(history, [asked.find_dataset(named.dataset)])
        runs = (*named.runs, *(named.between or ()))
        runs = tuple(run for name in runs for run in run_ids_named(history, name))
        tasks = tasks_of_runs(config.path(config.store), runs)
        alone = named.task and not runs
        return tasks_reached_by(history, {named.task} if alone else tasks)

    dated = dated_lineage(asked, tasks_around)
    dataset = asked.find_dataset(named.dataset) if named.dataset else None
    return follow_writes(dated, _bad_writes(dated.history, named, dataset))


def dag_run_named(history: AccessHistory, name: str) -> DagRun | None:
    """The run of a DAG that a name means; None where it means none."""
    return find_dag_run(history.lineage.history.orchestrator_runs, name)


def run_ids_named(history: AccessHistory, name: str) -> list[str]:
    """The ids of the runs that a name means: of a run of a DAG those of its tasks."""
    dag_run = dag_run_named(history, name)
    return [run.run_id for run in dag_run.tries.values()] if dag_run else [name]


def follow_writes(
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


def tasks_reached_by(history: AccessHistory, tasks: set[str]) -> set[str]:
    """Tasks, and all that bad data of theirs can reach."""
    return tasks | tasks_of_taint(history, history.written_by(tasks))


def _bad_writes(
    history: AccessHistory, named: BadData, dataset: DatasetId | None
) -> list[BadWrite]:
    if named.dates and dataset:
        return bad_dates(history, dataset, named.dates)
    task = find_task(history.lineage, named.task) if named.task else ""
    if named.between:
        first, second = (_single_run(history, run_id, task) for run_id in named.between)
        runs = runs_between(history, first, second)
    elif named.runs:
        runs = [run for run_id in named.runs for run in _runs(history, run_id, task)]
    else:
        runs = runs_of_version(history, task, named.version)
        if named.version and not runs:
            raise GraftError(
                f"no run has the code version {named.version}",
                place=task,
                remedy='`graft query "select task, run_id, code_version from runs"` lists them',
            )
    bad = [write for write in bad_runs(history, runs) if dataset in (None, write.dataset)]
    if not bad:
        raise GraftError(
            "these runs wrote nothing that the logs show",
            place=named.task or ", ".join(named.runs or named.between or ()),
            remedy="list what a task did with `graft show TASK`",
        )
    return bad


def _runs(history: AccessHistory, name: str, task: str) -> list[Execution]:
    executions = [
        execution
        for run_id in run_ids_named(history, name)
        for execution in runs_named(history, run_id)
        if task in ("", execution[0])
    ]
    if not executions:
        raise GraftError("there is no such run", place=name, remedy="take its id from a page")
    return executions


def _single_run(history: AccessHistory, run_id: str, task: str) -> Execution:
    executions = _runs(history, run_id, task)
    if len(executions) > 1:
        tasks = ", ".join(sorted({task for task, _ in executions})[:5])
        raise GraftError(
            f"it is a run of several tasks: {tasks}", place=run_id, remedy="name one with --task"
        )
    return executions[0]
