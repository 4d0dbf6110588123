"""The review of a project: its changed nodes, and the impact of all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.impact.answer import (
    AffectedConsumer,
    AffectedTask,
    AffectedTest,
    Impact,
    ProposedChange,
    Surroundings,
)
from dbt_graft.lineage.impact.answer import impact as impact_of
from dbt_graft.lineage.impact.change import OF_DATASETS, ImpactSeverity
from dbt_graft.lineage.impact.graph import ImpactGraph
from dbt_graft.lineage.records import ANY_COLUMN
from dbt_graft.lineage.review.node_change import NodeReview, ReviewVerdict
from dbt_graft.lineage.review.task_version import TaskVersion


@dataclass(frozen=True, slots=True)
class ReviewedDataset:
    """A dataset downstream; `because` has the changed nodes that reach it."""

    dataset: DatasetId
    severity: ImpactSeverity
    because: tuple[str, ...]
    owner: str = ""


@dataclass(frozen=True, slots=True)
class ReviewImpact:
    """The impact of several changes; each list has the most severe first.

    Tasks and tests break where they name what goes themselves: those further down are not reached.

    Attributes:
        known, flows: Of so many flows on the ways the columns are known, and how many there are;
            a flow that several changes go over counts for each.
    """

    datasets: tuple[ReviewedDataset, ...] = ()
    tasks: tuple[AffectedTask, ...] = ()
    tests: tuple[AffectedTest, ...] = ()
    consumers: tuple[AffectedConsumer, ...] = ()
    known: int = 0
    flows: int = 0


@dataclass(frozen=True, slots=True)
class ProjectReview:
    """A review.

    Attributes:
        base: The folder or revision that it is compared with.
        impact: None where it is not asked for, as of commits of the past.
    """

    base: str
    nodes: tuple[NodeReview, ...]
    impact: ReviewImpact | None = None
    notices: tuple[str, ...] = ()

    @property
    def verdict(self) -> ReviewVerdict | None:
        """The worst verdict; None without a change."""
        return max((one.verdict for one in self.nodes), default=None)

    def fails(self, limit: ReviewVerdict | None) -> bool:
        """Whether a change that its SQL does not allow reaches a limit."""
        found = (one.verdict for one in self.nodes if not one.allowed)
        return limit is not None and max(found, default=0) >= limit


def review_impact(
    graph: ImpactGraph,
    nodes: Iterable[NodeReview],
    datasets: Mapping[str, DatasetId],
    around: Surroundings,
    now: Mapping[str, TaskVersion] | None = None,
) -> ReviewImpact:
    """The impact of all changes.

    Args:
        datasets: Node id -> its dataset.
        now: Tasks that ran since the base, by what they do now: what they no longer name does not
            break them.
    """
    found: dict[DatasetId, tuple[ImpactSeverity, dict[str, None], str]] = {}
    tasks: dict[str, AffectedTask] = {}
    tests: dict[str, AffectedTest] = {}
    consumers: dict[str, AffectedConsumer] = {}
    known = flows = 0
    for node, impact in _impacts(graph, nodes, datasets, around):
        known, flows = known + impact.known, flows + impact.flows
        for one in impact.datasets:
            severity, because, owner = found.get(one.dataset, (one.severity, {}, one.owner))
            because[node.node_id] = None
            found[one.dataset] = max(severity, one.severity), because, owner
        direct = {
            one
            for one in _readers(graph, impact.change.dataset)
            if not now or _names(now.get(one), impact.change)
        }
        for task in impact.tasks:
            before = tasks.get(task.name)
            worst = max(before.severity, task.severity) if before else task.severity
            breaks = bool(before and before.breaks) or (task.breaks and task.name in direct)
            tasks[task.name] = AffectedTask(task.name, worst, breaks, task.owner)
        for test in impact.tests:
            last = tests.get(test.test.node_id)
            here = test.breaks and test.dataset == impact.change.dataset
            breaks = here or bool(last and last.breaks)
            tests[test.test.node_id] = AffectedTest(test.test, test.dataset, breaks)
        for consumer in impact.consumers:
            other = consumers.get(consumer.consumer.name)
            reads = tuple(sorted({*(other.datasets if other else ()), *consumer.datasets}))
            worst = max(other.severity if other else consumer.severity, consumer.severity)
            here = consumer.consumer.names(impact.change.dataset, impact.change.column)
            breaks = bool(other and other.breaks) or (consumer.breaks and here)
            consumers[consumer.consumer.name] = AffectedConsumer(
                consumer.consumer, worst, reads, breaks
            )
    return ReviewImpact(
        tuple(
            sorted(
                (ReviewedDataset(k, v[0], tuple(v[1]), v[2]) for k, v in found.items()),
                key=lambda one: (-one.severity, one.dataset),
            )
        ),
        tuple(sorted(tasks.values(), key=lambda one: (-one.severity, not one.breaks, one.name))),
        tuple(sorted(tests.values(), key=lambda one: (not one.breaks, one.test.node_id))),
        tuple(sorted(consumers.values(), key=lambda one: (-one.severity, one.consumer.name))),
        known,
        flows,
    )


def _readers(graph: ImpactGraph, dataset: DatasetId) -> set[str]:
    """The tasks that take data from a dataset."""
    flows = graph.flows_from(graph.dataset(dataset))
    return {graph.tasks[graph.flow_task[place]] for place in flows}


def _names(task: TaskVersion | None, change: ProposedChange) -> bool:
    """Whether a task names what is changed, as far as that is known."""
    if task is None:
        return True
    if not change.column:
        return change.dataset in task.reads
    columns = {one.source_column for one in task.columns if one.source == change.dataset}
    return bool(columns & {change.column.casefold(), ANY_COLUMN}) or (
        not columns and change.dataset in task.reads
    )


def _impacts(
    graph: ImpactGraph,
    nodes: Iterable[NodeReview],
    datasets: Mapping[str, DatasetId],
    around: Surroundings,
) -> Iterator[tuple[NodeReview, Impact]]:
    for node in nodes:
        own = [datasets[node.node_id]] if node.node_id in datasets else []
        proposed = {
            ProposedChange(dataset, one.kind, "" if one.kind in OF_DATASETS else one.column): None
            for one in node.changes
            if one.kind
            for dataset in one.datasets or own
        }
        for change in proposed:
            yield node, impact_of(graph, change, around)
