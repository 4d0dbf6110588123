"""Figures by day: runs of tasks, and what they read and wrote, for years of history.

A day is one in UTC, that of a run's start.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from dbt_graft.lineage.building.run_group import RunGroup, run_groups
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Direction, Records, Run, Status

_MICROSECOND = timedelta(microseconds=1)
_TaskKey: TypeAlias = tuple[str, str, datetime]
_UsageKey: TypeAlias = tuple[str, str, str, Direction, str, datetime]


@frozen
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


@frozen
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


@frozen
class DayFigures:
    """Figures by day."""

    tasks: tuple[TaskDay, ...] = ()
    usages: tuple[UsageDay, ...] = ()


@dataclass(slots=True)
class _TaskTotal:
    """The sums of a `TaskDay`; times in microseconds, since sums of fractions depend on order."""

    runs: int = 0
    failed: int = 0
    timed: int = 0
    microseconds: int = 0


@dataclass(slots=True)
class _UsageTotal:
    """The sums of a `UsageDay`."""

    runs: int = 0
    statements: int = 0
    counted: int = 0
    rows: int = 0
    bytes: int = 0


class DayTotals:
    """Sums over runs."""

    def __init__(self) -> None:
        self._tasks: dict[_TaskKey, _TaskTotal] = defaultdict(_TaskTotal)
        self._usages: dict[_UsageKey, _UsageTotal] = defaultdict(_UsageTotal)

    def add(self, group: RunGroup) -> None:
        """Count a group of runs."""
        days: dict[str, tuple[str, datetime]] = {}
        for (run_id, engine), run in group.merged_runs().items():
            if run.started_at:
                day = day_of(run.started_at)
                days[run_id] = (engine, day)
                self._count(self._tasks[group.task, engine, day], run)
        seen: set[tuple[object, ...]] = set()
        for _, access in group.accesses:
            if access.kind is Kind.TEMPORARY or access.status is Status.FAILED:
                continue
            if access.run_id not in days:
                continue
            dataset = access.dataset
            direction = access.direction
            key = (group.task, dataset.namespace, dataset.name, direction, *days[access.run_id])
            total = self._usages[key]
            total.statements += access.statements
            total.rows += access.rows or 0
            total.bytes += access.bytes or 0
            if (mark := (key, access.run_id)) not in seen:
                seen.add(mark)
                total.runs += 1
            if access.rows is not None and (counted := (*mark, "counted")) not in seen:
                seen.add(counted)
                total.counted += 1

    def merge(self, figures: DayFigures) -> None:
        """Add other figures."""
        for task in figures.tasks:
            of_task = self._tasks[task.task, task.engine, task.day]
            of_task.runs += task.runs
            of_task.failed += task.failed
            of_task.timed += task.timed
            of_task.microseconds += round(task.seconds * 1_000_000)
        for usage in figures.usages:
            names = (usage.dataset.namespace, usage.dataset.name)
            total = self._usages[usage.task, *names, usage.direction, usage.engine, usage.day]
            total.runs += usage.runs
            total.statements += usage.statements
            total.counted += usage.counted
            total.rows += usage.rows
            total.bytes += usage.bytes

    def figures(self) -> DayFigures:
        """The sums, sorted."""
        return DayFigures(
            tuple(
                TaskDay(
                    *key,
                    runs=total.runs,
                    failed=total.failed,
                    timed=total.timed,
                    seconds=total.microseconds / 1_000_000,
                )
                for key, total in sorted(self._tasks.items(), key=_key)
            ),
            tuple(
                UsageDay(
                    task=key[0],
                    dataset=DatasetId(key[1], key[2]),
                    direction=key[3],
                    engine=key[4],
                    day=key[5],
                    runs=total.runs,
                    statements=total.statements,
                    counted=total.counted,
                    rows=total.rows,
                    bytes=total.bytes,
                )
                for key, total in sorted(self._usages.items(), key=_key)
            ),
        )

    @staticmethod
    def _count(total: _TaskTotal, run: Run) -> None:
        total.runs += 1
        total.failed += run.status is Status.FAILED
        if run.started_at and run.ended_at:
            took = run.ended_at - run.started_at
            total.timed += 1
            total.microseconds += max(0, took // _MICROSECOND)


def _key(item: tuple[tuple[Any, ...], object]) -> tuple[Any, ...]:
    return item[0]


def day_of(at: datetime) -> datetime:
    """The beginning of the day of a time, in UTC."""
    return at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def unsettled_days(records: Records) -> DayFigures:
    """The figures of the runs among the records that were not folded."""
    settled = {(repeats.task, repeats.run_id) for repeats in records.run_repeats}
    totals = DayTotals()
    for group in run_groups(records.runs, records.accesses):
        if not any((group.task, run_id) in settled for run_id in group.run_ids):
            totals.add(group)
    return totals.figures()
