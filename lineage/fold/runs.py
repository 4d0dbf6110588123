"""Folding: of runs that did the same, the first and the last are enough.

Runs of one pattern make the same lineage (`lineage.run_group`). So of each pattern those stay in
which one of its accesses came first or last, and the newest runs of each task and usage, which
pages show. Of the others only counts stay: how many runs, how many statements, and figures by day.

Folding is exact: `build` makes the same of what stays and of all, but for lists of older runs. What
is folded can be folded again, with what came since.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from heapq import heappush, heappushpop
from operator import gt, lt
from typing import Any, TypeAlias

from dbt_graft.lineage.building.run_group import (
    BEGINNING,
    GroupPattern,
    Pattern,
    PlacedAccess,
    PlacedRun,
    RunGroup,
    group_pattern,
    run_groups,
)
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.fold.closing import is_before
from dbt_graft.lineage.fold.days import DayFigures, DayTotals
from dbt_graft.lineage.fold.scope import FoldScope, fold_scope
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import (
    Access,
    Direction,
    Records,
    Run,
    RunRepeats,
    Status,
    UsageRepeats,
)
from dbt_graft.lineage.usage import engine_without_run

# The newest runs of each task, and of each of its usages, that stay.
NEWEST = 30

# Task, namespace, name, direction, engine.
_UsageKey: TypeAlias = tuple[str, str, str, Direction, str]
_Extreme: TypeAlias = tuple[Any, RunGroup]


@frozen
class FoldedTask:
    """The runs of a task that stay, and the counts of the others.

    Attributes:
        groups: Those that stay.
        days: The figures of the runs that were folded now.
    """

    groups: Sequence[RunGroup]
    run_repeats: Sequence[RunRepeats] = ()
    usage_repeats: Sequence[UsageRepeats] = ()
    days: DayFigures = field(default_factory=DayFigures)


class TaskFold:
    """The runs of one task, folded one by one: only those that stay are in memory.

    Args:
        on_settled: Called with each group that is folded now.
        newest: How many runs of the task, and of each of its usages, stay.
        before: Runs that ended before it do not stay for being among the newest.
        dated: Of runs about other dates of data each stays.
    """

    def __init__(
        self,
        scope: FoldScope,
        repeats: Iterable[RunRepeats] = (),
        usage_repeats: Iterable[UsageRepeats] = (),
        on_settled: Callable[[RunGroup], object] = lambda group: None,
        newest: int = NEWEST,
        before: datetime | None = None,
        *,
        dated: bool = True,
    ) -> None:
        self._scope = scope
        self._size = newest
        self._before = before
        self._dated = dated
        self._repeats = {repeat.run_id: repeat.runs for repeat in repeats}
        self._statements: Counter[_UsageKey] = Counter()
        for usage_repeat in usage_repeats:
            self._statements[_usage_repeats_key(usage_repeat)] += usage_repeat.statements
        self._on_settled = on_settled
        self._unfolded: list[RunGroup] = []
        self._newest: dict[tuple[object, ...], list[tuple[datetime, str, int]]] = defaultdict(list)
        self._waiting: dict[int, tuple[RunGroup, int]] = {}
        self._met = 0
        self._patterns: dict[Pattern, _PatternRuns] = {}
        self._days = DayTotals()

    def add(self, group: RunGroup) -> None:
        """Take the next group, in any order."""
        run_ids = group.run_ids
        if any(run_id in self._repeats for run_id in run_ids):
            self._settle(group, max(self._repeats.get(run_id, 0) for run_id in run_ids))
        elif not self._scope.allows(group):
            self._unfolded.append(group)
        elif self._before and is_before(group, self._before):
            self._settle_now(group)
        else:
            self._wait(group)

    def finish(self) -> FoldedTask:
        """The runs that stay, and the counts of the others."""
        groups = [*self._unfolded, *(group for group, _ in self._waiting.values())]
        repeats = []
        for pattern in self._patterns.values():
            stays = pattern.staying_groups()
            left_out = pattern.groups - len(stays)
            for group in stays:
                self._count_statements(group, -1)
                repeats += [RunRepeats(group.task, run_id, left_out) for run_id in group.run_ids]
                left_out = 0
            groups += stays
        return FoldedTask(
            groups,
            repeats,
            [_usage_repeats(key, count) for key, count in self._statements.items() if count],
            self._days.figures(),
        )

    def _wait(self, group: RunGroup) -> None:
        """Take a group among the newest, until newer ones come."""
        number = self._met
        self._met += 1
        out = []
        lists = 0
        for key, at, run_id in _lists(group):
            newest = self._newest[key]
            lists += 1
            if len(newest) < self._size:
                heappush(newest, (at, run_id, number))
            else:
                out.append(heappushpop(newest, (at, run_id, number))[2])
        self._waiting[number] = (group, lists)
        if not lists:
            out.append(number)
        for leaving in out:
            waiting, left = self._waiting[leaving]
            self._waiting[leaving] = (waiting, left - 1)
            if left <= 1:
                del self._waiting[leaving]
                self._settle_now(waiting)

    def _settle_now(self, group: RunGroup) -> None:
        self._days.add(group)
        self._on_settled(group)
        self._settle(group, 0)

    def _settle(self, group: RunGroup, repeats: int) -> None:
        traits = group_pattern(group, dated=self._dated)
        pattern = self._patterns.setdefault(traits.pattern, _PatternRuns())
        pattern.add(group, traits, repeats)
        self._count_statements(group, 1)

    def _count_statements(self, group: RunGroup, sign: int) -> None:
        engines = group.engines()
        for _, access in group.accesses:
            if access.kind is not Kind.TEMPORARY:
                engine = engines.get(access.run_id) or engine_without_run(access)
                key = (group.task, *_names(access), access.direction, engine)
                self._statements[key] += sign * access.statements


@dataclass(slots=True)
class _PatternRuns:
    """The groups of one pattern that stay: the first and the last by each access.

    Attributes:
        groups: How many there are in all.
    """

    groups: int = 0
    _extremes: dict[tuple[str, int], _Extreme] = field(default_factory=dict)

    def add(self, group: RunGroup, traits: GroupPattern, repeats: int) -> None:
        """Take a group, with the number of those that it stands for."""
        self.groups += 1 + repeats
        if not traits.accesses:
            self._take(("run", 0), lt, min(placed.place for placed in group.runs), group)
        for at, (place, access) in enumerate(traits.accesses):
            first = (access.first_at or BEGINNING, access.run_id)
            last = (access.last_at or BEGINNING, access.run_id)
            self._take(("first", at), lt, first, group)
            self._take(("last", at), gt, last, group)
            self._take(("met", at), lt, place, group)
            if traits.by_last:
                self._take(("ends first", at), lt, last, group)

    def staying_groups(self) -> list[RunGroup]:
        """The groups that stay, each once."""
        return list({id(group): group for _, group in self._extremes.values()}.values())

    def _take(
        self,
        key: tuple[str, int],
        is_better: Callable[[Any, Any], bool],
        value: Any,
        group: RunGroup,
    ) -> None:
        extreme = self._extremes.get(key)
        if extreme is None or is_better(value, extreme[0]):
            self._extremes[key] = (value, group)


def without_newest(
    scope: FoldScope,
    folded: FoldedTask,
    on_settled: Callable[[RunGroup], object] = lambda group: None,
) -> FoldedTask:
    """The runs of a task that lineage needs, without those that only pages show.

    Of the newest runs the last stays, and of runs about other dates of data the first and the last.

    Args:
        folded: The task as it was folded.
        on_settled: Called with each group that goes.
    """
    again = TaskFold(
        *(scope, folded.run_repeats, folded.usage_repeats, on_settled), newest=1, dated=False
    )
    for group in folded.groups:
        again.add(group)
    return again.finish()


def fold(
    records: Records,
    on_settled: Callable[[RunGroup], object] = lambda group: None,
    newest: int = NEWEST,
    before: datetime | None = None,
    *,
    dated: bool = True,
) -> tuple[Records, DayFigures]:
    """The records without the runs that need not stay, and the figures by day of those settled now.

    Args:
        records: All of them, or what an earlier fold left and all that came since.
        on_settled: Called with each group that is folded now.
        newest: How many runs of each task and usage stay.
        before: Runs that ended before it do not stay for being among the newest.
        dated: Of runs about other dates of data each stays.
    """
    scope = fold_scope(records.runs, records.accesses)
    by_task: dict[str, list[RunGroup]] = defaultdict(list)
    for group in run_groups(records.runs, records.accesses):
        by_task[group.task].append(group)
    repeats: dict[str, list[RunRepeats]] = defaultdict(list)
    for run_repeat in records.run_repeats:
        repeats[run_repeat.task].append(run_repeat)
    statements: dict[str, list[UsageRepeats]] = defaultdict(list)
    for of_usage in records.usage_repeats:
        statements[of_usage.task].append(of_usage)
    folded_tasks: list[FoldedTask] = []
    for task in sorted({*by_task, *statements}):
        fold_of_task = TaskFold(
            *(scope, repeats[task], statements[task], on_settled, newest, before), dated=dated
        )
        for group in by_task[task]:
            fold_of_task.add(group)
        folded_tasks.append(fold_of_task.finish())
    runs, accesses = _sort_placed(group for folded in folded_tasks for group in folded.groups)
    days = DayTotals()
    for folded in folded_tasks:
        days.merge(folded.days)
    return (
        replace(
            records,
            runs=runs,
            accesses=accesses,
            run_repeats=tuple(repeat for folded in folded_tasks for repeat in folded.run_repeats),
            usage_repeats=tuple(
                repeat for folded in folded_tasks for repeat in folded.usage_repeats
            ),
        ),
        days.figures(),
    )


def _sort_placed(groups: Iterable[RunGroup]) -> tuple[tuple[Run, ...], tuple[Access, ...]]:
    runs: list[PlacedRun] = []
    accesses: list[PlacedAccess] = []
    for group in groups:
        runs += group.runs
        accesses += group.accesses
    runs.sort(key=_place)
    accesses.sort(key=_place)
    return tuple(placed.run for placed in runs), tuple(placed.access for placed in accesses)


def _place(placed: PlacedRun | PlacedAccess) -> int:
    return placed.place


def _lists(group: RunGroup) -> Iterator[tuple[tuple[object, ...], datetime, str]]:
    """The lists in which pages may show a group's runs, each with its place in them."""
    used: dict[str, set[tuple[object, ...]]] = defaultdict(set)
    for _, access in group.accesses:
        if access.kind is not Kind.TEMPORARY:
            used[access.run_id].add((*_names(access), access.direction))
    for (run_id, engine), run in group.merged_runs().items():
        at = run.started_at or BEGINNING
        yield ("all",), at, run_id
        yield ("engine", engine), at, run_id
        if run.status is Status.FAILED:
            yield ("failed", engine), at, run_id
        for usage in used[run_id]:
            yield ("usage", engine, *usage), at, run_id


def _names(access: Access) -> tuple[str, str]:
    return access.dataset.namespace, access.dataset.name


def _usage_repeats_key(repeats: UsageRepeats) -> _UsageKey:
    return (
        repeats.task,
        repeats.dataset.namespace,
        repeats.dataset.name,
        repeats.direction,
        repeats.engine,
    )


def _usage_repeats(key: _UsageKey, statements: int) -> UsageRepeats:
    task, namespace, name, direction, engine = key
    return UsageRepeats(task, DatasetId(namespace, name), direction, engine, statements)
