"""The columns that catalog.json and YAML have of dbt's nodes."""

from __future__ import annotations

from dbt_graft.analysis.checks.column_drift import DbtColumns
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.injector.dbt_lineage import catalog_columns
from dbt_graft.injector.manifest import all_nodes
from dbt_graft.injector.relations import Relations
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Column


def dbt_columns(artifacts: Artifacts, relations: Relations) -> DbtColumns:
    """The columns of each dataset that catalog.json has, and those that YAML names."""
    everything = all_nodes(artifacts.manifest)
    cataloged: dict[DatasetId, tuple[Column, ...]] = {}
    yaml_columns: dict[DatasetId, tuple[str, ...]] = {}
    for node_id, dataset in relations.datasets.items():
        if columns := catalog_columns(artifacts.catalog, node_id):
            cataloged.setdefault(dataset, columns)
        names = everything[node_id].get("columns") or {}
        yaml_columns[dataset] = (*yaml_columns.get(dataset, ()), *map(str, names))
    return DbtColumns(cataloged, yaml_columns)
