"""Batches of T-SQL: many statements, with and without `;`, and control of flow: one line a case, SQL, reads, writes."""

# ruff: noqa: E501 (one line a case)

from collections.abc import Callable

from tests.cases import for_each

# fmt: off
CASES = [
    ("SELECT 1 FROM a SELECT 2 FROM b", "a b", ""),
    ("SELECT 1 FROM a; SELECT 2 FROM b;", "a b", ""),
    ("SELECT 1 FROM a\nGO\nSELECT 2 FROM b\nGO", "a b", ""),
    ("SELECT 1 FROM a\ngo 5\nDELETE FROM b", "a", "DELETE b"),
    ("SELECT 1 FROM a\r\nGO\r\nTRUNCATE TABLE b\r\n", "a", "TRUNCATE b"),
    ("SELECT go FROM a go JOIN b ON 1 = 1", "a b", ""),
    ("SELECT 'x\nGO\ny' FROM a JOIN b ON 1 = 1", "a b", ""),
    ("SELECT a /*\nGO\n*/ FROM a", "a", ""),
    ("SET NOCOUNT ON INSERT INTO t SELECT * FROM u SET NOCOUNT OFF", "u", "INSERT t"),
    ("SET NOCOUNT, XACT_ABORT ON UPDATE t SET a = 1", "", "UPDATE t"),
    ("BEGIN TRAN UPDATE a SET x = 1 DELETE FROM b COMMIT TRAN", "", "UPDATE a DELETE b"),
    ("BEGIN TRANSACTION t1 WITH MARK 'x'; INSERT a VALUES (1); SAVE TRAN s; ROLLBACK TRAN s; COMMIT", "", "INSERT a"),
    ("INSERT a VALUES (1) INSERT b VALUES (2) INSERT c SELECT * FROM d", "d", "INSERT a INSERT b INSERT c"),
    ("INSERT a DEFAULT VALUES SELECT * FROM b", "b", "INSERT a"),
    ("INSERT a SELECT * FROM b UPDATE c SET x = 1", "b", "INSERT a UPDATE c"),
    ("INSERT a EXEC p INSERT b EXEC q SELECT * FROM c", "c", "INSERT a INSERT b"),
    ("UPDATE a SET x = 1 FROM a JOIN b ON 1 = 1 UPDATE c SET y = 2 WHERE z = 3 DELETE d", "a b", "UPDATE a UPDATE c DELETE d"),
    ("DELETE a DELETE b WHERE x IN (SELECT x FROM c) DELETE FROM d", "c", "DELETE a DELETE b DELETE d"),
    ("TRUNCATE TABLE a TRUNCATE TABLE b DROP TABLE c", "", "TRUNCATE a TRUNCATE b DROP c"),
    ("MERGE a USING b ON 1 = 1 WHEN MATCHED THEN DELETE; MERGE c USING d ON 1 = 1 WHEN MATCHED THEN UPDATE SET x = 1;", "b d", "MERGE a MERGE c"),
    ("CREATE TABLE #a (i int) INSERT #a VALUES (1) SELECT * FROM #a DROP TABLE #a", "#a", "CREATE TABLE #a INSERT #a DROP #a"),
    ("SELECT * INTO #a FROM t CREATE INDEX ix ON #a (i) SELECT * FROM #a JOIN u ON 1 = 1", "t #a u", "SELECT INTO #a"),
    ("DECLARE @x int = (SELECT MAX(i) FROM a) SELECT * FROM b WHERE i = @x", "a b", ""),
    ("DECLARE @x int SET @x = (SELECT COUNT(*) FROM a) SELECT @x = MAX(i) FROM b", "a b", ""),
    ("DECLARE @t TABLE (i int PRIMARY KEY, n AS i * 2) INSERT @t SELECT i FROM a SELECT * FROM @t", "a @t", "INSERT @t"),
    ("DECLARE @x xml SET @x.modify('delete /a') UPDATE t SET d = @x", "", "UPDATE t"),
    ("WITH c AS (SELECT * FROM a) SELECT * FROM c; WITH c AS (SELECT * FROM b) SELECT * FROM c", "a b", ""),
    ("SELECT * FROM a WITH (NOLOCK) SELECT * FROM b WITH (NOLOCK)", "a b", ""),
    ("SELECT * FROM a GROUP BY x WITH ROLLUP SELECT * FROM b", "a b", ""),
    ("SELECT * FROM a OPTION (RECOMPILE) SELECT * FROM b", "a b", ""),
    ("SELECT * FROM a FOR XML PATH SELECT * FROM b", "a b", ""),
    ("SELECT * FROM a ORDER BY x OFFSET 5 ROWS FETCH NEXT 5 ROWS ONLY SELECT * FROM b", "a b", ""),
    ("SELECT CASE WHEN x = 1 THEN 'a' ELSE 'b' END AS y FROM a DELETE b", "a", "DELETE b"),
    ("SELECT CASE x WHEN 1 THEN CASE WHEN y = 1 THEN 2 END ELSE 3 END FROM a SELECT * FROM b", "a b", ""),
    # control of flow
    ("IF EXISTS (SELECT 1 FROM a) DELETE FROM b", "a", "DELETE b"),
    ("IF EXISTS (SELECT 1 FROM a) UPDATE b SET x = 1 ELSE INSERT b VALUES (1)", "a", "UPDATE b INSERT b"),
    ("IF NOT EXISTS (SELECT 1 FROM a) AND @x = 1 BEGIN INSERT b SELECT * FROM c END ELSE BEGIN TRUNCATE TABLE d END", "a c", "INSERT b TRUNCATE d"),
    ("IF (SELECT COUNT(*) FROM a) > 5 SELECT * FROM b ELSE IF @x = 2 SELECT * FROM c ELSE SELECT * FROM d", "a b c d", ""),
    ("IF OBJECT_ID('dbo.a') IS NOT NULL DROP TABLE dbo.a", "", "DROP dbo.a"),
    ("IF OBJECT_ID('tempdb..#a') IS NOT NULL DROP TABLE #a; SELECT * INTO #a FROM b", "b", "DROP #a SELECT INTO #a"),
    ("WHILE EXISTS (SELECT 1 FROM a) BEGIN DELETE TOP (100) FROM a WAITFOR DELAY '00:00:01' END", "a", "DELETE a"),
    ("WHILE 1 = 1 BEGIN UPDATE TOP (5) a SET x = 1 IF @@ROWCOUNT = 0 BREAK ELSE CONTINUE END SELECT * FROM b", "b", "UPDATE a"),
    ("BEGIN TRY INSERT a SELECT * FROM b END TRY BEGIN CATCH INSERT log VALUES (ERROR_MESSAGE()); THROW; END CATCH", "b", "INSERT a INSERT log"),
    ("BEGIN TRY BEGIN TRAN DELETE a COMMIT END TRY BEGIN CATCH IF @@TRANCOUNT > 0 ROLLBACK RAISERROR ('x', 16, 1) WITH NOWAIT SELECT * FROM b END CATCH", "b", "DELETE a"),
    ("again: DELETE TOP (5) FROM a IF @@ROWCOUNT > 0 GOTO again SELECT * FROM b", "b", "DELETE a"),
    ("GOTO done; SELECT * FROM a; done: SELECT * FROM b", "a b", ""),
    ("PRINT 'start' SELECT * FROM a PRINT 'FROM x'", "a", ""),
    ("RAISERROR ('x %d', 0, 1, 5) WITH NOWAIT; SELECT * FROM a", "a", ""),
    ("EXEC p EXEC q @a = 1, @b = N'x' SELECT * FROM a", "a", ""),
    ("EXEC @rc = p @x OUTPUT SELECT * FROM a", "a", ""),
    ("EXEC p WITH RESULT SETS ((a int)) SELECT * FROM b", "b", ""),
    ("EXECUTE AS USER = 'x' SELECT * FROM a REVERT SELECT * FROM b", "a b", ""),
    ("BACKUP DATABASE d TO DISK = 'x' WITH INIT SELECT * FROM a", "a", ""),
    ("DBCC DROPCLEANBUFFERS SELECT * FROM a", "a", ""),
    ("CHECKPOINT SELECT * FROM a", "a", ""),
    # cursors
    ("DECLARE c CURSOR FOR SELECT i FROM a OPEN c FETCH NEXT FROM c INTO @i WHILE @@FETCH_STATUS = 0 BEGIN UPDATE b SET x = @i WHERE CURRENT OF c FETCH NEXT FROM c INTO @i END CLOSE c DEALLOCATE c", "a", "UPDATE b"),
    ("DECLARE c CURSOR LOCAL FAST_FORWARD READ_ONLY FOR SELECT i FROM a; OPEN c; CLOSE c", "a", ""),
    ("DECLARE c INSENSITIVE SCROLL CURSOR FOR SELECT i FROM a FOR READ ONLY SELECT * FROM b", "a b", ""),
    ("DECLARE c CURSOR FOR SELECT i FROM a FOR UPDATE OF x, y OPEN c", "a", ""),
    ("DECLARE c CURSOR FOR WITH d AS (SELECT i FROM a) SELECT i FROM d; OPEN c", "a", ""),
    ("DECLARE @c CURSOR; SET @c = CURSOR FORWARD_ONLY FOR SELECT i FROM a; OPEN @c", "a", ""),
    # which database
    ("USE d SELECT * FROM a", "a", ""),
    ("USE [d]\nGO\nDELETE FROM a", "", "DELETE a"),
    # definitions
    ("DROP TABLE IF EXISTS a; CREATE TABLE a (i int REFERENCES b (i) ON DELETE CASCADE) INSERT a SELECT * FROM c", "c", "DROP a CREATE TABLE a INSERT a"),
    ("ALTER TABLE a ADD x int ALTER TABLE a DROP COLUMN y UPDATE a SET x = 1", "", "ALTER a UPDATE a"),
    ("ALTER TABLE a SWITCH TO b TRUNCATE TABLE c", "a", "SWITCH b TRUNCATE c"),
    ("EXEC sp_rename 'a', 'b' EXEC sp_rename 'c', 'd'", "a c", "RENAME b RENAME d"),
    ("GRANT SELECT ON a TO x DENY DELETE ON b TO y SELECT * FROM c", "c", ""),
    ("CREATE VIEW v AS SELECT * FROM a\nGO\nSELECT * FROM v", "a v", "CREATE VIEW v"),
    ("BULK INSERT a FROM 'x' WITH (TABLOCK) INSERT b SELECT * FROM a", "a", "BULK INSERT a INSERT b"),
]
# fmt: on


@for_each("sql, reads, writes", CASES)
def test_tables_of_batches(
    sql: str, reads: str, writes: str, tsql_tables: Callable[[str, str, str], None]
) -> None:
    tsql_tables(sql, reads, writes)
