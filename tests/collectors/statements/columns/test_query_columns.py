"""Columns of queries: what their tables are, which names are the same, and what has no columns."""

from __future__ import annotations

import pytest

from dbt_graft.collectors.statements.columns.query_columns import query_columns
from dbt_graft.collectors.statements.columns.tree import NoTreeError
from tests.cases import for_each


@for_each(
    "sql, tables",
    [
        ("SELECT a FROM DB.S.T", [("db", "s", "t")]),
        ("SELECT * FROM b JOIN a ON a.i = b.i", [("b",), ("a",)]),
        ("WITH c AS (SELECT a FROM t) SELECT a FROM c", [("t",)]),
        ("WITH t AS (SELECT a FROM s.t) SELECT a FROM t", [("s", "t")]),
        ("WITH t AS (SELECT a FROM t) SELECT a FROM t", [("t",)]),
        ("WITH c AS (SELECT a FROM t) SELECT a FROM d.c", [("t",), ("d", "c")]),
        ("SELECT a FROM t WHERE i IN (SELECT i FROM u)", [("t",), ("u",)]),
        ("SELECT f.value FROM t, LATERAL FLATTEN(t.l) f", [("t",)]),
    ],
)
def test_tables_are_those_that_are_read(sql: str, tables: list[tuple[str, ...]]) -> None:
    assert sorted(query_columns(sql, "snowflake").tables) == sorted(tables)


@pytest.mark.parametrize(
    ("sql", "column"),
    [
        ('SELECT "Key" AS x FROM t', "Key"),
        ('SELECT "KEY" AS x FROM t', "KEY"),
        ('SELECT r."KEY" AS x FROM (SELECT * FROM t) r', "KEY"),
        ("SELECT other AS x FROM t", "Other"),
        ('SELECT "OTHER" AS x FROM t', "Other"),
    ],
)
def test_case_tells_names_apart_where_they_differ_in_nothing_else(sql: str, column: str) -> None:
    result = query_columns(sql, "snowflake", lambda _: ["Key", "KEY", "Other"])
    assert [one.column for one in result.columns[0].inputs] == [column]


@pytest.mark.parametrize("dialect", ["snowflake", "duckdb", "spark", "tsql", "oracle"])
def test_no_literal_becomes_a_name(dialect: str) -> None:
    result = query_columns("SELECT 'secret', CONCAT(a, 'secret') FROM t", dialect)
    assert not any("secret" in column.name for column in result.columns)


@for_each(
    "expression, name",
    [
        ("COUNT(t.b)", "count(b)"),
        ("(a + b) * c", "((a + b) * c)"),
        ("SUM(a + HASH(t.b))", "sum((a + hash(b)))"),
        ("a = b AND NOT c", "((a = b) AND (NOT c))"),
        ("CASE WHEN a > b THEN c ELSE d END", "CASE WHEN (a > b) THEN c ELSE d END"),
        ("COUNT(*)", "count(1)"),
    ],
)
def test_spark_names_an_expression_by_its_text(expression: str, name: str) -> None:
    result = query_columns(f"SELECT {expression} FROM t", "spark")
    assert [column.name for column in result.columns] == [name]


@for_each(
    "sql",
    [
        "",
        "-- a comment",
        "SHOW TABLES",
        "DROP TABLE t",
        "SELECT FROM WHERE",
        f"SELECT {'(' * 5_000}a{')' * 5_000} FROM t",
    ],
)
def test_what_is_no_query_has_no_tree(sql: str) -> None:
    with pytest.raises(NoTreeError):
        query_columns(sql, "snowflake")


def test_aliases_of_aliases_are_followed_once_each() -> None:
    chain = ", ".join(f"a{at} + a{at} AS a{at + 1}" for at in range(100))
    result = query_columns(f"SELECT b AS a0, {chain} FROM t", "clickhouse")
    assert {one.column for one in result.columns[-1].inputs} == {"b"}


def test_a_thousand_branches_are_followed() -> None:
    result = query_columns(" UNION ALL ".join(["SELECT a FROM t"] * 1_000), "bigquery")
    assert [column.name for column in result.columns] == ["a"]


def test_a_form_that_is_not_known_is_a_gap() -> None:
    terms = " + ".join(["a"] * 5_000)
    result = query_columns(f"SELECT {terms} AS x FROM t", "postgres")
    assert (result.columns, result.gaps) == ((), ("the statement has an unknown form",))
