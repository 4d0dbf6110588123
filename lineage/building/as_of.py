"""The records of a store as they stood at a time: what began later is not in them.

A record without a time of its own is as old as the oldest of its log; declared lineage has none,
and counts at every time. What had begun and went on after the time is cut there: its counts are
those of the end, so they are left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Protocol, TypeVar

from dbt_graft.lineage.building.drops import Drops
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.gaps import shapes_of
from dbt_graft.lineage.records import Access, ColumnEdge, Dataset, Records, Run, Status

K = TypeVar("K", bound=Hashable)


class _OfLog(Protocol):
    """A record that names its log."""

    @property
    def origin(self) -> str: ...


def as_of(records: Records, at: datetime) -> Records:
    """The records without what was not there yet.

    A table that was dropped later is there, as is one that was made again since and was dropped
    then. Columns are those that the log of the time names: a log that goes on after it may name
    later ones too.
    """
    return _Past(records, at).records()


def oldest(records: Records) -> datetime | None:
    """The first time that any record has; None where none has one."""
    times = (
        *(access.first_at for access in records.accesses),
        *(run.started_at for run in records.runs),
        *(result.started_at for result in records.node_results),
    )
    return min((time for time in times if time), default=None)


class _Past:
    """The times of records, and what was there at one time."""

    def __init__(self, records: Records, at: datetime) -> None:
        self._records = records
        self._at = at
        self._runs = _first_times(
            ((run.task, run.run_id), _run_begins(run)) for run in records.runs
        )
        begins = [self._access_begins(access) for access in records.accesses]
        by_access = list(zip(records.accesses, begins, strict=True))
        self._shapes = _first_times(
            ((access.task, access.shape_id), begin) for access, begin in by_access
        )
        self._datasets = _first_times((access.dataset, begin) for access, begin in by_access)
        self._origins = _first_times(_log_times(records))
        self._begun = [access for access, begin in by_access if self._is_there(access, begin)]
        self._accesses = tuple(map(self._cut_access, self._begun))
        self._last_uses: dict[tuple[DatasetId, str], datetime] = {}
        for access in self._accesses:
            if access.last_at:
                key = (access.dataset, access.origin)
                self._last_uses[key] = max(self._last_uses.get(key, access.last_at), access.last_at)

    def records(self) -> Records:
        """Those that were there."""
        records, at = self._records, self._at
        drops = Drops(self._begun, at)
        edges = tuple(
            edge for edge in records.column_edges if self._is_there(edge, self._edge_begins(edge))
        )
        runs = [run for run in records.runs if self._is_there(run, _run_begins(run))]
        later = {*shapes_of((*records.accesses, *records.column_edges), records.runs)}
        later -= {*shapes_of((*self._begun, *edges), runs)}
        return replace(
            records,
            accesses=self._accesses,
            runs=tuple(map(self._running, runs)),
            shapes={key: shape for key, shape in records.shapes.items() if key not in later},
            datasets=tuple(
                self._dataset(dataset, drops)
                for dataset in records.datasets
                if self._is_there(dataset, dataset.first_seen or self._datasets.get(dataset.id))
            ),
            rejects=tuple(reject for reject in records.rejects if self._is_there(reject, None)),
            column_edges=edges,
            node_results=tuple(
                result
                for result in records.node_results
                if self._is_there(result, result.ended_at or result.started_at)
            ),
            task_metadata=tuple(
                metadata for metadata in records.task_metadata if metadata.at <= at
            ),
            dataset_metadata=tuple(
                metadata for metadata in records.dataset_metadata if metadata.at <= at
            ),
        )

    def _is_there(self, record: _OfLog, begin: datetime | None) -> bool:
        time = begin or self._origins.get(record.origin)
        return time is None or time <= self._at

    def _access_begins(self, access: Access) -> datetime | None:
        return access.first_at or self._runs.get((access.task, access.run_id)) or access.last_at

    def _edge_begins(self, edge: ColumnEdge) -> datetime | None:
        """The time since which its shape ran, on what it joins: a later run has other tables."""
        begins = [self._shapes.get((edge.task, edge.shape_id))]
        begins += map(self._datasets.get, (edge.from_dataset, edge.to_dataset))
        return max(filter(None, begins), default=None)

    def _cut_access(self, access: Access) -> Access:
        if access.last_at is None or access.last_at <= self._at:
            return access
        # Of several statements the first had begun, and the last had not.
        several = access.statements > 1 and access.first_at is not None
        return replace(
            access,
            last_at=access.first_at if several else self._at,
            statements=min(access.statements, 1),
            rows=None,
            bytes=None,
            files=None,
            partitions=None,
        )

    def _running(self, run: Run) -> Run:
        if run.ended_at is None or run.ended_at <= self._at:
            return run
        return replace(run, ended_at=None, status=Status.UNKNOWN, error=None)

    def _dataset(self, dataset: Dataset, drops: Drops) -> Dataset:
        last = dataset.last_seen
        if last and last > self._at:
            last = self._last_uses.get((dataset.id, dataset.origin)) or dataset.first_seen
        return replace(
            dataset,
            last_seen=last,
            dropped_at=drops.drop_time(dataset),
        )


def _run_begins(run: Run) -> datetime | None:
    return run.started_at or run.ended_at


def _log_times(records: Records) -> Iterator[tuple[str, datetime | None]]:
    """Each time of a record, with the log that has it."""
    yield from ((access.origin, access.first_at) for access in records.accesses)
    yield from ((run.origin, _run_begins(run)) for run in records.runs)
    yield from ((dataset.origin, dataset.first_seen) for dataset in records.datasets)
    yield from ((result.origin, result.started_at) for result in records.node_results)
    yield from ((metadata.origin, metadata.at) for metadata in records.task_metadata)
    yield from ((metadata.origin, metadata.at) for metadata in records.dataset_metadata)


def _first_times(times: Iterable[tuple[K, datetime | None]]) -> dict[K, datetime]:
    """The first time of each key; none for those without."""
    firsts: dict[K, datetime] = {}
    for key, at in times:
        if at is not None and not (key in firsts and firsts[key] <= at):
            firsts[key] = at
    return firsts
