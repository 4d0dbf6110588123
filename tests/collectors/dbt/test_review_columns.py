"""Tests, constraints and `meta` of dbt -> what is promised of columns, before and after."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_graft.analysis.review.compare import compare
from dbt_graft.collectors.dbt.review_nodes import dbt_version
from dbt_graft.collectors.dbt.review_queries import outlined_versions
from tests.cases import for_each
from tests.collectors.dbt.test_review_nodes import ORDERS, X, node

SQL = "select id, note from raw.orders"
CONTRACT = {"materialized": "table", "contract": {"enforced": True}}


def manifest(*tests: dict[str, Any], sql: str = SQL, **more: Any) -> dict[str, Any]:
    return {
        "metadata": {"adapter_type": "spark"},
        "nodes": {X: node(X, sql, **more), **{test["unique_id"]: test for test in tests}},
        "sources": {ORDERS: node(ORDERS)},
    }


def on(name: str, column: str = "note", **arguments: Any) -> dict[str, Any]:
    return {
        "resource_type": "test",
        "unique_id": f"test.shop.{name}_{column}",
        "attached_node": X,
        "column_name": column,
        "test_metadata": {"name": name, "kwargs": arguments},
        "depends_on": {"nodes": [X]},
    }


def column(name: str = "note", **more: Any) -> dict[str, Any]:
    return {name: {"name": name, **more}}


def said(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    reviews = compare(
        *outlined_versions(dbt_version(before, {}, after), dbt_version(after, {}, before))
    )
    return [
        " ".join(filter(None, [change.verdict.name, change.column, change.text]))
        for review in reviews
        for change in review.changes
        if "descriptions" not in change.text
    ]


VALUES = on("accepted_values", values=["new", "paid"])
NOT_NULL = {"type": "not_null"}


@for_each(
    "before, after, expected",
    [
        (
            manifest(VALUES),
            manifest(on("accepted_values", values=["new", "paid", "secret-3"])),
            ["VALUES note other accepted values: 1 new"],
        ),
        (
            manifest(VALUES),
            manifest(on("accepted_values", values=["paid"])),
            ["VALUES note other accepted values: 1 gone"],
        ),
        (manifest(VALUES), manifest(on("accepted_values", values=["paid", "new"])), []),
        (manifest(on("unique")), manifest(), ["CONTRACT note no longer tested: unique"]),
        # A test of a column that goes is no change of its own.
        (
            manifest(on("unique")),
            manifest(sql="select id from raw.orders"),
            ["BREAKING note removed"],
        ),
        (
            manifest(columns=column(constraints=[NOT_NULL]), config=CONTRACT),
            manifest(columns=column(), config=CONTRACT),
            ["BREAKING note may be null now"],
        ),
        (
            manifest(columns=column(constraints=[NOT_NULL])),
            manifest(columns=column(constraints=None)),
            ["VALUES note may be null now"],
        ),
        (
            manifest(
                config=CONTRACT,
                constraints=[{"type": "primary_key", "columns": ["id"], "name": "pk"}],
            ),
            manifest(config=CONTRACT, constraints=[]),
            ["BREAKING no longer enforced: primary_key (id)"],
        ),
        (
            manifest(config=CONTRACT, constraints=[{"type": "check", "expression": "id > 1"}]),
            manifest(config=CONTRACT, constraints=[{"type": "check", "expression": "id > 2"}]),
            ["BREAKING no longer enforced: check", "ADDITIVE enforced now: check"],
        ),
        (
            manifest(columns=column(data_type="varchar(20)"), config=CONTRACT),
            manifest(columns=column(data_type="varchar(10)"), config=CONTRACT),
            ["BREAKING note varchar(20) is varchar(10) now"],
        ),
        (
            manifest(columns=column(meta={"classification": "internal"})),
            manifest(columns=column(config={"meta": {"classification": "pii"}})),
            ["VALUES note classified pii now, no longer classified internal"],
        ),
        (
            manifest(columns=column()),
            manifest(columns=column(tags=["pii"])),
            ["VALUES note classified pii now, no longer unclassified"],
        ),
        (
            manifest(columns=column(meta={"unit": "EUR"})),
            manifest(columns=column(meta={"unit": "cent"})),
            ["BREAKING note its unit is cent, no longer EUR"],
        ),
        # A new column of which YAML demands a value.
        (
            manifest(),
            manifest(
                sql="select id, note, id as extra from raw.orders",
                columns=column("extra", constraints=[NOT_NULL]),
            ),
            ["BREAKING extra added, and required"],
        ),
    ],
)
def test_what_is_promised_otherwise(
    before: dict[str, Any], after: dict[str, Any], expected: list[str]
) -> None:
    assert said(before, after) == expected


@pytest.mark.parametrize(
    ("raw", "macro", "expected"),
    [
        ("select 1", "m", []),
        ("select 2", "m", ["UNKNOWN it is not compiled: run `dbt compile`"]),
        ("select 1", "other", ["UNKNOWN it is not compiled: run `dbt compile`"]),
    ],
)
def test_a_model_that_no_version_compiles_is_known_by_its_code_and_macros(
    raw: str, macro: str, expected: list[str]
) -> None:
    def version(code: str, body: str) -> dict[str, Any]:
        found = manifest(sql="", raw_code=code)
        return {**found, "macros": {"macro.shop.m": {"macro_sql": body}}}

    assert said(version("select 1", "m"), version(raw, macro)) == expected
