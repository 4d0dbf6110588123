"""Columns of queries that are alike in all dialects; the notation is that of `query_cases`."""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

import pytest

from tests.cases import for_each
from tests.collectors.statements.columns.query_cases import cases, expected, found

DIALECTS = [
    "spark",
    "databricks",
    "postgres",
    "redshift",
    "snowflake",
    "bigquery",
    "duckdb",
    "trino",
    "athena",
    "clickhouse",
    "tsql",
    "oracle",
    "mysql",
    "teradata",
]

CASES = cases("""
# projections
SELECT a, b AS x FROM t | a=t.a x=t.b
SELECT t.a, T.B FROM t | a=t.a b=t.b
SELECT r.a FROM t r | a=t.a
SELECT * FROM t | i=t.i k=t.k a=t.a b=t.b c=t.c day=t.day
SELECT r.* FROM t r | i=t.i k=t.k a=t.a b=t.b c=t.c day=t.day
SELECT a, t.* FROM u JOIN t ON u.i = t.i | a=t.a i=t.i k=t.k a=t.a b=t.b c=t.c day=t.day | JOIN:u.i,JOIN:t.i
SELECT 1 AS x, NULL AS y, 'a' AS z FROM t | x y z
SELECT a + b AS x, -c AS y, (a) AS z FROM t | x=~t.a,~t.b y=~t.c z=t.a
SELECT CAST(a AS INT) AS x FROM t | x=~t.a
SELECT UPPER(a) AS x, COALESCE(a, b, 0) AS y, NULLIF(a, b) AS z FROM t | x=~t.a y=~t.a,~t.b z=~t.a,~t.b
SELECT CONCAT(a, '-', UPPER(b)) AS x FROM t | x=~t.a,~t.b
SELECT own_function(a, b) AS x FROM t | x=~t.a,~t.b
SELECT CURRENT_TIMESTAMP AS x, a FROM t | x a=t.a
SELECT EXTRACT(YEAR FROM day) AS x FROM t | x=~t.day
SELECT DISTINCT a, b FROM t | a=t.a b=t.b | GROUP_BY:t.a,GROUP_BY:t.b
SELECT a AS x, a AS y FROM t | x=t.a y=t.a
SELECT a FROM w | a=w.a
SELECT * FROM w | *=w.*
SELECT zz FROM t | zz=t.zz
SELECT t.zz FROM t | zz=t.zz
# conditions in values
SELECT CASE WHEN a > 1 THEN b ELSE c END AS x FROM t | x=CONDITIONAL:t.a,~t.b,~t.c
SELECT CASE a WHEN 1 THEN b END AS x FROM t | x=CONDITIONAL:t.a,~t.b
SELECT CASE WHEN a = b THEN 1 ELSE 0 END AS x FROM t | x=CONDITIONAL:t.a,CONDITIONAL:t.b
SELECT CASE WHEN a IS NULL THEN CASE WHEN b > 1 THEN c END END AS x FROM t | x=CONDITIONAL:t.a,CONDITIONAL:t.b,~t.c
SELECT SUM(CASE WHEN a = 1 THEN b ELSE 0 END) AS x FROM t | x=CONDITIONAL:t.a,+t.b
SELECT CASE WHEN EXISTS (SELECT 1 FROM u WHERE u.i = t.i) THEN a END AS x FROM t | x=CONDITIONAL:u.i,CONDITIONAL:t.i,~t.a
# aggregates
SELECT COUNT(*) AS n FROM t | n
SELECT k, SUM(a) AS x, MAX(b) AS y FROM t GROUP BY k | k=t.k x=+t.a y=+t.b | GROUP_BY:t.k
SELECT COUNT(DISTINCT a) AS x, AVG(a + b) AS y FROM t | x=+t.a y=+t.a,+t.b
SELECT SUM(a) / COUNT(b) AS x FROM t | x=+t.a,+t.b
SELECT k FROM t GROUP BY k HAVING SUM(a) > 1 | k=t.k | GROUP_BY:t.k FILTER:t.a
SELECT k, SUM(a) AS x FROM t GROUP BY k ORDER BY SUM(a) DESC | k=t.k x=+t.a | GROUP_BY:t.k SORT:t.a
SELECT k, b, SUM(a) AS x FROM t GROUP BY GROUPING SETS ((k), (b), ()) | k=t.k b=t.b x=+t.a | GROUP_BY:t.k,GROUP_BY:t.b
SELECT k, b, SUM(a) AS x FROM t GROUP BY ROLLUP (k, b) | k=t.k b=t.b x=+t.a | GROUP_BY:t.k,GROUP_BY:t.b
SELECT UPPER(k) AS x FROM t GROUP BY UPPER(k) | x=~t.k | GROUP_BY:t.k
# windows
SELECT ROW_NUMBER() OVER (PARTITION BY k ORDER BY day DESC) AS x FROM t | x=WINDOW:t.k,WINDOW:t.day
SELECT SUM(a) OVER (PARTITION BY k) AS x FROM t | x=+t.a,WINDOW:t.k
SELECT LAG(a) OVER (PARTITION BY k ORDER BY day) AS x FROM t | x=~t.a,WINDOW:t.k,WINDOW:t.day
SELECT LAST_VALUE(a) OVER (ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS x FROM t | x=~t.a,WINDOW:t.day
SELECT a / SUM(b) OVER (PARTITION BY k) AS x FROM t | x=~t.a,+t.b,WINDOW:t.k
SELECT RANK() OVER (ORDER BY SUM(a)) AS x FROM t GROUP BY k | x=WINDOW:t.a | GROUP_BY:t.k
SELECT a FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY k ORDER BY day) AS r FROM t) x WHERE r = 1 | a=t.a | FILTER:t.k,FILTER:t.day
# rows
SELECT a FROM t WHERE b = 1 AND UPPER(c) LIKE 'x%' | a=t.a | FILTER:t.b,FILTER:t.c
SELECT a FROM t WHERE b BETWEEN 1 AND c OR k IS NOT NULL | a=t.a | FILTER:t.b,FILTER:t.c,FILTER:t.k
SELECT a FROM t ORDER BY b | a=t.a | SORT:t.b
SELECT a AS x FROM t ORDER BY x | x=t.a | SORT:t.a
SELECT k AS b FROM t ORDER BY b | b=t.k | SORT:t.k
SELECT k, a FROM t ORDER BY 2 | k=t.k a=t.a | SORT:t.a
SELECT a FROM t WHERE i IN (SELECT i FROM u WHERE x = 1) | a=t.a | FILTER:t.i,FILTER:u.i,FILTER:u.x
SELECT a FROM t WHERE NOT EXISTS (SELECT * FROM u WHERE u.i = t.i) | a=t.a | FILTER:u.i,FILTER:t.i
SELECT a FROM t WHERE b > (SELECT AVG(x) FROM u) | a=t.a | FILTER:t.b,FILTER:u.x
SELECT a FROM t WHERE a > (SELECT MAX(x) FROM u WHERE z = b) | a=t.a | FILTER:t.a,FILTER:u.x,FILTER:u.z,FILTER:t.b
# joins
SELECT a, x FROM t JOIN u ON t.i = u.i | a=t.a x=u.x | JOIN:t.i,JOIN:u.i
SELECT a, x FROM t LEFT OUTER JOIN u ON t.i = u.i AND u.y > 1 | a=t.a x=u.x | JOIN:t.i,JOIN:u.i,JOIN:u.y
SELECT a, x FROM t FULL OUTER JOIN u ON t.i = u.i WHERE u.i IS NULL | a=t.a x=u.x | JOIN:t.i,JOIN:u.i FILTER:u.i
SELECT * FROM t CROSS JOIN u | i=t.i k=t.k a=t.a b=t.b c=t.c day=t.day i=u.i x=u.x y=u.y z=u.z
SELECT a, x FROM t, u WHERE t.i = u.i | a=t.a x=u.x | FILTER:t.i,FILTER:u.i
SELECT l.a, r.a AS b FROM t l JOIN t r ON l.i = r.k | a=t.a b=t.a | JOIN:t.i,JOIN:t.k
SELECT a, v FROM t JOIN w ON t.i = w.i | a=t.a v=w.v | JOIN:t.i,JOIN:w.i
SELECT r.x FROM t LEFT JOIN (SELECT i, MAX(x) AS x FROM u GROUP BY i) r ON r.i = t.i | x=+u.x | JOIN:u.i,JOIN:t.i GROUP_BY:u.i
SELECT v, p FROM w JOIN w2 ON w.i = w2.i | v p | JOIN:w.i,JOIN:w2.i | a column's table is not known
# subqueries in values
SELECT (SELECT MAX(x) FROM u) AS m, a FROM t | m=+u.x a=t.a
SELECT (SELECT x FROM u WHERE u.i = t.i) AS x FROM t | x=u.x,FILTER:u.i,FILTER:t.i
SELECT a - (SELECT AVG(a) FROM t) AS x FROM t | x=~t.a,+t.a
# derived tables
SELECT r.v + 1 AS y FROM (SELECT a AS v, b FROM t WHERE c = 1) r | y=~t.a | FILTER:t.c
SELECT * FROM (SELECT a, b AS x FROM t) r | a=t.a x=t.b
SELECT y FROM (SELECT x AS y FROM (SELECT a AS x FROM t) r) s | y=t.a
# common table expressions
WITH c AS (SELECT a AS v FROM t) SELECT v FROM c | v=t.a
WITH c AS (SELECT a, i FROM t), d AS (SELECT i, a + 1 AS v FROM c) SELECT c.a, d.v FROM c JOIN d ON c.i = d.i | a=t.a v=~t.a | JOIN:t.i
WITH t AS (SELECT x AS a FROM u) SELECT a FROM t | a=u.x
WITH c AS (SELECT * FROM t), d AS (SELECT * FROM c) SELECT a, d.b FROM d | a=t.a b=t.b
WITH c AS (WITH d AS (SELECT a FROM t) SELECT a FROM d) SELECT a FROM c | a=t.a
WITH c AS (SELECT a FROM t) SELECT x.a FROM (SELECT * FROM c) x WHERE x.a IN (SELECT a FROM c) | a=t.a | FILTER:t.a
WITH c AS (SELECT a FROM t), d AS (WITH c AS (SELECT x FROM u) SELECT x FROM c) SELECT c.a, d.x FROM c CROSS JOIN d | a=t.a x=u.x
WITH unused AS (SELECT x FROM u WHERE y = 1) SELECT a FROM t | a=t.a
WITH c AS (SELECT * FROM w) SELECT c.v, c.p + 1 AS y FROM c | v=w.v y=~w.p
WITH c AS (SELECT * FROM w WHERE d = 1), d AS (SELECT *, v * 2 AS y FROM c) SELECT v, y, o FROM d | v=w.v y=~w.v o=w.o | FILTER:w.d
WITH c (p, v) AS (SELECT a, b FROM t) SELECT v, p FROM c | v=t.b p=t.a
# set operations
SELECT COUNT(*) AS n FROM (SELECT DISTINCT a FROM t) r | n | GROUP_BY:t.a
SELECT a FROM t UNION ALL SELECT x FROM u | a=t.a,u.x
SELECT a, b FROM t UNION ALL SELECT x, UPPER(y) FROM u WHERE z = 1 | a=t.a,u.x b=t.b,~u.y | FILTER:u.z
SELECT a, 1 AS n FROM t UNION ALL SELECT NULL, y FROM u | a=t.a n=u.y
SELECT v FROM (SELECT a AS v FROM t UNION ALL SELECT x FROM u UNION ALL SELECT y FROM u) r | v=t.a,u.x,u.y
WITH c AS (SELECT i, a FROM t UNION ALL SELECT i, x FROM u), d AS (SELECT i, SUM(a) AS v FROM c GROUP BY i) SELECT v FROM d | v=+t.a,+u.x | GROUP_BY:t.i,GROUP_BY:u.i
SELECT * FROM u UNION ALL SELECT i, a, b, c FROM t | i=u.i,t.i x=u.x,t.a y=u.y,t.b z=u.z,t.c
SELECT * FROM w UNION ALL SELECT * FROM w2 | *=w.*,w2.*
SELECT a AS x, * FROM w UNION ALL SELECT b, * FROM w2 | x=w.a,w2.b *=w.*,w2.*
""")


@pytest.mark.parametrize("dialect", DIALECTS)
@for_each("case", CASES)
def test_a_query_in_all_dialects(case: str, dialect: str) -> None:
    assert found(case, dialect) == expected(case)
