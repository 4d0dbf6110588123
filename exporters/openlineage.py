"""Column lineage as OpenLineage has it: a DatasetEvent a dataset, with the facet `columnLineage`.

{"eventTime": …, "producer": …, "schemaURL": …,
 "dataset": {"namespace": "spark", "name": "raw.orders", "facets": {"columnLineage": {
     "fields": {"amount": {"inputFields": [{"namespace": "file", "name": "/landing/orders",
         "field": "amount", "transformations": [{"type": "DIRECT", …}]}]}},
     "dataset": [the columns that decide on rows]}}}}
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import Any

from dbt_graft import __version__
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import ANY_COLUMN, ColumnEdge, EdgeType, Evidence

_PRODUCER = f"https://github.com/dbt-graft/dbt-graft/tree/v{__version__}"
_SPEC = "https://openlineage.io/spec"
_EVENT = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/DatasetEvent"
_COLUMN_LINEAGE = (
    f"{_SPEC}/facets/1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet"
)
_SCHEMA = f"{_SPEC}/facets/1-2-0/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet"
_DESCRIPTIONS = {
    Evidence.DECLARED: "declared, not observed",
    Evidence.INFERRED: "inferred from equal names of columns",
}


def column_lineage_events(
    lineage: Lineage, at: datetime, wanted: Collection[DatasetId] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield an event for each dataset with column edges into it, sorted.

    Edges from or to `*` of which no column is known are left out: OpenLineage would take `*` for a
    name.

    Args:
        at: The time of the events, aware.
        wanted: Only events of these datasets; None for all.
    """
    edges: dict[DatasetId, list[ColumnEdge]] = {}
    for edge in lineage.column_edges:
        is_unknown = edge.to_column == ANY_COLUMN and edge.type is EdgeType.DIRECT
        if edge.from_column != ANY_COLUMN and not is_unknown:
            edges.setdefault(edge.to_dataset, []).append(edge)
    for dataset in sorted(edges if wanted is None else edges.keys() & wanted):
        facets = {"columnLineage": _column_lineage(edges[dataset])}
        known = lineage.datasets.get(dataset)
        if known and known.columns:
            facets["schema"] = _facet(
                _SCHEMA,
                fields=[
                    {"name": column.name, **({"type": column.type} if column.type else {})}
                    for column in known.columns
                ],
            )
        yield {
            "eventTime": at.isoformat().replace("+00:00", "Z"),
            "producer": _PRODUCER,
            "schemaURL": _EVENT,
            "dataset": {"namespace": dataset.namespace, "name": dataset.name, "facets": facets},
        }


def _column_lineage(edges: Iterable[ColumnEdge]) -> dict[str, Any]:
    fields: dict[str, list[ColumnEdge]] = {}
    names: dict[str, str] = {}
    for edge in edges:
        name = names.setdefault(edge.to_column.casefold(), edge.to_column)
        fields.setdefault(name, []).append(edge)
    of_rows = fields.pop(ANY_COLUMN, [])
    facet = _facet(
        _COLUMN_LINEAGE,
        fields={name: {"inputFields": _input_fields(found)} for name, found in fields.items()},
    )
    return {**facet, "dataset": _input_fields(of_rows)} if of_rows else facet


def _input_fields(edges: Iterable[ColumnEdge]) -> list[dict[str, Any]]:
    """Each input column once, with its transformations, each once too."""
    found: dict[tuple[DatasetId, str], tuple[str, list[dict[str, Any]]]] = {}
    for edge in edges:
        key = edge.from_dataset, edge.from_column.casefold()
        _, transformations = found.setdefault(key, (edge.from_column, []))
        one = {
            "type": str(edge.type),
            "subtype": str(edge.subtype),
            "description": _DESCRIPTIONS.get(edge.evidence, ""),
            "masking": edge.masking,
        }
        if one not in transformations:
            transformations.append(one)
    return [
        {
            "namespace": dataset.namespace,
            "name": dataset.name,
            "field": name,
            "transformations": transformations,
        }
        for (dataset, _), (name, transformations) in found.items()
    ]


def _facet(schema_url: str, **content: Any) -> dict[str, Any]:
    return {"_producer": _PRODUCER, "_schemaURL": schema_url, **content}
