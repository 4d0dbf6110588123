"""Columns of ClickHouse queries; the notation is that of `query_cases`."""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

from tests.cases import for_each
from tests.collectors.statements.columns.query_cases import cases, expected, found

CASES = cases(r"""
# an alias goes before a column, everywhere
SELECT a + 1 AS v, v * 2 AS y FROM t WHERE v > 1 | v=~t.a y=~t.a | FILTER:t.a
SELECT a + 1 AS b, b * 2 AS y FROM t | b=~t.a y=~t.a
SELECT y * 2 AS v, a + 1 AS y FROM t | v=~t.a y=~t.a
SELECT k AS b FROM t WHERE b = 'x' | b=t.k | FILTER:t.k
SELECT toDate(day) AS day, count() AS n FROM t GROUP BY day ORDER BY day | day=~t.day n | GROUP_BY:t.day,SORT:t.day
SELECT k AS b, count() AS n FROM t GROUP BY b HAVING n > 1 | b=t.k n | GROUP_BY:t.k
SELECT t.b, a AS b FROM t | b=t.b b=t.a
SELECT sum(a) AS a, a / 2 AS h FROM t | a=+t.a h=+t.a
WITH 'x' AS name SELECT a, name AS y FROM t | a=t.a y
WITH (SELECT max(x) FROM u) AS top SELECT a, top AS y FROM t WHERE b > top | a=t.a y=+u.x | FILTER:t.b,FILTER:u.x
WITH toDate(day) AS d SELECT d, a FROM t | d=~t.day a=t.a
# names
SELECT `a`, t.`B`, "c" FROM `t` | a=t.a b=t.b c=t.c
SELECT a FROM db.orders FINAL | a=db.orders.a
SELECT n.`s.a` AS x, s.b AS y, s.1 AS z FROM n | x=n.s.a y=n.s.b z=~n.s
# stars
SELECT * EXCEPT (a, b) FROM t | i=t.i k=t.k c=t.c day=t.day
SELECT * EXCEPT a FROM t | i=t.i k=t.k b=t.b c=t.c day=t.day
SELECT * REPLACE (x + 1 AS x) FROM u | i=u.i x=~u.x y=u.y z=u.z
SELECT COLUMNS('^q') FROM q | q1=q.q1 q2=q.q2 q3=q.q3
SELECT * APPLY(sum) FROM u | i=+u.i x=+u.x y=+u.y z=+u.z
# arrays
SELECT i, item FROM n ARRAY JOIN items AS item | i=n.i item=~n.items | JOIN:n.items
SELECT i, items, p FROM n LEFT ARRAY JOIN items, arrayEnumerate(items) AS p | i=n.i items=~n.items p=~n.items | JOIN:n.items
SELECT i, arrayJoin(tags) AS tag FROM n | i=n.i tag=~n.tags | JOIN:n.tags
SELECT arrayMap(p -> p.1 + i, items) AS l, arrayFilter((g, h) -> g > h, tags, items) AS f FROM n | l=~n.items,~n.i f=~n.tags,~n.items
SELECT tupleElement(s, 'a') AS x, items[1] AS y, m['k'] AS z, mapKeys(m) AS v FROM n | x=~n.s y=~n.items z=~n.m v=~n.m
SELECT JSONExtractString(j, 'a') AS x, visitParamExtractInt(j, 'b') AS y FROM n | x=~n.j y=~n.j
SELECT (a, b) AS p, tuple(a, b) AS r, [a, b] AS l, map('k', a) AS m FROM t | p=~t.a,~t.b r=~t.a,~t.b l=~t.a,~t.b m=~t.a
SELECT tuple(a, b).1 AS v FROM t | v=t.a
# functions
SELECT if(a > 1, b, c) AS x, a > 1 ? b : c AS y, multiIf(a = 1, b, a = 2, c, k) AS z FROM t | x=CONDITIONAL:t.a,~t.b,~t.c y=CONDITIONAL:t.a,~t.b,~t.c z=CONDITIONAL:t.a,~t.b,~t.c,~t.k
SELECT toStartOfMonth(day) AS x, dateDiff('day', a, b) AS y, toYYYYMM(day) AS z, day + INTERVAL 1 DAY AS v FROM t | x=~t.day y=~t.a,~t.b z=~t.day v=~t.day
SELECT date_diff(day, a, b) AS x, date_add(MONTH, 1, c) AS y FROM t | x=~t.a,~t.b y=~t.c
SELECT sumIf(a, b > 1) AS x, countIf(c = 'x') AS y, uniqExact(a) AS z, argMax(a, b) AS v FROM t | x=+t.a,CONDITIONAL:t.b y=+t.c z=+t.a v=+t.a,+t.b
SELECT uniqExactIf(a, b > 1) AS x, argMaxIf(a, b, c > 1) AS y FROM t | x=+t.a,CONDITIONAL:t.b y=+t.a,+t.b,CONDITIONAL:t.c
SELECT groupArray(a) AS x, quantile(0.5)(a) AS y, quantiles(0.5, 0.9)(b) AS z, groupUniqArrayIf(a, b = 1) AS v FROM t | x=+t.a y=+t.a z=+t.b v=+t.a,CONDITIONAL:t.b
SELECT sumState(a) AS x, sumMerge(b) AS y, avgOrNull(c) AS z FROM t | x=+t.a y=+t.b z=+t.c
SELECT cityHash64(a, b) AS x, sipHash64(a) AS y, hex(MD5(a)) AS z, halfMD5(c) AS v FROM t | x=!t.a,!t.b y=!t.a z=!t.a v=!t.c
SELECT toInt32OrNull(a) AS x, CAST(a, 'Int64') AS y, a::Date AS z, toString(a) AS v FROM t | x=~t.a y=~t.a z=~t.a v=~t.a
SELECT now() AS x, today() AS y, generateUUIDv4() AS z, rand() AS v FROM t | x y z v
SELECT dictGet('d.customers', 'name', a) AS x, dictGetOrDefault('d.customers', 'name', b, c) AS y FROM t | x=~t.a y=~t.b,~t.c
SELECT dictGet(d.customers, 'name', a) AS x FROM t | x=~t.a
SELECT lagInFrame(a) OVER (PARTITION BY k ORDER BY day) AS x, row_number() OVER w AS y FROM t WINDOW w AS (PARTITION BY k) | x=~t.a,WINDOW:t.k,WINDOW:t.day y=WINDOW:t.k
SELECT a IN (SELECT x FROM u) AS v, a BETWEEN b AND c AS y FROM t | v=~t.a,~u.x y=~t.a,~t.b,~t.c
# rows; ORDER BY is the last branch's own
SELECT a FROM t UNION ALL SELECT x FROM u ORDER BY 1 | a=t.a,u.x | SORT:u.x
SELECT a FROM t PREWHERE b > 1 WHERE c = 1 | a=t.a | FILTER:t.b,FILTER:t.c
SELECT a FROM t ORDER BY b LIMIT 1 BY k | a=t.a | SORT:t.b,GROUP_BY:t.k
SELECT DISTINCT ON (k) a FROM t ORDER BY b | a=t.a | GROUP_BY:t.k,SORT:t.b
SELECT a FROM t SAMPLE 0.1 SETTINGS max_threads = 1 | a=t.a
SELECT a FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY b) = 1 | a=t.a | FILTER:t.k,FILTER:t.b
SELECT k, sum(a) AS x FROM t GROUP BY ALL | k=t.k x=+t.a | GROUP_BY:t.k
SELECT k, sum(a) AS x FROM t GROUP BY k WITH TOTALS | k=t.k x=+t.a | GROUP_BY:t.k
SELECT a, x FROM t ANY LEFT JOIN u ON t.i = u.i | a=t.a x=u.x | JOIN:t.i,JOIN:u.i
SELECT a, x FROM t ASOF JOIN u ON t.i = u.i AND t.day >= u.y | a=t.a x=u.x | JOIN:t.i,JOIN:u.i,JOIN:t.day,JOIN:u.y
SELECT a, x FROM t GLOBAL INNER JOIN u USING i | a=t.a x=u.x | JOIN:t.i,JOIN:u.i
SELECT a FROM t LEFT ANTI JOIN u ON t.i = u.i | a=t.a | JOIN:t.i,JOIN:u.i
SELECT number AS x FROM numbers(10) | x
SELECT x FROM s3('http://h/x.csv', 'CSV', 'x Int32, y String') | x=.s3.http://h/x.csv.x
SELECT i, x FROM t FINAL INNER JOIN u FINAL ON t.i = u.i | i=t.i x=u.x | JOIN:t.i,JOIN:u.i
SELECT d, n FROM (SELECT toDate(day) AS d, count() AS n FROM t GROUP BY d) ORDER BY d WITH FILL STEP 1 | d=~t.day n | GROUP_BY:t.day,SORT:t.day
SELECT a FROM t WHERE i GLOBAL IN (SELECT i FROM u) FORMAT JSON | a=t.a | FILTER:t.i,FILTER:u.i
""")


@for_each("case", CASES)
def test_a_query_of_clickhouse(case: str) -> None:
    assert found(case, "clickhouse") == expected(case)
