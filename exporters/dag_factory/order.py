"""The order that lineage demands: who writes a dataset runs before those who read it.

A view holds no data: who reads it comes after those who write what the view selects from. Of the
order the fewest edges are written. Everything upstream of a node is one integer, a bit for each
node, so that a union of two costs a word for 64 nodes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.describe import Description
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.graph import Graph, N
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import TaskInfo
from dbt_graft.lineage.urls import dataset_path, task_path

Edge = tuple[str, str]
_DBT = "dbt"


@frozen
class OrderedNode:
    """A task, or a model, seed or snapshot of dbt.

    Attributes:
        name: The task's name, or dbt's unique_id.
        label: The task's name, or that of dbt's node, with its version.
        selection: Selects the node in commands of dbt; its label where empty.
        resource: dbt's resource type; empty for a task.
        engines: The task's engines; `dbt` for dbt's nodes.
        page: The path of its page in the catalog.
    """

    name: str
    label: str
    resource: str = ""
    engines: tuple[str, ...] = ()
    info: TaskInfo = field(default_factory=TaskInfo)
    reads: tuple[DatasetId, ...] = ()
    writes: tuple[DatasetId, ...] = ()
    page: str = ""
    selection: str = ""

    @property
    def is_dbt(self) -> bool:
        """Whether dbt builds it."""
        return bool(self.resource)


@frozen
class DemandedOrder:
    """Nodes by name, and the edges between them.

    Attributes:
        edges: A writer and its reader -> the datasets that the one writes and the other reads.
    """

    nodes: Mapping[str, OrderedNode] = field(default_factory=dict)
    edges: Mapping[Edge, tuple[DatasetId, ...]] = field(default_factory=dict)

    def without(
        self, excluded: Callable[[OrderedNode], bool], ignored: Callable[[Edge], bool]
    ) -> DemandedOrder:
        """The order of fewer nodes, and without the edges that are ignored."""
        nodes = {name: node for name, node in self.nodes.items() if not excluded(node)}
        return DemandedOrder(
            nodes,
            {
                edge: datasets
                for edge, datasets in self.edges.items()
                if edge[0] in nodes and edge[1] in nodes and not ignored(edge)
            },
        )


def demanded_order(
    lineage: Lineage, descriptions: Mapping[DatasetId, Description] | None = None
) -> DemandedOrder:
    """The order that the lineage demands of its tasks and of dbt's nodes.

    Args:
        descriptions: Those of dbt: their tags and owners are those of its nodes.
    """
    nodes = {node.name: node for node in _nodes(lineage, descriptions or {})}
    writers = group_by_key(
        (dataset, node.name) for node in nodes.values() for dataset in node.writes
    )
    views = {
        definition.dataset: definition
        for definition in lineage.definitions.values()
        if _is_view(definition)
    }
    edges: dict[Edge, set[DatasetId]] = defaultdict(set)
    for node in nodes.values():
        for dataset in _behind_views(node.reads, views):
            for writer in writers.get(dataset, ()):
                if writer != node.name:
                    edges[writer, node.name].add(dataset)
    return DemandedOrder(
        dict(sorted(nodes.items())), {edge: tuple(sorted(edges[edge])) for edge in sorted(edges)}
    )


def _nodes(
    lineage: Lineage, descriptions: Mapping[DatasetId, Description]
) -> Iterator[OrderedNode]:
    for task in lineage.tasks.values():
        yield OrderedNode(
            task.name,
            task.name,
            engines=task.engines,
            info=task.info,
            reads=tuple(task.reads),
            writes=tuple(task.writes),
            page=task_path(task.name),
        )
    definitions = [
        definition for definition in lineage.definitions.values() if not _is_view(definition)
    ]
    for definition in definitions:
        description = descriptions.get(definition.dataset)
        resource, _, rest = definition.name.partition(".")
        yield OrderedNode(
            definition.name,
            rest.partition(".")[2] or definition.name,
            resource=resource,
            engines=(_DBT,),
            info=TaskInfo(owner=description.owner, tags=description.tags)
            if description
            else TaskInfo(),
            reads=definition.reads,
            writes=(definition.dataset,),
            page=dataset_path(definition.dataset),
            selection=description.selection if description else "",
        )


def _is_view(definition: Definition) -> bool:
    return definition.kind is DefinitionKind.VIEW


def _behind_views(
    reads: tuple[DatasetId, ...], views: Mapping[DatasetId, Definition]
) -> list[DatasetId]:
    """The datasets that are read, and those that the views among them select from."""
    datasets = dict.fromkeys(reads)
    waiting = [dataset for dataset in reads if dataset in views]
    while waiting:
        for dataset in views[waiting.pop()].reads:
            if dataset not in datasets:
                datasets[dataset] = None
                if dataset in views:
                    waiting.append(dataset)
    return list(datasets)


class Reach:
    """Answers whether one node is upstream of another; those of a cycle are so of each other."""

    def __init__(self, graph: Graph[N]) -> None:
        parts = list(graph.parts())
        parts.reverse()  # a part comes after those upstream of it
        self.numbers: dict[object, int] = {
            node: number for number, part in enumerate(parts) for node in part
        }
        self.bits: list[int] = []
        for number, part in enumerate(parts):
            ancestors = 1 << number if len(part) > 1 else 0
            for node in part:
                for parent in graph.parents(node):
                    other = self.numbers[parent]
                    if other != number:
                        ancestors |= self.bits[other] | 1 << other
            self.bits.append(ancestors)

    def precedes(self, first: object, second: object) -> bool:
        """Whether a way leads from one node to another; False for nodes it does not know."""
        a, b = self.numbers.get(first), self.numbers.get(second)
        return a is not None and b is not None and bool(self.bits[b] >> a & 1)


def reduce_edges(nodes: Iterable[N], edges: Iterable[tuple[N, N]]) -> list[tuple[N, N]]:
    """The edges of an acyclic graph that no longer way makes superfluous, sorted."""
    graph = Graph(edges, nodes)
    reach = Reach(graph)
    direct: list[tuple[N, N]] = []
    for node in graph.nodes:
        covered = 0
        # The nearest first: what is upstream of a parent needs no edge of its own.
        for parent in sorted(graph.parents(node), key=reach.numbers.__getitem__, reverse=True):
            number = reach.numbers[parent]
            if not covered >> number & 1:
                direct.append((parent, node))
                covered |= reach.bits[number]
    return sorted(direct)
