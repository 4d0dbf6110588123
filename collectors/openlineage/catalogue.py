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
        for dataset in event.inputs:
            self._add_dataset(dataset, event, is_output=False)
        for dataset in event.outputs:
            self._add_dataset(dataset, event, is_output=True)

    def _add_dataset(self, event_dataset: NamedDataset, event: Event, *, is_output: bool) -> None:
        dataset = named_dataset(event_dataset.namespace, event_dataset.name)
        if dataset is None:
            return
        at = event.at
        seen = self._seen.get(dataset)
        if seen is None:
            seen = self._seen[dataset] = _Seen(kind_of(dataset, event_dataset.facets), at, at)
        seen.first_seen, seen.last_seen = min(seen.first_seen, at), max(seen.last_seen, at)
        if not event_dataset.facets:
            return
        if seen.columns_at is None or at >= seen.columns_at:
            columns = columns_of(event_dataset.facets)
            if columns:
                seen.columns, seen.columns_at = columns, at
        if "datasetType" in event_dataset.facets and (seen.typed_at is None or at >= seen.typed_at):
            seen.kind, seen.typed_at = kind_of(dataset, event_dataset.facets), at
        if "symlinks" in event_dataset.facets:
            seen.symlinks |= {*symlinks_of(dataset, event_dataset.facets)}
        if is_output and event.is_done:
            if "lifecycleStateChange" not in event_dataset.facets:
                seen.made_at = max(seen.made_at or at, at)
                return
            self._change(dataset, seen, event_dataset, at)

    def _change(
        self, dataset: DatasetId, seen: _Seen, event_dataset: NamedDataset, at: datetime
    ) -> None:
        """Note that a dataset was made, dropped, or has another name now."""
        change = text(event_dataset.facets, "lifecycleStateChange", "lifecycleStateChange").upper()
        if change == "DROP":
            seen.dropped_at = max(seen.dropped_at or at, at)
            return
        seen.made_at = max(seen.made_at or at, at)
        old = dataset_of(
            mapping(event_dataset.facets, "lifecycleStateChange", "previousIdentifier")
        )
        if change == "RENAME" and old and old != dataset:
            before = self._seen.setdefault(old, _Seen(seen.kind, at, at))
            before.dropped_at = max(before.dropped_at or at, at)

    def take_datasets(self) -> Iterator[Dataset]:
        """The datasets since the last call, sorted."""
        for dataset, seen in sorted(self._seen.items()):
            dropped_at, made_at = seen.dropped_at, seen.made_at
            yield Dataset(
                dataset,
                seen.kind,
                seen.columns,
                tuple(sorted(seen.symlinks)),
                seen.first_seen,
                seen.last_seen,
                dropped_at if dropped_at and (made_at is None or dropped_at >= made_at) else None,
                self._origin,
            )
        self._seen.clear()
