"""Records of tasks' runs before a base and since: two windows of one store, or of two stores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Access, Evidence, Records, Run, Status

# Of so many runs before the base everything is known; what none of them did is new.
_KNOWN = 30
_BEGINNING = datetime.min.replace(tzinfo=UTC)
_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class RunsAround:
    """The runs of tasks that ran since a base: those before, and those since.

    Failed runs are among those before without what they did, and not among those since. Declared
    lineage is in neither: it has no runs.

    Attributes:
        known: The datasets that any task used before.
    """

    before: Records
    since: Records
    known: frozenset[DatasetId] = frozenset()

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
    known = frozenset(one.dataset for one in old if one.evidence is not Evidence.DECLARED)
    wanted = _newest(base, {_key(one) for one in old if one.task in tasks})
    before = _selected(base, lambda key: key in wanted, tasks)
    runs = tuple(
        run
        for run in base.runs
        if run.task in tasks and not (base is records and is_new(_key(run)))
    )
    return RunsAround(replace(before, runs=runs), since, known)


def _selected(
    records: Records, is_wanted: Callable[[_Key], bool], tasks: Collection[str]
) -> Records:
    accesses = tuple(
        one
        for one in records.accesses
        if one.task in tasks and one.evidence is not Evidence.DECLARED and is_wanted(_key(one))
    )
    shapes = {(one.task, one.shape_id) for one in accesses}
    return Records(
        accesses,
        tuple(run for run in records.runs if run.task in tasks and is_wanted(_key(run))),
        records.shapes,
        records.datasets,
        column_edges=tuple(e for e in records.column_edges if (e.task, e.shape_id) in shapes),
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
