"""The boundaries between statements, with and without `;`."""

# ruff: noqa: E501 (one line a case)

from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from tests.cases import for_each

# fmt: off
CASES = [
    ("SELECT 1 FROM a SELECT 2 FROM b", "SELECT SELECT"),
    ("SET NOCOUNT ON SET XACT_ABORT ON INSERT INTO t SELECT 1 FROM u UPDATE t SET a = 1", "SELECT SELECT INSERT UPDATE"),
    ("INSERT t VALUES (1) SELECT a FROM t", "INSERT SELECT"),
    ("INSERT t EXEC p SELECT a FROM t", "INSERT SELECT"),
    ("WITH c AS (SELECT 1 AS x) INSERT INTO t SELECT x FROM c SELECT 2 FROM u", "INSERT SELECT"),
    ("WITH c AS (SELECT 1 AS x) INSERT INTO t SELECT x FROM c SET @i = 1", "INSERT SELECT"),
    ("WITH c AS (SELECT 1 AS x) UPDATE t SET a = x FROM c SET @i = 1", "UPDATE SELECT"),
    ("SELECT a FROM t WITH (NOLOCK) WITH c AS (SELECT 1 AS x) SELECT x FROM c", "SELECT SELECT"),
    ("SELECT a FROM t UNION ALL SELECT b FROM u DELETE FROM t", "SELECT DELETE"),
    ("IF EXISTS (SELECT 1 FROM a) BEGIN DROP TABLE a END ELSE SELECT 1 FROM b", "SELECT BEGIN DROP END ELSE SELECT"),
    ("SELECT CASE WHEN a = 1 THEN 2 ELSE CASE WHEN 1 = 1 THEN 3 END END FROM t END", "SELECT END"),
    ("BEGIN TRY BEGIN TRAN DELETE FROM t COMMIT TRAN END TRY BEGIN CATCH ROLLBACK END CATCH", "BEGIN BEGIN DELETE COMMIT END BEGIN ROLLBACK END"),
    ("MERGE t USING u ON 1=1 WHEN MATCHED THEN UPDATE SET a = 1 WHEN NOT MATCHED THEN INSERT (a) VALUES (1); SELECT 1 FROM x", "MERGE SELECT"),
    ("DROP TABLE IF EXISTS a IF 1 = 1 TRUNCATE TABLE b", "DROP SELECT TRUNCATE"),
    ("ALTER TABLE a DROP COLUMN b ALTER TABLE a ALTER COLUMN c int", "ALTER ALTER"),
    ("ALTER TABLE a ADD FOREIGN KEY (x) REFERENCES b (x) ON DELETE SET NULL ON UPDATE CASCADE", "ALTER"),
    ("CREATE VIEW v WITH SCHEMABINDING AS WITH c AS (SELECT 1 AS x) SELECT x FROM c", "CREATE VIEW"),
    ("DECLARE c CURSOR FOR SELECT a FROM t OPEN c FETCH NEXT FROM c INTO @x CLOSE c DEALLOCATE c", "SELECT OPEN FETCH CLOSE DEALLOCATE"),
    ("SELECT t.[select], t.delete FROM t", "SELECT"),
    ("INSERT INTO t (i, a) VALUES (1, 2) ON CONFLICT (i) DO UPDATE SET a = excluded.a UPDATE t SET a = 1", "INSERT UPDATE"),
    ("WITH c AS (SELECT 1 AS i) INSERT INTO t SELECT i FROM c ON CONFLICT (i) DO UPDATE SET a = excluded.i", "INSERT"),
    ("INSERT INTO t SELECT a FROM s ON DUPLICATE KEY UPDATE a = VALUES(a)", "INSERT"),
    ("INSERT INTO t (a) WITH c (x) AS (SELECT 1 FROM u), d AS (SELECT x FROM c) SELECT x FROM d SELECT 1 FROM v", "INSERT SELECT"),
    ("INSERT INTO t (a) VALUES (1) WITH c AS (SELECT 1 AS x) SELECT x FROM c", "INSERT SELECT"),
    ("INSERT INTO t WITH (TABLOCK) (a) SELECT a FROM s WITH c AS (SELECT 1 AS x) SELECT x FROM c", "INSERT SELECT"),
    ("INSERT INTO t EXEC p WITH c AS (SELECT 1 AS x) DELETE FROM c", "INSERT DELETE"),
    ("CREATE TABLE IF NOT EXISTS t AS SELECT a FROM s", "CREATE TABLE AS"),
    ("CREATE TABLE t (a int) IF NOT EXISTS (SELECT 1 FROM u) INSERT INTO t SELECT 1", "CREATE TABLE SELECT INSERT"),
    ("ALTER TABLE t ADD i int PRIMARY KEY UPDATE t SET a = 1", "ALTER UPDATE"),
    ("CREATE OR ALTER PROCEDURE p AS BEGIN SELECT 1 FROM t DELETE FROM u END", "CREATE PROCEDURE BEGIN SELECT DELETE END"),
    (";;; SELECT 1 FROM t;;", "SELECT"),
    ("", ""),
    ("-- nothing", ""),
]
# fmt: on


@for_each("sql, operations", CASES, ids=[case[0][:60] for case in CASES])
def test_statements_of_a_batch(sql: str, operations: str) -> None:
    verbs = [shape.verb for shape in parse(sql, Dialect.TSQL)]
    assert " ".join(verbs) == operations


def test_spark_splits_at_semicolons_only() -> None:
    sql = "SELECT ';' AS a FROM t; INSERT INTO u SELECT 1;"
    assert [shape.verb for shape in parse(sql, Dialect.SPARK)] == ["SELECT", "INSERT"]
