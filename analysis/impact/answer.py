"""The impact of a change: affected datasets, tasks, tests and consumers, the most severe first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from itertools import chain
from typing import Any

from dbt_graft.analysis.impact.affected import (
    AffectedConsumer,
    AffectedDataset,
    AffectedTask,
    AffectedTest,
    Impact,
    ProposedChange,
)
from dbt_graft.analysis.impact.change import (
    OF_DATASETS,
    START,
    ChangeType,
    ImpactEffect,
    ImpactSeverity,
    raise_severity,
    severity,
)
from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.analysis.impact.lazy_sequence import LazySequence
from dbt_graft.analysis.impact.path import ImpactPath, ImpactStep, step_over
from dbt_graft.analysis.impact.spread import (
    BITS,
    EFFECTS,
    MASK,
    Spread,
    State,
    column_of,
    effect_of,
)
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description, NodeTest
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key

__all__ = [
    "AffectedConsumer",
    "AffectedDataset",
    "AffectedTask",
    "AffectedTest",
    "Impact",
    "ProposedChange",
    "Surroundings",
    "impact",
]

# Effects that a test on the column itself cannot survive.
_PROVABLE = ImpactEffect.GONE


@frozen
class Surroundings:
    """Knowledge of datasets, tasks and consumers beside the edges.

    Attributes:
        owners: Owners of tasks, by name.
    """

    descriptions: Mapping[DatasetId, Description] = field(default_factory=dict)
    consumers: Sequence[Consumer] = ()
    owners: Mapping[str, str] = field(default_factory=dict)


def impact(graph: ImpactGraph, change: ProposedChange, around: Surroundings) -> Impact:
    """The impact of a change of a dataset that the graph knows."""
    number = graph.dataset(change.dataset)
    of_column = change.column and change.kind not in OF_DATASETS
    column = graph.column(number, change.column) if of_column else -1
    start = State(number, column, START[change.kind])
    extent = Spread(graph, start, 1 if change.kind is ChangeType.ADD else None)
    reached = _Reached(extent, change.kind, start)
    described = _descriptions(graph, reached.worst, around)
    tests = [
        test
        for dataset, description in described.items()
        for test in _tests(graph, dataset, reached.states(dataset), description.tests)
        if test.breaks or dataset != number
    ]
    flows = extent.steps.flows
    return Impact(
        change=change,
        datasets=LazySequence(
            reached.most_severe_first(),
            lambda dataset: _dataset(reached, dataset, described.get(dataset)),
        ),
        tasks=_tasks(reached, around),
        tests=tuple(
            sorted(
                tests,
                key=lambda affected_test: (
                    not affected_test.breaks,
                    affected_test.dataset,
                    affected_test.test.column,
                    affected_test.test.name,
                ),
            )
        ),
        consumers=tuple(_consumers(reached, around)),
        known=sum(map(graph.flow_has_columns.__getitem__, flows)),
        flows=len(flows),
        unaffected=_unaffected(extent, flows) if start.effect is ImpactEffect.GONE else 0,
    )


class _Reached:
    """The datasets that a change reaches.

    Attributes:
        datasets: The dataset of each state of the spread.
        nearest: Dataset -> the place of its first state.
        worst: Dataset -> the highest severity of its states. What is not written because something
            is gone is no mere delay.
        steps: Those of paths that were looked at.
    """

    def __init__(self, extent: Spread, kind: ChangeType, start: State) -> None:
        self.extent, self.kind, self.start = extent, kind, start.dataset
        states = extent.states
        self.datasets = [*map(self.dataset_of, states)]
        places = range(len(states) - 1, -1, -1)
        self.nearest = dict(zip(reversed(self.datasets), places, strict=True))
        self.worst = self._worst(states)
        self.steps: dict[int, ImpactStep] = {}

    def _worst(self, states: Sequence[int]) -> dict[int, int]:
        severities = [int(severity(self.kind, effect)) for effect in ImpactEffect]
        worst: dict[int, int] = {}
        for state, dataset in zip(states, self.datasets, strict=True):
            outcome = severities[(state if state >= 0 else ~state) & MASK]
            if outcome > worst.get(dataset, -1):
                worst[dataset] = outcome
        for dataset in self.extent.steps.unwritten:
            worst[dataset] = max(worst[dataset], severities[ImpactEffect.GONE])
        worst[self.start] = int(severity(self.kind, EFFECTS[effect_of(states[0])]))
        return worst

    def states(self, dataset: int) -> Sequence[int]:
        """The states of a dataset, in the order they were reached."""
        return [self.extent.states[place] for place in self._places[dataset]]

    def dataset_of(self, state: int) -> int:
        """The dataset of a state."""
        return self.extent.graph.dataset_of[state >> BITS] if state >= 0 else ~state >> BITS

    def path(self, place: int) -> ImpactPath:
        """The path to a state; the places behind those of states are those of further ways."""
        extent = self.extent
        if place < len(extent.states):
            return ImpactPath(extent, place, self.steps)
        state, before, way = extent.again[place - len(extent.states)]
        return ImpactPath(extent, before, self.steps, step_over(extent, state, before, way))

    @cached_property
    def _places(self) -> Mapping[int, Sequence[int]]:
        return group_by_key(zip(self.datasets, range(len(self.datasets)), strict=True))

    def most_severe_first(self) -> list[int]:
        """The datasets but the one that changes: stale ones last, those nearest first, by name."""
        worst, extent = self.worst, self.extent
        distances, fresh = extent.distances, extent.fresh
        groups = group_by_key(
            ((-worst[dataset], place >= fresh, distances[place]), dataset)
            for dataset, place in self.nearest.items()
            if dataset != self.start
        )
        return _in_order(groups, extent.graph.dataset_order)


def _in_order(groups: Mapping[tuple[Any, ...], list[int]], order: Sequence[int]) -> list[int]:
    """The numbers of all groups, group by group."""
    return [
        number for key in sorted(groups) for number in sorted(groups[key], key=order.__getitem__)
    ]


def _unaffected(extent: Spread, passed: Iterable[int]) -> int:
    """The number of tasks that read, of datasets of which a column is gone, others alone."""
    graph = extent.graph
    task_of, dataset_of = graph.flow_task, graph.dataset_of
    gone = {dataset_of[state >> BITS] for state in extent.states if state >= 0}
    readers: set[int] = set()
    for dataset in gone:
        flows = graph.flows_from(dataset)
        readers.update(task_of[flows.start : flows.stop])
    return len(readers.difference(map(graph.flow_task.__getitem__, passed)))


def _descriptions(
    graph: ImpactGraph, datasets: Iterable[int], around: Surroundings
) -> dict[int, Description]:
    if not around.descriptions:
        return {}
    described = (
        (dataset, around.descriptions.get(graph.datasets[dataset])) for dataset in datasets
    )
    return {dataset: description for dataset, description in described if description}


def _dataset(reached: _Reached, dataset: int, description: Description | None) -> AffectedDataset:
    graph, columns, effects = reached.extent.graph, dict[str, ImpactEffect](), set[ImpactEffect]()
    for number in reached.states(dataset):
        effect = EFFECTS[effect_of(number)]
        if number < 0:
            effects.add(effect)
        else:
            name = graph.column_names[column_of(number)]
            columns[name] = min(columns.get(name, effect), effect)
    nearest = reached.nearest[dataset]
    return AffectedDataset(
        graph.datasets[dataset],
        ImpactSeverity(reached.worst[dataset]),
        tuple(sorted(effects)),
        {name: columns[name] for name in sorted(columns)},
        reached.path(nearest),
        description.owner if description else "",
        stale=nearest >= reached.extent.fresh,
    )


def _tasks(reached: _Reached, around: Surroundings) -> Sequence[AffectedTask]:
    extent, graph = reached.extent, reached.extent.graph
    of_edge, of_flow, again = graph.edge_task, graph.flow_task, extent.again
    ways = chain([*extent.ways.values()][1:], (way for _, _, way in again))
    carriers = [of_edge[way] if way >= 0 else of_flow[~way] for way in ways]
    nearest = dict(zip(reversed(carriers), range(len(carriers), 0, -1), strict=True))
    targets = chain(reached.datasets[1:], map(reached.dataset_of, (state for state, _, _ in again)))
    worst: dict[int, int] = {}
    for task, outcome in zip(carriers, map(reached.worst.__getitem__, targets), strict=True):
        if outcome > worst.get(task, -1):
            worst[task] = outcome
    gone, broken = int(severity(reached.kind, ImpactEffect.GONE)), extent.steps.broken
    for task in broken:
        if worst.get(task, -1) < gone:
            worst[task] = gone
    names, owners = graph.tasks, around.owners
    groups = group_by_key(((-worst[task], task not in broken), task) for task in worst)
    return LazySequence(
        _in_order(groups, graph.task_order),
        lambda task: AffectedTask(
            *(
                names[task],
                ImpactSeverity(worst[task]),
                task in broken,
                owners.get(names[task], ""),
            ),
            reached.path(nearest[task]) if task in nearest else (),
        ),
    )


def _tests(
    graph: ImpactGraph, dataset: int, reached: Sequence[int], tests: Sequence[NodeTest]
) -> Iterator[AffectedTest]:
    """The tests of a dataset; one breaks if its column is gone, or all of the dataset is."""
    gone = {
        graph.column_names[column_of(number)].casefold() if number >= 0 else ""
        for number in reached
        if effect_of(number) == _PROVABLE
    }
    for test in tests:
        breaks = test.column.casefold() in gone or "" in gone
        yield AffectedTest(test, graph.datasets[dataset], breaks)


def _consumers(reached_datasets: _Reached, around: Surroundings) -> list[AffectedConsumer]:
    extent, severities = reached_datasets.extent, reached_datasets.worst
    graph, affected = extent.graph, []
    for consumer in around.consumers:
        reached = [
            (severities[number], read)
            for read in consumer.reads
            if (number := graph.find_dataset(read)) in severities and number is not None
        ]
        if reached:
            worst = ImpactSeverity(max(outcome for outcome, _ in reached))
            worst = raise_severity(worst) if consumer.is_critical else worst
            reads = tuple(sorted(read for _, read in reached))
            breaks = any(_is_gone(extent, *column) for column in consumer.columns)
            affected.append(AffectedConsumer(consumer, worst, reads, breaks))
    return sorted(
        affected,
        key=lambda affected_consumer: (
            -affected_consumer.severity,
            not affected_consumer.breaks,
            affected_consumer.consumer.name,
        ),
    )


def _is_gone(extent: Spread, dataset: DatasetId, name: str) -> bool:
    """Whether a column that somebody names is gone, alone or with its dataset."""
    number = extent.graph.find_dataset(dataset)
    if number is None:
        return False
    return any(
        column is not None and extent.reaches(State(number, column, _PROVABLE))
        for column in (-1, extent.graph.find_column(number, name))
    )
