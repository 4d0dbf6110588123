"""Column edges of dbt's own nodes.

In the artifacts they are in `meta.graft.columns` only: descriptions stay as the team wrote them,
because other tools copy those elsewhere. The docs page's own copy has them in the descriptions too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbt_graft.injector.columns import ByColumn, Edges, edges_by_column, meta_columns, with_origins
from dbt_graft.injector.manifest import Node
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import ANY_COLUMN, Evidence


def with_meta(
    manifest: dict[str, Any], catalog: Node, edges: Edges, node_ids: Mapping[DatasetId, str]
) -> dict[str, Any]:
    """Return a manifest with the column edges of dbt's nodes in their `meta.graft.columns`.

    A node whose team uses `meta.graft` for something else keeps its own.

    Args:
        edges: Dataset -> the column edges that end in it.
        node_ids: Dataset -> the node that dbt builds it with.
    """
    nodes = dict(manifest["nodes"])
    for dataset, node_id in sorted(node_ids.items(), key=lambda item: item[1]):
        node = nodes.get(node_id)
        if node is None or dataset not in edges:
            continue
        upstream = edges_by_column(edges[dataset])
        columns = meta_columns(upstream, _columns(node, catalog["nodes"].get(node_id), upstream))
        meta = node.get("meta") or {}
        ours = meta.get("graft") or {} if isinstance(meta, dict) else None
        if isinstance(ours, dict) and "columns" not in ours:
            nodes[node_id] = {**node, "meta": {**meta, "graft": {**ours, "columns": columns}}}
    return {**manifest, "nodes": nodes}


def with_descriptions(
    manifest: Node, catalog: Node, edges: Edges, node_ids: Mapping[DatasetId, str]
) -> dict[str, Any]:
    """Return a manifest in which the columns of dbt's nodes say where their values come from.

    Columns without a description in YAML get one, in the spelling of the catalog.

    Args:
        edges, node_ids: As for `with_meta`.
    """
    nodes = dict(manifest["nodes"])
    for dataset, node_id in node_ids.items():
        node = nodes.get(node_id)
        if node is None or dataset not in edges:
            continue
        upstream = edges_by_column(edges[dataset])
        columns = dict(node.get("columns") or {})
        for name in _columns(node, catalog["nodes"].get(node_id), upstream).values():
            column = columns.get(name) or {"name": name, "description": "", "meta": {}, "tags": []}
            if isinstance(column, dict):
                description = column.get("description")
                text = with_origins(description, name, upstream, usual=Evidence.DECLARED)
                if name in columns or text:
                    columns[name] = {**column, "description": text}
        nodes[node_id] = {**node, "columns": columns}
    return {**manifest, "nodes": nodes}


def _columns(node: Node, entry: Node | None, upstream: ByColumn) -> dict[str, str]:
    """The columns of a node, lower case -> spelled as in YAML, else as in the catalog.

    Those of its edges, where neither has any.
    """
    spelled: dict[str, str] = {}
    for names in (node.get("columns") or {}, (entry or {}).get("columns") or {}):
        for name in names:
            spelled.setdefault(str(name).casefold(), str(name))
    if not spelled:
        spelled = {key: edges[0].to_column for key, edges in upstream.items() if key != ANY_COLUMN}
    return spelled
