"""Edges from logs added to dbt's graph so that it stays free of cycles.

The rule: dbt's own edges stay. Edges from logs are added in the order in which their data was
first seen, oldest first, those without a time last, ties by name. An edge that would close a
cycle is left out and reported with the path that it closes, so each cycle loses its newest edge.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from dbt_graft.injector.report import Cycle, CycleEdge
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.frozen import frozen

_NEVER = datetime.max.replace(tzinfo=UTC)
Edge = tuple[str, str]


@frozen
class AcyclicEdges:
    """Edges from logs without cycles, and the cycles that the edges left out would have closed."""

    edges: frozenset[Edge]
    cycles: tuple[Cycle, ...]


def without_cycles(dbt_edges: Iterable[Edge], logged: Mapping[Edge, list[Flow]]) -> AcyclicEdges:
    """Leave out the edges from logs that would close a cycle.

    Args:
        dbt_edges: dbt's edges, as (parent, child).
        logged: The edges from logs, each with its flows.
    """
    dbt_edges = set(dbt_edges)
    suspects = _on_or_after_cycles([*dbt_edges, *logged])
    children: dict[str, set[str]] = defaultdict(set)
    for source, target in dbt_edges:
        children[source].add(target)
    accepted: set[Edge] = set()
    cycles = []
    for edge in sorted(logged, key=lambda edge: (_first_seen(logged[edge]), edge)):
        source, target = edge
        if edge not in dbt_edges and source in suspects and target in suspects:
            path = _path(children, target, source, suspects)
            if path:
                hops = [*pairwise(path), edge]
                cycles.append(Cycle(tuple(_cycle_edge(hop, dbt_edges, logged) for hop in hops)))
                continue
        children[source].add(target)
        accepted.add(edge)
    return AcyclicEdges(frozenset(accepted), tuple(cycles))


def _on_or_after_cycles(edges: Sequence[Edge]) -> set[str]:
    """Return the nodes on a cycle, and those downstream of one and upstream of others."""
    graph: dict[str, set[str]] = {source: set() for source, _ in edges}
    for source, target in edges:
        if target in graph:  # Most are tests, behind which nothing comes.
            graph[target].add(source)
    sorter = TopologicalSorter(graph)
    # After its error the sorter goes on with what the cycles do not block.
    with suppress(CycleError):
        sorter.prepare()
    left = set(graph)
    while ready := sorter.get_ready():
        left.difference_update(ready)
        sorter.done(*ready)
    return left


def _path(
    children: Mapping[str, set[str]], start: str, end: str, within: set[str]
) -> list[str] | None:
    """Return a shortest path, the first by name where there are several."""
    came_from = {start: start}
    queue = deque([start])
    while queue and end not in came_from:
        node = queue.popleft()
        for child in sorted(children.get(node, ())):
            if child in within and child not in came_from:
                came_from[child] = node
                queue.append(child)
    if end not in came_from:
        return None
    path = [end]
    while path[-1] != start:
        path.append(came_from[path[-1]])
    return path[::-1]


def _first_seen(flows: list[Flow]) -> datetime:
    return min((flow.first_at for flow in flows if flow.first_at), default=_NEVER)


def _cycle_edge(edge: Edge, dbt_edges: set[Edge], logged: Mapping[Edge, list[Flow]]) -> CycleEdge:
    flows = [] if edge in dbt_edges else logged[edge]
    return CycleEdge(
        *edge,
        tasks=tuple(sorted({flow.task for flow in flows})),
        evidence=str(flows[0].evidence) if flows else "",
    )
