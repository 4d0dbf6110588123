"""The columns further down the line of each column, counted, and the consumers at its end.

Complete counts would take the square of the columns, so each one ends early, and a column's
consumers are found from the consumers up, in one walk for all columns.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable
from itertools import chain

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.graphs.column_graph import ColumnGraph
from dbt_graft.lineage.graphs.column_path import ColumnId


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
        """Those that read its dataset, or any that its values go to, by name."""
        number = self._graph.number(column)
        mask = 0 if number is None else self._sets[self._leading[number]]
        mask |= self._reading.get(column.dataset, 0)
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
        for dataset, mask in self._reading.items():
            for column in graph.columns(dataset):
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

    def _set_number(self, mask: int) -> int:
        position = self._places.setdefault(mask, len(self._sets))
        if position == len(self._sets):
            self._sets.append(mask)
        return position
