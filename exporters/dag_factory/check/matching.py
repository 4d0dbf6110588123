"""The tasks of lineage, or nodes of dbt, that a task of Airflow runs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from dbt_graft.exporters.dag_factory.check.scheduled import ScheduledTask, TaskKey
from dbt_graft.exporters.dag_factory.identifiers import identifier, with_digest
from dbt_graft.exporters.dag_factory.order import DemandedOrder, OrderedNode

# Names that cosmos and people give to what a task does with a model.
_SUFFIX = re.compile(r"[._](run|build|seed|snapshot)$")
_PATTERN = re.compile(r"[*?\[]")
_NAMES = r"[\"']?(?P<names>[^\s\"';&|]+(?: +(?!-)[^\s\"';&|]+)*)"
_SELECTION = re.compile(rf"(?:--select|--models?|-s|-m)[ =]+{_NAMES}")
# A selector of YAML: what it selects no command says.
_SELECTOR = re.compile(r"--selector\b")
_EXCLUSION = re.compile(rf"--exclude[ =]+{_NAMES}")
# A build of everything. Scripts around dbt have it in their names: `run_dbt.py build`.
_BUILD = re.compile(r"dbt\S*[\"']?\s(?:.*\s)?[\"']?(?P<verb>run|build)(?![\w-])")
# Jinja or a variable of the shell.
_FILLED_IN = re.compile(r"[{}$`]")
# `--select` and `--exclude` of a command of dbt, each empty where it has none -> the unique_ids; a
# ValueError where that cannot be said.
Select = Callable[[str, str], Collection[str]]


@dataclass(frozen=True)
class TaskMatcher:
    """Finds the nodes of an order that a task of Airflow runs.

    Attributes:
        known_as: `<dag>.<task>` or `<task>` -> the name in lineage, see `named`.
        exported: The nodes of the tasks that an export of today would write.
        select: The nodes that a command of dbt selects.
    """

    order: DemandedOrder
    known_as: Mapping[str, str]
    exported: Mapping[TaskKey, tuple[str, ...]]
    select: Select
    _by_id: Mapping[str, tuple[str, ...]]
    _by_label: Mapping[str, tuple[str, ...]]

    def nodes(self, task: ScheduledTask) -> tuple[str, ...]:
        """The nodes that a task runs, sorted; none if it is not known.

        By `known_as`, else by the selection in a command of dbt, else by the task's id.
        """
        for name in (task.label, task.task_id):
            if wanted := self.known_as.get(name):
                return self.find_nodes(wanted)
        selected = self._selected_nodes(task.command)
        if selected is not None:
            return selected
        ids = [task.task_id.rpartition(".")[2]]
        for task_id in (task.task_id, _SUFFIX.sub("", task.task_id)):
            ids += [task_id, task_id.rpartition(".")[2]]
        for candidate in ids:
            if nodes := self._by_id.get(candidate.casefold()):
                return nodes
        return self.exported.get(task.key, ()) if task.is_ours else ()

    def find_nodes(self, pattern: str) -> tuple[str, ...]:
        """The nodes of a name, or of a pattern: a task's, dbt's unique_id, that of a dbt node."""
        if pattern in self.order.nodes:
            return (pattern,)
        if not _PATTERN.search(pattern):
            return self._by_label.get(pattern, ())
        return tuple(
            node.name
            for node in self.order.nodes.values()
            if fnmatchcase(node.name, pattern) or fnmatchcase(node.label, pattern)
        )

    def _selected_nodes(self, command: str) -> tuple[str, ...] | None:
        """The nodes that a command of dbt builds, sorted; None where the command does not say."""
        build = _BUILD.search(command)
        if not build or _SELECTOR.search(command):
            return None
        selected, excluded = (
            " ".join(match["names"] for match in option.finditer(command))
            for option in (_SELECTION, _EXCLUSION)
        )
        if _FILLED_IN.search(selected + excluded):
            return None
        try:
            node_ids = self.select(selected, excluded)
        except ValueError:
            return None
        nodes = (self.order.nodes[name] for name in node_ids if name in self.order.nodes)
        return tuple(
            sorted(node.name for node in nodes if build["verb"] == "build" or _is_run(node))
        )


def _is_run(node: OrderedNode) -> bool:
    """Whether `dbt run` builds it."""
    return node.resource == "model"


def _without_project(selected: str, excluded: str) -> Collection[str]:
    raise ValueError("there is no dbt project")


def task_matcher(
    order: DemandedOrder,
    known_as: Mapping[str, str],
    exported: Mapping[TaskKey, tuple[str, ...]] | None = None,
    select: Select = _without_project,
) -> TaskMatcher:
    """The matcher of an order's nodes; see `TaskMatcher` for its arguments."""
    by_id: dict[str, list[str]] = defaultdict(list)
    by_label: dict[str, list[str]] = defaultdict(list)
    # A task's own name comes before that of a model.
    for node in sorted(order.nodes.values(), key=lambda node: node.is_dbt):
        by_label[node.label].append(node.name)
        titles = [node.label, node.name] + ([f"dbt_{node.label}"] if node.is_dbt else [])
        for title in titles:
            for name in {identifier(title), with_digest(title), title}:
                names = by_id[name.casefold()]
                if not names or order.nodes[names[0]].is_dbt == node.is_dbt:
                    names.append(node.name)
    return TaskMatcher(
        order,
        known_as,
        exported or {},
        select,
        {name: tuple(sorted(set(names))) for name, names in by_id.items()},
        {name: tuple(names) for name, names in by_label.items()},
    )
