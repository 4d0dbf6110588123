"""Past runs of a task or of a dbt node with their rows, and which numbers of rows are odd."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from statistics import median

from dbt_graft.catalog.formatting import STATUS
from dbt_graft.lineage.building.daily import DayRows, DayRuns
from dbt_graft.lineage.building.orchestration import OrchestratorTask, orchestrator_task
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import dates_of
from dbt_graft.lineage.dates.date_text import dates_text
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.history import Supersession
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import NodeResult, Run, Status
from dbt_graft.lineage.usage import Usage

# Runs that a page shows.
SHOWN = 30
# With fewer row counts nobody can know what is usual.
ENOUGH = 8
# Odd is what is further from the median than three deviations (1.4826 times the median deviation,
# which is one standard deviation where rows vary at random), and than a tenth of the median.
_DEVIATIONS, _PART = 3 * 1.4826, 0.1
# Where more than this part of the runs would be odd, the counts simply vary.
_MOST_ODD = 0.2


@frozen
class PastRun:
    """A run of a task or of a dbt node.

    Attributes:
        word: Its status for people, or dbt's own word.
        look: `ok`, `warn`, `failed` or `unknown`.
        task: Empty for a run of dbt.
        command: The command of dbt, or empty.
        rows: The rows that it wrote; None where its log does not count them.
        usual_rows: The usual number of rows, where its own is odd.
        wrote, read: The dates of data that it wrote and read, in words; empty where no log tells.
        by: The task of an orchestrator that did it, or started it.
        superseded: The later runs that did it again, or wrote the same dates again; their task is
            empty where it is the same.
    """

    started_at: datetime | None
    ended_at: datetime | None
    status: Status
    word: str
    look: str
    task: str = ""
    command: str = ""
    rows: int | None = None
    usual_rows: int | None = None
    error: str = ""
    run_id: str = ""
    wrote: str = ""
    read: str = ""
    by: OrchestratorTask | None = None
    superseded: tuple[Supersession, ...] = ()


@frozen
class RunHistory:
    """The newest runs, newest first; `omitted` older ones are not shown.

    Attributes:
        days: By day, what a task ran or what was written into a dataset; oldest first.
    """

    runs: Sequence[PastRun] = ()
    omitted: int = 0
    days: Sequence[DayRuns] | Sequence[DayRows] = ()

    def __bool__(self) -> bool:
        return bool(self.runs)

    @property
    def columns(self) -> frozenset[str]:
        """The columns in which runs differ, `task`, `command`; of the others those that any has."""
        shown_columns = {
            "task": len({run.task for run in self.runs}) > 1,
            "command": len({run.command for run in self.runs}) > 1,
            "rows": any(run.rows is not None for run in self.runs),
            "by": any(run.by for run in self.runs),
            "wrote": any(run.wrote for run in self.runs),
            "read": any(run.read for run in self.runs),
        }
        return frozenset(name for name, is_shown in shown_columns.items() if is_shown)


def usages_history(
    lineage: Lineage, usages: Iterable[Usage], days: Sequence[DayRows] = ()
) -> RunHistory:
    """The runs behind usages, of all tasks, with the rows of the usages together.

    Args:
        days: The rows of each day.
    """
    by_task = group_by_key((usage.task, usage) for usage in usages)
    datasets = {usage.dataset for task_usages in by_task.values() for usage in task_usages}
    tasks = lineage.tasks
    runs = {name: tasks[name].runs_of(*task_usages) for name, task_usages in by_task.items()}
    past_runs = chain.from_iterable(
        _task_runs(lineage, runs[name], task_usages) for name, task_usages in by_task.items()
    )
    total = sum(tasks[name].count(of_task) for name, of_task in runs.items())
    return _history(
        (replace(run, superseded=_supersessions_of(datasets, run.superseded)) for run in past_runs),
        total,
        days,
    )


def _supersessions_of(
    datasets: Collection[DatasetId], supersessions: tuple[Supersession, ...]
) -> tuple[Supersession, ...]:
    """Those of all of a run, or of its write into one of some datasets, which go without saying."""
    return tuple(
        replace(supersession, dataset=None)
        for supersession in supersessions
        if supersession.dataset is None or supersession.dataset in datasets
    )


def task_history(
    lineage: Lineage, task: Task, writes: Iterable[Usage], days: Sequence[DayRuns] = ()
) -> RunHistory:
    """All runs of a task, with the rows of its writes together.

    Args:
        days: Its runs of each day.
    """
    past_runs = _task_runs(lineage, task.runs, writes)
    return _history((replace(run, task="") for run in past_runs), task.run_count, days)


def results_history(results: Iterable[NodeResult]) -> RunHistory:
    """The runs of a dbt node."""
    return _history(
        PastRun(
            started_at=result.started_at,
            ended_at=result.ended_at,
            status=result.status,
            word=result.word or STATUS[result.status],
            look="warn" if result.word == "warn" else result.status,
            command=result.command,
            rows=result.rows,
            error=result.error or "",
            wrote=dates_text(dates_of(result.periods)) if result.periods else "",
        )
        for result in results
    )


def _task_runs(lineage: Lineage, runs: Iterable[Run], usages: Iterable[Usage]) -> list[PastRun]:
    rows: dict[tuple[str, str], int] = {}
    for usage in usages:
        for run_id, counted in zip(usage.run_ids, usage.run_rows, strict=False):
            if counted is not None:
                key = usage.engine, run_id
                rows[key] = rows.get(key, 0) + counted
    return [
        PastRun(
            started_at=run.started_at,
            ended_at=run.ended_at,
            status=run.status,
            word=STATUS[run.status],
            look=run.status,
            task=run.task,
            rows=rows.get((run.engine, run.run_id)),
            error=run.error or "",
            run_id=run.run_id,
            by=orchestrator_task(run, lineage.history.orchestrator_runs),
            superseded=tuple(
                replace(supersession, task="") if supersession.task == run.task else supersession
                for supersession in lineage.history.superseded.get((run.task, run.run_id), ())
            ),
        )
        for run in runs
    ]


def _history(
    runs: Iterable[PastRun],
    total: int | None = None,
    days: Sequence[DayRuns] | Sequence[DayRows] = (),
) -> RunHistory:
    """The newest runs.

    Args:
        total: How many there are, with those that are not listed.
    """
    newest = sorted(runs, key=_start, reverse=True)
    shown = newest[:SHOWN]
    by_task = group_by_key(
        (run.task, at)
        for at, run in enumerate(shown)
        if run.rows is not None and run.status is not Status.FAILED
    )
    # What one task writes says nothing about the rows of another.
    for places in by_task.values():
        counts = [shown[at].rows or 0 for at in places]
        usual = usual_count(counts)
        for at, odd in zip(places, odd_counts(counts), strict=True):
            if odd:
                shown[at] = replace(shown[at], usual_rows=usual)
    return RunHistory(shown, (len(newest) if total is None else total) - len(shown), days)


def usual_count(counts: Sequence[int]) -> int:
    """The median, to the nearest whole number."""
    return round(median(counts))


def odd_counts(counts: Sequence[int]) -> list[bool]:
    """The numbers of rows that differ strongly from the others; none where too few are known."""
    none = [False] * len(counts)
    if len(counts) < ENOUGH:
        return none
    middle = median(counts)
    deviations = [abs(count - middle) for count in counts]
    limit = max(_DEVIATIONS * median(deviations), _PART * middle)
    odd = [deviation > limit for deviation in deviations]
    return none if sum(odd) > _MOST_ODD * len(odd) else odd


def _start(run: PastRun) -> float:
    return run.started_at.timestamp() if run.started_at else 0.0
