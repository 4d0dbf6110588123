"""One run by its id, or the last run of a task."""

from __future__ import annotations

import click

from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import Run

_SHOWN = 8


def tasks_beside(lineage: Lineage, name: str | None) -> set[str]:
    """The task and those that write the same datasets; all where any of them may have the run."""
    task = lineage.tasks.get(name or "")
    if task is None:
        return set(lineage.tasks)
    outputs = set(task.writes)
    return {
        task.name,
        *(writer.name for writer in lineage.tasks.values() if outputs & set(writer.writes)),
    }


def find_run(lineage: Lineage, run_id: str, name: str | None = None) -> tuple[Task, Run]:
    """The run of an id, or the `last` of a task.

    Args:
        name: The task of the run; needed where several have such a run.

    Raises:
        GraftError: There is no such run, or several are meant.
    """
    if name is not None and name not in lineage.tasks:
        alike = [task for task in lineage.tasks if task.casefold() == name.casefold()]
        remedy = '`graft query "select task from tasks"` lists them'
        if alike:
            remedy = f"write {' or '.join(alike)}"
        raise GraftError("there is no such task", place=name, remedy=remedy)
    tasks = [lineage.tasks[name]] if name is not None else list(lineage.tasks.values())
    if run_id == "last":
        if name is None:
            raise click.UsageError("name the task whose last run you mean with --task")
        matches = [(tasks[0], tasks[0].runs[0])] if tasks[0].runs else []
    else:
        matches = [(task, run) for task in tasks for run in task.runs if run.run_id == run_id]
    if not matches:
        raise GraftError(
            "there is no such run in the store",
            place=run_id,
            remedy='`graft query "from runs"` lists runs',
        )
    if len({task.name for task, _ in matches}) > 1:
        names = ", ".join(task.name for task, _ in matches[:_SHOWN])
        raise GraftError(
            f"{len(matches)} tasks have this run", place=run_id, remedy=f"add --task: {names}"
        )
    return matches[0]
