"""DAGs as somebody scheduled them, read from dag-factory's YAML or from Airflow's events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from dbt_graft.lineage.frozen import frozen

TaskKey = tuple[str, str]  # id of the DAG, id of the task with those of its groups


@frozen
class ScheduledTask:
    """A task of a DAG.

    Attributes:
        task_id: With the ids of its groups before it.
        upstream: The ids of the tasks that it waits for.
        groups: Its task groups, the innermost last.
        command: What it runs, where it is known; never printed.
        announces: The URIs of the assets that it writes.
        dataset: The dataset that it waits for, of a sensor on lineage.
        waits_for: Tasks of other DAGs that it waits for, `/end raw` for a task group; with an empty
            task the DAG itself.
        triggers: The DAGs that it starts.
        awaits: Those of them whose end it waits for.
        place: File and line, or the file of the DAG; empty if unknown.
        is_ours: `graft export` wrote it.
    """

    dag_id: str
    task_id: str
    upstream: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    command: str = ""
    announces: tuple[str, ...] = ()
    dataset: str = ""
    waits_for: tuple[TaskKey, ...] = ()
    triggers: tuple[str, ...] = ()
    awaits: tuple[str, ...] = ()
    place: str = ""
    is_ours: bool = False

    @property
    def key(self) -> TaskKey:
        """Its DAG's id and its own."""
        return self.dag_id, self.task_id

    @property
    def label(self) -> str:
        """Its name for people: `shop.load_orders`."""
        return f"{self.dag_id}.{self.task_id}"


@frozen
class ScheduledDag:
    """A DAG.

    Attributes:
        groups: Task group -> the groups and tasks that it waits for, and the group around it.
        schedule: The cron expression, the interval or the timetable that starts it by the clock;
            empty if none does.
        assets: The URIs of the assets that start it, once all of them were written.
        starts_after: Tasks of other DAGs that were seen to start it.
    """

    dag_id: str
    tasks: tuple[ScheduledTask, ...]
    groups: Mapping[str, ScheduledGroup] = field(default_factory=dict)
    schedule: str = ""
    assets: tuple[str, ...] = ()
    starts_after: tuple[TaskKey, ...] = ()


@frozen
class ScheduledGroup:
    """A task group: what it waits for, by ids of tasks and groups, and the group around it."""

    upstream: tuple[str, ...] = ()
    parent: str = ""


@frozen
class ReadDags:
    """DAGs that were read, and what could not be: place -> reason."""

    dags: tuple[ScheduledDag, ...] = ()
    unreadable: Mapping[str, str] = field(default_factory=dict)

    def tasks(self) -> Iterator[ScheduledTask]:
        """All tasks of all DAGs."""
        for dag in self.dags:
            yield from dag.tasks


def schedule_order(dags: tuple[ScheduledDag, ...]) -> Iterator[tuple[TaskKey, TaskKey]]:
    """The order of everything, as edges between tasks and the marks between them.

    Marks are the start and end of a DAG, `("<dag>", "")` and `("<dag>", "/end")`, those of a task
    group, and assets, `("", "<uri>")`.
    """
    for dag in dags:
        start, end = (dag.dag_id, ""), (dag.dag_id, "/end")
        for asset in dag.assets:
            yield ("", asset), start
        for before in dag.starts_after:
            yield before if before[1] else (before[0], "/end"), start
        for name, group in dag.groups.items():
            yield from _around_group(dag, name, group)
        awaited = {task.task_id: task.awaits for task in dag.tasks if task.awaits}
        for task in dag.tasks:
            yield start, task.key
            yield task.key, end
            yield from _around_task(dag, task)
            for upstream in task.upstream:
                # Not to the trigger itself, which comes before that DAG, too.
                yield from (((other, "/end"), task.key) for other in awaited.get(upstream, ()))


def _around_task(dag: ScheduledDag, task: ScheduledTask) -> Iterator[tuple[TaskKey, TaskKey]]:
    for upstream in task.upstream:
        yield _end(dag, upstream), task.key
    for name in task.groups[-1:]:
        yield (dag.dag_id, f"/start {name}"), task.key
        yield task.key, (dag.dag_id, f"/end {name}")
    for uri in task.announces:
        yield task.key, ("", uri)
    for other, task_id in task.waits_for:
        yield (other, task_id or "/end"), task.key
    for other in task.triggers:
        yield task.key, (other, "")


def _around_group(
    dag: ScheduledDag, name: str, group: ScheduledGroup
) -> Iterator[tuple[TaskKey, TaskKey]]:
    start, end = (dag.dag_id, f"/start {name}"), (dag.dag_id, f"/end {name}")
    yield start, end
    if group.parent:
        yield (dag.dag_id, f"/start {group.parent}"), start
        yield end, (dag.dag_id, f"/end {group.parent}")
    for upstream in group.upstream:
        yield _end(dag, upstream), start


def links_between_dags(
    facts: Mapping[str, Any], names: Callable[[Any], Sequence[str]]
) -> tuple[tuple[TaskKey, ...], tuple[str, ...], tuple[str, ...]]:
    """The tasks of other DAGs that a task waits for, the DAGs that it starts, and those it awaits.

    Args:
        facts: The arguments of its operator.
        names: Reads one name, or a list of them.
    """
    waits: list[TaskKey] = []
    external, triggered = facts.get("external_dag_id"), facts.get("trigger_dag_id")
    if isinstance(external, str):
        tasks = names(facts.get("external_task_ids")) or names(facts.get("external_task_id"))
        groups = names(facts.get("external_task_group_id"))
        waits += [(external, f"/end {group}") for group in groups]
        waits += [(external, task) for task in tasks or [""] * (not groups)]
    triggers = (triggered,) if isinstance(triggered, str) else ()
    return tuple(waits), triggers, triggers if facts.get("wait_for_completion") is True else ()


def upstream_by_rule(upstream: tuple[str, ...], trigger_rule: object) -> tuple[str, ...]:
    """The tasks that another waits for in any case, by its trigger rule."""
    rule = str(trigger_rule).rpartition(".")[2].casefold()
    any_is_enough = rule.startswith("one_") and len(upstream) > 1
    return () if any_is_enough or rule in ("always", "dummy") else upstream


def _end(dag: ScheduledDag, name: str) -> TaskKey:
    return (dag.dag_id, f"/end {name}" if name in dag.groups else name)
