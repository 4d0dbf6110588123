"""The part of dbt's artifacts that a page of some nodes needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from dbt_graft.injector.artifacts import Document
from dbt_graft.injector.selection import PARTS


def excerpt(manifest: Document, catalog: Document, nodes: Collection[str]) -> tuple[Document, ...]:
    """Return copies of manifest and catalog with these nodes alone, and what they refer to.

    Edges to other nodes are left out; of macros those stay that the nodes use.
    """
    partial_manifest: Document = dict(manifest)
    for part in PARTS:
        if part in manifest:
            members = _select(manifest[part], nodes)
            partial_manifest[part] = {
                key: _keep_links(node, nodes) for key, node in members.items()
            }
    for edges in ("parent_map", "child_map"):
        partial_manifest[edges] = {
            key: [end for end in ends if end in nodes]
            for key, ends in _select(manifest.get(edges), nodes).items()
        }
    members = {
        key: node for part in PARTS for key, node in (partial_manifest.get(part) or {}).items()
    }
    partial_manifest["macros"] = _select(
        manifest.get("macros"), _macros(manifest, members.values())
    )
    used_groups = {str((node.get("config") or {}).get("group")) for node in members.values()}
    groups = manifest.get("groups") or {}
    partial_manifest["groups"] = {
        key: group for key, group in groups.items() if group.get("name") in used_groups
    }
    partial_manifest["disabled"] = {}
    return partial_manifest, {
        **catalog,
        "nodes": _select(catalog.get("nodes"), nodes),
        "sources": _select(catalog.get("sources"), nodes),
    }


def _select(members: Mapping[str, Any] | None, wanted: Collection[str]) -> dict[str, Any]:
    return {key: member for key, member in (members or {}).items() if key in wanted}


def _keep_links(node: Mapping[str, Any], nodes: Collection[str]) -> Mapping[str, Any]:
    """The node without dependencies on others than these."""
    depends_on = node.get("depends_on")
    if not isinstance(depends_on, dict) or not depends_on.get("nodes"):
        return node
    ends = [end for end in depends_on["nodes"] if end in nodes]
    return {**node, "depends_on": {**depends_on, "nodes": ends}}


def _macros(manifest: Mapping[str, Any], nodes: Iterable[Mapping[str, Any]]) -> set[str]:
    """The macros that nodes use, and those that these use."""
    macros = manifest.get("macros") or {}
    reached: set[str] = set()
    waiting = list(nodes)
    while waiting:
        depends_on = waiting.pop().get("depends_on")
        used_macros = depends_on.get("macros") or () if isinstance(depends_on, dict) else ()
        new = {macro_id for macro_id in used_macros if macro_id in macros} - reached
        reached |= new
        waiting += [macros[macro_id] for macro_id in new]
    return reached
