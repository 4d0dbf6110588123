"""Tests of dbt's models without a relation are tests of what contains their SQL."""

from __future__ import annotations

from typing import Any

from dbt_graft.injector import describe
from dbt_graft.injector.relations import relations
from tests.cases import for_each


def model(name: str, materialized: str, *reads: str) -> dict[str, Any]:
    return {
        "resource_type": "model",
        "name": name,
        "schema": "main",
        "alias": name,
        "relation_name": None if materialized == "ephemeral" else f'"main"."{name}"',
        "config": {"materialized": materialized},
        "depends_on": {"nodes": [f"model.shop.{read}" for read in reads]},
    }


def manifest(*models: dict[str, Any]) -> dict[str, Any]:
    nodes: dict[str, Any] = {f"model.shop.{one['name']}": one for one in models}
    for one in models:
        nodes[f"test.shop.{one['name']}"] = {
            "resource_type": "test",
            "attached_node": f"model.shop.{one['name']}",
            "column_name": "id",
            "test_metadata": {"name": "not_null"},
        }
    return {"metadata": {}, "nodes": nodes, "sources": {}}


@for_each(
    "model, titles",
    [
        ("raw", []),
        ("mart", ["not_null (inner)", "not_null (outer)"]),
        ("view", ["not_null (inner)"]),
        ("report", []),  # The rows of `mart` are its own.
    ],
)
def test_the_tests_of_ephemeral_models(model: str, titles: list[str]) -> None:
    tests_by_node = describe.tests_by_node(MANIFEST)
    inner = describe.inner_tests_by_node(MANIFEST, relations(MANIFEST, "spark"), tests_by_node)
    tests = inner.get(f"model.shop.{model}", ())
    assert sorted(test.title for test in tests) == titles
    assert {test.column for test in tests} <= {""}


MANIFEST = manifest(
    model("raw", "table"),
    model("inner", "ephemeral", "raw"),
    model("outer", "ephemeral", "inner", "inner"),
    model("mart", "table", "outer", "inner"),
    model("view", "view", "inner"),
    model("report", "incremental", "mart"),
)
