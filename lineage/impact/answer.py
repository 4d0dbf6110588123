"""The impact of a change: affected datasets, tasks, tests and consumers, the most severe first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description, NodeTest
from dbt_graft.lineage.impact.affected import (
    AffectedConsumer,
    AffectedDataset,
    AffectedTask,
    AffectedTest,
    Impact,
    ProposedChange,
)
from dbt_graft.lineage.impact.change import (
    OF_DATASETS,
    START,
    ChangeType,
    ImpactEffect,
    ImpactSeverity,
    raised,
    severity,
)
from dbt_graft.lineage.impact.graph import ImpactGraph
from dbt_graft.lineage.impact.lazy_sequence import LazySequence
from dbt_graft.lineage.impact.path import ImpactPath, ImpactStep
from dbt_graft.lineage.impact.spread import (
    EFFECTS,
    Spread,
    State,
    column_of,
    effect_of,
    spread,
    state_number,
)

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
    place = graph.dataset(change.dataset)
    of_column = change.column and change.kind not in OF_DATASETS
    column = graph.column(place, change.column) if of_column else -1
    start = State(place, column, START[change.kind])
    found = spread(graph, start, 1 if change.kind is ChangeType.ADD else None)
    states = _by_dataset(found)
    about = _descriptions(graph, states, around)
    severities = _severities(change.kind, found)
    severities[place] = severity(change.kind, start.effect)
    steps: dict[int, ImpactStep] = {}
    tests = [
        test
        for one, description in about.items()
        for test in _tests(graph, one, states[one], description.tests)
        if test.breaks or one != place
    ]
    return Impact(
        change,
        LazySequence(
            _most_severe_first(found, states, severities, place),
            lambda one: _dataset(
                *(found, states[one], severities[one], about.get(one)),
                ImpactPath(found, states[one][0], steps),
            ),
        ),
        _tasks(change.kind, found, severities, around),
        tuple(sorted(tests, key=lambda o: (not o.breaks, o.dataset, o.test.column, o.test.name))),
        tuple(_consumers(found, severities, around)),
        sum(found.flows.values()),
        len(found.flows),
    )


def _by_dataset(found: Spread) -> dict[int, list[int]]:
    """The states of each dataset, by their numbers, in the order they were reached."""
    states: dict[int, list[int]] = {}
    for number in found.arrivals:
        states.setdefault(found.dataset_of(number), []).append(number)
    return states


def _descriptions(
    graph: ImpactGraph, datasets: Iterable[int], around: Surroundings
) -> dict[int, Description]:
    if not around.descriptions:
        return {}
    found = ((one, around.descriptions.get(graph.datasets[one])) for one in datasets)
    return {one: about for one, about in found if about}


def _severities(kind: ChangeType, found: Spread) -> dict[int, ImpactSeverity]:
    """Datasets with the highest severity of their states.

    What is not written because something is gone is no mere delay.
    """
    of_effect = [severity(kind, effect) for effect in ImpactEffect]
    gone, unwritten = severity(kind, ImpactEffect.GONE), found.unwritten
    worst: dict[int, ImpactSeverity] = {}
    for number in found.arrivals:
        dataset = found.dataset_of(number)
        outcome = gone if number in unwritten else of_effect[effect_of(number)]
        if worst.get(dataset, -1) < outcome:
            worst[dataset] = outcome
    return worst


def _most_severe_first(
    found: Spread,
    states: Mapping[int, Sequence[int]],
    severities: Mapping[int, ImpactSeverity],
    start: int,
) -> list[int]:
    """The datasets without the one that changes: stale ones last, those nearest first, by name."""
    keys, rank = [*found.graph.numbers], {}
    for one, (nearest, *_) in states.items():
        _, _, _, distance, stale = found.arrivals[nearest]
        rank[one] = (-severities[one], stale, distance, keys[one])
    del rank[start]
    return sorted(rank, key=rank.__getitem__)


def _dataset(
    found: Spread,
    reached: Sequence[int],
    worst: ImpactSeverity,
    about: Description | None,
    path: ImpactPath,
) -> AffectedDataset:
    graph, columns, effects = found.graph, dict[str, ImpactEffect](), set[ImpactEffect]()
    for number in reached:
        effect = EFFECTS[effect_of(number)]
        if number < 0:
            effects.add(effect)
        else:
            name = graph.column_names[column_of(number)]
            columns[name] = min(columns.get(name, effect), effect)
    return AffectedDataset(
        graph.datasets[found.dataset_of(reached[0])],
        worst,
        tuple(sorted(effects)),
        {name: columns[name] for name in sorted(columns)},
        path,
        about.owner if about else "",
        stale=found.is_stale(reached[0]),
    )


def _tasks(
    kind: ChangeType,
    found: Spread,
    severities: Mapping[int, ImpactSeverity],
    around: Surroundings,
) -> Sequence[AffectedTask]:
    worst: dict[int, ImpactSeverity] = {}
    for number, (before, task, *_) in found.arrivals.items():
        outcome = severities[found.dataset_of(number)]
        if before is not None and worst.get(task, -1) < outcome:
            worst[task] = outcome
    gone = severity(kind, ImpactEffect.GONE)
    for task in found.broken:
        worst[task] = max(worst.get(task, gone), gone)
    names, broken, owners = found.graph.tasks, found.broken, around.owners
    rank = {task: (-outcome, task not in broken, names[task]) for task, outcome in worst.items()}
    return LazySequence(
        sorted(rank, key=rank.__getitem__),
        lambda task: AffectedTask(
            names[task], worst[task], task in broken, owners.get(names[task], "")
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
    found: Spread, severities: Mapping[int, ImpactSeverity], around: Surroundings
) -> list[AffectedConsumer]:
    graph, affected = found.graph, []
    for consumer in around.consumers:
        reached = [
            (severities[place], one)
            for one in consumer.reads
            if (place := graph.find_dataset(one)) in severities and place is not None
        ]
        if reached:
            worst = max(outcome for outcome, _ in reached)
            worst = raised(worst) if consumer.is_critical else worst
            reads = tuple(sorted(one for _, one in reached))
            breaks = any(_is_gone(found, *one) for one in consumer.columns)
            affected.append(AffectedConsumer(consumer, worst, reads, breaks))
    return sorted(affected, key=lambda one: (-one.severity, not one.breaks, one.consumer.name))


def _is_gone(found: Spread, dataset: DatasetId, name: str) -> bool:
    """Whether a column that somebody names is gone, alone or with its dataset."""
    place = found.graph.find_dataset(dataset)
    if place is None:
        return False
    return any(
        column is not None and state_number(State(place, column, _PROVABLE)) in found.arrivals
        for column in (-1, found.graph.find_column(place, name))
    )
