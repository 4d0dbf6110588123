"""From the order that lineage demands to a plan of DAGs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.markdown import code, one_line
from dbt_graft.exporters.dag_factory.grouping import Crossing, crossing, dags_of, task_group_of
from dbt_graft.exporters.dag_factory.identifiers import GROUP_LENGTH, unique_identifiers
from dbt_graft.exporters.dag_factory.operators import (
    SENSOR,
    AirflowOperator,
    command_of,
    operator_of,
    selections,
)
from dbt_graft.exporters.dag_factory.order import DemandedOrder, Edge, reduce_edges
from dbt_graft.exporters.dag_factory.plan import DagPlan, PlannedDag, PlannedTask
from dbt_graft.exporters.dag_factory.settings import DagSettings, DbtTasks, TaskCommand, is_schedule
from dbt_graft.exporters.dag_factory.templates import without_jinja
from dbt_graft.exporters.dag_factory.units import UnitOrder, WorkUnit, tags_of, task_doc, units
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.graph import Graph
from dbt_graft.lineage.grouping import group_by_key

_UNKNOWN = "nothing in graft.yml says how it runs"
_ADD_A_COMMAND = "add an entry below `airflow.commands`: a `command`, or `external: true`"


def wanted_order(order: DemandedOrder, settings: DagSettings) -> DemandedOrder:
    """The order of what the DAGs run: without excluded nodes and ignored edges."""

    def is_ignored(edge: Edge) -> bool:
        names = [(node.name, node.label) for node in map(order.nodes.__getitem__, edge)]
        return any(
            all(
                any(fnmatchcase(name, pattern) for name in pair)
                for pair, pattern in zip(names, (ignored.writer, ignored.reader), strict=True)
            )
            for ignored in settings.ignore
        )

    return order.without(
        lambda node: settings.excludes(node) or not (node.reads or node.writes or node.is_dbt),
        is_ignored,
    )


def plan_dags(order: DemandedOrder, settings: DagSettings, site_url: str = "") -> DagPlan:
    """The DAGs that run all tasks in the order that lineage demands.

    Tasks of a cycle are left out, and so is what comes after them: no order has each writer before
    its readers. The same goes for DAGs that would wait for each other.

    Args:
        site_url: The address of the catalog; empty without links.
    """
    wanted = wanted_order(order, settings)
    left_out = {
        name: "excluded" if settings.excludes(node) else "moved no data"
        for name, node in order.nodes.items()
        if name not in wanted.nodes
    }
    graph = Graph(wanted.edges, wanted.nodes)
    cycles = [_cycle(wanted, path) for path in graph.cycles()]
    cut = _knots(graph, "is in a cycle", "comes after a cycle")
    draft = _draft(_without(wanted, cut), settings, site_url)
    dag_cycles, waiting = draft.waiting_dags()
    if waiting:
        draft = _draft(_without(draft.order, waiting), settings, site_url)
    operators, wrong = draft.operators()
    wrong += draft.wrong_schedules()
    return DagPlan(
        () if wrong else tuple(draft.dags(operators)),
        tuple(
            sorted([*cycles, *dag_cycles, *wrong], key=lambda fault: (fault.code, fault.subject))
        ),
        left_out | cut | waiting,
    )


def _knots(graph: Graph[str], inside: str, after: str) -> dict[str, str]:
    """The nodes of cycles, and all that come after them, each with its reason."""
    knots = [part for part in graph.parts() if len(part) > 1]
    later = {name for part in knots for name in graph.downstream(part[0])}
    in_knots = {name for part in knots for name in part}
    return dict.fromkeys(later, after) | dict.fromkeys(in_knots, inside)


def _without(order: DemandedOrder, names: Mapping[str, str]) -> DemandedOrder:
    return order.without(lambda node: node.name in names, lambda edge: False)


def _draft(order: DemandedOrder, settings: DagSettings, site_url: str) -> _Draft:
    unit_order = units(order, by_level=settings.dbt is DbtTasks.LEVELS)
    return _Draft(order, unit_order, settings, site_url)


def _cycle(order: DemandedOrder, path: Sequence[str]) -> Finding:
    steps = list(zip(path, [*path[1:], path[0]], strict=True))
    reasons = "; ".join(
        f"{writer} writes {', '.join(map(str, order.edges[writer, reader]))}, which {reader} reads"
        for writer, reader in steps
    )
    return _problem(
        "TASK_CYCLE",
        " -> ".join([*path, path[0]]),
        f"no order has each writer before its readers: {reasons}",
        f"if {path[0]} is to read what an earlier run left, add "
        f"{{writer: {path[-1]}, reader: {path[0]}}} to `airflow.ignore`",
    )


def _problem(code: str, subject: str, problem: str, remedy: str) -> Finding:
    return Finding(code, Severity.ERROR, subject, problem, remedy)


@dataclass(frozen=True)
class _Draft:
    """Units in their DAGs, with the order between them reduced."""

    order: DemandedOrder
    unit_order: UnitOrder
    settings: DagSettings
    site_url: str

    @cached_property
    def commands(self) -> dict[str, TaskCommand | None]:
        """Unit -> the entry that says how it runs."""
        return {
            name: command_of(unit, self.settings) for name, unit in self.unit_order.units.items()
        }

    @cached_property
    def inside(self) -> dict[str, WorkUnit]:
        """The units that have a place in a DAG: not those that run elsewhere and are waited for."""
        return {
            name: unit
            for name, unit in self.unit_order.units.items()
            if not ((command := self.commands[name]) and command.external == "wait")
        }

    @cached_property
    def edges(self) -> list[Edge]:
        """The direct edges between the units inside, and all from those that are waited for.

        What runs elsewhere keeps no order of ours, so that no edge is superfluous because of it.
        """
        inside = self.inside
        inner = [(a, b) for a, b in self.unit_order.edges if a in inside and b in inside]
        awaited = [(a, b) for a, b in self.unit_order.edges if a not in inside and b in inside]
        return [*reduce_edges(inside, inner), *awaited]

    @cached_property
    def dags_and_schedules(self) -> tuple[dict[str, str], dict[str, str]]:
        """Unit -> DAG, and DAG -> schedule."""
        inner = [(a, b) for a, b in self.edges if a in self.inside]
        return dags_of(self.inside, inner, self.settings)

    @cached_property
    def groups(self) -> dict[str, str]:
        """Unit -> the name of its task group, if it has one."""
        task_groups = {
            name: task_group_of(unit, self.settings) for name, unit in self.inside.items()
        }
        return {name: group for name, group in task_groups.items() if group}

    @cached_property
    def ids(self) -> dict[str, str]:
        """Unit -> the id of its task; no two alike, in whatever DAGs."""
        # A model and a task may have one title, two packages a model of one name.
        first: dict[str, str] = {}
        for name, unit in sorted(self.inside.items(), key=lambda item: item[0] != item[1].title):
            first.setdefault(unit.title, name)
        names = {
            name: unit.title if first[unit.title] == name else name
            for name, unit in self.inside.items()
        }
        ids = unique_identifiers(names.values(), self.group_ids.values())
        return {name: ids[title] for name, title in names.items()}

    @cached_property
    def group_ids(self) -> dict[str, str]:
        """The name of a task group -> its id, which stands before the ids of its tasks."""
        return unique_identifiers(set(self.groups.values()), longest=GROUP_LENGTH)

    @cached_property
    def crossing(self) -> Crossing:
        """The assets and sensors between the DAGs."""
        return crossing(
            self.unit_order, self.edges, self.dags_and_schedules[0], self.ids, self.settings.wait
        )

    def operators(self) -> tuple[dict[str, AirflowOperator], list[Finding]]:
        """Unit -> its operator, and what is wrong with commands."""
        selection = selections(self.order)
        operators: dict[str, AirflowOperator] = {}
        problems = []
        for name, unit in self.unit_order.units.items():
            command = self.commands[name]
            if command is None:
                problems.append(_problem("UNKNOWN_COMMAND", name, _UNKNOWN, _ADD_A_COMMAND))
            elif name in self.ids:
                try:
                    operators[name] = operator_of(
                        unit, command, self.settings, selection, self.ids[name]
                    )
                except GraftError as error:
                    prefix = f"{error.place}: " if error.place else ""
                    problem = f"{prefix}{error.problem}"
                    problems.append(_problem("WRONG_COMMAND", name, problem, error.remedy))
        return operators, problems

    def wrong_schedules(self) -> Iterator[Finding]:
        """The schedules that are none."""
        for schedule in sorted({*self.dags_and_schedules[1].values()}):
            if schedule and not is_schedule(schedule):
                yield _problem(
                    "WRONG_SCHEDULE",
                    schedule,
                    "is neither a cron expression nor a preset of Airflow",
                    "correct it below `tasks`, or group DAGs otherwise (`airflow.dags`)",
                )

    def waiting_dags(self) -> tuple[list[Finding], dict[str, str]]:
        """The cycles between DAGs; and the nodes of DAGs that would never start, with reasons."""
        graph = Graph(self.crossing.dag_edges)
        cycles = [
            _problem(
                "DAG_CYCLE",
                " -> ".join([*path, path[0]]),
                "each of these DAGs would wait for another one to end, and none would start",
                "group tasks otherwise (`airflow.dags`), or write `wait: sensor`",
            )
            for path in graph.cycles()
        ]
        dags = _knots(graph, "its DAG is in a cycle", "its DAG comes after a cycle")
        return cycles, {
            node.name: dags[dag_id]
            for unit_name, dag_id in self.dags_and_schedules[0].items()
            if dag_id in dags
            for node in self.unit_order.units[unit_name].nodes
        }

    def dags(self, operators: Mapping[str, AirflowOperator]) -> Iterator[PlannedDag]:
        """The DAGs, sorted by id."""
        dag_of, schedules = self.dags_and_schedules
        members = group_by_key((dag_id, name) for name, dag_id in dag_of.items())
        inner = group_by_key(
            (dag_of[a], (self.ids[a], self.ids[b]))
            for a, b in self.edges
            if dag_of.get(a, "") == dag_of.get(b)
        )
        for dag_id in sorted(members):
            sensors = self.crossing.sensors.get(dag_id, {})
            sensed = self.crossing.sensed.get(dag_id, ())
            tasks = [self._task(name, operators[name]) for name in members[dag_id]]
            tasks += [self._sensor(dataset, task_id) for dataset, task_id in sensors.items()]
            edges = [(sensors[dataset], self.ids[reader]) for dataset, reader in sensed]
            nodes = [node for name in members[dag_id] for node in self.unit_order.units[name].nodes]
            groups = {self.groups[name] for name in members[dag_id] if name in self.groups}
            yield PlannedDag(
                dag_id,
                tuple(_with_dependencies(tasks, [*inner.get(dag_id, ()), *edges])),
                {self.group_ids[group]: one_line(group) for group in sorted(groups)},
                schedules[dag_id],
                tuple(sorted(self.crossing.waits_for.get(dag_id, ()))),
                tags_of((*self.settings.tags, *(t for node in nodes for t in node.info.tags))),
                f"{len(nodes):,} tasks and dbt nodes in the order of their lineage",
            )

    def _task(self, name: str, operator: AirflowOperator) -> PlannedTask:
        unit, command = self.unit_order.units[name], self.commands[name]
        writes = {dataset for node in unit.nodes for dataset in node.writes}
        reads = {dataset for node in unit.nodes for dataset in node.reads} - writes
        owners = {node.info.owner for node in unit.nodes}
        # What Airflow does not run, it must not report as done.
        marked = command is not None and command.external is True
        return PlannedTask(
            self.ids[name],
            tuple(node.name for node in unit.nodes),
            operator.path,
            operator.arguments,
            self.group_ids[self.groups[name]] if name in self.groups else "",
            reads=() if marked else tuple(sorted(reads)),
            writes=() if marked else tuple(sorted(writes)),
            announces=tuple(sorted(self.crossing.announces.get(name, ()))),
            owner=one_line(owners.pop()) if len(owners) == 1 else "",
            doc=task_doc(unit.nodes, self.site_url, marked=marked),
        )

    def _sensor(self, dataset: DatasetId, task_id: str) -> PlannedTask:
        arguments = {"dataset": without_jinja(str(dataset)), **self.settings.sensor}
        doc = f"Waits until {code(str(dataset))} was written for this data interval."
        return PlannedTask(task_id, (), SENSOR, arguments, doc=doc)


def _with_dependencies(tasks: Iterable[PlannedTask], edges: Iterable[Edge]) -> list[PlannedTask]:
    """Tasks with their dependencies, in processing order."""
    by_id = {task.task_id: task for task in tasks}
    graph = Graph(edges, by_id)
    return [
        replace(by_id[task_id], dependencies=tuple(graph.parents(task_id)))
        for level in graph.levels()
        for task_id in level
    ]
