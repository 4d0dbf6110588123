"""Run groups: the runs of a task that share a memory, and the pattern that they follow.

A group is one run, or all that engines did for a task in one run of an orchestrator. Groups of one
pattern make the same lineage: the same datasets, in the same order, with the same outcome. Only
their times and counts differ.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeAlias

from dbt_graft.lineage.building.runs import merge_run
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Access, Run, Status

BEGINNING = datetime.min.replace(tzinfo=UTC)

Pattern: TypeAlias = tuple[object, ...]


class PlacedRun(NamedTuple):
    """A run, and its place in the order of all records."""

    place: int
    run: Run


class PlacedAccess(NamedTuple):
    """An access, and its place in the order of all records."""

    place: int
    access: Access


@frozen
class RunGroup:
    """Runs of one task that share a memory, with what they did.

    Attributes:
        key: The run of the orchestrator that started them, or their own id.
    """

    task: str
    key: str
    runs: Sequence[PlacedRun] = ()
    accesses: Sequence[PlacedAccess] = ()

    @property
    def run_ids(self) -> list[str]:
        """The ids of its runs, sorted."""
        return sorted(
            {placed.run.run_id for placed in self.runs}
            | {placed.access.run_id for placed in self.accesses}
        )

    def merged_runs(self) -> dict[tuple[str, str], Run]:
        """Its runs by id and engine; one that several logs show is one."""
        runs_by_key: dict[tuple[str, str], Run] = {}
        for _, run in self.runs:
            key = (run.run_id, run.engine)
            runs_by_key[key] = merge_run(runs_by_key[key], run) if key in runs_by_key else run
        return runs_by_key

    def engines(self) -> dict[str, str]:
        """The engine of each run, as usages have it."""
        return {run.run_id: run.engine for _, run in self.runs}


def run_groups(runs: Iterable[Run], accesses: Iterable[Access]) -> Iterator[RunGroup]:
    """The groups of all tasks, in the order in which they are first met."""
    runs, accesses = list(runs), list(accesses)
    parents = parent_by_run(runs)
    members: dict[tuple[str, str], tuple[list[PlacedRun], list[PlacedAccess]]]
    members = defaultdict(lambda: ([], []))
    for place, run in enumerate(runs):
        members[run.task, parents[run.task, run.run_id]][0].append(PlacedRun(place, run))
    for place, access in enumerate(accesses):
        run_key = (access.task, access.run_id)
        group = members[access.task, parents.get(run_key, access.run_id)]
        group[1].append(PlacedAccess(place, access))
    for (task, key), (of_runs, of_accesses) in members.items():
        yield RunGroup(task, key, of_runs, of_accesses)


def parent_by_run(runs: Iterable[Run]) -> dict[tuple[str, str], str]:
    """The run of an orchestrator that started each run, by task and run id; else its own id."""
    return {(run.task, run.run_id): run.parent_run_id or run.run_id for run in runs}


@frozen
class GroupPattern:
    """A group as a pattern, and its accesses in the pattern's order.

    Attributes:
        by_last: The times at which accesses end decide on an order, too.
    """

    pattern: Pattern
    accesses: Sequence[PlacedAccess]
    by_last: bool


def group_pattern(group: RunGroup, *, dated: bool = True) -> GroupPattern:
    """The pattern of a group.

    Args:
        dated: Runs about other dates of data follow other patterns, as their states differ.
    """
    numbers = {run_id: number for number, run_id in enumerate(group.run_ids)}
    engines = group.engines()
    runs = sorted(
        (
            *(numbers[run_id], engine, run.status, engines[run_id] == engine),
            *(_interval(run, dated), run.gaps),
        )
        for (run_id, engine), run in group.merged_runs().items()
    )
    # Within a run, the content of temporary tables changes; else a statement's start decides.
    by_last = any(
        access.kind is Kind.TEMPORARY or access.operation.removes or access.operation.renames
        for _, access in group.accesses
    )
    ranks, starts = _ranks([placed.access for placed in group.accesses], by_last=by_last)
    slots = []
    for placed in group.accesses:
        access = placed.access
        first = access.first_at or BEGINNING
        last = access.last_at or BEGINNING
        order = (ranks[first], ranks[last]) if by_last else (ranks[starts[_statement(access)]], 0)
        dates = _dates(access) if dated else ""
        slots.append(((*_slot(access, numbers[access.run_id]), dates, *order), placed))
    slots.sort(key=_first)
    return GroupPattern(
        (tuple(runs), tuple(slot for slot, _ in slots)), [placed for _, placed in slots], by_last
    )


def _slot(access: Access, number: int) -> tuple[Any, ...]:
    dataset = access.dataset
    return (
        number,
        access.shape_id,
        dataset.namespace,
        dataset.name,
        access.kind,
        access.direction,
        access.operation,
        access.status,
        access.evidence,
        access.procedure or "",
        access.kind is Kind.TEMPORARY and access.statements > 1,
        access.first_at is None,
        access.last_at is None,
        access.rows is None,
        access.bytes is None,
    )


def _dates(access: Access) -> str:
    return ";".join(
        f"{period.column} {period.start} {period.end} {period.grain}" for period in access.periods
    )


def _interval(run: Run, dated: bool) -> str:
    """The data interval of a run, which is that of its writes without dates of their own."""
    return f"{run.nominal_start} {run.nominal_end}" if dated and run.nominal_start else ""


def _ranks(
    accesses: Iterable[Access], *, by_last: bool
) -> tuple[Mapping[datetime, int], Mapping[tuple[str, str, bool], datetime]]:
    """The place of each time that decides on an order, and the first time of each statement."""
    starts: dict[tuple[str, str, bool], datetime] = {}
    times = set()
    for access in accesses:
        first = access.first_at or BEGINNING
        if by_last:
            times |= {first, access.last_at or BEGINNING}
        key = _statement(access)
        starts[key] = min(first, starts.get(key, first))
    times = times or set(starts.values())
    return {at: rank for rank, at in enumerate(sorted(times))}, starts


def _statement(access: Access) -> tuple[str, str, bool]:
    # What failed may count or not.
    return access.run_id, access.shape_id, access.status is Status.FAILED


def _first(pair: tuple[tuple[Any, ...], PlacedAccess]) -> tuple[Any, ...]:
    return pair[0]
