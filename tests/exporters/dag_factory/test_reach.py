"""The order of nodes, and the fewest edges for it."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from dbt_graft.exporters.dag_factory.reach import Reach, reduce_edges
from dbt_graft.lineage.graph import Graph

EDGES = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=40)


@given(EDGES)
def test_reach_is_that_of_a_walk_in_any_graph(edges: list[tuple[int, int]]) -> None:
    graph = Graph(edges)
    reach = Reach(graph)
    for first in graph.nodes:
        downstream = set(graph.downstream(first))
        knot = next(part for part in graph.parts() if first in part)
        for second in graph.nodes:
            same_knot = second in knot and len(knot) > 1
            assert reach.precedes(first, second) == (second in downstream or same_knot)


@given(EDGES)
def test_the_reduction_has_the_same_order_and_no_edge_to_spare(
    pairs: list[tuple[int, int]],
) -> None:
    edges = {(a, b) for a, b in pairs if a < b}
    found = reduce_edges(range(13), edges)
    assert set(found) <= edges
    before, after = Reach(Graph(edges, range(13))), Reach(Graph(found, range(13)))
    every = [(a, b) for a in range(13) for b in range(13)]
    assert [before.precedes(*one) for one in every] == [after.precedes(*one) for one in every]
    for edge in found:
        left = Reach(Graph([one for one in found if one != edge], range(13)))
        assert not left.precedes(*edge)


def test_ten_thousand_tasks_are_reduced() -> None:
    chooser = random.Random(5)  # noqa: S311
    chain = [(number, number + 1) for number in range(10_000)]
    jumps = {
        (number, number + chooser.randint(2, 500)) for number in range(9_500) for _ in range(3)
    }
    assert reduce_edges((), [*chain, *jumps]) == chain


def test_a_node_that_is_not_there_precedes_nothing() -> None:
    assert not Reach(Graph([("a", "b")])).precedes("x", "b")
