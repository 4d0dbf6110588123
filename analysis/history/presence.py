"""Presence: until when an edge or a task is there, though no log shows that it ends.

Nothing drops an edge. It is gone where its task ran several times since without making it, where
the dataset at an end of it was dropped, or where all tasks that make it are gone. A task is gone
where it has not run for several times its usual interval, and for longer than it ever paused.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import median

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import Direction, Status
from dbt_graft.lineage.usage import Usage

# With fewer runs nobody can know a task's usual interval; of many the newest count.
_FEWEST, _NEWEST = 3, 30
_SHORTEST = timedelta(days=1)
# Farther ahead no clock is that somebody set.
CLOCKS_DIFFER = timedelta(days=1)

FlowKey = tuple[str, DatasetId, DatasetId]
UsageKey = tuple[str, DatasetId, Direction]


@frozen
class GoneRule:
    """The rule for what is gone that nothing dropped.

    Attributes:
        runs: A task ran so many times since it last made an edge.
        intervals: It has not run for so many times its usual interval.
    """

    runs: int = 3
    intervals: float = 3.0


@frozen
class End:
    """The end of an edge or a task: from when on it is gone, and why, in words."""

    at: datetime
    reason: str


@frozen
class Ends:
    """Ends of tasks by name, of flows by task, source and target, of usages likewise."""

    tasks: Mapping[str, End] = field(default_factory=dict)
    flows: Mapping[FlowKey, End] = field(default_factory=dict)
    usages: Mapping[UsageKey, End] = field(default_factory=dict)


def ends(lineage: Lineage, rule: GoneRule | None = None) -> Ends:
    """The ends that can be seen in a lineage, up to the newest time in it."""
    rule = rule or GoneRule()
    newest = newest_time(lineage)
    tasks = {
        name: end
        for name, task in lineage.tasks.items()
        if newest and (end := _task_end(task, newest, rule))
    }
    runs = {name: _RunTimes(task) for name, task in lineage.tasks.items()}
    return Ends(
        tasks,
        {
            key: end
            for key, group in _group_flows(lineage.flows).items()
            if (end := _flow_end(lineage, group, tasks, runs, rule))
        },
        {
            key: end
            for key, group in _group_usages(lineage).items()
            if (end := _usage_end(lineage, group, tasks, runs, rule))
        },
    )


def newest_time(lineage: Lineage) -> datetime | None:
    """The newest time that a run or a use has: up to then the logs are known."""
    return newest_of(
        time
        for task in lineage.tasks.values()
        for time in (
            *(at for run in task.runs for at in (run.started_at, run.ended_at)),
            *(usage.last_at for usage in task.usages),
        )
    )


def newest_of(times: Iterable[datetime | None]) -> datetime | None:
    """The newest of times in logs, which is that up to which they are known.

    A time that is still to come is of a clock that is wrong: by one such event all else would be
    late and gone. It counts where there is no other.
    """
    seen_at = [time for time in times if time]
    latest = datetime.now(UTC) + CLOCKS_DIFFER
    return max((time for time in seen_at if time <= latest), default=max(seen_at, default=None))


def droppers(lineage: Lineage, dataset: DatasetId) -> tuple[Usage, ...]:
    """The usages that dropped a dataset, or tried to, by task."""
    return tuple(
        usage
        for usage in lineage.usages_of(dataset, Direction.WRITE)
        if any(operation.removes for operation in usage.operations) and not usage.failed
    )


class _RunTimes:
    """The ends of a task's runs that did not fail, on each engine, in order."""

    def __init__(self, task: Task) -> None:
        self._by_engine: dict[str, list[tuple[datetime, datetime]]] = defaultdict(list)
        for run in task.runs:
            if run.started_at and run.ended_at and run.status is not Status.FAILED:
                self._by_engine[run.engine].append((run.started_at, run.ended_at))
        for times in self._by_engine.values():
            times.sort()

    def since(self, last: datetime, engines: Iterable[str]) -> list[datetime]:
        """The ends of the runs that began after a time, on the engine that had the fewest."""
        candidates = []
        for engine in engines:
            times = self._by_engine.get(engine, [])
            after = times[bisect_right(times, last, key=_start) :]
            candidates.append(sorted(end for _, end in after))
        return min(candidates, key=len, default=[])


def _start(times: tuple[datetime, datetime]) -> datetime:
    return times[0]


def _task_end(task: Task, newest: datetime, rule: GoneRule) -> End | None:
    starts = sorted({run.started_at for run in task.runs[:_NEWEST] if run.started_at})
    if len(starts) < _FEWEST:
        return None
    gaps = [after - before for before, after in pairwise(starts)]
    usual = timedelta(seconds=median(gap.total_seconds() for gap in gaps))
    last = starts[-1]
    at = last + max(usual * rule.intervals, *gaps, _SHORTEST)
    if at >= newest:
        return None
    return End(at, f"{task.name} last ran {_day(last)}, usually every {_length(usual)}")


def _flow_end(
    lineage: Lineage,
    group: list[Flow],
    tasks: Mapping[str, End],
    runs: Mapping[str, _RunTimes],
    rule: GoneRule,
) -> End | None:
    flow = group[0]
    last = max((flow.last_at for flow in group if flow.last_at), default=None)
    ended = [*_drop_ends(lineage, last, flow.source, flow.target)]
    if flow.definition is None and last:
        writes = (
            lineage.tasks[flow.task].usages_of(flow.target, Direction.WRITE)
            if (flow.task in lineage.tasks)
            else ()
        )
        engines = {usage.engine for usage in writes}
        ended += _task_ends(flow.task, last, engines, tasks, runs, rule)
    return min(ended, key=lambda end: end.at, default=None)


def _usage_end(
    lineage: Lineage,
    group: list[Usage],
    tasks: Mapping[str, End],
    runs: Mapping[str, _RunTimes],
    rule: GoneRule,
) -> End | None:
    usage = group[0]
    last = max((usage.last_at for usage in group if usage.last_at), default=None)
    ended = [*_drop_ends(lineage, last, usage.dataset)]
    if last:
        engines = {usage.engine for usage in group}
        ended += _task_ends(usage.task, last, engines, tasks, runs, rule)
    return min(ended, key=lambda end: end.at, default=None)


def _task_ends(
    name: str,
    last: datetime,
    engines: Iterable[str],
    tasks: Mapping[str, End],
    runs: Mapping[str, _RunTimes],
    rule: GoneRule,
) -> Iterator[End]:
    if name in tasks:
        yield tasks[name]
    since = runs[name].since(last, engines) if name in runs else []
    if len(since) >= rule.runs:
        times = f"{len(since):,} times" if len(since) > 1 else "once"
        yield End(since[rule.runs - 1], f"{name} ran {times} without it since {_day(last)}")


def _drop_ends(lineage: Lineage, last: datetime | None, *datasets: DatasetId) -> Iterator[End]:
    for dataset in datasets:
        facts = lineage.datasets.get(dataset)
        if facts and facts.dropped_at and (last is None or last <= facts.dropped_at):
            yield End(facts.dropped_at, f"{dataset} was dropped {_day(facts.dropped_at)}")


def _group_flows(flows: Iterable[Flow]) -> dict[FlowKey, list[Flow]]:
    groups: dict[FlowKey, list[Flow]] = defaultdict(list)
    for flow in flows:
        groups[flow.task, flow.source, flow.target].append(flow)
    return groups


def _group_usages(lineage: Lineage) -> dict[UsageKey, list[Usage]]:
    """The usages that moved data, by task, dataset and direction."""
    groups: dict[UsageKey, list[Usage]] = defaultdict(list)
    for task in lineage.tasks.values():
        for usage in task.usages:
            if usage.moves_data and not usage.failed:
                groups[usage.task, usage.dataset, usage.direction].append(usage)
    return groups


def _day(at: datetime) -> str:
    return f"{at.day} {at:%b %Y}"


def _length(interval: timedelta) -> str:
    """An interval in words: `hour`, `7 days`."""
    hours = round(interval.total_seconds() / 3600)
    if hours < 1:
        minutes = max(round(interval.total_seconds() / 60), 1)
        return f"{minutes} minutes" if minutes > 1 else "minute"
    if hours < 36:
        return f"{hours} hours" if hours not in (1, 24) else ("day" if hours == 24 else "hour")
    return f"{round(hours / 24)} days"
