"""Definitions of tables, views and names in T-SQL: one line a case, SQL, reads, writes."""

# ruff: noqa: E501 (one line a case)

from collections.abc import Callable

from tests.cases import for_each

# fmt: off
CASES = [
    ("CREATE TABLE t (a int)", "", "CREATE TABLE t"),
    ("CREATE TABLE d.dbo.t (a int NOT NULL IDENTITY(1, 1) PRIMARY KEY, b AS (a * 2) PERSISTED)", "", "CREATE TABLE d.dbo.t"),
    ("CREATE TABLE t (a int REFERENCES u (a) ON DELETE SET NULL ON UPDATE CASCADE, CHECK (a > 0))", "", "CREATE TABLE t"),
    ("CREATE TABLE t (a int, INDEX ix (a), CONSTRAINT c UNIQUE (a) WITH (FILLFACTOR = 80)) ON [fg]", "", "CREATE TABLE t"),
    ("CREATE TABLE t (a int, v datetime2 GENERATED ALWAYS AS ROW START, w datetime2 GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (v, w)) WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.h))", "", "CREATE TABLE t"),
    ("CREATE TABLE t (a int) AS NODE", "", "CREATE TABLE t"),
    ("CREATE TABLE t (a int, CONSTRAINT c CONNECTION (p TO q)) AS EDGE", "", "CREATE TABLE t"),
    ("CREATE TABLE t AS FILETABLE", "", "CREATE TABLE t"),
    ("CREATE TABLE #t (a int)", "", "CREATE TABLE #t"),
    ("CREATE TABLE ##t (a int)", "", "CREATE TABLE ##t"),
    ("CREATE TABLE t WITH (DISTRIBUTION = ROUND_ROBIN, CLUSTERED COLUMNSTORE INDEX) AS SELECT * FROM u", "u", "CREATE TABLE AS t"),
    ("CREATE TABLE t (a, b) WITH (HEAP) AS SELECT a, b FROM u JOIN v ON 1 = 1", "u v", "CREATE TABLE AS t"),
    ("CREATE TABLE t AS CLONE OF dbo.u", "dbo.u", "CREATE TABLE AS t"),
    ("CREATE EXTERNAL TABLE t (a int) WITH (LOCATION = '/x', DATA_SOURCE = s, FILE_FORMAT = f)", "", "CREATE TABLE t"),
    ("CREATE EXTERNAL TABLE t WITH (LOCATION = '/x', DATA_SOURCE = s, FILE_FORMAT = f) AS SELECT * FROM u", "u", "CREATE TABLE AS t CREATE TABLE AS data_source://s/x"),
    ("CREATE VIEW v AS SELECT * FROM t", "t", "CREATE VIEW v"),
    ("CREATE VIEW dbo.v (a, b) AS SELECT a, b FROM t JOIN u ON 1 = 1", "t u", "CREATE VIEW dbo.v"),
    ("CREATE OR ALTER VIEW v WITH SCHEMABINDING, VIEW_METADATA AS SELECT a FROM dbo.t WITH CHECK OPTION", "dbo.t", "CREATE VIEW v"),
    ("ALTER VIEW v AS SELECT * FROM t", "t", "CREATE VIEW v"),
    ("CREATE VIEW v AS WITH c AS (SELECT * FROM t) SELECT * FROM c", "t", "CREATE VIEW v"),
    ("CREATE VIEW v AS SELECT * FROM t UNION ALL SELECT * FROM d.dbo.t", "t d.dbo.t", "CREATE VIEW v"),
    ("CREATE MATERIALIZED VIEW v WITH (DISTRIBUTION = HASH(a)) AS SELECT a, COUNT(*) n FROM t GROUP BY a", "t", "CREATE VIEW v"),
    ("CREATE SYNONYM s FOR srv.d.dbo.t", "srv.d.dbo.t", "CREATE SYNONYM s"),
    ("CREATE SYNONYM dbo.s FOR [d].[dbo].[t]", "d.dbo.t", "CREATE SYNONYM dbo.s"),
    ("ALTER TABLE t ADD b int NOT NULL CONSTRAINT d DEFAULT 0 WITH VALUES", "", "ALTER t"),
    ("ALTER TABLE t ALTER COLUMN a bigint NOT NULL", "", "ALTER t"),
    ("ALTER TABLE t DROP COLUMN a, b", "", "ALTER t"),
    ("ALTER TABLE t WITH CHECK ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES u (a) NOT FOR REPLICATION", "", "ALTER t"),
    ("ALTER TABLE t NOCHECK CONSTRAINT ALL", "", "ALTER t"),
    ("ALTER TABLE t SET (SYSTEM_VERSIONING = OFF)", "", "ALTER t"),
    ("ALTER TABLE t REBUILD PARTITION = ALL WITH (DATA_COMPRESSION = PAGE)", "", "ALTER t"),
    ("ALTER TABLE a SWITCH TO b", "a", "SWITCH b"),
    ("ALTER TABLE d.dbo.a SWITCH PARTITION 5 TO d.dbo.b PARTITION 5", "d.dbo.a", "SWITCH d.dbo.b"),
    ("ALTER TABLE a SWITCH PARTITION $PARTITION.f('x') TO b WITH (WAIT_AT_LOW_PRIORITY (MAX_DURATION = 1, ABORT_AFTER_WAIT = SELF))", "a", "SWITCH b"),
    ("ALTER SCHEMA new TRANSFER old.t", "old.t", "TRANSFER new.t"),
    ("ALTER SCHEMA [new] TRANSFER OBJECT::[old].[t]", "old.t", "TRANSFER new.t"),
    ("ALTER SCHEMA new TRANSFER TYPE::old.x", "", ""),
    ("EXEC sp_rename 'a', 'b'", "a", "RENAME b"),
    ("EXEC sp_rename 'dbo.a', 'b'", "dbo.a", "RENAME dbo.b"),
    ("EXEC sp_rename '[dbo].[a b]', 'c'", "dbo.a b", "RENAME dbo.c"),
    ("EXEC sp_rename @objname = N'dbo.a', @newname = N'b'", "dbo.a", "RENAME dbo.b"),
    ("EXEC sp_rename @newname = N'b', @objname = N'dbo.a', @objtype = 'OBJECT'", "dbo.a", "RENAME dbo.b"),
    ("EXECUTE sys.sp_rename 'a', 'b'", "a", "RENAME b"),
    ("sp_rename 'a', 'b'", "a", "RENAME b"),
    ("EXEC sp_rename 'dbo.a.x', 'y', 'COLUMN'", "", "ALTER dbo.a"),
    ("EXEC sp_rename N'dbo.a.ix', N'iy', N'INDEX'", "", ""),
    ("EXEC sp_rename @old, 'b'", "", ""),
    ("RENAME OBJECT dbo.a TO b", "dbo.a", "RENAME dbo.b"),
    ("TRUNCATE TABLE t", "", "TRUNCATE t"),
    ("TRUNCATE TABLE d.dbo.t WITH (PARTITIONS (1, 3 TO 5))", "", "TRUNCATE d.dbo.t"),
    ("DROP TABLE t", "", "DROP t"),
    ("DROP TABLE IF EXISTS a, #b, d.dbo.c", "", "DROP a DROP #b DROP d.dbo.c"),
    ("DROP EXTERNAL TABLE t", "", "DROP t"),
    ("DROP VIEW IF EXISTS dbo.v, w", "", "DROP dbo.v DROP w"),
    ("DROP SYNONYM IF EXISTS s", "", "DROP s"),
    ("DROP PROCEDURE p", "", ""),
    ("DROP INDEX ix ON t", "", ""),
    ("DROP DATABASE d", "", ""),
    ("CREATE SCHEMA s AUTHORIZATION dbo", "", ""),
    ("CREATE SEQUENCE s AS int START WITH 1", "", ""),
    ("CREATE TYPE dbo.x AS TABLE (a int)", "", ""),
    ("CREATE UNIQUE CLUSTERED INDEX ix ON v (a)", "", ""),
    ("CREATE DATABASE d AS SNAPSHOT OF e", "", ""),
    ("CREATE SECURITY POLICY p ADD FILTER PREDICATE dbo.f(a) ON dbo.t", "", ""),
    ("ENABLE TRIGGER ALL ON t", "", ""),
    ("DISABLE TRIGGER x ON t", "", ""),
    ("ALTER INDEX ALL ON t REBUILD", "", ""),
    ("ALTER DATABASE d SET RECOVERY SIMPLE", "", ""),
]
# fmt: on


@for_each("sql, reads, writes", CASES)
def test_tables_of_definitions(
    sql: str, reads: str, writes: str, tsql_tables: Callable[[str, str, str], None]
) -> None:
    tsql_tables(sql, reads, writes)
