"""Fields of structs: what comes from `address.city` comes from `address` too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import ColumnEdge, Dataset, Subtype


def struct_edges(edges: Sequence[ColumnEdge], datasets: Iterable[Dataset]) -> list[ColumnEdge]:
    """The edges out of fields as edges out of their structs, where these are known columns.

    So questions about a struct reach what takes a field of it.
    """
    of_fields = [edge for edge in edges if "." in edge.from_column]
    if not of_fields:
        return []
    columns: dict[DatasetId, dict[str, str]] = {edge.from_dataset: {} for edge in of_fields}
    for dataset in datasets:
        if dataset.id in columns:
            columns[dataset.id].update({c.name.casefold(): c.name for c in dataset.columns})
    named: dict[DatasetId, dict[str, str]] = defaultdict(dict)
    for edge in edges:
        for end, name in (
            (edge.to_dataset, edge.to_column),
            (edge.from_dataset, edge.from_column),
        ):
            if end in columns:
                named[end].setdefault(name.casefold(), name)
    return [
        replace(edge, from_column=struct, type=subtype.type, subtype=subtype)
        for edge in of_fields
        for known in ({**named[edge.from_dataset], **columns[edge.from_dataset]},)
        for struct in (known[name] for name in structs(edge.from_column.casefold(), known))
        for subtype in (
            Subtype.TRANSFORMATION if edge.subtype is Subtype.IDENTITY else edge.subtype,
        )
    ]


def structs(field: str, columns: Container[str]) -> Iterator[str]:
    """The columns of which a column is a field, all folded, the nearest last."""
    parts = field.split(".")
    for end in range(1, len(parts)):
        if (struct := ".".join(parts[:end])) in columns:
            yield struct
