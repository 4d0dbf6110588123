"""Metadata of tasks: from graft.yml and declared lineage, else from events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import datetime

from dbt_graft.lineage.records import TaskInfo, TaskMetadata


def newness(metadata: TaskMetadata) -> tuple[datetime, tuple[object, ...]]:
    """A key by which metadata are sorted, the oldest first; the same for equal content."""
    return metadata.at, (metadata.description, metadata.owner, metadata.schedule, metadata.tags)


def with_metadata(
    infos: Mapping[str, TaskInfo], metadata: Iterable[TaskMetadata]
) -> dict[str, TaskInfo]:
    """The infos of tasks; fields that these lack come from the newest event of the task.

    Args:
        infos: What graft.yml and declared lineage say of tasks, by name.
    """
    newest: dict[str, TaskMetadata] = {}
    for record in metadata:
        newest[record.task] = max(newest.get(record.task, record), record, key=newness)
    merged = dict(infos)
    for task, record in newest.items():
        stated = infos.get(task, TaskInfo())
        filled = {key: value for key, value in asdict(stated).items() if value}
        info = TaskInfo(
            description=record.description,
            owner=record.owner,
            schedule=record.schedule,
            tags=record.tags,
        )
        merged[task] = replace(info, **filled)
    return merged
