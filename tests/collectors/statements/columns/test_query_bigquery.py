"""Columns of BigQuery queries; the notation is that of `query_cases`."""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

from tests.cases import for_each
from tests.collectors.statements.columns.query_cases import cases, expected, found

CASES = cases(r"""
# names
SELECT `a`, t.`B` FROM `t` | a=t.a b=t.b
SELECT a FROM `p-1.d.orders` | a=p-1.d.orders.a
SELECT o.a FROM `p-1`.d.`orders` AS o | a=p-1.d.orders.a
SELECT a FROM p-1.d.orders | a=p-1.d.orders.a
SELECT `Total Amount` AS amount FROM mixed | amount=mixed.Total_Amount
SELECT COUNT(*), SUM(a) FROM t | f0_ f1_=+t.a
# stars
SELECT * EXCEPT (a, b) FROM t | i=t.i k=t.k c=t.c day=t.day
SELECT * REPLACE (x + 1 AS x, 'z' AS z) FROM u | i=u.i x=~u.x y=u.y z
SELECT t.* EXCEPT (i), u.x FROM t JOIN u USING (i) | k=t.k a=t.a b=t.b c=t.c day=t.day x=u.x | JOIN:t.i,JOIN:u.i
SELECT * EXCEPT (r) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY i ORDER BY x) AS r FROM u) WHERE r = 1 | i=u.i x=u.x y=u.y z=u.z | FILTER:u.i,FILTER:u.x
SELECT s.* FROM n | *=~n.s
# arrays and structs
SELECT n.i, item.sku FROM n, UNNEST(items) AS item | i=n.i sku=~n.items | JOIN:n.items
SELECT n.i, item.sku, p FROM n, UNNEST(n.items) AS item WITH OFFSET AS p | i=n.i sku=~n.items p=~n.items | JOIN:n.items
SELECT tag, offset FROM n CROSS JOIN UNNEST(tags) AS tag WITH OFFSET ORDER BY offset | tag=~n.tags offset=~n.tags | SORT:n.tags,JOIN:n.tags
SELECT n.i, item.sku FROM n, n.items AS item | i=n.i sku=~n.items | JOIN:n.items
SELECT n.i, item.sku FROM d.n, n.items AS item | i=d.n.i sku=~d.n.items | JOIN:d.n.items
SELECT n.i, item FROM n LEFT JOIN UNNEST(items) item | i=n.i item=~n.items | JOIN:n.items
SELECT sku FROM n, UNNEST(items) | sku=~n.items | JOIN:n.items
SELECT o.sub.v FROM n, UNNEST(items) AS item, UNNEST(item.options) AS o | v=~n.items | JOIN:n.items
SELECT s.a.b, n.s.c AS x FROM n | b=n.s.a.b x=n.s.c
SELECT s.a AS x, items[OFFSET(0)].sku AS y, tags[SAFE_ORDINAL(1)] AS z FROM n | x=n.s.a y=~n.items z=~n.tags
SELECT address.city, r.address.geo.lat AS x, address.zip AS y FROM nested r | city=nested.address.city x=nested.address.geo.lat y=nested.address.zip
SELECT * FROM nested | id=nested.id address=nested.address
SELECT STRUCT(a, b AS x) AS s FROM t | s=~t.a,~t.b
SELECT STRUCT(a AS x, b AS y).x AS v FROM t | v=t.a
SELECT STRUCT(a AS x, b AS y).* FROM t | x=t.a y=t.b
SELECT ARRAY_AGG(STRUCT(a, b) ORDER BY day DESC LIMIT 1)[OFFSET(0)] AS x FROM t | x=+t.a,+t.b,SORT:t.day
SELECT ARRAY(SELECT sku FROM UNNEST(items)) AS x FROM n | x=~n.items,JOIN:n.items
SELECT (SELECT SUM(item.price) FROM UNNEST(items) AS item WHERE item.ok) AS x FROM n | x=+n.items,FILTER:n.items,JOIN:n.items
SELECT ARRAY(SELECT AS STRUCT e.id, e.name FROM e) AS x FROM t | x=~e.id,~e.name
SELECT AS STRUCT a, b FROM t | a=t.a b=t.b
SELECT r.a FROM (SELECT AS VALUE STRUCT(a, b) FROM t) r | a=t.a
SELECT x FROM UNNEST([1, 2, 3]) AS x | x
SELECT d FROM UNNEST(GENERATE_DATE_ARRAY('2020-01-01', CURRENT_DATE())) AS d | d
SELECT a FROM t WHERE k IN UNNEST(['x', 'y']) | a=t.a | FILTER:t.k
SELECT i FROM n WHERE 'x' IN UNNEST(tags) | i=n.i | FILTER:n.tags
SELECT i FROM n WHERE EXISTS (SELECT 1 FROM UNNEST(items) AS p WHERE p.sku = 'x') | i=n.i | FILTER:n.items
SELECT TO_JSON_STRING(t) AS x FROM t | x=~t.i,~t.k,~t.a,~t.b,~t.c,~t.day
SELECT r.* FROM (SELECT ARRAY_AGG(o ORDER BY o.x LIMIT 1)[OFFSET(0)] AS r FROM u AS o GROUP BY o.i) | i=+u.i,SORT:u.x x=+u.x,SORT:u.x y=+u.y,SORT:u.x z=+u.z,SORT:u.x | GROUP_BY:u.i
SELECT r.x FROM (SELECT ARRAY_AGG(o ORDER BY o.y LIMIT 1)[OFFSET(0)] AS r FROM u AS o GROUP BY o.i) | x=+u.x,SORT:u.y | GROUP_BY:u.i
SELECT p.s.v, p.s.b AS x FROM (SELECT STRUCT(a AS v, b) AS s FROM t) p | v=t.a x=t.b
SELECT s.v, s.* FROM (SELECT STRUCT(a AS v, b + c AS d) AS s FROM t) | v=t.a v=t.a d=~t.b,~t.c
SELECT COUNT(DISTINCT u) AS n FROM u | n=+u.i,+u.x,+u.y,+u.z
SELECT JSON_VALUE(j, '$.a') AS x, JSON_EXTRACT_SCALAR(j, '$.b') AS y, j.c.d AS z FROM n | x=~n.j y=~n.j z=n.j.c.d
SELECT ARRAY_TO_STRING(tags, ',') AS x, ARRAY_LENGTH(items) AS y FROM n | x=~n.tags y=~n.items
# functions
SELECT IF(a > 1, b, c) AS x, IFNULL(a, b) AS y, SAFE_CAST(a AS INT64) AS z FROM t | x=CONDITIONAL:t.a,~t.b,~t.c y=~t.a,~t.b z=~t.a
SELECT SAFE.PARSE_DATE('%Y', a) AS x, SAFE_DIVIDE(a, b) AS y FROM t | x=~t.a y=~t.a,~t.b
SELECT DATE_DIFF(a, b, DAY) AS x, DATE_TRUNC(day, MONTH) AS y, DATE_ADD(day, INTERVAL 1 WEEK) AS z FROM t | x=~t.a,~t.b y=~t.day z=~t.day
SELECT TIMESTAMP_TRUNC(a, ISOWEEK) AS x, DATE_TRUNC(a, WEEK(MONDAY)) AS y, EXTRACT(DAYOFWEEK FROM a) AS z FROM t | x=~t.a y=~t.a z=~t.a
SELECT TO_HEX(SHA256(a)) AS x, FARM_FINGERPRINT(CONCAT(a, b)) AS y, TO_HEX(MD5(a)) AS z FROM t | x=!t.a y=!t.a,!t.b z=!t.a
SELECT APPROX_QUANTILES(a, 100)[OFFSET(50)] AS x, COUNTIF(a > 1) AS y, APPROX_COUNT_DISTINCT(a) AS z FROM t | x=+t.a y=+t.a z=+t.a
SELECT STRING_AGG(DISTINCT a, ',' ORDER BY a) AS x, ANY_VALUE(a HAVING MAX b) AS y, LOGICAL_OR(a > 1) AS z FROM t | x=+t.a,SORT:t.a y=+t.a,+t.b z=+t.a
SELECT p.d.own(a) AS x FROM t | x=~t.a
SELECT FIRST_VALUE(a IGNORE NULLS) OVER w AS x FROM t WINDOW w AS (PARTITION BY k ORDER BY day) | x=~t.a,WINDOW:t.k,WINDOW:t.day
SELECT SUM(a) OVER (w ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS x FROM t WINDOW w AS (ORDER BY day) | x=+t.a,WINDOW:t.day
SELECT a, CURRENT_TIMESTAMP() AS y, GENERATE_UUID() AS z, SESSION_USER() AS v FROM t | a=t.a y z v
# rows
SELECT k AS b, COUNT(*) AS n FROM t GROUP BY b | b=t.k n | GROUP_BY:t.k
SELECT k, SUM(a) AS x FROM t GROUP BY 1 ORDER BY 2 DESC | k=t.k x=+t.a | GROUP_BY:t.k,SORT:t.a
SELECT k, SUM(a) AS x FROM t GROUP BY ALL | k=t.k x=+t.a | GROUP_BY:t.k
SELECT a FROM t WHERE TRUE QUALIFY RANK() OVER (PARTITION BY k ORDER BY b) = 1 | a=t.a | FILTER:t.k,FILTER:t.b
SELECT a FROM t FOR SYSTEM_TIME AS OF TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR) | a=t.a
SELECT a FROM t TABLESAMPLE SYSTEM (10 PERCENT) | a=t.a
SELECT a FROM t WHERE _PARTITIONTIME > '2020-01-01' | a=t.a
SELECT a FROM `p.d.events_*` WHERE _TABLE_SUFFIX = 'x' | a=p.d.events_*.a
SELECT * FROM t JOIN u USING (i) | i=t.i k=t.k a=t.a b=t.b c=t.c day=t.day x=u.x y=u.y z=u.z | JOIN:t.i,JOIN:u.i
SELECT i FROM t FULL JOIN u USING (i) | i=~t.i,~u.i | JOIN:t.i,JOIN:u.i
# pivot and unpivot
SELECT * FROM (SELECT i, k, a FROM t) PIVOT (SUM(a) FOR k IN ('A', 'B')) | i=t.i a=+t.a,CONDITIONAL:t.k b=+t.a,CONDITIONAL:t.k | GROUP_BY:t.i
SELECT * FROM (SELECT i, k, a FROM t) PIVOT (SUM(a) AS total, COUNT(*) AS n FOR k IN ('A', 'B' AS bb)) | i=t.i total_a=+t.a,CONDITIONAL:t.k n_a=CONDITIONAL:t.k total_bb=+t.a,CONDITIONAL:t.k n_bb=CONDITIONAL:t.k | GROUP_BY:t.i
SELECT * FROM q UNPIVOT (amount FOR quarter IN (q1, q2 AS 'second', q3)) | region=q.region amount=q.q1,q.q2,q.q3 quarter | FILTER:q.q1,FILTER:q.q2,FILTER:q.q3
SELECT region, amount FROM q UNPIVOT INCLUDE NULLS (amount FOR quarter IN (q1, q2)) | region=q.region amount=q.q1,q.q2
# set operations and recursion
SELECT UPPER(k) AS c, SUM(a) AS x FROM t GROUP BY ROLLUP (c) | c=~t.k x=+t.a | GROUP_BY:t.k
SELECT a FROM t UNION DISTINCT SELECT x FROM u | a=t.a,u.x | GROUP_BY:t.a,GROUP_BY:u.x
SELECT a FROM t EXCEPT DISTINCT SELECT x FROM u | a=t.a | FILTER:u.x,FILTER:t.a
SELECT i, a FROM t UNION ALL BY NAME SELECT x AS a, i FROM u | i=t.i,u.i a=t.a,u.x
SELECT i, a FROM t UNION ALL CORRESPONDING SELECT x AS a, i FROM u | i=t.i,u.i a=t.a,u.x
SELECT i, a FROM t FULL OUTER UNION ALL BY NAME SELECT x, i FROM u | i=t.i,u.i a=t.a x=u.x
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 10) SELECT n, a FROM r CROSS JOIN t | n a=t.a
FROM t |> WHERE b > 1 |> SELECT a | a=t.a | FILTER:t.b
FROM t |> AGGREGATE SUM(a) AS x GROUP BY k | k=t.k x=+t.a | GROUP_BY:t.k
# statements around a query
CREATE TEMP FUNCTION own(x INT64) AS (x + 1); SELECT own(a) AS x FROM t | x=~t.a | - | other statements than the query are left out
DECLARE d DATE DEFAULT '2020-01-01'; SELECT a FROM t WHERE b > d; | a=t.a | FILTER:t.b | other statements than the query are left out
CREATE TEMP TABLE r AS SELECT a AS v FROM t; SELECT v FROM r | v=t.a
# SELECT with a comma at its end
SELECT a, b, FROM t | a=t.a b=t.b
""")


@for_each("case", CASES)
def test_a_query_of_bigquery(case: str) -> None:
    assert found(case, "bigquery") == expected(case)
