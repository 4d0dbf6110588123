"""The graph: order, cycles, reach."""

import graphlib

import pytest

from dbt_graft.lineage.graph import Graph

DIAMOND = Graph([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "e")])


def test_a_level_needs_only_the_levels_before_it() -> None:
    assert DIAMOND.levels() == [["a"], ["b", "c"], ["d"], ["e"]]


def test_a_node_without_edges_is_in_the_first_level() -> None:
    assert Graph([("a", "b")], nodes=["z"]).levels() == [["a", "z"], ["b"]]


def test_a_cycle_has_no_order() -> None:
    with pytest.raises(graphlib.CycleError):
        Graph([("a", "b"), ("b", "a")]).levels()


def test_an_edge_to_itself_is_left_out() -> None:
    graph = Graph([("a", "a"), ("a", "b")])
    assert graph.edges == [("a", "b")]
    assert graph.cycles() == []


@pytest.mark.parametrize(
    ("node", "depth", "up", "down"),
    [
        ("d", None, {"b": 1, "c": 1, "a": 2}, {"e": 1}),
        ("d", 1, {"b": 1, "c": 1}, {"e": 1}),
        ("a", 2, {}, {"b": 1, "c": 1, "d": 2}),
        ("e", 0, {}, {}),
        ("nowhere", None, {}, {}),
    ],
)
def test_reach_counts_the_steps(
    node: str, depth: int | None, up: dict[str, int], down: dict[str, int]
) -> None:
    assert DIAMOND.upstream(node, depth) == up
    assert DIAMOND.downstream(node, depth) == down


@pytest.mark.parametrize(
    ("edges", "cycles"),
    [
        ([("a", "b"), ("b", "c")], []),
        ([("a", "b"), ("b", "a")], [["a", "b"]]),
        ([("c", "a"), ("a", "b"), ("b", "c"), ("b", "d")], [["a", "b", "c"]]),
        ([("a", "b"), ("b", "a"), ("b", "c"), ("c", "d"), ("d", "c")], [["a", "b"], ["c", "d"]]),
        ([("a", "b"), ("b", "c"), ("c", "a"), ("c", "b")], [["b", "c"]]),
    ],
)
def test_each_knot_is_named_by_a_shortest_cycle(
    edges: list[tuple[str, str]], cycles: list[list[str]]
) -> None:
    assert Graph(edges).cycles() == cycles


def test_a_long_chain_needs_no_recursion() -> None:
    chain = Graph((f"{n:06}", f"{n + 1:06}") for n in range(20_000))
    assert len(chain.levels()) == 20_001
    assert chain.cycles() == []
    assert len(chain.upstream("020000")) == 20_000
