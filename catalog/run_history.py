"""Past runs of a task or of a dbt node with their rows, and which numbers of rows are odd."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from statistics import median

from dbt_graft.catalog.formatting import STATUS
from dbt_graft.lineage.model import Task
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


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run of a task or of a dbt node.

    Attributes:
        word: Its status for people, or dbt's own word.
        look: `ok`, `warn`, `failed` or `unknown`.
        task: Empty for a run of dbt.
        command: The command of dbt, or empty.
        rows: The rows that it wrote; None where its log does not count them.
        usual_rows: The usual number of rows, where its own is odd.
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


@dataclass(frozen=True, slots=True)
class RunHistory:
    """The newest runs, newest first; `omitted` older ones are not shown."""

    runs: Sequence[PastRun] = ()
    omitted: int = 0

    def __bool__(self) -> bool:
        return bool(self.runs)

    @property
    def columns(self) -> frozenset[str]:
        """The columns in which the runs differ: `task`, `command`; and `rows`, if any has them."""
        found = {
            "task": len({run.task for run in self.runs}) > 1,
            "command": len({run.command for run in self.runs}) > 1,
            "rows": any(run.rows is not None for run in self.runs),
        }
        return frozenset(name for name, is_shown in found.items() if is_shown)


def usages_history(tasks: Mapping[str, Task], usages: Iterable[Usage]) -> RunHistory:
    """The runs behind usages, of all tasks, with the rows of the usages together."""
    by_task: dict[str, list[Usage]] = defaultdict(list)
    for usage in usages:
        by_task[usage.task].append(usage)
    found = chain.from_iterable(
        _task_runs(tasks[name].runs_of(*own), own) for name, own in by_task.items()
    )
    return _history(found)


def task_history(task: Task, writes: Iterable[Usage]) -> RunHistory:
    """All runs of a task, with the rows of its writes together."""
    return _history(replace(run, task="") for run in _task_runs(task.runs, writes))


def results_history(results: Iterable[NodeResult]) -> RunHistory:
    """The runs of a dbt node."""
    return _history(
        PastRun(
            started_at=one.started_at,
            ended_at=one.ended_at,
            status=one.status,
            word=one.word or STATUS[one.status],
            look="warn" if one.word == "warn" else one.status,
            command=one.command,
            rows=one.rows,
            error=one.error or "",
        )
        for one in results
    )


def _task_runs(runs: Iterable[Run], usages: Iterable[Usage]) -> list[PastRun]:
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
        )
        for run in runs
    ]


def _history(runs: Iterable[PastRun]) -> RunHistory:
    newest = sorted(runs, key=_start, reverse=True)
    shown = newest[:SHOWN]
    by_task: dict[str, list[int]] = defaultdict(list)
    for at, run in enumerate(shown):
        if run.rows is not None and run.status is not Status.FAILED:
            by_task[run.task].append(at)
    # What one task writes says nothing about the rows of another.
    for places in by_task.values():
        counts = [shown[at].rows or 0 for at in places]
        usual = usual_count(counts)
        for at, odd in zip(places, odd_counts(counts), strict=True):
            if odd:
                shown[at] = replace(shown[at], usual_rows=usual)
    return RunHistory(shown, len(newest) - len(shown))


def usual_count(counts: Sequence[int]) -> int:
    """The median, to the nearest whole number."""
    return round(median(counts))


def odd_counts(counts: Sequence[int]) -> list[bool]:
    """The numbers of rows that differ strongly from the others; none where too few are known."""
    none = [False] * len(counts)
    if len(counts) < ENOUGH:
        return none
    middle = median(counts)
    deviations = [abs(one - middle) for one in counts]
    limit = max(_DEVIATIONS * median(deviations), _PART * middle)
    found = [deviation > limit for deviation in deviations]
    return none if sum(found) > _MOST_ODD * len(found) else found


def _start(run: PastRun) -> float:
    return run.started_at.timestamp() if run.started_at else 0.0
