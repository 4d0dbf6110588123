"""Columns of Snowflake queries; the notation is that of `query_cases`."""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

from tests.cases import for_each
from tests.collectors.statements.columns.query_cases import cases, expected, found

CASES = cases(r"""
# names
SELECT "a", "B" FROM t | a=t.a b=t.b
SELECT "line", "LINE" FROM mixed | line=mixed.line line=mixed.LINE
SELECT "Total Amount" AS amount FROM mixed | amount=mixed.Total_Amount
SELECT a FROM db.s."Orders" | a=db.s.orders.a
SELECT $1 AS x FROM t | x=t.i
# lateral aliases: a column of a source goes first
SELECT a + 1 AS v, v * 2 AS y FROM t | v=~t.a y=~t.a
SELECT a + 1 AS b, b * 2 AS y FROM t | b=~t.a y=~t.b
SELECT a AS v FROM t WHERE v > 1 | v=t.a | FILTER:t.a
SELECT k AS b, COUNT(*) AS n FROM t GROUP BY b | b=t.k n | GROUP_BY:t.b
SELECT k AS g, COUNT(*) AS n FROM t GROUP BY 1 | g=t.k n | GROUP_BY:t.k
SELECT k, UPPER(c) AS g, SUM(a) AS x FROM t GROUP BY ALL | k=t.k g=~t.c x=+t.a | GROUP_BY:t.k,GROUP_BY:t.c
SELECT k AS g, SUM(a) AS x FROM t GROUP BY g HAVING x > 1 ORDER BY x | g=t.k x=+t.a | GROUP_BY:t.k,FILTER:t.a,SORT:t.a
# stars
SELECT * EXCLUDE (a, b) FROM t | i=t.i k=t.k c=t.c day=t.day
SELECT * EXCLUDE a FROM u | i=u.i x=u.x y=u.y z=u.z
SELECT t.* EXCLUDE (i, k, a, b, c) RENAME day AS d FROM t | d=t.day
SELECT * RENAME (x AS p, y AS r) FROM u | i=u.i p=u.x r=u.y z=u.z
SELECT * REPLACE (x + 1 AS x) FROM u | i=u.i x=~u.x y=u.y z=u.z
SELECT * ILIKE 'q%' FROM q | q1=q.q1 q2=q.q2 q3=q.q3
SELECT * ILIKE '%a%' EXCLUDE day FROM t | a=t.a
# semi-structured data
SELECT j:a.b::STRING AS x, j['k'] AS y, j:l[0]:v::INT AS z FROM n | x=~n.j y=~n.j z=~n.j
SELECT n.j:name::VARCHAR AS x FROM n | x=~n.j
SELECT f.value:id::INT AS x, f.index AS p, f.key AS y, f.seq AS r, f.this AS o FROM n, LATERAL FLATTEN(input => n.items) f | x=~n.items p=~n.items y=~n.items r=~n.items o=~n.items | JOIN:n.items
SELECT i, value FROM n, LATERAL FLATTEN(items) | i=n.i value=~n.items | JOIN:n.items
SELECT n.i, g.value AS v FROM n, LATERAL FLATTEN(input => n.items, outer => true) f, LATERAL FLATTEN(input => f.value:subs) g | i=n.i v=~n.items | JOIN:n.items
SELECT n.i, f.value AS v FROM n CROSS JOIN TABLE(FLATTEN(input => n.tags)) f | i=n.i v=~n.tags | JOIN:n.tags
SELECT f.* FROM n, LATERAL FLATTEN(input => items) f | seq=~n.items key=~n.items path=~n.items index=~n.items value=~n.items this=~n.items | JOIN:n.items
SELECT s.value AS v FROM t, LATERAL SPLIT_TO_TABLE(t.c, ',') s | v=~t.c | JOIN:t.c
SELECT OBJECT_CONSTRUCT('a', a, 'b', b) AS o FROM t | o=~t.a,~t.b
SELECT PARSE_JSON(c):x AS x, GET_PATH(j, 'a') AS y FROM t, n | x=~t.c y=~n.j
SELECT ARRAY_AGG(a) WITHIN GROUP (ORDER BY b) AS l FROM t | l=+t.a,SORT:t.b
SELECT LISTAGG(DISTINCT a, ',') WITHIN GROUP (ORDER BY b) AS l FROM t | l=+t.a,SORT:t.b
SELECT TRANSFORM(items, p -> p:x + i) AS l FROM n | l=~n.items,~n.i
# functions
SELECT IFF(a > 1, b, c) AS x, NVL(a, b) AS y, NVL2(a, b, c) AS z FROM t | x=CONDITIONAL:t.a,~t.b,~t.c y=~t.a,~t.b z=CONDITIONAL:t.a,~t.b,~t.c
SELECT DECODE(a, 1, b, 2, c, k) AS x, ZEROIFNULL(a) AS y FROM t | x=CONDITIONAL:t.a,~t.b,~t.c,~t.k y=CONDITIONAL:t.a,~t.a
SELECT DATEDIFF(day, a, b) AS x, DATEADD('month', 1, day) AS y, DATE_TRUNC(month, day) AS z FROM t | x=~t.a,~t.b y=~t.day z=~t.day
SELECT DATEDIFF(hour, a, b) AS x, LAST_DAY(day, month) AS y, TIMESTAMPDIFF(minute, a, b) AS z FROM t | x=~t.a,~t.b y=~t.day z=~t.a,~t.b
SELECT MD5(a || b) AS x, SHA2(a, 256) AS y, HASH(a, b) AS z FROM t | x=!t.a,!t.b y=!t.a z=!t.a,!t.b
SELECT TRY_TO_NUMBER(a) AS x, a::DATE AS y, TO_DATE(a, 'YYYY') AS z FROM t | x=~t.a y=~t.a z=~t.a
SELECT RATIO_TO_REPORT(a) OVER (PARTITION BY k) AS x, CONDITIONAL_TRUE_EVENT(a > 1) OVER (ORDER BY b) AS y FROM t | x=~t.a,WINDOW:t.k y=~t.a,WINDOW:t.b
SELECT COUNT_IF(a > 1) AS x, MAX_BY(a, b) AS y, ANY_VALUE(c) AS z FROM t | x=+t.a y=+t.a,+t.b z=+t.c
SELECT db.s.own(a) AS x FROM t | x=~t.a
SELECT ROW_NUMBER() OVER (ORDER BY 1) AS x, SYSDATE() AS y, CURRENT_DATE AS z, UUID_STRING() AS v FROM t | x y z v
SELECT seq.nextval AS id, a FROM t | id a=t.a
# rows
SELECT a FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY day DESC) = 1 | a=t.a | FILTER:t.k,FILTER:t.day
SELECT a, ROW_NUMBER() OVER (PARTITION BY k ORDER BY day) AS r FROM t QUALIFY r = 1 | a=t.a r=WINDOW:t.k,WINDOW:t.day | FILTER:t.k,FILTER:t.day
SELECT * FROM t AT(OFFSET => -60) | i=t.i k=t.k a=t.a b=t.b c=t.c day=t.day
SELECT a FROM t BEFORE(STATEMENT => 'x') r | a=t.a
SELECT a FROM t SAMPLE (10) | a=t.a
SELECT a FROM t r TABLESAMPLE BERNOULLI (3) | a=t.a
SELECT x, a FROM t ASOF JOIN u MATCH_CONDITION (t.day >= u.y) ON t.i = u.i | x=u.x a=t.a | JOIN:t.day,JOIN:u.y,JOIN:t.i,JOIN:u.i
SELECT i, a, x FROM t JOIN u USING (i) | i=t.i a=t.a x=u.x | JOIN:t.i,JOIN:u.i
SELECT * FROM u NATURAL JOIN t | i=u.i x=u.x y=u.y z=u.z k=t.k a=t.a b=t.b c=t.c day=t.day | JOIN:u.i,JOIN:t.i
SELECT COLUMN1 AS x, COLUMN2 AS y FROM VALUES (1, 'a'), (2, 'b') | x y
SELECT v.p, a FROM (VALUES (1, 'a')) AS v (p, r) CROSS JOIN t | p a=t.a
SELECT SEQ4() AS n FROM TABLE(GENERATOR(ROWCOUNT => 10)) | n
SELECT r.x FROM t, TABLE(own_rows(t.a)) r | x=~t.a | JOIN:t.a
SELECT id, LEVEL AS l FROM e START WITH boss IS NULL CONNECT BY PRIOR id = pid | id=e.id l | FILTER:e.boss,JOIN:e.id,JOIN:e.pid
SELECT revenue, month FROM SEMANTIC_VIEW(s.sales METRICS revenue DIMENSIONS month) | revenue=s.sales.revenue month=s.sales.month
SELECT f.$1:a::INT AS x, METADATA$FILENAME AS y FROM @stage/file f | x=~.stage.@stage/file.$1 y
SELECT * FROM IDENTIFIER('a.b') | * | - | a table is named while the query runs
SELECT level FROM w | level=w.level
# pivot and unpivot
SELECT * FROM (SELECT i, k, a FROM t) PIVOT (SUM(a) FOR k IN ('A', 'B')) | i=t.i 'a'=+t.a,CONDITIONAL:t.k 'b'=+t.a,CONDITIONAL:t.k | GROUP_BY:t.i
SELECT p."'A'" AS x FROM (SELECT k, a FROM t) PIVOT (MAX(a) FOR k IN ('A')) p | x=+t.a,CONDITIONAL:t.k
SELECT * FROM (SELECT i, k, a FROM t) PIVOT (SUM(a) FOR k IN ('A', 'B')) AS p (id, x, y) | id=t.i x=+t.a,CONDITIONAL:t.k y=+t.a,CONDITIONAL:t.k | GROUP_BY:t.i
SELECT * FROM (SELECT i, k, a FROM t) PIVOT (MAX(a) FOR k IN (ANY)) | i=t.i *=+t.a,CONDITIONAL:t.k | GROUP_BY:t.i | the columns of a pivot are not known
SELECT "'x'" AS x FROM (SELECT i, k, a FROM t) PIVOT (MAX(a) FOR k IN (SELECT x FROM u)) | x=+t.a,CONDITIONAL:t.k | GROUP_BY:t.i | the columns of a pivot are not known
SELECT * FROM q UNPIVOT (amount FOR quarter IN (q1, q2, q3)) | region=q.region quarter amount=q.q1,q.q2,q.q3 | FILTER:q.q1,FILTER:q.q2,FILTER:q.q3
SELECT region, quarter, amount FROM q UNPIVOT (amount FOR quarter IN (q1, q2)) WHERE q3 > 1 | region=q.region quarter amount=q.q1,q.q2 | FILTER:q.q3,FILTER:q.q1,FILTER:q.q2
# set operations
SELECT a FROM t MINUS SELECT x FROM u | a=t.a | FILTER:u.x,FILTER:t.a
SELECT i, a FROM t UNION ALL BY NAME SELECT x, i FROM u | i=t.i,u.i a=t.a x=u.x
# recursion
WITH RECURSIVE r AS (SELECT id, pid, 1 AS l FROM e WHERE pid IS NULL UNION ALL SELECT e.id, e.pid, r.l + 1 FROM e JOIN r ON e.pid = r.id) SELECT id, l FROM r | id=e.id l | FILTER:e.pid,JOIN:e.pid,JOIN:e.id
WITH r (a, b) AS (SELECT id, name FROM e UNION ALL SELECT r.b, r.a FROM r JOIN e ON e.id = r.a) SELECT a FROM r | a=e.id,e.name | JOIN:e.id,JOIN:e.name
# text around a query
SELECT a FROM t; | a=t.a
/* SELECT */ SELECT a /* b */ FROM t; -- end | a=t.a
(SELECT a FROM t) | a=t.a
ALTER SESSION SET TIMEZONE = 'UTC'; SELECT a FROM t | a=t.a | - | other statements than the query are left out
# match_recognize
SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY day MEASURES FIRST(up.a) AS x, MATCH_NUMBER() AS mn ONE ROW PER MATCH PATTERN (s up+) DEFINE up AS a > LAG(a)) | k=t.k x=+t.a,WINDOW:t.k,WINDOW:t.day mn=WINDOW:t.k,WINDOW:t.day | FILTER:t.a
""")


@for_each("case", CASES)
def test_a_query_of_snowflake(case: str) -> None:
    assert found(case, "snowflake") == expected(case)
