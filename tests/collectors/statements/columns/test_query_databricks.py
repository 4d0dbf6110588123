"""Columns of Databricks and Spark queries; the notation is that of `query_cases`."""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

from tests.cases import for_each
from tests.collectors.statements.columns.query_cases import cases, expected, found

CASES = cases(r"""
# names
SELECT `a`, t.`B` AS `x y` FROM `t` | a=t.a x_y=t.b
SELECT a FROM `cat`.`s`.`orders` | a=cat.s.orders.a
# lateral aliases: a column of a source goes first
SELECT a + 1 AS v, v * 2 AS y FROM t | v=~t.a y=~t.a
SELECT a + 1 AS b, b * 2 AS y FROM t | b=~t.a y=~t.b
SELECT UPPER(k) AS g, COUNT(*) AS n FROM t GROUP BY g | g=~t.k n | GROUP_BY:t.k
SELECT k AS b, COUNT(*) AS n FROM t GROUP BY b | b=t.k n | GROUP_BY:t.b
SELECT k, COUNT(*) AS n FROM t GROUP BY 1 HAVING n > 1 | k=t.k n | GROUP_BY:t.k
SELECT k, SUM(a) AS x FROM t GROUP BY ALL | k=t.k x=+t.a | GROUP_BY:t.k
SELECT k, b, SUM(a) AS x, GROUPING(k) AS y FROM t GROUP BY k, b WITH CUBE | k=t.k b=t.b x=+t.a y=+t.k | GROUP_BY:t.k,GROUP_BY:t.b
# stars
SELECT * EXCEPT (a, b) FROM t | i=t.i k=t.k c=t.c day=t.day
SELECT t.* EXCEPT (i), u.x FROM t JOIN u USING (i) | k=t.k a=t.a b=t.b c=t.c day=t.day x=u.x | JOIN:t.i,JOIN:u.i
SELECT STRUCT(*) AS s FROM u | s=~u.i,~u.x,~u.y,~u.z
# arrays, maps and structs
SELECT s.a AS x, s.b.c, n.s.d, items[0].sku AS y, m['k'] AS z FROM n | x=n.s.a c=n.s.b.c d=n.s.d y=~n.items z=~n.m
SELECT j:a.b::STRING AS x, j:l[0].v AS y, GET_JSON_OBJECT(j, '$.a') AS z FROM n | x=~n.j y=~n.j z=~n.j
SELECT i, item.sku FROM n LATERAL VIEW EXPLODE(items) e AS item | i=n.i sku=~n.items | JOIN:n.items
SELECT i, p, item FROM n LATERAL VIEW OUTER POSEXPLODE(items) e AS p, item | i=n.i p=~n.items item=~n.items | JOIN:n.items
SELECT i, v.sub FROM n LATERAL VIEW EXPLODE(items) e AS item LATERAL VIEW EXPLODE(item.subs) f AS v | i=n.i sub=~n.items | JOIN:n.items
SELECT i, col FROM n LATERAL VIEW EXPLODE(items) e | i=n.i col=~n.items | JOIN:n.items
SELECT i, key, value FROM n LATERAL VIEW EXPLODE(m) e | i=n.i key=~n.m value=~n.m | JOIN:n.m
SELECT i, EXPLODE(ARRAY(a, b)) AS v FROM t | i=t.i v=~t.a,~t.b
SELECT i, EXPLODE(items) AS item FROM n | i=n.i item=~n.items | JOIN:n.items
SELECT i, POSEXPLODE(items) AS (p, item) FROM n | i=n.i p=~n.items item=~n.items | JOIN:n.items
SELECT i, EXPLODE(items) FROM n | i=n.i *=~n.items | JOIN:n.items
SELECT n.i, e.item FROM n, LATERAL EXPLODE(items) AS e (item) | i=n.i item=~n.items | JOIN:n.items
SELECT r.v FROM t, LATERAL (SELECT x AS v FROM u WHERE u.i = t.i) r | v=u.x | FILTER:u.i,FILTER:t.i
SELECT x FROM EXPLODE(ARRAY(1, 2)) AS e (x) | x
SELECT i, sku, price FROM n LATERAL VIEW INLINE(items) e AS sku, price | i=n.i sku=~n.items price=~n.items | JOIN:n.items
SELECT i, name, v FROM t LATERAL VIEW STACK(2, 'x', a, 'y', b) e AS name, v | i=t.i name v=~t.a,~t.b
SELECT i, col1 FROM t LATERAL VIEW STACK(2, 'x', a, 'y', b) e | i=t.i col1=~t.a,~t.b
SELECT p, q FROM t LATERAL VIEW INLINE(ARRAY(NAMED_STRUCT('x', a, 'y', b), NAMED_STRUCT('x', c, 'y', k))) e AS p, q | p=~t.a,~t.c q=~t.b,~t.k
SELECT e.x, e.y FROM t LATERAL VIEW OUTER INLINE(ARRAY(STRUCT(a AS x, b AS y))) e | x=~t.a y=~t.b
SELECT i, w, v FROM t LATERAL VIEW EXPLODE(MAP(a, b)) e AS w, v | i=t.i w=~t.a v=~t.b
SELECT r.a, r.b FROM n LATERAL VIEW JSON_TUPLE(j, 'a', 'b') r AS a, b | a=~n.j b=~n.j
SELECT STACK(2, 'x', a, 'y', b) AS (name, v) FROM t | name v=~t.a,~t.b
SELECT STACK(2, 'x', a, 'y', b) FROM t | col0 col1=~t.a,~t.b
SELECT i, INLINE(ARRAY(STRUCT(a AS p, b AS q), STRUCT(c, k))) FROM t | i=t.i p=~t.a,~t.c q=~t.b,~t.k
SELECT i, INLINE(items) FROM n | i=n.i *=~n.items | JOIN:n.items
SELECT i, INLINE_OUTER(items) AS (p, q) FROM n | i=n.i p=~n.items q=~n.items | JOIN:n.items
SELECT i, POSEXPLODE(tags) FROM n | i=n.i *=~n.tags | JOIN:n.tags
SELECT i, EXPLODE(MAP(a, b)) FROM t | i=t.i key=~t.a value=~t.b
SELECT i, JSON_TUPLE(j, 'a', 'b') FROM n | i=n.i c0=~n.j c1=~n.j
SELECT NAMED_STRUCT('p', x, 'q', y).p AS v FROM u | v=u.x
SELECT TRANSFORM(items, p -> p.x + i) AS l, FILTER(tags, g -> g > 'a') AS f FROM n | l=~n.items,~n.i f=~n.tags
SELECT AGGREGATE(items, 0, (acc, p) -> acc + p.price) AS x, EXISTS(tags, g -> g = 'x') AS y FROM n | x=~n.items y=~n.tags
SELECT NAMED_STRUCT('p', a, 'r', b) AS s, MAP('x', a) AS m, ARRAY(a, b) AS l FROM t | s=~t.a,~t.b m=~t.a l=~t.a,~t.b
SELECT FROM_JSON(j, 'a INT').a AS x, TO_JSON(s) AS y FROM n | x=~n.j y=~n.s
SELECT s.v, s.w FROM (SELECT NAMED_STRUCT('v', a, 'w', b + c) AS s FROM t) | v=t.a w=~t.b,~t.c
# functions
SELECT IF(a > 1, b, c) AS x, NVL(a, b) AS y, NVL2(a, b, c) AS z, DECODE(a, 1, b, c) AS v FROM t | x=CONDITIONAL:t.a,~t.b,~t.c y=~t.a,~t.b z=CONDITIONAL:t.a,~t.b,~t.c v=CONDITIONAL:t.a,~t.b,~t.c
SELECT DATEDIFF(a, b) AS x, DATEADD(DAY, 1, day) AS y, DATE_TRUNC('month', day) AS z FROM t | x=~t.a,~t.b y=~t.day z=~t.day
SELECT DATEDIFF(DAY, a, b) AS x, TIMESTAMPDIFF(HOUR, a, b) AS y, day + INTERVAL 1 DAY AS z FROM t | x=~t.a,~t.b y=~t.a,~t.b z=~t.day
SELECT SHA2(a, 256) AS x, MD5(CONCAT(a, b)) AS y, XXHASH64(a, b) AS z, MASK(c) AS v FROM t | x=!t.a y=!t.a,!t.b z=!t.a,!t.b v=!t.c
SELECT COLLECT_SET(a) AS x, COUNT_IF(b > 1) AS y, MAX_BY(a, b) AS z, FIRST(c, TRUE) AS v FROM t | x=+t.a y=+t.b z=+t.a,+t.b v=+t.c
SELECT SUM(a) FILTER (WHERE b > 1) AS x, PERCENTILE_APPROX(a, 0.5) AS y FROM t | x=+t.a,CONDITIONAL:t.b y=+t.a
SELECT TRY_CAST(a AS INT) AS x, a::DATE AS y, TO_DATE(a, 'yyyy') AS z FROM t | x=~t.a y=~t.a z=~t.a
SELECT CURRENT_DATE AS x, UUID() AS y, MONOTONICALLY_INCREASING_ID() AS z FROM t | x y z
# rows
SELECT a FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY day DESC) = 1 | a=t.a | FILTER:t.k,FILTER:t.day
SELECT a FROM t LEFT SEMI JOIN u ON t.i = u.i | a=t.a | JOIN:t.i,JOIN:u.i
SELECT * FROM u LEFT ANTI JOIN t ON t.i = u.i | i=u.i x=u.x y=u.y z=u.z | JOIN:t.i,JOIN:u.i
SELECT * FROM u LEFT SEMI JOIN t USING (i) | i=u.i x=u.x y=u.y z=u.z | JOIN:t.i,JOIN:u.i
SELECT i, x FROM t RIGHT JOIN u USING (i) | i=u.i x=u.x | JOIN:t.i,JOIN:u.i
SELECT a FROM t VERSION AS OF 3 | a=t.a
SELECT a FROM t TIMESTAMP AS OF '2020-01-01' r | a=t.a
SELECT a FROM t TABLESAMPLE (10 PERCENT) | a=t.a
SELECT /*+ BROADCAST(u) */ a, x FROM t JOIN u ON t.i = u.i | a=t.a x=u.x | JOIN:t.i,JOIN:u.i
SELECT v.x FROM VALUES (1, 'a') AS v (x, y) | x
SELECT id FROM RANGE(10) | id
SELECT a FROM t DISTRIBUTE BY k SORT BY b | a=t.a | SORT:t.k,SORT:t.b
SELECT a FROM t WHERE i IN (SELECT i FROM u) LIMIT 10 | a=t.a | FILTER:t.i,FILTER:u.i
# pivot and unpivot
SELECT * FROM (SELECT i, k, a FROM t) PIVOT (SUM(a) FOR k IN ('A', 'B' AS bb)) | i=t.i a=+t.a,CONDITIONAL:t.k bb=+t.a,CONDITIONAL:t.k | GROUP_BY:t.i
SELECT * FROM (SELECT i, k, a, b FROM t) PIVOT (SUM(a) AS s, MAX(b) AS m FOR k IN ('A', 'B')) | i=t.i a_s=+t.a,CONDITIONAL:t.k a_m=+t.b,CONDITIONAL:t.k b_s=+t.a,CONDITIONAL:t.k b_m=+t.b,CONDITIONAL:t.k | GROUP_BY:t.i
SELECT k, MEAN(a) AS m, TRY_SUM(b) AS s, TRY_AVG(c) AS t FROM t GROUP BY k | k=t.k m=+t.a s=+t.b t=+t.c | GROUP_BY:t.k
SELECT * FROM q UNPIVOT (amount FOR quarter IN (q1, q2 AS second, q3)) | region=q.region quarter amount=q.q1,q.q2,q.q3 | FILTER:q.q1,FILTER:q.q2,FILTER:q.q3
SELECT a, _metadata.file_path AS x FROM t | a=t.a x
# set operations and recursion
SELECT a FROM t EXCEPT SELECT x FROM u | a=t.a | FILTER:u.x,FILTER:t.a
SELECT i, a FROM t UNION ALL BY NAME SELECT x AS a, i FROM u | i=t.i,u.i a=t.a,u.x
FROM t |> WHERE b > 1 |> SELECT a | a=t.a | FILTER:t.b
SELECT a FROM t -- SELECT b | a=t.a
""")


@for_each("case", CASES)
def test_a_query_of_databricks(case: str) -> None:
    assert found(case, "databricks") == expected(case)
