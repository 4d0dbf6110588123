"""Datasets that events name: their columns, other names, and when they were seen or dropped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from dbt_graft.collectors.openlineage.datasets import (
    columns_of,
    dataset_of,
    kind_of,
    named_dataset,
    symlinks_of,
)
from dbt_graft.collectors.openlineage.event import Event, NamedDataset
from dbt_graft.collectors.openlineage.facets import mapping, text
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.records import Column, Dataset


@dataclass(slots=True)
class _Seen:
    kind: Kind
    first_seen: datetime
    last_seen: datetime
    columns: tuple[Column, ...] = ()
    columns_at: datetime | None = None
    symlinks: frozenset[DatasetId] = frozenset()
    dropped_at: datetime | None = None
    made_at: datetime | None = None
    typed_at: datetime | None = None


class Catalogue:
    """The datasets of one part of a log, in whatever order its events come."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._seen: dict[DatasetId, _Seen] = {}

    def __len__(self) -> int:
        return len(self._seen)

    def add(self, event: Event) -> None:
        """Take what an event says about its datasets."""
        for one in event.inputs:
            self._add(one, event, is_output=False)
        for one in event.outputs:
            self._add(one, event, is_output=True)

    def _add(self, one: NamedDataset, event: Event, *, is_output: bool) -> None:
        dataset = named_dataset(one.namespace, one.name)
        if dataset is None:
            return
        at = event.at
        seen = self._seen.get(dataset)
        if seen is None:
            seen = self._seen[dataset] = _Seen(kind_of(dataset, one.facets), at, at)
        seen.first_seen, seen.last_seen = min(seen.first_seen, at), max(seen.last_seen, at)
        if not one.facets:
            return
        if seen.columns_at is None or at >= seen.columns_at:
            columns = columns_of(one.facets)
            if columns:
                seen.columns, seen.columns_at = columns, at
        if "datasetType" in one.facets and (seen.typed_at is None or at >= seen.typed_at):
            seen.kind, seen.typed_at = kind_of(dataset, one.facets), at
        if "symlinks" in one.facets:
            seen.symlinks |= {*symlinks_of(dataset, one.facets)}
        if is_output and event.state == "COMPLETE":
            if "lifecycleStateChange" not in one.facets:
                seen.made_at = max(seen.made_at or at, at)
                return
            self._change(dataset, seen, one, at)

    def _change(self, dataset: DatasetId, seen: _Seen, one: NamedDataset, at: datetime) -> None:
        """Note that a dataset was made, dropped, or has another name now."""
        change = text(one.facets, "lifecycleStateChange", "lifecycleStateChange").upper()
        if change == "DROP":
            seen.dropped_at = max(seen.dropped_at or at, at)
            return
        seen.made_at = max(seen.made_at or at, at)
        old = dataset_of(mapping(one.facets, "lifecycleStateChange", "previousIdentifier"))
        if change == "RENAME" and old and old != dataset:
            before = self._seen.setdefault(old, _Seen(seen.kind, at, at))
            before.dropped_at = max(before.dropped_at or at, at)

    def taken(self) -> Iterator[Dataset]:
        """The datasets since the last call, sorted."""
        for dataset, seen in sorted(self._seen.items()):
            dropped, made = seen.dropped_at, seen.made_at
            yield Dataset(
                dataset,
                seen.kind,
                seen.columns,
                tuple(sorted(seen.symlinks)),
                seen.first_seen,
                seen.last_seen,
                dropped if dropped and (made is None or dropped >= made) else None,
                self._origin,
            )
        self._seen.clear()
