"""Metadata of tasks and datasets in events, of each field the newest; what people state wins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import datetime

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import ColumnMetadata, DatasetMetadata, TaskInfo, TaskMetadata


def task_newness(metadata: TaskMetadata) -> tuple[datetime, tuple[object, ...]]:
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
        newest[record.task] = max(newest.get(record.task, record), record, key=task_newness)
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


def dataset_newness(metadata: DatasetMetadata) -> tuple[datetime, tuple[object, ...]]:
    """A key by which metadata are sorted, the oldest first; the same for equal content."""
    columns = tuple((column.name, column.description, column.tags) for column in metadata.columns)
    return metadata.at, (metadata.description, metadata.owner, metadata.tags, columns)


def merge_metadata(older: DatasetMetadata, newer: DatasetMetadata) -> DatasetMetadata:
    """Both in one; a field that the newer one lacks is the older one's."""
    columns = {column.name.casefold(): column for column in older.columns}
    for column in newer.columns:
        earlier = columns.get(column.name.casefold(), column)
        columns[column.name.casefold()] = ColumnMetadata(
            column.name, column.description or earlier.description, column.tags or earlier.tags
        )
    return replace(
        newer,
        description=newer.description or older.description,
        owner=newer.owner or older.owner,
        tags=newer.tags or older.tags,
        columns=tuple(columns.values()),
    )


def metadata_by_dataset(
    metadata: Iterable[DatasetMetadata], rename: Rename
) -> dict[DatasetId, DatasetMetadata]:
    """The metadata of each dataset under its name of today, in the order of names."""
    by_dataset: dict[DatasetId, DatasetMetadata] = {}
    for record in sorted(metadata, key=dataset_newness):
        dataset = rename(record.dataset)
        named = replace(record, dataset=dataset, origin="")
        by_dataset[dataset] = (
            merge_metadata(by_dataset[dataset], named) if dataset in by_dataset else named
        )
    return {dataset: by_dataset[dataset] for dataset in sorted(by_dataset)}
