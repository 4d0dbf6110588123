"""Statements that were cut off: what they show is found: one line a case, SQL, reads, writes."""

# ruff: noqa: E501 (one line a case)

from collections.abc import Callable

from tests.cases import for_each

# fmt: off
CASES = [
    ("SELECT a, b FROM dbo.t WHERE a = 'cut he", "dbo.t", ""),
    ("SELECT a FROM t WHERE a IN (1, 2, ", "t", ""),
    ("SELECT a FROM t JOIN u ON t.i = ", "t u", ""),
    ("SELECT a FROM t JOIN ", "t", ""),
    ("SELECT a FROM t LEFT OUTER", "t", ""),
    ("SELECT a FROM t, ", "t", ""),
    ("SELECT a FROM t AS", "t", ""),
    ("SELECT a FROM", "", ""),
    ("SELECT a, (SELECT MAX(i) FROM u", "", ""),
    ("SELECT a, (SELECT MAX(i) FROM u WHERE", "u", ""),
    ("SELECT a, (SELECT MAX(i) FROM v JOIN d.dbo.u", "v", ""),
    ("SELECT a FROM t /* a comment", "t", ""),
    ("SELECT a FROM t -- a comm", "t", ""),
    ("SELECT a FROM [t", "", ""),
    ("SELECT a FROM t JOIN d.dbo.[u", "t", ""),
    ('SELECT a FROM t JOIN "u', "t", ""),
    ("INSERT INTO [t", "", ""),
    ("exec sp_executesql N'SELECT a FROM t JOIN dbo.u", "t", ""),
    ("EXEC ('SELECT a FROM t, u", "t", ""),
    ("SELECT a FROM d.dbo.", "", ""),
    ("SELECT a FROM t WHERE [b", "t", ""),
    ("SELECT * FROM (SELECT * FROM (SELECT a FROM t WHERE b = ", "t", ""),
    ("SELECT CASE WHEN a = 1 THEN (SELECT b FROM u) ELSE", "u", ""),
    ("WITH c AS (SELECT * FROM t), d AS (SELECT * FROM c JOIN u ON", "t u", ""),
    ("WITH c AS (SELECT * FROM t) SELECT * FROM c JO", "t", ""),
    ("WITH c AS (SELECT * FROM t) INSERT INTO u (a", "t", "INSERT u"),
    ("SELECT a INTO #n FROM t WHERE ", "t", "SELECT INTO #n"),
    ("SELECT a INTO #n", "", "SELECT INTO #n"),
    ("INSERT INTO dbo.t", "", "INSERT dbo.t"),
    ("INSERT INTO t (a, b, c", "", "INSERT t"),
    ("INSERT INTO t (a) VALUES (1), (2, 'x", "", "INSERT t"),
    ("INSERT INTO t (a) SELECT a FROM u WHERE x LIKE N'", "u", "INSERT t"),
    ("INSERT INTO t (a) SELECT a FROM u UNION ALL SELECT", "u", "INSERT t"),
    ("INSERT INTO t OUTPUT inserted.i INTO @x SELECT a FR", "", "INSERT t INSERT @x"),
    ("UPDATE t SET a = 'x", "", "UPDATE t"),
    ("UPDATE x SET a = 1 FROM dbo.t x JOIN u ON x.i", "dbo.t u", "UPDATE dbo.t"),
    ("UPDATE t SET a = (SELECT MAX(b) FROM u WHERE u.i = t.", "u", "UPDATE t"),
    ("DELETE FROM t WHERE i IN (SELECT i FROM u WHERE", "u", "DELETE t"),
    ("DELETE x FROM dbo.t x JOIN", "", "DELETE dbo.t"),
    ("MERGE t USING u ON t.i = u.i WHEN MATCHED THEN UPD", "u", "MERGE t"),
    ("MERGE INTO t AS x USING (SELECT * FROM u JOIN v ON u.i", "u v", "MERGE t"),
    ("MERGE t USING u ON 1 = 1 WHEN NOT MATCHED THEN INSERT (a, b", "u", "MERGE t"),
    ("TRUNCATE TABLE dbo.t", "", "TRUNCATE dbo.t"),
    ("CREATE TABLE t (a int, b varchar(", "", "CREATE TABLE t"),
    ("CREATE VIEW v AS SELECT a FROM t WHERE", "t", "CREATE VIEW v"),
    ("CREATE PROCEDURE p @a int AS SELECT * FROM t; INSERT u SELECT * FROM v WHERE n = 'cu", "t v", "INSERT u"),
    ("CREATE PROCEDURE p @a int, @b nvar", "", ""),
    ("CREATE PROCEDURE p AS BEGIN IF EXISTS (SELECT 1 FROM t WHERE a = ", "t", ""),
    ("exec sp_executesql N'SELECT a FROM t WHERE b = ''x", "t", ""),
    ("exec sp_executesql N'INSERT INTO t (a, b) VALUES (@P1, @P2), (@P3", "", "INSERT t"),
    ("exec sp_executesql N'SELECT a FROM t', N'@P1 in", "t", ""),
    ("exec sp_prepexec @p1 output,N'@P1 int',N'UPDATE t SET a = 1 WHERE i IN (SELECT i FROM u", "", "UPDATE t"),
    ("EXEC ('SELECT * FROM t WHERE a = ", "t", ""),
    ("SELECT * FROM OPENQUERY(srv, 'SELECT * FROM d.dbo.t WHERE a", "srv.d.dbo.t", ""),
    ("SELECT * FROM t PIVOT (SUM(x) FOR y IN ([a], ", "t", ""),
    ("SELECT * FROM t WITH (NOLO", "t", ""),
    ("SELECT * FROM t CROSS APPLY (SELECT * FROM u WHERE", "t u", ""),
    ("BULK INSERT t FROM 'c:\\x", "", "BULK INSERT t"),
    ("DECLARE @x int = 5; SELECT * FROM t WHERE a = @x; UPDATE u SE", "t", "UPDATE u"),
    ("IF EXISTS (SELECT 1 FROM a) BEGIN DELETE FROM b WHERE", "a", "DELETE b"),
]
# fmt: on


@for_each("sql, reads, writes", CASES)
def test_tables_of_cut_statements(
    sql: str, reads: str, writes: str, tsql_tables: Callable[[str, str, str], None]
) -> None:
    tsql_tables(sql, reads, writes)
