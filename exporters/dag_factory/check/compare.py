"""Findings: where DAGs run tasks in another order than lineage demands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from dbt_graft.analysis.finding import Finding
from dbt_graft.analysis.rule import (
    DAG_BEFORE_WRITER,
    DAG_BY_CLOCK,
    DAG_CYCLE,
    DAG_NEEDLESS_WAIT,
    DAG_NOT_AFTER_WRITER,
    DAG_TASK_GONE,
    DAG_WITHOUT_TASK,
    Rule,
)
from dbt_graft.exporters.dag_factory.check.matching import TaskMatcher
from dbt_graft.exporters.dag_factory.check.scheduled import (
    ScheduledDag,
    ScheduledTask,
    TaskKey,
    schedule_order,
)
from dbt_graft.exporters.dag_factory.identifiers import identifier
from dbt_graft.exporters.dag_factory.order import DemandedOrder, Reach
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.graph import Graph
from dbt_graft.lineage.grouping import group_by_key

# The worst first.
_RULES = (
    DAG_BEFORE_WRITER,
    DAG_NOT_AFTER_WRITER,
    DAG_BY_CLOCK,
    DAG_CYCLE,
    DAG_WITHOUT_TASK,
    DAG_TASK_GONE,
    DAG_NEEDLESS_WAIT,
)
_REMEDY = "let it wait for its writer, or name the edge in `airflow: {ignore: …}` in graft.yml"


def compare(
    order: DemandedOrder,
    dags: Sequence[ScheduledDag],
    matcher: TaskMatcher,
    open_tasks: Collection[str] = (),
) -> list[Finding]:
    """All findings, those first where data may be read before it was written, each once.

    Args:
        open_tasks: The tasks that may read or write more than is known: nobody knows that a wait of
            one of them, or for it, is needless.
    """
    runs = {task.key: matcher.nodes(task) for dag in dags for task in dag.tasks}
    tasks = {task.key: task for dag in dags for task in dag.tasks}
    tasks_by_node = group_by_key(
        (node, tasks[key]) for key, nodes in runs.items() for node in nodes
    )
    edges = [*schedule_order(tuple(dags)), *_sensor_edges(order, tasks.values(), tasks_by_node)]
    reach = Reach(Graph(edges, tasks))
    schedules = {dag.dag_id: dag.schedule for dag in dags}
    demanded = Reach(Graph(order.edges, order.nodes))
    findings = {
        *_misplaced_tasks(order, tasks_by_node, reach, demanded, schedules),
        *_missing_tasks(order, tasks_by_node),
        *_gone_tasks(tasks.values(), runs, matcher),
        *_unknown_names(matcher),
        *_superfluous_edges(tasks, runs, demanded, open_tasks),
    }
    ranks = [rule.code for rule in _RULES]
    return sorted(
        findings,
        key=lambda finding: (
            ranks.index(finding.code),
            finding.subject,
            finding.path,
            finding.place,
        ),
    )


def _misplaced_tasks(
    order: DemandedOrder,
    tasks_by_node: Mapping[str, Sequence[ScheduledTask]],
    reach: Reach,
    demanded: Reach,
    schedules: Mapping[str, str],
) -> Iterator[Finding]:
    """Tasks that do not wait for those that write what they read."""
    faults: dict[tuple[TaskKey, TaskKey], tuple[Rule, set[DatasetId]]] = {}
    by_key: dict[TaskKey, ScheduledTask] = {}
    for (writer, reader), datasets in order.edges.items():
        writers = tasks_by_node.get(writer, ())
        for task in tasks_by_node.get(reader, ()) if writers else ():
            if any(
                producer.key == task.key or reach.precedes(producer.key, task.key)
                for producer in writers
            ):
                continue
            nearest = [
                producer for producer in writers if producer.dag_id == task.dag_id
            ] or sorted(writers, key=lambda producer: not schedules.get(producer.dag_id))
            rule = _fault(task, nearest, reach, schedules)
            if rule is DAG_BEFORE_WRITER and demanded.precedes(reader, writer):
                rule = DAG_CYCLE  # no order is right
            by_key |= {task.key: task, nearest[0].key: nearest[0]}
            faults.setdefault((task.key, nearest[0].key), (rule, set()))[1].update(datasets)
    for (key, other_key), (rule, dataset_ids) in faults.items():
        task, other = by_key[key], by_key[other_key]
        names = ", ".join(map(str, sorted(dataset_ids)))
        yield rule.finding(
            task.label,
            _text(rule, task, other, schedules),
            _REMEDY,
            place=task.place,
            path=(other.label, names, task.label),
        )


def _fault(
    task: ScheduledTask,
    writers: Sequence[ScheduledTask],
    reach: Reach,
    schedules: Mapping[str, str],
) -> Rule:
    if any(reach.precedes(task.key, writer.key) for writer in writers):
        return DAG_BEFORE_WRITER
    in_other_dags = all(writer.dag_id != task.dag_id for writer in writers)
    if (
        in_other_dags
        and schedules.get(task.dag_id)
        and any(schedules.get(writer.dag_id) for writer in writers)
    ):
        return DAG_BY_CLOCK
    return DAG_NOT_AFTER_WRITER


def _text(
    rule: Rule, task: ScheduledTask, writer: ScheduledTask, schedules: Mapping[str, str]
) -> str:
    other = writer.task_id if task.dag_id == writer.dag_id else writer.label
    if rule is DAG_BEFORE_WRITER:
        return f"runs before {other}, its writer"
    if rule is DAG_CYCLE:
        return f"runs before {other}, its writer, which needs its data: a cycle"
    if rule is DAG_BY_CLOCK:
        clocks = f"{schedules[task.dag_id]} after {schedules[writer.dag_id]}"
        return f"comes after {other}, its writer, only by the clock: {clocks}"
    return f"does not wait for {other}, its writer"


def _sensor_edges(
    order: DemandedOrder,
    tasks: Iterable[ScheduledTask],
    tasks_by_node: Mapping[str, Sequence[ScheduledTask]],
) -> Iterator[tuple[TaskKey, TaskKey]]:
    """The edges from the writers of datasets to the sensors that wait for these."""
    writers: dict[str, list[str]] = defaultdict(list)
    for node in order.nodes.values():
        for dataset in node.writes:
            full = {str(dataset), dataset.short}
            # Events may have no more than the sensor's id.
            for spelling in {
                *full,
                dataset.name,
                *(identifier(f"wait_for_{title}") for title in full),
            }:
                writers[spelling.casefold()].append(node.name)
    for task in tasks:
        for name in writers.get(task.dataset.casefold(), ()) if task.dataset else ():
            for writer in tasks_by_node.get(name, ()):
                yield writer.key, task.key


def _missing_tasks(
    order: DemandedOrder, tasks_by_node: Mapping[str, Sequence[ScheduledTask]]
) -> Iterator[Finding]:
    for name in order.nodes:
        if name not in tasks_by_node:
            yield DAG_WITHOUT_TASK.finding(name, "no DAG runs it")


def _gone_tasks(
    tasks: Iterable[ScheduledTask], runs: Mapping[TaskKey, Sequence[str]], matcher: TaskMatcher
) -> Iterator[Finding]:
    for task in tasks:
        is_exported = task.dataset or runs[task.key] or task.key in matcher.exported
        if task.is_ours and not is_exported:
            text = "is no longer in the lineage"
            yield DAG_TASK_GONE.finding(task.label, text, place=task.place)


def _unknown_names(matcher: TaskMatcher) -> Iterator[Finding]:
    for name, wanted in matcher.known_as.items():
        if not matcher.find_nodes(wanted):
            text = f"`known_as` has {wanted} for it, which is not in the lineage"
            yield DAG_TASK_GONE.finding(name, text)


def _superfluous_edges(
    tasks: Mapping[TaskKey, ScheduledTask],
    runs: Mapping[TaskKey, Sequence[str]],
    demanded: Reach,
    open_tasks: Collection[str],
) -> Iterator[Finding]:
    """Dependencies for which lineage knows no reason, not even by other tasks in between."""
    for task in tasks.values():
        for upstream in task.upstream:
            other = tasks.get((task.dag_id, upstream))
            if not other or not runs[other.key] or not runs[task.key]:
                continue
            pairs = [(a, b) for a in runs[other.key] for b in runs[task.key]]
            if any(node in open_tasks for pair in pairs for node in pair):
                continue
            if not any(a == b or demanded.precedes(a, b) for a, b in pairs):
                text = f"waits for {other.task_id}, of which it reads nothing"
                yield DAG_NEEDLESS_WAIT.finding(task.label, text, place=task.place)
