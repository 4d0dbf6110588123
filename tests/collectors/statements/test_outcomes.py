"""A statement is parsed or has a reason why not: one line a case.

Many statements have no table in FROM, or no FROM: these are parsed.
"""

from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.shape import ParsedShape
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.records import Outcome
from tests.cases import for_each

DYNAMIC = "dynamic SQL not resolved"

# fmt: off
TSQL = [
    # verbs that are not supported
    ("UPDATETEXT dbo.t.c @ptr 0 NULL 'x'", "statement not supported: UPDATETEXT"),
    ("WRITETEXT t.c @ptr WITH LOG 'x'", "statement not supported: WRITETEXT"),
    ("READTEXT t.c @ptr 1 2", "statement not supported: READTEXT"),
    ("RECEIVE TOP (1) message_body FROM dbo.q", "statement not supported: RECEIVE"),
    ("RECEIVE * FROM dbo.q INTO @t", "statement not supported: RECEIVE"),
    ("WAITFOR (RECEIVE * FROM dbo.q), TIMEOUT 100", "statement not supported: WAITFOR"),
    # no table where one should stand
    ("SELECT a FROM", "no table found after FROM"),
    ("SELECT a FROM t JOIN", "no table found after JOIN"),
    ("SELECT a FROM t JOIN dbo.", "no table found after JOIN"),
    ("SELECT a FROM t, ", "no table found after FROM"),
    ("SELECT (SELECT a FROM ) FROM t", "no table found after FROM"),
    ("SELECT a INTO", "no table found after INTO"),
    ("INSERT INTO", "no table found after INTO"),
    ("MERGE t USING", "no table found after USING"),
    ("SELECT a FROM t CROSS APPLY", "no table found after APPLY"),
    ("TRUNCATE TABLE", "no table found after TABLE"),
    ("EXEC ('SELECT a FROM ' + @t)", "no table found after FROM"),
    ("EXEC ('SELECT a FROM dbo.sales_' + @year)", "no table found after FROM"),
    ("EXEC ('INSERT INTO ' + @t + ' SELECT a FROM u')", "no table found after INTO"),
    ("EXEC ('UPDATE ' + @t + ' SET a = 1')", "no table found after UPDATE"),
    ("EXEC ('SELECT a FROM t JOIN ' + @u + ' u ON 1 = 1')", "no table found after JOIN"),
    ("EXEC ('DROP TABLE ' + @t)", "no table found after TABLE"),
    ("EXEC ('CREATE TABLE ' + @t + ' (a int)')", "no table found after TABLE"),
    # functions, and files at places that only the server knows
    ("SELECT * FROM dbo.f(1) x", "what the function dbo.f reads is not known"),
    ("SELECT * FROM t CROSS APPLY g(t.a) y", "what the function g reads is not known"),
    ("BULK INSERT t FROM 'x.csv'", "the file that is read is not known"),
    ("BULK INSERT t FROM 'c:/x'", "columns not resolved: those of a file go by their places"),
    # dynamic SQL
    ("EXEC (@sql)", DYNAMIC),
    ("EXEC (@sql) AT srv", DYNAMIC),
    ("EXEC (@sql + ' WHERE a = 1')", DYNAMIC),
    ("EXEC sp_executesql @sql", DYNAMIC),
    ("EXEC sp_executesql @sql, N'@a int', @a = 5", DYNAMIC),
    ("EXEC @rc = sys.sp_executesql @stmt = @sql", DYNAMIC),
    ("sp_executesql @sql", DYNAMIC),
    ("EXEC sp_prepexec @h OUTPUT, N'@a int', @sql", DYNAMIC),
    ("EXEC sp_MSforeachtable 'TRUNCATE TABLE ?'", DYNAMIC),
    ("EXEC @procedure 1", DYNAMIC),
    ("EXEC @rc = @procedure 1", DYNAMIC),
    ("INSERT INTO t EXEC (@sql)", DYNAMIC),
    ("INSERT INTO t EXEC sp_executesql @sql", DYNAMIC),
]
SPARK = [
    ("FROBNICATE t", "statement not supported: FROBNICATE"),
    ("SELECT * FROM ${db}.t", "no table found after FROM"),
    ("SELECT * FROM IDENTIFIER(:t)", "no table found after FROM"),
    ("INSERT INTO IDENTIFIER(t) SELECT a FROM u", "no table found after INTO"),
    ("EXECUTE IMMEDIATE q", DYNAMIC),
    ("EXECUTE IMMEDIATE q USING 5", DYNAMIC),
]
PARSED_TSQL = [
    "CREATE TABLE t (a int IDENTITY(1, 1) PRIMARY KEY CLUSTERED, b int REFERENCES u (b))",
    "CREATE TABLE t (a int, PERIOD FOR SYSTEM_TIME (b, c)) WITH (SYSTEM_VERSIONING = ON)",
    "IF (SELECT COUNT(*) FROM t) > 0 PRINT 'x'",
    "WHILE (SELECT COUNT(*) FROM t) > 5 BREAK",
    "SELECT COUNT(*) AS n INTO t FROM u",
    "DECLARE c CURSOR LOCAL FAST_FORWARD FOR SELECT a FROM t",
    "SELECT 1",
    "SELECT @@VERSION, GETDATE()",
    "SET @x = (SELECT MAX(a) FROM t)",
    "SET @x = (SELECT MAX(a) FROM (VALUES (1), (2)) v (a))",
    "DECLARE @t TABLE (a int)",
    "SELECT * FROM (VALUES (1), (2)) v (a), t",
    "SELECT * FROM OPENJSON(@j) WITH (a int '$.a')",
    "SELECT * FROM OPENXML(@h, '/a')",
    "SELECT * FROM OPENROWSET(BULK 'c:/x.csv', SINGLE_CLOB) AS x",
    "SELECT * FROM OPENQUERY(srv, 'SELECT 1')",
    "SELECT * FROM STRING_SPLIT(@s, ',')",
    "SELECT n.c.value('a', 'int') FROM @x.nodes('/a') AS n(c)",
    "SELECT * FROM sys.tables",
    "SELECT * FROM INFORMATION_SCHEMA.TABLES",
    "DELETE FROM @t",
    "WITH c AS (SELECT 1 AS a) SELECT * FROM c",
    "WITH XMLNAMESPACES ('x' AS y) SELECT 1",
    "SELECT * FROM inserted",
    "SELECT TRIM('a' FROM b), EXTRACT(day FROM c)",
    "SELECT a FROM t WHERE b IS NOT DISTINCT FROM c",
    "SELECT a FROM t OPTION (HASH JOIN, MERGE JOIN)",
    "FETCH NEXT FROM c INTO @a, @b",
    "FETCH FROM c",
    "CREATE LOGIN x FROM WINDOWS",
    "CREATE ASSEMBLY a FROM 'x.dll'",
    "CREATE TYPE x FROM int",
    "CREATE PROCEDURE p AS EXTERNAL NAME a.b.c",
    "RESTORE DATABASE d FROM DISK = 'x'",
    "REVOKE SELECT ON t FROM u",
    "GET CONVERSATION GROUP @g FROM dbo.q",
    "SEND ON CONVERSATION @h (N'x')",
    "WAITFOR DELAY '00:00:05'",
    "ENABLE TRIGGER ALL ON t",
    "retry: SELECT a FROM t",
    "EXEC dbo.p @a = 1",
    "EXEC @rc = dbo.p",
    "EXEC sp_execute 3, 5",
    "{call dbo.p(1)}",
    "{? = call dbo.p(1)}",
    "dbo.load 1, 'x'",
    "sp_helptext my_procedure",
    "sp_who2",
    "EXECUTE AS USER = 'x'",
    "GRANT EXECUTE ON dbo.p TO u",
    "EXEC ('SELECT a FROM t') AT srv",
    "EXEC ('SELECT a FROM t') AS USER = 'x'",
    "DECLARE @sql nvarchar(max) = N'SELECT a FROM t'; EXEC (@sql)",
    "UPDATE STATISTICS t",
    "IF UPDATE(a) PRINT 'x'",
    "MERGE t USING (VALUES (1)) s (i) ON t.i = s.i WHEN MATCHED THEN DELETE;",
]
PARSED_SPARK = [
    "SELECT explode(x) FROM VALUES (1), (2) AS t(x)",
    "SELECT * FROM VALUES 1, 2 AS v (i), t",
    "SELECT * FROM range(5)",
    "SELECT substring(a FROM 2 FOR 3), overlay(a PLACING 'x' FROM 2) FROM t",
    "SHOW TABLES FROM db",
    "REORG TABLE t APPLY (PURGE)",
    "CALL system.rewrite_data_files('t')",
    "VALUES (1, 2)",
    "ALTER TABLE t RENAME COLUMN a TO b",
]
# fmt: on


def _partial(sql: str, dialect: Dialect) -> list[ParsedShape]:
    return [shape for shape in parse(sql, dialect) if shape.outcome is not Outcome.PARSED]


@for_each(
    "dialect, sql, reason",
    [(Dialect.TSQL, *case) for case in TSQL] + [(Dialect.SPARK, *case) for case in SPARK],
)
def test_a_statement_without_its_tables_is_partial(dialect: Dialect, sql: str, reason: str) -> None:
    (shape,) = _partial(sql, dialect)
    assert (shape.outcome, shape.reason) == (Outcome.PARTIAL, reason)


@for_each(
    "dialect, sql",
    [(Dialect.TSQL, sql) for sql in PARSED_TSQL] + [(Dialect.SPARK, sql) for sql in PARSED_SPARK],
)
def test_a_statement_that_needs_no_table_is_parsed(dialect: Dialect, sql: str) -> None:
    assert _partial(sql, dialect) == []


def test_the_tables_that_are_known_are_found_beside_one_that_is_not() -> None:
    (shape,) = parse("EXEC ('SELECT a FROM ' + @t + ' JOIN dbo.u ON 1 = 1')", Dialect.TSQL)
    assert shape.reads == {"dbo.u"}
    assert shape.reason == "no table found after FROM"


def test_a_reason_names_no_value_and_no_name_of_the_text() -> None:
    (shape,) = parse("FROBNICATE secret99 FROM 'secret99'", Dialect.TSQL)
    assert "secret99" not in (shape.reason or "").casefold()
