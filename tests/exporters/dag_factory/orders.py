"""Orders written as lines: `load: a, b -> c`, a dbt model as `dbt orders: c -> d`."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from dbt_graft.exporters.dag_factory.check.matching import TaskMatcher, task_matcher
from dbt_graft.exporters.dag_factory.order import DemandedOrder, Edge, OrderedNode
from dbt_graft.exporters.dag_factory.settings import DagSettings, TaskCommand
from dbt_graft.injector.selection import SelectableNodes
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import TaskInfo

# Every task has a command.
SETTINGS = DagSettings(
    name="shop",
    lineage=False,
    commands=(
        TaskCommand(engine="dbt", command="dbt build --select {models}"),
        TaskCommand(command="run {task}"),
    ),
)


def order_of(*lines: str, **infos: TaskInfo) -> DemandedOrder:
    """The order that these tasks and models demand; `infos` has facts of some."""
    nodes: dict[str, OrderedNode] = {}
    for line in lines:
        label, _, data = line.partition(":")
        reads, _, writes = data.partition("->")
        is_dbt = label.startswith("dbt ")
        label = label.removeprefix("dbt ")
        node = OrderedNode(
            f"model.shop.{label}" if is_dbt else label,
            label,
            "model" if is_dbt else "",
            ("dbt",) if is_dbt else ("spark",),
            infos.get(label, TaskInfo()),
            _datasets(reads),
            _datasets(writes),
            f"tasks/{label}/",
        )
        nodes[node.name] = node
    edges: dict[Edge, list[DatasetId]] = defaultdict(list)
    for writer in nodes.values():
        for reader in nodes.values():
            if writer is not reader:
                for dataset in sorted({*writer.writes} & {*reader.reads}):
                    edges[writer.name, reader.name].append(dataset)
    return DemandedOrder(nodes, {edge: tuple(found) for edge, found in edges.items()})


def matcher_of(order: DemandedOrder) -> TaskMatcher:
    """The matcher of an order whose dbt nodes are in `models/marts` of a project."""
    nodes = {
        node.name: {
            "resource_type": node.resource,
            "name": node.label,
            "package_name": "shop",
            "fqn": ["shop", "marts", node.label],
            "original_file_path": f"models/marts/{node.label}.sql",
            "tags": node.info.tags,
        }
        for node in order.nodes.values()
        if node.is_dbt
    }
    parents = {key: [a for a, b in order.edges if b == key and a in nodes] for key in nodes}
    manifest = {"nodes": nodes, "parent_map": parents, "metadata": {"project_name": "shop"}}
    return task_matcher(order, {}, select=SelectableNodes.from_manifest(manifest).of_command)


def named(order: DemandedOrder, old: str, new: str) -> DemandedOrder:
    """The order with one task under another name."""
    node = replace(order.nodes[old], name=new, label=new)
    return DemandedOrder(
        {
            (new if name == old else name): (node if name == old else one)
            for name, one in order.nodes.items()
        },
        {
            tuple(new if end == old else end for end in edge): datasets  # type: ignore[misc]
            for edge, datasets in order.edges.items()
        },
    )


def _datasets(names: str) -> tuple[DatasetId, ...]:
    return tuple(DatasetId("spark", name.strip()) for name in names.split(",") if name.strip())
