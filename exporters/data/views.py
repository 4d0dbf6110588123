"""The views: datasets, columns, tasks, runs, accesses, edges, results, consumers and others.

Their names and columns are a contract with queries and notebooks (docs/openlineage.md): columns are
added, and none is renamed or removed. All of them name datasets and tasks alike, so they join.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace

from dbt_graft.exporters.data.view import View, ViewColumn, ViewType
from dbt_graft.lineage.building.checks import check_of
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.period_text import period_text
from dbt_graft.lineage.describe import Consumer, Description, NodeTest, Role
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.records import Access, NodeResult, Run
from dbt_graft.lineage.urls import dataset_path, task_path

_TEXT, _TEXTS, _NUMBER = ViewType.TEXT, ViewType.TEXTS, ViewType.NUMBER
_FLAG, _TIME, _SECONDS = ViewType.FLAG, ViewType.TIME, ViewType.SECONDS
_UNDESCRIBED = Description(DatasetId("", ""), "", "", Role.SOURCE)


def _datasets(described: DescribedLineage) -> Iterator[object]:
    lineage = described.lineage
    written = lineage.writer_names()
    for dataset in lineage.datasets.values():
        description = described.descriptions.get(dataset.id)
        yield SimpleNamespace(
            dataset=dataset,
            of=description or _UNDESCRIBED,
            kind=dataset.kind.lower(),
            role=description.role if description else None,
            writers=written.get(dataset.id, ()),
            page=dataset_path(dataset.id),
        )


def _columns(described: DescribedLineage) -> Iterator[object]:
    for dataset in described.lineage.datasets.values():
        description = described.descriptions.get(dataset.id, _UNDESCRIBED)
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


def _tasks(described: DescribedLineage) -> Iterator[object]:
    for task in described.lineage.tasks.values():
        newest = task.runs[0] if task.runs else None
        yield SimpleNamespace(
            task=task,
            last_run_at=newest.started_at if newest else None,
            last_status=newest.status if newest else None,
            page=task_path(task.name),
        )


def _runs(described: DescribedLineage) -> Iterator[object]:
    for task in described.lineage.tasks.values():
        for run in task.runs:
            seconds, same = _seconds(run), 1 + task.repeats.get(run.run_id, 0)
            yield SimpleNamespace(task=task.name, run=run, seconds=seconds, same_runs=same)


def _accesses(described: DescribedLineage) -> Iterator[object]:
    for access in sorted(described.lineage.history.accesses, key=_access_order):
        # Of several the last: what a read saw at its end, and what a write left.
        position = access.positions[-1] if access.positions else None
        yield SimpleNamespace(
            access=access,
            dates=period_text(access.periods),
            version_kind=position.kind if position else None,
            from_version=position.start if position else None,
            version=position.end if position else None,
        )


def _access_order(access: Access) -> tuple[str, str, str, str, str]:
    return access.task, access.run_id, str(access.dataset), access.direction, access.operation


def _usages(described: DescribedLineage) -> Iterator[object]:
    for task in described.lineage.tasks.values():
        yield from task.usages


def _edges(described: DescribedLineage) -> Iterator[object]:
    for flow in described.lineage.flows:
        yield SimpleNamespace(flow=flow, made_by=flow.definition or "task")


def _column_edges(described: DescribedLineage) -> Iterator[object]:
    yield from described.lineage.column_edges


def _results(described: DescribedLineage) -> Iterator[object]:
    descriptions = described.descriptions.values()
    datasets = {description.node_id: description.dataset for description in descriptions}
    tests = {
        test.node_id: (description.dataset, test)
        for description in descriptions
        for test in description.tests
    }
    untested = NodeTest("", "")
    for node_id, results in sorted(described.lineage.dbt.node_results.items()):
        dataset, test = tests.get(node_id, (datasets.get(node_id), untested))
        if check := check_of(node_id):
            dataset = check.dataset
            test = NodeTest(node_id, check.kind or check.name, check.column)
        for result in results:
            yield SimpleNamespace(
                node_id=node_id, dataset=dataset, test=test, result=result, seconds=_seconds(result)
            )


def _consumers(described: DescribedLineage) -> list[Consumer]:
    return sorted(described.consumers, key=lambda consumer: (consumer.name, consumer.node_id))


def _consumer_reads(described: DescribedLineage) -> Iterator[object]:
    for consumer in _consumers(described):
        for dataset in consumer.reads:
            yield SimpleNamespace(consumer=consumer.name, dataset=dataset)


def _seconds(run: Run | NodeResult) -> float | None:
    first, last = run.started_at, run.ended_at
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
        _datasets,
        replace(_DATASET, path="dataset.id"),
        ViewColumn("namespace", _TEXT, "where it lies, as OpenLineage names it", "dataset.id."),
        ViewColumn("name", _TEXT, "its name there", "dataset.id."),
        ViewColumn("kind", _TEXT, "`table`, `view`, `path` or `topic`"),
        ViewColumn("role", _TEXT, "in dbt: `model`, `source`, `promoted`, `added`…"),
        ViewColumn("node_id", _TEXT, "dbt's unique_id", "of."),
        replace(_TEXT_OF, path="of.text"),
        replace(_OWNER, path="of."),
        replace(_TAGS, path="of."),
        replace(_LABEL, path="of."),
        ViewColumn("writers", _TEXTS, "the tasks that put data into it"),
        ViewColumn("first_seen", _TIME, "the first time that a log names it", "dataset."),
        ViewColumn("last_seen", _TIME, "the last time", "dataset."),
        ViewColumn("dropped_at", _TIME, "when it was dropped", "dataset."),
        _PAGE,
    ),
    View(
        "columns",
        "A column of a dataset.",
        _columns,
        _DATASET,
        ViewColumn("column", _TEXT, "its name", "column.name"),
        ViewColumn("position", _NUMBER, "its place in the dataset, from 1 on"),
        ViewColumn("type", _TEXT, "its type on its platform", "column."),
        _TEXT_OF,
        _LABEL,
    ),
    View(
        "tasks",
        "A task: what runs again and again by one name.",
        _tasks,
        replace(_TASK, path="task.name"),
        ViewColumn("engines", _TEXTS, "the engines it runs on", "task."),
        replace(_TEXT_OF, path="task.info."),
        replace(_OWNER, path="task.info."),
        ViewColumn("schedule", _TEXT, "its schedule", "task.info."),
        replace(_TAGS, path="task.info."),
        ViewColumn("runs", _NUMBER, "the number of its runs", "task.run_count"),
        ViewColumn("last_run_at", _TIME, "the start of its newest run"),
        ViewColumn("last_status", _TEXT, "the status of that run"),
        _PAGE,
    ),
    View(
        "runs",
        "A run of a task. Of old runs that did the same only some have a row.",
        _runs,
        _TASK,
        ViewColumn("run_id", _TEXT, "its id in the log", "run."),
        ViewColumn("engine", _TEXT, "its engine", "run."),
        replace(_STATUS, path="run."),
        replace(_STARTED, path="run."),
        replace(_ENDED, path="run."),
        _TOOK,
        ViewColumn("error", _TEXT, "why it failed, without literals", "run."),
        ViewColumn("engine_version", _TEXT, "the version of the engine", "run."),
        ViewColumn("code_version", _TEXT, "the version of its code", "run."),
        ViewColumn("attempt", _NUMBER, "the number of the try", "run."),
        ViewColumn("parent_run_id", _TEXT, "the run of the orchestrator that started it", "run."),
        ViewColumn("url", _TEXT, "its page in the orchestrator", "run."),
        ViewColumn(
            "nominal_start", _TIME, "the start of the data interval that it was for", "run."
        ),
        ViewColumn("nominal_end", _TIME, "the end of that interval", "run."),
        ViewColumn("same_runs", _NUMBER, "how many runs the row stands for, itself included"),
    ),
    View(
        "accesses",
        "A run read or wrote a dataset. Of old runs that did the same only some have rows.",
        _accesses,
        ViewColumn("task", _TEXT, "the name of the task", "access."),
        ViewColumn("run_id", _TEXT, "the id of the run", "access."),
        ViewColumn("dataset", _TEXT, "namespace and name as one text", "access."),
        ViewColumn("direction", _TEXT, "`read` or `write`", "access."),
        ViewColumn("operation", _TEXT, "what statements do: `SELECT`, `INSERT`…", "access."),
        replace(_STATUS, path="access."),
        replace(_EVIDENCE, path="access."),
        ViewColumn("rows", _NUMBER, "rows that were read or written", "access."),
        ViewColumn("first_at", _TIME, "the beginning of its first statement", "access."),
        ViewColumn("last_at", _TIME, "the end of its last statement", "access."),
        ViewColumn("dates", _TEXT, "the dates of data, with their evidence"),
        ViewColumn(
            "version_kind", _TEXT, "`delta version`, `iceberg snapshot`, `kafka offsets`, `version`"
        ),
        ViewColumn("from_version", _TEXT, "the first version or offset that it is about"),
        ViewColumn("version", _TEXT, "the last one: what a write made, or a read saw"),
    ),
    View(
        "usages",
        "What a task does to a dataset on one engine, over all of its runs.",
        _usages,
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
    View(
        "edges",
        "Data flowed from one dataset to another by a task, a dbt model or a view.",
        _edges,
        ViewColumn("from_dataset", _TEXT, "the dataset that was read", "flow.source"),
        ViewColumn("to_dataset", _TEXT, "the dataset that was written", "flow.target"),
        ViewColumn("task", _TEXT, "the task, dbt's unique_id of the model, or the view", "flow."),
        ViewColumn("made_by", _TEXT, "`task`, `dbt` or `view`"),
        replace(_EVIDENCE, path="flow."),
        ViewColumn(
            "through_memory", _FLAG, "the task read the data first and wrote it then", "flow."
        ),
        ViewColumn("hops", _TEXTS, "temporary tables on the way", "flow."),
        replace(_FIRST, path="flow."),
        replace(_LAST, path="flow."),
    ),
    View(
        "column_edges",
        "An input column of an output column. `*` stands for all columns, or for unknown ones.",
        _column_edges,
        ViewColumn("from_dataset", _TEXT, "the dataset of the input column"),
        ViewColumn("from_column", _TEXT, "the input column"),
        ViewColumn("to_dataset", _TEXT, "the dataset of the output column"),
        ViewColumn("to_column", _TEXT, "the output column"),
        ViewColumn("task", _TEXT, "the task, dbt's unique_id of the model, or the view"),
        ViewColumn("type", _TEXT, "`DIRECT`: values go there; `INDIRECT`: they decide on it"),
        ViewColumn("subtype", _TEXT, "`IDENTITY`, `AGGREGATION`, `JOIN`, `FILTER`…"),
        ViewColumn("masking", _FLAG, "the value cannot be derived from the result"),
        ViewColumn("masked_by", _TEXT, "how: `HASH`, `ENCRYPT`, `TOKENIZE` or `MASK`, if known"),
        _EVIDENCE,
    ),
    View(
        "results",
        "The result of a dbt node or a test in one invocation; the last 30 of each node.",
        _results,
        ViewColumn("node_id", _TEXT, "dbt's unique_id"),
        ViewColumn("dataset", _TEXT, "the dataset that the node builds or tests"),
        ViewColumn("test", _TEXT, "the name of the test: `not_null`", "test.name"),
        ViewColumn("column", _TEXT, "the column that it tests", "test."),
        ViewColumn("invocation_id", _TEXT, "dbt's id of the invocation", "result."),
        ViewColumn("command", _TEXT, "`run`, `build`, `test`, `source freshness`", "result."),
        replace(_STATUS, path="result."),
        ViewColumn(
            "dbt_status", _TEXT, "dbt's own word: `pass`, `warn`, `skipped`…", "result.word"
        ),
        replace(_STARTED, path="result."),
        replace(_ENDED, path="result."),
        _TOOK,
        ViewColumn("rows", _NUMBER, "rows affected, where the adapter counts them", "result."),
        ViewColumn("failures", _NUMBER, "rows that failed a test", "result."),
        ViewColumn("error", _TEXT, "dbt's message, without literals", "result."),
        ViewColumn(
            "max_loaded_at", _TIME, "the newest row of a source, by a freshness check", "result."
        ),
    ),
    View(
        "consumers",
        "A dashboard, report or API: it reads and writes nothing that logs know.",
        _consumers,
        ViewColumn("consumer", _TEXT, "its name", "name"),
        ViewColumn("kind", _TEXT, "`dashboard`, `notebook`, `analysis`, `ml`, `application`"),
        ViewColumn("node_id", _TEXT, "dbt's unique_id of the exposure"),
        _OWNER,
        ViewColumn("url", _TEXT, "its URL"),
        _TAGS,
    ),
    View(
        "consumer_reads",
        "A dataset that a consumer reads.",
        _consumer_reads,
        ViewColumn("consumer", _TEXT, "the name of the consumer"),
        _DATASET,
    ),
)
