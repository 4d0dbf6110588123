"""A directed graph of hashable nodes: order, cycles, upstream and downstream."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any, Generic, Protocol, TypeVar


class Node(Protocol):
    """Anything that hashes and sorts: the order makes every answer the same each time."""

    def __hash__(self) -> int: ...
    def __lt__(self, other: Any, /) -> bool: ...


N = TypeVar("N", bound=Node)


class Graph(Generic[N]):
    """Nodes and edges `(source, target)`; an edge from a node to itself is left out."""

    def __init__(self, edges: Iterable[tuple[N, N]] = (), nodes: Iterable[N] = ()) -> None:
        downstream: dict[N, set[N]] = {node: set() for node in nodes}
        upstream: dict[N, set[N]] = {node: set() for node in downstream}
        for source, target in edges:
            if (targets := downstream.get(source)) is None:
                targets, upstream[source] = downstream.setdefault(source, set()), set()
            if (sources := upstream.get(target)) is None:
                sources, downstream[target] = upstream.setdefault(target, set()), set()
            if source != target:
                targets.add(target)
                sources.add(source)
        # Sorted: the order of a set changes from process to process, and pictures with it.
        self._downstream = {node: tuple(sorted(targets)) for node, targets in downstream.items()}
        self._upstream = {node: tuple(sorted(sources)) for node, sources in upstream.items()}

    @property
    def nodes(self) -> list[N]:
        """All nodes, sorted."""
        return sorted(self._downstream)

    @property
    def edges(self) -> list[tuple[N, N]]:
        """All edges, sorted."""
        return sorted((a, b) for a, targets in self._downstream.items() for b in targets)

    def parents(self, node: N) -> list[N]:
        """The nodes one step upstream, sorted; empty for an unknown node."""
        return list(self._upstream.get(node, ()))

    def children(self, node: N) -> list[N]:
        """The nodes one step downstream, sorted; empty for an unknown node."""
        return list(self._downstream.get(node, ()))

    def upstream(self, node: N, depth: int | None = None) -> dict[N, int]:
        """Everything the node comes from, with the steps to it; `depth` limits the steps."""
        return _reach(self._upstream, node, depth)

    def downstream(self, node: N, depth: int | None = None) -> dict[N, int]:
        """Everything that comes from the node, with the steps to it; `depth` limits the steps."""
        return _reach(self._downstream, node, depth)

    def levels(self) -> list[list[N]]:
        """The nodes in processing order: a level needs only the levels before it.

        Raises:
            graphlib.CycleError: The graph has a cycle; `cycles` names them.
        """
        sorter = TopologicalSorter(self._upstream)
        sorter.prepare()
        levels = []
        while ready := sorted(sorter.get_ready()):
            levels.append(ready)
            sorter.done(*ready)
        return levels

    def parts(self) -> Iterator[list[N]]:
        """All nodes in parts, each after those downstream of it: a part is one node, or a knot.

        The nodes of a knot (a strongly connected part) are all upstream of each other. Tarjan's
        algorithm, with a stack of its own: a chain may be longer than Python's.
        """
        index: dict[N, int] = {}
        lowest: dict[N, int] = {}
        path: list[N] = []
        done: set[N] = set()
        for start in self._downstream:
            waiting = [] if start in index else [(start, iter(self._downstream[start]))]
            while waiting:
                node, children = waiting[-1]
                if node not in index:
                    index[node] = lowest[node] = len(index)
                    path.append(node)
                for child in children:
                    if child not in index:
                        waiting.append((child, iter(self._downstream[child])))
                        break
                    if child not in done:
                        lowest[node] = min(lowest[node], index[child])
                else:
                    waiting.pop()
                    if waiting:
                        above = waiting[-1][0]
                        lowest[above] = min(lowest[above], lowest[node])
                    if lowest[node] == index[node]:
                        part = [path.pop()]
                        while part[-1] != node:
                            part.append(path.pop())
                        done.update(part)
                        yield sorted(part)

    def cycles(self) -> list[list[N]]:
        """A shortest cycle of each strongly connected part, from its smallest node on."""
        return [
            self._shortest_cycle(set(part)) for part in sorted(map(sorted, self._knots())) if part
        ]

    def _shortest_cycle(self, part: set[N]) -> list[N]:
        best: list[N] = []
        for start in sorted(part):
            came_from: dict[N, N] = {}
            queue = deque([start])
            while queue and start not in came_from:
                node = queue.popleft()
                for child in self._downstream[node]:
                    if child in part and child not in came_from:
                        came_from[child] = node
                        queue.append(child)
            path = [start]
            while (node := came_from[path[-1]]) != start:
                path.append(node)
            path = [start, *reversed(path[1:])]
            if not best or len(path) < len(best):
                best = path
            if len(best) == 2:
                break
        return best

    def _knots(self) -> list[list[N]]:
        """Strongly connected parts of more than one node."""
        knots = []
        left = self._on_or_between_cycles()
        while left:
            node = min(left)
            part = {node, *self.downstream(node)} & {node, *self.upstream(node)}
            if len(part) > 1:
                knots.append(sorted(part))
            left -= part
        return knots

    def _on_or_between_cycles(self) -> set[N]:
        """The nodes left when those without a parent, or without a child, are removed in turn."""
        left = set(self._downstream)
        for neighbours, opposite in (
            (self._upstream, self._downstream),
            (self._downstream, self._upstream),
        ):
            degree = {
                node: sum(neighbour in left for neighbour in neighbours[node]) for node in left
            }
            bare = [node for node, count in degree.items() if not count]
            while bare:
                node = bare.pop()
                left.discard(node)
                for other in opposite[node]:
                    if other not in left:
                        continue
                    degree[other] -= 1
                    if not degree[other]:
                        bare.append(other)
        return left


def _reach(neighbours: Mapping[N, Sequence[N]], start: N, depth: int | None) -> dict[N, int]:
    distances = {start: 0}
    level, steps = [start], 0
    while level and steps != depth:
        steps += 1
        ahead = []
        for node in level:
            for neighbour in neighbours.get(node, ()):
                if neighbour not in distances:
                    distances[neighbour] = steps
                    ahead.append(neighbour)
        level = ahead
    del distances[start]
    return distances
