"""Statements inside calls, as drivers and people send them: one line a case, SQL, reads, writes."""

# ruff: noqa: E501 (one line a case)

from collections.abc import Callable

from tests.cases import for_each

# fmt: off
CASES = [
    # sp_executesql
    ("exec sp_executesql N'SELECT a FROM t WHERE i = @P1', N'@P1 int', 5", "t", ""),
    ("EXEC sp_executesql @stmt = N'DELETE FROM t WHERE i = @i', @params = N'@i int', @i = 1", "", "DELETE t"),
    ("EXEC sp_executesql @statement=N'INSERT t VALUES (@a)',@parameters=N'@a int',@a=1", "", "INSERT t"),
    ("EXECUTE [sys].[sp_executesql] N'UPDATE t SET a = 1'", "", "UPDATE t"),
    ("EXEC d.sys.sp_executesql N'SELECT * FROM t'", "t", ""),
    ("EXEC master..sp_executesql N'SELECT * FROM t'", "t", ""),
    ("exec @rc = sp_executesql N'SELECT * FROM t'", "t", ""),
    ("sp_executesql N'SELECT * FROM t'", "t", ""),
    ("exec sp_executesql N'SELECT * FROM t WHERE n = ''it''''s FROM x'''", "t", ""),
    ("exec sp_executesql N'INSERT INTO [t] ([a], [b]) OUTPUT inserted.[i] VALUES (@P1, @P2)',N'@P1 int,@P2 nvarchar(4000)',1,N'x'", "", "INSERT t"),
    ("exec sp_executesql N'MERGE t USING (VALUES (@0)) s (i) ON t.i = s.i WHEN NOT MATCHED THEN INSERT (i) VALUES (s.i);',N'@0 int',@0=1", "", "MERGE t"),
    ("exec sp_executesql N'SELECT 1 FROM a; SELECT 2 FROM b'", "a b", ""),
    ("exec sp_executesql N'SELECT * FROM a -- comment', N'@x int', 1; SELECT * FROM b", "a b", ""),
    ("exec sp_executesql N'SELECT * FROM a WHERE b = @b', N'@b nvarchar(9)', N'two words'; SELECT * FROM b", "a b", ""),
    ("exec sp_executesql N'SELECT * FROM a WHERE b = @b', N'@b nvarchar(9)', N'\n'; SELECT * FROM b", "a b", ""),
    ("exec sp_executesql N'exec sp_executesql N''SELECT * FROM t'''", "t", ""),
    ("exec sp_executesql N'EXEC (''DELETE FROM t'')'", "", "DELETE t"),
    # prepared statements and cursors
    ("declare @p1 int\nset @p1=1\nexec sp_prepexec @p1 output,N'@P0 int',N'INSERT INTO t (a) VALUES (@P0)        ',5\nselect @p1", "", "INSERT t"),
    ("declare @p1 int set @p1=NULL exec sp_prepare @p1 output,N'@P1 int',N'SELECT * FROM t WHERE a = @P1',1 select @p1", "t", ""),
    ("exec sp_prepexec @p1 output,NULL,N'SELECT * FROM t'", "t", ""),
    ("exec sp_prepexecrpc @p1 output,N'{call dbo.p(1)}'", "", ""),
    ("exec sp_execute 1,5,N'FROM x'", "", ""),
    ("exec sp_unprepare 1", "", ""),
    ("exec sp_reset_connection", "", ""),
    ("declare @p1 int set @p1=180150003 declare @p3 int set @p3=8 exec sp_cursoropen @p1 output,N'SELECT * FROM t',@p3 output,@p4 output,@p5 output select @p1", "t", ""),
    ("exec sp_cursoropen @p1 output,N'EXEC dbo.p',16,8193,0", "", ""),
    ("exec sp_cursorprepexec @p1 output,@p2 output,N'@P1 int',N'SELECT * FROM t WHERE i = @P1',16,8193,0,5", "t", ""),
    ("exec sp_cursorprepare @p1 output,N'@P1 int',N'SELECT * FROM t',1,4,1", "t", ""),
    ("exec sp_cursorfetch 180150003,2,0,128", "", ""),
    ("exec sp_cursorclose 180150003", "", ""),
    ("(@P1 int,@P2 nvarchar(4000))INSERT INTO t VALUES (@P1, @P2)", "", "INSERT t"),
    ("(@P1 decimal(18,2), @P2 varchar(max))\nUPDATE t SET a = @P1 WHERE b = @P2", "", "UPDATE t"),
    ("(@p0 [dbo].[ids] READONLY)SELECT * FROM t JOIN @p0 x ON x.i = t.i", "t", ""),
    ("exec sp_describe_undeclared_parameters N'INSERT INTO t VALUES (@P1)'", "", ""),
    ("exec sp_describe_first_result_set N'SELECT * FROM t',NULL,1", "", ""),
    ("SET FMTONLY ON select * from t SET FMTONLY OFF", "", ""),
    ("SET FMTONLY ON select a from t SET FMTONLY OFF SELECT * FROM u", "u", ""),
    ("SET NOEXEC ON; INSERT t VALUES (1); SET NOEXEC OFF; DELETE FROM u", "", "DELETE u"),
    ("SET SHOWPLAN_XML ON; SELECT * FROM t", "", ""),
    # texts that are run
    ("EXEC ('SELECT * FROM t')", "t", ""),
    ("EXECUTE (N'INSERT t VALUES (1)')", "", "INSERT t"),
    ("EXEC('SELECT * ' + 'FROM t ' + 'WHERE a = ''x''')", "t", ""),
    ("EXEC ('SELECT * FROM t WHERE i = ' + @i)", "t", ""),
    ("EXEC ('SELECT * FROM ' + @unknown + ' JOIN u ON 1 = 1')", "u", ""),
    ("EXEC ('SELECT * FROM t_' + @year + ' WHERE a = 1')", "", ""),
    ("EXEC ('SELECT * FROM [' + @db + '].dbo.t')", "", ""),
    ("EXEC ('USE other; SELECT * FROM t') AS USER = 'x'", "t", ""),
    ("EXEC (@sql)", "", ""),
    ("DECLARE @sql nvarchar(max) = N'SELECT * FROM t'; EXEC (@sql)", "t", ""),
    ("DECLARE @sql nvarchar(max) SET @sql = 'SELECT * FROM t' EXEC (@sql)", "t", ""),
    ("DECLARE @sql varchar(8000); SELECT @sql = 'DELETE FROM t'; EXEC sp_executesql @sql", "", "DELETE t"),
    ("DECLARE @a int = 1, @sql AS nvarchar(100) = N'SELECT * FROM t'; EXEC sp_executesql @sql, N'@a int', @a", "t", ""),
    ("DECLARE @s nvarchar(max) = N'SELECT a'; SET @s += N' FROM t'; SET @s = @s + N' JOIN u ON 1 = 1'; EXEC (@s)", "t u", ""),
    ("DECLARE @t sysname = N'orders', @s nvarchar(max); SET @s = N'TRUNCATE TABLE dbo.' + QUOTENAME(@t); EXEC (@s)", "", "TRUNCATE dbo.orders"),
    ("DECLARE @s nvarchar(max) = N'SELECT a' + CHAR(13) + CHAR(10) + N'FROM t'; EXEC (@s)", "t", ""),
    ("DECLARE @s nvarchar(max) = N'SELECT * FROM t WHERE i = ' + CAST(@i AS nvarchar(10)); EXEC (@s)", "t", ""),
    ("DECLARE @s varchar(max) = 'SELECT * FROM a'; EXEC (@s); SET @s = 'SELECT * FROM b'; EXEC (@s)", "a b", ""),
    ("DECLARE @s varchar(max) = 'SELECT * FROM a'; SET @s = dbo.build(1); EXEC (@s)", "", ""),
    ("DECLARE @s varchar(max) = 'SELECT * FROM t'; PRINT @s", "", ""),
    ("EXEC dbo.p 'SELECT * FROM t'", "", ""),
    # other servers
    ("EXEC ('SELECT * FROM d.dbo.t') AT srv", "srv.d.dbo.t", ""),
    ("EXEC ('INSERT INTO d.dbo.t SELECT * FROM #x') AT [my_srv]", "#x", "INSERT my_srv.d.dbo.t"),
    ("EXEC ('TRUNCATE TABLE d.dbo.a; DELETE FROM d.dbo.b') AT srv", "", "TRUNCATE srv.d.dbo.a DELETE srv.d.dbo.b"),
    ("EXEC ('SELECT * FROM t WHERE i = ?', 5) AT srv", "srv...t", ""),
    ("DECLARE @s nvarchar(max) = N'DELETE d.dbo.t'; EXEC (@s) AT srv", "", "DELETE srv.d.dbo.t"),
    ("EXEC srv.d.sys.sp_executesql N'SELECT * FROM dbo.t'", "srv.d.dbo.t", ""),
    ("EXEC (\"INSERT INTO t SELECT 'x' FROM u\")", "u", "INSERT t"),
    ("INSERT INTO t EXECUTE(\"SELECT a FROM d..u\") AT srv", "srv.d..u", "INSERT t"),
    ("EXEC ('SELECT a ' + \"FROM u WHERE b = '\" + @b + \"'\")", "u", ""),
    ("EXEC (\"SELECT \"\"a b\"\" FROM u WHERE b = 'x", "u", ""),
    ("EXEC srv.[d-b]..sp_executesql N'TRUNCATE TABLE t'", "", "TRUNCATE srv.d-b..t"),
    ("EXEC ('USE d; SELECT * FROM t JOIN e..u ON 1 = 1') AT srv", "srv.d..t srv.e..u", ""),
    ("INSERT INTO t EXEC ('USE d; SELECT * FROM dbo.u') AT srv", "srv.d.dbo.u", "INSERT t"),
    ("INSERT INTO t EXEC ('USE d; SELECT * FROM dbo.u')", ".d.dbo.u", "INSERT t"),
    ("INSERT INTO t EXEC d..sp_executesql N'SELECT * FROM u'", ".d..u", "INSERT t"),
    # what libraries send
    ("SELECT CAST('test plain returns' AS VARCHAR(60)) AS anon_1", "", ""),
    ("INSERT INTO [t] ([a], [b]) OUTPUT inserted.i SELECT p0, p1 FROM (VALUES (?, ?, 0), (?, ?, 1)) AS imp_sen(p0, p1, sen_counter) ORDER BY sen_counter", "", "INSERT t"),
    ("INSERT INTO t (a) VALUES (?); select scope_identity()", "", "INSERT t"),
    ("SET NOCOUNT ON; SELECT TOP 5 * FROM t", "t", ""),
    ("IF @@TRANCOUNT > 0 COMMIT TRAN", "", ""),
    ("SET IMPLICIT_TRANSACTIONS ON", "", ""),
    ("set transaction isolation level read committed set implicit_transactions off INSERT t VALUES (1)", "", "INSERT t"),
    ("SELECT [t0].[a] AS [x] FROM [dbo].[t] AS [t0] LEFT JOIN [u] AS [t1] ON [t0].[i] = [t1].[i] WHERE [t0].[n] = @__n_0 ORDER BY (SELECT 1) OFFSET @__p_1 ROWS", "dbo.t u", ""),
    ("SET NOCOUNT ON;\nUPDATE [t] SET [a] = @p0\nOUTPUT 1\nWHERE [i] = @p1;", "", "UPDATE t"),
    ("DECLARE @inserted0 TABLE ([i] int, [_Position] [int]); MERGE [t] USING (VALUES (@p0, 0), (@p1, 1)) AS i ([a], _Position) ON 1=0 WHEN NOT MATCHED THEN INSERT ([a]) VALUES (i.[a]) OUTPUT INSERTED.[i], i._Position INTO @inserted0; SELECT [x].[i] FROM @inserted0 x", "@inserted0", "MERGE t INSERT @inserted0"),
    ('SELECT SUM("t"."a") AS "sum:a:ok" FROM "dbo"."t" "t" GROUP BY "t"."b"', "dbo.t", ""),
    ("select * from (select * from dbo.t) spark_gen_1 WHERE 1=0", "dbo.t", ""),
    ("SELECT * FROM (SELECT * FROM dbo.t) SPARK_GEN_SUBQ_0 WHERE (a IS NOT NULL)", "dbo.t", ""),
    ("select table_name from INFORMATION_SCHEMA.TABLES where table_schema = N'dbo'", "INFORMATION_SCHEMA.TABLES", ""),
    ("exec sp_columns @table_name=N't',@table_owner=N'dbo'", "", ""),
]
# fmt: on


@for_each("sql, reads, writes", CASES)
def test_tables_of_wrapped_statements(
    sql: str, reads: str, writes: str, tsql_tables: Callable[[str, str, str], None]
) -> None:
    tsql_tables(sql, reads, writes)
