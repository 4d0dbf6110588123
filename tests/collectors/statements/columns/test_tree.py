"""The parser's trees of a text."""

from __future__ import annotations

import pytest

from dbt_graft.collectors.statements.columns.tree import parse_statements
from tests.cases import for_each

MANY = 5_000


@for_each(
    "sql",
    [
        f"SELECT {'(' * MANY}a{')' * MANY} FROM t",
        f"SELECT {'f(' * MANY}a{')' * MANY} FROM t",
        f"SELECT {'CASE WHEN a THEN b ELSE ' * MANY}c{' END' * MANY} FROM t",
        f"SELECT a FROM t WHERE {'EXISTS (SELECT 1 FROM t WHERE ' * MANY}a{')' * MANY}",
    ],
)
def test_deep_brackets_do_not_reach_the_parser(sql: str) -> None:
    with pytest.raises(RecursionError, match="nested too deeply"):
        parse_statements(sql, "spark")


@for_each(
    "sql",
    [
        "SELECT CASE a WHEN 1 THEN 2 END" + ", CASE a WHEN 1 THEN 2 END" * MANY,
        "SELECT f(a)" + " + f(a)" * MANY,
        " UNION ALL ".join(["(SELECT a FROM t)"] * MANY),
    ],
)
def test_long_statements_are_parsed(sql: str) -> None:
    assert len(parse_statements(sql, "spark")) == 1


def test_empty_statements_are_left_out() -> None:
    trees = parse_statements("; SELECT 1;; -- a comment\n; SELECT 2 /* another */;", "spark")
    assert [tree.sql(comments=False) for tree in trees] == ["SELECT 1", "SELECT 2"]
