"""The reach of data: the datasets around one by step, and the columns further down the line.

Complete lists on every page would make a site grow with the square of its datasets. A page lists
the first datasets of each step and counts the others, up to a limit; the explorer shows them all.
Counts of columns end early too, and a column's consumers are found from the consumers up, in one
walk for all columns.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.graph import Graph
from dbt_graft.lineage.graphs.column_graph import ColumnGraph
from dbt_graft.lineage.graphs.column_path import ColumnId
from dbt_graft.lineage.grouping import group_by_key

# Datasets that are counted in one direction, and those listed: of one step at most, of each step
# at least, and how many more of all steps together.
MAX_COUNTED: Final = 1_000
_MAX_LISTED, _LEAST, _SHARED = 50, 3, 50
# Steps that are listed; a chain of tables may be longer.
_MAX_STEPS = 20


@frozen
class LineageStep:
    """Datasets at one distance, by their numbers; `omitted` more of them are not listed."""

    distance: int
    numbers: Sequence[int]
    omitted: int


@frozen
class LineageSteps:
    """All datasets in one direction, nearest first.

    Attributes:
        steps: The steps that are listed.
        total: The number of datasets, as far as they were counted.
        is_complete: It is the number of all of them.
        distance: The steps to the furthest dataset that was counted.
    """

    steps: Sequence[LineageStep] = ()
    total: int = 0
    is_complete: bool = True
    distance: int = 0

    def __bool__(self) -> bool:
        return bool(self.steps)

    @property
    def omitted(self) -> int:
        """The number of datasets that were counted and are not listed."""
        return self.total - sum(len(step.numbers) for step in self.steps)


class DatasetSteps:
    """The steps from any dataset.

    Datasets are numbers here, in their order: a page of each dataset walks far.

    Attributes:
        datasets: Each dataset at its number.
    """

    def __init__(self, graph: Graph[DatasetId]) -> None:
        self.datasets = graph.nodes
        numbers = {dataset: number for number, dataset in enumerate(self.datasets)}
        self._numbers = numbers
        self._parents = [
            [numbers[parent] for parent in graph.parents(node)] for node in self.datasets
        ]
        self._children = [
            [numbers[child] for child in graph.children(node)] for node in self.datasets
        ]

    def upstream(self, dataset: DatasetId) -> LineageSteps:
        """The datasets that it comes from."""
        return self._steps(self._parents, dataset)

    def downstream(self, dataset: DatasetId) -> LineageSteps:
        """The datasets that come from it."""
        return self._steps(self._children, dataset)

    def _steps(self, neighbours: Sequence[Sequence[int]], dataset: DatasetId) -> LineageSteps:
        if (start := self._numbers.get(dataset)) is None:
            return LineageSteps()
        seen, levels = {start}, [[start]]
        while levels[-1] and len(seen) <= MAX_COUNTED:
            level: list[int] = []
            for number in levels[-1]:
                for other in neighbours[number]:
                    if other not in seen:
                        seen.add(other)
                        level.append(other)
            levels.append(sorted(level))
        reached = [level for level in levels[1:] if level]
        steps, shared = [], _SHARED
        for distance, level in enumerate(reached[:_MAX_STEPS], 1):
            extra = max(0, min(len(level) - _LEAST, shared, _MAX_LISTED - _LEAST))
            shared -= extra
            listed = level[: _LEAST + extra]
            steps.append(LineageStep(distance, listed, len(level) - len(listed)))
        return LineageSteps(steps, len(seen) - 1, not levels[-1], len(reached))


class ColumnReach:
    """Columns and consumers downstream, for a page of every column.

    Columns are numbers here, as in the graph: a page asks for hundreds of them.
    """

    def __init__(self, graph: ColumnGraph, consumers: Iterable[Consumer], most: int) -> None:
        self._graph = graph
        self._most = most
        self._consumers = tuple(consumers)
        # Sets of consumers, as bits, each once; a column has the place of its set.
        self._sets = [0]
        self._places = {0: 0}
        self._reading: dict[DatasetId, int] = {}
        for number, consumer in enumerate(self._consumers):
            for dataset in consumer.reads:
                self._reading[dataset] = self._reading.get(dataset, 0) | 1 << number
        # Of these it is known which columns they read.
        self._limited = group_by_key(
            (dataset, number)
            for number, consumer in enumerate(self._consumers)
            for dataset in consumer.known_reads
        )
        self._leading = self._leading_to_consumers()

    def further(self, column: ColumnId) -> tuple[int, int, bool]:
        """The columns two or more steps downstream: their number, and the steps to the last one.

        False if there are more of them than are counted.
        """
        start = self._graph.number(column)
        if start is None:
            return 0, 0, True
        next_ = self._graph.feeds
        near = next_(start)
        seen = {start, *near}
        total, steps, distance = 0, 0, 1
        while near:
            distance += 1
            beyond: list[int] = []
            for child in chain.from_iterable(map(next_, near)):
                if child in seen:
                    continue
                if total == self._most:
                    return total, steps, False
                seen.add(child)
                beyond.append(child)
                total, steps = total + 1, distance
            near = beyond
        return total, steps, True

    def consumers(self, column: ColumnId) -> list[Consumer]:
        """Those that read it, or any that its values go to, or may, by name."""
        number = self._graph.number(column)
        mask = 0 if number is None else self._sets[self._leading[number]]
        mask |= self._readers(column)
        if not mask:
            return []
        consumers = [
            consumer for number, consumer in enumerate(self._consumers) if mask >> number & 1
        ]
        return sorted(consumers, key=lambda consumer: (consumer.name, consumer.node_id))

    def _leading_to_consumers(self) -> array[int]:
        """For each column the place of the consumers that it leads to."""
        graph = self._graph
        leading = array("I", [0]) * graph.size
        waiting: deque[int] = deque()
        for dataset in self._reading:
            for column in graph.columns(dataset):
                mask = self._readers(column)
                if (number := graph.number(column)) is not None:
                    leading[number] = self._set_number(mask)
                    waiting.append(number)
        while waiting:
            number = waiting.popleft()
            mask = self._sets[leading[number]]
            for parent in graph.fed_by(number):
                old = self._sets[leading[parent]]
                if old | mask != old:
                    leading[parent] = self._set_number(old | mask)
                    waiting.append(parent)
        return leading

    def _readers(self, column: ColumnId) -> int:
        """Those that may read a column, as bits."""
        mask = self._reading.get(column.dataset, 0)
        for number in self._limited.get(column.dataset, ()):
            if not self._consumers[number].may_read(*column):
                mask &= ~(1 << number)
        return mask

    def _set_number(self, mask: int) -> int:
        position = self._places.setdefault(mask, len(self._sets))
        if position == len(self._sets):
            self._sets.append(mask)
        return position
