"""The graph that impact is computed on: columns and flows as numbers, made once and asked often."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from enum import IntEnum
from functools import cache
from itertools import accumulate, chain, count, islice, pairwise, repeat
from operator import add, attrgetter, mul, or_
from typing import NamedTuple

from dbt_graft.analysis.impact.stored_datasets import StoredDatasets
from dbt_graft.lineage.column_edges import ColumnEdges
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import Definition
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.graphs.struct_edges import struct_edges
from dbt_graft.lineage.grouping import group_by_key, picker
from dbt_graft.lineage.model import ColumnUse
from dbt_graft.lineage.records import ANY_COLUMN, ColumnEdge, Dataset, EdgeType, Masking, Subtype

_SUBTYPES, _MASKINGS = tuple(Subtype), tuple(Masking)
_TASK, _KIND = attrgetter("task"), ("subtype", "masking", "masked_by")
_ENDS, _COLUMNS = ("from_dataset", "to_dataset"), ("from_column", "to_column")
_KEY = attrgetter("key")
# A bit of an edge's kind: it goes to `*`.
TO_ALL = 1
# The numbers that stand for kinds of edges; a byte has room for all.
KINDS = range(len(_SUBTYPES) * len(_MASKINGS) << 2)
_FlowKey = tuple[int, int, int]
# Dataset -> its columns, by their folded names.
ColumnNumbers = dict[int, dict[str, int]]


class Need(IntEnum):
    """Whether the statements behind an edge fail without its input column.

    NONE: they take it by `*`. UNKNOWN: it is one of columns that are not known one by one. NAMED:
    they name it.
    """

    NONE = 0
    UNKNOWN = 1
    NAMED = 2


class EdgeKind(NamedTuple):
    """The kind of a column edge: how values go over it, as in `ColumnEdge`."""

    subtype: Subtype
    masking: bool
    masked_by: Masking


@cache
def kind_of(number: int) -> EdgeKind:
    """The kind that a number of `ImpactGraph.edge_kind` stands for."""
    subtype, masking = divmod(number >> 2, len(_MASKINGS))
    return EdgeKind(_SUBTYPES[subtype], bool(number & 2), _MASKINGS[masking])


class ImpactGraph:
    """Column edges and flows by what they come from.

    Names of columns compare without case. `*` is a column of its own. Numbers of datasets and tasks
    are in the order of their names.

    Args:
        stale_before: Flows that were last seen before are stale; None where none is.
        followed: The shapes of which all columns are known, also where they have no edge.
        definitions: By name; they tell which columns are not named.
        uses: Columns that tasks name, whether anything comes of them or not.
        known_reads: Task and dataset, where all columns that are read are known.
    """

    def __init__(
        self,
        edges: Sequence[ColumnEdge],
        flows: Sequence[Flow],
        datasets: Iterable[Dataset] = (),
        stale_before: datetime | None = None,
        followed: Collection[str] = frozenset(),
        definitions: Mapping[str, Definition] | None = None,
        uses: Iterable[ColumnUse] = (),
        known_reads: Collection[tuple[str, DatasetId]] = (),
    ) -> None:
        self.datasets: list[DatasetId] | StoredDatasets = []
        self.column_names: list[str] = []
        self.dataset_of = array("i")  # of each column
        self.is_star = bytearray()  # of each column
        self.numbers: dict[tuple[str, str], int] = {}
        self.columns_of: ColumnNumbers = {}
        self.stars: dict[int, int] = {}  # dataset -> its column `*`
        self.has_schema: set[int] = set()
        # Of each dataset: whether its columns may go where none of their own edges does, over `*`,
        # over a flow of which columns are not known, or into what lives as long as a run.
        self.opaque = bytearray()
        self.flow_starts, self.edge_starts, self.use_starts = (array("i", [0]) for _ in range(3))
        known, uses = tuple(datasets), tuple(uses)
        stated = ColumnEdges.of(edges)
        of_structs, of_fields = map(ColumnEdges.of, struct_edges(stated, known))
        named = ColumnEdges.join((stated, of_structs))
        all_edges = ColumnEdges.join((named, of_fields))
        for dataset in _by_name(known, flows, all_edges, uses):
            self.dataset(dataset)
        self.tasks = sorted({*map(_TASK, chain(flows, uses)), *all_edges.distinct("task")})
        tasks = {task: number for number, task in enumerate(self.tasks)}
        for described in known:
            number = self.dataset(described.id)
            if described.columns:
                self.has_schema.add(number)
                self._add_columns(number, [column.name for column in described.columns])
        places = self._add_flows(flows, tasks, stale_before, frozenset(followed))
        self._add_reads(known_reads, tasks)
        starred = {
            name: frozenset(definition.starred)
            for name, definition in (definitions or {}).items()
            if definition.starred
        }
        self._add_edges(all_edges, len(named), tasks, places, starred)
        self._add_uses(uses, tasks)
        for number, star in self.stars.items():
            self.opaque[number] = bool(self.edges_from(star))
        for number, (start, end) in enumerate(pairwise(self.flow_starts)):
            if self.flow_has_columns.find(0, start, end) >= 0:
                self.opaque[number] = True
        for at, (start, end) in enumerate(pairwise(self.use_starts)):
            if start < end:
                self.opaque[self.dataset_of[at]] = True

    def dataset(self, dataset: DatasetId) -> int:
        """The number of a dataset, a new one for one that is not known."""
        number = self.numbers.setdefault(dataset.key, len(self.datasets))
        if number == len(self.datasets):
            self.datasets.append(dataset)
            self.columns_of[number] = {}
            self.opaque.append(False)
            self.flow_starts.append(self.flow_starts[-1])
        return number

    def column(self, dataset: int, name: str) -> int:
        """The number of a column, a new one for one that is not known."""
        numbers = self.columns_of[dataset]
        number = numbers.setdefault(name.casefold(), len(self.column_names))
        if number == len(self.column_names):
            self.column_names.append(name)
            self.dataset_of.append(dataset)
            self.is_star.append(name == ANY_COLUMN)
            self.edge_starts.append(self.edge_starts[-1])
            self.use_starts.append(self.use_starts[-1])
            if name == ANY_COLUMN:
                self.stars[dataset] = number
        return number

    def _add_columns(self, dataset: int, names: Sequence[str]) -> None:
        """Add the columns of a dataset, in their order."""
        numbers = {
            folded: number
            for number, folded in enumerate(map(str.casefold, names), len(self.column_names))
        }
        if self.columns_of[dataset] or len(numbers) < len(names) or ANY_COLUMN in numbers:
            for name in names:
                self.column(dataset, name)
            return
        # So they are most often: all at once.
        self.columns_of[dataset] = numbers
        self.column_names += names
        self.dataset_of.extend(repeat(dataset, len(names)))
        self.is_star.extend(bytes(len(names)))
        for starts in (self.edge_starts, self.use_starts):
            starts.extend(repeat(starts[-1], len(names)))

    def find_dataset(self, dataset: DatasetId) -> int | None:
        """The number of a dataset, if it is known."""
        return self.numbers.get(dataset.key)

    def find_column(self, dataset: int, name: str) -> int | None:
        """The number of a column, if it is known."""
        return self.columns_of[dataset].get(name.casefold())

    def columns(self, dataset: int) -> list[str]:
        """The known columns of a dataset."""
        return [
            self.column_names[at]
            for name, at in self.columns_of[dataset].items()
            if name != ANY_COLUMN
        ]

    def edges_from(self, column: int) -> range:
        """The places of the column edges that come from a column."""
        return range(self.edge_starts[column], self.edge_starts[column + 1])

    def flows_from(self, dataset: int) -> range:
        """The places of the flows that come from a dataset."""
        return range(self.flow_starts[dataset], self.flow_starts[dataset + 1])

    def tasks_using(self, column: int) -> Sequence[int]:
        """The tasks that take a column into what lives as long as a run."""
        return self.use_task[self.use_starts[column] : self.use_starts[column + 1]]

    def may_use(self, column: int, task: int) -> bool:
        """Whether a task that reads known columns alone uses one, a field of it, or its struct."""
        if task in self.tasks_using(column):
            return True
        folded = f"{self.column_names[column].casefold()}."
        return any(
            (f"{name}.".startswith(folded) or folded.startswith(f"{name}."))
            and task in self.tasks_using(at)
            for name, at in self.columns_of[self.dataset_of[column]].items()
        )

    def _add_flows(
        self,
        flows: Sequence[Flow],
        tasks: dict[str, int],
        stale_before: datetime | None,
        followed: frozenset[str],
    ) -> dict[_FlowKey, int]:
        """Add flows; those that only people or dbt declare have no time, and are never stale."""
        sources = self._numbers(flow.source for flow in flows)
        targets = self._numbers(flow.target for flow in flows)
        self.flow_starts, order = group_by_source(sources, len(self.datasets))
        of_places = picker(order)
        self.flow_target = array("i", of_places(targets))
        self.flow_task = array("i", of_places([tasks[flow.task] for flow in flows]))
        times = of_places([flow.last_at for flow in flows])
        self.flow_is_stale = bytearray(
            bool(stale_before and last_at and last_at < stale_before) for last_at in times
        )
        self.flow_has_columns = bytearray(
            of_places([followed.issuperset(flow.statements) for flow in flows])
            if followed
            else len(flows)
        )
        ways = zip(of_places(sources), self.flow_target, self.flow_task, strict=True)
        return dict(zip(ways, count(), strict=False))

    def _add_reads(
        self, known_reads: Collection[tuple[str, DatasetId]], tasks: dict[str, int]
    ) -> None:
        """Mark the flows whose input columns are all known, also where the output's are not."""
        self.flow_has_reads = bytearray(len(self.flow_task))
        readers = group_by_key((dataset, tasks.get(task)) for task, dataset in known_reads)
        for dataset, known in readers.items():
            number, known_tasks = self.find_dataset(dataset), {*known}
            for flow in self.flows_from(number) if number is not None else ():
                self.flow_has_reads[flow] = self.flow_task[flow] in known_tasks

    def _add_edges(
        self,
        edges: ColumnEdges,
        named: int,
        tasks: Mapping[str, int],
        flows: Mapping[_FlowKey, int],
        starred: Mapping[str, Collection[str]],
    ) -> None:
        """Add edges, of the first of which, so many, statements name the input column."""
        names = [*dict.fromkeys(chain.from_iterable(map(edges.distinct, _COLUMNS)))]
        number_of = {name: number for number, name in enumerate(names)}.__getitem__
        of_task = edges.numbers("task", tasks.__getitem__)
        from_datasets, to_datasets = (edges.numbers(end, self._number) for end in _ENDS)
        # The ends as numbers, of which two million are compared in half the time of pairs.
        from_ends, to_ends = (
            [*map(add, map(mul, datasets, repeat(len(names))), edges.numbers(name, number_of))]
            for datasets, name in zip((from_datasets, to_datasets), _COLUMNS, strict=True)
        )
        folded, columns = [*map(str.casefold, names)], dict[int, int]()
        for end in dict.fromkeys(chain(from_ends, to_ends)):
            dataset, name = divmod(end, len(names))
            number = self.columns_of[dataset].get(folded[name])
            columns[end] = self.column(dataset, names[name]) if number is None else number
        sources, targets = (
            array("i", map(columns.__getitem__, ends)) for ends in (from_ends, to_ends)
        )
        kinds = bytes(map(_kind, *map(edges.values, _KIND)))
        to_all = map(self.is_star.__getitem__, targets)
        needs = bytearray(edges.numbers("from_column", _need))
        needs[named:] = bytes(len(edges) - named)
        if starred:
            ways_in = zip(*map(edges.values, ("task", "type", "from_column")), strict=False)
            for number, (task, kind, column) in enumerate(islice(ways_in, named)):
                if kind is EdgeType.DIRECT and column.casefold() in starred.get(task, ()):
                    needs[number] = Need.NONE
        ways = zip(from_datasets, to_datasets, of_task, strict=True)
        of_flow = array("i", map(flows.get, ways, repeat(-1)))
        for flow in {*of_flow} - {-1}:
            self.flow_has_columns[flow] = True
        self.edge_starts, places = group_by_source(sources, len(self.column_names))
        of_places = picker(places)
        self.edge_target = array("i", of_places(targets))
        self.edge_kind = bytes(of_places([*map(or_, kinds, to_all)]))
        self.edge_need = bytes(of_places(needs))
        self.edge_flow = array("i", of_places(of_flow))
        self.edge_task = array("i", of_places(of_task))

    def _number(self, dataset: DatasetId) -> int:
        """The number of a dataset that is known."""
        return self.numbers[dataset.key]

    def _numbers(self, datasets: Iterable[DatasetId]) -> array[int]:
        """The numbers of datasets that are known."""
        return array("i", map(self.numbers.__getitem__, map(_KEY, datasets)))

    def _add_uses(self, uses: Iterable[ColumnUse], tasks: dict[str, int]) -> None:
        columns, of_task = array("i"), array("i")
        for use in uses:
            columns.append(self.column(self.dataset(use.dataset), use.column))
            of_task.append(tasks[use.task])
        self.use_starts, places = group_by_source(columns, len(self.column_names))
        self.use_task = array("i", map(of_task.__getitem__, places))


def _by_name(
    known: Iterable[Dataset],
    flows: Iterable[Flow],
    edges: ColumnEdges,
    uses: Iterable[ColumnUse],
) -> list[DatasetId]:
    """All datasets, sorted; of most edges and flows the ids are the same objects."""
    datasets = {dataset.id.key: dataset.id for dataset in known}
    ends = [
        *(end for flow in flows for end in (flow.source, flow.target)),
        *chain.from_iterable(map(edges.distinct, _ENDS)),
        *(use.dataset for use in uses),
    ]
    for other in dict(zip(map(id, ends), ends, strict=True)).values():
        datasets.setdefault(other.key, other)
    return [datasets[key] for key in sorted(datasets)]


@cache
def _kind(subtype: Subtype, is_masking: bool, masked_by: Masking) -> int:
    number = _SUBTYPES.index(subtype) * len(_MASKINGS) + _MASKINGS.index(masked_by)
    return number << 2 | is_masking << 1


def _need(column: str) -> int:
    return Need.UNKNOWN if column == ANY_COLUMN else Need.NAMED


def group_by_source(sources: Sequence[int], count: int) -> tuple[array[int], array[int]]:
    """The places of edges by their sources, in the order they came; and where each source begins.

    Args:
        count: The number of sources.
    """
    sizes = array("i", bytes(4 * (count + 1)))
    for source, size in Counter(sources).items():
        sizes[source + 1] = size
    places = array("i", sorted(range(len(sources)), key=[*sources].__getitem__))
    return array("i", accumulate(sizes)), places
