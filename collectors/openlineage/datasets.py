"""Datasets of events: their ids, kinds, columns and other names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

from dbt_graft.collectors.openlineage.event import Facets
from dbt_graft.collectors.openlineage.facets import objects, text
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.openlineage import dataset_id, is_store
from dbt_graft.lineage.paths import dataset_folders, dataset_path, path_dataset
from dbt_graft.lineage.records import Column

_KINDS = {"VIEW": Kind.VIEW, "TOPIC": Kind.TOPIC, "STREAM": Kind.TOPIC}
_TOPICS = ("kafka", "kinesis", "pubsub", "eventhub", "pulsar")
MOST_COLUMNS = 5_000


@lru_cache(maxsize=20_000)
def named_dataset(namespace: str, name: str) -> DatasetId | None:
    """The dataset of an event's namespace and name; None where one of them is missing.

    Paths are folded as in engines' logs: a partition's folder is its table's.
    """
    try:
        dataset = dataset_id(namespace, name)
    except ValueError:
        return None
    if not is_store(dataset.namespace):
        return dataset
    folded = dataset_folders([dataset_path(dataset)])
    return path_dataset(folded[0]) if folded else dataset


def dataset_of(identifier: Mapping[str, Any]) -> DatasetId | None:
    """The dataset that a part of a facet names; None where it names none, or a job."""
    if is_job(identifier):
        return None
    return named_dataset(text(identifier, "namespace"), text(identifier, "name"))


def is_job(identifier: Mapping[str, Any]) -> bool:
    """Whether a part of the facet `lineage` names a job, or without a name the event's own."""
    return text(identifier, "type").upper() == "JOB"


def kind_of(dataset: DatasetId, facets: Facets) -> Kind:
    """The kind of a dataset: by its type, else by its name."""
    if "datasetType" in facets:
        kind = _KINDS.get(text(facets, "datasetType", "datasetType").upper())
        if kind:
            return kind
    return _kind(dataset)


@lru_cache(maxsize=20_000)
def _kind(dataset: DatasetId) -> Kind:
    if dataset.namespace.lower().startswith(_TOPICS):
        return Kind.TOPIC
    return Kind.PATH if dataset.is_path else Kind.TABLE


def columns_of(facets: Facets) -> tuple[Column, ...]:
    """The columns in the facet `schema`; a struct is one column, as in engines' logs."""
    columns = (
        Column(name, text(field, "type"))
        for field in objects(facets, "schema", "fields")
        if (name := text(field, "name"))
    )
    return tuple(islice(columns, MOST_COLUMNS))


def symlinks_of(dataset: DatasetId, facets: Facets) -> tuple[DatasetId, ...]:
    """The other names in the facet `symlinks`, sorted."""
    symlinks = map(dataset_of, objects(facets, "symlinks", "identifiers"))
    return tuple(sorted({symlink for symlink in symlinks if symlink and symlink != dataset}))
