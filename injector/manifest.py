"""Nodes of a dbt manifest: parts, parents, owners, tags."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

Node = Mapping[str, Any]

# What dbt builds a relation for; a source is a relation that it only reads.
BUILDERS = ("model", "seed", "snapshot")
# The parts of a manifest that hold nodes, in the order in which dbt's docs page merges them.
PARTS = (
    "nodes",
    "sources",
    "exposures",
    "metrics",
    "semantic_models",
    "saved_queries",
    "unit_tests",
    "functions",
)


def all_nodes(manifest: Node) -> dict[str, Node]:
    """Return all nodes of a manifest by id; the first part with an id wins."""
    nodes: dict[str, Node] = {}
    for part in reversed(PARTS):
        nodes.update(manifest.get(part) or {})
    return nodes


def parents(node: Node) -> list[str]:
    """Return `depends_on.nodes` of a node, not a copy."""
    parent_ids: list[str] = (node.get("depends_on") or {}).get("nodes") or []
    return parent_ids


def project_name(manifest: Node) -> str | None:
    """Return the name of the root project; v9 has only a digest of it."""
    metadata = manifest.get("metadata") or {}
    if name := metadata.get("project_name"):
        return str(name)
    packages = {
        str(node.get("package_name"))
        for part in ("nodes", "sources")
        for node in manifest[part].values()
    }
    digest = metadata.get("project_id")
    return next((name for name in sorted(packages) if _project_id(name) == digest), None)


def projects(manifest: Node) -> frozenset[str]:
    """Return the names of the root project and of the packages that it has nodes of."""
    nodes = (node for part in ("nodes", "sources") for node in manifest[part].values())
    names = {str(node.get("package_name")) for node in nodes}
    return frozenset({*names, *filter(None, (project_name(manifest),))})


def _project_id(name: str) -> str:
    return hashlib.md5(name.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def materialized(node: Node) -> str:
    """Return the materialization of a node, or its resource type if it has none."""
    config = node.get("config") or {}
    return str(config.get("materialized") or node.get("resource_type") or "")


def owner(node: Node, manifest: Node) -> str:
    """Return the owner of a node: its own, that of its group, or `meta.owner`.

    dbt takes several addresses for one owner, too.
    """
    group = f"group.{node.get('package_name')}.{node.get('group')}"
    contact = (
        node.get("owner") or ((manifest.get("groups") or {}).get(group) or {}).get("owner") or {}
    )
    meta = (node.get("meta") or {}).get("owner")
    for name in (contact.get("name"), contact.get("email"), meta):
        names = name if isinstance(name, list) else [name]
        if text := ", ".join(part for part in names if isinstance(part, str) and part):
            return text
    return ""


def string_tags(node: Node) -> tuple[str, ...]:
    """Return the tags of a node that are strings; others break dbt's docs page."""
    return tuple(tag for tag in node.get("tags") or () if isinstance(tag, str))
