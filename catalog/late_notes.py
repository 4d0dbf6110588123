"""Late datasets: what the last runs of tasks should have written and did not, for their pages."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import datetime

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.late_outputs import late_outputs
from dbt_graft.analysis.history.bad_streak import first_bad_run
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import ALL_DATES
from dbt_graft.lineage.dates.date_text import dates_text
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.model import Task
from dbt_graft.lineage.records import Run, Status

_RANGES = 6


@frozen
class LateNote:
    """A dataset that the newest runs of a task did not write.

    Attributes:
        since: When the first of them began; `runs` is their number.
        is_doubtful: It was written since, and nothing tells whether for these dates.
        dates: In words; empty where it is not known for which it is late.
        written_at: The last write before.
        readers: The tasks that read it since, which have old data.
        commands: What to type: how the task runs again, if that is known, and what tells the rest.
    """

    dataset: DatasetId
    task: str
    since: datetime
    runs: int
    is_doubtful: bool
    dates: str
    written_at: datetime | None
    readers: tuple[str, ...]
    commands: tuple[str, ...]


def late_notes(history: AccessHistory) -> list[LateNote]:
    """The late datasets of tasks whose newest run failed."""
    notes: list[LateNote] = []
    for task in history.lineage.tasks.values():
        dated = [(run.started_at, run.run_id, run) for run in task.runs if run.started_at]
        newest = max(dated, key=lambda row: row[:2], default=None)
        if newest and newest[2].status is Status.FAILED:
            notes += _task_notes(history, task, newest[2])
    return notes


def _task_notes(history: AccessHistory, task: Task, run: Run) -> Iterator[LateNote]:
    streak = first_bad_run(history.lineage, task, run, ())
    for output in late_outputs(history, task, run, streak.run.started_at if streak else None):
        yield LateNote(
            output.dataset,
            task.name,
            output.since,
            streak.runs if streak else 1,
            output.is_doubtful,
            "" if output.dates == ALL_DATES else dates_text(output.dates, most=_RANGES),
            output.last_write.last_at if output.last_write else None,
            output.readers,
            _commands(task),
        )


def _commands(task: Task) -> tuple[str, ...]:
    rerun = task.info.rerun or ""
    # One for dates is filled in by the report; an address is the button of the task's page.
    is_command = rerun and "{" not in rerun and "://" not in rerun
    report = f"graft incident show last --task {shlex.quote(task.name)}"
    return (*((rerun,) if is_command else ()), report)
