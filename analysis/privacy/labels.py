"""Labels of columns: those that people declare, and those that follow from the lineage.

A label goes along edges that carry values. Columns are labelled from the highest classification
down, so that each edge is looked at once.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from fnmatch import translate
from typing import NamedTuple

from dbt_graft.analysis.impact.graph import ImpactGraph, Need, kind_of
from dbt_graft.analysis.privacy.classification import Classification, PrivacyRules, remaining_level
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.graphs.struct_edges import structs
from dbt_graft.lineage.records import EdgeType, Masking, Subtype


@frozen
class DeclaredLabel:
    """The classification that people gave a column.

    Attributes:
        source: Where it is written: `dbt`, `graft.yml`.
        reason: Why it is lower than what flows in, if it is.
        text: As they wrote it; empty of a classification itself.
    """

    dataset: DatasetId
    column: str
    classification: Classification
    source: str
    reason: str = ""
    text: str = ""

    @property
    def label(self) -> str:
        """As people wrote it."""
        return self.text or self.classification.text


class LabelStep(NamedTuple):
    """A step of the path on which a label came.

    Attributes:
        task: What carried it; empty at the beginning.
        subtype: None at the beginning.
    """

    dataset: DatasetId
    column: str
    classification: Classification
    task: str = ""
    subtype: Subtype | None = None
    masking: bool = False
    masked_by: Masking = Masking.NONE


@frozen
class UnmappedFlow:
    """A flow of which no column is known, from a dataset with sensitive columns."""

    source: DatasetId
    target: DatasetId
    task: str


@frozen
class PrivacyLabels:
    """The labels of all columns.

    Attributes:
        declared: By the column's number.
        unmapped: Sensitive values may go over these flows; what is behind them is unknown.
        unknown: The datasets behind them.
        decides: Pairs of a sensitive column and a dataset on whose rows or values it decides.
    """

    graph: ImpactGraph
    declared: Mapping[int, DeclaredLabel]
    unmapped: Sequence[UnmappedFlow] = ()
    unknown: Sequence[DatasetId] = ()
    decides: Sequence[tuple[int, int]] = ()
    _arrivals: Mapping[int, _Arrived] = field(default_factory=dict)
    _inputs: Mapping[int, Sequence[int]] = field(default_factory=dict)

    def columns(self) -> Iterator[int]:
        """The numbers of all labelled columns."""
        return iter(self._arrivals)

    def place(self, column: int) -> tuple[str, str]:
        """The dataset and the name of a column."""
        return str(self.graph.datasets[self.graph.dataset_of[column]]), self.graph.column_names[
            column
        ]

    def classification(self, column: int) -> Classification | None:
        """The classification of a column; None where nothing tells one."""
        arrived = self._arrivals.get(column)
        return arrived.classification if arrived else None

    def path(self, column: int) -> list[LabelStep]:
        """The way on which a label came, from the declared column on."""
        steps: list[LabelStep] = []
        graph, at = self.graph, column
        while True:
            arrived = self._arrivals[at]
            dataset = graph.datasets[graph.dataset_of[at]]
            name = graph.column_names[at]
            if arrived.before < 0:
                steps.append(LabelStep(dataset, name, arrived.classification))
                return steps[::-1]
            kind = kind_of(graph.edge_kind[arrived.edge])
            steps.append(
                LabelStep(
                    *(dataset, name, arrived.classification),
                    task=graph.tasks[graph.edge_task[arrived.edge]],
                    subtype=kind.subtype,
                    masking=kind.masking,
                    masked_by=kind.masked_by,
                )
            )
            at = arrived.before

    def origins(self, column: int) -> list[int]:
        """All labelled columns whose sensitive values flow into a column, the nearest first.

        A column may be computed of several; its path shows the way from one of them.
        """
        reached, waiting = {column: None}, deque([column])
        while waiting:
            for before in self._inputs.get(waiting.popleft(), ()):
                if before not in reached:
                    reached[before] = None
                    waiting.append(before)
        return [before for before in reached if before != column and before in self.declared]


class _Arrived(NamedTuple):
    """A label of a column, with the column and the edge that it came from, or -1."""

    classification: Classification
    before: int
    edge: int


def privacy_labels(
    graph: ImpactGraph,
    declared: Iterable[DeclaredLabel],
    rules: PrivacyRules | None = None,
    sensitive: Classification = Classification.PII,
    sensitive_datasets: Iterable[DatasetId] = (),
    group_sizes: Mapping[int, int] | None = None,
) -> PrivacyLabels:
    """The labels of all columns.

    A declared label that is lower than what flows in counts where it has a reason.

    Args:
        sensitive: Flows without known columns are of interest from this classification on.
        sensitive_datasets: Datasets with sensitive columns that nobody names.
        group_sizes: Number of an aggregated column -> the fewest rows of a group.
    """
    labels: dict[int, DeclaredLabel] = {}
    for label in declared:
        number = graph.column(graph.dataset(label.dataset), label.column)
        if number not in labels or labels[number].classification < label.classification:
            labels[number] = label
    spread = _LabelWalk(graph, rules or PrivacyRules(), sensitive, group_sizes or {})
    spread.run(labels)
    arrived = spread.arrived
    holding = {
        graph.dataset_of[column] for column, at in arrived.items() if at.classification >= sensitive
    }
    numbers = map(graph.find_dataset, sensitive_datasets)
    holding |= {number for number in numbers if number is not None}
    deciding = [pair for pair in spread.decides if arrived[pair[0]].classification >= sensitive]
    unmapped, unknown = _unknown(graph, holding)
    return PrivacyLabels(graph, labels, unmapped, unknown, deciding, arrived, spread.inputs)


class _LabelWalk:
    """Labels that go along the edges of a graph.

    Attributes:
        arrived: The label of each column that has one.
        inputs: Column -> the columns whose values flow into it and are sensitive there.
        decides: The datasets on which labelled columns decide.
    """

    def __init__(
        self,
        graph: ImpactGraph,
        rules: PrivacyRules,
        sensitive: Classification,
        group_sizes: Mapping[int, int],
    ) -> None:
        self._graph, self._rules, self._sensitive = graph, rules, sensitive
        self._group_sizes = group_sizes
        self._nested = {
            dataset for dataset, names in graph.columns_of.items() if any("." in n for n in names)
        }
        self._waiting: list[deque[tuple[int, int, int]]] = [deque() for _ in Classification]
        self.arrived: dict[int, _Arrived] = {}
        self.inputs: dict[int, list[int]] = {}
        self.decides: dict[tuple[int, int], None] = {}

    def run(self, labels: Mapping[int, DeclaredLabel]) -> None:
        """Go along all edges, from the highest classification down."""
        limits = {number: label.classification for number, label in labels.items() if label.reason}
        for number, label in labels.items():
            self._waiting[label.classification].append((number, -1, -1))
        for level in sorted(Classification, reverse=True):
            while self._waiting[level]:
                column, before, edge = self._waiting[level].popleft()
                if column not in self.arrived and level <= limits.get(column, level):
                    self.arrived[column] = _Arrived(level, before, edge)
                    self._pass_on(column, level)

    def _pass_on(self, column: int, level: Classification) -> None:
        for target, edge in _targets(self._graph, column, self._nested):
            kind = kind_of(self._graph.edge_kind[edge])
            if kind.subtype.type is not EdgeType.DIRECT:
                self.decides[column, self._graph.dataset_of[target]] = None
                continue
            left = remaining_level(level, kind, self._rules, self._group_sizes.get(target, 0))
            if left >= self._sensitive:
                self.inputs.setdefault(target, []).append(column)
            if target not in self.arrived:
                self._waiting[left].append((target, column, edge))


def _targets(graph: ImpactGraph, column: int, nested: Collection[int]) -> Iterator[tuple[int, int]]:
    """The columns that a column goes into or decides on, each with its edge.

    What takes a struct takes its fields, and what takes a field takes of its struct. A `select *`
    of columns that are not known one by one carries it under its own name, where the output has
    that name or no known columns.

    Args:
        nested: The datasets with fields of structs.
    """
    name = graph.column_names[column]
    for edge in graph.edges_from(column):
        yield graph.edge_target[edge], edge
    if graph.dataset_of[column] in nested:
        for edge in _part_edges(graph, column):
            yield graph.edge_target[edge], edge
    star = graph.stars.get(graph.dataset_of[column])
    if star is None or star == column:
        return
    for edge in graph.edges_from(star):
        target = graph.edge_target[edge]
        if (
            not graph.is_star[target]
            or kind_of(graph.edge_kind[edge]).subtype.type is not EdgeType.DIRECT
        ):
            continue
        dataset = graph.dataset_of[target]
        namesake = graph.find_column(dataset, name)
        if namesake is not None:
            yield namesake, edge
        elif dataset not in graph.has_schema:
            yield target, edge


def _part_edges(graph: ImpactGraph, column: int) -> Iterator[int]:
    """The edges of a column's fields, and those of its structs that do not come of other fields."""
    numbers, name = graph.columns_of[graph.dataset_of[column]], graph.column_names[column]
    for part in _fields(numbers, name):
        yield from graph.edges_from(part)
    for struct in structs(name.casefold(), numbers):
        # The graph has an edge out of the struct for each that a statement has out of a field.
        of_fields = {
            (graph.edge_target[edge], graph.edge_task[edge])
            for part in _fields(numbers, struct)
            for edge in graph.edges_from(part)
            if graph.edge_need[edge] != Need.NONE
        }
        for edge in graph.edges_from(numbers[struct]):
            if (graph.edge_target[edge], graph.edge_task[edge]) not in of_fields:
                yield edge


def _fields(numbers: Mapping[str, int], struct: str) -> Iterator[int]:
    beginning = f"{struct.casefold()}."
    return (number for name, number in numbers.items() if name.startswith(beginning))


def _unknown(
    graph: ImpactGraph, holding: set[int]
) -> tuple[tuple[UnmappedFlow, ...], tuple[DatasetId, ...]]:
    """The flows without known columns from some datasets, and the datasets behind them."""
    flows: dict[UnmappedFlow, None] = {}
    unknown: dict[int, None] = {}
    waiting = deque(sorted(holding))
    while waiting:
        dataset = waiting.popleft()
        for number in graph.flows_from(dataset):
            target = graph.flow_target[number]
            if graph.flow_has_columns[number] and dataset not in unknown:
                continue
            if not graph.flow_has_columns[number]:
                task = graph.tasks[graph.flow_task[number]]
                flow = UnmappedFlow(graph.datasets[dataset], graph.datasets[target], task)
                flows[flow] = None
            if target not in unknown:
                unknown[target] = None
                waiting.append(target)
    return tuple(flows), tuple(graph.datasets[dataset] for dataset in unknown)


_WILD = re.compile(r"[*?\[\]]")


class ColumnRules:
    """Patterns of `<dataset>.<column>`, with and without the namespace, compared without case.

    Most of them end in the name of a column: they are looked up by it.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._by_end: dict[str, list[tuple[int, re.Pattern[str]]]] = defaultdict(list)
        for number, pattern in enumerate(patterns):
            folded = pattern.casefold()
            _, dot, end = folded.rpartition(".")
            key = end if dot and not _WILD.search(end) else ""
            self._by_end[key].append((number, re.compile(translate(folded))))

    def matching(self, dataset: DatasetId, column: str) -> set[int]:
        """The numbers of the patterns that name a column."""
        name = f"{dataset.name}.{column}".casefold()
        ends = {"", name.rpartition(".")[2]}
        rules = [rule for end in ends for rule in self._by_end.get(end, ())]
        if not rules:
            return set()
        names = (name, f"{dataset}.{column}".casefold())
        return {number for number, pattern in rules if any(map(pattern.fullmatch, names))}
