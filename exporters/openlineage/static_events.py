"""JobEvents and DatasetEvents: what there is, without a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dbt_graft.exporters.openlineage.column_lineage import column_lineage, edges_by_target
from dbt_graft.exporters.openlineage.datasets import all_facets
from dbt_graft.exporters.openlineage.facets import Event, Facet, event, identity, without_none
from dbt_graft.exporters.openlineage.jobs import definition_facets, sql, task_facets
from dbt_graft.exporters.openlineage.lineage_facet import lineage_facet
from dbt_graft.exporters.openlineage.snapshot import LineageSnapshot
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.model import Task
from dbt_graft.lineage.openlineage import JobId, dbt_job, view_job
from dbt_graft.lineage.records import ColumnEdge, Direction


def task_event(snapshot: LineageSnapshot, task: Task) -> Event:
    """The JobEvent of a task: all that it does, over all of its runs."""
    facets = task_facets(task, task.engines[0] if task.engines else "unknown")
    shapes = {
        shape: None
        for usage in task.usages
        if usage.direction is Direction.WRITE and not usage.failed
        for shape in usage.shapes
    }
    return _job_event(
        snapshot, task.name, snapshot.job(task), facets, task.reads, task.writes, list(shapes)
    )


def definition_event(snapshot: LineageSnapshot, definition: Definition) -> Event:
    """The JobEvent of a dbt model, or of a view."""
    job = definition_job(snapshot, definition)
    description = snapshot.descriptions.get(definition.dataset)
    facets = definition_facets(definition, description)
    reads = [dataset for dataset in definition.reads if dataset != definition.dataset]
    return _job_event(
        snapshot, definition.name, job, facets, reads, [definition.dataset], definition.shapes
    )


def definition_job(snapshot: LineageSnapshot, definition: Definition) -> JobId:
    """The job of a dbt model, or of a view."""
    if definition.kind is DefinitionKind.DBT:
        return dbt_job(definition.name, snapshot.namespace)
    return view_job(definition.dataset, snapshot.namespace)


def _job_event(
    snapshot: LineageSnapshot,
    name: str,
    job: JobId,
    facets: Mapping[str, Facet],
    reads: Sequence[DatasetId],
    writes: Sequence[DatasetId],
    shapes: Iterable[str],
) -> Event:
    shapes_by_id = snapshot.lineage.shapes
    edges = [edge for edge in snapshot.edges.get(name, ()) if edge.to_dataset in set(writes)]
    flows = [(flow.source, flow.target) for flow in snapshot.flows.get(name, ())]
    work = {
        "sql": sql(shapes_by_id[shape] for shape in shapes if shape in shapes_by_id),
        "lineage": lineage_facet(reads, writes, flows, edges),
    }
    return event(
        "JobEvent",
        snapshot.at,
        job={**identity(job), "facets": {**facets, **without_none(work)}},
        inputs=[identity(dataset) for dataset in reads],
        outputs=_outputs(writes, edges),
    )


def _outputs(writes: Sequence[DatasetId], edges: Iterable[ColumnEdge]) -> list[dict[str, Any]]:
    edges_by_dataset = edges_by_target(edges)
    return [
        without_none(
            {**identity(dataset), "facets": _with_columns(edges_by_dataset.get(dataset, ()))}
        )
        for dataset in writes
    ]


def _with_columns(edges: Iterable[ColumnEdge]) -> dict[str, Facet] | None:
    columns = column_lineage(edges)
    return {"columnLineage": columns} if columns else None


def dataset_event(
    snapshot: LineageSnapshot, dataset: DatasetId, edges: Iterable[ColumnEdge] = ()
) -> Event:
    """The DatasetEvent of a dataset: what is known of it, whoever uses it.

    Args:
        edges: The column edges into it.
    """
    facets = all_facets(snapshot.lineage, dataset, snapshot.descriptions.get(dataset))
    facets |= _with_columns(edges) or {}
    return event("DatasetEvent", snapshot.at, dataset={**identity(dataset), "facets": facets})
