"""Simple paths of a directed graph, shortest first, in memory of one path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf

_MOST_STEPS = 300_000


def simple_paths(
    starts: Iterable[int],
    children: Callable[[int], Iterable[int]],
    left: Mapping[int, int],
    limit: int,
) -> tuple[list[tuple[int, ...]], bool]:
    """Return the paths that visit no node twice, and whether these are all.

    There may be more than anybody can count: the search ends at `limit`, or after many steps that
    found nothing new.

    Args:
        left: The steps from a node to the end of all paths, 0 for the end itself; a node without
            an entry leads nowhere.
    """
    children_of: dict[int, list[int]] = {}

    def ahead(node: int) -> Iterator[int]:
        if node not in children_of:
            children_of[node] = [far for far in dict.fromkeys(children(node)) if far in left]
        return iter(children_of[node])

    starts = [node for node in starts if left.get(node)]
    paths: list[tuple[int, ...]] = []
    length: float = min((left[node] for node in starts), default=inf)
    steps = 0
    while length < inf:  # each round finds the paths of one length
        longer = inf
        for least, path in _walk(starts, ahead, left, length):
            steps += 1
            if steps > _MOST_STEPS or (path and len(paths) == limit):
                return paths, False
            if path:
                paths.append(path)
            elif least > length:
                longer = min(longer, least)
        length = longer
    return paths, True


def _walk(
    starts: Iterable[int],
    ahead: Callable[[int], Iterator[int]],
    left: Mapping[int, int],
    length: float,
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield for each step the least length of a path over it, and a path that it completes."""
    for start in starts:
        path, waiting = {start: None}, [ahead(start)]
        while waiting:
            node = next(waiting[-1], None)
            if node is None:
                waiting.pop()
                path.popitem()
            elif node not in path:
                least = len(path) + left[node]
                yield least, (*path, node) if least == length and not left[node] else ()
                if least <= length and left[node]:
                    path[node] = None
                    waiting.append(ahead(node))
