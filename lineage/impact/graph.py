"""The graph that impact is computed on: columns and flows as numbers, made once and asked often."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.records import ANY_COLUMN, ColumnEdge, Dataset, Masking, Subtype

_SUBTYPES, _MASKINGS = tuple(Subtype), tuple(Masking)
_SUBTYPE = {subtype: number for number, subtype in enumerate(_SUBTYPES)}
_MASKING = {masking: number for number, masking in enumerate(_MASKINGS)}
_FlowKey = tuple[int, int, int]


class EdgeKind(NamedTuple):
    """What an edge does to values, as in `ColumnEdge`."""

    subtype: Subtype
    masking: bool
    masked_by: Masking


@cache
def kind_of(number: int) -> EdgeKind:
    """The kind that a number of `ImpactGraph.edge_kind` stands for."""
    return EdgeKind(_SUBTYPES[number >> 4], bool(number & 1), _MASKINGS[number >> 1 & 7])


class ImpactGraph:
    """Column edges and flows by what they come from.

    Names of columns compare without case. `*` is a column of its own.

    Args:
        stale_before: Flows that were last seen before are stale; None where none is.
    """

    def __init__(
        self,
        edges: Sequence[ColumnEdge],
        flows: Sequence[Flow],
        datasets: Iterable[Dataset] = (),
        stale_before: datetime | None = None,
    ) -> None:
        self.datasets: list[DatasetId] = []
        self.tasks: list[str] = []
        self.column_names: list[str] = []
        self.dataset_of = array("i")  # of each column
        self.is_star = bytearray()  # of each column
        self._numbers: dict[tuple[str, str], int] = {}
        self._tasks: dict[str, int] = {}
        self._columns: list[dict[str, int]] = []  # of each dataset, by folded name
        self.has_schema: set[int] = set()
        for dataset in datasets:
            number = self.dataset(dataset.id)
            if dataset.columns:
                self.has_schema.add(number)
                for column in dataset.columns:
                    self.column(number, column.name)
        self._add_flows(flows, stale_before)
        self._add_edges(edges)

    def dataset(self, dataset: DatasetId) -> int:
        """The number of a dataset, a new one for one that is not known."""
        number = self._numbers.setdefault(dataset.key, len(self.datasets))
        if number == len(self.datasets):
            self.datasets.append(dataset)
            self._columns.append({})
        return number

    def column(self, dataset: int, name: str) -> int:
        """The number of a column, a new one for one that is not known."""
        known = self._columns[dataset]
        number = known.setdefault(name.casefold(), len(self.column_names))
        if number == len(self.column_names):
            self.column_names.append(name)
            self.dataset_of.append(dataset)
            self.is_star.append(name == ANY_COLUMN)
        return number

    def find_dataset(self, dataset: DatasetId) -> int | None:
        """The number of a dataset, if it is known."""
        return self._numbers.get(dataset.key)

    def find_column(self, dataset: int, name: str) -> int | None:
        """The number of a column, if it is known."""
        return self._columns[dataset].get(name.casefold())

    def columns(self, dataset: int) -> list[str]:
        """The known columns of a dataset."""
        return [
            self.column_names[at]
            for name, at in self._columns[dataset].items()
            if name != ANY_COLUMN
        ]

    def edges_from(self, column: int) -> range:
        """The places of the column edges that come from a column."""
        starts = self._starts
        return range(starts[column], starts[column + 1]) if column + 1 < len(starts) else range(0)

    def flows_from(self, dataset: int) -> Sequence[int]:
        """The places of the flows that come from a dataset."""
        return self._flows_from.get(dataset, ())

    def star(self, dataset: int) -> int | None:
        """The column `*` of a dataset, if an edge comes from it or goes there."""
        return self._columns[dataset].get(ANY_COLUMN)

    def _task(self, name: str) -> int:
        number = self._tasks.setdefault(name, len(self.tasks))
        if number == len(self.tasks):
            self.tasks.append(name)
        return number

    def _add_flows(self, flows: Sequence[Flow], stale_before: datetime | None) -> None:
        """Add flows; those that only people or dbt declare have no time, and are never stale."""
        self.flow_target, self.flow_task = array("i"), array("i")
        self.flow_is_stale = bytearray()
        self.flow_has_columns = bytearray(len(flows))
        self._flows_from: dict[int, list[int]] = defaultdict(list)
        self._flow_at: dict[_FlowKey, int] = {}
        for place, flow in enumerate(flows):
            source, target = self.dataset(flow.source), self.dataset(flow.target)
            task = self._task(flow.task)
            self._flows_from[source].append(place)
            self.flow_target.append(target)
            self.flow_task.append(task)
            old = stale_before and flow.last_at and flow.last_at < stale_before
            self.flow_is_stale.append(bool(old))
            self._flow_at[source, target, task] = place

    def _add_edges(self, edges: Sequence[ColumnEdge]) -> None:
        sources, targets = array("i"), array("i")
        kinds, flows = bytearray(), array("i")
        for edge in edges:
            source, target = self.dataset(edge.from_dataset), self.dataset(edge.to_dataset)
            task = self._task(edge.task)
            sources.append(self.column(source, edge.from_column))
            targets.append(self.column(target, edge.to_column))
            masked = _MASKING[edge.masked_by] << 1 | edge.masking
            kinds.append(_SUBTYPE[edge.subtype] << 4 | masked)
            place = self._flow_at.get((source, target, task), -1)
            flows.append(place)
            if place >= 0:
                self.flow_has_columns[place] = True
        count = len(self.column_names)
        sizes = array("i", bytes(4 * (count + 1)))
        for source in sources:
            sizes[source + 1] += 1
        self._starts = array("i", accumulate(sizes))
        # Sorted by source, in the order they came.
        places = sorted(range(len(sources)), key=sources.__getitem__)
        self.edge_target = array("i", (targets[at] for at in places))
        self.edge_kind = bytes(kinds[at] for at in places)
        self.edge_flow = array("i", (flows[at] for at in places))
        tasks = self._tasks
        self.edge_task = array("i", (tasks[edges[at].task] for at in places))
