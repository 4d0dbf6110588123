"""Columns of Oracle queries; the notation is that of `query_cases`."""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

from tests.cases import for_each
from tests.collectors.statements.columns.query_cases import cases, expected, found

CASES = cases(r"""
SELECT "A", t."b" FROM t | a=t.a b=t.b
SELECT a FROM s.orders o | a=s.orders.a
SELECT a FROM orders@link o | a=orders@link.a
SELECT a, x FROM t, u WHERE t.i = u.i(+) | a=t.a x=u.x | FILTER:t.i,FILTER:u.i
SELECT SYSDATE AS x, SYSTIMESTAMP AS y, USER AS z, ROWNUM AS v, a FROM t | x y z v a=t.a
SELECT a FROM t WHERE ROWNUM <= 10 | a=t.a
SELECT 1 AS x FROM dual | x
SELECT NVL(a, b) AS x, NVL2(a, b, c) AS y, DECODE(a, 1, b, 2, c, k) AS z FROM t | x=~t.a,~t.b y=CONDITIONAL:t.a,~t.b,~t.c z=CONDITIONAL:t.a,~t.b,~t.c,~t.k
SELECT TO_CHAR(day, 'YYYY') AS x, TO_DATE(a, 'DD.MM.YYYY') AS y, TRUNC(day, 'MM') AS z, EXTRACT(YEAR FROM day) AS v FROM t | x=~t.day y=~t.a z=~t.day v=~t.day
SELECT ADD_MONTHS(day, 1) AS x, day + INTERVAL '1' DAY AS y, MONTHS_BETWEEN(a, b) AS z FROM t | x=~t.day y=~t.day z=~t.a,~t.b
SELECT STANDARD_HASH(a, 'SHA256') AS x, ORA_HASH(b) AS y FROM t | x=!t.a y=!t.b
SELECT LISTAGG(a, ',') WITHIN GROUP (ORDER BY b) AS x, MEDIAN(a) AS y FROM t GROUP BY k | x=+t.a,SORT:t.b y=+t.a | GROUP_BY:t.k
SELECT MAX(a) KEEP (DENSE_RANK LAST ORDER BY b) AS x FROM t | x=+t.a,SORT:t.b
SELECT id, LEVEL AS l, PRIOR name AS p FROM e START WITH pid IS NULL CONNECT BY PRIOR id = pid | id=e.id l p=~e.name | FILTER:e.pid,JOIN:e.id,JOIN:e.pid
SELECT SYS_CONNECT_BY_PATH(name, '/') AS p, CONNECT_BY_ROOT name AS r, CONNECT_BY_ISLEAF AS f FROM e CONNECT BY NOCYCLE PRIOR id = pid | p=~e.name r=~e.name f | JOIN:e.id,JOIN:e.pid
SELECT LEVEL AS n FROM dual CONNECT BY LEVEL <= 10 | n
SELECT * FROM (SELECT i, k, a FROM t) PIVOT (SUM(a) FOR k IN ('A' AS x, 'B' AS y)) | i=t.i x=+t.a,CONDITIONAL:t.k y=+t.a,CONDITIONAL:t.k | GROUP_BY:t.i
SELECT * FROM q UNPIVOT (amount FOR quarter IN (q1, q2, q3)) | region=q.region quarter amount=q.q1,q.q2,q.q3 | FILTER:q.q1,FILTER:q.q2,FILTER:q.q3
SELECT x.sku FROM n, JSON_TABLE(n.j, '$.items[*]' COLUMNS (sku VARCHAR2(10) PATH '$.sku', price NUMBER PATH '$.p')) x | sku=~n.j | JOIN:n.j
SELECT JSON_VALUE(j, '$.a') AS x, n.j.b.c AS y FROM n | x=~n.j y=n.j.b.c
SELECT x.column_value AS v FROM n, TABLE(n.tags) x | v=~n.tags | JOIN:n.tags
SELECT r.x FROM t CROSS APPLY (SELECT x FROM u WHERE u.i = t.i) r | x=u.x | FILTER:u.i,FILTER:t.i
SELECT a FROM t MINUS SELECT x FROM u | a=t.a | FILTER:u.x,FILTER:t.a
SELECT a FROM t AS OF TIMESTAMP (SYSTIMESTAMP - 1) | a=t.a
SELECT a FROM t FETCH FIRST 5 ROWS ONLY | a=t.a
SELECT i, a, x FROM t JOIN u USING (i) | i=t.i a=t.a x=u.x | JOIN:t.i,JOIN:u.i
WITH c AS (SELECT /*+ MATERIALIZE */ a FROM t) SELECT a FROM c | a=t.a
SELECT own_pkg.f(a) AS x FROM t | x=~t.a
SELECT a || '-' || b AS x, CAST(a AS NUMBER(10)) AS y FROM t | x=~t.a,~t.b y=~t.a
SELECT seq.NEXTVAL AS id, a FROM t | id a=t.a
""")


@for_each("case", CASES)
def test_a_query_of_oracle(case: str) -> None:
    assert found(case, "oracle") == expected(case)
