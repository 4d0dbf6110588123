"""Columns of Teradata queries; the notation is that of `query_cases`."""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

from tests.cases import for_each
from tests.collectors.statements.columns.query_cases import cases, expected, found

CASES = cases(r"""
SELECT "a", t."B" FROM t | a=t.a b=t.b
SEL a FROM db.orders | a=db.orders.a
SELECT a + 1 AS v, v * 2 AS y FROM t WHERE v > 1 | v=~t.a y=~t.a | FILTER:t.a
SELECT a FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY day DESC) = 1 | a=t.a | FILTER:t.k,FILTER:t.day
SELECT CAST(day AS DATE FORMAT 'YYYY-MM-DD') AS x, TRYCAST(a AS INTEGER) AS y FROM t | x=~t.day y=~t.a
SELECT ZEROIFNULL(a) AS x, NULLIFZERO(b) AS y, COALESCE(a, b) AS z FROM t | x=~t.a y=~t.b z=~t.a,~t.b
SELECT HASHROW(a, b) AS x, HASH_MD5(a) AS y FROM t | x=!t.a,!t.b y=!t.a
SELECT k, SUM(a) AS x FROM t GROUP BY 1 | k=t.k x=+t.a | GROUP_BY:t.k
SELECT TOP 10 a FROM t ORDER BY b | a=t.a | SORT:t.b
SELECT CURRENT_DATE AS x, DATE AS y, USER AS z FROM t | x y z
SELECT a MOD b AS x, a ** 2 AS y FROM t | x=~t.a,~t.b y=~t.a
SELECT a FROM t MINUS SELECT x FROM u | a=t.a | FILTER:u.x,FILTER:t.a
SELECT a FROM t SAMPLE 10 | a=t.a
""")


@for_each("case", CASES)
def test_a_query_of_teradata(case: str) -> None:
    assert found(case, "teradata") == expected(case)
