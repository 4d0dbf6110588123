"""Columns of Trino and Athena queries; the notation is that of `query_cases`."""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

from tests.cases import for_each
from tests.collectors.statements.columns.query_cases import cases, expected, found

CASES = cases(r"""
SELECT "a", t."B" FROM "t" | a=t.a b=t.b
SELECT a FROM hive.s."orders" | a=hive.s.orders.a
SELECT k, SUM(a) AS x FROM t GROUP BY 1 ORDER BY 2 | k=t.k x=+t.a | GROUP_BY:t.k,SORT:t.a
SELECT k, SUM(a) AS x FROM t GROUP BY CUBE (k, c) | k=t.k x=+t.a | GROUP_BY:t.k,GROUP_BY:t.c
SELECT n.i, item FROM n CROSS JOIN UNNEST(items) AS r (item) | i=n.i item=~n.items | JOIN:n.items
SELECT i, tag, p FROM n CROSS JOIN UNNEST(tags) WITH ORDINALITY AS r (tag, p) | i=n.i tag=~n.tags p=~n.tags | JOIN:n.tags
SELECT i, k, v FROM n CROSS JOIN UNNEST(m) AS r (k, v) | i=n.i k=~n.m v=~n.m | JOIN:n.m
SELECT r.x, r.y FROM n LEFT JOIN UNNEST(items, tags) AS r (x, y) ON TRUE | x=~n.items y=~n.tags | JOIN:n.items,JOIN:n.tags
SELECT n.s.a.b AS x, s.c AS y, items[1].sku AS z, m['k'] AS v FROM n | x=n.s.a.b y=n.s.c z=~n.items v=~n.m
SELECT ELEMENT_AT(m, 'k') AS x, JSON_EXTRACT_SCALAR(j, '$.a') AS y, CAST(JSON_PARSE(j) AS ARRAY(VARCHAR)) AS z FROM n | x=~n.m y=~n.j z=~n.j
SELECT TRANSFORM(items, p -> p.x + i) AS l, REDUCE(tags, 0, (acc, g) -> acc + g, acc -> acc) AS f FROM n | l=~n.items,~n.i f=~n.tags
SELECT ROW(a, b) AS r, CAST(ROW(a, b) AS ROW(p INT, v INT)) AS s, MAP(ARRAY[a], ARRAY[b]) AS m FROM t | r=~t.a,~t.b s=~t.a,~t.b m=~t.a,~t.b
SELECT IF(a > 1, b, c) AS x, COALESCE(a, b) AS y, TRY(a / b) AS z, TRY_CAST(a AS INTEGER) AS v FROM t | x=CONDITIONAL:t.a,~t.b,~t.c y=~t.a,~t.b z=~t.a,~t.b v=~t.a
SELECT DATE_DIFF('day', a, b) AS x, DATE_TRUNC('month', day) AS y, day + INTERVAL '1' DAY AS z, day AT TIME ZONE 'UTC' AS v FROM t | x=~t.a,~t.b y=~t.day z=~t.day v=~t.day
SELECT TO_HEX(SHA256(TO_UTF8(a))) AS x, MD5(TO_UTF8(b)) AS y, XXHASH64(TO_UTF8(c)) AS z FROM t | x=!t.a y=!t.b z=!t.c
SELECT ARRAY_AGG(a ORDER BY b) FILTER (WHERE c = 1) AS x, MAX_BY(a, b) AS y, APPROX_DISTINCT(a) AS z FROM t | x=+t.a,SORT:t.b,CONDITIONAL:t.c y=+t.a,+t.b z=+t.a
SELECT LISTAGG(a, ',') WITHIN GROUP (ORDER BY b) AS x, APPROX_PERCENTILE(a, 0.5) AS y, COUNT_IF(a > 1) AS z FROM t | x=+t.a,SORT:t.b y=+t.a z=+t.a
SELECT CURRENT_DATE AS x, NOW() AS y, UUID() AS z, CURRENT_USER AS v FROM t | x y z v
SELECT a FROM t FOR TIMESTAMP AS OF TIMESTAMP '2020-01-01 00:00:00' | a=t.a
SELECT a FROM t FOR VERSION AS OF 5 | a=t.a
SELECT a FROM t TABLESAMPLE BERNOULLI (10) | a=t.a
SELECT i, a, x FROM t JOIN u USING (i) | i=t.i a=t.a x=u.x | JOIN:t.i,JOIN:u.i
SELECT i FROM t FULL JOIN u USING (i) | i=~t.i,~u.i | JOIN:t.i,JOIN:u.i
SELECT r.x FROM t CROSS JOIN LATERAL (SELECT x FROM u WHERE u.i = t.i) r | x=u.x | FILTER:u.i,FILTER:t.i
SELECT x FROM UNNEST(SEQUENCE(1, 10)) AS r (x) | x
SELECT v.p FROM (VALUES (1, 'a'), (2, 'b')) AS v (p, r) | p
SELECT a FROM t ORDER BY b OFFSET 2 FETCH FIRST 3 ROWS ONLY | a=t.a | SORT:t.b
SELECT * FROM TABLE(own_rows(input => TABLE(t))) | * | - | a table function is not followed: own_rows
SELECT mn, x FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY day MEASURES MATCH_NUMBER() AS mn, LAST(up.a) AS x ONE ROW PER MATCH PATTERN (s up+) DEFINE up AS up.a > PREV(up.a)) | mn=WINDOW:t.k,WINDOW:t.day x=+t.a,WINDOW:t.k,WINDOW:t.day | FILTER:t.a
WITH RECURSIVE r (n) AS (SELECT a FROM t UNION ALL SELECT n + 1 FROM r WHERE n < 10) SELECT n FROM r | n=t.a,~t.a | FILTER:t.a
SELECT "$path" AS f, a FROM t | f a=t.a
""")


@for_each("case", CASES)
def test_a_query_of_trino(case: str) -> None:
    assert found(case, "trino") == expected(case)
