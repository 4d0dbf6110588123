"""Secrets are in no shape, quoted or not; tables and columns beside them stay."""

from __future__ import annotations

from dbt_graft.collectors.statements.normalise import normalise
from dbt_graft.collectors.statements.text.dialect import Dialect
from tests.cases import for_each

SPARK = [
    ("SET spark.hadoop.fs.s3a.secret.key=hush", "SET spark.hadoop.fs.s3a.secret.key=?"),
    ("SET password = hush", "SET password = ?"),
    ("set hivevar:pw=hush hush; SELECT a FROM t", "set hivevar:pw=?; SELECT a FROM t"),
    ("SET VAR x = (SELECT max(a) FROM t)", "SET VAR x = (SELECT max(a) FROM t)"),
    ("SET VAR x = 1 + (SELECT max(a) FROM t)", "SET VAR x = ? + (SELECT max(a) FROM t)"),
    ("UPDATE t SET password = token", "UPDATE t SET password = token"),
    ("ADD JAR s3a://hush:hush@bucket/x.jar; SELECT a", "ADD JAR ?; SELECT a"),
    ("ADD FILES /tmp/hush", "ADD FILES ?"),
    ("SELECT $$hush$$, a FROM t", "SELECT ?, a FROM t"),
    ("SELECT a FROM `t$$` JOIN `$$u`", "SELECT a FROM `t$$` JOIN `$$u`"),
    (
        "CREATE TABLE t (a int) USING csv OPTIONS (password hush, b 'hush')",
        "CREATE TABLE t (a int) USING csv OPTIONS (password ?, b ?)",
    ),
    (
        "ALTER TABLE t SET TBLPROPERTIES (a.token = hush)",
        "ALTER TABLE t SET TBLPROPERTIES (a.token = ?)",
    ),
    ("CREATE TABLE t TBLPROPERTIES (`a b` = hush)", "CREATE TABLE t TBLPROPERTIES (`a b` = ?)"),
    (
        "CREATE TEMP VIEW v USING csv OPTIONS (path '/landing/a', token hush)",
        "CREATE TEMP VIEW v USING csv OPTIONS (path files.`/landing/a`, token ?)",
    ),
    ("SELECT a FROM json.`//k:hush@b/x`", "SELECT a FROM json.`//b/x`"),
    ("SELECT a FROM csv.`https://hush@h/x?sig=hush`", "SELECT a FROM csv.`https://h/x`"),
    ("SELECT a FROM csv.`abfss://c@a.dfs/x`", "SELECT a FROM csv.`abfss://c@a.dfs/x`"),
    ("SELECT a FROM csv.`s3a://b/part-?/x#1`", "SELECT a FROM csv.`s3a://b/part-?/x#1`"),
]
TSQL = [
    ("CREATE LOGIN x WITH PASSWORD = hush", "CREATE LOGIN x WITH PASSWORD = ?"),
    ("ALTER LOGIN x WITH PASSWORD = 0xABhush HASHED", "ALTER LOGIN x WITH PASSWORD = ? HASHED"),
    (
        "CREATE CREDENTIAL c WITH IDENTITY = 'x', SECRET = hush",
        "CREATE CREDENTIAL c WITH IDENTITY = ?, SECRET = ?",
    ),
    ("EXEC sp_addlogin hush, hush; SELECT a FROM t", "EXEC sp_addlogin ?; SELECT a FROM t"),
    ("SELECT a FROM [https://u:hush@h/x]", "SELECT a FROM [https://h/x]"),
    ("SELECT $$hush$$", "SELECT ?"),
    ("SELECT a FROM [t$$] JOIN dbo.a$$b", "SELECT a FROM [t$$] JOIN dbo.a$$b"),
    ("UPDATE t SET password = s.secret", "UPDATE t SET password = s.secret"),
    ("EXEC dbo.p hush, @a = hush, @b = [hush hush]", "EXEC dbo.p ?, @a = ?, @b = ?"),
    ("EXEC @r = p @a OUTPUT, DEFAULT, NULL, hush", "EXEC @r = p @a OUTPUT, DEFAULT, NULL, ?"),
    ("INSERT INTO t EXEC [d b].dbo.p hush SELECT a", "INSERT INTO t EXEC [d b].dbo.p ? SELECT a"),
    ("EXEC p INSERT INTO t SELECT a", "EXEC p INSERT INTO t SELECT a"),
    ("EXEC p WITH RECOMPILE", "EXEC p WITH RECOMPILE"),
    ("GRANT EXECUTE ON dbo.p TO x", "GRANT EXECUTE ON dbo.p TO x"),
    ("EXEC sp_rename a, b", "EXEC sp_rename [a], [b];"),
    ("EXEC dbo.my_sp_rename hush, hush", "EXEC dbo.my_sp_rename ?, ?"),
]


@for_each(
    "dialect, text, shape",
    [
        *((Dialect.SPARK, *case) for case in SPARK),
        *((Dialect.TSQL, *case) for case in TSQL),
    ],
)
def test_a_secret_is_in_no_shape(dialect: Dialect, text: str, shape: str) -> None:
    assert "hush" not in shape
    assert normalise(text, dialect) == shape
    assert normalise(shape, dialect) == shape
