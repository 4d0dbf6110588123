"""A project of dbt 2 with its docs page, and a source that a declared task writes."""

from __future__ import annotations

import json
from pathlib import Path

from tests.graft.small_project import small_project
from tests.injector.index.index_of_dbt import write_index
from tests.injector.page_of_dbt_2 import write_page

_SOURCE = {
    "unique_id": "source.shop.raw.orders",
    "resource_type": "source",
    "name": "orders",
    "identifier": "orders",
    "schema": "raw",
    "database": None,
    "package_name": "shop",
    "source_name": "raw",
    "fqn": ["shop", "raw", "orders"],
    "description": "",
    "tags": [],
}


def dbt_2_project(folder: Path) -> None:
    """Write the project; its source becomes `model.python_tasks.raw_orders`."""
    small_project(folder)
    target = folder / "target"
    manifest = json.loads((target / "manifest.json").read_text())
    manifest["sources"] = {_SOURCE["unique_id"]: _SOURCE}
    write_index(target, manifest, {"nodes": {}, "sources": {}})
    write_page(target)
