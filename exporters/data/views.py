"""The views: datasets, columns, tasks, runs, usages, edges, column edges, results, consumers.

Their names and columns are a contract with queries and notebooks (docs/query.md): columns are
added, and none is renamed or removed. All of them name datasets and tasks alike, so they join.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from dbt_graft.exporters.data.view import View, ViewColumn, ViewType
from dbt_graft.lineage.building.checks import check_of
from dbt_graft.lineage.describe import Description, NodeTest
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.urls import dataset_path, task_path

_Row = tuple[object, ...]
_TEXT, _TEXTS, _NUMBER = ViewType.TEXT, ViewType.TEXTS, ViewType.NUMBER
_FLAG, _TIME, _SECONDS = ViewType.FLAG, ViewType.TIME, ViewType.SECONDS


def _datasets(described: DescribedLineage) -> Iterator[_Row]:
    lineage = described.lineage
    written = lineage.writer_names()
    for dataset in lineage.datasets.values():
        description = described.descriptions.get(dataset.id)
        yield (
            str(dataset.id),
            dataset.id.namespace,
            dataset.id.name,
            dataset.kind.value.lower(),
            description.role.value if description else None,
            description.node_id if description else None,
            (description.text if description else "") or None,
            (description.owner if description else "") or None,
            list(description.tags) if description else [],
            (description.sensitivity if description else "") or None,
            written.get(dataset.id, []),
            dataset.first_seen,
            dataset.last_seen,
            dataset.dropped_at,
            dataset_path(dataset.id),
        )


def _columns(described: DescribedLineage) -> Iterator[_Row]:
    for dataset in described.lineage.datasets.values():
        description = described.descriptions.get(dataset.id)
        texts = _by_name(description, "columns")
        labels = _by_name(description, "column_sensitivity")
        for position, column in enumerate(dataset.columns, 1):
            name = column.name.casefold()
            yield (
                str(dataset.id),
                column.name,
                position,
                column.type or None,
                texts.get(name) or None,
                labels.get(name) or None,
            )


def _by_name(description: Description | None, field: str) -> dict[str, str]:
    values = getattr(description, field) if description else {}
    return {name.casefold(): value for name, value in values.items()}


def _tasks(described: DescribedLineage) -> Iterator[_Row]:
    for task in described.lineage.tasks.values():
        newest = task.runs[0] if task.runs else None
        yield (
            task.name,
            list(task.engines),
            task.info.description or None,
            task.info.owner or None,
            task.info.schedule or None,
            list(task.info.tags),
            task.run_count,
            newest.started_at if newest else None,
            newest.status.value if newest else None,
            task_path(task.name),
        )


def _runs(described: DescribedLineage) -> Iterator[_Row]:
    for task in described.lineage.tasks.values():
        for run in task.runs:
            yield (
                task.name,
                run.run_id,
                run.engine,
                run.status.value,
                run.started_at,
                run.ended_at,
                _seconds(run.started_at, run.ended_at),
                run.error,
                run.engine_version,
                run.code_version,
                run.attempt,
                run.parent_run_id,
                run.url,
                run.nominal_start,
                run.nominal_end,
                1 + task.repeats.get(run.run_id, 0),
            )


def _usages(described: DescribedLineage) -> Iterator[_Row]:
    for task in described.lineage.tasks.values():
        for usage in task.usages:
            yield (
                task.name,
                usage.engine,
                str(usage.dataset),
                usage.direction.value,
                [operation.value for operation in usage.operations],
                usage.statements,
                usage.rows,
                usage.bytes,
                usage.first_at,
                usage.last_at,
                usage.evidence.value,
                usage.failed,
                usage.moves_data,
                list(usage.procedures),
            )


def _edges(described: DescribedLineage) -> Iterator[_Row]:
    for flow in described.lineage.flows:
        yield (
            str(flow.source),
            str(flow.target),
            flow.task,
            flow.definition.value if flow.definition else "task",
            flow.evidence.value,
            flow.through_memory,
            [str(hop) for hop in flow.hops],
            flow.first_at,
            flow.last_at,
        )


def _column_edges(described: DescribedLineage) -> Iterator[_Row]:
    for edge in described.lineage.column_edges:
        yield (
            str(edge.from_dataset),
            edge.from_column,
            str(edge.to_dataset),
            edge.to_column,
            edge.task,
            edge.type.value,
            edge.subtype.value,
            edge.masking,
            edge.masked_by.value or None,
            edge.evidence.value,
        )


def _results(described: DescribedLineage) -> Iterator[_Row]:
    datasets = {
        description.node_id: description.dataset for description in described.descriptions.values()
    }
    tests = {
        test.node_id: (description.dataset, test)
        for description in described.descriptions.values()
        for test in description.tests
    }
    for node_id, results in sorted(described.lineage.dbt.node_results.items()):
        dataset, test = tests.get(node_id, (datasets.get(node_id), None))
        if check := check_of(node_id):
            dataset = check.dataset
            test = NodeTest(node_id, check.kind or check.name, check.column)
        for result in results:
            yield (
                node_id,
                str(dataset) if dataset else None,
                test.name if test else None,
                (test.column if test else "") or None,
                result.invocation_id,
                result.command or None,
                result.status.value,
                result.word or None,
                result.started_at,
                result.ended_at,
                _seconds(result.started_at, result.ended_at),
                result.rows,
                result.failures,
                result.error,
                result.max_loaded_at,
            )


def _consumers(described: DescribedLineage) -> Iterator[_Row]:
    for consumer in sorted(
        described.consumers, key=lambda consumer: (consumer.name, consumer.node_id)
    ):
        yield (
            consumer.name,
            consumer.kind,
            consumer.node_id,
            consumer.owner or None,
            consumer.url or None,
            list(consumer.tags),
        )


def _consumer_reads(described: DescribedLineage) -> Iterator[_Row]:
    for consumer in sorted(
        described.consumers, key=lambda consumer: (consumer.name, consumer.node_id)
    ):
        for dataset in consumer.reads:
            yield consumer.name, str(dataset)


def _seconds(first: datetime | None, last: datetime | None) -> float | None:
    return (last - first).total_seconds() if first and last else None


_DATASET = ViewColumn("dataset", _TEXT, "namespace and name as one text: `spark/raw.orders`")
_TASK = ViewColumn("task", _TEXT, "the name of the task")
_PAGE = ViewColumn("page", _TEXT, "its page, from the root of the site")
_EVIDENCE = ViewColumn("evidence", _TEXT, "`observed` in a log, `declared` or `inferred`")
_FIRST = ViewColumn("first_at", _TIME, "the first time that it was seen")
_LAST = ViewColumn("last_at", _TIME, "the last time that it was seen")
_STARTED = ViewColumn("started_at", _TIME, "its start")
_ENDED = ViewColumn("ended_at", _TIME, "its end")
_TOOK = ViewColumn("seconds", _SECONDS, "from start to end")
_STATUS = ViewColumn("status", _TEXT, "`ok`, `failed` or `unknown`")
_OWNER = ViewColumn("owner", _TEXT, "its owner")
_TAGS = ViewColumn("tags", _TEXTS, "its tags")
_TEXT_OF = ViewColumn("description", _TEXT, "its description, in Markdown")
_LABEL = ViewColumn("sensitivity", _TEXT, "what tags and `meta` name it: `PII`, `confidential`")

VIEWS = (
    View(
        "datasets",
        "A table, view, path or topic.",
        (
            _DATASET,
            ViewColumn("namespace", _TEXT, "where it lies, as OpenLineage names it"),
            ViewColumn("name", _TEXT, "its name there"),
            ViewColumn("kind", _TEXT, "`table`, `view`, `path` or `topic`"),
            ViewColumn("role", _TEXT, "in dbt: `model`, `source`, `promoted`, `added`…"),
            ViewColumn("node_id", _TEXT, "dbt's unique_id"),
            _TEXT_OF,
            _OWNER,
            _TAGS,
            _LABEL,
            ViewColumn("writers", _TEXTS, "the tasks that put data into it"),
            ViewColumn("first_seen", _TIME, "the first time that a log names it"),
            ViewColumn("last_seen", _TIME, "the last time"),
            ViewColumn("dropped_at", _TIME, "when it was dropped"),
            _PAGE,
        ),
        _datasets,
    ),
    View(
        "columns",
        "A column of a dataset.",
        (
            _DATASET,
            ViewColumn("column", _TEXT, "its name"),
            ViewColumn("position", _NUMBER, "its place in the dataset, from 1 on"),
            ViewColumn("type", _TEXT, "its type on its platform"),
            _TEXT_OF,
            _LABEL,
        ),
        _columns,
    ),
    View(
        "tasks",
        "A task: what runs again and again by one name.",
        (
            _TASK,
            ViewColumn("engines", _TEXTS, "the engines it runs on"),
            _TEXT_OF,
            _OWNER,
            ViewColumn("schedule", _TEXT, "its schedule"),
            _TAGS,
            ViewColumn("runs", _NUMBER, "the number of its runs"),
            ViewColumn("last_run_at", _TIME, "the start of its newest run"),
            ViewColumn("last_status", _TEXT, "the status of that run"),
            _PAGE,
        ),
        _tasks,
    ),
    View(
        "runs",
        "A run of a task. Of old runs that did the same only some have a row.",
        (
            _TASK,
            ViewColumn("run_id", _TEXT, "its id in the log"),
            ViewColumn("engine", _TEXT, "its engine"),
            _STATUS,
            _STARTED,
            _ENDED,
            _TOOK,
            ViewColumn("error", _TEXT, "why it failed, without literals"),
            ViewColumn("engine_version", _TEXT, "the version of the engine"),
            ViewColumn("code_version", _TEXT, "the version of its code"),
            ViewColumn("attempt", _NUMBER, "the number of the try"),
            ViewColumn("parent_run_id", _TEXT, "the run of the orchestrator that started it"),
            ViewColumn("url", _TEXT, "its page in the orchestrator"),
            ViewColumn("nominal_start", _TIME, "the start of the data interval that it was for"),
            ViewColumn("nominal_end", _TIME, "the end of that interval"),
            ViewColumn("same_runs", _NUMBER, "how many runs the row stands for, itself included"),
        ),
        _runs,
    ),
    View(
        "usages",
        "What a task does to a dataset on one engine, over all of its runs.",
        (
            _TASK,
            ViewColumn("engine", _TEXT, "the engine"),
            _DATASET,
            ViewColumn("direction", _TEXT, "`read` or `write`"),
            ViewColumn("operations", _TEXTS, "what statements do: `SELECT`, `INSERT`, `MERGE`…"),
            ViewColumn("statements", _NUMBER, "how many statements"),
            ViewColumn("rows", _NUMBER, "rows of the last run whose log counts them"),
            ViewColumn("bytes", _NUMBER, "bytes, likewise"),
            _FIRST,
            _LAST,
            _EVIDENCE,
            ViewColumn("failed", _FLAG, "every attempt failed"),
            ViewColumn("moves_data", _FLAG, "data came from the dataset, or went there"),
            ViewColumn("procedures", _TEXTS, "the stored procedures whose statements did it"),
        ),
        _usages,
    ),
    View(
        "edges",
        "Data flowed from one dataset to another by a task, a dbt model or a view.",
        (
            ViewColumn("from_dataset", _TEXT, "the dataset that was read"),
            ViewColumn("to_dataset", _TEXT, "the dataset that was written"),
            ViewColumn("task", _TEXT, "the task, dbt's unique_id of the model, or the view"),
            ViewColumn("made_by", _TEXT, "`task`, `dbt` or `view`"),
            _EVIDENCE,
            ViewColumn("through_memory", _FLAG, "the task read the data first and wrote it then"),
            ViewColumn("hops", _TEXTS, "temporary tables on the way"),
            _FIRST,
            _LAST,
        ),
        _edges,
    ),
    View(
        "column_edges",
        "An input column of an output column. `*` stands for all columns, or for unknown ones.",
        (
            ViewColumn("from_dataset", _TEXT, "the dataset of the input column"),
            ViewColumn("from_column", _TEXT, "the input column"),
            ViewColumn("to_dataset", _TEXT, "the dataset of the output column"),
            ViewColumn("to_column", _TEXT, "the output column"),
            ViewColumn("task", _TEXT, "the task, dbt's unique_id of the model, or the view"),
            ViewColumn("type", _TEXT, "`DIRECT`: values go there; `INDIRECT`: they decide on it"),
            ViewColumn("subtype", _TEXT, "`IDENTITY`, `AGGREGATION`, `JOIN`, `FILTER`…"),
            ViewColumn("masking", _FLAG, "the value cannot be derived from the result"),
            ViewColumn(
                "masked_by", _TEXT, "how: `HASH`, `ENCRYPT`, `TOKENIZE` or `MASK`, if known"
            ),
            _EVIDENCE,
        ),
        _column_edges,
    ),
    View(
        "results",
        "The result of a dbt node or a test in one invocation; the last 30 of each node.",
        (
            ViewColumn("node_id", _TEXT, "dbt's unique_id"),
            ViewColumn("dataset", _TEXT, "the dataset that the node builds or tests"),
            ViewColumn("test", _TEXT, "the name of the test: `not_null`"),
            ViewColumn("column", _TEXT, "the column that it tests"),
            ViewColumn("invocation_id", _TEXT, "dbt's id of the invocation"),
            ViewColumn("command", _TEXT, "`run`, `build`, `test`, `source freshness`"),
            _STATUS,
            ViewColumn("dbt_status", _TEXT, "dbt's own word: `pass`, `warn`, `skipped`…"),
            _STARTED,
            _ENDED,
            _TOOK,
            ViewColumn("rows", _NUMBER, "rows affected, where the adapter counts them"),
            ViewColumn("failures", _NUMBER, "rows that failed a test"),
            ViewColumn("error", _TEXT, "dbt's message, without literals"),
            ViewColumn("max_loaded_at", _TIME, "the newest row of a source, by a freshness check"),
        ),
        _results,
    ),
    View(
        "consumers",
        "A dashboard, report or API: it reads and writes nothing that logs know.",
        (
            ViewColumn("consumer", _TEXT, "its name"),
            ViewColumn("kind", _TEXT, "`dashboard`, `notebook`, `analysis`, `ml`, `application`"),
            ViewColumn("node_id", _TEXT, "dbt's unique_id of the exposure"),
            _OWNER,
            ViewColumn("url", _TEXT, "its URL"),
            _TAGS,
        ),
        _consumers,
    ),
    View(
        "consumer_reads",
        "A dataset that a consumer reads.",
        (ViewColumn("consumer", _TEXT, "the name of the consumer"), _DATASET),
        _consumer_reads,
    ),
)
BY_NAME = {view.name: view for view in VIEWS}
