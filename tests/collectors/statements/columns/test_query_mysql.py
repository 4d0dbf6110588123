"""Columns of MySQL queries; the notation is that of `query_cases`."""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

from tests.cases import for_each
from tests.collectors.statements.columns.query_cases import cases, expected, found

CASES = cases(r"""
SELECT `a`, t.`B` AS `x y` FROM `t` | a=t.a x_y=t.b
SELECT k AS b, COUNT(*) AS n FROM t GROUP BY b | b=t.k n | GROUP_BY:t.b
SELECT k, SUM(a) AS x FROM t GROUP BY 1 HAVING x > 1 | k=t.k x=+t.a | GROUP_BY:t.k,FILTER:t.a
SELECT k, SUM(a) AS x FROM t GROUP BY k WITH ROLLUP | k=t.k x=+t.a | GROUP_BY:t.k
SELECT IF(a > 1, b, c) AS x, IFNULL(a, b) AS y, ELT(a, b, c) AS z FROM t | x=CONDITIONAL:t.a,~t.b,~t.c y=~t.a,~t.b z=CONDITIONAL:t.a,~t.b,~t.c
SELECT GROUP_CONCAT(DISTINCT a ORDER BY b SEPARATOR ';') AS x FROM t | x=+t.a,SORT:t.b
SELECT DATE_FORMAT(day, '%Y') AS x, TIMESTAMPDIFF(DAY, a, b) AS y, DATE_ADD(day, INTERVAL 1 MONTH) AS z FROM t | x=~t.day y=~t.a,~t.b z=~t.day
SELECT MD5(a) AS x, SHA2(b, 256) AS y, CRC32(c) AS z FROM t | x=!t.a y=!t.b z=!t.c
SELECT j->>'$.a' AS x, JSON_EXTRACT(j, '$.b') AS y FROM n | x=~n.j y=~n.j
SELECT r.sku FROM n, JSON_TABLE(n.j, '$[*]' COLUMNS (sku VARCHAR(10) PATH '$.sku')) AS r | sku=~n.j | JOIN:n.j
SELECT i, x FROM t JOIN u USING (i) | i=t.i x=u.x | JOIN:t.i,JOIN:u.i
SELECT a FROM t STRAIGHT_JOIN u ON t.i = u.i | a=t.a | JOIN:t.i,JOIN:u.i
SELECT NOW() AS x, CURRENT_TIMESTAMP AS y, UUID() AS z FROM t | x y z
SELECT a <=> b AS x, a DIV b AS y, a REGEXP 'x' AS z FROM t | x=~t.a,~t.b y=~t.a,~t.b z=~t.a
SELECT a FROM t FORCE INDEX (ix) WHERE b = 1 LIMIT 5, 10 | a=t.a | FILTER:t.b
""")


@for_each("case", CASES)
def test_a_query_of_mysql(case: str) -> None:
    assert found(case, "mysql") == expected(case)
