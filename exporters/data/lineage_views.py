"""Views of the lineage: datasets, columns, tasks, usages, edges, results and consumers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace

from dbt_graft.exporters.data.view import (
    DATASET,
    DESCRIPTION,
    ENDED,
    EVIDENCE,
    FIRST,
    FLAG,
    LABEL,
    LAST,
    NUMBER,
    OWNER,
    PAGE,
    STARTED,
    STATUS,
    TAGS,
    TASK,
    TEXT,
    TEXTS,
    TIME,
    TOOK,
    View,
    ViewColumn,
    seconds_between,
)
from dbt_graft.exporters.data.view_data import ViewData
from dbt_graft.lineage.building.checks import check_of
from dbt_graft.lineage.column_edges import ColumnEdges
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description, NodeTest, Role
from dbt_graft.lineage.gaps import column_gaps, gaps, open_tasks, reason_text
from dbt_graft.lineage.urls import dataset_path, task_path

# The fields of a column edge that its view shows.
_SHOWN_OF_EDGE = (
    *("to_dataset", "task", "to_column", "from_dataset", "from_column", "type", "subtype"),
    *("masking", "masked_by", "evidence", "place"),
)
_UNDESCRIBED = Description(DatasetId("", ""), "", "", Role.SOURCE)


def _datasets(data: ViewData) -> Iterator[object]:
    lineage = data.described.lineage
    written = lineage.writer_names()
    for dataset in lineage.datasets.values():
        description = data.described.descriptions.get(dataset.id)
        yield SimpleNamespace(
            dataset=dataset,
            of=description or _UNDESCRIBED,
            kind=dataset.kind.lower(),
            role=description.role if description else None,
            writers=written.get(dataset.id, ()),
            page=dataset_path(dataset.id),
        )


def _columns(data: ViewData) -> Iterator[object]:
    for dataset in data.described.lineage.datasets.values():
        description = data.described.descriptions.get(dataset.id, _UNDESCRIBED)
        texts = _fold_names(description.columns)
        labels = _fold_names(description.column_sensitivity)
        for position, column in enumerate(dataset.columns, 1):
            name = column.name.casefold()
            yield SimpleNamespace(
                dataset=dataset.id,
                column=column,
                position=position,
                description=texts.get(name),
                sensitivity=labels.get(name),
            )


def _fold_names(values: Mapping[str, str]) -> dict[str, str]:
    return {name.casefold(): value for name, value in values.items()}


def _tasks(data: ViewData) -> Iterator[object]:
    for task in data.described.lineage.tasks.values():
        newest = task.runs[0] if task.runs else None
        yield SimpleNamespace(
            task=task,
            last_run_at=newest.started_at if newest else None,
            last_status=newest.status if newest else None,
            page=task_path(task.name),
        )


def _usages(data: ViewData) -> Iterator[object]:
    for task in data.described.lineage.tasks.values():
        yield from task.usages


def _gaps(data: ViewData) -> Iterator[object]:
    lineage = data.described.lineage
    open_reasons = open_tasks(lineage)
    for name in lineage.tasks:
        for reason in open_reasons.get(name, ()):
            yield SimpleNamespace(task=name, missing="datasets", reason=reason)
        for gap in gaps(column_gaps(lineage, name)):
            yield SimpleNamespace(task=name, missing="columns", reason=reason_text(gap))


def _edges(data: ViewData) -> Iterator[object]:
    for flow in data.described.lineage.flows:
        yield SimpleNamespace(flow=flow, made_by=flow.definition or "task")


def _column_edges(data: ViewData) -> ColumnEdges:
    """Each once, however many statements make it."""
    return ColumnEdges.of(data.described.lineage.column_edges).once(*_SHOWN_OF_EDGE)


def _results(data: ViewData) -> Iterator[object]:
    descriptions = data.described.descriptions.values()
    datasets = {description.node_id: description.dataset for description in descriptions}
    tests = {
        test.node_id: (description.dataset, test)
        for description in descriptions
        for test in description.tests
    }
    untested = NodeTest("", "")
    for node_id, results in sorted(data.described.lineage.dbt.node_results.items()):
        dataset, test = tests.get(node_id, (datasets.get(node_id), untested))
        if check := check_of(node_id):
            dataset = check.dataset
            test = NodeTest(node_id, check.kind or check.name, check.column)
        for result in results:
            seconds = seconds_between(result.started_at, result.ended_at)
            yield SimpleNamespace(
                node_id=node_id, dataset=dataset, test=test, result=result, seconds=seconds
            )


def _consumers(data: ViewData) -> list[Consumer]:
    return sorted(data.described.consumers, key=lambda consumer: (consumer.name, consumer.node_id))


def _consumer_reads(data: ViewData) -> Iterator[object]:
    for consumer in _consumers(data):
        for dataset in consumer.reads:
            yield SimpleNamespace(consumer=consumer.name, dataset=dataset)


LINEAGE_VIEWS = (
    View(
        "datasets",
        "A table, view, path or topic.",
        _datasets,
        replace(DATASET, path="dataset.id"),
        ViewColumn("namespace", TEXT, "where it lies, as OpenLineage names it", "dataset.id."),
        ViewColumn("name", TEXT, "its name there", "dataset.id."),
        ViewColumn("kind", TEXT, "`table`, `view`, `path` or `topic`"),
        ViewColumn("role", TEXT, "in dbt: `model`, `source`, `promoted`, `added`…"),
        ViewColumn("node_id", TEXT, "dbt's unique_id", "of."),
        replace(DESCRIPTION, path="of.text"),
        replace(OWNER, path="of."),
        replace(TAGS, path="of."),
        replace(LABEL, path="of."),
        ViewColumn("writers", TEXTS, "the tasks that put data into it"),
        ViewColumn("first_seen", TIME, "the first time that a log names it", "dataset."),
        ViewColumn("last_seen", TIME, "the last time", "dataset."),
        ViewColumn("dropped_at", TIME, "when it was dropped", "dataset."),
        PAGE,
    ),
    View(
        "columns",
        "A column of a dataset.",
        _columns,
        DATASET,
        ViewColumn("column", TEXT, "its name", "column.name"),
        ViewColumn("position", NUMBER, "its place in the dataset, from 1 on"),
        ViewColumn("type", TEXT, "its type on its platform", "column."),
        DESCRIPTION,
        LABEL,
    ),
    View(
        "tasks",
        "A task: what runs again and again by one name.",
        _tasks,
        replace(TASK, path="task.name"),
        ViewColumn("engines", TEXTS, "the engines it runs on", "task."),
        replace(DESCRIPTION, path="task.info."),
        replace(OWNER, path="task.info."),
        ViewColumn("schedule", TEXT, "its schedule", "task.info."),
        replace(TAGS, path="task.info."),
        ViewColumn("runs", NUMBER, "the number of its runs", "task.run_count"),
        ViewColumn("last_run_at", TIME, "the start of its newest run"),
        ViewColumn("last_status", TEXT, "the status of that run"),
        PAGE,
    ),
    View(
        "usages",
        "What a task does to a dataset on one engine, over all of its runs; dbt is in `edges`.",
        _usages,
        TASK,
        ViewColumn("engine", TEXT, "the engine"),
        DATASET,
        ViewColumn("direction", TEXT, "`read` or `write`"),
        ViewColumn("operations", TEXTS, "what statements do: `SELECT`, `INSERT`, `MERGE`…"),
        ViewColumn("statements", NUMBER, "how many statements"),
        ViewColumn("rows", NUMBER, "rows of the last run whose log counts them"),
        ViewColumn("bytes", NUMBER, "bytes, likewise"),
        FIRST,
        LAST,
        EVIDENCE,
        ViewColumn("failed", FLAG, "every attempt failed"),
        ViewColumn("moves_data", FLAG, "data came from the dataset, or went there"),
        ViewColumn("procedures", TEXTS, "the stored procedures whose statements did it"),
    ),
    View(
        "gaps",
        "A reason why not all is known of a task: datasets may be missing, or only columns.",
        _gaps,
        TASK,
        ViewColumn("missing", TEXT, "`datasets` or `columns`"),
        ViewColumn("reason", TEXT, "the reason, with a statement without literals"),
    ),
    View(
        "edges",
        "Data flowed from one dataset to another by a task, a dbt model or a view.",
        _edges,
        ViewColumn("from_dataset", TEXT, "the dataset that was read", "flow.source"),
        ViewColumn("to_dataset", TEXT, "the dataset that was written", "flow.target"),
        ViewColumn("task", TEXT, "the task, dbt's unique_id of the model, or the view", "flow."),
        ViewColumn("made_by", TEXT, "`task`, `dbt` or `view`; `hidden` on a site for an audience"),
        replace(EVIDENCE, path="flow."),
        ViewColumn(
            "through_memory", FLAG, "the task read the data first and wrote it then", "flow."
        ),
        ViewColumn("hops", TEXTS, "temporary tables on the way", "flow."),
        replace(FIRST, path="flow."),
        replace(LAST, path="flow."),
    ),
    View(
        "column_edges",
        "An input column of an output column. `*` stands for all columns, or for unknown ones.",
        _column_edges,
        ViewColumn("from_dataset", TEXT, "the dataset of the input column"),
        ViewColumn("from_column", TEXT, "the input column"),
        ViewColumn("to_dataset", TEXT, "the dataset of the output column"),
        ViewColumn("to_column", TEXT, "the output column"),
        ViewColumn("task", TEXT, "the task, dbt's unique_id of the model, or the view"),
        ViewColumn("type", TEXT, "`DIRECT`: values go there; `INDIRECT`: they decide on it"),
        ViewColumn("subtype", TEXT, "`IDENTITY`, `AGGREGATION`, `JOIN`, `FILTER`…"),
        ViewColumn("masking", FLAG, "the value cannot be derived from the result"),
        ViewColumn("masked_by", TEXT, "how: `HASH`, `ENCRYPT`, `TOKENIZE` or `MASK`, if known"),
        EVIDENCE,
        ViewColumn("place", TEXT, "the line of code that makes it: `tasks/load_orders.py:41`"),
    ),
    View(
        "results",
        "The result of a dbt node or a test in one invocation; the last 30 of each node.",
        _results,
        ViewColumn("node_id", TEXT, "dbt's unique_id"),
        ViewColumn("dataset", TEXT, "the dataset that the node builds or tests"),
        ViewColumn("test", TEXT, "the name of the test: `not_null`", "test.name"),
        ViewColumn("column", TEXT, "the column that it tests", "test."),
        ViewColumn("invocation_id", TEXT, "dbt's id of the invocation", "result."),
        ViewColumn("command", TEXT, "`run`, `build`, `test`, `source freshness`", "result."),
        replace(STATUS, path="result."),
        ViewColumn("dbt_status", TEXT, "dbt's own word: `pass`, `warn`, `skipped`…", "result.word"),
        replace(STARTED, path="result."),
        replace(ENDED, path="result."),
        TOOK,
        ViewColumn("rows", NUMBER, "rows affected, where the adapter counts them", "result."),
        ViewColumn("failures", NUMBER, "rows that failed a test", "result."),
        ViewColumn("error", TEXT, "dbt's message, without literals", "result."),
        ViewColumn(
            "max_loaded_at", TIME, "the newest row of a source, by a freshness check", "result."
        ),
    ),
    View(
        "consumers",
        "A dashboard, report or API: it reads and writes nothing that logs know.",
        _consumers,
        ViewColumn("consumer", TEXT, "its name", "name"),
        ViewColumn("kind", TEXT, "`dashboard`, `notebook`, `analysis`, `ml`, `application`"),
        ViewColumn("node_id", TEXT, "dbt's unique_id of the exposure"),
        OWNER,
        ViewColumn("url", TEXT, "its URL"),
        TAGS,
        ViewColumn("criticality", TEXT, "what people say of it: `high`"),
        ViewColumn("deadline", TEXT, "the time of day by which it needs its data"),
        ViewColumn("freshness_slo", TEXT, "the age that its data may have"),
    ),
    View(
        "consumer_reads",
        "A dataset that a consumer reads.",
        _consumer_reads,
        ViewColumn("consumer", TEXT, "the name of the consumer"),
        DATASET,
    ),
)
