"""Ordinals: an INSERT without a list of columns fills those of its target by their places.

The statement does not name them, nor need its log. Where any log defines the table, and it has as
many columns as are inserted, these are they. Else the names of the query are a guess.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dbt_graft.lineage.building.schemas import logged_schemas
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import (
    ANY_COLUMN,
    MATCHED_BY_NAME,
    OPEN_STAR,
    ColumnEdge,
    Evidence,
    Outcome,
    Records,
    Shape,
)

_UNRESOLVED = "columns not resolved: "
_Columns = Mapping[DatasetId, Sequence[str]]


def with_placed_columns(records: Records, rename: Rename) -> Records:
    """The records, whose edges lead to the columns that their ordinals stand for.

    Edges of which that is not known are inferred. A statement without such edges is no gap for it.
    """
    ordinal = [edge for edge in records.column_edges if edge.ordinal]
    if not ordinal:
        return records
    ends = {rename(end) for edge in ordinal for end in (edge.to_dataset, edge.from_dataset)}
    columns = _defined_columns(records, rename, ends)
    edges = [
        placed
        for edge in records.column_edges
        for placed in (_place(edge, rename, columns) if edge.ordinal else (edge,))
    ]
    explained = {edge.shape_id for edge in ordinal}
    explained -= {edge.shape_id for edge in edges if edge.ordinal}
    shapes = {key: _explain(records.shapes[key]) for key in explained & records.shapes.keys()}
    return replace(records, column_edges=tuple(edges), shapes={**records.shapes, **shapes})


def _defined_columns(
    records: Records, rename: Rename, datasets: set[DatasetId]
) -> dict[DatasetId, list[str]]:
    """The columns that are inserted, in their order, of those datasets of which a log has all."""
    recorded = [
        (name, dataset) for dataset in records.datasets if (name := rename(dataset.id)) in datasets
    ]
    accesses = [
        replace(access, dataset=name)
        for access in records.accesses
        if (name := rename(access.dataset)) in datasets
    ]
    return {
        name: [column.name for column in schema.columns if not column.is_generated]
        for name, schema in logged_schemas(recorded, accesses).items()
        if schema.defined_at
    }


def _place(edge: ColumnEdge, rename: Rename, columns: _Columns) -> Iterator[ColumnEdge]:
    targets = columns.get(rename(edge.to_dataset), ())
    if edge.ordinal == ANY_COLUMN:
        sources = columns.get(rename(edge.from_dataset), ())
        pairs = [*zip(targets, sources, strict=True)] if len(targets) == len(sources) else []
    else:
        place, width = map(int, edge.ordinal.split("/"))
        pairs = [(targets[place - 1], edge.from_column)] if len(targets) == width else []
    for target, source in pairs:
        yield replace(edge, to_column=target, from_column=source, ordinal="")
    if not pairs:
        is_observed = edge.evidence is Evidence.OBSERVED
        is_there = not targets or edge.to_column.casefold() in map(str.casefold, targets)
        yield replace(
            edge,
            to_column=edge.to_column if is_there else ANY_COLUMN,
            evidence=Evidence.INFERRED if is_observed else edge.evidence,
        )


def _explain(shape: Shape) -> Shape:
    """A statement whose edges are all placed, without what was missing for that."""
    reason = shape.reason or ""
    reasons = reason.removeprefix(_UNRESOLVED).split(", ")
    if MATCHED_BY_NAME not in reasons or not reason.startswith(_UNRESOLVED):
        return shape
    others = [other for other in reasons if other not in (MATCHED_BY_NAME, OPEN_STAR)]
    if others:
        return replace(shape, reason=_UNRESOLVED + ", ".join(others))
    return replace(shape, outcome=Outcome.PARSED, reason=None)
