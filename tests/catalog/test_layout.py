"""Graph layout: left to right, without overlap, deterministic."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from dbt_graft.catalog.layout import Sizes, layout
from tests.cases import for_each

SIZES = Sizes()


def _random_graph(seed: int, acyclic: bool = True) -> tuple[list[str], list[tuple[str, str]]]:
    chance = random.Random(seed)  # noqa: S311
    names = [f"n{at}" for at in range(30)]
    edges = [(names[a], names[b]) for a, b in combinations(range(30), 2) if chance.random() < 0.08]
    if not acyclic:
        edges += [(b, a) for a, b in edges[::5]]
    return names, edges


@for_each("seed", range(8))
def test_an_edge_leads_from_left_to_right(seed: int) -> None:
    names, edges = _random_graph(seed)
    found = layout(names, edges)
    assert edges
    assert all(found.corners[a].x + SIZES.width < found.corners[b].x for a, b in edges)


@pytest.mark.parametrize("acyclic", [True, False], ids=["acyclic", "cyclic"])
@for_each("seed", range(8))
def test_no_two_boxes_overlap(seed: int, acyclic: bool) -> None:
    found = layout(*_random_graph(seed, acyclic))
    assert len(found.corners) == 30
    for a, b in combinations(found.corners.values(), 2):
        apart_across = abs(a.x - b.x) >= SIZES.width
        apart_down = abs(a.y - b.y) >= SIZES.height + SIZES.between - 0.2
        assert apart_across or apart_down


@for_each("seed", range(8))
def test_no_edge_runs_through_a_box_in_the_ranks_that_it_crosses(seed: int) -> None:
    names, edges = _random_graph(seed)
    found = layout(names, edges)
    crossings = [(start.y, start.x) for route in found.routes.values() for start in route[1:-1:2]]
    assert crossings
    for y, x in crossings:
        for corner in found.corners.values():
            if corner.x == x:
                assert not corner.y < y < corner.y + SIZES.height


def test_all_boxes_are_inside_the_drawing() -> None:
    found = layout(*_random_graph(3))
    assert min(corner.x for corner in found.corners.values()) == 0
    assert max(c.x + SIZES.width for c in found.corners.values()) == pytest.approx(found.width)
    for corner in found.corners.values():
        assert 0 <= corner.y <= found.height - SIZES.height


def test_equal_graphs_get_equal_positions() -> None:
    assert layout(*_random_graph(5, acyclic=False)) == layout(*_random_graph(5, acyclic=False))


def test_a_cycle_has_one_edge_that_leads_back() -> None:
    found = layout("abc", [("a", "b"), ("b", "c"), ("c", "a")])
    assert found.corners["a"].x < found.corners["b"].x < found.corners["c"].x
    back = found.routes["c", "a"]
    assert back[0].x > back[-1].x


def test_two_boxes_that_feed_each_other_keep_both_edges() -> None:
    found = layout("ab", [("a", "b"), ("b", "a")])
    assert set(found.routes) == {("a", "b"), ("b", "a")}


def test_a_box_without_parents_is_one_rank_left_of_its_child() -> None:
    found = layout("abcx", [("a", "b"), ("b", "c"), ("x", "c")])
    assert found.corners["x"].x == found.corners["b"].x


def test_a_chain_is_a_straight_line() -> None:
    found = layout("abcd", [("a", "b"), ("b", "c"), ("c", "d")])
    assert len({corner.y for corner in found.corners.values()}) == 1


def test_no_boxes_have_no_size() -> None:
    assert (layout([], []).width, layout([], []).height) == (0, 0)


def test_the_route_of_an_edge_begins_and_ends_at_its_boxes() -> None:
    names, edges = _random_graph(1)
    found = layout(names, edges)
    for (a, b), route in found.routes.items():
        assert route[0].x == found.corners[a].x + SIZES.width
        assert route[0].y == pytest.approx(found.corners[a].y + SIZES.height / 2)
        assert route[-1].x == found.corners[b].x
        assert route[-1].y == pytest.approx(found.corners[b].y + SIZES.height / 2)
