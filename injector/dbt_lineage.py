"""dbt's own lineage: its models as definitions, its exposures as consumers, its columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import chain
from typing import Any

from dbt_graft.analysis.checks.column_drift import DbtColumns
from dbt_graft.analysis.quality.times import clock_text
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.injector.manifest import Node, all_nodes, materialized, owner, parents, string_tags
from dbt_graft.injector.relations import Relations
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.definition import NO_COLUMNS, Definition, DefinitionColumns, DefinitionKind
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage, flow_order
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Column, Dataset, Evidence
from dbt_graft.lineage.redaction import redact_json

_OPERATIONS = {
    "view": Operation.CREATE_VIEW,
    "incremental": Operation.MERGE,
    "snapshot": Operation.MERGE,
    "seed": Operation.INSERT,
}


def own_lineage(
    manifest: Node,
    catalog: Node,
    relations: Relations,
    wanted: Collection[DatasetId] | None = None,
    followed: DefinitionColumns = NO_COLUMNS,
) -> Lineage:
    """Return dbt's own lineage: each model, seed and snapshot is a definition.

    Ephemeral models have no relation: a model that selects from one reads its parents.
    Columns are those of the catalog.

    Args:
        wanted: Return only these datasets and their definitions; by default all.
        followed: The column edges of the models. They may come from tables that a model reads
            without a `ref` or `source`: these are its inputs, too.
    """
    everything = all_nodes(manifest)
    datasets: dict[DatasetId, Dataset] = {}
    for dataset in (
        sorted(relations.datasets.values()) if wanted is None else relations.spelled(wanted)
    ):
        node_id = relations.node_of(dataset)
        if node_id and dataset not in datasets:
            kind = Kind.VIEW if materialized(everything[node_id]) == "view" else Kind.TABLE
            datasets[dataset] = Dataset(dataset, kind, catalog_columns(catalog, node_id))
    definitions = {
        node_id: _definition(everything[node_id], node_id, target, everything, relations, followed)
        for target, node_id in sorted(relations.builders.items(), key=lambda item: item[1])
        if wanted is None or target in wanted
    }
    edges = {node_id: followed.edges.get(node_id, ()) for node_id in definitions}
    if wanted is None:
        for definition in definitions.values():
            for source in definition.reads:
                kind = Kind.PATH if source.is_path else Kind.TABLE
                datasets.setdefault(source, Dataset(source, kind))
    flows = (
        Flow(
            source,
            definition.dataset,
            definition.name,
            evidence=Evidence.DECLARED,
            definition=DefinitionKind.DBT,
        )
        for definition in definitions.values()
        for source in definition.reads
        if source != definition.dataset
    )
    return Lineage(
        datasets=datasets,
        definitions=definitions,
        flows=tuple(sorted(flows, key=flow_order)),
        column_edges=tuple(chain.from_iterable(edges.values())),
    )


def _definition(
    node: Node,
    node_id: str,
    dataset: DatasetId,
    everything: Mapping[str, Node],
    relations: Relations,
    followed: DefinitionColumns,
) -> Definition:
    sources = {edge.from_dataset for edge in followed.edges.get(node_id, ())}
    sources.update(followed.reads.get(node_id, ()))
    operation = _OPERATIONS.get(materialized(node), Operation.CREATE_TABLE_AS)
    # What is merged must have the columns of the table.
    starred = None if operation is Operation.MERGE else followed.starred.get(node_id)
    return Definition(
        name=node_id,
        kind=DefinitionKind.DBT,
        dataset=dataset,
        reads=tuple(sorted({*upstream_datasets(node, everything, relations), *sources})),
        operation=operation,
        gap=followed.gaps.get(node_id),
        starred=starred or (),
        by_event_time=(node.get("config") or {}).get("incremental_strategy") == "microbatch",
    )


def described_columns(
    manifest: Node, relations: Relations, wanted: Collection[DatasetId] | None = None
) -> Lineage:
    """Return datasets with the columns described in YAML, for those not in catalog or logs.

    Args:
        wanted: Return only these datasets; by default all.
    """
    everything = all_nodes(manifest)
    datasets: dict[DatasetId, Dataset] = {}
    for node_id, dataset in relations.datasets.items():
        if wanted is not None and dataset not in wanted:
            continue
        yaml_columns = (everything[node_id].get("columns") or {}).values()
        columns = tuple(
            Column(str(column.get("name")), str(column.get("data_type") or ""))
            for column in yaml_columns
        )
        datasets.setdefault(dataset, Dataset(dataset, columns=columns))
    return Lineage(datasets=datasets)


def exposures(manifest: Node, relations: Relations) -> list[Consumer]:
    """Return dbt's exposures; they may read through metrics and ephemeral models.

    Secrets in their texts, links and `meta` are left out.
    """
    everything = all_nodes(manifest)
    cleaned = {key: redact_json(node) for key, node in (manifest.get("exposures") or {}).items()}
    return [
        Consumer(
            node_id=node_id,
            name=str(node.get("label") or node.get("name") or node_id),
            kind=str(node.get("type") or "application"),
            reads=tuple(upstream_datasets(node, everything, relations)),
            text=str(node.get("description") or ""),
            owner=owner(node, manifest),
            url=str(node.get("url") or ""),
            tags=string_tags(node),
            **_promises(node),
            columns=tuple(_named_columns(node, everything, relations)),
        )
        for node_id, node in sorted(cleaned.items())
    ]


def _promises(node: Node) -> dict[str, Any]:
    """Criticality, SLO and deadline of an exposure, as its `meta` has them."""
    meta = _meta(node)
    return {
        key: clock_text(meta[key]) if key == "deadline" else str(meta[key])
        for key in ("criticality", "freshness_slo", "deadline")
        if isinstance(meta.get(key), str | int | float) and not isinstance(meta[key], bool)
    }


def _meta(node: Node) -> dict[str, Any]:
    return {**(node.get("meta") or {}), **((node.get("config") or {}).get("meta") or {})}


def _named_columns(
    node: Node, everything: Mapping[str, Node], relations: Relations
) -> Iterator[tuple[DatasetId, str]]:
    """The columns that an exposure names: `meta: {columns: [orders.amount]}`."""
    column_names = _meta(node).get("columns")
    if not isinstance(column_names, list):
        return
    by_name = {
        str(everything[parent].get(key)).casefold(): relations.datasets[parent]
        for parent in parents(node)
        if parent in everything and parent in relations.datasets
        for key in ("identifier", "alias", "name")
    }
    for name in column_names:
        table, _, column = str(name).rpartition(".")
        dataset = by_name.get(table.rpartition(".")[2].casefold())
        if dataset and column:
            yield dataset, column


def upstream_datasets(
    node: Node, everything: Mapping[str, Node], relations: Relations
) -> list[DatasetId]:
    """Return the nearest datasets upstream of a node, sorted; nodes without one are skipped."""
    datasets = set()
    seen: set[str] = set()
    waiting = [*parents(node)]
    while waiting:
        parent = waiting.pop()
        if parent in seen:
            continue
        seen.add(parent)
        if parent in relations.datasets:
            datasets.add(relations.datasets[parent])
        elif parent in everything:
            waiting += parents(everything[parent])
    return sorted(datasets)


def catalog_columns(catalog: Node, node_id: str) -> tuple[Column, ...]:
    """The columns of the catalog in their order; none for a node that is not in it."""
    entry = catalog["nodes"].get(node_id) or catalog["sources"].get(node_id) or {}
    columns = sorted((entry.get("columns") or {}).values(), key=_index)
    return tuple(Column(str(c.get("name")), str(c.get("type") or "")) for c in columns)


def _index(column: Node) -> float:
    index = column.get("index")
    return index if isinstance(index, (int, float)) else 0


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
