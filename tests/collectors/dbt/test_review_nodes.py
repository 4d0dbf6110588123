"""Two versions of a project -> what is another: from the SQL of models to the verdicts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dbt_graft.analysis.review.compare import compare
from dbt_graft.analysis.review.node_change import NodeReview
from dbt_graft.collectors.dbt.review_nodes import dbt_version
from dbt_graft.collectors.dbt.review_queries import outlined_versions
from tests.cases import for_each

ORDERS = "source.shop.raw.orders"
X = "model.shop.orders_x"


def node(unique_id: str, sql: str = "", **more: Any) -> dict[str, Any]:
    kind, _, rest = unique_id.partition(".")
    name = rest.rpartition(".")[2]
    schema = "raw" if kind == "source" else "db"
    return {
        "resource_type": kind,
        "unique_id": unique_id,
        "name": name,
        "alias": name,
        "identifier": name,
        "schema": schema,
        "relation_name": f"{schema}.{name}",
        "package_name": "shop",
        "source_name": "raw",
        "compiled_code": sql,
        "raw_code": sql,
        "config": {"materialized": "table"},
        "depends_on": {"nodes": [ORDERS]},
        **more,
    }


def version(sql: str, *, listed: str = "id:int note:string", made: str = "", **more: Any) -> Any:
    manifest = {
        "metadata": {"adapter_type": "spark"},
        "nodes": {X: node(X, sql, **more)},
        "sources": {ORDERS: node(ORDERS)},
    }
    catalog = {"sources": entries(ORDERS, listed), "nodes": entries(X, made)}
    return dbt_version(manifest, catalog, manifest)


def entries(node_id: str, listed: str) -> dict[str, Any]:
    """A node in a catalog with these columns; nothing without any."""
    columns = {
        name: {"name": name, "type": kind, "index": at}
        for at, (name, kind) in enumerate(one.split(":") for one in listed.split())
    }
    return {node_id: {"columns": columns}} if columns else {}


def found(base: Any, new: Any, node_id: str = X) -> list[str]:
    reviews: dict[str, NodeReview] = {
        review.node_id: review for review in compare(*outlined_versions(base, new))
    }
    one = reviews.get(node_id)
    return (
        [" ".join(filter(None, [c.verdict.name, c.column, c.text])) for c in one.changes]
        if (one)
        else []
    )


LAYOUT = "METADATA its SQL is written otherwise, with the same result"
GRAIN = "ROWS another grain: GROUP BY, DISTINCT, UNION or table functions"
S = "select id, note from raw.orders"


@for_each(
    "before, after, changes",
    [
        (S, S, []),
        (S, "SELECT  id,\n note -- text\nFROM raw.orders", [LAYOUT]),
        (
            S,
            "with a as (select * from raw.orders), b as (select a.id, a.note from a) "
            "select * from b",
            [LAYOUT],
        ),
        (S, "select id from raw.orders", ["BREAKING note removed"]),
        # No rename by place: only the same expression proves one.
        (
            S,
            "select id, 7 as extra from raw.orders",
            ["BREAKING note removed", "ADDITIVE extra added"],
        ),
        (
            S,
            "select id, note as text from raw.orders",
            ["BREAKING note renamed to text: the same expression"],
        ),
        (S, "select id, upper(note) as note from raw.orders", ["VALUES note another expression"]),
        (S, f"{S} where id > 0", ["ROWS other filters"]),
        (f"{S} where id > 0", f"{S} where id > 10", ["ROWS other filters"]),
        (
            f"{S} where id > 0",
            f"{S} where (orders.id > 0)",
            [LAYOUT],
        ),
        (f"{S} limit 1", f"{S} limit 2", ["ROWS other filters"]),
        (S, "select distinct id, note from raw.orders", [GRAIN]),
        (f"{S} group by 1, 2", f"{S} group by id, note", [LAYOUT]),
        (
            "select note, count(*) n from raw.orders group by note",
            "select note, count(*) n from raw.orders group by note, id",
            [GRAIN],
        ),
        (
            f"{S} union all {S}",
            f"{S} union {S}",
            [GRAIN, "VALUES id another expression", "VALUES note another expression"],
        ),
        (
            "select o.id from raw.orders o left join x on x.id = o.id",
            "select o.id from raw.orders o join x on x.id = o.id",
            ["ROWS other joins"],
        ),
        # The filter moves before an outer join: the same pieces, other rows.
        (
            "select o.id from raw.orders o left join (select * from x where x.a = 1) x using (id)",
            "select o.id from raw.orders o left join x using (id) where x.a = 1",
            None,
        ),
        # Of a table joined to itself, the sides are not the same.
        (
            "select a.id from raw.orders a join raw.orders b on a.id = b.note",
            "select b.id from raw.orders a join raw.orders b on a.id = b.note",
            ["VALUES id another expression"],
        ),
        # The rank decides on the rows, two steps later.
        (
            "with r as (select *, row_number() over (partition by id order by note) n "
            "from raw.orders) select id from r where n = 1",
            "with r as (select *, row_number() over (partition by note order by id) n "
            "from raw.orders) select id from r where n = 1",
            ["ROWS other filters"],
        ),
        (
            f"{S} where id in (select id from x where a > 1)",
            f"{S} where id in (select id from x where a > 2)",
            ["ROWS other filters"],
        ),
        (S, "select id, note from raw.others", None),
        (S, "", ["UNKNOWN it is not compiled: run `dbt compile`"]),
        (S, "select from where (", ["UNKNOWN the SQL parser does not support its query"]),
    ],
)
def test_a_change_of_sql(before: str, after: str, changes: list[str] | None) -> None:
    one = found(version(before), version(after))
    if changes is None:
        assert any(change.startswith("ROWS") for change in one)
    else:
        assert one == changes


def test_a_column_that_comes_and_goes_by_a_star() -> None:
    base, new = (
        version("select * from raw.orders"),
        version("select * from raw.orders", listed="id:int extra:int"),
    )
    assert found(base, new) == ["BREAKING note removed", "ADDITIVE extra added"]
    assert found(base, new, ORDERS) == ["BREAKING note removed", "ADDITIVE extra added"]


def test_a_star_without_a_catalog_is_never_no_change() -> None:
    base = version("select * from raw.orders", listed="")
    assert found(base, base) == []
    new = version("select *, 1 as one from raw.orders", listed="")
    assert found(base, new)[0].startswith("UNKNOWN its columns are behind a `*`")


@pytest.mark.parametrize(
    ("columns", "changes"),
    [
        ("id:bigint note:string", ["VALUES id int is bigint now"]),
        ("id:smallint note:string", ["BREAKING id int is smallint now"]),
        ("id:string note:string", ["BREAKING id int is string now"]),
    ],
)
def test_types_of_the_catalog(columns: str, changes: list[str]) -> None:
    assert found(version(S), version(S, listed=columns), ORDERS) == changes


def test_a_type_that_the_catalog_has_too_is_another_once() -> None:
    sql = "select id, cast(note as decimal(16, {})) as note from raw.orders"
    base, new = (
        version(sql.format(scale), made=f"id:int note:decimal(16,{scale})") for scale in (2, 4)
    )
    assert found(base, new) == ["BREAKING note decimal(16,2) is decimal(16,4) now"]


def required(name: str) -> dict[str, Any]:
    return {"columns": {name: {"name": name, "constraints": [{"type": "not_null"}]}}}


OPTIONAL = {"columns": {"id": {"name": "id"}}}
VIEW = {"materialized": "view"}
CONTRACT = {"materialized": "table", "contract": {"enforced": True}}


@for_each(
    "before, after, changes",
    [
        (OPTIONAL, required("id"), ["ADDITIVE id is never null now"]),
        (required("id"), OPTIONAL, ["VALUES id may be null now"]),
        ({}, {"config": CONTRACT}, ["ADDITIVE its contract is enforced now"]),
        ({"config": CONTRACT}, {}, ["BREAKING its contract is no longer enforced"]),
        ({}, {"identifier": "o"}, ["BREAKING its relation is o, no longer orders_x"]),
        ({}, {"description": "x"}, ["METADATA descriptions, tags or meta"]),
        (
            {},
            {"config": {"materialized": "view"}},
            ["COST materialized as view, no longer table"],
        ),
        (
            {},
            {"config": {"materialized": "table", "unique_key": "id"}},
            ["ROWS unique_key is id now: it decides which rows a run replaces"],
        ),
        ({"language": "python"}, {"language": "python"}, []),
    ],
)
def test_contracts_and_settings(
    before: dict[str, Any], after: dict[str, Any], changes: list[str]
) -> None:
    assert found(version(S, **before), version(S, **after)) == changes


def test_python_models_are_unknown_unless_their_code_is_equal() -> None:
    def python(code: str) -> Any:
        return version("", language="python", raw_code=code)

    base = python("def model(dbt, session):\n    return 1")
    assert found(base, python("def model(dbt, session):  # one\n  return 1")) == []
    assert found(base, python("def model(dbt, session):\n    return 2")) == [
        "UNKNOWN its Python code is another"
    ]


def test_the_schema_of_another_environment_does_not_count() -> None:
    new = version("select id, note from raw.orders")
    assert found(version(S, schema="pr_12"), new) == []


def placed(config: dict[str, str], written: dict[str, str]) -> Any:
    return version(S, config={"materialized": "table"} | config, unrendered_config=written)


@for_each(
    "written, first, second, changes",
    [
        (
            {"alias": "{{ var('region') }}_o"},
            {"alias": "eu_o"},
            {"alias": "us_o"},
            ["BREAKING its relation is us_o, no longer eu_o"],
        ),
        (
            {"schema": "{{ var('region') }}"},
            {"schema": "eu"},
            {"schema": "us"},
            ["BREAKING its relation is us.orders_x, no longer eu.orders_x"],
        ),
        ({"schema": "{{ env_var('USER') }}"}, {"schema": "ada"}, {"schema": "bob"}, []),
    ],
)
def test_a_variable_may_decide_on_the_relation(
    written: dict[str, str], first: dict[str, str], second: dict[str, str], changes: list[str]
) -> None:
    assert found(placed(first, written), placed(second, written)) == changes


@pytest.mark.parametrize("key", ["target_schema", "target_database"])
def test_a_snapshot_has_words_of_its_own_for_its_place(key: str) -> None:
    first, second = ({key: name} for name in ("kept", "moved"))
    (change,) = found(placed(first, first), placed(second, second))
    assert change.startswith("BREAKING its relation is moved")


def test_a_variable_may_decide_on_where_a_source_is() -> None:
    versions = []
    for schema in ("eu", "us"):
        manifest: dict[str, Any] = {
            "metadata": {"adapter_type": "spark"},
            "sources": {ORDERS: node(ORDERS, schema=schema, unrendered_schema="{{ var('s') }}")},
        }
        versions.append(dbt_version(manifest, {}, manifest))
    assert found(*versions, ORDERS) == ["ROWS its relation is us.orders, no longer eu.orders"]


def test_models_come_and_go() -> None:
    here = version(S)
    gone = replace(here, nodes={}, models={})
    assert found(here, gone) == ["BREAKING the model is removed"]
    assert found(gone, here) == ["ADDITIVE new model"]


def test_a_hook_of_the_project_comes_and_goes() -> None:
    hook = "operation.shop.shop-on-run-end-0"
    manifest: dict[str, Any] = {
        "metadata": {"adapter_type": "spark"},
        "nodes": {hook: node(hook, "delete from db.x", resource_type="operation")},
    }
    here = dbt_version(manifest, {}, manifest)
    gone = replace(here, nodes={}, models={})
    assert found(gone, here, hook) == ["ROWS a new statement, which may change rows"]
    assert found(here, gone, hook) == ["ROWS a statement is gone, which may have changed rows"]


def test_a_comment_allows_a_change() -> None:
    sql = '-- graft: allow-change reason="agreed with Ada"\nselect id from raw.orders'
    (review,) = compare(*outlined_versions(version(S), version(sql)))
    assert (review.allowed, review.verdict.name) == ("agreed with Ada", "BREAKING")
