"""Views of runs of an orchestrator's DAGs, and of the tasks in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

from dbt_graft.analysis.history.dag_runs import DagRun, dag_runs
from dbt_graft.exporters.data.view import View, ViewColumn, seconds_between
from dbt_graft.exporters.data.view_columns import (
    ENDED,
    NUMBER,
    STARTED,
    STATUS,
    TASK,
    TEXT,
    TEXTS,
    TOOK,
)
from dbt_graft.exporters.data.view_data import ViewData
from dbt_graft.lineage.records import Status


def _dag_runs(data: ViewData) -> Iterator[object]:
    for run in _all(data):
        yield SimpleNamespace(
            run=run,
            run_id=run.own.run_id if run.own else None,
            seconds=seconds_between(run.started_at, run.ended_at),
            tasks=len(run.tries),
            failed=[name for name, one in run.tries.items() if one.status is Status.FAILED],
            not_reached=list(run.missing),
        )


def _dag_tasks(data: ViewData) -> Iterator[object]:
    for run in _all(data):
        for name, attempt in run.tries.items():
            seconds = seconds_between(attempt.started_at, attempt.ended_at)
            yield SimpleNamespace(run=run, name=name, attempt=attempt, seconds=seconds)


def _all(data: ViewData) -> list[DagRun]:
    return dag_runs(data.lineage_of_runs().history.orchestrator_runs)


_DAG = ViewColumn("dag", TEXT, "the id of the DAG", "run.")
_DAG_RUN = ViewColumn("dag_run", TEXT, "the id of its run in the orchestrator", "run.name")

DAG_VIEWS = (
    View(
        "dag_runs",
        "A run of a DAG of Airflow, with the state of its tasks.",
        _dag_runs,
        _DAG,
        _DAG_RUN,
        ViewColumn("date", TEXT, "the first date of its data interval; null without one", "run."),
        replace(STATUS, path="run."),
        replace(STARTED, path="run."),
        replace(ENDED, path="run."),
        TOOK,
        ViewColumn("tasks", NUMBER, "the number of its tasks that ran"),
        ViewColumn("failed", TEXTS, "those that failed, by their names in the DAG"),
        ViewColumn("not_reached", TEXTS, "those that ran in the last good run, and not in it"),
        ViewColumn("run_id", TEXT, "its id in events; `parent_run_id` of the runs of its tasks"),
    ),
    View(
        "dag_tasks",
        "A task, or an instance of a mapped task, in a run of a DAG: its newest try.",
        _dag_tasks,
        _DAG,
        _DAG_RUN,
        ViewColumn("name", TEXT, "its name in the DAG, with its groups: `raw.load`, `part[1]`"),
        replace(TASK, path="attempt."),
        ViewColumn("run_id", TEXT, "the id of the try", "attempt."),
        replace(STATUS, path="attempt."),
        ViewColumn("attempt", NUMBER, "the number of the try", "attempt."),
        replace(STARTED, path="attempt."),
        replace(ENDED, path="attempt."),
        TOOK,
        ViewColumn("error", TEXT, "why it failed, without literals", "attempt."),
        ViewColumn("url", TEXT, "its log in the orchestrator", "attempt."),
    ),
)
