"""Parts of a manifest as rows of an index: what dbt writes of a node, of a node of ours."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dbt_graft.injector.index.tables import Row

Node = Mapping[str, Any]


def node_row(node: Node) -> Row:
    """A model, source, test… as a row of `dbt.nodes`."""
    config = node.get("config") or {}
    return {
        "unique_id": node["unique_id"],
        "name": node.get("name"),
        "resource_type": node.get("resource_type"),
        "package_name": node.get("package_name"),
        "file_path": node.get("path"),
        "original_file_path": node.get("original_file_path"),
        "fqn": list(node.get("fqn") or ()),
        "alias": node.get("alias") or node.get("name"),
        "checksum": (node.get("checksum") or {}).get("checksum"),
        "description": node.get("description") or None,
        "node_language": node.get("language"),
        "raw_code": node.get("raw_code") or None,
        "compiled_code": node.get("compiled_code") or None,
        "database_name": node.get("database"),
        "schema_name": node.get("schema"),
        "relation_name": node.get("relation_name"),
        "identifier": node.get("identifier"),
        "enabled": True,
        "materialized": config.get("materialized"),
        "config": json.dumps(config, sort_keys=True),
        "access_level": node.get("access"),
        "group_name": node.get("group"),
        "contract_enforced": bool((node.get("contract") or {}).get("enforced")),
        "docs_show": (node.get("docs") or {}).get("show") is not False,
        "patch_path": node.get("patch_path"),
        "tags": list(node.get("tags") or ()),
        "meta": _meta(node),
        "source_name": node.get("source_name"),
        "source_description": node.get("source_description") or None,
        "loader": node.get("loader") or None,
        "search_text": _search_text(node),
    }


def changed_values(old: Node, new: Node) -> Row:
    """The texts of a node of dbt's that a graft changed; its code and settings are dbt's."""
    keys = [key for key in _USERS if new.get(key) is not old.get(key)]
    names = {name: _TEXTS[name] for key in keys for name in _USERS[key]}
    return {name: make(new) for name, make in names.items() if make(new) != make(old)}


def _search_text(node: Node) -> str | None:
    parts = (node.get("name"), node.get("description"), *(node.get("tags") or ()))
    return " ".join(str(part) for part in (*parts, *(node.get("columns") or ())) if part) or None


def _meta(node: Node) -> str | None:
    """`meta` as JSON, without what the graft adds for programs, which no page shows."""
    meta = {key: value for key, value in (node.get("meta") or {}).items() if key != "graft"}
    return json.dumps(meta, sort_keys=True) if meta else None


# Column -> its value, and key of a node -> the columns that it is part of.
_TEXTS: Mapping[str, Callable[[Node], Any]] = {
    "description": lambda node: node.get("description") or None,
    "tags": lambda node: list(node.get("tags") or ()),
    "group_name": lambda node: node.get("group"),
    "meta": _meta,
    "search_text": _search_text,
}
_USERS: Mapping[str, tuple[str, ...]] = {
    "description": ("description", "search_text"),
    "tags": ("tags", "search_text"),
    "group": ("group_name",),
    "meta": ("meta",),
    "columns": ("search_text",),
}


def column_rows(node: Node, entry: Node | None) -> Iterator[Row]:
    """The columns of a node as rows of `dbt.node_columns`, in the order of the warehouse.

    Args:
        entry: Its entry in the catalog.
    """
    declared = {
        str(name).casefold(): column for name, column in (node.get("columns") or {}).items()
    }
    listed = (entry or {}).get("columns") or {}
    names = {str(name).casefold(): str(name) for name in (*listed, *(node.get("columns") or {}))}
    for number, (key, name) in enumerate(names.items()):
        column = declared.get(key) or {}
        catalog_type = (listed.get(name) or {}).get("type") or None
        declared_type = column.get("data_type")
        yield {
            "unique_id": node["unique_id"],
            "column_name": name,
            "column_index": number,
            "declared_type": declared_type,
            "catalog_type": catalog_type,
            "data_type": declared_type or catalog_type,
            **column_texts(column),
            "catalog_comment": (listed.get(name) or {}).get("comment"),
        }


def column_texts(column: Node) -> Row:
    """The values of a column's row that people wrote."""
    return {
        "description": column.get("description") or None,
        "tags": list(column.get("tags") or ()),
        "meta": _meta(column),
    }


def exposure_row(node: Node) -> Row:
    """An exposure as a row of `dbt.exposures`."""
    owner, depends = node.get("owner") or {}, node.get("depends_on") or {}
    return {
        "unique_id": node["unique_id"],
        "name": node.get("name"),
        "exposure_type": node.get("type"),
        "label": node.get("label"),
        "owner_name": owner.get("name"),
        "owner_email": owner.get("email"),
        "url": node.get("url"),
        "maturity": node.get("maturity"),
        "description": node.get("description") or None,
        "package_name": node.get("package_name"),
        "file_path": node.get("path"),
        "original_file_path": node.get("original_file_path"),
        "fqn": list(node.get("fqn") or ()),
        "depends_on_nodes": list(depends.get("nodes") or ()),
        "depends_on_macros": list(depends.get("macros") or ()),
        "tags": list(node.get("tags") or ()),
        "meta": _meta(node),
        "config": json.dumps(node.get("config") or {}, sort_keys=True),
        "created_at": node.get("created_at"),
    }


def entry_row(entry: Node) -> Row:
    """A macro, metric, doc… as a row of its table, whose columns are called as in the manifest."""
    depends = entry.get("depends_on") or {}
    return {
        **entry,
        "file_path": entry.get("path"),
        "metric_type": entry.get("type"),
        "group_name": entry.get("group"),
        "depends_on_nodes": list(depends.get("nodes") or ()),
        "depends_on_macros": list(depends.get("macros") or ()),
    }


def test_row(node: Node) -> Row:
    """A generic test as a row of `dbt.test_metadata`."""
    metadata = node["test_metadata"]
    return {
        "unique_id": node["unique_id"],
        "test_name": metadata.get("name"),
        "test_namespace": metadata.get("namespace"),
        "kwargs": metadata.get("kwargs"),
        "column_name": node.get("column_name"),
        "attached_node": node.get("attached_node"),
        "severity": (node.get("config") or {}).get("severity"),
    }


def group_row(group: Node) -> Row:
    """A group as a row of `dbt.groups`."""
    owner = group.get("owner") or {}
    return {
        "unique_id": group["unique_id"],
        "name": group.get("name"),
        "description": group.get("description"),
        "package_name": group.get("package_name"),
        "file_path": group.get("path"),
        "original_file_path": group.get("original_file_path"),
        "owner_name": owner.get("name"),
        "owner_email": owner.get("email"),
    }


def catalog_rows(entry: Node) -> tuple[Row, list[Row]]:
    """An entry of the catalog as a row of `dbt.catalog_tables`, and its stats as rows."""
    metadata, node_id = entry.get("metadata") or {}, entry["unique_id"]
    table = {
        "unique_id": node_id,
        "table_type": metadata.get("type"),
        "database_name": metadata.get("database"),
        "schema_name": metadata.get("schema"),
        "table_name": metadata.get("name"),
        "table_owner": metadata.get("owner"),
        "table_comment": metadata.get("comment"),
    }
    stats = [
        {
            "unique_id": node_id,
            "stat_id": stat.get("id"),
            "stat_label": stat.get("label"),
            "stat_value": None if stat.get("value") is None else str(stat["value"]),
            "description": stat.get("description"),
            "include_in_stats": bool(stat.get("include")),
        }
        for stat in (entry.get("stats") or {}).values()
        if isinstance(stat, Mapping) and stat.get("id") != "has_stats"
    ]
    return table, stats
