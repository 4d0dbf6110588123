"""The columns further down the line of each column, and the consumers at its end.

Complete lists would grow with the square of the columns, so each list ends early, and a column's
consumers are found from the consumers up, in one walk for all columns.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from dbt_graft.lineage.column_graph import ColumnGraph
from dbt_graft.lineage.column_path import ColumnId
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.records import ANY_COLUMN

_Key = tuple[DatasetId, str]


class ColumnReach:
    """What the values of a column reach: a graph that is asked about every column."""

    def __init__(self, graph: ColumnGraph, consumers: Iterable[Consumer], most: int) -> None:
        self._graph = graph
        self._most = most
        self._consumers = tuple(consumers)
        self._children: dict[_Key, tuple[ColumnId, ...]] = {}
        self._reading: dict[DatasetId, int] = {}
        for number, consumer in enumerate(self._consumers):
            for dataset in consumer.reads:
                self._reading[dataset] = self._reading.get(dataset, 0) | 1 << number
        self._leading = self._leading_to_consumers()

    def further(self, column: ColumnId) -> tuple[Sequence[ColumnId], bool]:
        """Columns two or more steps downstream, nearest first; False if there are more of them."""
        near = self._children_of(column)
        seen = {_key(one) for one in (column, *near)}
        found: list[ColumnId] = []
        waiting = deque(near)
        while waiting:
            for child in self._children_of(waiting.popleft()):
                if (key := _key(child)) in seen:
                    continue
                if len(found) == self._most:
                    return found, False
                seen.add(key)
                found.append(child)
                waiting.append(child)
        return found, True

    def consumers(self, column: ColumnId) -> list[Consumer]:
        """Those that read its dataset, or any that its values go to, by name."""
        mask = self._leading.get(_key(column), 0) | self._reading.get(column.dataset, 0)
        found = [one for number, one in enumerate(self._consumers) if mask >> number & 1]
        return sorted(found, key=lambda one: (one.name, one.node_id))

    def _children_of(self, column: ColumnId) -> tuple[ColumnId, ...]:
        found = self._children.get(key := _key(column))
        if found is None:
            steps = self._graph.children(column)
            named = (step.target for step in steps if step.target.name != ANY_COLUMN)
            found = self._children[key] = tuple(dict.fromkeys(named))[: self._most + 1]
        return found

    def _leading_to_consumers(self) -> dict[_Key, int]:
        """For each column that leads to a consumer the numbers of these as bits."""
        leading: dict[_Key, int] = {}
        waiting: deque[ColumnId] = deque()
        for dataset, mask in self._reading.items():
            for column in self._graph.columns(dataset):
                leading[_key(column)] = mask
                waiting.append(column)
        while waiting:
            column = waiting.popleft()
            mask = leading[_key(column)]
            for step in self._graph.parents(column):
                key = _key(step.source)
                if (old := leading.get(key, 0)) | mask != old:
                    leading[key] = old | mask
                    waiting.append(step.source)
        return leading


def _key(column: ColumnId) -> _Key:
    return column.dataset, column.name.casefold()
