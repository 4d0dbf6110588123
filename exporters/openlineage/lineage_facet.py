"""The facet `lineage` of a job: which of its outputs comes from which of its inputs.

On a JobEvent it declares them, on a RunEvent it is what the run did. Of inputs that go into no
output the job itself is the target.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any

from dbt_graft.exporters.openlineage.column_lineage import (
    edges_by_target,
    input_fields,
    split_by_column,
)
from dbt_graft.exporters.openlineage.facets import Facet, facet, identity, without_none
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import ColumnEdge

_DATASET = {"type": "DATASET"}


def lineage_facet(
    inputs: Iterable[DatasetId],
    outputs: Collection[DatasetId],
    flows: Iterable[tuple[DatasetId, DatasetId]],
    edges: Iterable[ColumnEdge],
) -> Facet | None:
    """The facet; None for a job that neither reads nor writes.

    Args:
        flows: Pairs of an input and an output that it goes into.
        edges: The column edges into the outputs.
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
