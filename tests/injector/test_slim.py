"""Slim artifacts: all that the docs page never reads is left out, and nothing else."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dbt_graft.injector.report import Grafted
from dbt_graft.injector.slim import slim

TEST = "test.shop.not_null_orders_order_id"


@pytest.fixture
def manifest() -> dict[str, Any]:
    return {
        "metadata": {"adapter_type": "spark", "project_id": "1"},
        "nodes": {
            "model.shop.orders": {
                "unique_id": "model.shop.orders",
                "resource_type": "model",
                "name": "orders",
                "group": None,
                "raw_code": "select 1",
                "compiled_code": "select 1",
                "checksum": {"name": "sha256", "checksum": "0"},
                "unknown_key": 1,
                "config": {
                    "materialized": "table",
                    "enabled": True,
                    "grants": {},
                    "tags": [],
                    "packages": ["a"],
                    "alias": None,
                    "contract": {"enforced": True},
                },
                "columns": {
                    "id": {"name": "id", "description": "", "meta": {}, "doc_blocks": []},
                    "sum": {"name": "sum", "description": "All.", "meta": {"unit": "EUR"}},
                },
            },
            TEST: {
                "unique_id": TEST,
                "resource_type": "test",
                "compiled_code": "select id",
                "config": {"severity": "ERROR"},
                "depends_on": {"nodes": ["model.shop.orders"]},
                "test_metadata": {
                    "name": "not_null",
                    "kwargs": {"column_name": "id", "model": "{{ … }}"},
                },
            },
        },
        "sources": {},
        "macros": {
            "macro.dbt.run_query": {"package_name": "dbt"},
            "macro.dbt_spark.file_format": {"package_name": "dbt_spark"},
            "macro.shop.to_eur": {"package_name": "shop", "macro_sql": "1", "created_at": 1.0},
        },
        "docs": {
            "doc.dbt.__overview__": {"name": "__overview__", "block_contents": "Hello"},
            "doc.shop.order_id": {"name": "order_id", "block_contents": "A key."},
        },
        "parent_map": {"model.shop.orders": [], TEST: ["model.shop.orders"], "x": ["y"]},
        "child_map": {"model.shop.orders": [TEST]},
        "disabled": {},
    }


@pytest.fixture
def catalog() -> dict[str, Any]:
    return {
        "metadata": {},
        "nodes": {
            "model.shop.orders": {
                "unique_id": "model.shop.orders",
                "metadata": {"type": None, "owner": "erp", "comment": None, "schema": "raw"},
                "columns": {
                    "ID": {"type": "bigint", "index": 1, "name": "ID", "comment": None},
                    "added": {"type": "string", "index": 2, "name": "added"},
                },
                "stats": {
                    "has_stats": {"id": "has_stats", "include": False},
                    "bytes": {"id": "bytes", "include": True, "value": 1},
                },
            },
            "model.shop.gone": {"unique_id": "model.shop.gone", "columns": {}},
        },
        "sources": {},
        "errors": None,
    }


def test_the_documents_are_not_modified(grafted: Grafted) -> None:
    before = copy.deepcopy((grafted.manifest, grafted.catalog))

    slim(grafted.manifest, grafted.catalog)

    assert (grafted.manifest, grafted.catalog) == before


def test_a_model_keeps_what_its_page_its_trees_and_the_selectors_read(
    manifest: dict[str, Any], catalog: dict[str, Any]
) -> None:
    assert slim(manifest, catalog)[0]["nodes"]["model.shop.orders"] == {
        "resource_type": "model",
        "name": "orders",
        "group": None,
        "raw_code": "select 1",
        "compiled_code": "select 1",
        "config": {
            "materialized": "table",
            "enabled": True,
            "packages": ["a"],
            "contract": {"enforced": True},
        },
        "columns": {
            "id": {},
            "sum": {"name": "sum", "description": "All.", "meta": {"unit": "EUR"}},
        },
    }


def test_a_generic_test_keeps_its_page_and_its_code(
    manifest: dict[str, Any], catalog: dict[str, Any]
) -> None:
    slimmed = slim(manifest, catalog)[0]

    assert slimmed["nodes"][TEST] == {
        "resource_type": "test",
        "compiled_code": "select id",
        "depends_on": {"nodes": ["model.shop.orders"]},
        "test_metadata": {"name": "not_null", "kwargs": {"column_name": "id"}},
    }
    assert slimmed["parent_map"] == {"x": ["y"]}


@pytest.mark.parametrize("refs", [[{"name": "orders"}], []])
def test_the_page_reads_what_a_relationships_test_refers_to(
    manifest: dict[str, Any], catalog: dict[str, Any], refs: list[Any]
) -> None:
    metadata = {"name": "relationships", "kwargs": {"field": "id", "to": "ref('orders')"}}
    manifest["nodes"][TEST] |= {"test_metadata": metadata, "refs": refs}

    slimmed = slim(manifest, catalog)[0]["nodes"][TEST]

    assert slimmed["refs"] == refs
    assert slimmed["test_metadata"]["kwargs"] == {"field": "id"}


def test_all_arguments_of_a_test_the_page_does_not_know_stay(
    manifest: dict[str, Any], catalog: dict[str, Any]
) -> None:
    metadata = {"name": "not_negative", "kwargs": {"column_name": "id", "model": "m", "to": 1}}
    manifest["nodes"][TEST]["test_metadata"] = metadata

    assert slim(manifest, catalog)[0]["nodes"][TEST]["test_metadata"] == metadata


def test_macros_of_dbt_and_its_adapter_are_left_out(
    manifest: dict[str, Any], catalog: dict[str, Any]
) -> None:
    assert slim(manifest, catalog)[0]["macros"] == {
        "macro.shop.to_eur": {"package_name": "shop", "macro_sql": "1"}
    }


def test_links_to_macros_the_page_does_not_list_are_left_out(
    manifest: dict[str, Any], catalog: dict[str, Any]
) -> None:
    model = manifest["nodes"]["model.shop.orders"]
    model["depends_on"] = {"nodes": ["x"], "macros": ["macro.dbt.run_query", "macro.shop.to_eur"]}

    slimmed = slim(manifest, catalog)[0]["nodes"]["model.shop.orders"]

    assert slimmed["depends_on"] == {"nodes": ["x"], "macros": ["macro.shop.to_eur"]}


@pytest.mark.parametrize(
    ("docs", "slimmed"),
    [
        ({"show": True, "node_color": None}, False),
        ({"show": False, "node_color": None}, True),
        ({"show": True, "node_color": "red"}, True),
        (None, True),
    ],
)
def test_how_a_node_is_shown_stays_where_it_is_no_default(
    manifest: dict[str, Any], catalog: dict[str, Any], docs: Any, slimmed: bool
) -> None:
    manifest["nodes"]["model.shop.orders"]["docs"] = docs

    assert ("docs" in slim(manifest, catalog)[0]["nodes"]["model.shop.orders"]) is slimmed


def test_of_the_docs_the_overviews_stay(manifest: dict[str, Any], catalog: dict[str, Any]) -> None:
    assert list(slim(manifest, catalog)[0]["docs"]) == ["doc.dbt.__overview__"]


def test_a_catalog_entry_keeps_types_owner_and_shown_stats(
    manifest: dict[str, Any], catalog: dict[str, Any]
) -> None:
    assert slim(manifest, catalog)[1]["nodes"] == {
        "model.shop.orders": {
            "metadata": {"type": None, "owner": "erp"},
            "columns": {
                "ID": {"type": "bigint", "index": 1},
                "added": {"type": "string", "index": 2, "name": "added"},
            },
            "stats": {"bytes": {"id": "bytes", "include": True, "value": 1}},
        },
        "model.shop.gone": {"unique_id": "model.shop.gone", "columns": {}},
    }


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("config", None),
        ("columns", {"id": None}),
        ("columns", None),
        ("test_metadata", None),
        ("depends_on", None),
    ],
)
def test_a_damaged_node_stays_as_it_is(
    manifest: dict[str, Any], catalog: dict[str, Any], key: str, value: Any
) -> None:
    manifest["nodes"][TEST if key == "test_metadata" else "model.shop.orders"][key] = value

    nodes = slim(manifest, catalog)[0]["nodes"]

    assert nodes[TEST if key == "test_metadata" else "model.shop.orders"][key] == value
