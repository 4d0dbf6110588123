"""The pages of dbt docs that are about no dataset: search of the catalog leads to them."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_graft.injector.report import Grafted
from dbt_graft.injector.slim import hidden_packages
from dbt_graft.lineage.describe import DocsNode

# Parts of the manifest with pages, and the resource type where a node does not name it.
_PARTS = {
    "nodes": "",
    "exposures": "exposure",
    "metrics": "metric",
    "semantic_models": "semantic_model",
    "saved_queries": "saved_query",
    "unit_tests": "unit_test",
    "functions": "function",
    "macros": "macro",
}
# In the manifest, but without a page.
_WITHOUT = frozenset(("operation", "sql_operation", "rpc", "doc"))


def docs_nodes(grafted: Grafted) -> tuple[DocsNode, ...]:
    """The nodes that dbt docs has a page of and the catalog has none, sorted by id."""
    return tuple(sorted(_list_nodes(grafted), key=lambda node: node.node_id))


def _list_nodes(grafted: Grafted) -> Iterator[DocsNode]:
    manifest = grafted.manifest
    in_catalog = {
        *(description.node_id for description in grafted.descriptions.values()),
        *(id_ for description in grafted.descriptions.values() for id_ in description.dbt_ids),
        *(consumer.node_id for consumer in grafted.consumers),
    }
    hidden = hidden_packages(manifest)
    for part, kind in _PARTS.items():
        for node_id, node in (manifest.get(part) or {}).items():
            resource = str(node.get("resource_type") or kind)
            if node_id in in_catalog or resource in _WITHOUT:
                continue
            if part == "macros" and node.get("package_name") in hidden:
                continue
            yield DocsNode(
                node_id=node_id,
                name=str(node.get("name") or node_id),
                kind=resource,
                text=str(node.get("description") or ""),
                is_generic_test=resource == "test" and bool(node.get("test_metadata")),
            )
