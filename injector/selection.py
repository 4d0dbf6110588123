"""Selections of a manifest's nodes, in the syntax of dbt's `--select`.

dbt itself selects from a parsed project only; this reads any manifest. Its rules are dbt's:
https://docs.getdbt.com/reference/node-selection/syntax
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import PurePosixPath
from typing import Any

from dbt_graft.lineage.errors import GraftError

Node = Mapping[str, Any]
# Whether a value of a method, such as `finance` in `tag:finance`, selects a node.
Match = Callable[[Node, str], bool]

# The parts of a manifest whose members can be selected.
PARTS = (
    "nodes",
    "sources",
    "exposures",
    "metrics",
    "unit_tests",
    "semantic_models",
    "saved_queries",
    "functions",
)
_CRITERION = re.compile(
    r"(?P<around>@)?(?P<up>(?P<up_steps>\d*)\+)?(?:(?P<method>[\w.]+):)?(?P<value>.*?)"
    r"(?P<down>\+(?P<down_steps>\d*))?"
)
# dbt selects these by no key of their config.
_WITHOUT_CONFIG = frozenset(
    ("exposure", "metric", "semantic_model", "saved_query", "unit_test", "function")
)
_FILES = (".sql", ".py", ".csv")
_TESTS = {
    "generic": {"generic"},
    "schema": {"generic"},
    "data": {"generic", "singular"},
    "singular": {"singular"},
    "unit": {"unit"},
}


@dataclass(frozen=True, slots=True)
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
    union = tuple(tuple(map(_criterion, one.split(","))) for one in selection.split())
    if not union:
        raise ValueError("write a selection, such as tag:finance or path:models/finance")
    return union


def _criterion(text: str) -> Criterion:
    found = _CRITERION.fullmatch(text)
    if not found or not found["value"]:
        raise ValueError(f"{text!r} is no selection: write one such as tag:finance or 1+orders")
    value = found["value"]
    method, *arguments = (found["method"] or _default_method(value)).split(".")
    if method not in _METHODS:
        known = ", ".join(sorted(_METHODS))
        raise ValueError(f"{method!r} is not one of the methods {known}")
    if bool(arguments) != (method == "config"):
        raise ValueError(f"{text!r}: write config.<key>:<value>, and other methods without a dot")
    if found["around"] and found["down"]:
        raise ValueError(f"{text!r}: `@` includes all children: leave out the `+`")
    return Criterion(
        method,
        tuple(arguments),
        value,
        _steps(found["up"], found["up_steps"]),
        _steps(found["down"], found["down_steps"]),
        bool(found["around"]),
    )


def _default_method(value: str) -> str:
    if "/" in value:
        return "path"
    return "file" if value.lower().endswith(_FILES) else "fqn"


def _steps(sign: str | None, steps: str | None) -> int | None:
    return (int(steps) if steps else None) if sign else 0


def selected(
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
        union = parse(selection)
    except ValueError as error:
        raise GraftError(str(error), place=f"selection {selection!r}") from error
    graph = _Graph.of(manifest, promoted or {})
    found: set[str] = set()
    for intersection in union:
        found |= set.intersection(*map(graph.selected, intersection))
    if not found:
        raise GraftError(
            "selects no node of the dbt project",
            place=f"selection {selection!r}",
            remedy="try it with `dbt ls --select`",
        )
    return found


@dataclass(frozen=True, slots=True)
class _Graph:
    nodes: Mapping[str, Node]
    parents: Mapping[str, Iterable[str]]
    children: Mapping[str, Iterable[str]]
    project: str
    sources: Mapping[str, tuple[str, str]]  # id in the dbt project -> id now, package

    @classmethod
    def of(cls, manifest: Mapping[str, Any], promoted: Mapping[str, str]) -> _Graph:
        nodes = {
            key: node
            for part in PARTS
            for key, node in (manifest.get(part) or {}).items()
            if (node.get("config") or {}).get("enabled", True)
        }
        parents = {
            key: [one for one in found if one in nodes]
            for key, found in (manifest.get("parent_map") or {}).items()
            if key in nodes
        }
        children: dict[str, list[str]] = {}
        for key, found in parents.items():
            for parent in found:
                children.setdefault(parent, []).append(key)
        sources = {
            key: (key, str(node.get("package_name")))
            for key, node in nodes.items()
            if node.get("resource_type") == "source"
        }
        sources |= {old: (now, old.split(".")[1]) for old, now in promoted.items() if now in nodes}
        project = str((manifest.get("metadata") or {}).get("project_name") or "")
        return cls(nodes, parents, children, project, sources)

    def selected(self, one: Criterion) -> set[str]:
        """The nodes of a criterion, its neighbours, and the tests of all of them."""
        first = self._matching(one)
        found = first | self._reached(first, self.parents, one.up)
        found |= self._reached(first, self.children, one.down)
        if one.around:
            children = first | self._reached(first, self.children, None)
            found |= children | self._reached(children, self.parents, None)
        tests = {child for key in found for child in self.children.get(key, ())}
        return found | {
            key for key in tests if self.nodes[key]["resource_type"] in ("test", "unit_test")
        }

    def _matching(self, one: Criterion) -> set[str]:
        if one.method == "source":
            return {now for old, (now, _) in self.sources.items() if _is_source(old, one.value)}
        matches, value = _METHODS[one.method], one.value
        if one.method == "config":
            matches = _config(one.arguments)
        if one.method == "package" and value == "this" and self.project:
            value = self.project
        return {key for key, node in self.nodes.items() if matches(node, value)}

    def _reached(
        self, start: set[str], next_to: Mapping[str, Iterable[str]], steps: int | None
    ) -> set[str]:
        found: set[str] = set()
        while start and steps != 0:
            start = {near for key in start for near in next_to.get(key, ()) if near not in found}
            found |= start
            steps = None if steps is None else steps - 1
        return found


def _is_source(source_id: str, value: str) -> bool:
    """`raw`, `raw.orders` or `shop.raw.orders` selects a source by its id."""
    wanted, parts = value.split("."), source_id.split(".", 3)[1:]
    if len(wanted) == 1:
        return fnmatch(parts[1], wanted[0])
    shown = parts if len(wanted) == 3 else parts[1:]
    return len(wanted) <= 3 and all(map(fnmatch, shown, wanted))


def _fqn(node: Node, value: str) -> bool:
    fqn = [str(part) for part in node.get("fqn") or ()]
    if not fqn or node.get("resource_type") == "source":
        return False
    return any(_is_named(one, value, node.get("version") is not None) for one in (fqn, fqn[1:]))


def _is_named(fqn: list[str], value: str, versioned: bool) -> bool:
    """A name, or a beginning of the dotted path from the package to the node."""
    wanted = value.split(".")
    leaf = fqn[-2:] if versioned else fqn[-1:]
    if leaf and (leaf[0] == value or (versioned and "_".join(leaf) == "_".join(wanted[-2:]))):
        return True
    parts = [piece for part in fqn for piece in part.split(".")]
    if len(parts) < len(wanted):
        return False
    for at, one in enumerate(wanted):
        if any(sign in one for sign in "*?[]"):
            rest = fnmatch(".".join(parts[at:]), ".".join(wanted[at:]))
            return rest or (len(wanted) == 1 and bool(leaf) and fnmatch(leaf[0], value))
        if parts[at] != one:
            return False
    return True


def _path(node: Node, value: str) -> bool:
    """The file of a node, the file that describes it, or a folder above the first."""
    wanted = PurePosixPath(value.replace("\\", "/")).parts
    file = PurePosixPath(str(node.get("original_file_path") or "").replace("\\", "/"))
    patch = str(node.get("patch_path") or "").partition("://")[2]
    places = [file, *file.parents[:-1], *([PurePosixPath(patch)] if patch else ())]
    return any(_is_below(place.parts, wanted) for place in places)


def _is_below(parts: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    if not wanted or not parts:
        return parts == wanted or wanted == ("**",)
    if wanted[0] == "**":
        return _is_below(parts, wanted[1:]) or _is_below(parts[1:], wanted)
    return fnmatch(parts[0], wanted[0]) and _is_below(parts[1:], wanted[1:])


def _file(node: Node, value: str) -> bool:
    file = PurePosixPath(str(node.get("original_file_path") or "").replace("\\", "/"))
    return fnmatch(file.name, value) or fnmatch(file.stem, value)


def _tag(node: Node, value: str) -> bool:
    return any(fnmatch(str(tag), value) for tag in node.get("tags") or ())


def _group(node: Node, value: str) -> bool:
    group = (node.get("config") or {}).get("group")
    return bool(group) and fnmatch(str(group), value)


def _of_kind(kind: str) -> Match:
    """`name` or `package.name`."""

    def matches(node: Node, value: str) -> bool:
        package, _, name = value.rpartition(".")
        return (
            node.get("resource_type") == kind
            and fnmatch(str(node.get("name")), name)
            and fnmatch(str(node.get("package_name")), package or "*")
        )

    return matches


def _config(keys: tuple[str, ...]) -> Match:
    def matches(node: Node, value: str) -> bool:
        found: Any = node.get("config")
        if node.get("resource_type") in _WITHOUT_CONFIG:
            return False
        for key in keys:
            if not isinstance(found, dict) or key not in found:
                return False
            found = found[key]
        texts = [
            str(one).lower() if isinstance(one, bool) or keys == ("severity",) else one
            for one in (found if isinstance(found, list) else [found])
        ]
        return value in texts or value.lower() in texts

    return matches


def _test_name(node: Node, value: str) -> bool:
    if node.get("resource_type") == "unit_test":
        return fnmatch(str(node.get("name")), value)
    found = node.get("test_metadata")
    return isinstance(found, dict) and fnmatch(str(found.get("name")), value)


def _test_type(node: Node, value: str) -> bool:
    kind = {"unit_test": "unit"}.get(str(node.get("resource_type")), "")
    if node.get("resource_type") == "test":
        kind = "generic" if node.get("test_metadata") else "singular"
    return kind in _TESTS.get(value, ())


_METHODS: Mapping[str, Match] = {
    "access": lambda node, value: node.get("access") == value,
    "config": lambda node, value: False,  # by its keys, see `_config`
    "exposure": _of_kind("exposure"),
    "file": _file,
    "fqn": _fqn,
    "group": _group,
    "metric": _of_kind("metric"),
    "package": lambda node, value: fnmatch(str(node.get("package_name")), value),
    "path": _path,
    "resource_type": lambda node, value: node.get("resource_type") == value,
    "saved_query": _of_kind("saved_query"),
    "semantic_model": _of_kind("semantic_model"),
    "source": lambda node, value: False,  # by its id in the dbt project, see `_is_source`
    "tag": _tag,
    "test_name": _test_name,
    "test_type": _test_type,
    "unit_test": _of_kind("unit_test"),
}
