"""Column edges: two in a row are one, `*` is spelled out, a moved table keeps its columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from operator import attrgetter
from typing import Any

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import (
    ANY_COLUMN,
    Access,
    ColumnEdge,
    Direction,
    EdgeType,
    Evidence,
    Subtype,
)

_STRENGTH = {Subtype.IDENTITY: 0, Subtype.TRANSFORMATION: 1, Subtype.AGGREGATION: 2}
_WEAKNESS = {evidence: rank for rank, evidence in enumerate(Evidence)}


def compose(last: Subtype, first: Subtype) -> Subtype:
    """Return the subtype of two edges in a row: INDIRECT wins, then the greater change."""
    if last not in _STRENGTH:
        return last
    if first not in _STRENGTH:
        return first
    return max(first, last, key=_STRENGTH.__getitem__)


def chain_edges(last: ColumnEdge, first: ColumnEdge, to: str, subtype: Subtype) -> ColumnEdge:
    """Two edges in a row as one, of the weaker evidence."""
    return replace(
        last,
        to_column=to,
        from_dataset=first.from_dataset,
        from_column=first.from_column,
        type=subtype.type,
        subtype=subtype,
        masking=first.masking or last.masking,
        masked_by=first.masked_by.then(last.masked_by),
        evidence=max(first.evidence, last.evidence, key=_WEAKNESS.__getitem__),
        place=last.place or first.place,
        without=(*first.without, *last.without) if to == ANY_COLUMN else (),
    )


# Datasets by their keys, whose hashes are made by C.
_COMPARED: Callable[[ColumnEdge], tuple[Any, ...]] = attrgetter(
    *(
        f"{field.name}.key" if field.name.endswith("_dataset") else field.name
        for field in fields(ColumnEdge)
        if field.compare
    )
)


def expand_stars(edge: ColumnEdge, columns: Mapping[DatasetId, Sequence[str]]) -> list[ColumnEdge]:
    """`t.*` -> `u.*` column by column where t's are known, of these the ones that u has.

    By its place a column of another name goes into u, too; into which is not known.
    """
    is_star = edge.from_column == edge.to_column == ANY_COLUMN and edge.type is EdgeType.DIRECT
    names = columns.get(edge.from_dataset, ()) if is_star else ()
    if not names:
        return [edge]
    there = {name.casefold() for name in columns.get(edge.to_dataset, ())}
    same = {name for name in names if not there or name.casefold() in there}
    return [
        replace(edge, from_column=name, to_column=name if name in same else ANY_COLUMN, without=())
        for name in names
        if passes(edge, name) and (name in same or edge.ordinal)
    ]


def passes(edge: ColumnEdge, column: str) -> bool:
    """Whether `*` of an edge has a column."""
    return column.casefold() not in {name.casefold() for name in edge.without}


def unique_edges(edges: Iterable[ColumnEdge]) -> list[ColumnEdge]:
    """The edges, of those that differ by origin the first: every log of a task repeats them."""
    first: dict[tuple[object, ...], ColumnEdge] = {}
    for edge in edges:
        first.setdefault(_COMPARED(edge), edge)
    return [*first.values()]


def table_edges(accesses: Iterable[Access]) -> Iterator[ColumnEdge]:
    """The edges of statements that move a table's rows as they are: `new.*` from `old.*`."""
    moves: dict[tuple[str, str, str], list[Access]] = defaultdict(list)
    for access in accesses:
        if access.operation.switches or access.operation.renames:
            moves[access.task, access.run_id, access.shape_id].append(access)
    for group in moves.values():
        for source in group:
            for target in group:
                if source.direction is Direction.READ and target.direction is Direction.WRITE:
                    yield ColumnEdge(
                        task=target.task,
                        to_dataset=target.dataset,
                        to_column=ANY_COLUMN,
                        from_dataset=source.dataset,
                        from_column=ANY_COLUMN,
                        type=EdgeType.DIRECT,
                        subtype=Subtype.IDENTITY,
                        masking=False,
                        shape_id=target.shape_id,
                        origin=target.origin,
                    )
