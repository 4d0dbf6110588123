"""An index as dbt 2 writes it of a small project, and the questions that its docs page asks.

The schemas are those of dbt 2.0.0rc196; the questions those of the page's own SQL (dbt-core,
crates/dbt-docs-server/web/src/shared/data-sources/duckdb/).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

AT = datetime(2026, 11, 20, 1, tzinfo=UTC)
TEXTS, TIME = pa.list_(pa.string()), pa.timestamp("us", tz="UTC")
Json = dict[str, Any]


def _schema(texts: str, lists: str = "", **others: pa.DataType) -> pa.Schema:
    names = texts.split()
    fields = [pa.field(names[0], pa.string(), nullable=False)]
    fields += [pa.field(name, pa.string()) for name in names[1:]]
    fields += [pa.field(name, TEXTS, nullable=False) for name in lists.split()]
    fields += [pa.field(name, kind) for name, kind in others.items()]
    return pa.schema([*fields, pa.field("ingested_at", TIME, nullable=False)])


SCHEMAS = {
    "dbt.nodes": _schema(
        "unique_id name resource_type package_name file_path original_file_path alias description "
        "node_language raw_code database_name schema_name relation_name identifier materialized "
        "config access_level group_name patch_path meta source_name source_description loader "
        "compiled_code search_text",
        "fqn tags classifiers primary_key",
        enabled=pa.bool_(),
    ),
    "dbt.edges": _schema("parent_unique_id child_unique_id edge_type"),
    "dbt.node_columns": _schema(
        "unique_id column_name declared_type inferred_type catalog_type data_type description meta "
        "catalog_comment",
        "tags classifiers",
        column_index=pa.int64(),
    ),
    "dbt.exposures": _schema(
        "unique_id name exposure_type label owner_name owner_email url maturity description "
        "package_name file_path original_file_path meta config",
        "fqn tags depends_on_nodes depends_on_macros",
        created_at=pa.float64(),
    ),
    "dbt.groups": _schema(
        "unique_id name description package_name file_path original_file_path owner_name "
        "owner_email config"
    ),
    "dbt.test_metadata": _schema("unique_id test_name column_name attached_node severity"),
    "dbt.docs": _schema("unique_id name package_name file_path block_contents"),
    "dbt.project": _schema("project_name project_id dbt_version adapter_type"),
    "dbt.generation": pa.schema([pa.field("ingested_at", TIME, nullable=False)]),
}


def write_index(target: Path, manifest: Json, catalog: Json, **more: Sequence[Json]) -> None:
    """Write the manifest and an index of it, as `dbt compile --write-index` does.

    Args:
        more: Rows of further tables, `__` for the dot in their names; `dbt__column_lineage`.
    """
    (target / "index").mkdir(parents=True, exist_ok=True)
    (target / "manifest.json").write_text(json.dumps(manifest))
    nodes = {**manifest["nodes"], **manifest["sources"]}
    entries = {**catalog["nodes"], **catalog["sources"]}
    rows: dict[str, list[Json]] = {
        "dbt.nodes": [_node(node) for node in nodes.values()],
        "dbt.edges": [
            {"parent_unique_id": parent, "child_unique_id": child, "edge_type": "ref"}
            for child, parents in manifest["parent_map"].items()
            for parent in parents
        ],
        "dbt.node_columns": [
            {
                "unique_id": node_id,
                "column_name": name,
                "column_index": number,
                "catalog_type": looked_up.get(name, {}).get("type"),
                "description": declared.get(name, {}).get("description"),
            }
            for node_id, node in nodes.items()
            for looked_up in [entries.get(node_id, {}).get("columns") or {}]
            for declared in [node.get("columns") or {}]
            for number, name in enumerate({**looked_up, **declared})
        ],
        "dbt.exposures": [
            {
                "unique_id": key,
                "name": node["name"],
                "depends_on_nodes": node["depends_on"]["nodes"],
            }
            for key, node in manifest["exposures"].items()
        ],
        "dbt.groups": [],
        "dbt.test_metadata": [
            {
                "unique_id": key,
                "test_name": "not_null",
                "attached_node": node["depends_on"]["nodes"][0],
            }
            for key, node in manifest["nodes"].items()
            if node["resource_type"] == "test"
        ],
        "dbt.docs": [{"unique_id": "doc.dbt.__overview__", "name": "__overview__"}],
        "dbt.project": [{"project_name": "shop", "dbt_version": "2.0.0"}],
        "dbt.generation": [{}],
    }
    rows |= {name.replace("__", "."): list(listed) for name, listed in more.items()}
    for name, listed in rows.items():
        stamped = [{"ingested_at": AT, **row} for row in listed]
        schema = SCHEMAS.get(name)
        table = (
            pa.Table.from_pylist([_filled(row, schema) for row in stamped], schema=schema)
            if schema
            else pa.Table.from_pylist(stamped)
        )
        pq.write_table(table, target / f"index/{name}.parquet", compression="zstd")


def _node(node: Mapping[str, Any]) -> Json:
    names = ("unique_id", "name", "resource_type", "package_name", "original_file_path", "alias")
    return {
        **{name: node.get(name) for name in (*names, "description", "raw_code")},
        "fqn": node.get("fqn") or [],
        "schema_name": node.get("schema"),
        "materialized": (node.get("config") or {}).get("materialized"),
        "config": json.dumps(json.dumps(node.get("config") or {})),  # dbt encodes it twice
        "tags": node.get("tags") or [],
    }


def _filled(row: Json, schema: pa.Schema) -> Json:
    empty = {item.name: [] for item in schema if item.type == TEXTS}
    return {**empty, **row}


def ask(folder: Path, question: str) -> list[tuple[Any, ...]]:
    """The answer of DuckDB about the files of an index, as `dbt.nodes`, `dbt_rt.run_results`…

    By the views that dbt itself declares of it, where it did.
    """
    connection = duckdb.connect()
    connection.execute(f"SET file_search_path = '{folder}'")
    connection.execute("CREATE SCHEMA dbt; CREATE SCHEMA dbt_rt")
    views = folder / "views.sql"
    statements = views.read_text().split(";") if views.exists() else _views(folder)
    for statement in statements:
        try:
            connection.execute(statement)
        except (duckdb.IOException, duckdb.CatalogException):  # a table without a file
            continue
    return connection.execute(question).fetchall()


def _views(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("*.parquet")):
        yield f"CREATE VIEW {path.stem} AS SELECT * FROM read_parquet('{path}')"
