"""All events of a lineage in order: datasets, jobs, runs; or those of some tasks, since a time."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

import orjson

from dbt_graft.exporters.openlineage.airflow_runs import GRAFT
from dbt_graft.exporters.openlineage.column_lineage import edges_by_target
from dbt_graft.exporters.openlineage.facets import PRODUCER, Event
from dbt_graft.exporters.openlineage.runs import dbt_run_events, task_run_events
from dbt_graft.exporters.openlineage.snapshot import LineageSnapshot
from dbt_graft.exporters.openlineage.static_events import (
    dataset_event,
    definition_event,
    task_event,
)
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.model import Task

_BEGINNING = datetime.min.replace(tzinfo=UTC)


class ExportedKind(StrEnum):
    """Kinds of events."""

    DATASET = "dataset"
    JOB = "job"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class EventSelection:
    """The events that are wanted.

    Attributes:
        kinds: Receivers that know RunEvents only fail on the others.
        tasks: Only these tasks and dbt models, and the datasets that they use; None for all.
        since: Only runs that ended at this time or later, and what had one.
    """

    kinds: Collection[ExportedKind] = tuple(ExportedKind)
    tasks: Collection[str] | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
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
        for dataset in sorted(lineage.datasets if is_all else _used_datasets(tasks, definitions)):
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
    results = snapshot.lineage.node_results.get(definition.name, ())
    times = (result.ended_at or result.started_at for result in results)
    return since is None or any(at and at >= since for at in times)


def _used_datasets(tasks: list[Task], definitions: list[Definition]) -> set[DatasetId]:
    of_tasks = {usage.dataset for task in tasks for usage in task.usages}
    return of_tasks | {dataset for d in definitions for dataset in (*d.reads, d.dataset)}
