"""The lineage of each task for Airflow's environment, as the package `graft_airflow` reads it.

JSON of the schema `docs/schemas/airflow-lineage.schema.json`, one task or dataset a line, so that a
reader finds one of thousands without parsing the others.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain
from operator import itemgetter
from typing import Any

from dbt_graft.analysis.dates.valid_dates import usable_dates
from dbt_graft.analysis.render.json import envelope, exact_iso
from dbt_graft.exporters.openlineage.airflow_runs import airflow_run_of
from dbt_graft.exporters.openlineage.column_lineage import (
    edges_by_target,
    input_fields,
    split_by_column,
)
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import ColumnEdge, Direction, Evidence, NodeResult, Status

_AIRFLOW = "airflow"
_RANKS = list(Evidence)
Section = dict[str, Any]


def airflow_lineage(lineage: Lineage, as_of: datetime | None) -> dict[str, Any]:
    """The document: what tasks and dbt models read and write, and each dataset's last write.

    Tasks of an orchestrator itself, views and temporary tables are left out.

    Args:
        as_of: When the lineage was collected.
    """
    edges = group_by_key(
        ((edge.task, edge.to_dataset), edge)
        for edge in chain.from_iterable(edges_by_target(lineage.column_edges).values())
    )
    jobs, usable = _jobs(lineage), usable_dates(lineage)
    tasks: Section = {}
    for task in lineage.tasks.values():
        if content := _task(lineage, task, edges):
            task_jobs = sorted(job for job, name in jobs.items() if name == task.name)
            tasks[task.name] = {**content, **({"jobs": task_jobs} if task_jobs else {})}
    models = {
        definition.name: definition
        for definition in lineage.definitions.values()
        if definition.kind is DefinitionKind.DBT and definition.name not in tasks
    }
    tasks |= {name: _model(lineage, model, edges) for name, model in models.items()}
    return {
        **envelope("airflow-lineage"),
        "as_of": exact_iso(as_of),
        "jobs": {job: task for job, task in sorted(jobs.items()) if task in tasks},
        "models": _model_names(models, tasks),
        "tasks": dict(sorted(tasks.items())),
        "datasets": {
            str(dataset): {
                **_last_write(lineage, dataset),
                **(usable[dataset]._asdict() if dataset in usable else {}),
            }
            for dataset in sorted(lineage.datasets)
        },
    }


def lines(document: Mapping[str, Any]) -> Iterator[str]:
    """The document as text, line by line: valid JSON with one entry of a section on each.

    Those of a section are sorted by their names as they are written, so that a reader can halve its
    way to one.
    """
    yield "{"
    last = list(document)[-1]
    for key, value in document.items():
        end = "" if key == last else ","
        if not isinstance(value, dict):
            yield f"{_json(key)}:{_json(value)}{end}"
            continue
        yield f"{_json(key)}:{{"
        entries = sorted(((_json(name), entry) for name, entry in value.items()), key=itemgetter(0))
        for number, (name, entry) in enumerate(entries, 1):
            yield f"{name}:{_json(entry)}{',' if number < len(entries) else ''}"
        yield f"}}{end}"
    yield "}"


def _json(value: Any) -> str:
    # ASCII alone: the reader looks for the bytes of a name as Python's json writes them.
    return json.dumps(value, separators=(",", ":"))


def _task(
    lineage: Lineage, task: Task, edges: Mapping[tuple[str, DatasetId], list[ColumnEdge]]
) -> Section:
    """The entry of a task; empty where nothing is known that a reader could use."""
    if set(task.engines) == {_AIRFLOW}:
        return {}
    inputs = [_dataset(dataset, _last_use(task, dataset, Direction.READ)) for dataset in task.reads]
    outputs = [
        {
            **_dataset(dataset, _last_use(task, dataset, Direction.WRITE)),
            **_columns(lineage, dataset, edges.get((task.name, dataset), ())),
        }
        for dataset in task.writes
    ]
    if not inputs and not outputs:
        return {}
    evidence = {entry["evidence"] for entry in (*inputs, *outputs)}
    times = (usage.last_at for usage in task.usages if usage.moves_data and not usage.failed)
    return {
        "last_at": exact_iso(max((moment for moment in times if moment), default=None)),
        "evidence": [str(rank) for rank in _RANKS if str(rank) in evidence],
        "inputs": inputs,
        "outputs": outputs,
    }


def _model(
    lineage: Lineage, model: Definition, edges: Mapping[tuple[str, DatasetId], list[ColumnEdge]]
) -> Section:
    """A dbt model, seed or snapshot, as if it were a task; dbt declares it."""
    built_at = exact_iso(_built_at(lineage.dbt.node_results.get(model.name, ())))
    declared = (Evidence.DECLARED, built_at)
    return {
        "last_at": built_at,
        "evidence": [str(Evidence.DECLARED)],
        "inputs": [_dataset(dataset, declared) for dataset in model.reads],
        "outputs": [
            {
                **_dataset(model.dataset, declared),
                **_columns(lineage, model.dataset, edges.get((model.name, model.dataset), ())),
            }
        ],
    }


def _last_use(task: Task, dataset: DatasetId, direction: Direction) -> tuple[Evidence, str | None]:
    """The strongest evidence of a usage on any engine, and the last time that data moved."""
    usages = [
        usage
        for usage in task.usages_of(dataset, direction)
        if usage.moves_data and not usage.failed
    ]
    evidence = min((usage.evidence for usage in usages), key=_RANKS.index)
    return evidence, exact_iso(
        max((usage.last_at for usage in usages if usage.last_at), default=None)
    )


def _dataset(dataset: DatasetId, usage: tuple[Evidence, str | None]) -> Section:
    evidence, last_at = usage
    return {
        "namespace": dataset.namespace,
        "name": dataset.name,
        "evidence": str(evidence),
        "last_at": last_at,
    }


def _columns(lineage: Lineage, dataset: DatasetId, edges: Iterable[ColumnEdge]) -> Section:
    """The columns of an output, and the lineage of those that this task fills."""
    section: Section = {}
    details = lineage.datasets.get(dataset)
    if details and details.columns:
        section["columns"] = [
            {"name": column.name, **({"type": column.type} if column.type else {})}
            for column in details.columns
        ]
    if column_lineage := _column_lineage(edges):
        section["column_lineage"] = column_lineage
    return section


def _column_lineage(of_output: Iterable[ColumnEdge]) -> Section:
    """`fields` and `dataset` of OpenLineage's facet."""
    fields, of_rows = split_by_column(of_output)
    section: Section = {}
    if fields:
        section["fields"] = {name: _inputs(edges) for name, edges in sorted(fields.items())}
    if of_rows:
        section["dataset"] = _inputs(of_rows)
    return section


def _inputs(edges: Iterable[ColumnEdge]) -> list[Section]:
    fields = input_fields(edges)
    for field in fields:  # most have no description
        field["transformations"] = [
            {key: value for key, value in transformation.items() if value != ""}
            for transformation in field["transformations"]
        ]
    return fields


def _jobs(lineage: Lineage) -> dict[str, str]:
    """`<dag>.<task>` of Airflow -> our task that it ran; a job that ran several is left out."""
    tasks_by_job: dict[str, set[str]] = defaultdict(set)
    for task in lineage.tasks.values():
        for run in task.runs:
            if airflow_run := airflow_run_of(run, lineage.history.orchestrator_runs):
                tasks_by_job[airflow_run.job.name].add(task.name)
    return {job: next(iter(tasks)) for job, tasks in tasks_by_job.items() if len(tasks) == 1}


def _model_names(models: Iterable[str], tasks: Collection[str]) -> dict[str, str]:
    """Name of a dbt node -> its unique_id, where one alone has it and no task."""
    ids_by_name = group_by_key((unique_id.split(".", 2)[-1], unique_id) for unique_id in models)
    return {
        name: ids[0]
        for name, ids in sorted(ids_by_name.items())
        if len(ids) == 1 and name not in tasks
    }


def _last_write(lineage: Lineage, dataset: DatasetId) -> Section:
    """The last time that a task or dbt put data into a dataset; its definition's for dbt's own."""
    writes = [(usage.last_at, usage.task) for usage in lineage.writers(dataset) if usage.last_at]
    definition = lineage.definition(dataset, DefinitionKind.DBT)
    if definition and (built_at := _built_at(lineage.dbt.node_results.get(definition.name, ()))):
        writes.append((built_at, definition.name))
    at, task = max(writes, default=(None, None))
    return {"written_at": exact_iso(at), "task": task}


def _built_at(results: Iterable[NodeResult]) -> datetime | None:
    """The end of a node's last build that succeeded."""
    times = (result.ended_at for result in results if result.status is Status.OK)
    return max((moment for moment in times if moment), default=None)
