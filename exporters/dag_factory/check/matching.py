"""The tasks of lineage, or nodes of dbt, that a task of Airflow runs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from dbt_graft.exporters.dag_factory.check.scheduled import ScheduledTask, TaskKey
from dbt_graft.exporters.dag_factory.identifiers import identifier, with_digest
from dbt_graft.exporters.dag_factory.order import DemandedOrder
from dbt_graft.lineage.graph import Graph

# Names that cosmos and people give to what a task does with a model.
_SUFFIX = re.compile(r"[._](run|build|seed|snapshot)$")
_PATTERN = re.compile(r"[*?\[]")
_NAMES = r"[\"']?(?P<names>[^\s\"';&|]+(?: +(?!-)[^\s\"';&|]+)*)"
_SELECTION = re.compile(rf"(?:--select|--models?|-s|-m)[ =]+{_NAMES}")
# A selector of YAML: what it selects no command says.
_SELECTOR = re.compile(r"--selector\b")
_EXCLUSION = re.compile(rf"--exclude[ =]+{_NAMES}")
# A build of everything. Scripts around dbt have it in their names: `run_dbt.py build`.
_BUILD = re.compile(r"dbt\S*[\"']?\s(?:.*\s)?[\"']?(?:run|build)\b")
_WORD = re.compile(r"(?P<up>\+?)(?:(?P<method>tag|package):)?(?P<name>[\w.*?]+)(?P<down>\+?)")


@dataclass(frozen=True)
class TaskMatcher:
    """Finds the nodes of an order that a task of Airflow runs.

    Attributes:
        known_as: `<dag>.<task>` or `<task>` -> the name in lineage, see `named`.
        exported: The nodes of the tasks that an export of today would write.
    """

    order: DemandedOrder
    known_as: Mapping[str, str]
    exported: Mapping[TaskKey, tuple[str, ...]]
    _by_id: Mapping[str, tuple[str, ...]]
    _by_label: Mapping[str, tuple[str, ...]]
    _dbt: Graph[str]

    def nodes(self, task: ScheduledTask) -> tuple[str, ...]:
        """The nodes that a task runs, sorted; none if it is not known.

        By `known_as`, else by the selection in a command of dbt, else by the task's id.
        """
        for name in (task.label, task.task_id):
            if wanted := self.known_as.get(name):
                return self.find_nodes(wanted)
        if selected := self._selected_nodes(task.command):
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

    def _selected_nodes(self, command: str) -> tuple[str, ...]:
        """The nodes that a command of dbt builds, sorted; none of any other command."""
        if not _BUILD.search(command) or _SELECTOR.search(command):
            return ()
        selected_words = [
            word for match in _SELECTION.finditer(command) for word in match["names"].split()
        ]
        excluded_words = [
            word for match in _EXCLUSION.finditer(command) for word in match["names"].split()
        ]
        nodes = set(self._dbt.nodes)
        if selected_words:
            nodes = self._union(selected_words)
        return tuple(sorted(nodes - self._union(excluded_words)))

    def _union(self, words: Iterable[str]) -> set[str]:
        """The nodes of words of a selection; those with commas between them must all fit."""
        parts = ([set(self._word_nodes(part)) for part in word.split(",")] for word in words)
        return {node for sets in parts for node in set.intersection(*sets)}

    def _word_nodes(self, word: str) -> Iterator[str]:
        """The nodes of one word of a selection: `orders`, `stg_*`, `+orders`, `tag:daily`."""
        selector = _WORD.fullmatch(word)
        if not selector:
            return
        name = selector["name"]
        if selector["method"] == "tag":
            tagged = (node for node in self.order.nodes.values() if name in node.info.tags)
            nodes = tuple(node.name for node in tagged)
        elif selector["method"]:
            nodes = tuple(node for node in self._dbt.nodes if node.split(".")[1:2] == [name])
        else:
            nodes = self.find_nodes(name) or self.find_nodes(name.rpartition(".")[2])
        for node in nodes:
            if self.order.nodes[node].is_dbt:
                yield node
                if selector["up"]:
                    yield from self._dbt.upstream(node)
                if selector["down"]:
                    yield from self._dbt.downstream(node)


def task_matcher(
    order: DemandedOrder,
    known_as: Mapping[str, str],
    exported: Mapping[TaskKey, tuple[str, ...]] | None = None,
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
    dbt = {name for name, node in order.nodes.items() if node.is_dbt}
    return TaskMatcher(
        order,
        known_as,
        exported or {},
        {name: tuple(sorted(set(names))) for name, names in by_id.items()},
        {name: tuple(names) for name, names in by_label.items()},
        Graph((edge for edge in order.edges if set(edge) <= dbt), dbt),
    )
