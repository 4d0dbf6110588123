"""Small events, written after the spec, and what a reader makes of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dbt_graft.collectors.openlineage.worker import FilePart, PartResult, read_part
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import NodeResult, Records

# A table that tasks read, and one that they write.
IN, OUT = "mssql://crm:1433 Shop.dbo.Orders", "spark raw.orders"
# The flow from the one to the other.
FLOW = "load_orders: mssql://crm:1433/Shop.dbo.Orders -> spark/raw.orders"
PRODUCERS = {
    "airflow": "https://github.com/apache/airflow/tree/providers-openlineage/2.20.3",
    "spark": "https://github.com/OpenLineage/OpenLineage/tree/1.40.0/integration/spark",
    "flink": "https://github.com/OpenLineage/OpenLineage/tree/1.40.0/integration/flink",
    "hive": "https://github.com/OpenLineage/OpenLineage/tree/1.40.0/integration/hive-hook",
    "dbt": "https://github.com/OpenLineage/OpenLineage/tree/1.54.0/integration/dbt",
    "trino": "https://github.com/trinodb/trino/plugin/trino-openlineage",
    "graft": "https://github.com/dbt-graft/dbt-graft/tree/v0.1.0",
    "other": "https://example.org/etl",
}
Document = dict[str, Any]


def run_id(number: int) -> str:
    """A run id."""
    return f"01a20261-2a3a-7200-94f2-{number:012d}"


def dataset(text: str, facets: Mapping[str, Any] | None = None, **counts: Any) -> Document:
    """A dataset: `mssql://crm:1433 Shop.dbo.Orders`; `counts` are facets of the input or output."""
    namespace, name = text.split(" ", 1)
    document: Document = {"namespace": namespace, "name": name, "facets": dict(facets or {})}
    if counts:
        document |= {"inputFacets": counts, "outputFacets": counts}
    return document


def event(
    state: str = "COMPLETE",
    job: str = "shop.load_orders",
    run: int = 1,
    *,
    at: str = "2026-11-22T08:00:00Z",
    by: str = "other",
    namespace: str = "etl",
    inputs: Iterable[str | Document] = (),
    outputs: Iterable[str | Document] = (),
    run_facets: Mapping[str, Any] | None = None,
    job_facets: Mapping[str, Any] | None = None,
) -> Document:
    """A RunEvent; without `state` a JobEvent."""
    document: Document = {
        "eventTime": at,
        "producer": PRODUCERS[by],
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "job": {"namespace": namespace, "name": job, "facets": dict(job_facets or {})},
        "inputs": [dataset(one) if isinstance(one, str) else one for one in inputs],
        "outputs": [dataset(output) if isinstance(output, str) else output for output in outputs],
    }
    if state:
        run_part = {"runId": run_id(run), "facets": dict(run_facets or {})}
        document |= {"eventType": state, "run": run_part}
    return document


def parent(run: int, job: str, namespace: str = "etl") -> Document:
    """The facet that names the run above."""
    return {"parent": {"run": {"runId": run_id(run)}, "job": {"namespace": namespace, "name": job}}}


def written(path: Path, *events: Document) -> Path:
    """A file with events, one a line."""
    path.write_text("".join(f"{json.dumps(one)}\n" for one in events), "utf-8")
    return path


def results_of(path: Path, timezone: str = "", **part: Any) -> list[PartResult]:
    """Results of a worker for a file, or for a part of it."""
    size = path.stat().st_size
    listed = FilePart(str(path), path.name, path.name, 0, size, size, 0)
    return list(read_part(replace(listed, **part), timezone=timezone))


def records(results: Iterable[PartResult]) -> Records:
    """The records in results together."""
    listed = list(results)
    found = [result.records for result in listed]
    return Records(
        accesses=tuple(access for result in found for access in result.accesses),
        runs=tuple(run for result in found for run in result.runs),
        shapes={shape.shape_id: shape for result in found for shape in result.shapes},
        datasets=tuple(dataset for result in found for dataset in result.datasets),
        rejects=tuple(reject for result in found for reject in result.rejects),
        column_edges=tuple(edge for result in found for edge in result.column_edges),
        task_metadata=tuple(one for result in listed for one in result.task_metadata),
        dataset_metadata=tuple(one for result in listed for one in result.dataset_metadata),
    )


def node_results(results: Iterable[PartResult]) -> list[NodeResult]:
    """dbt's results in results."""
    return [one for result in results for one in result.node_results]


def lineage(folder: Path, *files: Iterable[Document]) -> Lineage:
    """The lineage of events, of several files."""
    return build(records_in(folder, *files))


def records_in(folder: Path, *files: Iterable[Document]) -> Records:
    """The records of events, of several files."""
    paths = [written(folder / f"{n}.jsonl", *events) for n, events in enumerate(files)]
    return records(result for path in paths for result in results_of(path))


def flows(found: Lineage) -> list[str]:
    """The flows, by task: `load_orders: raw.a -> raw.b`, with the evidence unless observed."""
    return sorted(
        f"{flow.task}: {flow.source} -> {flow.target}"
        + ("" if flow.evidence == "observed" else f" ({flow.evidence})")
        for flow in found.flows
    )


def columns(found: Lineage) -> list[str]:
    """The column edges: `raw.b.id <- raw.a.id IDENTITY`."""
    return sorted(
        f"{e.to_dataset.name}.{e.to_column} <- {e.from_dataset.name}.{e.from_column} {e.subtype}"
        + (" masked" if e.masking else "")
        for e in (*found.column_edges, *found.dbt.column_edges)
    )


def change(state: str, previous: str = "") -> dict[str, Any]:
    """The facet of a change to a dataset."""
    facet: Document = {"lifecycleStateChange": state}
    if previous:
        namespace, name = previous.split(" ", 1)
        facet["previousIdentifier"] = {"namespace": namespace, "name": name}
    return {"lifecycleStateChange": facet}


def column(source: str, field: str, *transformations: Document) -> Document:
    """An input field of a column."""
    namespace, name = source.split(" ", 1)
    document: Document = {"namespace": namespace, "name": name, "field": field}
    return {**document, "transformations": list(transformations)} if transformations else document
