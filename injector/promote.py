"""Sources that became models: every place of a manifest that names them, by id or by name.

By id: `depends_on.nodes`, `parent_map`, `child_map`, `attached_node`. By name: the pairs in
`sources` (they become `refs`), literal `source('…', '…')` calls in `raw_code`, test arguments,
unit test inputs and snapshot relations, `file_key_name` of source tests, selectors. A call that
goes through a variable or a macro cannot be seen in the text and stays; there `depends_on` tells
the truth. Disabled nodes stay as they are. Nothing is changed in place.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from injector.nodes import ref
from injector.relations import PARTS, Node, parents
from injector.report import Built

Pair = tuple[str, str]

_CALL = re.compile(r"""\bsource\(\s*(["'])(.+?)\1\s*,\s*(["'])(.+?)\3\s*\)""")
_METHOD = re.compile(r"(?P<before>[@+\d]*)source:(?P<value>[^+]+)(?P<after>\+?\d*)")


class Promotion:
    """Which source is which model now, asked by id or by the name that a node uses for it."""

    def __init__(self, manifest: Node, promoted: Iterable[Built]) -> None:
        self.ids: dict[str, str] = {}
        self._names: dict[str, str] = {}
        for built in promoted:
            for source in built.sources:
                self.ids[source] = built.node_id
                self._names[source] = built.name
        self._project = (manifest.get("metadata") or {}).get("project_name")
        self._package: dict[str, Any] = {}
        self._by_pair: dict[Pair, list[str]] = defaultdict(list)
        for source, node in manifest["sources"].items():
            self._package[source] = node.get("package_name")
            self._by_pair[str(node.get("source_name")), str(node.get("name"))].append(source)

    def name(self, pair: Pair, node: Node) -> str | None:
        """The name of the model that `source(pair)` in this node means; None if it stays."""
        source = self.source(pair, node)
        return self._names.get(source) if source else None

    def source(self, pair: Pair, node: Node) -> str | None:
        """The source that a pair means in a node.

        One the node depends on, else one of its own package, else the project's, else any:
        the order in which dbt looks.
        """
        upstream = parents(node)
        wanted = [node.get("package_name"), self._project]
        return min(
            self._by_pair.get(pair, ()),
            key=lambda source: (
                source not in upstream,
                _index(wanted, self._package[source]),
                source,
            ),
            default=None,
        )

    def calls(self, text: str, node: Node) -> str:
        """Text with literal `source()` calls of promoted sources made `ref()` calls."""

        def replace(match: re.Match[str]) -> str:
            name = self.name((match[2], match[4]), node)
            return f"ref('{name}')" if name else match[0]

        return _CALL.sub(replace, text) if "source" in text else text

    def selected(self, value: str) -> str | None:
        """The name for a `source:` selector that names exactly one promoted table."""
        pair = tuple(value.split(".")[-2:])
        return self.name((pair[0], pair[1]), {}) if len(pair) == 2 else None


def promote(manifest: dict[str, Any], promotion: Promotion) -> dict[str, Any]:
    """A copy of the manifest without the promoted sources, every reference to them renamed."""
    parts = {
        part: {key: _node(node, promotion) for key, node in manifest[part].items()}
        for part in PARTS
        if isinstance(manifest.get(part), dict)
    }
    parts["sources"] = {
        key: node for key, node in parts["sources"].items() if key not in promotion.ids
    }
    maps = {part: _map(manifest.get(part) or {}, promotion) for part in ("parent_map", "child_map")}
    selectors = _strings(manifest.get("selectors") or {}, lambda text: _selector(text, promotion))
    selectors = _methods(selectors, promotion)
    return {**manifest, **parts, **maps, "selectors": selectors}


def _map(ids: Mapping[str, Any], promotion: Promotion) -> dict[str, Any]:
    renamed: dict[str, Any] = {}
    for key, values in ids.items():
        key = promotion.ids.get(key, key)
        found = _ids(values or [], promotion)
        renamed[key] = (
            [*renamed[key], *(v for v in found if v not in renamed[key])]
            if key in renamed
            else found
        )
    return renamed


def _ids(ids: list[str], promotion: Promotion) -> list[str]:
    """Ids with the promoted ones renamed, each of those once."""
    if promotion.ids.keys().isdisjoint(ids):
        return ids
    renamed = [promotion.ids.get(node_id, node_id) for node_id in ids]
    ours = set(promotion.ids.values())
    return [
        node_id
        for at, node_id in enumerate(renamed)
        if node_id not in ours or node_id not in renamed[:at]
    ]


def _node(node: dict[str, Any], promotion: Promotion) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    upstream = parents(node)
    if not promotion.ids.keys().isdisjoint(upstream):
        changed["depends_on"] = {**node["depends_on"], "nodes": _ids(upstream, promotion)}
    changed |= _pairs(node, promotion)
    changed |= _texts(node, promotion)
    changed |= _attachment(node, promotion)
    return {**node, **changed} if changed else node


def _pairs(node: Node, promotion: Promotion) -> dict[str, Any]:
    """`sources` pairs of promoted sources become `refs`."""
    pairs = node.get("sources")
    if not isinstance(pairs, list) or not pairs:
        return {}
    names = [promotion.name(tuple(pair), node) if len(pair) == 2 else None for pair in pairs]
    if not any(names):
        return {}
    refs = list(node.get("refs") or [])
    refs += [ref(name) for name in dict.fromkeys(names) if name and ref(name) not in refs]
    kept = [pair for pair, name in zip(pairs, names, strict=True) if not name]
    return {"refs": refs, "sources": kept}


def _texts(node: Node, promotion: Promotion) -> dict[str, Any]:
    """Literal calls in code, in a test's arguments, a unit test's inputs, a snapshot's relation."""

    def replace(text: str) -> str:
        return promotion.calls(text, node)

    changed: dict[str, Any] = {}
    for field in ("raw_code", "test_metadata", "given"):
        if node.get(field) and (new := _strings(node[field], replace)) != node[field]:
            changed[field] = new
    for field in ("config", "unrendered_config"):
        relation = (node.get(field) or {}).get("relation")
        if isinstance(relation, str) and (new := replace(relation)) != relation:
            changed[field] = {**node[field], "relation": new}
    return changed


def _attachment(node: Node, promotion: Promotion) -> dict[str, Any]:
    """What a generic test of a source says that it stands on."""
    if node.get("resource_type") != "test" or not node.get("test_metadata"):
        return {}
    if not str(node.get("file_key_name") or "").startswith("sources."):
        return {}
    model = str((node["test_metadata"].get("kwargs") or {}).get("model") or "")
    call = _CALL.search(model)
    source = promotion.source((call[2], call[4]), node) if call else _tested(node)
    if source not in promotion.ids:
        return {}
    built = promotion.ids[source]
    return {"attached_node": built, "file_key_name": f"models.{built.rpartition('.')[2]}"}


def _tested(node: Node) -> str:
    """The node that a generic test stands on, as dbt's docs page takes it."""
    upstream = parents(node)
    last = (node.get("test_metadata") or {}).get("name") == "relationships"
    return upstream[-1 if last else 0] if upstream else ""


def _selector(text: str, promotion: Promotion) -> str:
    match = _METHOD.fullmatch(text)
    name = promotion.selected(match["value"]) if match else None
    return f"{match['before']}{name}{match['after']}" if match and name else text


def _methods(value: Any, promotion: Promotion) -> Any:
    """Selector definitions written as `{method: source, value: raw.orders}`."""
    if isinstance(value, list):
        return [_methods(item, promotion) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("method") == "source" and (name := promotion.selected(str(value.get("value")))):
        return {**value, "method": "fqn", "value": name}
    return {key: _methods(item, promotion) for key, item in value.items()}


def _strings(value: Any, replace: Callable[[str], str]) -> Any:
    """A JSON value with every string in it replaced."""
    if isinstance(value, str):
        return replace(value)
    if isinstance(value, list):
        return [_strings(item, replace) for item in value]
    if isinstance(value, dict):
        return {key: _strings(item, replace) for key, item in value.items()}
    return value


def _index(wanted: list[Any], package: Any) -> int:
    return wanted.index(package) if package in wanted else len(wanted)
