"""The lineage in a Spark event log, without Spark and Java."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from typing import Any

from dbt_graft.analysis.render.phrases import time_text
from dbt_graft.collectors import schema
from dbt_graft.collectors.spark.logs import COUNTS, CollectedLog
from dbt_graft.collectors.store.tables import LogRecords
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.building.memory import uses_memory
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.period import Period
from dbt_graft.lineage.dates.period_text import period_json, period_text
from dbt_graft.lineage.dates.period_union import known_union
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import ColumnEdge, Evidence, Records

Row = Mapping[str, Any]


def application_json(log: CollectedLog) -> dict[str, Any]:
    """A log as JSON values."""
    application, tables = log.application, schema.row(log.records)
    tables["column_edges"] = list(map(schema.row, _column_edges(log.records)))
    return {
        "log": log.origin,
        "application_id": application.id or None,
        "attempt": application.attempt or None,
        "name": application.name,
        "spark_version": application.spark_version or None,
        "events": log.events,
        "tasks": [_task(run, tables) for run in tables["runs"]],
        "rejects": [
            {"position": row["position"], "reason": row["reason"]} for row in tables["rejects"]
        ],
    }


def _column_edges(records: LogRecords) -> Iterator[ColumnEdge]:
    """The column edges that a log shows, and those inferred through its tasks' memories."""
    yield from (edge for edge in records.column_edges if not uses_memory(edge))
    lineage = build(
        Records(
            accesses=records.accesses,
            runs=records.runs,
            datasets=records.datasets,
            column_edges=records.column_edges,
        )
    )
    yield from (edge for edge in lineage.column_edges if edge.evidence is Evidence.INFERRED)


def _task(run: Row, tables: Mapping[str, list[Any]]) -> dict[str, Any]:
    accesses = [row for row in tables["accesses"] if row["task"] == run["task"]]
    columns = {(row["namespace"], row["name"]): row["columns"] for row in tables["datasets"]}
    shapes = {row["shape_id"] for row in accesses}
    written = list(_datasets((r for r in accesses if r["direction"] == "write"), columns))
    return {
        **{key: run[key] for key in ("task", "run_id", "parent_run_id", "status", "error")},
        **{key: run[key] for key in ("started_at", "ended_at", "engine_version")},
        "inputs": list(_datasets((r for r in accesses if r["direction"] == "read"), columns)),
        "outputs": [dataset for dataset in written if _has_data(dataset)],
        "changes": [dataset for dataset in written if not _has_data(dataset)],
        "column_edges": [
            {
                **{key: row[key] for key in ("to_namespace", "to_name", "to_column")},
                **{key: row[key] for key in ("from_namespace", "from_name", "from_column")},
                **{key: row[key] for key in ("type", "subtype", "masking", "evidence")},
            }
            for row in tables["column_edges"]
            if row["task"] == run["task"]
        ],
        "gaps": sorted(
            {
                row["reason"]
                for row in tables["shapes"]
                if row["shape_id"] in shapes and row["reason"]
            }
        ),
    }


def _datasets(
    accesses: Iterable[Row], columns: Mapping[tuple[str, str], Any]
) -> Iterator[dict[str, Any]]:
    """Each dataset once, with its accesses added up."""
    grouped = group_by_key(((row["namespace"], row["name"]), row) for row in accesses)
    for (namespace, name), rows in sorted(grouped.items()):
        yield {
            "namespace": namespace,
            "name": name,
            "kind": rows[0]["kind"],
            "operations": sorted({row["operation"] for row in rows}),
            "statements": sum(row["statements"] for row in rows),
            **{count: _total(row[count] for row in rows) for count in COUNTS},
            "failed": any(row["status"] == "failed" for row in rows),
            "dates": period_text(_dates(rows)),
            "periods": period_json(_dates(rows)),
            "positions": _positions(rows),
            "columns": columns.get((namespace, name), []),
        }


def _dates(rows: Iterable[Row]) -> tuple[Period, ...]:
    """The dates of all accesses that move data; unknown where those of one are."""
    listed = list(rows)
    moving = [row for row in listed if _moves(row)]
    each = [
        tuple(schema.record(Period, period) for period in row["periods"])
        for row in moving or listed
    ]
    return reduce(known_union, each)


def _moves(row: Row) -> bool:
    operation = Operation(row["operation"])
    return operation.reads_data if row["direction"] == "read" else operation.brings_data


def _positions(rows: Iterable[Row]) -> list[Row]:
    """The positions of all accesses, each once."""
    positions = {
        tuple(position.values()): position for row in rows for position in row["positions"]
    }
    return list(positions.values())


def _has_data(dataset: Row) -> bool:
    """Whether anything brought data: what was only created, altered or dropped is no output."""
    return any(
        operation.brings_data or operation.renames
        for operation in map(Operation, dataset["operations"])
    )


def _total(numbers: Iterable[int | None]) -> int | None:
    known_numbers = [number for number in numbers if number is not None]
    return sum(known_numbers) if known_numbers else None


def application_lines(application: dict[str, Any]) -> Iterator[str]:
    """A log as a tree for people."""
    version = f", Spark {application['spark_version']}" if application["spark_version"] else ""
    yield f"{application['log']}: {application['name'] or '(no application)'}{version}"
    for task in application["tasks"]:
        yield f"  task {task['task']}: {_status(task)}"
        for title in ("inputs", "outputs", "changes"):
            if task[title]:
                yield f"    {title}"
            for dataset in task[title]:
                yield f"      {DatasetId(dataset['namespace'], dataset['name'])}  {_facts(dataset)}"
                if title == "outputs":
                    yield from _columns(dataset, task["column_edges"])
        for gap in task["gaps"]:
            yield f"    incomplete: {gap}"
    if not application["tasks"] and not application["rejects"]:
        yield "  run by dbt: left out, dbt's artifacts have its lineage"
    for reject in application["rejects"]:
        yield f"  rejected: {reject['position']}: {reject['reason']}"


def _status(task: Row) -> str:
    error = f" ({task['error']})" if task["error"] else ""
    started, ended = task["started_at"], task["ended_at"]
    took = f", {(ended - started).total_seconds():,.1f} s" if started and ended else ""
    parent = f", started by {task['parent_run_id']}" if task["parent_run_id"] else ""
    return f"{task['status']}{error}, {time_text(started, seconds=True)} UTC{took}{parent}"


def _facts(dataset: Row) -> str:
    facts = [", ".join(dataset["operations"])]
    if dataset["statements"] > 1:
        facts.append(f"{dataset['statements']:,} times")
    for count in COUNTS:
        number = dataset[count]
        # Spark counts no partitions where a table has none.
        if number is not None and (number or count != "partitions"):
            facts.append(f"{number:,} {count if number != 1 else count[:-1]}")
    if dataset["dates"]:
        facts.append(dataset["dates"])
    facts += [
        f"{position['kind']} {position['start'] or 'from the first'} to {position['end']}"
        for position in dataset["positions"]
    ]
    if dataset["failed"]:
        facts.append("failed")
    return ", ".join(facts)


def _columns(dataset: Row, edges: Iterable[Row]) -> Iterator[str]:
    """The inputs of each column; those of `*` decide on rows."""
    sources: dict[str, list[str]] = defaultdict(list)
    for edge in edges:
        if (edge["to_namespace"], edge["to_name"]) == (dataset["namespace"], dataset["name"]):
            source = DatasetId(edge["from_namespace"], edge["from_name"])
            masked = ", masked" if edge["masking"] else ""
            inferred = ", inferred" if edge["evidence"] == Evidence.INFERRED else ""
            how = f"{str(edge['subtype']).lower()}{masked}{inferred}"
            text = f"{source}.{edge['from_column']} ({how})"
            sources[edge["to_column"]].append(text)
    for column, texts in sources.items():
        yield f"        {column} <- {', '.join(sorted(set(texts)))}"
