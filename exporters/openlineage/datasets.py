"""The facets of a dataset, whoever uses it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dbt_graft.exporters.openlineage.facets import (
    Facet,
    documentation,
    facet,
    identity,
    ownership,
    tag,
    without_none,
)
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.describe import Description
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Dataset

_TYPES = {Kind.TABLE: "TABLE", Kind.VIEW: "VIEW", Kind.PATH: "FILE", Kind.TOPIC: "TOPIC"}
_EMPTIES = frozenset({Operation.TRUNCATE, Operation.DROP, Operation.INSERT_OVERWRITE})
_CREATES = frozenset(
    {
        Operation.CREATE_TABLE,
        Operation.CREATE_TABLE_AS,
        Operation.CREATE_TABLE_LIKE,
        Operation.CREATE_VIEW,
        Operation.SELECT_INTO,
    }
)


def schema(dataset: Dataset | None, texts: Mapping[str, str] | None = None) -> Facet | None:
    """The columns; None where they are not known."""
    if dataset is None or not dataset.columns:
        return None
    texts_by_name = {name.casefold(): text for name, text in (texts or {}).items()}
    return facet(
        "SchemaDatasetFacet",
        fields=[
            without_none(
                {
                    "name": column.name,
                    "type": column.type or None,
                    "description": texts_by_name.get(column.name.casefold()) or None,
                }
            )
            for column in dataset.columns
        ],
    )


def symlinks(lineage: Lineage, dataset: DatasetId) -> Facet | None:
    """Other names: the place of its files, and names in logs that a rule replaces."""
    details = lineage.datasets.get(dataset)
    names = {*(details.symlinks if details else ()), *lineage.names.aliases.get(dataset, ())}
    if not names:
        return None
    return facet(
        "SymlinksDatasetFacet",
        identifiers=[
            {**identity(name), "type": "LOCATION" if name.is_path else "TABLE"}
            for name in sorted(names)
        ],
    )


def dataset_type(dataset: Dataset | None) -> Facet | None:
    """Whether it is a table, a view, a file or a topic."""
    name = _TYPES.get(dataset.kind) if dataset else None
    return facet("DatasetTypeDatasetFacet", datasetType=name) if name else None


def facets_in_runs(lineage: Lineage, dataset: DatasetId) -> dict[str, Facet]:
    """The facets that each event has that names the dataset: receivers read runs first."""
    details = lineage.datasets.get(dataset)
    facets = {
        "schema": schema(details),
        "symlinks": symlinks(lineage, dataset),
        "datasetType": dataset_type(details),
    }
    return without_none(facets)


def all_facets(
    lineage: Lineage, dataset: DatasetId, description: Description | None
) -> dict[str, Facet]:
    """All facets that do not depend on who uses the dataset."""
    details = lineage.datasets.get(dataset)
    facets = facets_in_runs(lineage, dataset)
    if details and details.dropped_at:
        facets["lifecycleStateChange"] = facet(
            "LifecycleStateChangeDatasetFacet", lifecycleStateChange="DROP"
        )
    if description is None:
        return facets
    facets |= without_none(
        {
            "schema": schema(details, description.columns),
            "documentation": documentation("DocumentationDatasetFacet", description.text),
            "ownership": ownership("OwnershipDatasetFacet", description.owner),
            "tags": _tags(description),
        }
    )
    return facets


def _tags(description: Description) -> Facet | None:
    tags = [tag(name, name, "DBT") for name in description.tags]
    if description.sensitivity:
        tags.append(tag("sensitivity", description.sensitivity, "DBT"))
    tags += [
        tag("sensitivity", text, "DBT", column)
        for column, text in sorted(description.column_sensitivity.items())
    ]
    return facet("TagsDatasetFacet", tags=tags) if tags else None


def lifecycle(operations: Iterable[Operation], former: Iterable[DatasetId] = ()) -> Facet | None:
    """The change of a dataset by all that a run did to it; None where it only added rows.

    A run that empties a table and fills it again has overwritten it.

    Args:
        former: Names that the dataset had before.
    """
    done = frozenset(operations)
    brings = any(operation.brings_data for operation in done)
    if any(operation.renames for operation in done):
        change = "RENAME"
    elif Operation.DROP in done and not brings and not done & _CREATES:
        change = "DROP"
    elif brings and done & _EMPTIES:
        change = "OVERWRITE"
    elif done & _CREATES:
        change = "CREATE"
    elif Operation.TRUNCATE in done:
        change = "TRUNCATE"
    elif Operation.ALTER in done:
        change = "ALTER"
    else:
        return None
    former_names = list(former)
    return facet(
        "LifecycleStateChangeDatasetFacet",
        lifecycleStateChange=change,
        previousIdentifier=identity(former_names[0])
        if change == "RENAME" and len(former_names) == 1
        else None,
    )
