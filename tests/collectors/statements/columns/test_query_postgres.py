"""Columns of PostgreSQL queries; the notation is that of `query_cases`."""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

from tests.cases import for_each
from tests.collectors.statements.columns.query_cases import cases, expected, found

CASES = cases(r"""
# names
SELECT "a", t."b" AS "x y" FROM "t" | a=t.a x_y=t.b
SELECT "line", "LINE" AS x FROM mixed | line=mixed.line x=mixed.LINE
SELECT COUNT(*), SUM(a), a::TEXT FROM t GROUP BY a | count sum=+t.a a=~t.a | GROUP_BY:t.a
SELECT a + b, 1 FROM t | ?column?=~t.a,~t.b ?column?
# aliases: GROUP BY takes a column of a source first, ORDER BY one of the result
SELECT k AS b, COUNT(*) AS n FROM t GROUP BY b ORDER BY b | b=t.k n | GROUP_BY:t.b,SORT:t.k
SELECT UPPER(k) AS g, COUNT(*) AS n FROM t GROUP BY g | g=~t.k n | GROUP_BY:t.k
SELECT k, c, SUM(a) AS x FROM t GROUP BY 1, 2 ORDER BY 3 | k=t.k c=t.c x=+t.a | GROUP_BY:t.k,GROUP_BY:t.c,SORT:t.a
SELECT a AS b FROM t ORDER BY b + 1, b LIMIT 3 | b=t.a | SORT:t.b,SORT:t.a
SELECT DISTINCT ON (k) k, a FROM t ORDER BY k, day DESC | k=t.k a=t.a | GROUP_BY:t.k,SORT:t.k,SORT:t.day
# json, arrays, rows
SELECT j->'a'->>'b' AS x, j#>>'{a,b}' AS y, (j->>'n')::INT AS z FROM n | x=~n.j y=~n.j z=~n.j
SELECT j->>k AS x FROM n JOIN t ON n.i = t.i | x=~n.j,~t.k | JOIN:n.i,JOIN:t.i
SELECT (s).f AS x, tags[1] AS y, (n.s).g AS z FROM n | x=~n.s y=~n.tags z=~n.s
SELECT n.i, item FROM n CROSS JOIN UNNEST(items) AS item | i=n.i item=~n.items | JOIN:n.items
SELECT n.i, u.tag, u.p FROM n, UNNEST(tags) WITH ORDINALITY AS u (tag, p) | i=n.i tag=~n.tags p=~n.tags | JOIN:n.tags
SELECT i, COUNT(*) AS n FROM n, UNNEST(tags) AS g (tag) GROUP BY i | i=n.i n | JOIN:n.tags,GROUP_BY:n.i
SELECT i, JSONB_ARRAY_ELEMENTS(j)->>'x' AS x FROM n | i=n.i x=~n.j | JOIN:n.j
SELECT a, v FROM t, UNNEST(ARRAY[b, c]) AS g (v) | a=t.a v=~t.b,~t.c
SELECT i, UNNEST(tags) AS tag FROM n | i=n.i tag=~n.tags | JOIN:n.tags
SELECT n.i, r.value->>'x' AS x FROM n, JSONB_ARRAY_ELEMENTS(n.j) r | i=n.i x=~n.j | JOIN:n.j
SELECT r.key, r.value FROM n CROSS JOIN LATERAL JSONB_EACH_TEXT(j->'a') AS r | key=~n.j value=~n.j | JOIN:n.j
SELECT r.key AS p, r.value AS v FROM n, JSON_EACH(j) AS r (key, value) | p=~n.j v=~n.j | JOIN:n.j
SELECT x.a FROM n, JSONB_TO_RECORDSET(j) AS x (a INT, b TEXT) | a=~n.j | JOIN:n.j
SELECT ARRAY(SELECT x FROM u WHERE u.i = t.i) AS l FROM t | l=~u.x,FILTER:u.i,FILTER:t.i
SELECT ARRAY_AGG(a ORDER BY b) AS x, STRING_AGG(a, ',' ORDER BY b) AS y, JSONB_AGG(a) AS z FROM t | x=+t.a,SORT:t.b y=+t.a,SORT:t.b z=+t.a
SELECT JSONB_BUILD_OBJECT('a', a, 'b', b) AS o, ROW(a, b) AS r FROM t | o=~t.a,~t.b r=~t.a,~t.b
SELECT (t).a AS x FROM t | x=t.a
SELECT (u).* FROM u | i=u.i x=u.x y=u.y z=u.z
SELECT (json_each(j)).* FROM n | *=~n.j | JOIN:n.j
SELECT ROW_TO_JSON(t) AS o FROM t | o=~t.i,~t.k,~t.a,~t.b,~t.c,~t.day
SELECT TO_JSONB(r) AS o FROM (SELECT a, b FROM t) r | o=~t.a,~t.b
SELECT (SELECT STRING_AGG(o, '|') FROM JSONB_ARRAY_ELEMENTS(n.j) AS p, JSONB_ARRAY_ELEMENTS_TEXT(p->'x') AS o WHERE p->>'k' = 'y') AS x FROM n | x=+n.j,FILTER:n.j,JOIN:n.j
# functions
SELECT a::NUMERIC(10, 2) AS x, EXTRACT(EPOCH FROM day) AS y, DATE_PART('year', day) AS z FROM t | x=~t.a y=~t.day z=~t.day
SELECT day + INTERVAL '1 day' AS x, AGE(a, b) AS y, TO_CHAR(day, 'YYYY') AS z, day AT TIME ZONE 'UTC' AS v FROM t | x=~t.day y=~t.a,~t.b z=~t.day v=~t.day
SELECT MD5(a) AS x, ENCODE(SHA256(a::BYTEA), 'hex') AS y, ENCODE(DIGEST(a, 'sha1'), 'hex') AS z FROM t | x=!t.a y=!t.a z=!t.a
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a) AS x, MODE() WITHIN GROUP (ORDER BY b) AS y FROM t | x=+t.a y=+t.b
SELECT BOOL_OR(a > 1) AS x, SUM(a) FILTER (WHERE b = 1) AS y FROM t | x=+t.a y=+t.a,CONDITIONAL:t.b
SELECT CURRENT_DATE AS x, NOW() AS y, GEN_RANDOM_UUID() AS z, CURRENT_USER AS v FROM t | x y z v
SELECT a ~ 'x' AS x, a ILIKE b AS y, a IS DISTINCT FROM b AS z, a = ANY(c) AS v FROM t | x=~t.a y=~t.a,~t.b z=~t.a,~t.b v=~t.a,~t.c
SELECT OVERLAY(a PLACING 'x' FROM 2), TRIM(BOTH ' ' FROM b) AS y, SUBSTRING(c FROM 1 FOR 2) AS z, POSITION('x' IN a) AS v FROM t | overlay=~t.a y=~t.b z=~t.c v=~t.a
# rows
SELECT g::DATE AS d FROM GENERATE_SERIES('2020-01-01'::DATE, NOW(), '1 day') AS g | d
SELECT g.d, a FROM t CROSS JOIN GENERATE_SERIES(1, t.b) AS g (d) | d=~t.b a=t.a | JOIN:t.b
SELECT r.x FROM t LEFT JOIN LATERAL (SELECT x FROM u WHERE u.i = t.i ORDER BY y LIMIT 1) r ON TRUE | x=u.x | FILTER:u.i,FILTER:t.i,SORT:u.y
SELECT i, a, x FROM t JOIN u USING (i) | i=t.i a=t.a x=u.x | JOIN:t.i,JOIN:u.i
SELECT * FROM t NATURAL LEFT JOIN u | i=t.i k=t.k a=t.a b=t.b c=t.c day=t.day x=u.x y=u.y z=u.z | JOIN:t.i,JOIN:u.i
SELECT r.* FROM (t JOIN u ON t.i = u.i) r | i=t.i k=t.k a=t.a b=t.b c=t.c day=t.day i=u.i x=u.x y=u.y z=u.z | JOIN:t.i,JOIN:u.i
SELECT a FROM t TABLESAMPLE SYSTEM (10) | a=t.a
SELECT column1 AS x, column2 AS y FROM (VALUES (1, 'a'), (2, 'b')) v | x y
SELECT v.p FROM t, (VALUES (t.a), (t.b)) AS v (p) | p=t.a,t.b
SELECT a FROM t WHERE (i, k) IN (SELECT i, x FROM u) | a=t.a | FILTER:t.i,FILTER:t.k,FILTER:u.i,FILTER:u.x
SELECT a FROM ONLY t FETCH FIRST 3 ROWS ONLY | a=t.a
SELECT a FROM t FOR UPDATE | a=t.a
SELECT ctid AS x, a FROM t | x a=t.a
SELECT * FROM OWN_ROWS(3) AS r (p INT, v TEXT) | p v | - | a table function is not followed: own_rows
# set operations and recursion
SELECT a FROM t UNION SELECT x FROM u | a=t.a,u.x | GROUP_BY:t.a,GROUP_BY:u.x
SELECT a, k FROM t INTERSECT ALL SELECT x, y FROM u | a=t.a,u.x k=t.k,u.y | FILTER:t.a,FILTER:t.k,FILTER:u.x,FILTER:u.y
SELECT a FROM t UNION ALL SELECT x FROM u ORDER BY 1 | a=t.a,u.x | SORT:t.a,SORT:u.x
WITH RECURSIVE r AS (SELECT id, pid, name::TEXT AS path FROM e WHERE pid IS NULL UNION ALL SELECT e.id, e.pid, r.path || e.name FROM e JOIN r ON e.pid = r.id) SELECT id, path FROM r | id=e.id path=~e.name | FILTER:e.pid,JOIN:e.pid,JOIN:e.id
WITH t AS (SELECT a FROM t) SELECT a FROM t | a=t.a
WITH c AS MATERIALIZED (SELECT a FROM t) TABLE c | a=t.a
""")


@for_each("case", CASES)
def test_a_query_of_postgres(case: str) -> None:
    assert found(case, "postgres") == expected(case)
