"""dbt's nodes as datasets, and dbt's own lineage in the words of everybody else."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage, flow_order
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Column, Dataset, Evidence

Node = Mapping[str, Any]

# What dbt builds a relation for; a source is a relation that it only reads.
BUILDERS = ("model", "seed", "snapshot")
# The parts of a manifest that hold nodes, in the order in which dbt's docs page merges them.
PARTS = (
    "nodes",
    "sources",
    "exposures",
    "metrics",
    "semantic_models",
    "saved_queries",
    "unit_tests",
    "functions",
)
_OPERATIONS = {
    "view": Operation.CREATE_VIEW,
    "incremental": Operation.MERGE,
    "snapshot": Operation.MERGE,
    "seed": Operation.INSERT,
}


@dataclass(frozen=True, slots=True)
class Relations:
    """Which dataset each dbt node is.

    Attributes:
        datasets: Node id -> its dataset, for models, seeds, snapshots and sources that have a
            relation (an ephemeral model has none).
        builders: Dataset -> the node that builds it.
        sources: Dataset -> the sources that read it, those of the project itself first.
        rivals: Dataset -> the nodes that build it, where there are several.
    """

    datasets: Mapping[str, DatasetId]
    builders: Mapping[DatasetId, str]
    sources: Mapping[DatasetId, tuple[str, ...]]
    rivals: Mapping[DatasetId, tuple[str, ...]]

    def node_of(self, dataset: DatasetId) -> str | None:
        """The node that stands for a dataset: its builder, else its first source."""
        return self.builders.get(dataset) or next(iter(self.sources.get(dataset, ())), None)

    def spelled(self, wanted: Collection[DatasetId]) -> list[DatasetId]:
        """Those of the wanted datasets that dbt knows, in dbt's spelling, sorted."""
        nodes = (self.node_of(dataset) for dataset in wanted)
        return sorted(self.datasets[node_id] for node_id in nodes if node_id)


def relations(manifest: Node, namespace: str) -> Relations:
    """Match dbt's relations to datasets.

    Args:
        namespace: Where dbt's warehouse lies in the lineage: `spark`, `mssql://crm:1433`.
    """
    project = project_name(manifest)
    datasets: dict[str, DatasetId] = {}
    builders: dict[DatasetId, list[str]] = defaultdict(list)
    sources: dict[DatasetId, list[str]] = defaultdict(list)
    for node_id, node in sorted(manifest["nodes"].items()):
        if dataset := _dataset(node, namespace):
            datasets[node_id] = dataset
            builders[dataset].append(node_id)
    for node_id, node in sorted(
        manifest["sources"].items(),
        key=lambda item: (item[1].get("package_name") != project, item[0]),
    ):
        if dataset := _dataset(node, namespace):
            datasets[node_id] = dataset
            sources[dataset].append(node_id)
    return Relations(
        datasets,
        {key: ids[0] for key, ids in builders.items()},
        {key: tuple(ids) for key, ids in sources.items()},
        {key: tuple(ids) for key, ids in builders.items() if len(ids) > 1},
    )


def project_name(manifest: Node) -> str | None:
    """The root project; of v9, which does not name it, the package whose digest it gives."""
    metadata = manifest.get("metadata") or {}
    if name := metadata.get("project_name"):
        return str(name)
    packages = {
        str(node.get("package_name"))
        for part in ("nodes", "sources")
        for node in manifest[part].values()
    }
    digest = metadata.get("project_id")
    return next((name for name in sorted(packages) if _project_id(name) == digest), None)


def _project_id(name: str) -> str:
    return hashlib.md5(name.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def _dataset(node: Node, namespace: str) -> DatasetId | None:
    kind = node.get("resource_type")
    if kind == "source":
        identifier = node.get("identifier") or node.get("name")
    elif kind in BUILDERS and materialized(node) != "ephemeral":
        identifier = node.get("alias") or node.get("name")
    else:
        return None
    parts = (node.get("database"), node.get("schema"), identifier)
    return DatasetId(namespace, ".".join(str(part) for part in parts if part))


def materialized(node: Node) -> str:
    """A node's materialization, the resource type of those that have none."""
    config = node.get("config") or {}
    return str(config.get("materialized") or node.get("resource_type") or "")


def parents(node: Node) -> list[str]:
    """The ids that a node depends on, as dbt lists them; the node's own list."""
    found: list[str] = (node.get("depends_on") or {}).get("nodes") or []
    return found


def own_lineage(
    manifest: Node,
    catalog: Node,
    known: Relations,
    wanted: Collection[DatasetId] | None = None,
) -> Lineage:
    """What dbt itself builds from what: each model, seed and snapshot is a definition.

    Ephemeral models have no relation; what is read through them is read from their parents.
    Columns are those that dbt found in the warehouse.

    Args:
        wanted: Only these datasets and what builds them; all where it is None.
    """
    everything = all_nodes(manifest)
    datasets: dict[DatasetId, Dataset] = {}
    for dataset in sorted(known.datasets.values()) if wanted is None else known.spelled(wanted):
        node_id = known.node_of(dataset)
        if node_id and dataset not in datasets:
            kind = Kind.VIEW if materialized(everything[node_id]) == "view" else Kind.TABLE
            datasets[dataset] = Dataset(dataset, kind, _found_columns(catalog, node_id))
    definitions, flows = {}, []
    for target, node_id in sorted(known.builders.items(), key=lambda item: item[1]):
        if wanted is not None and target not in wanted:
            continue
        node = everything[node_id]
        reads = upstream_datasets(node, everything, known)
        definitions[node_id] = Definition(
            name=node_id,
            kind=DefinitionKind.DBT,
            dataset=target,
            reads=tuple(reads),
            operation=_OPERATIONS.get(materialized(node), Operation.CREATE_TABLE_AS),
        )
        flows += [
            Flow(
                dataset,
                target,
                node_id,
                evidence=Evidence.DECLARED,
                definition=DefinitionKind.DBT,
            )
            for dataset in reads
            if dataset != target
        ]
    return Lineage(
        datasets=datasets,
        definitions=definitions,
        flows=tuple(sorted(flows, key=flow_order)),
    )


def exposures(manifest: Node, known: Relations) -> list[Consumer]:
    """dbt's exposures, with what they read through metrics and ephemeral models too."""
    everything = all_nodes(manifest)
    return [
        Consumer(
            node_id=node_id,
            name=str(node.get("label") or node.get("name") or node_id),
            kind=str(node.get("type") or "application"),
            reads=tuple(upstream_datasets(node, everything, known)),
            text=str(node.get("description") or ""),
            owner=owner(node, manifest),
            url=str(node.get("url") or ""),
            tags=string_tags(node),
        )
        for node_id, node in sorted((manifest.get("exposures") or {}).items())
    ]


def all_nodes(manifest: Node) -> dict[str, Node]:
    """Every node of a manifest by its id; the first part that has an id decides."""
    found: dict[str, Node] = {}
    for part in reversed(PARTS):
        found.update(manifest.get(part) or {})
    return found


def upstream_datasets(
    node: Node, everything: Mapping[str, Node], known: Relations
) -> list[DatasetId]:
    """The nearest datasets upstream of a node, sorted: parents without one are looked through."""
    found = set()
    seen: set[str] = set()
    waiting = [*parents(node)]
    while waiting:
        parent = waiting.pop()
        if parent in seen:
            continue
        seen.add(parent)
        if parent in known.datasets:
            found.add(known.datasets[parent])
        elif parent in everything:
            waiting += parents(everything[parent])
    return sorted(found)


def owner(node: Node, manifest: Node) -> str:
    """Who owns a node as dbt tells it: its owner, its group's, or `meta.owner`."""
    group = f"group.{node.get('package_name')}.{node.get('group')}"
    told = node.get("owner") or ((manifest.get("groups") or {}).get(group) or {}).get("owner") or {}
    meta = (node.get("meta") or {}).get("owner")
    for name in (told.get("name"), told.get("email"), meta):
        if isinstance(name, str) and name:
            return name
    return ""


def string_tags(node: Node) -> tuple[str, ...]:
    """A node's tags, those that are strings: others break dbt's docs page."""
    return tuple(tag for tag in node.get("tags") or () if isinstance(tag, str))


def described_columns(
    manifest: Node, known: Relations, wanted: Collection[DatasetId] | None = None
) -> Lineage:
    """The columns that people described: all there is where neither warehouse nor log tells.

    Args:
        wanted: Only of these datasets; of all where it is None.
    """
    everything = all_nodes(manifest)
    datasets: dict[DatasetId, Dataset] = {}
    for node_id, dataset in known.datasets.items():
        if wanted is not None and dataset not in wanted:
            continue
        told = (everything[node_id].get("columns") or {}).values()
        columns = tuple(
            Column(str(column.get("name")), str(column.get("data_type") or "")) for column in told
        )
        datasets.setdefault(dataset, Dataset(dataset, columns=columns))
    return Lineage(datasets=datasets)


def _found_columns(catalog: Node, node_id: str) -> tuple[Column, ...]:
    """The warehouse's columns in their order; none where dbt did not ask."""
    entry = catalog["nodes"].get(node_id) or catalog["sources"].get(node_id) or {}
    columns = sorted((entry.get("columns") or {}).values(), key=lambda c: c.get("index") or 0)
    return tuple(Column(str(c.get("name")), str(c.get("type") or "")) for c in columns)
