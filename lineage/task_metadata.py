"""Metadata of tasks: from graft.yml and declared lineage, else from events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import datetime

from dbt_graft.lineage.records import TaskInfo, TaskMetadata


def newness(found: TaskMetadata) -> tuple[datetime, tuple[object, ...]]:
    """A key by which metadata are sorted, the oldest first; the same for equal content."""
    return found.at, (found.description, found.owner, found.schedule, found.tags)


def with_metadata(
    infos: Mapping[str, TaskInfo], metadata: Iterable[TaskMetadata]
) -> dict[str, TaskInfo]:
    """The infos of tasks; fields that these lack come from the newest event of the task.

    Args:
        infos: What graft.yml and declared lineage say of tasks, by name.
    """
    newest: dict[str, TaskMetadata] = {}
    for one in metadata:
        newest[one.task] = max(newest.get(one.task, one), one, key=newness)
    found = dict(infos)
    for task, one in newest.items():
        known = infos.get(task, TaskInfo())
        filled = {key: value for key, value in asdict(known).items() if value}
        info = TaskInfo(
            description=one.description, owner=one.owner, schedule=one.schedule, tags=one.tags
        )
        found[task] = replace(info, **filled)
    return found
