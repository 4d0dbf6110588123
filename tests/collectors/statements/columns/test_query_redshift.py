"""Columns of Redshift queries; the notation is that of `query_cases`."""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

from tests.cases import for_each
from tests.collectors.statements.columns.query_cases import cases, expected, found

CASES = cases(r"""
SELECT "a", "B" FROM t | a=t.a b=t.b
SELECT a + 1 AS v, v * 2 AS y FROM t | v=~t.a y=~t.a
SELECT a + 1 AS b, b * 2 AS y FROM t | b=~t.a y=~t.b
SELECT k AS g, SUM(a) AS x FROM t GROUP BY 1 ORDER BY 2 | g=t.k x=+t.a | GROUP_BY:t.k,SORT:t.a
SELECT k, SUM(a) AS x FROM t GROUP BY ALL | k=t.k x=+t.a | GROUP_BY:t.k
SELECT * EXCLUDE (a, b) FROM t | i=t.i k=t.k c=t.c day=t.day
SELECT n.i, item.sku::VARCHAR AS x FROM n, n.items AS item | i=n.i x=~n.items | JOIN:n.items
SELECT n.i, p, item.v FROM n, n.items AS item AT p | i=n.i p=~n.items v=~n.items | JOIN:n.items
SELECT n.i, o.x FROM n, n.items AS item, item.opts AS o | i=n.i x=~n.items | JOIN:n.items
SELECT n.s.a.b AS x, items[0].sku AS y, n.s."C d" AS z FROM n | x=n.s.a.b y=~n.items z=n.s.C_d
SELECT key, val FROM n, UNPIVOT n.s AS val AT key | key=~n.s val=~n.s | JOIN:n.s
SELECT JSON_EXTRACT_PATH_TEXT(j, 'a', 'b') AS x, JSON_PARSE(j) AS y FROM n | x=~n.j y=~n.j
SELECT DATEDIFF(day, a, b) AS x, DATEADD(month, 1, day) AS y, DATE_TRUNC('week', day) AS z FROM t | x=~t.a,~t.b y=~t.day z=~t.day
SELECT DATEDIFF(minute, a, b) AS x, DATE_PART(year, day) AS y, EXTRACT(hour FROM day) AS z FROM t | x=~t.a,~t.b y=~t.day z=~t.day
SELECT NVL(a, b) AS x, NVL2(a, b, c) AS y, DECODE(a, 1, b, c) AS z FROM t | x=~t.a,~t.b y=CONDITIONAL:t.a,~t.b,~t.c z=CONDITIONAL:t.a,~t.b,~t.c
SELECT MD5(a) AS x, SHA2(b, 256) AS y, FNV_HASH(c) AS z, FUNC_SHA1(a) AS v FROM t | x=!t.a y=!t.b z=!t.c v=!t.a
SELECT LISTAGG(a, ',') WITHIN GROUP (ORDER BY b) AS x, APPROXIMATE COUNT(DISTINCT c) AS y FROM t | x=+t.a,SORT:t.b y=+t.c
SELECT MEDIAN(a) AS x, RATIO_TO_REPORT(a) OVER (PARTITION BY k) AS y FROM t GROUP BY a, k | x=+t.a y=~t.a,WINDOW:t.k | GROUP_BY:t.a,GROUP_BY:t.k
SELECT GETDATE() AS x, SYSDATE AS y, CURRENT_USER AS z, TRUNC(day) AS v FROM t | x y z v=~t.day
SELECT TOP 10 a FROM t ORDER BY b | a=t.a | SORT:t.b
SELECT a FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY day) = 1 | a=t.a | FILTER:t.k,FILTER:t.day
SELECT * FROM (SELECT i, k, a FROM t) PIVOT (SUM(a) FOR k IN ('A', 'B' AS bb)) | i=t.i a=+t.a,CONDITIONAL:t.k bb=+t.a,CONDITIONAL:t.k | GROUP_BY:t.i
SELECT * FROM q UNPIVOT (amount FOR quarter IN (q1, q2, q3)) | region=q.region quarter amount=q.q1,q.q2,q.q3 | FILTER:q.q1,FILTER:q.q2,FILTER:q.q3
SELECT a FROM t MINUS SELECT x FROM u | a=t.a | FILTER:u.x,FILTER:t.a
SELECT id, LEVEL AS l FROM e START WITH pid IS NULL CONNECT BY PRIOR id = pid | id=e.id l | FILTER:e.pid,JOIN:e.id,JOIN:e.pid
SELECT a FROM dev.public.orders o WHERE o.b IS NOT NULL | a=dev.public.orders.a | FILTER:dev.public.orders.b
SELECT a || b AS x, a::VARCHAR(10) AS y, CONVERT(INT, c) AS z FROM t | x=~t.a,~t.b y=~t.a z=~t.c
SELECT a FROM #tmp | a=#tmp.a
""")


@for_each("case", CASES)
def test_a_query_of_redshift(case: str) -> None:
    assert found(case, "redshift") == expected(case)
