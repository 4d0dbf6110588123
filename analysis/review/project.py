"""The review of a project: its changed nodes, and the impact of all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dbt_graft.analysis.impact.affected import (
    Affected,
    AffectedConsumer,
    AffectedTask,
    AffectedTest,
    Impact,
    ProposedChange,
)
from dbt_graft.analysis.impact.answer import Surroundings
from dbt_graft.analysis.impact.answer import impact as impact_of
from dbt_graft.analysis.impact.change import OF_DATASETS, ImpactSeverity
from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.analysis.review.node_change import NodeReview
from dbt_graft.analysis.review.task_version import TaskVersion
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import ANY_COLUMN


@frozen
class ReviewedDataset:
    """A dataset downstream; `because` has the changed nodes that reach it."""

    dataset: DatasetId
    severity: ImpactSeverity
    because: tuple[str, ...]
    owner: str = ""


@frozen(kw_only=True)
class ReviewImpact(Affected):
    """The impact of several changes; a flow that several of them go over counts for each.

    Tasks and tests break where they name what goes themselves: those further down are not reached.
    """

    datasets: tuple[ReviewedDataset, ...] = ()


@frozen
class ProjectReview:
    """A review.

    Attributes:
        base: The folder or revision that it is compared with.
    """

    base: str
    nodes: tuple[NodeReview, ...]
    impact: ReviewImpact
    notices: tuple[str, ...] = ()


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
    by_dataset: dict[DatasetId, tuple[ImpactSeverity, dict[str, None], str]] = {}
    tasks: dict[str, AffectedTask] = {}
    tests: dict[str, AffectedTest] = {}
    consumers: dict[str, AffectedConsumer] = {}
    known_flows = flows = 0
    for node, impact in _impacts(graph, nodes, datasets, around):
        known_flows, flows = known_flows + impact.known, flows + impact.flows
        for affected in impact.datasets:
            severity, because, owner = by_dataset.get(
                affected.dataset, (affected.severity, {}, affected.owner)
            )
            because[node.node_id] = None
            by_dataset[affected.dataset] = max(severity, affected.severity), because, owner
        direct = {
            task
            for task in _readers(graph, impact.change.dataset)
            if not now or _names(now.get(task), impact.change)
        }
        for task in impact.tasks:
            before = tasks.get(task.name)
            worst = max(before.severity, task.severity) if before else task.severity
            breaks = bool(before and before.breaks) or (task.breaks and task.name in direct)
            unknown = task.unknown_columns and (not before or before.unknown_columns)
            tasks[task.name] = AffectedTask(
                task.name, worst, breaks, task.owner, unknown_columns=unknown
            )
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
            unknown = consumer.unknown_columns and (not other or other.unknown_columns)
            consumers[consumer.consumer.name] = AffectedConsumer(
                consumer.consumer, worst, reads, breaks, unknown
            )
    return ReviewImpact(
        datasets=tuple(
            sorted(
                (ReviewedDataset(k, v[0], tuple(v[1]), v[2]) for k, v in by_dataset.items()),
                key=lambda reviewed: (-reviewed.severity, reviewed.dataset),
            )
        ),
        tasks=tuple(
            sorted(tasks.values(), key=lambda task: (-task.severity, not task.breaks, task.name))
        ),
        tests=tuple(sorted(tests.values(), key=lambda test: (not test.breaks, test.test.node_id))),
        consumers=tuple(
            sorted(
                consumers.values(),
                key=lambda consumer: (-consumer.severity, consumer.consumer.name),
            )
        ),
        known=known_flows,
        flows=flows,
        open_tasks=around.open_tasks,
    )


def _readers(graph: ImpactGraph, dataset: DatasetId) -> set[str]:
    """The tasks that take data from a dataset."""
    flows = graph.flows_from(graph.dataset(dataset))
    return {graph.tasks[graph.flow_task[flow]] for flow in flows}


def _names(task: TaskVersion | None, change: ProposedChange) -> bool:
    """Whether a task names what is changed, as far as that is known."""
    if task is None:
        return True
    if not change.column:
        return change.dataset in task.reads
    columns = {fact.source_column for fact in task.columns if fact.source == change.dataset}
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
        node_datasets = [datasets[node.node_id]] if node.node_id in datasets else []
        proposed = {
            ProposedChange(
                dataset, change.kind, "" if change.kind in OF_DATASETS else change.column
            ): None
            for change in node.changes
            if change.kind
            for dataset in change.datasets or node_datasets
        }
        for change in proposed:
            yield node, impact_of(graph, change, around)
