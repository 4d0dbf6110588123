"""Metadata of datasets in events: of each field the newest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import ColumnMetadata, DatasetMetadata


def newness(metadata: DatasetMetadata) -> tuple[datetime, tuple[object, ...]]:
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
    for record in sorted(metadata, key=newness):
        dataset = rename(record.dataset)
        named = replace(record, dataset=dataset, origin="")
        by_dataset[dataset] = (
            merge_metadata(by_dataset[dataset], named) if dataset in by_dataset else named
        )
    return {dataset: by_dataset[dataset] for dataset in sorted(by_dataset)}
