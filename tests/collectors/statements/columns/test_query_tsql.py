"""Columns of T-SQL (also Synapse and Fabric) queries; the notation is that of `query_cases`."""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

from tests.cases import for_each
from tests.collectors.statements.columns.query_cases import cases, expected, found

CASES = cases(r"""
SELECT [a], t.[B] AS [x y] FROM [dbo].[t] | a=dbo.t.a x_y=dbo.t.b
SELECT x = a, y = b + 1 FROM t | x=t.a y=~t.b
SELECT "a" FROM "t" | a=t.a
SELECT a FROM db.dbo.orders | a=db.dbo.orders.a
SELECT k AS b FROM t ORDER BY b | b=t.k | SORT:t.k
SELECT TOP (10) WITH TIES a FROM t ORDER BY b | a=t.a | SORT:t.b
SELECT IIF(a > 1, b, c) AS x, ISNULL(a, b) AS y, CHOOSE(a, b, c) AS z FROM t | x=CONDITIONAL:t.a,~t.b,~t.c y=~t.a,~t.b z=CONDITIONAL:t.a,~t.b,~t.c
SELECT DATEDIFF(day, a, b) AS x, DATEADD(month, 1, day) AS y, DATEPART(year, day) AS z, DATENAME(dw, day) AS v FROM t | x=~t.a,~t.b y=~t.day z=~t.day v=~t.day
SELECT CONVERT(VARCHAR(10), a, 120) AS x, TRY_CONVERT(INT, b) AS y, CAST(c AS DATE) AS z, TRY_CAST(a AS INT) AS v FROM t | x=~t.a y=~t.b z=~t.c v=~t.a
SELECT HASHBYTES('SHA2_256', CONCAT(a, b)) AS x, CHECKSUM(a) AS y FROM t | x=!t.a,!t.b y=!t.a
SELECT LOWER(CONVERT(VARCHAR(50), HASHBYTES('md5', COALESCE(CONVERT(VARCHAR(MAX), a), '')), 2)) AS x FROM t | x=!t.a
SELECT STRING_AGG(a, ',') WITHIN GROUP (ORDER BY b) AS x, COUNT_BIG(*) AS y FROM t | x=+t.a,SORT:t.b y
SELECT GETDATE() AS x, SYSUTCDATETIME() AS y, NEWID() AS z FROM t | x y z
SELECT t.a, r.x FROM t CROSS APPLY (SELECT TOP 1 x FROM u WHERE u.i = t.i ORDER BY y) r | a=t.a x=u.x | FILTER:u.i,FILTER:t.i,SORT:u.y
SELECT a, v.p FROM t CROSS APPLY (VALUES (t.a), (t.b)) v (p) | a=t.a p=t.a,t.b
SELECT i, value FROM t CROSS APPLY STRING_SPLIT(c, ',') | i=t.i value=~t.c | JOIN:t.c
SELECT x.sku FROM n CROSS APPLY OPENJSON(n.j, '$.items') WITH (sku VARCHAR(10) '$.sku', price INT) AS x | sku=~n.j | JOIN:n.j
SELECT r.[key], r.value FROM n OUTER APPLY OPENJSON(j) r | key=~n.j value=~n.j | JOIN:n.j
SELECT JSON_VALUE(j, '$.a') AS x FROM n | x=~n.j
SELECT * FROM (SELECT i, k, a FROM t) s PIVOT (SUM(a) FOR k IN ([A], [B])) p | i=t.i a=+t.a,CONDITIONAL:t.k b=+t.a,CONDITIONAL:t.k | GROUP_BY:t.i
SELECT p.i, ISNULL(p.[A], 0) AS x FROM (SELECT i, k, a FROM t) s PIVOT (MAX(a) FOR k IN ([A])) p | i=t.i x=+t.a,CONDITIONAL:t.k | GROUP_BY:t.i
SELECT region, quarter, amount FROM q UNPIVOT (amount FOR quarter IN (q1, q2, q3)) p | region=q.region quarter amount=q.q1,q.q2,q.q3 | FILTER:q.q1,FILTER:q.q2,FILTER:q.q3
SELECT a FROM t WITH (NOLOCK) WHERE b = 1 | a=t.a | FILTER:t.b
SELECT a FROM t FOR SYSTEM_TIME AS OF '2020-01-01' | a=t.a
SELECT a FROM t ORDER BY b OFFSET 0 ROWS FETCH NEXT 5 ROWS ONLY | a=t.a | SORT:t.b
SELECT a FROM t EXCEPT SELECT x FROM u | a=t.a | FILTER:u.x,FILTER:t.a
SELECT SUM(a) OVER (PARTITION BY k ORDER BY day ROWS UNBOUNDED PRECEDING) AS x, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a) OVER (PARTITION BY k) AS y FROM t | x=+t.a,WINDOW:t.k,WINDOW:t.day y=+t.a,WINDOW:t.k
WITH r AS (SELECT id, pid, 1 AS l FROM e WHERE pid IS NULL UNION ALL SELECT e.id, e.pid, r.l + 1 FROM e JOIN r ON e.pid = r.id) SELECT id, l FROM r | id=e.id l | FILTER:e.pid,JOIN:e.pid,JOIN:e.id
SELECT value FROM GENERATE_SERIES(1, 10) | value
SELECT a AS v INTO #r FROM t; SELECT v FROM #r | v=t.a
SELECT a FROM t OPTION (MAXRECURSION 0) | a=t.a
SELECT 'x' AS [kind], a AS 'b c' FROM t | kind b_c=t.a
SELECT (SELECT a, b FOR JSON PATH) AS o FROM t | o=~t.a,~t.b
""")


@for_each("case", CASES)
def test_a_query_of_tsql(case: str) -> None:
    assert found(case, "tsql") == expected(case)
