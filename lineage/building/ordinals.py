"""Ordinals: an INSERT without a list of columns fills those of its target by their places.

The statement does not name them, nor need its log. Where any log defines the table, and it has as
many columns as are inserted, these are they. Else the names of the query are a guess.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from dbt_graft.lineage.building.schemas import Schema, logged_schemas
from dbt_graft.lineage.column_edges import ColumnEdges
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    ANY_COLUMN,
    MATCHED_BY_NAME,
    OPEN_STAR,
    Access,
    ColumnEdge,
    Direction,
    Evidence,
    Outcome,
    Records,
    Shape,
    Status,
)

_UNRESOLVED = "columns not resolved: "
# An ALTER TABLE without these, or with a constraint after them, leaves names and order as they are.
_OTHER_COLUMNS = re.compile(
    r"\b(?:ADD|DROP|RENAME|CHANGE|REPLACE|sp_rename)\b"
    r"(?!\s+(?:CONSTRAINT|PRIMARY|UNIQUE|FOREIGN|CHECK|DEFAULT|INDEX|PERIOD|PARTITION)\b)"
    r"|,\s*COLUMN\b",
    re.IGNORECASE,
)


def with_placed_columns(records: Records, rename: Rename) -> Records:
    """The records, whose edges lead to the columns that their ordinals stand for.

    Edges of which that is not known are inferred. A statement without such edges is no gap for it.
    """
    all_edges = ColumnEdges.of(records.column_edges)
    ordinal = all_edges.where("ordinal", bool)
    if not ordinal:
        return records
    ends = {rename(end) for edge in ordinal for end in (edge.to_dataset, edge.from_dataset)}
    accesses = [
        replace(access, dataset=name)
        for access in records.accesses
        if (name := rename(access.dataset)) in ends
    ]
    recorded = [
        (name, dataset) for dataset in records.datasets if (name := rename(dataset.id)) in ends
    ]
    schemas = logged_schemas(recorded, accesses)
    places = _Places(rename, schemas, accesses, records.shapes)
    placed = [edge for unplaced in ordinal for edge in places.place(unplaced)]
    explained = {edge.shape_id for edge in ordinal}
    explained -= {edge.shape_id for edge in placed if edge.ordinal}
    shapes = {key: _explain(records.shapes[key]) for key in explained & records.shapes.keys()}
    others = all_edges.where("ordinal", "".__eq__)
    edges = ColumnEdges.join((others, ColumnEdges.of(placed)))
    return replace(records, column_edges=edges, shapes={**records.shapes, **shapes})


class _Places:
    """The columns of tables by their places, as statements found them.

    Args:
        accesses: Of the tables, under the names that the rules give them.
    """

    def __init__(
        self,
        rename: Rename,
        schemas: Mapping[DatasetId, Schema],
        accesses: Sequence[Access],
        shapes: Mapping[str, Shape],
    ) -> None:
        self._rename = rename
        # The columns that are inserted, in their order.
        self._columns_of = {
            name: [column.name for column in schema.columns if not column.is_generated]
            for name, schema in schemas.items()
            if schema.defined_at
        }
        self._changed_at: dict[DatasetId, list[datetime]] = defaultdict(list)
        self._used_at: dict[tuple[str, str, str], datetime] = {}
        for access in accesses:
            if not access.last_at:
                continue
            use = access.origin, access.task, access.shape_id
            self._used_at[use] = max(self._used_at.get(use, access.last_at), access.last_at)
            defined_at = (schema := schemas.get(access.dataset)) and schema.defined_at
            is_later = defined_at and access.last_at > defined_at
            if is_later and _may_change_columns(access, shapes.get(access.shape_id)):
                self._changed_at[access.dataset].append(access.last_at)

    def place(self, edge: ColumnEdge) -> Iterator[ColumnEdge]:
        """The edges between the columns that an ordinal stands for; an inferred one without."""
        targets = self._columns(edge.to_dataset, edge)
        if edge.ordinal == ANY_COLUMN:
            sources = self._columns(edge.from_dataset, edge)
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

    def _columns(self, dataset: DatasetId, edge: ColumnEdge) -> Sequence[str]:
        """The columns that a statement found; none where no log has all of them."""
        name = self._rename(dataset)
        used_at = self._used_at.get((edge.origin, edge.task, edge.shape_id))
        changed_at = self._changed_at.get(name, ())
        if any(used_at is None or at <= used_at for at in changed_at):
            return ()
        return self._columns_of.get(name, ())


def _may_change_columns(access: Access, shape: Shape | None) -> bool:
    """Whether a statement may give a table other columns; one whose text no log has may."""
    if access.direction is Direction.READ or access.status is Status.FAILED:
        return False
    if access.operation is not Operation.ALTER:
        return access.operation.renames or access.operation is Operation.RESTORE
    return not shape or not shape.text or bool(_OTHER_COLUMNS.search(shape.text))


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
