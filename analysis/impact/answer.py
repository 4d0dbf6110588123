"""The impact of a change: affected datasets, tasks, tests and consumers, the most severe first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

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
from dbt_graft.analysis.impact.path import ImpactPath, ImpactStep
from dbt_graft.analysis.impact.spread import (
    BITS,
    EFFECTS,
    Spread,
    State,
    column_of,
    effect_of,
    spread,
    state_number,
)
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description, NodeTest

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


@dataclass(frozen=True, slots=True)
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
    extent = spread(graph, start, 1 if change.kind is ChangeType.ADD else None)
    states, severities = _states_by_dataset(change.kind, extent)
    described = _descriptions(graph, states, around)
    severities[number] = severity(change.kind, start.effect)
    steps: dict[int, ImpactStep] = {}
    tests = [
        test
        for dataset, description in described.items()
        for test in _tests(graph, dataset, states[dataset], description.tests)
        if test.breaks or dataset != number
    ]
    return Impact(
        change=change,
        datasets=LazySequence(
            _most_severe_first(extent, states, severities, number),
            lambda dataset: _dataset(
                *(extent, states[dataset], severities[dataset], described.get(dataset)),
                ImpactPath(extent, states[dataset][0], steps),
            ),
        ),
        tasks=_tasks(change.kind, extent, severities, around, steps),
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
        consumers=tuple(_consumers(extent, severities, around)),
        known=sum(extent.flows.values()),
        flows=len(extent.flows),
        unaffected=len(_tasks_of(graph, extent.unaffected) - _tasks_of(graph, extent.flows)),
    )


def _tasks_of(graph: ImpactGraph, flows: Iterable[int]) -> set[int]:
    return {graph.flow_task[flow] for flow in flows}


def _states_by_dataset(
    kind: ChangeType, extent: Spread
) -> tuple[dict[int, list[int]], dict[int, ImpactSeverity]]:
    """The states of each dataset, in the order they were reached, and the highest severity of them.

    What is not written because something is gone is no mere delay.
    """
    of_effect = [severity(kind, effect) for effect in ImpactEffect]
    gone, unwritten = severity(kind, ImpactEffect.GONE), extent.unwritten
    states: dict[int, list[int]] = {}
    worst: dict[int, ImpactSeverity] = {}
    dataset_of = extent.graph.dataset_of
    for number in extent.arrivals:
        dataset = dataset_of[number >> BITS] if number >= 0 else ~number >> BITS
        outcome = gone if number in unwritten else of_effect[effect_of(number)]
        if dataset not in states:
            states[dataset], worst[dataset] = [number], outcome
        else:
            states[dataset].append(number)
            if worst[dataset] < outcome:
                worst[dataset] = outcome
    return states, worst


def _descriptions(
    graph: ImpactGraph, datasets: Iterable[int], around: Surroundings
) -> dict[int, Description]:
    if not around.descriptions:
        return {}
    described = (
        (dataset, around.descriptions.get(graph.datasets[dataset])) for dataset in datasets
    )
    return {dataset: description for dataset, description in described if description}


def _most_severe_first(
    extent: Spread,
    states: Mapping[int, Sequence[int]],
    severities: Mapping[int, ImpactSeverity],
    start: int,
) -> list[int]:
    """The datasets without the one that changes: stale ones last, those nearest first, by name."""
    order, arrivals = extent.graph.dataset_order, extent.arrivals
    groups: dict[tuple[int, bool, int], list[int]] = {}
    for dataset, (nearest, *_) in states.items():
        _, _, _, distance, stale = arrivals[nearest]
        if dataset != start:
            key = (-severities[dataset], stale, distance)
            if key in groups:
                groups[key].append(dataset)
            else:
                groups[key] = [dataset]
    return [
        dataset for key in sorted(groups) for dataset in sorted(groups[key], key=order.__getitem__)
    ]


def _dataset(
    extent: Spread,
    reached: Sequence[int],
    worst: ImpactSeverity,
    description: Description | None,
    path: ImpactPath,
) -> AffectedDataset:
    graph, columns, effects = extent.graph, dict[str, ImpactEffect](), set[ImpactEffect]()
    for number in reached:
        effect = EFFECTS[effect_of(number)]
        if number < 0:
            effects.add(effect)
        else:
            name = graph.column_names[column_of(number)]
            columns[name] = min(columns.get(name, effect), effect)
    return AffectedDataset(
        graph.datasets[extent.dataset_of(reached[0])],
        worst,
        tuple(sorted(effects)),
        {name: columns[name] for name in sorted(columns)},
        path,
        description.owner if description else "",
        stale=extent.is_stale(reached[0]),
    )


def _tasks(
    kind: ChangeType,
    extent: Spread,
    severities: Mapping[int, ImpactSeverity],
    around: Surroundings,
    steps: dict[int, ImpactStep],
) -> Sequence[AffectedTask]:
    worst: dict[int, ImpactSeverity] = {}
    nearest: dict[int, int] = {}  # the states that tasks come to first
    graph = extent.graph
    for number, (before, task, *_) in extent.arrivals.items():
        if before is None:
            continue
        outcome = severities[graph.dataset_of[number >> BITS] if number >= 0 else ~number >> BITS]
        if task not in worst:
            worst[task], nearest[task] = outcome, number
        elif worst[task] < outcome:
            worst[task] = outcome
    gone, broken = severity(kind, ImpactEffect.GONE), extent.broken
    for task in broken:
        worst[task] = max(worst.get(task, gone), gone)
    names, owners, order = graph.tasks, around.owners, graph.task_order
    groups: dict[tuple[int, bool], list[int]] = {}
    for task, outcome in worst.items():
        groups.setdefault((-outcome, task not in broken), []).append(task)
    return LazySequence(
        [task for key in sorted(groups) for task in sorted(groups[key], key=order.__getitem__)],
        lambda task: AffectedTask(
            *(names[task], worst[task], task in broken, owners.get(names[task], "")),
            ImpactPath(extent, nearest[task], steps) if task in nearest else (),
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


def _consumers(
    extent: Spread, severities: Mapping[int, ImpactSeverity], around: Surroundings
) -> list[AffectedConsumer]:
    graph, affected = extent.graph, []
    for consumer in around.consumers:
        reached = [
            (severities[number], read)
            for read in consumer.reads
            if (number := graph.find_dataset(read)) in severities and number is not None
        ]
        if reached:
            worst = max(outcome for outcome, _ in reached)
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
        column is not None and state_number(State(number, column, _PROVABLE)) in extent.arrivals
        for column in (-1, extent.graph.find_column(number, name))
    )
