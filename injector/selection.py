"""Selections of a manifest's nodes, in the syntax of dbt's `--select`.

dbt itself selects from a parsed project only; this reads any manifest. Its rules are dbt's:
https://docs.getdbt.com/reference/node-selection/syntax
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from dbt_graft.injector.manifest import PARTS
from dbt_graft.injector.plan import PACKAGE
from dbt_graft.injector.selection_methods import (
    METHODS,
    VALUES,
    Node,
    config_method,
    is_below,
    is_source,
    paths,
)
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key

_CRITERION = re.compile(
    r"(?P<around>@)?(?P<up>(?P<up_steps>\d*)\+)?(?:(?P<method>[\w.]+):)?(?P<value>.*?)"
    r"(?P<down>\+(?P<down_steps>\d*))?"
)
_FILES = (".sql", ".py", ".csv")


@frozen
class Criterion:
    """One criterion of a selection: `1+tag:finance+`.

    Attributes:
        method: `tag`, `path`, `fqn`…
        arguments: What follows the method, as `materialized` in `config.materialized:table`.
        up: Steps to parents; None for all of them, 0 for none.
        down: Steps to children, likewise.
        around: With all children, and all parents of these.
    """

    method: str
    arguments: tuple[str, ...]
    value: str
    up: int | None = 0
    down: int | None = 0
    around: bool = False


def parse(selection: str) -> tuple[tuple[Criterion, ...], ...]:
    """Read a selection: a union of intersections.

    Raises:
        ValueError: It is empty, or has a method that is not known.
    """
    union = tuple(
        tuple(map(_criterion, intersection.split(","))) for intersection in selection.split()
    )
    if not union:
        raise ValueError("write a selection, such as tag:finance or path:models/finance")
    return union


def _criterion(text: str) -> Criterion:
    match = _CRITERION.fullmatch(text)
    if not match or not match["value"]:
        raise ValueError(f"{text!r} is not a selection: write one such as tag:finance or 1+orders")
    value = match["value"]
    method, *arguments = (match["method"] or _default_method(value)).split(".")
    if method not in METHODS:
        names = ", ".join(sorted(METHODS))
        raise ValueError(f"{method!r} is not one of the methods {names}")
    if bool(arguments) != (method == "config"):
        raise ValueError(f"{text!r}: write config.<key>:<value>, and other methods without a dot")
    if method in VALUES and value not in VALUES[method]:
        raise ValueError(f"{text!r}: `{method}` is one of {', '.join(sorted(VALUES[method]))}")
    if match["around"] and match["down"]:
        raise ValueError(f"{text!r}: `@` includes all children: leave out the `+`")
    return Criterion(
        method,
        tuple(arguments),
        value,
        _steps(match["up"], match["up_steps"]),
        _steps(match["down"], match["down_steps"]),
        bool(match["around"]),
    )


def _default_method(value: str) -> str:
    if "/" in value or "\\" in value:
        return "path"
    return "file" if value.lower().endswith(_FILES) else "fqn"


def _steps(sign: str | None, steps: str | None) -> int | None:
    return (int(steps) if steps else None) if sign else 0


def select_nodes(
    manifest: Mapping[str, Any], selection: str, promoted: Mapping[str, str] | None = None
) -> set[str]:
    """Return the unique_ids that a selection selects, with the tests of selected nodes.

    Args:
        promoted: unique_id of each former source -> that of the model it became; `source:`
            selects the model.

    Raises:
        GraftError: It is not valid, or selects nothing.
    """
    try:
        node_ids = SelectableNodes.from_manifest(manifest, promoted).find(selection)
    except ValueError as error:
        raise GraftError(str(error), place=f"selection {selection!r}") from error
    if not node_ids:
        raise GraftError(
            "selects no node of the dbt project",
            place=f"selection {selection!r}",
            remedy="try it with `dbt ls --select`",
        )
    return node_ids


@frozen
class SelectableNodes:
    """The enabled nodes of a manifest, and how they depend on each other.

    Attributes:
        has_default: A selector of YAML counts for commands without a selection.
    """

    nodes: Mapping[str, Node]
    parents: Mapping[str, Iterable[str]]
    children: Mapping[str, Iterable[str]]
    project: str
    sources: Mapping[str, tuple[str, str]]  # id in the dbt project -> id now, package
    has_default: bool = False

    @classmethod
    def from_manifest(
        cls, manifest: Mapping[str, Any], promoted: Mapping[str, str] | None = None
    ) -> SelectableNodes:
        """Read a manifest.

        Args:
            promoted: See `select_nodes`.
        """
        nodes = {
            key: node
            for part in PARTS
            for key, node in (manifest.get(part) or {}).items()
            if (node.get("config") or {}).get("enabled", True)
        }
        parents = {
            key: [parent for parent in parent_ids if parent in nodes]
            for key, parent_ids in (manifest.get("parent_map") or {}).items()
            if key in nodes
        }
        children = group_by_key(
            (parent, key) for key, parent_ids in parents.items() for parent in parent_ids
        )
        sources = {
            key: (key, str(node.get("package_name")))
            for key, node in nodes.items()
            if node.get("resource_type") == "source"
        }
        sources |= {
            old: (now, old.split(".")[1]) for old, now in (promoted or {}).items() if now in nodes
        }
        project = str((manifest.get("metadata") or {}).get("project_name") or "")
        selectors = (manifest.get("selectors") or {}).values()
        has_default = any(isinstance(one, dict) and one.get("default") for one in selectors)
        return cls(nodes, parents, children, project, sources, has_default)

    def of_command(self, selected: str, excluded: str) -> set[str]:
        """The nodes that a command selects by `--select` and `--exclude`; empty where it has none.

        Raises:
            ValueError: One of them is not valid, or a selector of YAML says it.
        """
        if self.has_default and not selected and not excluded:
            raise ValueError("the project has a selector that is the default")
        node_ids = self.find(selected) if selected else {*self.nodes}
        return node_ids - self.find(excluded) if excluded else node_ids

    def find(self, selection: str) -> set[str]:
        """The nodes of a selection.

        Raises:
            ValueError: See `parse`.
        """
        node_ids: set[str] = set()
        for intersection in parse(selection):
            node_ids |= set.intersection(*map(self._select, intersection))
        return node_ids

    def _select(self, criterion: Criterion) -> set[str]:
        """The nodes of a criterion, its neighbours, and the tests of all of them."""
        first = self._match(criterion)
        node_ids = first | self._reach(first, self.parents, criterion.up)
        node_ids |= self._reach(first, self.children, criterion.down)
        if criterion.around:
            children = first | self._reach(first, self.children, None)
            node_ids |= children | self._reach(children, self.parents, None)
        tests = {child for key in node_ids for child in self.children.get(key, ())}
        return node_ids | {
            key for key in tests if self.nodes[key]["resource_type"] in ("test", "unit_test")
        }

    def _match(self, criterion: Criterion) -> set[str]:
        if criterion.method == "source":
            return {
                now for old, (now, _) in self.sources.items() if is_source(old, criterion.value)
            }
        if criterion.method == "path":
            return self._below(criterion.value)
        matches, value = METHODS[criterion.method], criterion.value
        if criterion.method == "config":
            matches = config_method(criterion.arguments)
        if criterion.method == "package" and value == "this" and self.project:
            value = self.project
        return {key for key, node in self.nodes.items() if matches(node, value)}

    def _below(self, value: str) -> set[str]:
        """The nodes of files and folders.

        dbt looks for them in the project that it runs, and compares them with the paths of all
        packages.
        """
        by_path = group_by_key(
            (path, key) for key, node in self.nodes.items() for path in paths(node)
        )
        there = {self.project, PACKAGE}
        return {
            key
            for path, keys in by_path.items()
            if not self.project or any(self.nodes[key].get("package_name") in there for key in keys)
            if is_below(path, value)
            for key in keys
        }

    def _reach(
        self, start: set[str], next_to: Mapping[str, Iterable[str]], steps: int | None
    ) -> set[str]:
        reached: set[str] = set()
        while start and steps != 0:
            start = {near for key in start for near in next_to.get(key, ()) if near not in reached}
            reached |= start
            steps = None if steps is None else steps - 1
        return reached
