"""The tasks of lineage, or nodes of dbt, that a task of Airflow runs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from dbt_graft.exporters.dag_factory.check.scheduled import ScheduledTask, TaskKey
from dbt_graft.exporters.dag_factory.identifiers import identifier, with_digest
from dbt_graft.exporters.dag_factory.order import DemandedOrder

# Names that cosmos and people give to what a task does with a model.
_SUFFIX = re.compile(r"[._](run|build|seed|snapshot)$")
_PATTERN = re.compile(r"[*?\[]")
_SELECT, _EXCLUDE = frozenset(("--select", "-s", "--models", "--model", "-m")), {"--exclude"}
# A selector of YAML: what it selects no command says.
_SELECTOR = re.compile(r"--selector\b")
_QUOTES = str.maketrans("\"'\\", "   ")
# A command of dbt that builds. Scripts around dbt have it in their names: `run_dbt.py build`.
_BUILD = re.compile(
    r"dbt\S*[\"']?\s(?:.*?\s)??[\"']?(?P<verb>run|build|seed|snapshot)(?![\w-])", re.DOTALL
)
# All that a command builds is of this kind; of `build` it is of any.
_BUILT = {"run": "model", "seed": "seed", "snapshot": "snapshot"}
_NEXT_COMMAND = re.compile(r"&&|\|\||;|(?<!\\)\n")
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
        """The nodes that commands of dbt build, sorted; None where they do not say."""
        nodes: set[str] = set()
        builds = [part for part in _NEXT_COMMAND.split(command) if _BUILD.search(part)]
        try:
            for build in builds:
                nodes |= self._built_nodes(build)
        except ValueError:
            return None
        return tuple(sorted(nodes)) if builds else None

    def _built_nodes(self, command: str) -> set[str]:
        build = _BUILD.search(command)
        options = command[build.end() :] if build else ""
        selected, excluded = _words_after(options, _SELECT), _words_after(options, _EXCLUDE)
        if not build or _SELECTOR.search(command) or _FILLED_IN.search(selected + excluded):
            raise ValueError("what it selects the command does not say")
        kind = _BUILT.get(build["verb"])
        node_ids = self.select(selected, excluded)
        nodes = (self.order.nodes[name] for name in node_ids if name in self.order.nodes)
        return {node.name for node in nodes if kind in (None, node.resource)}


def _words_after(command: str, names: Collection[str]) -> str:
    """The words behind options of these names, up to the next one."""
    words: list[str] = []
    is_wanted = False
    for word in command.translate(_QUOTES).split():
        if word.startswith("-"):
            name, _, word = word.partition("=")
            is_wanted = name in names
        if is_wanted and word:
            words.append(word)
    return " ".join(words)


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
