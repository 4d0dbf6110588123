"""What an index knows of relations in the warehouse, as catalog.json and sources.json have it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from dbt_graft.injector.index.tables import DbtIndex, Row

Document = dict[str, Any]
_NODES = frozenset({"model", "seed", "snapshot"})
# A type that somebody looked up in the warehouse comes first, one that was only declared last.
_TYPES = ("catalog_type", "inferred_type", "declared_type", "data_type")


def catalog_of(index: DbtIndex) -> Document:
    """The catalog of an index, in the form of catalog.json.

    A relation of which neither a type of a column nor an entry of the warehouse is known has none,
    as one that was not built has none in catalog.json.
    """
    columns: dict[str, list[Row]] = defaultdict(list)
    for row in index.rows("dbt.node_columns"):
        columns[row["unique_id"]].append(row)
    tables = {row["unique_id"]: row for row in index.rows("dbt.catalog_tables")}
    stats: dict[str, list[Row]] = defaultdict(list)
    for row in index.rows("dbt.catalog_stats"):
        stats[row["unique_id"]].append(row)
    parts: dict[str, Document] = {"nodes": {}, "sources": {}}
    for node in index.rows("dbt.nodes"):
        node_id, kind = node["unique_id"], node["resource_type"]
        part = "nodes" if kind in _NODES else "sources" if kind == "source" else ""
        typed = [row for row in columns.get(node_id, ()) if _type(row)]
        if part and (node_id in tables or typed):
            parts[part][node_id] = _entry(node, tables.get(node_id, {}), typed, stats[node_id])
    at = index.ingested_at
    return {
        "metadata": {
            "dbt_schema_version": "https://schemas.getdbt.com/dbt/catalog/v1.json",
            **({"generated_at": _iso(at)} if at else {}),
        },
        **parts,
        "errors": None,
    }


def freshness_of(index: DbtIndex) -> dict[str, Document]:
    """Source -> the newest result of its freshness, as sources.json has it."""
    rows = sorted(
        index.rows("dbt.source_freshness"), key=lambda row: str(row.get("snapshotted_at"))
    )
    return {
        row["unique_id"]: {key: _iso(value) for key, value in row.items() if value is not None}
        for row in rows
    }


def index_notices(index: DbtIndex, manifest: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with an index beside its manifest: it is of another compile."""
    kinds = (*_NODES, "source")
    nodes = [*manifest["nodes"].values(), *manifest["sources"].values()]
    wanted = {node["unique_id"] for node in nodes if node.get("resource_type") in kinds}
    ids = index.column("dbt.nodes", "unique_id")
    types = index.column("dbt.nodes", "resource_type")
    known = {node_id for node_id, kind in zip(ids, types, strict=True) if kind in kinds}
    lacking, surplus = sorted(wanted - known), sorted(known - wanted)
    if not lacking and not surplus:
        return
    made = str((manifest.get("metadata") or {}).get("generated_at") or "")[:19]
    written = str(_iso(index.ingested_at) or "")[:19]
    older = "the index is older" if written < made else "the manifest is older"
    names = ", ".join((lacking or surplus)[:3])
    yield (
        f"{index.folder}: it is of another compile than manifest.json: it lacks {len(lacking)} "
        f"of its nodes and has {len(surplus)} others ({names}); {older} ({written} and {made}): "
        "run `dbt compile --write-index`"
    )


def _entry(node: Row, table: Row, columns: list[Row], stats: list[Row]) -> Document:
    ordered = sorted(columns, key=lambda row: (row.get("column_index") is None, _index(row)))
    return {
        "metadata": {
            "type": table.get("table_type") or node.get("materialized") or "table",
            "schema": table.get("schema_name") or node.get("schema_name"),
            "name": table.get("table_name") or node.get("alias") or node["name"],
            "database": table.get("database_name") or node.get("database_name"),
            "comment": table.get("table_comment"),
            "owner": table.get("table_owner"),
        },
        "columns": {
            row["column_name"]: {
                "type": _type(row),
                "index": number,
                "name": row["column_name"],
                "comment": row.get("catalog_comment"),
            }
            for number, row in enumerate(ordered, 1)
        },
        "stats": {
            row["stat_id"]: {
                "id": row["stat_id"],
                "label": row.get("stat_label") or row["stat_id"],
                "value": row["stat_value"],
                "include": row.get("include_in_stats") is not False,
                "description": row.get("description") or "",
            }
            for row in stats
        },
        "unique_id": node["unique_id"],
    }


def _type(row: Mapping[str, Any]) -> str:
    return next((str(row[name]) for name in _TYPES if row.get(name)), "")


def _index(row: Row) -> int:
    return int(row.get("column_index") or 0)


def _iso(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
