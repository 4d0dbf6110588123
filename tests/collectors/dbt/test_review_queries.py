"""The queries of two versions: which are parsed, and what is kept for the next review."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbt_graft.analysis.review.compare import compare
from dbt_graft.collectors.dbt.outline_cache import OutlineCache
from dbt_graft.collectors.dbt.review_nodes import DbtVersion, dbt_version
from dbt_graft.collectors.dbt.review_queries import outlined_versions
from dbt_graft.collectors.statements.outline import query
from tests.cases import for_each

ORDERS = "select id, note from {s}.raw"
ALL = "select * from {s}.orders where id > 1"
INCREMENTAL = (
    "select id from db.raw {% if is_incremental() %} where id > MORE {% endif %} group by id"
)


def version(schema: str = "db", **queries: str) -> DbtVersion:
    """Models, each of which reads the one before."""
    nodes: dict[str, Any] = {}
    for name, sql in queries.items():
        key = f"model.shop.{name}"
        nodes[key] = {
            "resource_type": "model",
            "unique_id": key,
            "name": name,
            "alias": name,
            "schema": schema,
            "relation_name": f"{schema}.{name}",
            "package_name": "shop",
            "compiled_code": sql.format(s=schema) if "{%" not in sql else "select 1 as id",
            "raw_code": sql,
            "config": {"materialized": "table"},
            "unrendered_config": {},
            "depends_on": {"nodes": [*nodes][-1:]},
        }
    manifest = {"metadata": {"adapter_type": "postgres"}, "nodes": nodes}
    return dbt_version(manifest, {}, manifest)


def said(before: DbtVersion, after: DbtVersion, cache: OutlineCache | None = None) -> list[str]:
    return [
        f"{node.node_id.rpartition('.')[2]} {change.verdict.name} {change.column} {change.text}"
        for node in compare(*outlined_versions(before, after, cache))
        for change in node.changes
    ]


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries that are parsed."""
    texts: list[str] = []
    outline = query.query_outline

    def noted(text: str, *arguments: Any) -> Any:
        texts.append(text)
        return outline(text, *arguments)

    monkeypatch.setattr(query, "query_outline", noted)
    return texts


def test_equal_models_are_not_parsed(parsed: list[str]) -> None:
    base = version(orders=ORDERS, all=ALL)
    assert said(base, version(orders=ORDERS, all=ALL)) == []
    assert said(base, version("pr_12", orders=ORDERS, all=ALL)) == []
    assert parsed == []


def test_what_reads_other_columns_is_parsed() -> None:
    fewer = version(orders=ORDERS.replace(", note", ""), all=ALL)
    assert said(version(orders=ORDERS, all=ALL), fewer) == [
        "all BREAKING note removed",
        "orders BREAKING note removed",
    ]


@for_each(
    "first, second, reader, changes",
    [
        # What goes by place
        (
            "id, x, t",
            "id, t, x",
            "select * from {s}.orders union all select id, x, t from {s}.raw",
            [
                "VALUES t another expression",
                "VALUES x another expression",
                "METADATA  its columns stand in another order",
            ],
        ),
        (
            "id, x, t",
            "id, t, x",
            "select b from {s}.orders as o(a, b, c)",
            ["VALUES b another expression"],
        ),
        # What takes all columns
        (
            "id, x",
            "id, x, t",
            "select count(*) as n from (select distinct * from {s}.orders) s",
            ["ROWS  another grain: GROUP BY, DISTINCT, UNION or table functions"],
        ),
        (
            "id, x",
            "id, x, t",
            "select md5(o::text) as h from {s}.orders o",
            ["VALUES h another expression"],
        ),
        (
            "id, x",
            "id, x, t",
            "select o.x from {s}.orders o natural join (select id, t from {s}.raw) r",
            ["ROWS  other joins"],
        ),
        ("id, x", "id, x, t", "select id, x from {s}.orders", []),
        ("id, x", "id", "select id, x from {s}.orders", []),
    ],
)
def test_a_reader_of_other_columns_may_give_another_result(
    first: str, second: str, reader: str, changes: list[str]
) -> None:
    versions = (
        version(orders=f"select {names} from {{s}}.raw", all=reader) for names in (first, second)
    )
    assert [line[4:] for line in said(*versions) if line.startswith("all ")] == changes


def test_a_macro_may_stand_in_a_branch_that_is_not_compiled() -> None:
    sql = "select id from db.raw {% if is_incremental() %} where {{ recent() }} {% endif %}"
    versions = [version(orders=sql) for _ in range(2)]
    for each, macros in zip(versions, ("1", "2"), strict=True):
        key = "model.shop.orders"
        nodes: Any = each.nodes
        nodes[key] = replace(nodes[key], macros=macros)
    assert said(*versions)[0].startswith("orders UNKNOWN  a branch of its code")


def test_a_review_parses_what_is_new_alone(tmp_path: Path, parsed: list[str]) -> None:
    base, new = version(orders=ORDERS), version(orders=f"{ORDERS} where id > 1")
    expected = ["orders ROWS  other filters"]
    for times in (2, 0):
        parsed.clear()
        cache = OutlineCache(tmp_path / "outlines.json")
        assert said(base, new, cache) == expected
        cache.write()
        assert len(parsed) == times
    assert b"where" not in (tmp_path / "outlines.json").read_bytes()
    (tmp_path / "outlines.json").write_bytes(b"damaged")
    assert said(base, new, OutlineCache(tmp_path / "outlines.json")) == expected


def test_a_branch_that_is_not_compiled_is_compared() -> None:
    first = version(orders=INCREMENTAL.replace("MORE", "1"))
    second = version(orders=INCREMENTAL.replace("MORE", "2"))
    assert said(first, second) == ["orders ROWS  other filters, in a branch of `is_incremental()`"]
    odd = INCREMENTAL.replace("MORE", "{{ odd() }}")
    assert said(first, version(orders=odd))[0].startswith("orders UNKNOWN  a branch of its code")
