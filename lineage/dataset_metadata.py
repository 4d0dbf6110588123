"""Metadata of datasets in events: of each field the newest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import ColumnMetadata, DatasetMetadata


def newness(found: DatasetMetadata) -> tuple[datetime, tuple[object, ...]]:
    """A key by which metadata are sorted, the oldest first; the same for equal content."""
    columns = tuple((one.name, one.description, one.tags) for one in found.columns)
    return found.at, (found.description, found.owner, found.tags, columns)


def merged(older: DatasetMetadata, newer: DatasetMetadata) -> DatasetMetadata:
    """Both in one; a field that the newer one lacks is the older one's."""
    columns = {one.name.casefold(): one for one in older.columns}
    for one in newer.columns:
        known = columns.get(one.name.casefold(), one)
        columns[one.name.casefold()] = ColumnMetadata(
            one.name, one.description or known.description, one.tags or known.tags
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
    found: dict[DatasetId, DatasetMetadata] = {}
    for one in sorted(metadata, key=newness):
        dataset = rename(one.dataset)
        named = replace(one, dataset=dataset, origin="")
        found[dataset] = merged(found[dataset], named) if dataset in found else named
    return {dataset: found[dataset] for dataset in sorted(found)}
