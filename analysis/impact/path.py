"""The shortest path to what a change reaches; its steps are made when somebody looks at them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from operator import invert
from typing import NamedTuple, overload

from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.analysis.impact.spread import ON_DATASET, Level, Spread, leads, subtype_of, task_of
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Subtype


@frozen
class ImpactStep:
    """A step of a path: the task, how it uses what comes, where from and where to.

    Attributes:
        subtype: That of the column edge; None for a flow of which only the datasets count.
        column: Empty where the whole dataset is meant.
    """

    task: str
    subtype: Subtype | None
    source: DatasetId
    dataset: DatasetId
    column: str


class PathEnd(NamedTuple):
    """A column or dataset in a state, and so many steps from the change."""

    distance: int
    is_stale: bool
    state: int
    node: int


class Paths:
    """The paths to all that a change reaches: those that begin alike share their steps."""

    def __init__(self, spread: Spread) -> None:
        self._spread = spread
        self._steps: dict[PathEnd, tuple[PathEnd, ImpactStep]] = {}

    def steps(self, place: PathEnd) -> list[ImpactStep]:
        """The steps to a place, the first one first."""
        steps = []
        while place.distance:
            if place not in self._steps:
                self._steps[place] = self._last(place)
            place, step = self._steps[place]
            steps.append(step)
        return steps[::-1]

    def over_task(self, task: int) -> list[ImpactStep]:
        """The steps over the first way of a task; none where nothing comes of what it reads."""
        if task not in self._first_ways:
            return []
        number, way = self._first_ways[task]
        passed = self._spread.passed[number]
        level = self._spread.levels_of(passed.is_stale)[passed.distance]
        of_state = {passed.state: level[passed.state]}
        for state, node in _sources(self._spread.graph, of_state, way):
            source = PathEnd(passed.distance, passed.is_stale, state, node)
            for end in leads(self._spread.graph, state, node, way):
                step = self._step(source, PathEnd(passed.distance + 1, passed.is_stale, *end), way)
                return [*self.steps(source), step]
        raise LookupError(task)

    @cached_property
    def _first_ways(self) -> dict[int, tuple[int, int]]:
        """Task -> its first way, and the number of that in `Spread.passed`."""
        graph, passed = self._spread.graph, self._spread.passed
        return {
            task_of(graph, way): (number, way)
            for number in reversed(range(len(passed)))
            for way in chain(
                map(invert, reversed(passed[number].passage.flows)),
                reversed(passed[number].passage.edges),
            )
        }

    def _last(self, place: PathEnd) -> tuple[PathEnd, ImpactStep]:
        """The place before one, and the step from there."""
        spread, before = self._spread, place.distance - 1
        way = spread.way(place.is_stale, place.distance, place.state, place.node)
        levels = [
            (is_stale, level)
            for is_stale in {False, place.is_stale}
            for level in spread.levels_of(is_stale)[before : before + 1]
        ]
        for is_stale, level in levels:
            for state, node in _sources(spread.graph, level, way):
                if place[2:] in leads(spread.graph, state, node, way):
                    source = PathEnd(before, is_stale, state, node)
                    return source, self._step(source, place, way)
        raise LookupError(place)

    def _step(self, source: PathEnd, target: PathEnd, way: int) -> ImpactStep:
        graph = self._spread.graph
        return ImpactStep(
            graph.tasks[task_of(graph, way)],
            subtype_of(graph, way),
            graph.datasets[_dataset(graph, source)],
            graph.datasets[_dataset(graph, target)],
            "" if target.state & ON_DATASET else graph.column_names[target.node],
        )


class ImpactPath(Sequence[ImpactStep]):
    """Steps that are made when they are looked at; equal to other steps that are the same."""

    __slots__ = ("_made", "_make")

    def __init__(self, make: Callable[[], Sequence[ImpactStep]]) -> None:
        self._make = make
        self._made: Sequence[ImpactStep] | None = None

    @property
    def _steps(self) -> Sequence[ImpactStep]:
        if self._made is None:
            self._made = self._make()
        return self._made

    def __len__(self) -> int:
        return len(self._steps)

    @overload
    def __getitem__(self, index: int) -> ImpactStep: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[ImpactStep]: ...

    def __getitem__(self, index: int | slice) -> ImpactStep | Sequence[ImpactStep]:
        return self._steps[index]

    def __iter__(self) -> Iterator[ImpactStep]:
        return iter(self._steps)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    def __hash__(self) -> int:
        return hash((*self,))

    def __repr__(self) -> str:
        return repr([*self])


def _sources(graph: ImpactGraph, level: Level, way: int) -> Iterator[tuple[int, int]]:
    """The states and nodes of a level that a way may come from."""
    column = bisect_right(graph.edge_starts, way) - 1
    dataset = graph.dataset_of[column] if way >= 0 else bisect_right(graph.flow_starts, ~way) - 1
    # A column may go over an edge of `*`, or over a flow of which columns are not known.
    columns = graph.columns_of[dataset].values() if way < 0 or graph.opaque[dataset] else (column,)
    for state, nodes in level.items():
        if state & ON_DATASET:
            candidates: Iterable[int] = (dataset,) if way < 0 else ()
        else:
            candidates = columns
        yield from ((state, node) for node in candidates if node in nodes)


def _dataset(graph: ImpactGraph, place: PathEnd) -> int:
    return place.node if place.state & ON_DATASET else graph.dataset_of[place.node]
