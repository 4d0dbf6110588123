"""The impact of a change: affected datasets, tasks, tests and consumers, the most severe first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description, NodeTest
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
from dbt_graft.lineage.impact.spread import Arrival, Spread, State, spread, state_number
from dbt_graft.lineage.records import Subtype

# Effects that a test on the column itself cannot survive.
_PROVABLE = ImpactEffect.GONE


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """A change that somebody thinks of; without a column it is one of the dataset."""

    dataset: DatasetId
    kind: ChangeType
    column: str = ""


@dataclass(frozen=True, slots=True)
class ImpactStep:
    """A step of a path: the task, how it uses what comes, and where it goes.

    Attributes:
        subtype: That of the column edge; None for a flow of which only the datasets count.
        column: Empty where the whole dataset is meant.
    """

    task: str
    subtype: Subtype | None
    dataset: DatasetId
    column: str


@dataclass(frozen=True, slots=True)
class AffectedDataset:
    """A dataset that a change reaches.

    Attributes:
        effects: Those on all of its rows and columns, the strongest first.
        columns: Those on single columns, by the names of these.
        path: A shortest one.
        stale: All ways to it have an edge that was not seen for long.
    """

    dataset: DatasetId
    severity: ImpactSeverity
    effects: tuple[ImpactEffect, ...]
    columns: Mapping[str, ImpactEffect]
    path: tuple[ImpactStep, ...]
    owner: str = ""
    stale: bool = False

    @property
    def distance(self) -> int:
        """The number of steps to it."""
        return len(self.path)


@dataclass(frozen=True, slots=True)
class AffectedTask:
    """A task, dbt model or view that carries a change on; `breaks`: its statements fail."""

    name: str
    severity: ImpactSeverity
    breaks: bool
    owner: str = ""


@dataclass(frozen=True, slots=True)
class AffectedTest:
    """A dbt test of what is affected; `breaks`: it names a column that is gone."""

    test: NodeTest
    dataset: DatasetId
    breaks: bool


@dataclass(frozen=True, slots=True)
class AffectedConsumer:
    """A dashboard, report or API that reads what is affected.

    Attributes:
        datasets: What it reads of that, sorted.
    """

    consumer: Consumer
    severity: ImpactSeverity
    datasets: tuple[DatasetId, ...]


@dataclass(frozen=True, slots=True)
class Impact:
    """The answer to a proposed change; each list has the most severe first.

    Attributes:
        known, flows: Of so many flows on the way the columns are known, and how many there are.
    """

    change: ProposedChange
    datasets: tuple[AffectedDataset, ...] = ()
    tasks: tuple[AffectedTask, ...] = ()
    tests: tuple[AffectedTest, ...] = ()
    consumers: tuple[AffectedConsumer, ...] = ()
    known: int = 0
    flows: int = 0

    @property
    def severity(self) -> ImpactSeverity:
        """The highest of all."""
        found = [one.severity for one in self.datasets]
        found += [one.severity for one in self.tasks]
        found += [one.severity for one in self.consumers]
        found += [ImpactSeverity.BLOCKING for one in self.tests if one.breaks]
        return max(found, default=ImpactSeverity.INFO)


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
    datasets = list(_datasets(graph, change, found, around))
    severities = {one.dataset: one.severity for one in datasets}
    severities[change.dataset] = severity(change.kind, start.effect)
    return Impact(
        change,
        tuple(sorted(datasets, key=lambda o: (-o.severity, o.stale, o.distance, o.dataset))),
        tuple(_tasks(graph, change, found, severities, around)),
        tuple(_tests(graph, change, found, around)),
        tuple(_consumers(severities, around)),
        sum(found.flows.values()),
        len(found.flows),
    )


def _datasets(
    graph: ImpactGraph, change: ProposedChange, found: Spread, around: Surroundings
) -> Iterator[AffectedDataset]:
    groups: dict[int, list[tuple[State, Arrival]]] = defaultdict(list)
    for state, arrival in found.states():
        if arrival.before:
            groups[state.dataset].append((state, arrival))
    start = graph.find_dataset(change.dataset)
    paths: dict[State, tuple[ImpactStep, ...]] = {}
    for number, reached in groups.items():
        if number == start:
            continue
        dataset = graph.datasets[number]
        about = around.descriptions.get(dataset)
        columns: dict[str, ImpactEffect] = {}
        for state, _ in reached:
            if state.column >= 0:
                name = graph.column_names[state.column]
                columns[name] = min(columns.get(name, state.effect), state.effect)
        first, arrival = reached[0]
        yield AffectedDataset(
            dataset,
            max(_severity(change.kind, state, found) for state, _ in reached),
            tuple(sorted({state.effect for state, _ in reached if state.column < 0})),
            dict(sorted(columns.items())),
            _path(graph, found, first, paths),
            about.owner if about else "",
            stale=arrival.stale,
        )


def _severity(kind: ChangeType, state: State, found: Spread) -> ImpactSeverity:
    """The severity of a state; what is not written because something is gone is no mere delay."""
    broke = state_number(state) in found.unwritten
    return severity(kind, ImpactEffect.GONE if broke else state.effect)


def _path(
    graph: ImpactGraph,
    found: Spread,
    state: State,
    known: dict[State, tuple[ImpactStep, ...]],
) -> tuple[ImpactStep, ...]:
    """The path to a state; paths that begin alike share their steps."""
    waiting = []
    while state not in known:
        arrival = found.arrival(state)
        waiting.append((state, arrival))
        if arrival.before is None:
            known[state] = ()
            break
        state = arrival.before
    for one, arrival in reversed(waiting):
        if arrival.before:
            column = graph.column_names[one.column] if one.column >= 0 else ""
            task, dataset = graph.tasks[arrival.task], graph.datasets[one.dataset]
            step = ImpactStep(task, arrival.subtype, dataset, column)
            known[one] = (*known[arrival.before], step)
    return known[waiting[0][0] if waiting else state]


def _tasks(
    graph: ImpactGraph,
    change: ProposedChange,
    found: Spread,
    severities: Mapping[DatasetId, ImpactSeverity],
    around: Surroundings,
) -> list[AffectedTask]:
    tasks: dict[int, ImpactSeverity] = {}
    for state, arrival in found.states():
        if arrival.before:
            outcome = severities[graph.datasets[state.dataset]]
            tasks[arrival.task] = max(tasks.get(arrival.task, outcome), outcome)
    gone = severity(change.kind, ImpactEffect.GONE)
    affected = [
        AffectedTask(
            graph.tasks[task],
            max(tasks.get(task, gone), gone) if task in found.broken else tasks[task],
            task in found.broken,
            around.owners.get(graph.tasks[task], ""),
        )
        for task in {*tasks, *found.broken}
    ]
    return sorted(affected, key=lambda one: (-one.severity, not one.breaks, one.name))


def _tests(
    graph: ImpactGraph, change: ProposedChange, found: Spread, around: Surroundings
) -> list[AffectedTest]:
    gone, affected = set(), set()
    for state, _ in found.states():
        dataset = graph.datasets[state.dataset]
        affected.add(dataset)
        if state.effect is _PROVABLE:
            name = graph.column_names[state.column].casefold() if state.column >= 0 else ""
            gone.add((dataset, name))
    tests = []
    for dataset in affected:
        about = around.descriptions.get(dataset)
        for test in about.tests if about else ():
            breaks = (dataset, test.column.casefold()) in gone or (dataset, "") in gone
            if breaks or dataset != change.dataset:
                tests.append(AffectedTest(test, dataset, breaks))
    return sorted(tests, key=lambda o: (not o.breaks, o.dataset, o.test.column, o.test.name))


def _consumers(
    severities: Mapping[DatasetId, ImpactSeverity], around: Surroundings
) -> list[AffectedConsumer]:
    affected = []
    for consumer in around.consumers:
        reads = tuple(sorted(one for one in consumer.reads if one in severities))
        if reads:
            worst = max(severities[one] for one in reads)
            worst = raised(worst) if consumer.is_critical else worst
            affected.append(AffectedConsumer(consumer, worst, reads))
    return sorted(affected, key=lambda one: (-one.severity, one.consumer.name))
