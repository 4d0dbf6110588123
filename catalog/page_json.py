"""`index.json` beside the page of each table and task: what it says, for programs.

Of the schema `docs/schemas/page.schema.json`. Paths in it start at the site's root.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from dbt_graft.analysis.impact.reach import ReachOfChange
from dbt_graft.analysis.render.json import envelope
from dbt_graft.catalog.index import Index
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.graph import Graph
from dbt_graft.lineage.model import Task
from dbt_graft.lineage.records import ColumnEdge, Direction, Run
from dbt_graft.lineage.urls import dataset_path, task_path
from dbt_graft.lineage.usage import Usage

_RUNS = 30  # Of a task, or of a dataset's writers.
Section = dict[str, Any]


def write_page_json(index: Index, site: Path) -> None:
    """Write the documents of all datasets, tasks and consumers beside their pages.

    Raises:
        OSError: A file cannot be written.
    """
    order = index.lineage.task_graph()
    for dataset in index.datasets:
        _write(site, dataset_path(dataset), dataset_json(index, dataset))
    for name in index.task_names():
        _write(site, task_path(name), task_json(index, name, order))


def dataset_json(index: Index, dataset: DatasetId) -> Section:
    """The document of a dataset."""
    facts, description = index.datasets[dataset], index.descriptions.get(dataset)
    writers = index.lineage.usages_of(dataset, Direction.WRITE)
    role = index.role(dataset)
    runs = (
        run
        for usage in _first_usages(writers)
        for run in index.tasks[usage.task].runs_of(usage)[:_RUNS]
    )
    return {
        **_head("dataset", str(dataset), dataset_path(dataset)),
        "table_kind": facts.kind.value,
        "role": role.value if role else None,
        "dbt_ids": list(description.dbt_ids) if description else [],
        "description": description.text if description else "",
        "owner": (description.owner if description else "") or None,
        "tags": list(description.tags) if description else [],
        "last_written_at": _time(index.written_at(dataset)),
        "columns": _columns(index, dataset),
        "upstream": [_flow(flow, flow.source) for flow in index.flows_to.get(dataset, ())],
        "downstream": [_flow(flow, flow.target) for flow in index.flows_from.get(dataset, ())],
        "writers": [_usage(usage) for usage in writers],
        "readers": [_usage(usage) for usage in index.lineage.usages_of(dataset, Direction.READ)],
        "consumers": [_consumer(consumer) for consumer in index.reports.get(dataset, ())],
        "runs": [_run(run) for run in _newest_runs(runs)],
        "impact": _impact(index, dataset),
    }


def task_json(index: Index, name: str, order: Graph[str]) -> Section:
    """The document of a task, of a consumer, or of a task that dbt knows as an exposure.

    Args:
        order: Which task feeds which (`Lineage.task_graph`).
    """
    task, consumer = index.tasks.get(name), index.consumers.get(name)
    usages = task.usages if task else ()
    reads = [_usage(usage) for usage in usages if usage.direction is Direction.READ]
    if consumer and not task:
        reads = [
            {"dataset": str(dataset), "page": dataset_path(dataset)} for dataset in consumer.reads
        ]
    return {
        **_head("task" if task else "consumer", name, task_path(name)),
        "engines": list(task.engines) if task else [],
        "description": (task.info.description if task else "") or (consumer or _NOBODY).text,
        "owner": index.task_owner(name) or None,
        "tags": list(index.task_tags(name)),
        "consumer_kind": consumer.kind if consumer else None,
        "reads": reads,
        "writes": [_usage(usage) for usage in usages if usage.direction is Direction.WRITE],
        "upstream_tasks": _known_tasks(order.parents(name), index.tasks) if task else [],
        "downstream_tasks": _known_tasks(order.children(name), index.tasks) if task else [],
        "runs": [_run(run) for run in task.runs[:_RUNS]] if task else [],
    }


_NOBODY = Consumer("", "", "", ())


def _write(site: Path, path: str, document: Section) -> None:
    file = site / path / "index.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(orjson.dumps(document))


def _head(kind: str, name: str, path: str) -> Section:
    return {**envelope("page"), "kind": kind, "name": name, "page": path}


def _columns(index: Index, dataset: DatasetId) -> list[Section]:
    upstream, downstream = index.edges_to(dataset), index.edges_from(dataset)
    description = index.descriptions.get(dataset)
    texts = {
        name.casefold(): text for name, text in (description.columns if description else {}).items()
    }
    gone = index.gone_columns(dataset)
    return [
        {
            "name": column.name,
            "type": column.type,
            "is_gone": key in gone,
            "description": texts.get(key, ""),
            "upstream": [
                _edge(edge, edge.from_dataset, edge.from_column) for edge in upstream.get(key, ())
            ],
            "downstream": [
                _edge(edge, edge.to_dataset, edge.to_column) for edge in downstream.get(key, ())
            ],
        }
        for key, column in index.columns(dataset).items()
    ]


def _edge(edge: ColumnEdge, dataset: DatasetId, column: str) -> Section:
    return {
        "dataset": str(dataset),
        "column": column,
        "task": edge.task,
        "subtype": edge.subtype.value,
        "masking": edge.masking,
        "masked_by": edge.masked_by.value or None,
        "evidence": edge.evidence.value,
    }


def _flow(flow: Flow, dataset: DatasetId) -> Section:
    return {
        "dataset": str(dataset),
        "page": dataset_path(dataset),
        "task": flow.task,
        "evidence": flow.evidence.value,
        "first_at": _time(flow.first_at),
        "last_at": _time(flow.last_at),
    }


def _usage(usage: Usage) -> Section:
    return {
        "task": usage.task,
        "dataset": str(usage.dataset),
        "page": dataset_path(usage.dataset),
        "engine": usage.engine,
        "operations": [operation.value for operation in usage.operations],
        "rows": usage.rows,
        "last_at": _time(usage.last_at),
        "failed": usage.failed,
        "evidence": usage.evidence.value,
    }


def _consumer(consumer: Consumer) -> Section:
    return {
        "name": consumer.name,
        "kind": consumer.kind,
        "owner": consumer.owner or None,
        "page": task_path(consumer.name),
    }


def _run(run: Run) -> Section:
    return {
        "run_id": run.run_id,
        "task": run.task,
        "engine": run.engine,
        "status": run.status.value,
        "started_at": _time(run.started_at),
        "ended_at": _time(run.ended_at),
        "code_version": run.code_version,
    }


def _impact(index: Index, dataset: DatasetId) -> Section | None:
    panel = index.impact(dataset)
    if panel is None:
        return None
    return {
        "dataset": _reaches(panel.of_dataset),
        "columns": {name: _reaches(reaches) for name, reaches in panel.of_columns.items()},
    }


def _reaches(reaches: Mapping[Any, ReachOfChange]) -> Section:
    return {
        kind.value: {
            "severity": reach.severity.name,
            "datasets": reach.datasets,
            "statements_fail": reach.broken,
            "tests_break": reach.tests,
            "consumers": [consumer.name for consumer in reach.consumers],
            "coverage": {"flows": reach.flows, "columns_known": reach.known},
        }
        for kind, reach in reaches.items()
    }


def _first_usages(usages: Sequence[Usage]) -> Iterator[Usage]:
    """One usage of each task: its runs are those of all of them."""
    yield from {usage.task: usage for usage in usages}.values()


def _newest_runs(runs: Iterable[Run]) -> list[Run]:
    return sorted(runs, key=lambda run: (run.started_at is not None, run.started_at), reverse=True)[
        :_RUNS
    ]


def _known_tasks(names: Iterable[str], tasks: Mapping[str, Task]) -> list[str]:
    return [name for name in names if name in tasks]


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
