"""Records of tasks' runs before a base and since: two windows of one store, or of two stores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from datetime import UTC, datetime

from dbt_graft.lineage.building.event_runs import EVENT_SHAPE
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.records import Access, Records, Run, Status

# Of so many runs before the base everything is known; what none of them did is new.
_KNOWN = 30
# What each of so many runs did last is usual.
_USUAL = 3
_BEGINNING = datetime.min.replace(tzinfo=UTC)
_Key = tuple[str, str]


@frozen
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
    since = _select_runs(
        records, lambda key: is_new(key) and key not in failed, {_task(a) for a in records.accesses}
    )
    tasks = {access.task for access in since.accesses}
    old = [access for access in base.accesses if not (base is records and is_new(_key(access)))]
    broken = {_key(run) for run in base.runs if run.status is Status.FAILED}
    known_datasets = frozenset(
        access.dataset
        for access in old
        if access.evidence.is_of_runs and _key(access) not in broken
    )
    wanted = _newest_runs(base, {_key(access) for access in old if access.task in tasks})
    before = _select_runs(base, lambda key: key in wanted, tasks)
    runs = tuple(
        run
        for run in base.runs
        if run.task in tasks and not (base is records and is_new(_key(run)))
    )
    ended = {(run.task, run.engine) for run in since.runs if _ended_well(run)}
    last = [
        _select_runs(base, keys.__contains__, tasks) for keys in _last_runs(base, wanted, ended)
    ]
    changed = _changed_tasks(before, last, since)
    return RunsAround(
        _select_tasks(replace(before, runs=runs), changed),
        since,
        changed,
        tuple(_select_tasks(run_records, changed) for run_records in last),
        known_datasets,
        _mixed_tasks(before, since),
    )


def _changed_tasks(before: Records, last: Collection[Records], since: Records) -> frozenset[str]:
    """The tasks whose records are not the very same."""
    old, new, usual = _facts(before), _facts(since), list(map(_facts, last))
    return frozenset(
        task
        for task, facts in new.items()
        if facts - old.get(task, set())
        or set.intersection(
            *([facts_by_task[task] for facts_by_task in usual if task in facts_by_task] or [set()])
        )
        - facts
    )


def _facts(records: Records) -> dict[str, set[object]]:
    """Task -> all of its accesses and column edges, without runs and times."""
    facts_by_task: dict[str, set[object]] = defaultdict(set)
    for access in records.accesses:
        facts_by_task[access.task].add(
            (access.dataset, access.direction, access.operation, access.shape_id)
        )
    for edge in records.column_edges:
        facts_by_task[edge.task].add(replace(edge, origin=""))
    return facts_by_task


def _select_tasks(records: Records, tasks: Collection[str]) -> Records:
    return replace(
        records,
        accesses=tuple(access for access in records.accesses if access.task in tasks),
        runs=tuple(run for run in records.runs if run.task in tasks),
        column_edges=tuple(edge for edge in records.column_edges if edge.task in tasks),
    )


def _mixed_tasks(before: Records, since: Records) -> frozenset[str]:
    """Tasks of which the same edges are in both windows, and no statement says whose they are."""
    first, second = (
        {(e.task, e.shape_id, e.origin) for e in records.column_edges}
        for records in (before, since)
    )
    return frozenset(
        task for task, shape_id, _ in first & second if shape_id.startswith(EVENT_SHAPE)
    )


def _select_runs(
    records: Records, is_wanted: Callable[[_Key], bool], tasks: Collection[str]
) -> Records:
    accesses = tuple(
        access
        for access in records.accesses
        if access.task in tasks and access.evidence.is_of_runs and is_wanted(_key(access))
    )
    shapes = {(access.task, access.shape_id, access.origin) for access in accesses}
    # Temporary tables of other runs: their names are their own.
    others = {access.dataset for access in records.accesses if access.kind is Kind.TEMPORARY}
    others -= {access.dataset for access in accesses}
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


def _newest_runs(records: Records, keys: Collection[_Key]) -> set[_Key]:
    """Of each task and engine the newest runs that did not fail."""
    begins = _begins(records)
    engines = {_key(run): run.engine for run in records.runs}
    failed = {_key(run) for run in records.runs if run.status is Status.FAILED}
    groups = group_by_key(
        ((key[0], engines.get(key, "")), key) for key in keys if key not in failed
    )
    return {
        key
        for group in groups.values()
        for key in sorted(group, key=lambda run_key: (begins.get(run_key, _BEGINNING), run_key))[
            -_KNOWN:
        ]
    }


def _last_runs(
    records: Records, keys: Collection[_Key], ended: Collection[tuple[str, str]]
) -> Iterator[set[_Key]]:
    """The last run of each task and engine that ended well, then the one before."""
    begins = _begins(records)
    groups = group_by_key(
        ((run.task, run.engine), _key(run))
        for run in records.runs
        if _key(run) in keys and (run.task, run.engine) in ended and _ended_well(run)
    )
    for group in groups.values():
        group.sort(key=lambda key: (begins.get(key, _BEGINNING), key), reverse=True)
    for at in range(_USUAL):
        if last_keys := {group[at] for group in groups.values() if at < len(group)}:
            yield last_keys


def _ended_well(run: Run) -> bool:
    return run.status is Status.OK or (run.status is Status.UNKNOWN and run.ended_at is not None)


def _begins(records: Records) -> dict[_Key, datetime]:
    """The begin of each run: its own, else the first time of what it did."""
    begins: dict[_Key, datetime] = {}
    for access in records.accesses:
        at = access.first_at or access.last_at
        if at and at < begins.get(_key(access), datetime.max.replace(tzinfo=UTC)):
            begins[_key(access)] = at
    for run in records.runs:
        if at := run.started_at or run.ended_at:
            begins[_key(run)] = at
    return begins


def _key(record: Access | Run) -> _Key:
    return record.task, record.run_id


def _task(access: Access) -> str:
    return access.task
