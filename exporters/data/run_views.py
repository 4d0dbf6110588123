"""Views of runs, tasks and DAGs: what each read and wrote, how much, for which dates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from types import SimpleNamespace

from dbt_graft.analysis.dates.access_effects import changes_data, removes_rows, takes_data
from dbt_graft.analysis.dates.contracted_accesses import contracted_accesses
from dbt_graft.analysis.dates.dbt_accesses import dbt_accesses
from dbt_graft.analysis.dates.declared_accesses import declared_accesses
from dbt_graft.analysis.history.dag_runs import DagRun, dag_runs
from dbt_graft.exporters.data.view import (
    DATASET,
    ENDED,
    EVIDENCE,
    FLAG,
    NUMBER,
    STARTED,
    STATUS,
    TASK,
    TEXT,
    TEXTS,
    TIME,
    TOOK,
    View,
    ViewColumn,
    seconds_between,
)
from dbt_graft.exporters.data.view_data import ViewData
from dbt_graft.lineage.dates.period_text import period_text
from dbt_graft.lineage.records import Access, Direction, Status


def _runs(data: ViewData) -> Iterator[object]:
    for task in data.lineage_of_runs().tasks.values():
        for run in task.runs:
            seconds = seconds_between(run.started_at, run.ended_at)
            same = 1 + task.repeats.get(run.run_id, 0)
            yield SimpleNamespace(task=task.name, run=run, seconds=seconds, same_runs=same)


def _accesses(data: ViewData) -> Iterator[object]:
    for access in _sorted_accesses(data):
        # Of several the last: what a read saw at its end, and what a write left.
        position = access.positions[-1] if access.positions else None
        yield SimpleNamespace(
            access=access,
            moves_data=_moves_data(access),
            dates=period_text(access.periods),
            version_kind=position.kind if position else None,
            from_version=position.start if position else None,
            version=position.end if position else None,
        )


def _access_dates(data: ViewData) -> Iterator[object]:
    for access in _sorted_accesses(data):
        moves_data = _moves_data(access)
        for period in access.periods:
            yield SimpleNamespace(access=access, period=period, moves_data=moves_data)


def _sorted_accesses(data: ViewData) -> list[Access]:
    """Those of logs, of dbt's builds, and those that people declare of runs that are known."""
    lineage = data.lineage_of_runs()
    accesses = contracted_accesses(lineage), dbt_accesses(lineage), declared_accesses(lineage)
    return sorted(chain.from_iterable(accesses), key=_access_order)


def _access_order(access: Access) -> tuple[str, str, str, str, str]:
    return access.task, access.run_id, str(access.dataset), access.direction, access.operation


def _moves_data(access: Access) -> bool:
    if access.direction is Direction.READ:
        return takes_data(access)
    return changes_data(access) and not removes_rows(access)


_OF_ACCESS = (
    ViewColumn("task", TEXT, "the name of the task; dbt's unique_id of a model", "access."),
    ViewColumn("run_id", TEXT, "the id of the run; dbt's of the invocation", "access."),
    replace(DATASET, path="access."),
    ViewColumn("direction", TEXT, "`read` or `write`", "access."),
    ViewColumn("operation", TEXT, "what statements do: `SELECT`, `INSERT`…", "access."),
    replace(STATUS, path="access."),
    replace(EVIDENCE, path="access."),
)


_FIRST_STATEMENT = ViewColumn("first_at", TIME, "the beginning of its first statement", "access.")


_LAST_STATEMENT = ViewColumn("last_at", TIME, "the end of its last statement", "access.")


_MOVES_DATA = ViewColumn(
    "moves_data", FLAG, "it took data, or put data there; a DELETE or DROP does not"
)


RUN_VIEWS = (
    View(
        "runs",
        "A run of a task.",
        _runs,
        TASK,
        ViewColumn("run_id", TEXT, "its id in the log", "run."),
        ViewColumn("engine", TEXT, "its engine", "run."),
        replace(STATUS, path="run."),
        replace(STARTED, path="run."),
        replace(ENDED, path="run."),
        TOOK,
        ViewColumn("error", TEXT, "why it failed, without literals", "run."),
        ViewColumn("engine_version", TEXT, "the version of the engine", "run."),
        ViewColumn("code_version", TEXT, "the version of its code", "run."),
        ViewColumn("attempt", NUMBER, "the number of the try", "run."),
        ViewColumn("parent_run_id", TEXT, "the run of the orchestrator that started it", "run."),
        ViewColumn("url", TEXT, "its page in the orchestrator", "run."),
        ViewColumn("nominal_start", TIME, "the start of the data interval that it was for", "run."),
        ViewColumn("nominal_end", TIME, "the end of that interval", "run."),
        ViewColumn("same_runs", NUMBER, "how many runs the row stands for, itself included"),
    ),
    View(
        "accesses",
        "A run, or dbt's build of a model, read or wrote a dataset.",
        _accesses,
        *_OF_ACCESS,
        _MOVES_DATA,
        ViewColumn("statements", NUMBER, "how many statements", "access."),
        ViewColumn("rows", NUMBER, "rows that were read or written", "access."),
        ViewColumn("bytes", NUMBER, "bytes, likewise", "access."),
        ViewColumn("files", NUMBER, "files, likewise", "access."),
        _FIRST_STATEMENT,
        _LAST_STATEMENT,
        ViewColumn("dates", TEXT, "the dates of data, with their evidence; `access_dates` has all"),
        ViewColumn(
            "version_kind", TEXT, "`delta version`, `iceberg snapshot`, `kafka offsets`, `version`"
        ),
        ViewColumn("from_version", TEXT, "the first version or offset that it is about"),
        ViewColumn("version", TEXT, "the last one: what a write made, or a read saw"),
    ),
    View(
        "access_dates",
        "A range of dates of data that an access is about, as far as its log tells.",
        _access_dates,
        *_OF_ACCESS,
        _MOVES_DATA,
        _LAST_STATEMENT,
        ViewColumn("from_date", TIME, "its beginning; null where it is open", "period.start"),
        ViewColumn("to_date", TIME, "its end, which is not in it; null likewise", "period.end"),
        ViewColumn("grain", TEXT, "the unit: `hour`, `day`, `month`…", "period."),
        ViewColumn("column", TEXT, "the partition or date column", "period."),
        ViewColumn(
            "known_by", TEXT, "`partition`, `predicate`, `path`, `interval`…", "period.evidence"
        ),
        ViewColumn("in_part", FLAG, "some rows of each unit may be left out", "period."),
    ),
)


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
