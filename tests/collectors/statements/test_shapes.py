"""Shapes: statements that differ only in their values have one, and no value survives."""

# ruff: noqa: E501 (one line a case)

from dbt_graft.collectors.statements.normalise import normalise
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.shape import VERSION
from dbt_graft.collectors.statements.text.dialect import Dialect
from tests.cases import for_each

TSQL, SPARK = Dialect.TSQL, Dialect.SPARK

# fmt: off
SAME = [
    ("strings", TSQL, "SELECT a FROM t WHERE b = 'x'", "SELECT a FROM t WHERE b = N'it''s y'"),
    ("numbers", TSQL, "SELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE b = -2.5e-3"),
    ("binaries and money", TSQL, "UPDATE t SET a = 0x1F, b = $1.50", "UPDATE t SET a = 0xABCD, b = 7"),
    ("IN lists", TSQL, "SELECT a FROM t WHERE b IN (1, 2, -3)", "SELECT a FROM t WHERE b IN ('x')"),
    ("rows of VALUES", TSQL, "INSERT t VALUES (1, 'a', NULL), (2, 'b', DEFAULT)", "INSERT t VALUES (?, ?, ?)"),
    ("rows with calls", TSQL, "INSERT t VALUES (1, getdate()), (2, getdate())", "INSERT t VALUES (9, getdate())"),
    ("markers", TSQL, "INSERT t VALUES (@P1, @P2)", "INSERT t VALUES (?, ?)"),
    ("white space and comments", TSQL, "SELECT a -- x = 1\n\tFROM   t /* b /* c */ d */", "SELECT a FROM t"),
    ("numbers without a space behind", TSQL, "SELECT 1AS a FROM t", "SELECT 'x'AS a FROM t"),
    ("strings in double quotes", SPARK, 'SELECT a FROM t WHERE b = "x"', "SELECT a FROM t WHERE b = 'it\\'s'"),
    ("numbers with a type", SPARK, "SELECT a FROM t WHERE b = 10BD", "SELECT a FROM t WHERE b = 1.5"),
]
DIFFERENT = [
    ("columns", TSQL, "SELECT a FROM t", "SELECT b FROM t"),
    ("digits in names", TSQL, "SELECT a1 FROM t_2026", "SELECT a2 FROM t_2026"),
    ("digits in brackets", TSQL, "SELECT [2026 q1] FROM t", "SELECT [2026 q2] FROM t"),
    ("digits in double quotes", TSQL, 'SELECT "1 a" FROM "t"', 'SELECT "2 a" FROM "t"'),
    ("digits in temporary names", TSQL, "SELECT a FROM #1", "SELECT a FROM #2"),
    ("variables", TSQL, "SELECT a FROM @t", "SELECT a FROM @u"),
    ("digits in backticks", SPARK, "SELECT a FROM `1 t`", "SELECT a FROM `2 t`"),
    ("names that begin with digits", SPARK, "SELECT a FROM 2025_t", "SELECT a FROM 2026_t"),
]
UNWRAPPED = [
    ("exec sp_executesql N'SELECT a FROM t WHERE b=@b AND c=''x''', N'@b int', @b=5", "SELECT a FROM t WHERE b=@b AND c=?;"),
    ("EXECUTE sys.sp_executesql @stmt = N'SELECT 1 FROM t'", "SELECT ? FROM t;"),
    ("exec sp_executesql @sql, N'@b int', 5", "exec sp_executesql @sql, ?, ?"),
    ("declare @p1 int\nset @p1=-1\nexec sp_prepexec @p1 output,N'@P1 int',N'INSERT INTO t (a) VALUES (@P1)',7\nselect @p1", "declare ? int set ?=? INSERT INTO t (a) VALUES (?); select ?"),
    ("exec sp_prepare @h output,NULL,N'UPDATE t SET a=@P1',1", "UPDATE t SET a=?;"),
    ("exec sp_cursoropen @c output,N'SELECT a FROM t',@s output,@o output,@r output", "SELECT a FROM t;"),
    ("exec sp_cursorprepexec @h output,@c output,N'@P1 int',N'SELECT a FROM t',1,2,3", "SELECT a FROM t;"),
    ("exec sp_execute 3442,N'x',5", "exec sp_execute ?,?,?"),
    ("(@P1 int,@P2 decimal(18,2))UPDATE t SET a=@P1 WHERE b=@P2", "UPDATE t SET a=? WHERE b=?"),
    ("EXEC ('SELECT a ' + 'FROM t')", "SELECT a FROM t;"),
    ("EXEC('SELECT * FROM ' + @t + ' JOIN u ON 1=1')", "SELECT * FROM ?? JOIN u ON ?=?;"),
    ("EXEC (@sql)", "EXEC (@sql)"),
    ("EXEC ('SELECT a FROM t') AT other", "EXEC (SELECT a FROM t) AT other"),
    ("exec sp_executesql N'exec sp_executesql N''SELECT ''''x'''' FROM t'''", "SELECT ? FROM t; ;"),
    ("PRINT 'exec sp_executesql N''DROP TABLE t'''", "PRINT ?"),
    ("exec sp_executesql N'SELECT a FROM t WHERE b = ''cut", "SELECT a FROM t WHERE b = ?"),
    ("SELECT 1 FROM a\nGO 5\nSELECT 2 FROM b\ngo", "SELECT ? FROM a ; GO ; SELECT ? FROM b ; GO ;"),
]
# Of texts in double quotes: what is stored, and whether a note says that one may be a column.
QUOTED = [
    ('SELECT "Order Date" INTO n FROM "dbo"."t"', None, False),
    ('SELECT t."a b", "c" INTO n FROM t', None, False),
    ('SELECT "Order Date", b INTO n FROM t ORDER BY "Order Date"', None, False),
    ('SELECT a + "b" INTO n FROM "t" WHERE "c d" = "e"', None, False),
    ('UPDATE t SET "a" = "b"', None, False),
    ('SELECT a INTO n FROM "t" WHERE b IN (SELECT "c" FROM u)', None, False),
    ('INSERT INTO t (x, "a b") SELECT y, "c" FROM u', None, False),
    ('CREATE TABLE t ("a" int DEFAULT ("x"))', 'CREATE TABLE t ("a" int DEFAULT (?))', False),
    ('WITH c AS (SELECT a FROM "t") SELECT "a" INTO n FROM c', None, False),
    ('MERGE t USING u ON t.i = u.i WHEN NOT MATCHED THEN INSERT ("i") VALUES (u."i");', None, False),
    ('SELECT a INTO n FROM t PIVOT (SUM(x) FOR y IN ("a", "b")) p', None, False),
    ('SET QUOTED_IDENTIFIER ON SELECT "a b" INTO n FROM t', None, False),
    ('SET ANSI_NULLS, QUOTED_IDENTIFIER ON SELECT "a b" INTO n FROM t', None, False),
    ('SET QUOTED_IDENTIFIER ON SELECT "a" INTO n FROM t SET QUOTED_IDENTIFIER OFF', 'SET QUOTED_IDENTIFIER ON SELECT "?" INTO n FROM t SET QUOTED_IDENTIFIER OFF', True),
    ('SELECT a AS "x y" INTO n FROM t', None, False),
    ('SELECT a "x y", "z" = b INTO n FROM t', "SELECT a [x y], [z] = b INTO n FROM t", False),
    ('SELECT CHARINDEX("x", a) AS c INTO n FROM t', 'SELECT CHARINDEX("?", a) AS c INTO n FROM t', True),
    ('SELECT "Order Date" INTO n FROM t', 'SELECT "?" INTO n FROM t', True),
    ('SELECT "x" + a AS c INTO n FROM t', 'SELECT "?" + a AS c INTO n FROM t', True),
    ('SELECT a INTO n FROM t, "u"', 'SELECT a INTO n FROM t, "?"', True),
    ('DELETE FROM "t" WHERE a = "x@y.z"', 'DELETE FROM "t" WHERE a = "?"', True),
    ('SELECT f("2024-01-01") AS c INTO n FROM "t"', 'SELECT f("?") AS c INTO n FROM "t"', True),
    ('INSERT INTO "t" (a) VALUES ("x")', 'INSERT INTO "t" (a) VALUES ("?")', True),
    ('SELECT a INTO n FROM t WHERE b = "x" AND c LIKE "y"', "SELECT a INTO n FROM t WHERE b = ? AND c LIKE ?", False),
    ('SELECT ISNULL(a, "") AS a INTO n FROM t', "SELECT ISNULL(a, ?) AS a INTO n FROM t", False),
    ('EXEC p @a = 1, "b c"', "EXEC p @a = ?, ?", False),
    ('EXEC "p" "b"', 'EXEC "p" ?', False),
    ('SET QUOTED_IDENTIFIER OFF SELECT f("x") y, "z" INTO n FROM t', "SET QUOTED_IDENTIFIER OFF SELECT f(?) y, ? INTO n FROM t", False),
    ('SET QUOTED_IDENTIFIER, ANSI_NULLS OFF SELECT f("x") y INTO n FROM t', "SET QUOTED_IDENTIFIER, ANSI_NULLS OFF SELECT f(?) y INTO n FROM t", False),
]
# fmt: on


@for_each("text, stored, is_noted", QUOTED, ids=[c[0] for c in QUOTED])
def test_a_text_in_double_quotes_is_a_name_where_the_text_shows_it(
    text: str, stored: str | None, is_noted: bool
) -> None:
    assert normalise(text, TSQL) == (stored or text)
    assert any(shape.reason for shape in parse(text, TSQL)) is is_noted


@for_each("what, dialect, one, other", SAME, ids=[c[0] for c in SAME])
def test_texts_that_differ_only_in_these_have_one_shape(
    what: str, dialect: Dialect, one: str, other: str
) -> None:
    assert normalise(one, dialect) == normalise(other, dialect)


@for_each("what, dialect, one, other", DIFFERENT, ids=[c[0] for c in DIFFERENT])
def test_texts_that_differ_in_these_have_two(
    what: str, dialect: Dialect, one: str, other: str
) -> None:
    assert normalise(one, dialect) != normalise(other, dialect)


@for_each("text, normal", UNWRAPPED, ids=[c[0][:50] for c in UNWRAPPED])
def test_a_call_that_carries_a_statement_becomes_that_statement(text: str, normal: str) -> None:
    assert normalise(text, TSQL) == normal


@for_each(
    "text, dialect",
    [(case[i], case[1]) for case in SAME + DIFFERENT for i in (2, 3)]
    + [(case[0], TSQL) for case in (*UNWRAPPED, *QUOTED)],
)
def test_normalising_twice_changes_nothing(text: str, dialect: Dialect) -> None:
    once = normalise(text, dialect)
    assert normalise(once, dialect) == once


@for_each(
    "text",
    [
        "SELECT a FROM t WHERE b = 'secret99'",
        "SELECT a FROM t -- secret99",
        "/* secret99 */ DELETE FROM t",
        "SELECT a FROM t WHERE b = 'secret99 cut off",
        "SELECT a FROM t /* secret99 cut off",
        "exec sp_executesql N'SELECT a FROM t WHERE b=@b', N'@b nvarchar(9)', @b=N'secret99'",
        "exec sp_prepexec @p1 output,N'@P1 int',N'INSERT t VALUES (@P1)',N'secret99'",
        "EXEC ('SELECT a FROM t WHERE b = ''secret99''')",
        "INSERT t VALUES ('a', 'secret99'), ('secret99', 5)",
        'INSERT t VALUES ("secret99 ' + "x" * 200 + '")',
        "CREATE LOGIN x WITH PASSWORD = N'secret99'",
        "OPEN SYMMETRIC KEY k DECRYPTION BY PASSWORD = 'secret99'",
        "FROBNICATE t FROM 'secret99'",
        "SELECT TOP (5) 'secret99', a FROM t",
        "SELECT @a = 1 EXEC p 'secret99'",
        "SELECT 1 WAITFOR DELAY 'secret99'",
        "SELECT a AT TIME ZONE 'secret99', {d 'secret99'} FROM t WHERE b LIKE 'secret99'",
        "SELECT a FROM OPENJSON(@j) WITH (a int 'secret99', b varchar(9) 'secret99')",
        'SELECT a FROM t WHERE b = "secret99" AND c LIKE "secret99%"',
        'SELECT a FROM t WHERE b IN ("secret99", 5, "x secret99")',
        'SELECT a FROM t WHERE b = "secret99 cut off',
        'INSERT t VALUES (1, "secret99"), (2, f("x"), "secret99")',
        'EXEC p "secret99", @b = "secret99"',
        'EXEC p @a = 1, "secret99", @b OUTPUT, "secret99 x"',
        'PRINT "secret99"',
        'SELECT "secret99", f("secret99"), (1 + ISNULL(a, "secret99")) FROM t',
        'SELECT CASE "secret99" WHEN b THEN "secret99" END FROM t WHERE b BETWEEN "a" AND "secret99"',
        'SELECT a FROM t WHERE "secret99" = b OR b = UPPER("secret99") OR "secret99" IN (b, c)',
        'SELECT a FROM "t" WHERE b = "secret99@example.com" OR b = f("secret99@example.com")',
        'INSERT INTO "t" ("a") VALUES ("secret99")',
        "INSERT INTO OPENQUERY(s, \"SELECT a FROM t WHERE b = 'secret99'\") SELECT a FROM t",
        'WAITFOR DELAY "secret99"',
        'SET QUOTED_IDENTIFIER OFF SELECT "secret99", f("secret99") FROM t',
        "DECLARE @s varchar(99) = 'secret99'; EXEC ('SELECT a FROM t WHERE b = ''' + @s + '''')",
        "SELECT a FROM OPENROWSET('x', 'Server=s;Uid=u;Pwd=secret99', 'SELECT a FROM t') x",
        "SELECT a FROM OPENDATASOURCE('x', 'Data Source=s;Password=secret99').d.dbo.t x",
        "SELECT a FROM OPENQUERY(s, 'SELECT a FROM t WHERE b = ''secret99''') x",
        "EXEC ('SELECT a FROM t WHERE b = ''secret99''') AT s",
        "DECLARE @s sysname = 'secret99'; EXEC ('SELECT a FROM t WHERE b = ' + QUOTENAME(@s, ''''))",
    ],
)
def test_no_literal_survives(text: str) -> None:
    shapes = parse(text, TSQL)
    assert shapes
    assert "secret99" not in repr(shapes)


def test_a_fingerprint_is_the_same_everywhere_and_holds_its_version() -> None:
    (shape,) = parse("SELECT a FROM t WHERE b = 5", TSQL)
    assert shape.shape_id == f"{VERSION}-4fbb75f49173ef7a543f"
    assert shape.text == "SELECT a FROM t WHERE b = ?"


def test_the_same_text_in_another_dialect_is_another_shape() -> None:
    (tsql,), (spark,) = (parse("SELECT a FROM t", dialect) for dialect in (TSQL, SPARK))
    assert tsql.shape_id != spark.shape_id


def test_a_statement_has_one_shape_alone_and_in_a_batch() -> None:
    (alone,) = parse("DELETE FROM t WHERE a = 1", TSQL)
    batch = parse("SET NOCOUNT ON DELETE FROM t WHERE a = 2; SELECT 1", TSQL)
    assert alone.shape_id in {shape.shape_id for shape in batch}
