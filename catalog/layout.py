"""Layered graph layout: ranks from left to right, few crossings, straight edges.

Sugiyama's method: edges that close a cycle are reversed, ranks are longest paths, edges over
several ranks get a place in each, barycentre sweeps order the ranks, and isotonic regression lines
boxes up with their neighbours. Linear in nodes and edges but for the sorting; deterministic.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from math import ceil
from typing import Generic, TypeVar

from dbt_graft.lineage.frozen import frozen

N = TypeVar("N", bound=Hashable)

_SWEEPS = 6
# The least width of a column, and the steps in which all columns get narrower, in pixels.
_NARROWEST = 110.0
_STEP = 8.0


@frozen
class Point:
    """A position in pixels; y grows downwards."""

    x: float
    y: float


@frozen
class Sizes:
    """Sizes in pixels: of a box, and of the gaps between ranks (`across`) and boxes (`between`).

    Attributes:
        width: The width of a box; where wanted widths are known, what it gets at least.
        widest: The width that it gets at most.
        room: The width of the page: beyond it, boxes are no wider than `width`.
    """

    width: float = 172
    widest: float = 330
    room: float = 1080
    height: float = 42
    across: float = 38
    between: float = 14
    lane: float = 12


@frozen
class Layout(Generic[N]):
    """Positions of boxes and edges, and the size of the drawing, in pixels.

    Attributes:
        corners: The upper left corner of each box.
        widths: The width of each box; those of a rank are equal.
        routes: For each edge the points it passes, from its source's side to its target's;
            two points for each rank that it crosses.
    """

    width: float
    height: float
    corners: Mapping[N, Point]
    widths: Mapping[N, float]
    routes: Mapping[tuple[N, N], tuple[Point, ...]]


def layout(
    nodes: Iterable[N],
    edges: Iterable[tuple[N, N]],
    sizes: Sizes | None = None,
    wanted: Mapping[N, float] | None = None,
) -> Layout[N]:
    """Positions for boxes of one height.

    Args:
        wanted: The width in pixels that each box needs to show all of its label; a narrower column
            is made narrower. Without it all boxes have one width.

    Raises:
        KeyError: An edge has an end that is not among the nodes.
    """
    sizes = sizes or Sizes()
    names = list(dict.fromkeys(nodes))
    number = {name: at for at, name in enumerate(names)}
    pairs = [(number[a], number[b]) for a, b in dict.fromkeys(edges) if a != b]
    forward = _without_cycles(len(names), pairs)
    rank = _ranks(len(names), forward)
    chains, rank = _chains(forward, rank)
    rows = _rows(rank, chains)
    middle = _middles(rows, chains, _heights(len(names), len(rank), sizes), sizes)

    columns = _columns(rank, [wanted[name] for name in names] if wanted else [], sizes)
    starts = [0.0, *accumulate(width + sizes.across for width in columns)]

    def left(node: int) -> float:
        return starts[rank[node]]

    def right(node: int) -> float:
        return left(node) + columns[rank[node]]

    def route(pair: tuple[int, int]) -> tuple[Point, ...]:
        is_reversed = pair not in chains
        chain = chains[pair[::-1] if is_reversed else pair]
        points = [Point(right(chain[0]), middle[chain[0]])]
        for lane in chain[1:-1]:
            points += [Point(left(lane), middle[lane]), Point(right(lane), middle[lane])]
        points.append(Point(left(chain[-1]), middle[chain[-1]]))
        return tuple(reversed(points) if is_reversed else points)

    boxes = range(len(names))
    return Layout(
        width=max((right(box) for box in boxes), default=0),
        height=max(
            (middle[at] + (sizes.height if at < len(names) else sizes.lane) / 2 for at in middle),
            default=0,
        ),
        corners={names[box]: Point(left(box), middle[box] - sizes.height / 2) for box in boxes},
        widths={names[box]: columns[rank[box]] for box in boxes},
        routes={(names[a], names[b]): route((a, b)) for a, b in pairs},
    )


def _columns(rank: Sequence[int], wanted: Sequence[float], sizes: Sizes) -> list[float]:
    """The width of each rank: as wide as its boxes want, as far as the page has room."""
    count = max(rank, default=-1) + 1
    if not wanted:
        return [sizes.width] * count
    widest = [_NARROWEST] * count
    for at, width in zip(rank, wanted, strict=False):  # the numbers after the boxes are lanes
        widest[at] = max(widest[at], float(ceil(width)))
    room = sizes.room - (count - 1) * sizes.across
    limit = sizes.widest
    while limit > sizes.width and sum(min(width, limit) for width in widest) > room:
        limit = max(limit - _STEP, sizes.width)
    return [min(width, limit) for width in widest]


def _neighbours(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    neighbours: dict[int, list[int]] = defaultdict(list)
    for a, b in pairs:
        neighbours[a].append(b)
    return neighbours


def _without_cycles(count: int, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The edges, with those reversed that lead back to a node being visited."""
    children = _neighbours(pairs)
    has_parent = {b for _, b in pairs}
    state = [0] * count
    reversed_edges: set[tuple[int, int]] = set()
    for start in sorted(range(count), key=lambda node: node in has_parent):
        if state[start]:
            continue
        state[start] = 1
        stack = [(start, iter(children[start]))]
        while stack:
            node, rest = stack[-1]
            for child in rest:
                if state[child] == 1:
                    reversed_edges.add((node, child))
                elif not state[child]:
                    state[child] = 1
                    stack.append((child, iter(children[child])))
                    break
            else:
                state[node] = 2
                stack.pop()
    return list(dict.fromkeys((b, a) if (a, b) in reversed_edges else (a, b) for a, b in pairs))


def _ranks(count: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
    """Longest path from the left; then nodes with more children than parents move right."""
    children, parents = _neighbours(pairs), _neighbours((b, a) for a, b in pairs)
    waiting = [len(parents[node]) for node in range(count)]
    order = [node for node in range(count) if not waiting[node]]
    rank = [0] * count
    for node in order:
        for child in children[node]:
            rank[child] = max(rank[child], rank[node] + 1)
            waiting[child] -= 1
            if not waiting[child]:
                order.append(child)
    for node in reversed(order):
        if len(children[node]) > len(parents[node]):
            rank[node] = min(rank[child] for child in children[node]) - 1
    return rank


def _chains(
    pairs: Sequence[tuple[int, int]], rank: list[int]
) -> tuple[dict[tuple[int, int], list[int]], list[int]]:
    """Each edge as a chain of nodes one rank apart; the nodes made for that get new numbers."""
    rank = list(rank)
    chains = {}
    for a, b in pairs:
        lanes = range(rank[a] + 1, rank[b])
        chains[a, b] = [a, *range(len(rank), len(rank) + len(lanes)), b]
        rank.extend(lanes)
    return chains, rank


def _rows(rank: Sequence[int], chains: Mapping[tuple[int, int], list[int]]) -> list[list[int]]:
    """The nodes of each rank, top to bottom."""
    links = [link for chain in chains.values() for link in pairwise(chain)]
    after, before = _neighbours(links), _neighbours((b, a) for a, b in links)
    rows: list[list[int]] = [[] for _ in range(max(rank, default=-1) + 1)]
    for node in range(len(rank)):
        rows[rank[node]].append(node)
    positions = {node: float(at) for row in rows for at, node in enumerate(row)}
    calm = 0  # sweeps in turn that changed nothing: after one each way no other one will
    for sweep in range(_SWEEPS):
        fixed = after if sweep % 2 else before
        calm += 1
        for row in reversed(rows) if sweep % 2 else rows:
            old = row[:]
            row.sort(key=lambda node: _mean([positions[n] for n in fixed[node]], positions[node]))
            if row != old:
                positions.update((node, float(at)) for at, node in enumerate(row))
                calm = 0
        if calm == 2:
            break
    return rows


def _heights(boxes: int, nodes: int, sizes: Sizes) -> list[float]:
    return [sizes.height if node < boxes else sizes.lane for node in range(nodes)]


def _middles(
    rows: Sequence[list[int]],
    chains: Mapping[tuple[int, int], list[int]],
    heights: Sequence[float],
    sizes: Sizes,
) -> dict[int, float]:
    """The height of each node's middle; the topmost edge of all is 0."""
    links = [link for chain in chains.values() for link in pairwise(chain)]
    after, before = _neighbours(links), _neighbours((b, a) for a, b in links)
    middle: dict[int, float] = {}
    for row in rows:
        middle.update(zip(row, _spread([0.0] * len(row), row, heights, sizes), strict=True))
    for sweep in range(_SWEEPS):
        for row in reversed(rows) if sweep % 2 else rows:
            wanted = [
                _mean([middle[n] for n in (*before[node], *after[node])], middle[node])
                for node in row
            ]
            middle.update(zip(row, _spread(wanted, row, heights, sizes), strict=True))
    top = min((middle[node] - heights[node] / 2 for node in middle), default=0.0)
    return {node: round(y - top, 1) for node, y in middle.items()}


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _spread(
    wanted: Sequence[float], row: Sequence[int], heights: Sequence[float], sizes: Sizes
) -> list[float]:
    """The positions nearest to the wanted ones that preserve order and gaps.

    Isotonic regression: neighbours that would overlap are pooled.
    """
    offsets = [0.0]
    for above, below in pairwise(row):
        offsets.append(offsets[-1] + (heights[above] + heights[below]) / 2 + sizes.between)
    pools: list[tuple[float, int]] = []
    for want, offset in zip(wanted, offsets, strict=True):
        total, count = want - offset, 1
        while pools and pools[-1][0] / pools[-1][1] > total / count:
            pooled, members = pools.pop()
            total, count = total + pooled, count + members
        pools.append((total, count))
    starts = [total / count for total, count in pools for _ in range(count)]
    return [start + offset for start, offset in zip(starts, offsets, strict=True)]
