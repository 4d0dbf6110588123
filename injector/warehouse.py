"""Catalog entries of added nodes, with statistics of their runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from dbt_graft.analysis.history.presence import newest_of
from dbt_graft.injector import prose
from dbt_graft.injector.manifest import Node
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import Column, Direction, Status

_DAYS = 30


def entry(
    node: Node,
    dataset: DatasetId,
    tasks: list[Task],
    source_entries: list[Node],
    lineage: Lineage,
    newest: datetime | None = None,
) -> dict[str, Any]:
    """Return the catalog entry of a node.

    Args:
        tasks: The tasks that write it; none for a source.
        source_entries: The entries of the sources that it replaces; their values win.
        newest: The start of the newest run of all tasks, the end of the period for run counts.
    """
    first = source_entries[0] if source_entries else {}
    metadata = first.get("metadata") or {}
    details = lineage.datasets.get(dataset)
    kind = details.kind if details else Kind.TABLE
    owners = ", ".join(node["meta"]["graft"].get("owners", ()))
    database = metadata.get("database")
    if database is None:
        database = node.get("database")
    return {
        **first,
        "metadata": {
            "comment": None,
            **metadata,
            # The docs page fails on a type that is null.
            "type": metadata.get("type") or str(kind),
            "schema": metadata.get("schema") or node.get("schema"),
            "name": metadata.get("name")
            or node.get("alias")
            or node.get("identifier")
            or node["name"],
            # ClickHouse has databases without a name.
            "database": None if database is None else str(database),
            # One that is null would be shown as an empty field.
            **({"owner": owners} if owners else {}),
        },
        "columns": first.get("columns") or _columns(details.columns if details else ()),
        "stats": {
            **(first.get("stats") or {}),
            **dict(_stats(dataset, tasks, newest)),
            **_freshness(node),
        },
        "unique_id": node["unique_id"],
    }


def _columns(columns: Iterable[Column]) -> dict[str, Any]:
    return {
        column.name: {"type": column.type, "index": index, "name": column.name, "comment": None}
        for index, column in enumerate(columns, start=1)
    }


def newest_start(lineage: Lineage) -> datetime | None:
    """Return the start of the newest run of all tasks."""
    return newest_of(run.started_at for task in lineage.tasks.values() for run in task.runs)


def _stats(
    dataset: DatasetId, tasks: list[Task], newest: datetime | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    writes = {task.name: task.usages_of(dataset, Direction.WRITE) for task in tasks}
    runs = [run for task in tasks for run in task.runs_of(*writes[task.name])]
    starts = [run.started_at for run in runs if run.started_at]
    usages = [usage for group in writes.values() for usage in group if not usage.repeats]
    rows = [usage.rows for usage in usages if usage.rows is not None]
    written = [usage.bytes for usage in usages if usage.bytes is not None]
    if starts:
        yield _stat("last_run", "Last run", prose.moment(max(starts)), "Start of the newest run")
    for key, label, counts in (
        ("rows_written", "Rows written", rows),
        ("bytes_written", "Bytes written", written),
    ):
        if counts:
            yield _stat(key, label, f"{sum(counts):,}", "By the newest run that reports it")
    if runs and newest:
        recent = sum(start > newest - timedelta(days=_DAYS) for start in starts)
        description = f"Runs in the {_DAYS} days before the newest run of any task"
        yield _stat("runs", f"Runs in {_DAYS} days", f"{recent:,}", description)
    if failed := sum(run.status is Status.FAILED for run in runs):
        yield _stat("failed_runs", "Failed runs", f"{failed:,}", "Of all runs in the logs")


def _freshness(node: Node) -> dict[str, Any]:
    """The result of `dbt source freshness` for the source that the node replaces."""
    graft = (node.get("meta") or {}).get("graft") or {}
    freshness = graft.get("freshness") or {}
    names = (("status", "Freshness"), ("max_loaded_at", "Newest record"))
    description = "By the last `dbt source freshness`"
    return dict(
        _stat(f"freshness_{key}", label, str(freshness[key]), description)
        for key, label in names
        if freshness.get(key)
    )


def _stat(key: str, label: str, value: str, description: str) -> tuple[str, dict[str, Any]]:
    return f"graft_{key}", {
        "id": f"graft_{key}",
        "label": label,
        "value": value,
        "include": True,
        "description": description,
    }
