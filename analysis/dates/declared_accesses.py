"""Declared lineage as accesses of observed runs: an orchestrator shows when, people say what."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_graft.lineage.building.nominal_periods import data_interval
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Evidence, Status
from dbt_graft.lineage.usage import Usage

SHAPE = "declared"


def declared_accesses(lineage: Lineage) -> Iterator[Access]:
    """The accesses of runs of tasks whose lineage is declared: reads at first, writes at the end.

    Of what a log shows nothing is added, nor of a run whose inlets and outlets are known.
    """
    known = {
        (access.task, access.run_id, access.dataset, access.direction)
        for access in lineage.history.accesses
    }
    for task in lineage.tasks.values():
        if usages := _declared_usages(task):
            for access in _task_accesses(lineage, task, usages):
                if (access.task, access.run_id, access.dataset, access.direction) not in known:
                    yield access


def _declared_usages(task: Task) -> list[Usage]:
    shown = {
        (usage.dataset, usage.direction)
        for usage in task.usages
        if usage.last_at and usage.evidence.is_of_runs
    }
    return [
        usage
        for usage in task.usages
        if usage.evidence is Evidence.DECLARED
        and usage.moves_data
        and (usage.dataset, usage.direction) not in shown
    ]


def _task_accesses(lineage: Lineage, task: Task, usages: list[Usage]) -> Iterator[Access]:
    own = {run.run_id for run in task.runs}
    orchestrators = lineage.history.orchestrator_runs
    for run in task.runs:
        end = run.ended_at or run.started_at
        # What it started is a part of it.
        if run.status is not Status.OK or end is None or run.parent_run_id in own:
            continue
        interval = data_interval(run, orchestrators)
        for usage in usages:
            is_write = usage.direction is Direction.WRITE
            yield Access(
                task=task.name,
                run_id=run.run_id,
                dataset=usage.dataset,
                kind=lineage.datasets[usage.dataset].kind,
                direction=usage.direction,
                operation=Operation.INSERT if is_write else Operation.SELECT,
                shape_id=SHAPE,
                first_at=run.started_at or end,
                last_at=end,
                evidence=Evidence.DECLARED,
                periods=(interval,) if interval and is_write else (),
            )
