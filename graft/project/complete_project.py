"""All that a project names, as one looks at it to decide what an audience may see."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from dbt_graft.injector.ephemeral import ephemeral_models
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Description
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.renaming import dataset_ids


@frozen
class CompleteProject:
    """The complete project.

    Attributes:
        described: With models without a relation as datasets, which take labels and pass them on.
        node_ids: unique_id -> the dataset of each node of data.
        columns: Each dataset that anything names -> its known columns.
    """

    grafted: Grafted
    described: DescribedLineage
    node_ids: Mapping[str, DatasetId]
    columns: Mapping[DatasetId, set[str]]


def complete_project(grafted: Grafted, is_labelled: Callable[[DatasetId], bool]) -> CompleteProject:
    """The complete project of a graft.

    Args:
        is_labelled: Whether a pattern hides a dataset.
    """
    lineage = grafted.lineage
    followed = {description.node_id for description in grafted.descriptions.values()}
    node_ids = _node_ids(grafted.descriptions)
    models = ephemeral_models(grafted.manifest, node_ids, followed, is_labelled)
    descriptions = {**grafted.descriptions, **models.descriptions}
    lineage = replace(lineage, flows=(*lineage.flows, *models.flows))
    described = replace(grafted.described, lineage=lineage, descriptions=descriptions)
    node_ids = _node_ids(descriptions)
    return CompleteProject(grafted, described, node_ids, _columns(grafted, described, node_ids))


def description_ids(description: Description) -> tuple[str, ...]:
    """The ids of dbt's nodes that a description is of."""
    return (*description.dbt_ids, description.node_id)


def _node_ids(descriptions: Mapping[DatasetId, Description]) -> dict[str, DatasetId]:
    return {
        node_id: dataset
        for dataset, description in descriptions.items()
        for node_id in description_ids(description)
    }


def _columns(
    grafted: Grafted, described: DescribedLineage, node_ids: Mapping[str, DatasetId]
) -> dict[DatasetId, set[str]]:
    lineage = described.lineage
    names = {
        name
        for dataset in lineage.datasets
        for name in lineage.names_of(dataset)
        if name != dataset
    }
    columns: dict[DatasetId, set[str]] = defaultdict(set)
    for dataset in dataset_ids(lineage):
        if dataset in lineage.datasets or dataset not in names:
            columns[dataset] = set()
    for dataset, facts in lineage.datasets.items():
        columns[dataset] |= {column.name for column in facts.columns}
    for dataset, name in _named_columns(described):
        columns[dataset].add(name)
    for node_id, dataset in node_ids.items():
        columns[dataset] |= set()
        for document in (grafted.manifest, grafted.catalog):
            for part in ("nodes", "sources"):
                node = document[part].get(node_id) or {}
                columns[dataset].update(map(str, node.get("columns") or ()))
    for of_dataset in columns.values():
        of_dataset -= {"*", ""}
    return dict(columns)


def _named_columns(described: DescribedLineage) -> Iterator[tuple[DatasetId, str]]:
    """The columns that anything beside lists of columns names, each with its dataset."""
    lineage = described.lineage
    for edge in lineage.column_edges:
        yield edge.to_dataset, edge.to_column
        yield edge.from_dataset, edge.from_column
    for use in lineage.column_uses:
        yield use.dataset, use.column
    for dataset, metadata in lineage.dataset_metadata.items():
        yield from ((dataset, column.name) for column in metadata.columns)
    for dataset, partitions in lineage.history.partition_columns.items():
        yield from ((dataset, name) for name in partitions)
    for access in lineage.history.accesses:
        yield from ((access.dataset, period.column) for period in access.periods)
    for dataset, description in described.descriptions.items():
        yield from ((dataset, name) for name in description.columns)
