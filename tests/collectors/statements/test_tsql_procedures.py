"""Procedures, functions and triggers in T-SQL, bodies and all: one line a case, SQL, reads, writes."""

# ruff: noqa: E501 (one line a case)

from collections.abc import Callable

from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.records import Direction
from tests.cases import for_each

# fmt: off
CASES = [
    ("CREATE PROCEDURE p AS SELECT * FROM t", "t", ""),
    ("CREATE PROC dbo.p AS BEGIN SELECT * FROM t END", "t", ""),
    ("ALTER PROCEDURE p AS DELETE FROM t", "", "DELETE t"),
    ("CREATE OR ALTER PROC p @a int AS INSERT t VALUES (@a)", "", "INSERT t"),
    ("CREATE PROCEDURE p @a int = 5, @b AS nvarchar(50) = N'x' OUTPUT, @c dbo.ids READONLY AS SET NOCOUNT ON; SELECT * FROM t JOIN @c x ON 1 = 1", "t @c", ""),
    ("CREATE PROCEDURE p (@a int, @b decimal(18, 2) OUT) WITH RECOMPILE, EXECUTE AS OWNER AS UPDATE t SET a = @a", "", "UPDATE t"),
    ("CREATE PROCEDURE p WITH EXECUTE AS 'someone' AS BEGIN TRUNCATE TABLE t; INSERT t SELECT * FROM u; END", "u", "TRUNCATE t INSERT t"),
    ("CREATE PROCEDURE p WITH NATIVE_COMPILATION, SCHEMABINDING AS BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english') INSERT dbo.t SELECT a FROM dbo.u END", "dbo.u", "INSERT dbo.t"),
    ("CREATE PROCEDURE p AS EXTERNAL NAME asm.cls.method", "", ""),
    ("CREATE PROCEDURE p @c CURSOR VARYING OUTPUT AS SET @c = CURSOR FOR SELECT * FROM t OPEN @c", "t", ""),
    ("CREATE PROCEDURE p AS\nSELECT * FROM a\nGO\nEXEC p\nGO\nSELECT * FROM b", "a b", ""),
    ("CREATE PROCEDURE p AS IF EXISTS (SELECT 1 FROM a) BEGIN UPDATE b SET x = 1 END ELSE BEGIN INSERT b SELECT * FROM c END RETURN 0", "a c", "UPDATE b INSERT b"),
    ("CREATE PROCEDURE p AS BEGIN TRY BEGIN TRAN MERGE t USING s ON t.i = s.i WHEN MATCHED THEN UPDATE SET a = s.a WHEN NOT MATCHED THEN INSERT (i) VALUES (s.i); COMMIT END TRY BEGIN CATCH ROLLBACK; INSERT log SELECT ERROR_MESSAGE(); THROW END CATCH", "s", "MERGE t INSERT log"),
    ("CREATE PROCEDURE p AS SELECT * INTO #a FROM t; UPDATE x SET n = u.n FROM #a x JOIN u ON x.i = u.i; INSERT v SELECT * FROM #a; DROP TABLE #a", "t #a u", "SELECT INTO #a UPDATE #a INSERT v DROP #a"),
    ("CREATE PROCEDURE p AS WITH c AS (SELECT * FROM a) INSERT b SELECT * FROM c", "a", "INSERT b"),
    ("CREATE PROCEDURE p @n sysname AS DECLARE @s nvarchar(max) = N'SELECT * FROM t WHERE n = @n'; EXEC sp_executesql @s, N'@n sysname', @n", "t", ""),
    ("CREATE PROCEDURE p AS EXEC q; EXEC ('DELETE FROM t')", "", "DELETE t"),
    ("CREATE PROCEDURE p AS DECLARE c CURSOR FOR SELECT i FROM a OPEN c FETCH NEXT FROM c INTO @i WHILE @@FETCH_STATUS = 0 BEGIN INSERT b VALUES (@i) FETCH NEXT FROM c INTO @i END CLOSE c DEALLOCATE c", "a", "INSERT b"),
    ("CREATE PROCEDURE [dbo].[load orders] @day date AS\nBEGIN\n  SET NOCOUNT ON;\n  -- stage\n  TRUNCATE TABLE stage.orders;\n  INSERT INTO stage.orders (i, a)\n  SELECT o.i, o.a FROM Shop.dbo.orders o WITH (NOLOCK) LEFT JOIN Shop.dbo.customers c ON c.i = o.c WHERE o.d = @day;\n  DELETE w FROM dw.orders w JOIN stage.orders s ON s.i = w.i;\n  INSERT INTO dw.orders SELECT * FROM stage.orders;\n  EXEC dbo.finish @day;\nEND", "Shop.dbo.orders Shop.dbo.customers stage.orders", "TRUNCATE stage.orders INSERT stage.orders DELETE dw.orders INSERT dw.orders"),
    ("CREATE PROCEDURE p AS BEGIN DECLARE @t TABLE (i int); INSERT @t SELECT i FROM a; UPDATE b SET x = 1 OUTPUT inserted.i INTO @t FROM b JOIN @t t ON b.i = t.i; SELECT * FROM @t END", "a b @t", "INSERT @t UPDATE b"),
    ("CREATE PROCEDURE p AS INSERT a OUTPUT inserted.i INTO b SELECT i FROM c RETURN (SELECT COUNT(*) FROM d)", "c d", "INSERT a INSERT b"),
    ("CREATE PROCEDURE p AS SELECT * FROM a\nGO\nCREATE PROCEDURE q AS SELECT * FROM b\nGO", "a b", ""),
    ("CREATE FUNCTION f (@a int) RETURNS TABLE AS RETURN (SELECT * FROM t WHERE a = @a)", "t", ""),
    ("CREATE FUNCTION f () RETURNS TABLE WITH SCHEMABINDING AS RETURN SELECT a FROM dbo.t", "dbo.t", ""),
    ("CREATE FUNCTION f () RETURNS TABLE RETURN WITH c AS (SELECT * FROM t) SELECT * FROM c", "t", ""),
    ("CREATE FUNCTION f (@a int) RETURNS int AS BEGIN DECLARE @r int; SELECT @r = MAX(x) FROM t WHERE a = @a; RETURN @r END", "t", ""),
    ("CREATE FUNCTION f (@a int) RETURNS int BEGIN RETURN (SELECT MAX(x) FROM t) END", "t", ""),
    ("CREATE OR ALTER FUNCTION f (@a int = 1) RETURNS @r TABLE (i int PRIMARY KEY, n nvarchar(50)) AS BEGIN INSERT @r SELECT i, n FROM t; UPDATE @r SET n = 'x'; RETURN END", "t", "INSERT @r UPDATE @r"),
    ("CREATE TRIGGER x ON t AFTER INSERT AS INSERT log SELECT * FROM inserted", "", "INSERT log"),
    ("CREATE TRIGGER x ON dbo.t FOR UPDATE, DELETE NOT FOR REPLICATION AS BEGIN IF UPDATE(a) OR UPDATE(b) INSERT log SELECT d.i FROM deleted d JOIN u ON u.i = d.i END", "u", "INSERT log"),
    ("CREATE TRIGGER x ON v INSTEAD OF INSERT AS UPDATE t SET a = i.a FROM t JOIN inserted i ON i.i = t.i", "t", "UPDATE t"),
    ("CREATE TRIGGER x ON t WITH EXECUTE AS OWNER AFTER DELETE AS DELETE c FROM c JOIN deleted d ON d.i = c.p", "", "DELETE c"),
    ("CREATE TRIGGER x ON t AFTER UPDATE AS IF NOT UPDATE(a) RETURN; MERGE h USING inserted i ON h.i = i.i WHEN MATCHED THEN UPDATE SET a = i.a;", "", "MERGE h"),
    ("CREATE TRIGGER x ON DATABASE FOR CREATE_TABLE, DROP_TABLE AS INSERT log SELECT EVENTDATA()", "", "INSERT log"),
    ("ALTER TRIGGER x ON t AFTER INSERT AS IF EXISTS (SELECT * FROM inserted EXCEPT SELECT * FROM deleted) EXEC p", "", ""),
]
# fmt: on


@for_each("sql, reads, writes", CASES)
def test_tables_of_modules(
    sql: str, reads: str, writes: str, tsql_tables: Callable[[str, str, str], None]
) -> None:
    tsql_tables(sql, reads, writes)


def test_statements_of_a_body_name_their_module() -> None:
    sql = "SELECT 1 FROM a\nGO\nCREATE PROC dbo.[p q] AS SELECT 1 FROM b; DELETE c\nGO\nDELETE d"
    assert [(shape.verb, shape.module) for shape in parse(sql, Dialect.TSQL)] == [
        ("SELECT", None),
        ("CREATE PROC", None),
        ("SELECT", "p q"),
        ("DELETE", "p q"),
        ("DELETE", None),
    ]


CREATED_INSIDE = [
    ("EXEC ('CREATE PROC p AS DELETE a'); DELETE b", "p:a :b"),
    (
        "EXEC sp_executesql N'-- x\nalter  function f() returns int as begin return 1 end'; DELETE b",
        ":b",
    ),
    ("CREATE PROC q AS EXEC ('CREATE TRIGGER x ON t FOR INSERT AS DELETE a') DELETE b", "x:a q:b"),
    (
        "EXEC ('CREATE PROC p AS DELETE a') EXEC ('CREATE PROC q AS DELETE b') DELETE c",
        "p:a q:b :c",
    ),
    (
        "IF 1 = 1 EXEC ('CREATE PROC p AS DELETE a') ELSE EXEC ('USE d; DELETE b'); DELETE c",
        "p:a :b :c",
    ),
    ("EXEC ('CREATE VIEW v AS SELECT a FROM t'); DELETE c", ":v :c"),
]


@for_each("sql, written", CREATED_INSIDE)
def test_modules_of_dynamic_sql_end_with_it(sql: str, written: str) -> None:
    assert [
        f"{shape.module or ''}:{access.name[-1]}"
        for shape in parse(sql, Dialect.TSQL)
        for access in shape.accesses
        if access.direction is Direction.WRITE
    ] == written.split()


CALLED = [
    ("EXEC p", "p"),
    ("EXECUTE dbo.load 1, @day = '2026-11-21'", "dbo.load"),
    ("EXEC @rc = Shop.dbo.[load]]orders] 1 OUTPUT WITH RECOMPILE", "Shop.dbo.load]orders"),
    ("exec dbo.load;2 5", "dbo.load"),
    ("EXEC Shop..load", "Shop..load"),
    ("EXEC srv.Shop.dbo.load", "srv.Shop.dbo.load"),
    ("{CALL dbo.load(?)}", "dbo.load"),
    ("{? = CALL dbo.load(?, ?)}", "dbo.load"),
    ("INSERT INTO t (a) EXEC dbo.list 1", "dbo.list"),
    ("dbo.load 1, 'x'", "dbo.load"),
    ("nightly", "nightly"),
    ("[dbo].[load] @day = 1", "dbo.load"),
    ("IF @x = 1 EXEC a ELSE EXEC b", "a b"),
    ("SET NOCOUNT ON EXEC a; EXEC a; EXEC b", "a b"),
    ("EXEC (@sql)", ""),
    ("EXEC @name 1", ""),
    ("EXEC #local", ""),
    ("EXEC sp_executesql N'EXEC dbo.load'", "dbo.load"),
    ("EXECUTE AS USER = 'x'; SELECT 1", ""),
    ("GRANT EXECUTE ON dbo.load TO x", ""),
    ("SELECT 1", ""),
    ("COMMIT", ""),
    ("unheard of 1", ""),
]


@for_each("sql, called", CALLED)
def test_calls(sql: str, called: str) -> None:
    calls = [".".join(name) for shape in parse(sql, Dialect.TSQL) for name in shape.calls]
    assert list(dict.fromkeys(calls)) == called.split()
