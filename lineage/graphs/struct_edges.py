"""Fields of structs: what comes from `address.city` comes from `address` too, and vice versa."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from dbt_graft.lineage.column_edges import ColumnEdges
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import ColumnEdge, Dataset, Subtype

_ENDS = (("to_dataset", "to_column"), ("from_dataset", "from_column"))


class StructEdges(NamedTuple):
    """The edges that follow from those of structs and fields, where these are known columns.

    Attributes:
        of_structs: Edges out of fields, as edges out of their structs.
        of_fields: Edges out of structs, as edges out of their fields, which no statement names.
    """

    of_structs: list[ColumnEdge]
    of_fields: list[ColumnEdge]


def struct_edges(edges: ColumnEdges, datasets: Sequence[Dataset]) -> StructEdges:
    """The edges that follow from others, so that a change of a part reaches what takes all."""
    result = StructEdges([], [])
    names_by_dataset = _datasets_with_fields(edges, datasets)
    if not names_by_dataset:
        return result
    fields: dict[tuple[DatasetId, str], list[str]] = defaultdict(list)
    for dataset, names in names_by_dataset.items():
        for field in names:
            for struct in structs(field, names):
                fields[dataset, struct].append(names[field])
    for edge in edges.where("from_dataset", names_by_dataset.__contains__):
        names = names_by_dataset[edge.from_dataset]
        column = edge.from_column.casefold()
        result.of_structs.extend(_of_part(edge, names[s]) for s in structs(column, names))
        below = fields.get((edge.from_dataset, column), ())
        result.of_fields.extend(_of_part(edge, field) for field in below)
    return result


def _datasets_with_fields(
    edges: ColumnEdges, datasets: Sequence[Dataset]
) -> dict[DatasetId, dict[str, str]]:
    """The datasets that have columns with a dot, and their columns: folded name -> name."""
    with_fields: set[DatasetId] = set()
    for end, column in _ENDS:
        with_fields.update(edges.where(column, lambda name: "." in name).distinct(end))
    with_fields |= {d.id for d in datasets if any("." in column.name for column in d.columns)}
    names: dict[DatasetId, dict[str, str]] = {dataset: {} for dataset in with_fields}
    for dataset in datasets:
        if dataset.id in names:
            names[dataset.id] = {column.name.casefold(): column.name for column in dataset.columns}
    for end, column in _ENDS:
        of_these = edges.where(end, names.__contains__)
        for dataset, name in zip(of_these.values(end), of_these.values(column), strict=False):
            names[dataset].setdefault(name.casefold(), name)
    return names


def structs(field: str, columns: Container[str]) -> Iterator[str]:
    """The columns of which a column is a field, all folded, the nearest last."""
    parts = field.split(".")
    for end in range(1, len(parts)):
        if (struct := ".".join(parts[:end])) in columns:
            yield struct


def _of_part(edge: ColumnEdge, column: str) -> ColumnEdge:
    """An edge as one out of a part, or of what has it as a part."""
    is_copy = edge.subtype is Subtype.IDENTITY
    subtype = Subtype.TRANSFORMATION if is_copy else edge.subtype
    return replace(edge, from_column=column, type=subtype.type, subtype=subtype)
