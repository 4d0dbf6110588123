"""Accesses of a lineage by dataset and by task, oldest first.

Years of history hold millions. So they are parted once, by dataset, and all else is made when a
dataset is asked for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property

from dbt_graft.analysis.dates.access_effects import changes_data, takes_data
from dbt_graft.analysis.dates.contracted_accesses import contracted_accesses
from dbt_graft.analysis.dates.dbt_accesses import dbt_accesses
from dbt_graft.analysis.dates.declared_accesses import declared_accesses
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Access, Direction, Status

# A task, or a definition, with the run: that of the orchestrator where there is one.
Execution = tuple[str, str]
_Accesses = dict[DatasetId, Sequence[Access]]
_ByTask = dict[DatasetId, Mapping[str, Sequence[Access]]]
_ByRun = dict[tuple[str, DatasetId], Mapping[str, Sequence[Access]]]


class AccessIndex:
    """The accesses of a lineage; failed ones did nothing and are left out."""

    def __init__(self, lineage: Lineage) -> None:
        self.lineage = lineage
        self._writes: _Accesses = {}
        self._reads: _Accesses = {}
        self._writes_by_task: _ByTask = {}
        self._reads_by_task: _ByTask = {}
        self._writes_by_run: _ByRun = {}
        self._reads_by_run: _ByRun = {}

    def writes(self, dataset: DatasetId) -> Sequence[Access]:
        """The accesses that put data into a dataset or took data out of it, oldest first."""
        if dataset not in self._writes:
            self._part(dataset)
        return self._writes[dataset]

    def reads(self, dataset: DatasetId) -> Sequence[Access]:
        """The accesses that took data from a dataset, oldest first."""
        if dataset not in self._reads:
            self._part(dataset)
        return self._reads[dataset]

    def writes_by_task(self, dataset: DatasetId) -> Mapping[str, Sequence[Access]]:
        """Task -> its writes of a dataset, oldest first."""
        if dataset not in self._writes_by_task:
            self._writes_by_task[dataset] = _group_by_task(self.writes(dataset))
        return self._writes_by_task[dataset]

    def reads_by_task(self, dataset: DatasetId) -> Mapping[str, Sequence[Access]]:
        """Task -> its reads of a dataset, oldest first."""
        if dataset not in self._reads_by_task:
            self._reads_by_task[dataset] = _group_by_task(self.reads(dataset))
        return self._reads_by_task[dataset]

    def writes_by_run(self, task: str, dataset: DatasetId) -> Mapping[str, Sequence[Access]]:
        """Run of a task -> its writes of a dataset, oldest first."""
        key = (task, dataset)
        if key not in self._writes_by_run:
            self._writes_by_run[key] = self._group_by_run(
                self.writes_by_task(dataset).get(task, ())
            )
        return self._writes_by_run[key]

    def reads_by_run(self, task: str, dataset: DatasetId) -> Mapping[str, Sequence[Access]]:
        """Run of a task -> its reads of a dataset, oldest first."""
        key = (task, dataset)
        if key not in self._reads_by_run:
            self._reads_by_run[key] = self._group_by_run(self.reads_by_task(dataset).get(task, ()))
        return self._reads_by_run[key]

    def written_by(self, tasks: Collection[str]) -> list[DatasetId]:
        """The datasets that some of these tasks write, sorted."""
        return sorted(
            {
                access.dataset
                for accesses in self._parts.values()
                for access in accesses
                if access.task in tasks and access.direction is Direction.WRITE
            }
        )

    def accesses(self) -> Iterator[Access]:
        """All that count, in no order."""
        return (access for part in self._parts.values() for access in part if _counts(access))

    def execution(self, access: Access) -> Execution:
        """The execution that an access belongs to: what engines did in one try shares a memory."""
        run = (access.task, access.run_id)
        parent = self._parents.get(run) if self._parents else None
        return (access.task, parent) if parent else run

    @cached_property
    def tried_writes(self) -> Mapping[str, Sequence[Access]]:
        """Task -> its writes in logs, those that failed too, in no order."""
        return _group_by_task(
            access
            for access in self.lineage.history.accesses
            if access.direction is Direction.WRITE
        )

    @cached_property
    def _parents(self) -> dict[Execution, str]:
        return {
            (task.name, run.run_id): run.parent_run_id
            for task in self.lineage.tasks.values()
            for run in task.runs
            if run.parent_run_id
        }

    @cached_property
    def _parts(self) -> dict[tuple[str, str], list[Access]]:
        """The accesses by the key of their dataset, in no order."""
        parts: dict[tuple[str, str], list[Access]] = defaultdict(list)
        lineage = self.lineage
        for accesses in (
            contracted_accesses(lineage),
            dbt_accesses(lineage),
            declared_accesses(lineage),
        ):
            for access in accesses:
                parts[access.dataset.key].append(access)
        return parts

    def _part(self, dataset: DatasetId) -> None:
        done = [access for access in self._parts.get(dataset.key, ()) if _counts(access)]
        done.sort(key=_order)
        write, read = Direction.WRITE, Direction.READ
        self._writes[dataset] = [a for a in done if a.direction is write and changes_data(a)]
        self._reads[dataset] = [a for a in done if a.direction is read and takes_data(a)]

    def _group_by_run(self, accesses: Iterable[Access]) -> Mapping[str, Sequence[Access]]:
        by_run: dict[str, list[Access]] = {}
        for access in accesses:
            by_run.setdefault(self.execution(access)[1], []).append(access)
        return by_run


def _group_by_task(accesses: Iterable[Access]) -> Mapping[str, Sequence[Access]]:
    by_task: dict[str, list[Access]] = {}
    for access in accesses:
        by_task.setdefault(access.task, []).append(access)
    return by_task


def _counts(access: Access) -> bool:
    return access.last_at is not None and access.status is not Status.FAILED


def _order(access: Access) -> tuple[datetime, str, str, str]:
    assert access.last_at
    return access.last_at, access.task, access.run_id, access.shape_id
