"""The facets `columnLineage` of a dataset and `lineage` of a job.

{"fields": {"amount": {"inputFields": [{"namespace": "file", "name": "/landing/orders",
     "field": "amount", "transformations": [{"type": "DIRECT", …}]}]}},
 "dataset": [the columns that decide on rows]}

`lineage` says which output of a job comes from which of its inputs. On a JobEvent it declares them,
on a RunEvent it is what the run did. Of inputs that go into no output the job itself is the target.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from dbt_graft.exporters.openlineage.facets import Facet, facet, identity, without_none
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import ANY_COLUMN, ColumnEdge, EdgeType, Evidence

_DESCRIPTIONS = {
    Evidence.DECLARED: "declared, not observed",
    Evidence.INFERRED: "inferred from equal names of columns",
}
_DATASET = {"type": "DATASET"}


def edges_by_target(edges: Iterable[ColumnEdge]) -> Mapping[DatasetId, list[ColumnEdge]]:
    """The edges that OpenLineage can name, by their output dataset.

    Edges from or to `*` of which no column is known are left out: it would take `*` for a name.
    """
    by_dataset: dict[DatasetId, list[ColumnEdge]] = {}
    for edge in edges:
        is_unknown = edge.to_column == ANY_COLUMN and edge.type is EdgeType.DIRECT
        if edge.from_column != ANY_COLUMN and not is_unknown:
            by_dataset.setdefault(edge.to_dataset, []).append(edge)
    return by_dataset


def column_lineage(edges: Iterable[ColumnEdge]) -> Facet | None:
    """The facet of a dataset with these edges into it; None without any."""
    fields, of_rows = split_by_column(edges)
    if not fields and not of_rows:
        return None
    return facet(
        "ColumnLineageDatasetFacet",
        fields={
            name: {"inputFields": input_fields(field_edges)} for name, field_edges in fields.items()
        },
        dataset=input_fields(of_rows) or None,
    )


def split_by_column(
    edges: Iterable[ColumnEdge],
) -> tuple[dict[str, list[ColumnEdge]], list[ColumnEdge]]:
    """The edges by their output column, and those that decide on rows."""
    fields: dict[str, list[ColumnEdge]] = {}
    names: dict[str, str] = {}
    for edge in edges:
        name = names.setdefault(edge.to_column.casefold(), edge.to_column)
        fields.setdefault(name, []).append(edge)
    of_rows = fields.pop(ANY_COLUMN, [])
    return fields, of_rows


def input_fields(edges: Iterable[ColumnEdge]) -> list[dict[str, Any]]:
    """Each input column once, with its transformations, each once too."""
    inputs: dict[tuple[DatasetId, str], tuple[str, list[dict[str, Any]]]] = {}
    for edge in edges:
        key = edge.from_dataset, edge.from_column.casefold()
        _, transformations = inputs.setdefault(key, (edge.from_column, []))
        transformation = {
            "type": str(edge.type),
            "subtype": str(edge.subtype),
            "description": _describe(edge),
            "masking": edge.masking,
        }
        if transformation not in transformations:
            transformations.append(transformation)
    return [
        {**identity(dataset), "field": name, "transformations": transformations}
        for (dataset, _), (name, transformations) in inputs.items()
    ]


def _describe(edge: ColumnEdge) -> str:
    """The evidence of a column: `in tasks/load_orders.py:41`, `declared, not observed`."""
    place = f"in {edge.place}" if edge.place else ""
    return ", ".join(filter(None, (place, _DESCRIPTIONS.get(edge.evidence, ""))))


def lineage_facet(
    inputs: Iterable[DatasetId],
    outputs: Collection[DatasetId],
    flows: Iterable[tuple[DatasetId, DatasetId]],
    edges: Iterable[ColumnEdge],
) -> Facet | None:
    """The facet; None for a job that neither reads nor writes.

    Args:
        flows: Pairs of an input and an output that it goes into.
    """
    sources: dict[DatasetId, set[DatasetId]] = defaultdict(set)
    for source, target in flows:
        sources[target].add(source)
    columns = edges_by_target(edges)
    entries = [_entry(target, sources[target], columns.get(target, [])) for target in outputs]
    passed_on = {source for target in outputs for source in sources[target]}
    into_job = [{**identity(dataset), **_DATASET} for dataset in inputs if dataset not in passed_on]
    if into_job:
        entries.append({"type": "JOB", "inputs": into_job})
    return facet("LineageJobFacet", entries=entries) if entries else None


def _entry(
    target: DatasetId, sources: Iterable[DatasetId], edges: Iterable[ColumnEdge]
) -> dict[str, Any]:
    fields, of_rows = split_by_column(edges)
    inputs = [{**identity(source), **_DATASET} for source in sorted(sources)]
    return without_none(
        {
            **identity(target),
            **_DATASET,
            "inputs": [*inputs, *_inputs(of_rows)],
            "fields": {
                name: {"inputs": _inputs(field_edges)} for name, field_edges in fields.items()
            }
            or None,
        }
    )


def _inputs(edges: Iterable[ColumnEdge]) -> list[dict[str, Any]]:
    return [{**_DATASET, **field} for field in input_fields(edges)]
