"""Columns of DuckDB queries; the notation is that of `query_cases`."""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

from tests.cases import for_each
from tests.collectors.statements.columns.query_cases import cases, expected, found

CASES = cases(r"""
# names and aliases
SELECT "a", t."B" FROM t | a=t.a b=t.b
SELECT a + 1 AS v, v * 2 AS y FROM t WHERE v > 1 | v=~t.a y=~t.a | FILTER:t.a
SELECT a + 1 AS b, b * 2 AS y FROM t | b=~t.a y=~t.b
SELECT v: a + 1, y: b FROM t | v=~t.a y=t.b
SELECT k AS b, COUNT(*) AS n FROM t GROUP BY b | b=t.k n | GROUP_BY:t.b
SELECT k, SUM(a) AS x FROM t GROUP BY ALL ORDER BY ALL | k=t.k x=+t.a | GROUP_BY:t.k,SORT:t.k,SORT:t.a
SELECT k, UPPER(c) AS g, COUNT(*) AS n FROM t GROUP BY CUBE (1, g) | k=t.k g=~t.c n | GROUP_BY:t.k,GROUP_BY:t.c
SELECT k, c FROM t GROUP BY GROUPING SETS ((1), (1, 2), ()) | k=t.k c=t.c | GROUP_BY:t.k,GROUP_BY:t.c
SELECT k, SUM(a) AS x FROM t GROUP BY 1 HAVING x > 1 | k=t.k x=+t.a | GROUP_BY:t.k,FILTER:t.a
# stars
SELECT * EXCLUDE (a, b) FROM t | i=t.i k=t.k c=t.c day=t.day
SELECT * EXCLUDE x REPLACE (y + 1 AS y) FROM u | i=u.i y=~u.y z=u.z
SELECT * RENAME (x AS p) FROM u | i=u.i p=u.x y=u.y z=u.z
SELECT COLUMNS('q[12]') FROM q | q1=q.q1 q2=q.q2
SELECT COLUMNS(*) FROM u | i=u.i x=u.x y=u.y z=u.z
SELECT MIN(COLUMNS(*)) FROM u | i=+u.i x=+u.x y=+u.y z=+u.z
SELECT COLUMNS('q(1|2)') AS 'n_\1' FROM q | n_1=q.q1 n_2=q.q2
SELECT region FROM q WHERE COLUMNS('q[12]') > 1 | region=q.region | FILTER:q.q1,FILTER:q.q2
SELECT #2 AS x FROM t JOIN u ON t.i = u.i WHERE #8 = 1 | x=t.k | JOIN:t.i,JOIN:u.i,FILTER:u.x
SELECT COALESCE(*COLUMNS('q[12]')) AS x FROM q | x=~q.q1,~q.q2
SELECT COLUMNS(c -> c LIKE 'q%') FROM q | *=q.region,q.q1,q.q2,q.q3 | - | columns(…) is not known
SELECT * LIKE 'q%' FROM q | q1=q.q1 q2=q.q2 q3=q.q3
SELECT * NOT LIKE 'q%' FROM q | region=q.region
SELECT * EXCLUDE (q1) LIKE 'q%' FROM q | q2=q.q2 q3=q.q3
SELECT * SIMILAR TO 'q[12]' FROM q | q1=q.q1 q2=q.q2
SELECT * GLOB '*3' FROM q | q3=q.q3
FROM t | i=t.i k=t.k a=t.a b=t.b c=t.c day=t.day
FROM t SELECT a WHERE b > 1 | a=t.a | FILTER:t.b
# lists and structs
SELECT s.a.b AS x, s['c'] AS y, items[1] AS z, m['k'] AS v FROM n | x=n.s.a.b y=~n.s z=~n.items v=~n.m
SELECT j->>'$.a' AS x, j->'a'->>'b' AS y, JSON_EXTRACT_STRING(j, '$.c') AS z FROM n | x=~n.j y=~n.j z=~n.j
SELECT #9 AS x FROM t | x | - | a column's table is not known
SELECT i, UNNEST(items) AS item FROM n | i=n.i item=~n.items | JOIN:n.items
SELECT i, UNNEST(s) FROM n | i=n.i *=~n.s
SELECT UNNEST(r) FROM (SELECT {'p': a, 'v': b} AS r FROM t) o | p=t.a v=t.b
SELECT n.i, item.sku FROM n, UNNEST(n.items) AS r (item) | i=n.i sku=~n.items | JOIN:n.items
SELECT i, r.unnest AS v FROM n CROSS JOIN UNNEST(tags) r | i=n.i v=~n.tags | JOIN:n.tags
SELECT [p.x + i FOR p IN items IF p.x > 1] AS l FROM n | l=~n.items,~n.i
SELECT LIST_TRANSFORM(items, p -> p.x + i) AS l, LIST_FILTER(tags, LAMBDA g: g > 'a') AS f FROM n | l=~n.items,~n.i f=~n.tags
SELECT {'p': a, 'r': b} AS s, STRUCT_PACK(p := a, r := b) AS v, [a, b] AS l FROM t | s=~t.a,~t.b v=~t.a,~t.b l=~t.a,~t.b
SELECT STRUCT_PACK(p := a, r := b).p AS v, {'p': a, 'r': b}['r'] AS w FROM t | v=t.a w=t.b
SELECT LIST(a ORDER BY b) AS x, ARG_MAX(a, b) AS y, STRING_AGG(a, ',') AS z FROM t | x=+t.a,SORT:t.b y=+t.a,+t.b z=+t.a
SELECT s.p FROM (SELECT {'p': a, 'r': b} AS s FROM t) | p=t.a
WITH r AS (SELECT {'p': a, 'r': {'v': b}} AS s FROM t), o AS (SELECT *, s.r AS w FROM r) SELECT s.p, w.v FROM o | p=t.a v=t.b
SELECT s.r.v, s.r AS w FROM (SELECT {'p': a, 'r': {'v': b}} AS s FROM t) | v=t.b w=~t.b
# functions
SELECT IF(a > 1, b, c) AS x, IFNULL(a, b) AS y, TRY_CAST(a AS INT) AS z FROM t | x=CONDITIONAL:t.a,~t.b,~t.c y=~t.a,~t.b z=~t.a
SELECT DATE_DIFF('day', a, b) AS x, DATE_TRUNC('month', day) AS y, day + INTERVAL 1 DAY AS z FROM t | x=~t.a,~t.b y=~t.day z=~t.day
SELECT MD5(a) AS x, HASH(a, b) AS y, SHA256(c) AS z FROM t | x=!t.a y=!t.a,!t.b z=!t.c
SELECT COUNT(*) FILTER (b > 1) AS x, QUANTILE_CONT(a, 0.5) AS y FROM t | x=CONDITIONAL:t.b y=+t.a
SELECT CURRENT_DATE AS x, TODAY() AS y, UUID() AS z, RANDOM() AS v FROM t | x y z v
SELECT a.UPPER().TRIM() AS x FROM t | x=~t.a
SELECT TO_JSON(u) AS x FROM u | x=~u.i,~u.x,~u.y,~u.z
# rows
SELECT a FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY day) = 1 | a=t.a | FILTER:t.k,FILTER:t.day
SELECT a, ROW_NUMBER() OVER w AS r FROM t WINDOW w AS (PARTITION BY k ORDER BY b) QUALIFY r = 1 | a=t.a r=WINDOW:t.k,WINDOW:t.b | FILTER:t.k,FILTER:t.b
SELECT i, a AS b FROM t ORDER BY b + 1, i LIMIT 3 | i=t.i b=t.a | SORT:t.b,SORT:t.i
SELECT a FROM t LIMIT (SELECT MAX(x) FROM u) OFFSET (SELECT MIN(y) FROM u) | a=t.a | FILTER:u.x,FILTER:u.y
SELECT DISTINCT ON (k) k, a FROM t ORDER BY day | k=t.k a=t.a | GROUP_BY:t.k,SORT:t.day
SELECT * FROM u SEMI JOIN t USING (i) | i=u.i x=u.x y=u.y z=u.z | JOIN:t.i,JOIN:u.i
SELECT x FROM u ANTI JOIN t ON t.i = u.i | x=u.x | JOIN:t.i,JOIN:u.i
SELECT a, x FROM t ASOF JOIN u ON t.i = u.i AND t.day >= u.y | a=t.a x=u.x | JOIN:t.i,JOIN:u.i,JOIN:t.day,JOIN:u.y
SELECT a, x FROM t POSITIONAL JOIN u | a=t.a x=u.x
SELECT * FROM t NATURAL JOIN u | i=t.i k=t.k a=t.a b=t.b c=t.c day=t.day x=u.x y=u.y z=u.z | JOIN:t.i,JOIN:u.i
SELECT a FROM READ_PARQUET('x.parquet') | a=.read_parquet.x.parquet.a
SELECT a FROM 'x.csv' | a=.file.x.csv.a
SELECT range AS x FROM RANGE(10) | x
SELECT r.d FROM GENERATE_SERIES(1, 10) AS r (d) | d
SELECT v.p, a FROM (VALUES (1, 'a')) AS v (p, r) CROSS JOIN t | p a=t.a
SELECT a FROM t USING SAMPLE 10% | a=t.a
SELECT r.v FROM t, LATERAL (SELECT x + t.a AS v FROM u) r | v=~u.x,~t.a
# pivot and unpivot
PIVOT t ON k IN ('A', 'B') USING SUM(a) GROUP BY i | i=t.i a=+t.a,CONDITIONAL:t.k b=+t.a,CONDITIONAL:t.k | GROUP_BY:t.i
FROM (SELECT i, k, a FROM t) PIVOT (SUM(a) FOR k IN ('A', 'B')) | i=t.i a=+t.a,CONDITIONAL:t.k b=+t.a,CONDITIONAL:t.k | GROUP_BY:t.i
SELECT * FROM (SELECT i, k, a, b FROM t) PIVOT (SUM(a) AS s, MAX(b) AS m FOR k IN ('A')) | i=t.i a_s=+t.a,CONDITIONAL:t.k a_m=+t.b,CONDITIONAL:t.k | GROUP_BY:t.i
FROM t PIVOT (SUM(a) FOR k IN ('A') GROUP BY i) | i=t.i a=+t.a,CONDITIONAL:t.k | GROUP_BY:t.i
UNPIVOT q ON COLUMNS(* EXCLUDE (region)) INTO NAME quarter VALUE amount | region=q.region quarter amount=q.q1,q.q2,q.q3 | FILTER:q.q1,FILTER:q.q2,FILTER:q.q3
UNPIVOT q ON (q1, q2), (q3, region) INTO NAME half VALUE x, y | half x=q.q1,q.q3 y=q.q2,q.region | FILTER:q.q1,FILTER:q.q2,FILTER:q.q3,FILTER:q.region
SELECT * FROM q UNPIVOT INCLUDE NULLS (amount FOR quarter IN (q1, q2)) | region=q.region q3=q.q3 quarter amount=q.q1,q.q2
UNPIVOT q ON q1, q2, q3 INTO NAME quarter VALUE amount | region=q.region quarter amount=q.q1,q.q2,q.q3 | FILTER:q.q1,FILTER:q.q2,FILTER:q.q3
SELECT * FROM q UNPIVOT (amount FOR quarter IN (q1, q2, q3)) | region=q.region quarter amount=q.q1,q.q2,q.q3 | FILTER:q.q1,FILTER:q.q2,FILTER:q.q3
# set operations
SELECT i, a FROM t UNION BY NAME SELECT x AS a, i FROM u | i=t.i,u.i a=t.a,u.x | GROUP_BY:t.a,GROUP_BY:t.i,GROUP_BY:u.i,GROUP_BY:u.x
SELECT i, a FROM t UNION ALL BY NAME SELECT x, i FROM u | i=t.i,u.i a=t.a x=u.x
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 10) SELECT n FROM r | n
SET TimeZone = 'UTC'; SELECT a FROM t; | a=t.a | - | other statements than the query are left out
""")


@for_each("case", CASES)
def test_a_query_of_duckdb(case: str) -> None:
    assert found(case, "duckdb") == expected(case)
