"""The review of a model by two of its queries, over three tables with or without a catalog."""

from __future__ import annotations

from typing import Any

from dbt_graft.analysis.review.compare import SAME_RESULT, compare
from dbt_graft.collectors.dbt.review_nodes import DbtVersion, dbt_version
from dbt_graft.collectors.dbt.review_queries import outlined_versions

COLUMNS = "id x t status amount customer_id"
TABLES = ("src", "a", "b")
WRITTEN_OTHERWISE = f"METADATA {SAME_RESULT}"
_ADAPTERS = {"tsql": "sqlserver"}
_UPPER = ("snowflake", "oracle")


def review_pair(old: str, new: str, dialect: str, columns: str = COLUMNS) -> list[str]:
    """The changes between two queries of a model, the worst first."""
    versions = (_version(sql, dialect, columns) for sql in (old, new))
    return [
        " ".join(filter(None, [change.verdict.name, change.column, change.text]))
        for node in compare(*outlined_versions(*versions))
        for change in node.changes
    ]


def _version(sql: str, dialect: str, columns: str) -> DbtVersion:
    names = columns.upper() if dialect in _UPPER else columns
    sources = {f"source.shop.raw.{name}": _node(name, "source", "raw") for name in TABLES}
    model = _node("m", "model", "db") | {
        "compiled_code": sql,
        "raw_code": sql,
        "depends_on": {"nodes": [*sources]},
    }
    entry = {
        "columns": {
            name: {"name": name, "type": "int", "index": at}
            for at, name in enumerate(names.split())
        }
    }
    adapter = _ADAPTERS.get(dialect, dialect)
    manifest = {
        "metadata": {"adapter_type": adapter},
        "nodes": {"model.shop.m": model},
        "sources": sources,
    }
    catalog = {"sources": dict.fromkeys(sources, entry)} if columns else {}
    return dbt_version(manifest, catalog, manifest)


def _node(name: str, kind: str, schema: str) -> dict[str, Any]:
    return {
        "resource_type": kind,
        "name": name,
        "identifier": name,
        "source_name": "raw",
        "schema": schema,
        "relation_name": f"{schema}.{name}",
        "package_name": "shop",
        "config": {"materialized": "table"},
    }
