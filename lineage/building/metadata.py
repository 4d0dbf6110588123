"""Metadata of tasks and datasets in events, of each facet the newest; what people state wins.

A facet takes the place of the one of its name before it, also where it holds less, or is deleted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import ColumnMetadata, DatasetMetadata, TaskInfo, TaskMetadata

# Facet of a task -> the field that it fills.
_FIELDS = {
    "documentation": "description",
    "ownership": "owner",
    "airflow": "schedule",
    "tags": "tags",
}


def task_newness(metadata: TaskMetadata) -> tuple[datetime, tuple[object, ...]]:
    """A key by which metadata are sorted, the oldest first; the same for equal content."""
    return metadata.at, (metadata.description, metadata.owner, metadata.schedule, metadata.tags)


def with_metadata(
    infos: Mapping[str, TaskInfo], metadata: Iterable[TaskMetadata]
) -> dict[str, TaskInfo]:
    """The infos of tasks; fields that these lack come from the newest events of the task.

    Args:
        infos: What graft.yml and declared lineage say of tasks, by name.
    """
    newest: dict[str, dict[str, Any]] = defaultdict(dict)
    for record in sorted(metadata, key=task_newness):
        newest[record.task] |= _stated_fields(record)
    merged = dict(infos)
    for task, fields in newest.items():
        if any(fields.values()):
            stated = asdict(infos.get(task, TaskInfo()))
            filled = {key: value for key, value in stated.items() if value}
            merged[task] = TaskInfo(**fields | filled)
    return merged


def _stated_fields(record: TaskMetadata) -> dict[str, Any]:
    fields = [_FIELDS[record.facet]] if record.facet else _FIELDS.values()
    values = {name: getattr(record, name) for name in fields}
    return {name: value for name, value in values.items() if value or record.facet}


def dataset_newness(metadata: DatasetMetadata) -> tuple[datetime, tuple[object, ...]]:
    """A key by which metadata are sorted, the oldest first; the same for equal content.

    Of two at the same time the one that says something counts.
    """
    columns = tuple((column.name, column.description, column.tags) for column in metadata.columns)
    return metadata.at, (metadata.description, metadata.owner, metadata.tags, columns)


def metadata_by_dataset(
    metadata: Iterable[DatasetMetadata], rename: Rename
) -> dict[DatasetId, DatasetMetadata]:
    """The metadata of each dataset under its name of today, in the order of names."""
    newest: dict[DatasetId, dict[str, DatasetMetadata]] = defaultdict(dict)
    for record in sorted(metadata, key=dataset_newness):
        newest[rename(record.dataset)] |= dict.fromkeys(_facets_of(record), record)
    joined = (_join_facets(dataset, newest[dataset]) for dataset in sorted(newest))
    return {
        each.dataset: each
        for each in joined
        if each.description or each.owner or each.tags or each.columns
    }


def _facets_of(record: DatasetMetadata) -> Iterable[str]:
    if record.facet:
        return (record.facet,)
    fields = {
        "documentation": record.description,
        "ownership": record.owner,
        "tags": record.tags or any(column.tags for column in record.columns),
        "schema": any(column.description for column in record.columns),
    }
    return (facet for facet, content in fields.items() if content)


def _join_facets(dataset: DatasetId, facets: Mapping[str, DatasetMetadata]) -> DatasetMetadata:
    joined = DatasetMetadata(dataset, max(record.at for record in facets.values()))
    tags, schema = facets.get("tags", joined), facets.get("schema", joined)
    described = (column for column in schema.columns if column.description)
    columns = {
        column.name.casefold(): ColumnMetadata(column.name, column.description)
        for column in described
    }
    for column in tags.columns:
        if column.tags:
            key = column.name.casefold()
            text = columns[key].description if key in columns else ""
            columns[key] = ColumnMetadata(column.name, text, column.tags)
    return replace(
        joined,
        description=facets.get("documentation", joined).description,
        owner=facets.get("ownership", joined).owner,
        tags=tags.tags,
        columns=tuple(columns.values()),
    )
