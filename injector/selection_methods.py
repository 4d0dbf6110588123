"""The methods of selections: which nodes a value such as `finance` in `tag:finance` selects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from fnmatch import fnmatch
from pathlib import PurePosixPath
from typing import Any

Node = Mapping[str, Any]
# Whether a value of a method selects a node.
Match = Callable[[Node, str], bool]

# dbt selects these by no key of their config.
_WITHOUT_CONFIG = frozenset(
    ("exposure", "metric", "semantic_model", "saved_query", "unit_test", "function")
)
# Nor these by their group.
_WITHOUT_GROUP = _WITHOUT_CONFIG - {"metric"} | {"source"}
_TESTS = {
    "generic": {"generic"},
    "schema": {"generic"},
    "data": {"generic", "singular"},
    "singular": {"singular"},
    "unit": {"unit"},
}


def is_source(source_id: str, value: str) -> bool:
    """`raw`, `raw.orders` or `shop.raw.orders` selects a source by its id."""
    wanted, parts = value.split("."), source_id.split(".", 3)[1:]
    if len(wanted) == 1:
        return fnmatch(parts[1], wanted[0])
    name_parts = parts if len(wanted) == 3 else parts[1:]
    return len(wanted) <= 3 and all(map(fnmatch, name_parts, wanted))


def _fqn(node: Node, value: str) -> bool:
    fqn = [str(part) for part in node.get("fqn") or ()]
    if not fqn or node.get("resource_type") == "source":
        return False
    # The name of a unit test of a versioned model comes last, as if it had no version.
    versioned = node.get("version") is not None and node.get("resource_type") != "unit_test"
    return any(_is_named(path, value, versioned) for path in (fqn, fqn[1:]))


def _is_named(fqn: list[str], value: str, versioned: bool) -> bool:
    """A name, or a beginning of the dotted path from the package to the node."""
    wanted = value.split(".")
    leaf = fqn[-2:] if versioned else fqn[-1:]
    if leaf and (leaf[0] == value or (versioned and "_".join(leaf) == "_".join(wanted[-2:]))):
        return True
    parts = [piece for part in fqn for piece in part.split(".")]
    if len(parts) < len(wanted):
        return False
    for at, pattern in enumerate(wanted):
        if any(sign in pattern for sign in "*?[]"):
            rest = fnmatch(".".join(parts[at:]), ".".join(wanted[at:]))
            return rest or (len(wanted) == 1 and bool(leaf) and fnmatch(leaf[0], value))
        if parts[at] != pattern:
            return False
    return True


def selections(nodes: Mapping[str, Node]) -> dict[str, str]:
    """The selection of each of these nodes alone: its name, or all of its dotted path.

    A name selects the folder and the package of that name, too.
    """
    named = Counter(text for node in nodes.values() for text in _texts(node))
    labels = {key: key.split(".", 2)[-1] for key in nodes}
    return {
        key: label if named[label] == 1 else ".".join(map(str, nodes[key].get("fqn") or [label]))
        for key, label in labels.items()
    }


def _texts(node: Node) -> set[str]:
    """The texts without wildcards that select a node by its name or path, see `_fqn`."""
    fqn = [str(part) for part in node.get("fqn") or ()]
    texts = set(fqn[-1:])
    for path in (fqn, fqn[1:]):
        parts = ".".join(path).split(".")
        texts |= {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
    if node.get("version") is not None:
        texts = texts - set(fqn[-1:]) | {*fqn[-2:-1], ".".join(fqn[-2:]), "_".join(fqn[-2:])}
    return texts


def paths(node: Node) -> list[PurePosixPath]:
    """The file of a node, the folders above it, and the file that describes the node."""
    file = _path(node.get("original_file_path"))
    patch = str(node.get("patch_path") or "").partition("://")[2]
    return [file, *file.parents[:-1], *([_path(patch)] if patch else ())]


def _path(text: Any) -> PurePosixPath:
    """A path that dbt may have written on Windows."""
    return PurePosixPath(str(text or "").replace("\\", "/"))


def is_below(path: PurePosixPath, pattern: str) -> bool:
    """Whether a path fits a pattern such as `models/**/orders.sql`."""
    return _fits(path.parts, _path(pattern).parts)


def _fits(parts: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    if not wanted or not parts:
        return parts == wanted or wanted == ("**",)
    if wanted[0] == "**":
        return _fits(parts, wanted[1:]) or _fits(parts[1:], wanted)
    return fnmatch(parts[0], wanted[0]) and _fits(parts[1:], wanted[1:])


def _file(node: Node, value: str) -> bool:
    file = _path(node.get("original_file_path"))
    return fnmatch(file.name, value) or fnmatch(file.stem, value)


def _tag(node: Node, value: str) -> bool:
    is_unit_test = node.get("resource_type") == "unit_test"  # its config alone has them
    tags = ((node.get("config") or {}) if is_unit_test else node).get("tags") or ()
    return any(fnmatch(str(tag), value) for tag in ([tags] if isinstance(tags, str) else tags))


def _group(node: Node, value: str) -> bool:
    if node.get("resource_type") in _WITHOUT_GROUP:
        return False
    group = (node.get("config") or {}).get("group")
    return bool(group) and fnmatch(str(group), value)


def _kind_method(kind: str) -> Match:
    """`name` or `package.name`."""

    def matches(node: Node, value: str) -> bool:
        package, _, name = value.rpartition(".")
        return (
            node.get("resource_type") == kind
            and fnmatch(str(node.get("name")), name)
            and fnmatch(str(node.get("package_name")), package or "*")
        )

    return matches


def config_method(keys: tuple[str, ...]) -> Match:
    """The method `config.<key>.<key>`."""

    def matches(node: Node, value: str) -> bool:
        setting: Any = node.get("config")
        if node.get("resource_type") in _WITHOUT_CONFIG:
            return False
        for key in keys:
            if not isinstance(setting, dict) or key not in setting:
                return False
            setting = setting[key]
        return any(
            str(entry).lower() == value.lower()
            if isinstance(entry, bool) or keys == ("severity",)
            else entry == value
            for entry in (setting if isinstance(setting, list) else [setting])
        )

    return matches


def _test_name(node: Node, value: str) -> bool:
    if node.get("resource_type") == "unit_test":
        return fnmatch(str(node.get("name")), value)
    metadata = node.get("test_metadata")
    return isinstance(metadata, dict) and fnmatch(str(metadata.get("name")), value)


def _test_type(node: Node, value: str) -> bool:
    kind = {"unit_test": "unit"}.get(str(node.get("resource_type")), "")
    if node.get("resource_type") == "test":
        kind = "generic" if node.get("test_metadata") else "singular"
    return kind in _TESTS.get(value, ())


def _version(node: Node, value: str) -> bool:
    if node.get("resource_type") != "model":
        return False
    version, latest = node.get("version"), node.get("latest_version")
    if value == "none" or version is None:
        return value == "none" and version is None
    if value == "latest":
        return bool(version == latest)
    older, newer = (latest, version) if value == "prerelease" else (version, latest)
    return bool(older and newer) and _is_before(older, newer)


def _is_before(version: Any, other: Any) -> bool:
    """Whether a version is before another: as numbers where both are, else as texts."""
    try:
        return float(version) < float(other)
    except ValueError:
        return str(version) < str(other)


METHODS: Mapping[str, Match] = {
    "access": lambda node, value: node.get("access") == value,
    "config": lambda node, value: False,  # by its keys, see `config_method`
    "exposure": _kind_method("exposure"),
    "file": _file,
    "fqn": _fqn,
    "group": _group,
    "metric": _kind_method("metric"),
    "package": lambda node, value: fnmatch(str(node.get("package_name")), value),
    "path": lambda node, value: False,  # by the folders of the project, see `paths`
    "resource_type": lambda node, value: node.get("resource_type") == value,
    "saved_query": _kind_method("saved_query"),
    "semantic_model": _kind_method("semantic_model"),
    "source": lambda node, value: False,  # by its id in the dbt project, see `is_source`
    "tag": _tag,
    "test_name": _test_name,
    "test_type": _test_type,
    "unit_test": _kind_method("unit_test"),
    "version": _version,
}
# The values of methods that dbt selects by these alone.
VALUES: Mapping[str, frozenset[str]] = {
    "version": frozenset(("latest", "prerelease", "old", "none"))
}
