"""The order of nodes, and the fewest edges for it; fast for tens of thousands of nodes.

Everything upstream of a node is one integer, a bit for each node, so that a union of two costs a
word for 64 nodes.
"""

from __future__ import annotations

from collections.abc import Iterable

from dbt_graft.lineage.graph import Graph, N


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
