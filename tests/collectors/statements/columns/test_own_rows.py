"""Columns by which a statement finds the rows of a table that it changes: it fails without them."""

from __future__ import annotations

from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from tests.cases import for_each

# SQL, the columns.
CASES = """
UPDATE t SET a = b WHERE status = ? | status
UPDATE t SET a = 0 WHERE status IN (SELECT s FROM u) | status
UPDATE t SET a = u.a FROM u WHERE u.i = t.i AND t.d > ? | d i
UPDATE t SET a = 0 FROM t JOIN u ON u.i = t.i | i
DELETE FROM t WHERE status = ? AND d < e | d e status
DELETE t FROM t JOIN u ON u.i = t.i WHERE u.s = ? | i
MERGE t USING u ON t.i = u.i WHEN MATCHED AND t.d < u.d THEN DELETE | d i
MERGE INTO t USING u ON t.i = u.i WHEN NOT MATCHED THEN INSERT (i) VALUES (u.i) | i
INSERT INTO t (a) SELECT u.a FROM u WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.i = u.i) | i
UPDATE t SET a = b | -
INSERT INTO t (a) SELECT a FROM u WHERE u.i = ? | -
UPDATE #t SET a = 0 WHERE status = ? | -
DELETE FROM #t WHERE status = ? | status
"""


@for_each("sql, columns", [line.split(" | ") for line in CASES.strip().splitlines()])
def test_the_columns_that_find_own_rows(sql: str, columns: str) -> None:
    (shape,) = parse(sql, Dialect.TSQL)
    deciding = {edge.from_column for edge in shape.column_edges if edge.is_of_own_rows}
    assert " ".join(sorted(deciding)) == columns.strip("-")
