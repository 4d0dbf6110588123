"""Units: what one task of Airflow runs, a task or dbt's nodes; and how the order goes over to them.

dbt's nodes of one level share a unit: those that dbt can build without waiting for another task in
between. So a level ends where a task reads what dbt built, and dbt needs what the task writes.
In the Markdown that describes a unit names of logs and people are data.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from dbt_graft.analysis.render.markdown import code, one_line
from dbt_graft.exporters.dag_factory.order import DemandedOrder, Edge, OrderedNode
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.graph import Graph

# Linux limits an argument to 128 KiB, and bash gets the command as one.
_LONGEST_SELECTION = 60_000
_LONGEST_TAG = 100  # Airflow's
_LISTED = 50


@frozen
class WorkUnit:
    """The content of one task of Airflow.

    Attributes:
        name: The node's name; of several dbt nodes `dbt build <number>`.
        nodes: In processing order.
    """

    name: str
    nodes: tuple[OrderedNode, ...]

    @property
    def is_dbt(self) -> bool:
        """Whether dbt runs it."""
        return self.nodes[0].is_dbt

    @property
    def is_level(self) -> bool:
        """Whether it is a level of dbt's nodes, be it of one."""
        return self.name != self.nodes[0].name

    @property
    def title(self) -> str:
        """The beginning of its id: of one dbt node `dbt_<name>`."""
        return f"dbt_{self.nodes[0].label}" if self.is_dbt and not self.is_level else self.name


@frozen
class UnitOrder:
    """Units by name, and the edges between them with the datasets behind each."""

    units: Mapping[str, WorkUnit]
    edges: Mapping[Edge, tuple[DatasetId, ...]]


def units(order: DemandedOrder, *, by_level: bool) -> UnitOrder:
    """The units of an order without cycles.

    Args:
        by_level: dbt's nodes of one level are one unit; else each is its own.
    """
    graph = Graph(order.edges, order.nodes)
    ordered = [name for level in graph.levels() for name in level]
    units_by_name = {
        name: WorkUnit(name, (order.nodes[name],))
        for name in ordered
        if not (by_level and order.nodes[name].is_dbt)
    }
    if by_level:
        levels = _levels(order, graph, ordered)
        for number, nodes in enumerate(_split_levels(levels), 1):
            name = f"dbt build {number}"
            units_by_name[name] = WorkUnit(name, tuple(nodes))
    unit_of = {node.name: unit.name for unit in units_by_name.values() for node in unit.nodes}
    edges: dict[Edge, set[DatasetId]] = defaultdict(set)
    for (writer, reader), datasets in order.edges.items():
        edge = unit_of[writer], unit_of[reader]
        if edge[0] != edge[1]:
            edges[edge].update(datasets)
    return UnitOrder(units_by_name, {edge: tuple(sorted(edges[edge])) for edge in sorted(edges)})


def _levels(
    order: DemandedOrder, graph: Graph[str], ordered: Iterable[str]
) -> list[list[OrderedNode]]:
    """dbt's nodes by level: how often a way to them changes from tasks to dbt and back, at most.

    Those of one level never wait for a task that waits for another one of them, so that no cycle
    comes of putting them together. Nodes that need no task are built with the first that do.
    """
    changes: dict[str, int] = {}
    levels: dict[int, list[OrderedNode]] = defaultdict(list)
    for name in ordered:
        node = order.nodes[name]
        changes[name] = max(
            (
                changes[parent] + (order.nodes[parent].is_dbt != node.is_dbt)
                for parent in graph.parents(name)
            ),
            default=int(node.is_dbt),
        )
        if node.is_dbt:
            levels[changes[name]].append(node)
    return [levels[number] for number in sorted(levels)]


def _split_levels(levels: Iterable[Sequence[OrderedNode]]) -> Iterable[list[OrderedNode]]:
    """Levels whose selection fits into a command, in processing order."""
    for level in levels:
        part: list[OrderedNode] = []
        length = 0
        for node in level:
            length += len(node.label) + 1
            if part and length > _LONGEST_SELECTION:
                yield part
                part, length = [], len(node.label) + 1
            part.append(node)
        yield part


def tags_of(names: Iterable[str]) -> tuple[str, ...]:
    """Tags as Airflow takes them, sorted."""
    return tuple(sorted({clean[:_LONGEST_TAG] for name in names if (clean := one_line(name))}))


def task_doc(nodes: Sequence[OrderedNode], site_url: str, *, marked: bool = False) -> str:
    """A description of a task in Markdown, with links to the pages of the catalog.

    Args:
        marked: Airflow does not run it.
    """
    address = site_url and f"{site_url.rstrip('/')}/"
    paragraphs = []
    if marked:
        paragraphs.append(
            "Runs outside of Airflow. This marks its place in the order, and waits for nothing."
        )
    if len(nodes) == 1:
        if nodes[0].info.description:
            paragraphs.append(_escape(nodes[0].info.description))
        if address:
            paragraphs.append(f"[In the catalog]({address}{nodes[0].page})")
        return "\n\n".join(paragraphs)
    lines = [
        f"- [{_escape(node.label)}]({address}{node.page})" if address else f"- {code(node.label)}"
        for node in nodes[:_LISTED]
    ]
    if len(nodes) > _LISTED:
        lines.append(f"- and {len(nodes) - _LISTED:,} more")
    return "\n\n".join([*paragraphs, "\n".join(lines)])


def _escape(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]()<>#!|~&])", r"\\\1", one_line(text))
