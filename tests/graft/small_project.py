"""A dbt project without models, and lineage that is declared: a build of it needs no Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_SCHEMA = "https://schemas.getdbt.com/dbt/{}.json"
_EMPTY = (
    *("nodes", "sources", "macros", "docs", "exposures", "metrics", "groups", "selectors"),
    *("disabled", "parent_map", "child_map", "group_map", "saved_queries", "semantic_models"),
    "unit_tests",
)


def small_project(folder: Path) -> None:
    """Write the project, with one table."""
    (folder / "target").mkdir(exist_ok=True)
    (folder / "graft.yml").write_text("collect: [{declared: {path: lineage.yml}}]\n")
    (folder / "target/manifest.json").write_text(json.dumps(empty_manifest()))
    (folder / "target/catalog.json").write_text(json.dumps(empty_catalog()))
    declare(folder, "raw.orders")


def empty_manifest() -> dict[str, Any]:
    """The manifest of a project that has nothing."""
    return {
        "metadata": {
            "dbt_schema_version": _SCHEMA.format("manifest/v12"),
            "dbt_version": "1.11.0",
            "adapter_type": "spark",
            "project_name": "shop",
        },
        **{key: {} for key in _EMPTY},
    }


def empty_catalog() -> dict[str, Any]:
    """Its catalog."""
    return {
        "metadata": {"dbt_schema_version": _SCHEMA.format("catalog/v1")},
        "nodes": {},
        "sources": {},
        "errors": None,
    }


def declare(folder: Path, *tables: str) -> None:
    """Write that a task loads these tables."""
    flows = "".join(f"    - {{from: [sftp/files], to: [spark/{table}]}}\n" for table in tables)
    (folder / "lineage.yml").write_text(f"version: 1\ntasks:\n  load:\n    flows:\n{flows}")
