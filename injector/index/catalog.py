"""Relations in the warehouse, by an index, in the form of catalog.json and sources.json."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from dbt_graft.injector.index.tables import DbtIndex, Row
from dbt_graft.lineage.grouping import group_by_key

Document = dict[str, Any]
_NODES = frozenset({"model", "seed", "snapshot"})
_MINUTE = timedelta(minutes=1)


def catalog_of(index: DbtIndex) -> Document:
    """The catalog of an index, in the form of catalog.json.

    A relation of which neither a type of a column nor an entry of the warehouse is known has none,
    as one that was not built has none in catalog.json. A type that YAML declares is not known.
    """
    has_catalog = not has_first_columns_only(index)
    columns = group_by_key((row["unique_id"], row) for row in index.rows("dbt.node_columns"))
    tables = {row["unique_id"]: row for row in index.rows("dbt.catalog_tables")}
    stats: dict[str, list[Row]] = defaultdict(list)
    for row in index.rows("dbt.catalog_stats"):
        stats[row["unique_id"]].append(row)
    parts: dict[str, Document] = {"nodes": {}, "sources": {}}
    for node in index.rows("dbt.nodes"):
        node_id, kind = node["unique_id"], node["resource_type"]
        part = "nodes" if kind in _NODES else "sources" if kind == "source" else ""
        if node.get("enabled") is False:  # these are in no other artifact
            continue
        typed = list(_typed(columns.get(node_id, ()), has_catalog))
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


def has_first_columns_only(index: DbtIndex) -> bool:
    """Whether it has the type of one column of each relation: up to dbt 2.0 a fault of dbt's.

    Of such a list nobody knows what it lacks.
    """
    ids, types = (index.column("dbt.node_columns", name) for name in ("unique_id", "catalog_type"))
    looked_up = [node_id for node_id, kind in zip(ids, types, strict=True) if kind]
    return bool(looked_up) and len(looked_up) == len({*looked_up})


def _typed(columns: Iterable[Row], has_catalog: bool) -> Iterator[Row]:
    """The columns of a relation in the warehouse, each with its `type`.

    They were looked up, or they follow from SQL or a seed's file: then all of them are known.
    """
    rows = list(columns)
    key = "catalog_type" if has_catalog and any(row.get("catalog_type") for row in rows) else ""
    inferred = [row.get("inferred_type") for row in rows]
    if not key and all(inferred) and inferred != [row.get("declared_type") for row in rows]:
        key = "inferred_type"
    yield from ({**row, "type": row[key]} for row in rows if key and row.get(key))


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
    """Faults of an index beside its manifest: it is of another compile, or older."""
    kinds = (*_NODES, "source")
    nodes = [*manifest["nodes"].values(), *manifest["sources"].values()]
    wanted = {node["unique_id"] for node in nodes if node.get("resource_type") in kinds}
    columns = (
        index.column("dbt.nodes", name) for name in ("unique_id", "resource_type", "enabled")
    )
    known = {
        node_id
        for node_id, kind, enabled in zip(*columns, strict=True)
        if kind in kinds and enabled is not False
    }
    lacking, surplus = sorted(wanted - known), sorted(known - wanted)
    made = str((manifest.get("metadata") or {}).get("generated_at") or "")[:19]
    written = str(_iso(index.ingested_at) or "")[:19]
    if not lacking and not surplus:
        if _is_older(written, made):
            yield (
                f"{index.folder}: it is older than manifest.json ({written} and {made}): a later "
                "command of dbt did not write it: run `dbt compile --write-index`"
            )
        return
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
                "type": row["type"],
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


def _index(row: Row) -> int:
    return int(row.get("column_index") or 0)


def _is_older(written: str, made: str) -> bool:
    """Whether a time is more than a minute before another; dbt writes both at its end."""
    try:
        return datetime.fromisoformat(made) - datetime.fromisoformat(written) > _MINUTE
    except ValueError:
        return False


def _iso(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
