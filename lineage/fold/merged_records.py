"""Datasets and column edges that many logs repeat, each once."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace

from dbt_graft.lineage.event_runs import is_event
from dbt_graft.lineage.records import ColumnEdge, Dataset


def merged_datasets(datasets: Iterable[Dataset], apart: Container[str] = ()) -> list[Dataset]:
    """The datasets; of records that differ by log and times the first, with the times of all.

    Args:
        apart: The logs whose records stay as they are.
    """
    found: dict[tuple[object, ...], Dataset] = {}
    for number, one in enumerate(datasets):
        key: tuple[object, ...] = (number,)
        if one.origin not in apart:
            symlinks = tuple((other.namespace, other.name) for other in one.symlinks)
            key = (one.id.namespace, one.id.name, one.kind, one.columns, symlinks)
        known = found.get(key)
        found[key] = _with_times(known, one) if known else one
    return list(found.values())


def each_edge_once(edges: Iterable[ColumnEdge], apart: Container[str] = ()) -> list[ColumnEdge]:
    """The column edges; of those that differ by log the first, but for edges of events.

    Args:
        apart: The logs whose edges stay as they are.
    """
    found: dict[tuple[object, ...], ColumnEdge] = {}
    for number, one in enumerate(edges):
        key: tuple[object, ...] = (number,)
        if one.origin not in apart and not is_event(one):
            key = (
                replace(one, origin=""),
                *(one.to_dataset.namespace, one.to_dataset.name),
                *(one.from_dataset.namespace, one.from_dataset.name),
            )
        found.setdefault(key, one)
    return list(found.values())


def _with_times(a: Dataset, b: Dataset) -> Dataset:
    return replace(
        a,
        first_seen=min(filter(None, (a.first_seen, b.first_seen)), default=None),
        last_seen=max(filter(None, (a.last_seen, b.last_seen)), default=None),
        dropped_at=max(filter(None, (a.dropped_at, b.dropped_at)), default=None),
    )
