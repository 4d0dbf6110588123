"""Records of tasks' runs before a base and since: two windows of one store, or of two stores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.event_runs import EVENT_SHAPE
from dbt_graft.lineage.records import Access, Evidence, Records, Run, Status

# Of so many runs before the base everything is known; what none of them did is new.
_KNOWN = 30
# What each of so many runs did last is usual.
_USUAL = 3
_BEGINNING = datetime.min.replace(tzinfo=UTC)
_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class RunsAround:
    """The runs of tasks that ran since a base: those before, and those since.

    Failed runs are among those before without what they did, and not among those since. Declared
    lineage is in neither: it has no runs.

    Attributes:
        changed: The tasks that may have changed. Of others, which did the very same, `before` and
            `last` have nothing.
        last: Of the runs before the last of each task and engine, the one before, and so on, where
            one since has ended well: what these all did, and none since, is gone.
        known: The datasets that any task used before.
        mixed: Tasks with events of both in one log, which does not say whose columns are whose.
    """

    before: Records
    since: Records
    changed: frozenset[str] = frozenset()
    last: tuple[Records, ...] = ()
    known: frozenset[DatasetId] = frozenset()
    mixed: frozenset[str] = frozenset()

    @property
    def is_empty(self) -> bool:
        """Nothing ran since."""
        return not self.since.accesses


def runs_since(records: Records, at: datetime) -> RunsAround:
    """The windows of one store: a run belongs to the side on which it began."""
    begins = _begins(records)
    return _around(records, records, lambda key: begins.get(key, _BEGINNING) > at)


def runs_beyond(records: Records, base: Records) -> RunsAround:
    """The windows of two stores: since the base are the runs that its store does not have."""
    there = {*map(_key, base.accesses), *map(_key, base.runs)}
    return _around(base, records, lambda key: key not in there)


def _around(base: Records, records: Records, is_new: Callable[[_Key], bool]) -> RunsAround:
    failed = {_key(run) for run in records.runs if run.status is Status.FAILED}
    since = _selected(
        records, lambda key: is_new(key) and key not in failed, {_task(a) for a in records.accesses}
    )
    tasks = {access.task for access in since.accesses}
    old = [one for one in base.accesses if not (base is records and is_new(_key(one)))]
    broken = {_key(run) for run in base.runs if run.status is Status.FAILED}
    known = frozenset(
        one.dataset
        for one in old
        if one.evidence is not Evidence.DECLARED and _key(one) not in broken
    )
    wanted = _newest(base, {_key(one) for one in old if one.task in tasks})
    before = _selected(base, lambda key: key in wanted, tasks)
    runs = tuple(
        run
        for run in base.runs
        if run.task in tasks and not (base is records and is_new(_key(run)))
    )
    ended = {(run.task, run.engine) for run in since.runs if _ended_well(run)}
    last = [_selected(base, some.__contains__, tasks) for some in _last(base, wanted, ended)]
    changed = _changed(before, last, since)
    return RunsAround(
        _only(replace(before, runs=runs), changed),
        since,
        changed,
        tuple(_only(one, changed) for one in last),
        known,
        _mixed(before, since),
    )


def _changed(before: Records, last: Collection[Records], since: Records) -> frozenset[str]:
    """The tasks whose records are not the very same."""
    old, new, usual = _facts(before), _facts(since), list(map(_facts, last))
    return frozenset(
        task
        for task, facts in new.items()
        if facts - old.get(task, set())
        or set.intersection(*([one[task] for one in usual if task in one] or [set()])) - facts
    )


def _facts(records: Records) -> dict[str, set[object]]:
    """Task -> all of its accesses and column edges, without runs and times."""
    found: dict[str, set[object]] = defaultdict(set)
    for one in records.accesses:
        found[one.task].add((one.dataset, one.direction, one.operation, one.shape_id))
    for edge in records.column_edges:
        found[edge.task].add(replace(edge, origin=""))
    return found


def _only(records: Records, tasks: Collection[str]) -> Records:
    return replace(
        records,
        accesses=tuple(one for one in records.accesses if one.task in tasks),
        runs=tuple(one for one in records.runs if one.task in tasks),
        column_edges=tuple(one for one in records.column_edges if one.task in tasks),
    )


def _mixed(before: Records, since: Records) -> frozenset[str]:
    """Tasks of which the same edges are in both windows, and no statement says whose they are."""
    first, second = (
        {(e.task, e.shape_id, e.origin) for e in one.column_edges} for one in (before, since)
    )
    return frozenset(
        task for task, shape_id, _ in first & second if shape_id.startswith(EVENT_SHAPE)
    )


def _selected(
    records: Records, is_wanted: Callable[[_Key], bool], tasks: Collection[str]
) -> Records:
    accesses = tuple(
        one
        for one in records.accesses
        if one.task in tasks and one.evidence is not Evidence.DECLARED and is_wanted(_key(one))
    )
    shapes = {(one.task, one.shape_id, one.origin) for one in accesses}
    # Temporary tables of other runs: their names are their own.
    others = {one.dataset for one in records.accesses if one.kind is Kind.TEMPORARY}
    others -= {one.dataset for one in accesses}
    return Records(
        accesses,
        tuple(run for run in records.runs if run.task in tasks and is_wanted(_key(run))),
        records.shapes,
        records.datasets,
        column_edges=tuple(
            edge
            for edge in records.column_edges
            if (edge.task, edge.shape_id, edge.origin) in shapes
            and edge.from_dataset not in others
            and edge.to_dataset not in others
        ),
    )


def _newest(records: Records, keys: Collection[_Key]) -> set[_Key]:
    """Of each task and engine the newest runs that did not fail."""
    begins = _begins(records)
    engines = {_key(run): run.engine for run in records.runs}
    failed = {_key(run) for run in records.runs if run.status is Status.FAILED}
    groups: dict[tuple[str, str], list[_Key]] = defaultdict(list)
    for key in keys:
        if key not in failed:
            groups[key[0], engines.get(key, "")].append(key)
    return {
        key
        for group in groups.values()
        for key in sorted(group, key=lambda one: (begins.get(one, _BEGINNING), one))[-_KNOWN:]
    }


def _last(
    records: Records, keys: Collection[_Key], ended: Collection[tuple[str, str]]
) -> Iterator[set[_Key]]:
    """The last run of each task and engine that ended well, then the one before."""
    begins = _begins(records)
    groups: dict[tuple[str, str], list[_Key]] = defaultdict(list)
    for run in records.runs:
        if _key(run) in keys and (run.task, run.engine) in ended and _ended_well(run):
            groups[run.task, run.engine].append(_key(run))
    for group in groups.values():
        group.sort(key=lambda one: (begins.get(one, _BEGINNING), one), reverse=True)
    for at in range(_USUAL):
        if found := {group[at] for group in groups.values() if at < len(group)}:
            yield found


def _ended_well(run: Run) -> bool:
    return run.status is Status.OK or (run.status is Status.UNKNOWN and run.ended_at is not None)


def _begins(records: Records) -> dict[_Key, datetime]:
    """The begin of each run: its own, else the first time of what it did."""
    found: dict[_Key, datetime] = {}
    for access in records.accesses:
        at = access.first_at or access.last_at
        if at and at < found.get(_key(access), datetime.max.replace(tzinfo=UTC)):
            found[_key(access)] = at
    for run in records.runs:
        if at := run.started_at or run.ended_at:
            found[_key(run)] = at
    return found


def _key(one: Access | Run) -> _Key:
    return one.task, one.run_id


def _task(one: Access) -> str:
    return one.task
