"""Orchestrators: the runs of their tasks and DAGs, beside the runs of engines that they start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dbt_graft.lineage.building.event_runs import ORCHESTRATORS
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Run, Status
from dbt_graft.lineage.usage import Usage

# Applications between a run and its orchestrator.
_DEPTH = 8


@frozen
class OrchestratorTask:
    """The task of an orchestrator that did a run, or started it.

    Attributes:
        engine: `airflow`.
        dag: Its DAG; empty where no event names it.
        task: Its name in the DAG, with its groups.
        attempt: The number of the try.
        status: How the try ended: a task may fail after the run that it started.
        url: Its log in the orchestrator.
    """

    engine: str
    dag: str
    task: str
    attempt: int | None = None
    url: str | None = None
    status: Status = Status.UNKNOWN


def orchestrator_runs(runs: Iterable[Run]) -> dict[str, Run]:
    """The runs of orchestrators, by id."""
    return {run.run_id: run for run in runs if run.engine in ORCHESTRATORS}


def task_runs(runs: Iterable[Run], used: Iterable[Usage]) -> list[Run]:
    """The runs that tasks have: of an orchestrator those that no engine's log shows better.

    An orchestrator's task that reads and writes nothing is no task of lineage, nor is a DAG, which
    may have the name of one; one that may is.
    """
    listed = list(runs)
    using = {usage.task for usage in used} | {run.task for run in listed if run.gaps}
    engines = {run.task for run in listed if run.engine not in ORCHESTRATORS}
    shown_tasks = using | engines
    shown = {(run.task, run.parent_run_id) for run in listed if run.engine not in ORCHESTRATORS}
    # A task may pass the id on as that of its own run.
    shown |= {(run.task, run.run_id) for run in listed if run.engine not in ORCHESTRATORS}
    return [
        run
        for run in listed
        if run.engine not in ORCHESTRATORS
        or (
            run.task in shown_tasks and (run.task, run.run_id) not in shown and not _is_dag_run(run)
        )
    ]


def _is_dag_run(run: Run) -> bool:
    """Whether a run is one of a DAG, `dag/run id`, not of a task in it, `dag/task/run id`."""
    return run.engine in ORCHESTRATORS and (run.application_id or "").count("/") == 1


def orchestrator_task(run: Run, runs: Mapping[str, Run]) -> OrchestratorTask | None:
    """The task of an orchestrator behind a run; None where no event shows one.

    Args:
        runs: Those of `orchestrator_runs`.
    """
    above: Run | None = run
    for _ in range(_DEPTH):
        if above is None or above.engine in ORCHESTRATORS:
            break
        parent = runs.get(above.parent_run_id or "")
        above = None if parent is above else parent
    if above is None or above.engine not in ORCHESTRATORS:
        return None
    dag = runs.get(above.parent_run_id or "")
    names = (above.application_id or "").split("/")
    name = (above.job or above.task).rpartition("/")[2]
    dag_id = names[0] or (dag.task if dag else "")
    return OrchestratorTask(
        above.engine,
        dag_id,
        names[1] if len(names) > 2 else name.removeprefix(f"{dag_id}."),
        above.attempt,
        above.url,
        above.status,
    )
