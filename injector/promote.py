"""Promotion of sources to models: all references to them in a manifest, by id and by name.

By id: `depends_on.nodes`, `parent_map`, `child_map`, `attached_node`. By name: the pairs in
`sources` (they become `refs`), literal `source('…', '…')` calls in `raw_code`, test arguments,
unit test inputs, hooks and snapshot relations, `file_key_name` of source tests, selectors. Calls
with variables or macros as arguments stay as they are; `depends_on` is right for them too. The
original of changed code is in `config.meta.graft.raw_code`. A promoted source is removed from
`disabled`. Nothing is changed in place.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from dbt_graft.injector.manifest import PARTS, Node, all_nodes, parents, project_name
from dbt_graft.injector.nodes import ref
from dbt_graft.injector.report import BuiltDataset
from dbt_graft.injector.selectors import selecting_models
from dbt_graft.injector.undecoded import Undecoded

Pair = tuple[str, str]

_CALL = re.compile(r"""\bsource\(\s*(["'])([^"'\n]{1,300})\1\s*,\s*(["'])([^"'\n]{1,300})\3\s*\)""")
# Keys of a node's configuration that hold Jinja.
_TEXTS = ("relation", "pre-hook", "post-hook", "pre_hook", "post_hook")


class Promotion:
    """Models of promoted sources, by id and by name."""

    def __init__(self, manifest: Node, promoted: Iterable[BuiltDataset]) -> None:
        self.ids: dict[str, str] = {}
        self._names: dict[str, str] = {}
        for built in promoted:
            for source in built.sources:
                self.ids[source] = built.node_id
                self._names[source] = built.name
        self._project = project_name(manifest)
        self._package: dict[str, Any] = {}
        self._by_pair: dict[Pair, list[str]] = defaultdict(list)
        for source, node in manifest["sources"].items():
            self._package[source] = node.get("package_name")
            self._by_pair[str(node.get("source_name")), str(node.get("name"))].append(source)

    def name(self, pair: Pair, node: Node) -> str | None:
        """Return the model that `source(*pair)` in a node refers to; None for other sources."""
        source = self.source(pair, node)
        return self._names.get(source) if source else None

    def source(self, pair: Pair, node: Node) -> str | None:
        """Return the id of the source that `source(*pair)` in a node refers to.

        One that the node depends on, else one of its own package, else of the root project, else
        any: dbt's own order.
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
        """Replace literal `source()` calls of promoted sources by `ref()` calls."""

        def replace(match: re.Match[str]) -> str:
            name = self.name((match[2], match[4]), node)
            return f"ref('{name}')" if name else match[0]

        return _CALL.sub(replace, text) if "source" in text else text

    def tables(self) -> Iterator[tuple[str, str, str, str | None]]:
        """Yield (package, source name, table, model or None) of every source."""
        for (group, table), sources in self._by_pair.items():
            for source in sources:
                yield str(self._package[source]), group, table, self._names.get(source)


def promote(manifest: dict[str, Any], promotion: Promotion) -> dict[str, Any]:
    """Return a copy of the manifest without the promoted sources and references to them."""
    parts = {
        part: {key: _node(node, promotion) for key, node in manifest[part].items()}
        for part in PARTS
        if isinstance(manifest.get(part), dict)
    }
    parts["sources"] = {
        key: node for key, node in parts["sources"].items() if key not in promotion.ids
    }
    if manifest.get("disabled"):
        parts["disabled"] = _promote_disabled(manifest["disabled"], promotion)
    if manifest.get("selectors"):
        parts["selectors"] = selecting_models(manifest["selectors"], promotion.tables())
    return {**manifest, **parts, **_maps(manifest, promotion)}


def _promote_disabled(disabled: Mapping[str, Any], promotion: Promotion) -> dict[str, Any]:
    return {
        key: [_node(node, promotion) for node in nodes] if isinstance(nodes, list) else nodes
        for key, nodes in disabled.items()
        if key not in promotion.ids
    }


def _maps(manifest: Mapping[str, Any], promotion: Promotion) -> dict[str, Any]:
    """`parent_map` and `child_map`; made from `depends_on` where one of them is missing."""
    upstream, downstream = manifest.get("parent_map"), manifest.get("child_map")
    if upstream is None or downstream is None:
        everything = all_nodes(manifest)
        # In the order of the map that is there, which undo relies on.
        keys = dict.fromkeys([*(upstream or downstream or ()), *everything])
        upstream = {node_id: parents(everything.get(node_id) or {}) for node_id in keys}
        downstream = {node_id: [] for node_id in keys}
        for node_id, ids in upstream.items():
            for parent in ids:
                downstream.setdefault(parent, []).append(node_id)
    return {"parent_map": _map(upstream, promotion), "child_map": _map(downstream, promotion)}


def _map(ids: Mapping[str, Any], promotion: Promotion) -> dict[str, Any]:
    renamed: dict[str, Any] = {}
    is_apart = promotion.ids.keys().isdisjoint
    for key, values in ids.items():
        # As most are.
        if values and key not in promotion.ids and is_apart(values) and key not in renamed:
            renamed[key] = values
            continue
        key = promotion.ids.get(key, key)
        promoted_ids = _ids(values or [], promotion)
        renamed[key] = (
            [*renamed[key], *(v for v in promoted_ids if v not in renamed[key])]
            if key in renamed
            else promoted_ids
        )
    return renamed


def _ids(ids: list[str], promotion: Promotion) -> list[str]:
    """Ids with promoted sources replaced by their models, without duplicate models."""
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
    if not promotion.ids or isinstance(node, Undecoded):
        return node
    changed: dict[str, Any] = {}
    upstream = parents(node)
    depends = not promotion.ids.keys().isdisjoint(upstream)
    code = node.get("raw_code")
    names_sources = node.get("sources") or node.get("given") or (code and "source" in str(code))
    # Most nodes of a project have nothing to do with sources.
    if not depends and not names_sources:
        return {**node, **changed} if (changed := _attachment(node, promotion)) else node
    if depends:
        # dbt Fusion has ids elsewhere in it too: `nodes_with_ref_location`.
        changed["depends_on"] = {
            key: _ids(value, promotion)
            if key == "nodes"
            else _strings(value, lambda text: promotion.ids.get(text, text))
            for key, value in node["depends_on"].items()
        }
    changed |= _pairs(node, promotion)
    changed |= _texts(node, promotion)
    changed |= _attachment(node, promotion)
    if "raw_code" in changed:
        field = "config" if isinstance(node.get("config"), dict) else "meta"
        changed[field] = _with_original(changed.get(field) or node.get(field) or {}, field, node)
    return {**node, **changed} if changed else node


def _with_original(holder: dict[str, Any], field: str, node: Node) -> dict[str, Any]:
    """`config` or `meta` with the original code in `meta.graft`."""
    meta = (holder.get("meta") if field == "config" else holder) or {}
    meta = {**meta, "graft": {"raw_code": node["raw_code"]}}
    return {**holder, "meta": meta} if field == "config" else meta


def _pairs(node: Node, promotion: Promotion) -> dict[str, Any]:
    """`refs` and `sources` with promoted sources moved to `refs`."""
    pairs = node.get("sources")
    if not isinstance(pairs, list) or not pairs:
        return {}
    names = [promotion.name(tuple(pair), node) if len(pair) == 2 else None for pair in pairs]
    if not any(names):
        return {}
    refs = list(node.get("refs") or [])
    refs += [ref(name) for name in dict.fromkeys(names) if name and ref(name) not in refs]
    others = [pair for pair, name in zip(pairs, names, strict=True) if not name]
    return {"refs": refs, "sources": others}


def _texts(node: Node, promotion: Promotion) -> dict[str, Any]:
    """Literal calls in code, test arguments, unit test inputs, hooks and snapshot relations."""

    def replace(text: str) -> str:
        return promotion.calls(text, node)

    changed: dict[str, Any] = {}
    for field in ("raw_code", "test_metadata", "given"):
        if node.get(field) and (new := _strings(node[field], replace)) != node[field]:
            changed[field] = new
    for field in ("config", "unrendered_config"):
        values = node.get(field) or {}
        new = {
            key: text
            for key in _TEXTS
            if values.get(key) and (text := _strings(values[key], replace)) != values[key]
        }
        if new:
            changed[field] = {**values, **new}
    return changed


def _attachment(node: Node, promotion: Promotion) -> dict[str, Any]:
    """`attached_node` and `file_key_name` of a generic test on a promoted source."""
    attached = node.get("attached_node")
    if attached in promotion.ids:
        return {"attached_node": promotion.ids[attached]}
    if node.get("resource_type") != "test" or not node.get("test_metadata"):
        return {}
    if not str(node.get("file_key_name") or "").startswith("sources."):
        return {}
    metadata = node["test_metadata"]
    model = str((metadata.get("kwargs") or {}).get("model") or "")
    call = _CALL.search(model)
    source = promotion.source((call[2], call[4]), node) if call else _tested_node(node)
    if source not in promotion.ids:
        return {}
    built = promotion.ids[source]
    return {"attached_node": built, "file_key_name": f"models.{built.rpartition('.')[2]}"}


def _tested_node(node: Node) -> str:
    """The node that a generic test is attached to, by the rule of dbt's docs page."""
    upstream = parents(node)
    last = (node.get("test_metadata") or {}).get("name") == "relationships"
    return upstream[-1 if last else 0] if upstream else ""


def _strings(value: Any, replace: Callable[[str], str]) -> Any:
    """A JSON value with `replace` applied to all strings in it."""
    if isinstance(value, str):
        return replace(value)
    if isinstance(value, list):
        return [_strings(item, replace) for item in value]
    if isinstance(value, dict):
        return {key: _strings(item, replace) for key, item in value.items()}
    return value


def _index(wanted: list[Any], package: Any) -> int:
    return wanted.index(package) if package in wanted else len(wanted)
