"""Figures by day: runs of tasks, and what they read and wrote, for years of history.

A day is one in UTC, that of a run's start.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.records import Direction, Records, Run, Status
from dbt_graft.lineage.run_group import RunGroup, run_groups

_MICROSECOND = timedelta(microseconds=1)
_USAGE_COUNTS = ("runs", "statements", "counted", "rows", "bytes")
_TaskKey: TypeAlias = tuple[str, str, datetime]
_UsageKey: TypeAlias = tuple[str, str, str, Direction, str, datetime]


@dataclass(frozen=True, slots=True)
class TaskDay:
    """The runs of a task on an engine in one day.

    Attributes:
        seconds: How long those took whose end is known, together; `timed` is their number.
    """

    task: str
    engine: str
    day: datetime
    runs: int
    failed: int = 0
    timed: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class UsageDay:
    """The use of a dataset by a task in one day.

    Attributes:
        runs: Those that did it, without failed attempts.
        counted: Those whose log counts rows.
    """

    task: str
    dataset: DatasetId
    direction: Direction
    engine: str
    day: datetime
    runs: int
    statements: int = 0
    counted: int = 0
    rows: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class DayFigures:
    """Figures by day."""

    tasks: tuple[TaskDay, ...] = ()
    usages: tuple[UsageDay, ...] = ()


@dataclass(slots=True)
class DayTotals:
    """Sums over runs."""

    _tasks: dict[_TaskKey, Counter[str]] = field(default_factory=dict)
    _usages: dict[_UsageKey, Counter[str]] = field(default_factory=dict)

    def add(self, group: RunGroup) -> None:
        """Count a group of runs."""
        days: dict[str, tuple[str, datetime]] = {}
        for (run_id, engine), run in group.merged_runs().items():
            if run.started_at:
                day = day_of(run.started_at)
                days[run_id] = (engine, day)
                self._tasks.setdefault((group.task, engine, day), Counter()).update(_counts(run))
        seen = set()
        for _, access in group.accesses:
            if access.kind is Kind.TEMPORARY or access.status is Status.FAILED:
                continue
            if access.run_id not in days:
                continue
            names = (access.dataset.namespace, access.dataset.name)
            key = (group.task, *names, access.direction, *days[access.run_id])
            totals = self._usages.setdefault(key, Counter())
            totals["statements"] += access.statements
            totals["rows"] += access.rows or 0
            totals["bytes"] += access.bytes or 0
            for figure, once in (("runs", True), ("counted", access.rows is not None)):
                if once and (mark := (*key, access.run_id, figure)) not in seen:
                    seen.add(mark)
                    totals[figure] += 1

    def merge(self, figures: DayFigures) -> None:
        """Add other figures."""
        for task in figures.tasks:
            counts = Counter(
                {
                    "runs": task.runs,
                    "failed": task.failed,
                    "timed": task.timed,
                    "microseconds": round(task.seconds * 1_000_000),
                }
            )
            self._tasks.setdefault((task.task, task.engine, task.day), Counter()).update(counts)
        for one in figures.usages:
            names = (one.dataset.namespace, one.dataset.name)
            key = (one.task, *names, one.direction, one.engine, one.day)
            self._usages.setdefault(key, Counter()).update(
                runs=one.runs,
                statements=one.statements,
                counted=one.counted,
                rows=one.rows,
                bytes=one.bytes,
            )

    def figures(self) -> DayFigures:
        """The sums, sorted."""
        return DayFigures(
            tuple(
                TaskDay(
                    *key,
                    runs=found["runs"],
                    failed=found["failed"],
                    timed=found["timed"],
                    seconds=found["microseconds"] / 1_000_000,
                )
                for key, found in sorted(self._tasks.items())
            ),
            tuple(
                UsageDay(
                    task=key[0],
                    dataset=DatasetId(key[1], key[2]),
                    direction=key[3],
                    engine=key[4],
                    day=key[5],
                    **{
                        one: found[one]
                        for one in ("runs", "statements", "counted", "rows", "bytes")
                    },
                )
                for key, found in sorted(self._usages.items())
            ),
        )


def day_of(at: datetime) -> datetime:
    """The beginning of the day of a time, in UTC."""
    return at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def unsettled_days(records: Records) -> DayFigures:
    """The figures of the runs among the records that were not folded."""
    settled = {(one.task, one.run_id) for one in records.run_repeats}
    totals = DayTotals()
    for group in run_groups(records.runs, records.accesses):
        if not any((group.task, run_id) in settled for run_id in group.run_ids):
            totals.add(group)
    return totals.figures()


def _counts(run: Run) -> Counter[str]:
    found = Counter(runs=1, failed=int(run.status is Status.FAILED))
    if run.started_at and run.ended_at:
        took = run.ended_at - run.started_at
        found["timed"] = 1
        found["microseconds"] = max(0, took // _MICROSECOND)
    return found
