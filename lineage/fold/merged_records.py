"""Datasets and column edges that many logs repeat, each once."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace

from dbt_graft.lineage.building.event_runs import is_event
from dbt_graft.lineage.records import ColumnEdge, Dataset


def deduplicate_datasets(datasets: Iterable[Dataset], apart: Container[str] = ()) -> list[Dataset]:
    """The datasets; of records that differ by log and times the first, with the times of all.

    Args:
        apart: The logs whose records stay as they are.
    """
    merged: dict[tuple[object, ...], Dataset] = {}
    for number, dataset in enumerate(datasets):
        key: tuple[object, ...] = (number,)
        if dataset.origin not in apart:
            symlinks = tuple((other.namespace, other.name) for other in dataset.symlinks)
            key = (dataset.id.namespace, dataset.id.name, dataset.kind, dataset.columns, symlinks)
            key = (*key, dataset.has_all_columns)
        earlier = merged.get(key)
        merged[key] = _with_times(earlier, dataset) if earlier else dataset
    return list(merged.values())


def deduplicate_edges(edges: Iterable[ColumnEdge], apart: Container[str] = ()) -> list[ColumnEdge]:
    """The column edges; of those that differ by log the first, but for edges of events.

    Args:
        apart: The logs whose edges stay as they are.
    """
    unique: dict[tuple[object, ...], ColumnEdge] = {}
    for number, edge in enumerate(edges):
        key: tuple[object, ...] = (number,)
        if edge.origin not in apart and not is_event(edge):
            key = (
                edge,
                *(edge.to_dataset.namespace, edge.to_dataset.name),
                *(edge.from_dataset.namespace, edge.from_dataset.name),
            )
        unique.setdefault(key, edge)
    return list(unique.values())


def _with_times(a: Dataset, b: Dataset) -> Dataset:
    return replace(
        a,
        first_seen=min(filter(None, (a.first_seen, b.first_seen)), default=None),
        last_seen=max(filter(None, (a.last_seen, b.last_seen)), default=None),
        dropped_at=max(filter(None, (a.dropped_at, b.dropped_at)), default=None),
    )
