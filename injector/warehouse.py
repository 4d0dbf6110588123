"""catalog.json after the graft: entries of new and promoted nodes, with what the runs did."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from injector import prose
from injector.relations import Node
from lineage.dataset import DatasetId, Kind
from lineage.model import Lineage, Task
from lineage.records import Column


def entry(
    node: Node, dataset: DatasetId, tasks: list[Task], known: list[Node], lineage: Lineage
) -> dict[str, Any]:
    """The catalog entry of a node.

    Args:
        tasks: The tasks that write it; none for a source.
        known: Entries of the sources it replaces; what dbt asked the warehouse is kept.
    """
    first = known[0] if known else {}
    told = first.get("metadata") or {}
    found = lineage.datasets.get(dataset)
    kind = found.kind if found else Kind.TABLE
    owners = ", ".join(dict.fromkeys(t.info.owner for t in tasks if t.info.owner))
    database = told.get("database") or node["database"]
    return {
        **first,
        "metadata": {
            "comment": None,
            **told,
            # The docs page fails on a type that is null.
            "type": told.get("type") or str(kind),
            "schema": told.get("schema") or node["schema"],
            "name": told.get("name") or node.get("alias") or node.get("identifier") or node["name"],
            "database": str(database) if database else None,
            # One that is null would be shown as an empty field.
            **({"owner": owners} if owners else {}),
        },
        "columns": first.get("columns") or _columns(found.columns if found else ()),
        "stats": {**(first.get("stats") or {}), **_stats(dataset, tasks)},
        "unique_id": node["unique_id"],
    }


def _columns(seen: Iterable[Column]) -> dict[str, Any]:
    return {
        column.name: {"type": column.type, "index": index, "name": column.name, "comment": None}
        for index, column in enumerate(seen, start=1)
    }


def _stats(dataset: DatasetId, tasks: list[Task]) -> dict[str, Any]:
    runs = [run for task in tasks for run in task.runs]
    starts = [run.started_at for run in runs if run.started_at]
    rows = [
        usage.rows
        for task in tasks
        if (usage := prose.write_usage(task, dataset)) and usage.rows is not None
    ]
    stats = {}
    if starts:
        stats["last_run"] = ("Last run", prose.moment(max(starts)), "Start of the newest run seen")
    if rows:
        stats["rows_written"] = ("Rows written", f"{sum(rows):,}", "By the newest run that tells")
    if runs:
        stats["runs"] = ("Runs", str(len(runs)), "Runs seen in the logs")
    return {
        f"graft_{key}": {
            "id": f"graft_{key}",
            "label": label,
            "value": value,
            "include": True,
            "description": description,
        }
        for key, (label, value, description) in stats.items()
    }
