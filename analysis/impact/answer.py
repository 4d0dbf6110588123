"""The impact of a change: affected datasets, tasks, tests and consumers, the most severe first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import chain, compress
from operator import itemgetter

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
from dbt_graft.analysis.impact.path import ImpactPath, PathEnd, Paths
from dbt_graft.analysis.impact.spread import (
    IS_BYTE,
    ON_DATASET,
    Level,
    Spread,
    effect_of,
    places_from,
)
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import CONTRACT, Consumer, Description, NodeTest
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import pick

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


@frozen
class Surroundings:
    """Knowledge of datasets, tasks and consumers beside the edges.

    Attributes:
        owners: Owners of tasks, by name.
        open_tasks: The tasks that may read or write more than is known.
    """

    descriptions: Mapping[DatasetId, Description] = field(default_factory=dict)
    consumers: Sequence[Consumer] = ()
    owners: Mapping[str, str] = field(default_factory=dict)
    open_tasks: tuple[str, ...] = ()


def impact(graph: ImpactGraph, change: ProposedChange, around: Surroundings) -> Impact:
    """The impact of a change of a dataset that the graph knows."""
    number, effect = graph.dataset(change.dataset), START[change.kind]
    if change.column and change.kind not in OF_DATASETS:
        extent = Spread(graph, effect, graph.column(number, change.column))
    else:
        farthest = 1 if change.kind is ChangeType.ADD else None
        extent = Spread(graph, ON_DATASET | effect, number, farthest)
    reached = _Reached(extent, change.kind, number, effect)
    described = _descriptions(graph, reached.datasets, around)
    tests = [
        test
        for dataset, description in described.items()
        for test in _tests(reached, dataset, description.tests)
        if test.breaks or dataset != number or _tests_change(change, test.test)
    ]
    flows = extent.flows
    consumers = sorted(
        _consumers(reached, around),
        key=lambda hit: (-hit.severity, not hit.breaks, hit.consumer.name),
    )
    unaffected = 0
    if effect is ImpactEffect.GONE:
        unaffected = _unaffected(extent, flows)
        unaffected += _readers_of_others(extent, around, {hit.consumer for hit in consumers})
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
        consumers=tuple(consumers),
        known=pick(graph.flow_has_columns, flows).count(1),
        flows=len(flows),
        unaffected=unaffected,
        open_tasks=around.open_tasks,
    )


class _Reached:
    """The datasets that a change reaches.

    Attributes:
        datasets: All of them, with the one that changes.
        worst: Of each reached dataset, by its number, the highest severity of its states. What is
            not written because something is gone is no mere delay.
    """

    def __init__(self, extent: Spread, kind: ChangeType, start: int, effect: ImpactEffect) -> None:
        self.extent, self.kind, self.start = extent, kind, start
        self.paths = Paths(extent)
        self.worst = self._worst(effect)
        self.datasets: set[int] = set()
        self._groups: dict[int, list[int]] = {outcome: [] for outcome in ImpactSeverity}
        for level in (*extent.levels, *extent.stale_levels):
            self._add(level)

    def _worst(self, effect: ImpactEffect) -> bytearray:
        outcomes = [
            (int(severity(self.kind, effect_of(state))), self.extent.datasets(state, nodes))
            for state, nodes in self.extent.reached.items()
        ]
        gone = int(severity(self.kind, ImpactEffect.GONE))
        outcomes.append((gone, self.extent.unwritten))
        worst = bytearray(len(self.extent.graph.datasets))
        for outcome, datasets in sorted(outcomes, key=itemgetter(0)):
            for dataset in datasets:
                worst[dataset] = outcome
        worst[self.start] = int(severity(self.kind, effect))
        return worst

    def _add(self, level: Level) -> None:
        nodes = (self.extent.datasets(state, ways) for state, ways in level.items())
        new = set(chain.from_iterable(nodes)).difference(self.datasets)
        self.datasets |= new
        new.discard(self.start)
        for outcome, datasets in _by_outcome(self.worst, sorted(new)):
            self._groups[outcome] += datasets

    def most_severe_first(self) -> list[int]:
        """The datasets but the one that changes: stale ones last, those nearest first, by name."""
        return [
            *chain.from_iterable(self._groups[outcome] for outcome in sorted(self._groups)[::-1])
        ]

    def nearest(self, dataset: int) -> PathEnd:
        """The end of a shortest path to a dataset, or to a column of it."""
        columns = self.extent.graph.columns_of[dataset].values()
        return next(
            PathEnd(distance, is_stale, state, node)
            for is_stale in (False, True)
            for distance, level in enumerate(self.extent.levels_of(is_stale))
            for state, nodes in level.items()
            for node in ([dataset] if state & ON_DATASET else columns)
            if node in nodes
        )

    def columns(self, dataset: int) -> Iterator[tuple[int, ImpactEffect]]:
        """The affected columns of a dataset, with each effect on them."""
        columns = {*self.extent.graph.columns_of[dataset].values()}
        for state, nodes in self.extent.reached.items():
            if not state & ON_DATASET:
                yield from ((column, effect_of(state)) for column in columns & nodes)

    def hits(self, dataset: int, consumer: Consumer) -> Iterator[tuple[int, bool]]:
        """The severity for a consumer of a dataset, and whether that is certain."""
        graph, read = self.extent.graph, self.extent.graph.datasets[dataset]
        columns = [
            (int(severity(self.kind, effect)), graph.column_names[column])
            for column, effect in self.columns(dataset)
        ]
        of_all = [
            int(severity(self.kind, effect_of(state)))
            for state, nodes in self.extent.reached.items()
            if state & ON_DATASET and dataset in nodes
        ]
        if dataset in self.extent.unwritten:
            of_all.append(int(severity(self.kind, ImpactEffect.GONE)))
        if read not in consumer.known_reads:
            is_sure = bool(of_all) or any(consumer.names(read, name) for _, name in columns)
            yield self.worst[dataset], is_sure
        elif hits := of_all + [hit for hit, name in columns if consumer.may_read(read, name)]:
            yield max(hits), True


def _unaffected(extent: Spread, passed: Collection[int]) -> int:
    """The number of tasks that read, of datasets of which a column is gone, others alone."""
    graph, gone = extent.graph, int(ImpactEffect.GONE)
    datasets = {*extent.datasets(gone, extent.reached.get(gone, ()))}
    starts = graph.flow_starts
    if sum(pick(starts[1:], datasets)) - sum(pick(starts, datasets)) == len(passed):
        return 0  # All flows from them are passed.
    others = {*places_from(starts, datasets)}.difference(passed)
    readers = {*pick(graph.flow_task, others)}
    return len(readers.difference(pick(graph.flow_task, passed)))


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
    graph, columns = reached.extent.graph, dict[str, ImpactEffect]()
    for column, effect in reached.columns(dataset):
        name = graph.column_names[column]
        columns[name] = min(columns.get(name, effect), effect)
    nearest = reached.nearest(dataset)
    effects = [
        effect_of(state)
        for state, nodes in reached.extent.reached.items()
        if state & ON_DATASET and dataset in nodes
    ]
    return AffectedDataset(
        graph.datasets[dataset],
        ImpactSeverity(reached.worst[dataset]),
        tuple(sorted(effects)),
        {name: columns[name] for name in sorted(columns)},
        ImpactPath(lambda: reached.paths.steps(nearest)),
        description.owner if description else "",
        stale=nearest.is_stale,
    )


def _tasks(reached: _Reached, around: Surroundings) -> Sequence[AffectedTask]:
    extent, names, owners = reached.extent, reached.extent.graph.tasks, around.owners
    broken = extent.broken
    by_outcome = dict(_by_outcome(reached.worst, *extent.carriers()))
    if broken:
        gone = int(severity(reached.kind, ImpactEffect.GONE))
        by_outcome[gone] = [*by_outcome.get(gone, ()), *broken]
    tasks, of_outcome = list[int](), dict[int, set[int]]()
    for outcome in sorted(by_outcome, reverse=True):
        new = set(by_outcome[outcome])
        new.difference_update(*of_outcome.values())
        of_outcome[outcome] = new
        tasks += sorted(new & broken)
        tasks += sorted(new - broken if broken else new)

    def worst(task: int) -> ImpactSeverity:
        return ImpactSeverity(next(key for key, tasks in of_outcome.items() if task in tasks))

    return LazySequence(
        tasks,
        lambda task: AffectedTask(
            *(names[task], worst(task), task in broken, owners.get(names[task], "")),
            ImpactPath(lambda: reached.paths.over_task(task)),
            task not in extent.sure_tasks,
        ),
    )


def _by_outcome(
    worst: bytes | bytearray, values: Sequence[int], datasets: Sequence[int] | None = None
) -> Iterator[tuple[int, Iterable[int]]]:
    """Values by the severity of a dataset each, in their order; of datasets by their own."""
    outcomes = bytes(pick(worst, values if datasets is None else datasets))
    for outcome in {*outcomes}:
        yield outcome, compress(values, outcomes.translate(IS_BYTE[outcome]))


def _tests(reached: _Reached, dataset: int, tests: Sequence[NodeTest]) -> Iterator[AffectedTest]:
    """The tests of a dataset; one breaks if its column is gone, or all of the dataset is."""
    graph, extent = reached.extent.graph, reached.extent
    for test in tests:
        breaks = _is_gone(extent, dataset, test.column)
        yield AffectedTest(test, graph.datasets[dataset], breaks)


def _tests_change(change: ProposedChange, test: NodeTest) -> bool:
    """Whether a test of what changes looks at the data that do: of its column, or of all of it."""
    column = test.column.casefold()
    return START[change.kind] <= ImpactEffect.ROWS and (
        not (column and change.column) or column == change.column.casefold()
    )


def _consumers(reached_datasets: _Reached, around: Surroundings) -> Iterator[AffectedConsumer]:
    extent = reached_datasets.extent
    graph = extent.graph
    for consumer in around.consumers:
        hits = [
            (worst, is_sure, read)
            for read in consumer.reads
            if (number := graph.find_dataset(read)) in reached_datasets.datasets
            and number is not None
            for worst, is_sure in reached_datasets.hits(number, consumer)
        ]
        if hits:
            worst = ImpactSeverity(max(outcome for outcome, *_ in hits))
            worst = raise_severity(worst) if consumer.is_critical else worst
            reads = tuple(sorted(read for *_, read in hits))
            breaks = any(
                _is_gone(extent, graph.find_dataset(of), name) for of, name in consumer.columns
            )
            unknown = not any(is_sure for _, is_sure, _ in hits)
            yield AffectedConsumer(consumer, worst, reads, breaks, unknown)


def _readers_of_others(extent: Spread, around: Surroundings, hit: Collection[Consumer]) -> int:
    """The number of tasks without outputs that read, where a column is gone, others alone."""
    graph, gone = extent.graph, int(ImpactEffect.GONE)
    datasets = {*extent.datasets(gone, extent.reached.get(gone, ()))}
    return sum(
        consumer.kind != CONTRACT
        and consumer not in hit
        and any(graph.find_dataset(read) in datasets for read in consumer.known_reads)
        for consumer in around.consumers
    )


def _is_gone(extent: Spread, dataset: int | None, name: str) -> bool:
    """Whether a column that somebody names is gone, alone or with its dataset."""
    if dataset is None:
        return False
    gone, column = int(ImpactEffect.GONE), extent.graph.find_column(dataset, name)
    return dataset in extent.reached.get(ON_DATASET | gone, ()) or (
        column is not None and column in extent.reached.get(gone, ())
    )
