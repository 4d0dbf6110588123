"""All events of a lineage in order: datasets, jobs, runs; or those of some tasks, since a time.

JobEvents and DatasetEvents have what there is, without a run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson

from dbt_graft.exporters.openlineage.column_lineage import (
    column_lineage,
    edges_by_target,
    lineage_facet,
)
from dbt_graft.exporters.openlineage.datasets import all_facets
from dbt_graft.exporters.openlineage.facets import (
    GRAFT,
    PRODUCER,
    Event,
    Facet,
    event,
    identity,
    without_none,
)
from dbt_graft.exporters.openlineage.jobs import definition_facets, sql, task_facets
from dbt_graft.exporters.openlineage.runs import dbt_run_events, task_run_events
from dbt_graft.exporters.openlineage.settings import ExportedKind
from dbt_graft.exporters.openlineage.snapshot import LineageSnapshot
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.model import Task
from dbt_graft.lineage.openlineage import JobId, dbt_job, view_job
from dbt_graft.lineage.records import ColumnEdge, Direction

_BEGINNING = datetime.min.replace(tzinfo=UTC)


@frozen
class EventSelection:
    """The events that are wanted.

    Attributes:
        kinds: Receivers that know RunEvents only fail on the others.
        tasks: Only these tasks and dbt models, and the datasets that they use; None for all.
        since: Only runs that ended at this time or later, and what had one.
        datasets: Of datasets only these; None for all.
    """

    kinds: Collection[ExportedKind] = tuple(ExportedKind)
    tasks: Collection[str] | None = None
    since: datetime | None = None
    datasets: Collection[DatasetId] | None = None


@frozen
class ExportedEvent:
    """An event and the task or dbt model that it is about; empty for one of a dataset."""

    task: str
    event: Event


def events(
    snapshot: LineageSnapshot, selection: EventSelection | None = None
) -> Iterator[ExportedEvent]:
    """Yield the events: equal lineages have equal events, in the same order."""
    wanted = selection or EventSelection()
    lineage = snapshot.lineage
    tasks = [
        task
        for task in lineage.tasks.values()
        if _is_wanted(wanted, task.name) and _ran_since(task, wanted.since)
    ]
    definitions = [
        definition
        for definition in lineage.definitions.values()
        if _is_wanted(wanted, definition.name)
        and _was_built_since(snapshot, definition, wanted.since)
    ]
    if ExportedKind.DATASET in wanted.kinds:
        is_all = wanted.tasks is None and wanted.since is None
        edges = edges_by_target(lineage.column_edges)
        used = lineage.datasets if is_all else _used_datasets(tasks, definitions)
        for dataset in sorted(used if wanted.datasets is None else wanted.datasets):
            yield ExportedEvent("", dataset_event(snapshot, dataset, edges.get(dataset, ())))
    if ExportedKind.JOB in wanted.kinds:
        yield from (ExportedEvent(task.name, task_event(snapshot, task)) for task in tasks)
        yield from (
            ExportedEvent(definition.name, definition_event(snapshot, definition))
            for definition in definitions
        )
    if ExportedKind.RUN in wanted.kinds:
        for task in tasks:
            for event in task_run_events(snapshot, task, wanted.since):
                yield ExportedEvent(task.name, event)
        for definition in definitions:
            if definition.kind is DefinitionKind.DBT:
                for event in dbt_run_events(snapshot, definition, wanted.since):
                    yield ExportedEvent(definition.name, event)


def event_key(event: Event) -> str:
    """The identity of an event: equal for the same news, whenever and by whatever version.

    That of a run is its id, type and time: a table that gets a column is no news of all runs that
    ever wrote it. Of a run of Airflow to which we add datasets, it is these too: another log may
    show more of them. Events of jobs and datasets have the time of the export: they are news where
    something else changed.
    """
    if "run" in event:
        parts = [event["run"]["runId"], event["eventType"], event["eventTime"]]
        if GRAFT in event["run"]["facets"]:
            parts += [dataset["name"] for side in ("inputs", "outputs") for dataset in event[side]]
        content = "|".join(parts).encode()
    else:
        timeless = {**event, "eventTime": None}
        content = orjson.dumps(timeless, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(content.replace(PRODUCER.encode(), b"")).hexdigest()


def _is_wanted(selection: EventSelection, name: str) -> bool:
    return selection.tasks is None or name in selection.tasks


def _ran_since(task: Task, since: datetime | None) -> bool:
    times = [usage.last_at for usage in task.usages]
    times += [run.ended_at or run.started_at for run in task.runs]
    return since is None or any(at and at >= since for at in times)


def _was_built_since(
    snapshot: LineageSnapshot, definition: Definition, since: datetime | None
) -> bool:
    results = snapshot.lineage.dbt.node_results.get(definition.name, ())
    times = (result.ended_at or result.started_at for result in results)
    return since is None or any(at and at >= since for at in times)


def _used_datasets(tasks: list[Task], definitions: list[Definition]) -> set[DatasetId]:
    of_tasks = {usage.dataset for task in tasks for usage in task.usages}
    return of_tasks | {dataset for d in definitions for dataset in (*d.reads, d.dataset)}


def task_event(snapshot: LineageSnapshot, task: Task) -> Event:
    """The JobEvent of a task: all that it does, over all of its runs."""
    job = snapshot.job(task)
    facets = task_facets(task, task.engines[0] if task.engines else "unknown", job)
    shapes = {
        shape: None
        for usage in task.usages
        if usage.direction is Direction.WRITE and not usage.failed
        for shape in usage.shapes
    }
    return _job_event(snapshot, task.name, job, facets, task.reads, task.writes, list(shapes))


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
    """The DatasetEvent of a dataset: what is known of it, whoever uses it."""
    facets = all_facets(snapshot.lineage, dataset, snapshot.descriptions.get(dataset))
    facets |= _with_columns(edges) or {}
    details = snapshot.lineage.datasets.get(dataset)
    at = (details and details.dropped_at) or snapshot.at
    return event("DatasetEvent", at, dataset={**identity(dataset), "facets": facets})
