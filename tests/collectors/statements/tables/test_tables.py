"""Tables that a statement reads and writes: one line a case, `SQL`, reads, writes.

A write is written `OPERATION name`; several names stand with spaces between them.
"""

# ruff: noqa: E501 (one line a case)

import pytest

from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.records import Direction, Outcome
from tests.cases import for_each

# fmt: off
TSQL = [
    # queries
    ("SELECT a FROM t", "t", ""),
    ("select a from dbo.t as x where x.a = 'from u'", "dbo.t", ""),
    ("SELECT * FROM Db.dbo.t, db..u v, [srv].[d b].[s].[t.x]", "Db.dbo.t db..u srv.d b.s.t.x", ""),
    ('SELECT * FROM "a b"."c" JOIN [x]]y] ON 1 = 1', "a b.c x]y", ""),
    ("SELECT * FROM a LEFT OUTER JOIN b ON a.i = b.i CROSS JOIN c, d FULL JOIN e ON 1=1", "a b c d e", ""),
    ("SELECT * FROM (a JOIN b ON a.i = b.i) JOIN c ON 1 = 1", "a b c", ""),
    ("SELECT * FROM (SELECT * FROM (SELECT * FROM a) x) y", "a", ""),
    ("SELECT (SELECT MAX(i) FROM b) FROM a WHERE EXISTS (SELECT 1 FROM c) AND i IN (SELECT i FROM d)", "a b c d", ""),
    ("SELECT i FROM a UNION ALL SELECT i FROM b EXCEPT SELECT i FROM c", "a b c", ""),
    ("SELECT * FROM t WITH (NOLOCK, INDEX(ix)) , u (nolock) x, v", "t u v", ""),
    ("SELECT * FROM t FOR SYSTEM_TIME AS OF '2026-01-01' x, u", "t u", ""),
    ("SELECT * FROM t FOR SYSTEM_TIME FROM @a TO @b JOIN u ON 1=1", "t u", ""),
    ("SELECT * FROM t CROSS APPLY dbo.split(t.a, ',') s OUTER APPLY (SELECT * FROM u) w", "t u", ""),
    ("SELECT * FROM OPENJSON(@j) WITH (a int '$.a') j JOIN t ON 1=1", "t", ""),
    ("SELECT * FROM (VALUES (1),(2)) v(a), t", "t", ""),
    ("SELECT * FROM t PIVOT (SUM(x) FOR y IN ([a],[b])) p", "t", ""),
    ("SELECT a FROM t WHERE b IS DISTINCT FROM c ORDER BY a OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY", "t", ""),
    ("SELECT EXTRACT(day FROM x), TRIM('a' FROM y) FROM t", "t", ""),
    ("SELECT a FROM t GROUP BY a, b ORDER BY a, b OPTION (MERGE JOIN, USE HINT('x'))", "t", ""),
    ("SELECT (SELECT a, b FROM t FOR JSON PATH) AS j FROM u FOR XML PATH(''), ROOT('r')", "t u", ""),
    ("SELECT [from], a.[join] FROM [select] a", "select", ""),
    ("SELECT /* FROM x */ a -- FROM y\nFROM t", "t", ""),
    ("SELECT * FROM {oj a LEFT OUTER JOIN b ON a.i = b.i} WHERE d > {ts '2026-01-01 00:00:00'}", "a b", ""),
    ("SELECT * FROM #t JOIN ##g ON 1=1 JOIN @v x ON 1=1 JOIN tempdb..#u ON 1=1", "#t ##g @v #u", ""),
    ("SELECT @x.query('a') FROM t CROSS APPLY t.x.nodes('/a') AS n(c)", "t", ""),
    # common table expressions
    ("WITH c AS (SELECT * FROM a) SELECT * FROM c JOIN dbo.c ON 1=1", "a dbo.c", ""),
    (";WITH c (x, y) AS (SELECT 1, 2 FROM a), d AS (SELECT * FROM c JOIN b ON 1=1) SELECT * FROM d", "a b", ""),
    ("WITH r AS (SELECT i FROM t UNION ALL SELECT t.i FROM t JOIN r ON 1=1) SELECT * FROM r", "t", ""),
    ("WITH c AS (SELECT * FROM a) INSERT INTO t (x) SELECT x FROM c", "a", "INSERT t"),
    ("WITH c AS (SELECT *, ROW_NUMBER() OVER (ORDER BY x) n FROM dbo.t) DELETE FROM c WHERE n > 1", "", "DELETE dbo.t"),
    ("WITH c AS (SELECT * FROM dbo.t) UPDATE c SET a = 1", "dbo.t", "UPDATE dbo.t"),
    ("WITH s AS (SELECT * FROM a) MERGE t USING s ON 1=1 WHEN MATCHED THEN UPDATE SET t.x = s.x;", "a", "MERGE t"),
    # writes
    ("SELECT a, b INTO #x FROM dbo.t WHERE a > 5", "dbo.t", "SELECT INTO #x"),
    ("SELECT * INTO db.dbo.n FROM a JOIN b ON 1=1", "a b", "SELECT INTO db.dbo.n"),
    ("INSERT INTO dbo.t (a, b) VALUES (1, 'x'), (2, N'y')", "", "INSERT dbo.t"),
    ("INSERT t DEFAULT VALUES", "", "INSERT t"),
    ("INSERT TOP (10) INTO t (a) SELECT a FROM u", "u", "INSERT t"),
    ("INSERT INTO t WITH (TABLOCK) (a) SELECT a FROM u", "u", "INSERT t"),
    ("INSERT INTO t EXEC dbo.p @a = 1", "", "INSERT t"),
    ("INSERT #t EXEC ('select * from dbo.src')", "dbo.src", "INSERT #t"),
    ("INSERT INTO t (a) OUTPUT inserted.a INTO @ids (a) SELECT a FROM u", "u", "INSERT t INSERT @ids"),
    ("INSERT INTO a SELECT * FROM (DELETE FROM b OUTPUT deleted.* WHERE x = 1) g", "b", "INSERT a DELETE b"),
    ("UPDATE t SET a = 1 WHERE b = 2", "", "UPDATE t"),
    ("UPDATE TOP (5) dbo.t SET a = (SELECT MAX(a) FROM u)", "u", "UPDATE dbo.t"),
    ("UPDATE p SET p.a = s.a FROM d.dbo.products AS p JOIN d.dbo.suppliers s ON 1=1", "d.dbo.products d.dbo.suppliers", "UPDATE d.dbo.products"),
    ("UPDATE x SET a = 1 FROM dbo.x INNER MERGE JOIN dbo.y ON 1=1", "dbo.x dbo.y", "UPDATE dbo.x"),
    ("UPDATE d SET a = 1 FROM (SELECT * FROM t WHERE b = 1) d", "t", "UPDATE t"),
    ("UPDATE t SET a += 1 OUTPUT deleted.a INTO dbo.old FROM u", "t u", "UPDATE t INSERT dbo.old"),
    ("DELETE FROM t WHERE a IN (SELECT a FROM u)", "u", "DELETE t"),
    ("DELETE t", "", "DELETE t"),
    ("DELETE TOP (3) FROM t", "", "DELETE t"),
    ("DELETE p FROM dbo.p AS p JOIN #gone g ON p.i = g.i", "#gone", "DELETE dbo.p"),
    ("DELETE FROM a FROM dbo.big a INNER JOIN u ON 1=1", "u", "DELETE dbo.big"),
    ("DELETE q OUTPUT deleted.i INTO dbo.log (i) FROM dbo.queue q", "dbo.queue", "DELETE dbo.queue INSERT dbo.log"),
    ("MERGE INTO t WITH (HOLDLOCK) AS x USING (SELECT * FROM #s) AS s ON x.i = s.i WHEN MATCHED THEN UPDATE SET a = s.a WHEN NOT MATCHED THEN INSERT (i, a) VALUES (s.i, s.a) WHEN NOT MATCHED BY SOURCE THEN DELETE;", "#s", "MERGE t"),
    ("MERGE TOP (5) dbo.t USING u ON 1=1 WHEN MATCHED THEN DELETE OUTPUT $action, deleted.i INTO @l;", "u dbo.t", "MERGE dbo.t INSERT @l"),
    ("TRUNCATE TABLE db.dbo.t", "", "TRUNCATE db.dbo.t"),
    ("DROP TABLE IF EXISTS a, dbo.b", "", "DROP a DROP dbo.b"),
    ("DROP VIEW v", "", "DROP v"),
    ("DROP INDEX ix ON t", "", ""),
    ("CREATE TABLE dbo.t (id int PRIMARY KEY, CONSTRAINT f FOREIGN KEY (id) REFERENCES u (id) ON DELETE CASCADE)", "", "CREATE TABLE dbo.t"),
    ("CREATE TABLE t WITH (DISTRIBUTION = HASH(a)) AS SELECT * FROM u", "u", "CREATE TABLE AS t"),
    ("CREATE OR ALTER VIEW dbo.v WITH SCHEMABINDING AS WITH c AS (SELECT * FROM a) SELECT * FROM c", "a", "CREATE VIEW dbo.v"),
    ("ALTER VIEW v (x) AS SELECT a FROM t WITH CHECK OPTION", "t", "CREATE VIEW v"),
    ("CREATE SYNONYM dbo.s FOR other.dbo.t", "other.dbo.t", "CREATE SYNONYM dbo.s"),
    ("ALTER TABLE t ADD c int NULL", "", "ALTER t"),
    ("ALTER TABLE a SWITCH PARTITION 3 TO dbo.b PARTITION 3", "a", "SWITCH dbo.b"),
    ("BULK INSERT t FROM 'c:\\x.csv' WITH (FIRSTROW = 2)", "c:\\x.csv", "BULK INSERT t"),
    ("insert bulk t ([a] INT, [b] nvarchar(10)) with (TABLOCK)", "", "BULK INSERT t"),
    ("DECLARE c CURSOR FOR SELECT a FROM t FOR UPDATE", "t", ""),
    # what moves no data
    ("EXEC dbo.p @a = 'x'", "", ""),
    ("{call dbo.p(1)}", "", ""),
    ("UPDATE STATISTICS t", "", ""),
    ("GRANT SELECT ON t TO u", "", ""),
    ("SET FMTONLY ON select * from T SET FMTONLY OFF", "", ""),
    ("exec sp_describe_undeclared_parameters N'INSERT INTO t VALUES (@P1)'", "", ""),
    ("CREATE PROCEDURE p AS SELECT * FROM t; DELETE FROM u", "t", "DELETE u"),
    # cut off
    ("SELECT a FROM t WHERE b = 'cut off he", "t", ""),
    ("SELECT a FROM [cut o", "", ""),
    ("SELECT a FROM t JOIN dbo.", "t", ""),
    ("INSERT INTO t (a, b", "", "INSERT t"),
    ("SELECT a FROM t WHERE i IN (SELECT i FROM u WHERE (x", "t u", ""),
    ("MERGE INTO t USING u /* never en", "u", "MERGE t"),
]

SPARK = [
    ("SELECT * FROM raw.orders o JOIN `raw`.`order items` i ON o.id = i.id", "raw.orders raw.order items", ""),
    ('SELECT * FROM t WHERE a = "from u" AND b = \'it\\\'s from v\'', "t", ""),
    ("INSERT INTO TABLE a.b PARTITION (d = '2026-01-01') SELECT * FROM c", "c", "INSERT a.b"),
    ("INSERT OVERWRITE a.b SELECT * FROM c LATERAL VIEW explode(x) t AS k, v LEFT SEMI JOIN e ON 1=1", "c e", "INSERT OVERWRITE a.b"),
    ("INSERT INTO t TABLE u", "u", "INSERT t"),
    ("INSERT INTO t WITH c AS (SELECT * FROM a) SELECT * FROM c", "a", "INSERT t"),
    ("INSERT INTO t REPLACE WHERE d = 1 SELECT * FROM u", "u", "INSERT t"),
    ("INSERT OVERWRITE DIRECTORY '/tmp/x' USING parquet SELECT * FROM t", "t", "INSERT OVERWRITE /tmp/x"),
    ("FROM src INSERT OVERWRITE TABLE x SELECT a INSERT INTO y SELECT b", "src", "INSERT OVERWRITE x INSERT y"),
    ("CREATE TABLE t USING delta PARTITIONED BY (d) AS SELECT * FROM u", "u", "CREATE TABLE AS t"),
    ("CREATE OR REPLACE TABLE c.s.t AS WITH o AS (SELECT * FROM o) SELECT * FROM o", "o", "CREATE TABLE AS c.s.t"),
    ("REPLACE TABLE t AS SELECT 1 AS a FROM u", "u", "CREATE TABLE AS t"),
    ("CREATE TABLE IF NOT EXISTS t (a INT, s STRUCT<x: INT, y: STRING>) USING parquet", "", "CREATE TABLE t"),
    ("CREATE TABLE a LIKE b", "b", "CREATE TABLE LIKE a"),
    ("CREATE TABLE a SHALLOW CLONE b", "b", "CREATE TABLE AS a"),
    ("CREATE OR REPLACE VIEW v AS SELECT * FROM t", "t", "CREATE VIEW v"),
    ("MERGE INTO t USING u ON t.i = u.i WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *", "u", "MERGE t"),
    ("MERGE WITH SCHEMA EVOLUTION INTO t USING (SELECT * FROM u) s ON 1=1 WHEN MATCHED THEN DELETE", "u", "MERGE t"),
    ("UPDATE t SET a = 1 WHERE b IN (SELECT b FROM u)", "u", "UPDATE t"),
    ("DELETE FROM t WHERE a = 1", "", "DELETE t"),
    ("TRUNCATE TABLE t", "", "TRUNCATE t"),
    ("DROP TABLE IF EXISTS t", "", "DROP t"),
    ("ALTER TABLE a RENAME TO b", "a", "RENAME b"),
    ("ALTER TABLE a RENAME COLUMN b TO c", "", "ALTER a"),
    ("LOAD DATA LOCAL INPATH '/x' OVERWRITE INTO TABLE t", "/x", "LOAD DATA t"),
    ("SELECT * FROM range(10) r, VALUES (1) AS v(a), t TABLESAMPLE (10 PERCENT)", "t", ""),
    ("SELECT * FROM t VERSION AS OF 3 JOIN u TIMESTAMP AS OF '2026-01-01' ON 1=1", "t u", ""),
    ("SELECT * FROM a LEFT ANTI JOIN b USING (i, j)", "a b", ""),
    ("SELECT arr[0], m['k'] FROM t ORDER BY a, b", "t", ""),
    ("SELECT * FROM t, LATERAL (SELECT * FROM u) x", "t u", ""),
    ("SELECT a FROM t UNION ALL TABLE u", "t u", ""),
    ("FROM t |> WHERE a > 1 |> JOIN u ON 1=1 |> SELECT a", "t u", ""),
    ("SHOW TABLES FROM db", "", ""),
    ("SET spark.sql.shuffle.partitions = 8", "", ""),
    ("CACHE TABLE t", "t", ""),
]
# fmt: on


def accesses(sql: str, dialect: Dialect) -> tuple[list[str], list[str]]:
    found = [access for shape in parse(sql, dialect) for access in shape.accesses]
    reads = [".".join(a.name) for a in found if a.direction is Direction.READ]
    writes = [f"{a.operation} {'.'.join(a.name)}" for a in found if a.direction is Direction.WRITE]
    return words(*reads), words(*writes)


def words(*names: str) -> list[str]:
    """All words of some names, so that names with spaces compare too."""
    return sorted(word for name in names for word in name.split())


@for_each("sql, reads, writes", TSQL)
def test_tables_of_tsql(sql: str, reads: str, writes: str) -> None:
    assert accesses(sql, Dialect.TSQL) == (words(reads), words(writes))


@for_each("sql, reads, writes", SPARK)
def test_tables_of_spark(sql: str, reads: str, writes: str) -> None:
    assert accesses(sql, Dialect.SPARK) == (words(reads), words(writes))


@for_each(
    "sql, dialect, kind",
    [
        ("SELECT * FROM t", Dialect.TSQL, Kind.TABLE),
        ("SELECT * FROM #t", Dialect.TSQL, Kind.TEMPORARY),
        ("SELECT * FROM tempdb..##t", Dialect.TSQL, Kind.TEMPORARY),
        ("INSERT INTO @t VALUES (1)", Dialect.TSQL, Kind.TEMPORARY),
        ("CREATE VIEW v AS SELECT 1 AS a", Dialect.TSQL, Kind.VIEW),
        ("DROP VIEW v", Dialect.TSQL, Kind.VIEW),
        ("CREATE TEMP VIEW v AS SELECT 1 AS a", Dialect.SPARK, Kind.TEMPORARY),
        ("SELECT * FROM parquet.`/landing/a b`", Dialect.SPARK, Kind.PATH),
        ("SELECT * FROM delta.t", Dialect.SPARK, Kind.TABLE),
    ],
)
def test_the_kind_of_a_table_shows_in_its_name_or_statement(
    sql: str, dialect: Dialect, kind: Kind
) -> None:
    (shape,) = parse(sql, dialect)
    assert [access.kind for access in shape.accesses] == [kind]


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("INSERT INTO t (a, [b c]) VALUES (1, 2)", [("a", ""), ("b c", "")]),
        ("INSERT INTO t SELECT a FROM u", []),
        (
            "CREATE TABLE t (id int NOT NULL, name nvarchar(50), PRIMARY KEY (id))",
            [("id", "int"), ("name", "nvarchar")],
        ),
        (
            "MERGE t USING u ON 1=1 WHEN NOT MATCHED THEN INSERT (a, b) VALUES (u.a, u.b);",
            [("a", ""), ("b", "")],
        ),
        ("insert bulk t ([a] INT, [b] varchar(5))", [("a", "INT"), ("b", "varchar")]),
    ],
)
def test_columns_that_a_write_names(sql: str, columns: list[tuple[str, str]]) -> None:
    (shape,) = parse(sql, Dialect.TSQL)
    (write,) = [access for access in shape.accesses if access.direction is Direction.WRITE]
    assert list(write.columns) == columns


def test_a_database_chosen_inside_a_batch_holds_for_what_follows() -> None:
    shapes = parse("SELECT * FROM a; USE [Other Db]; SELECT * FROM b", Dialect.TSQL)
    assert [(s.verb, s.database) for s in shapes] == [
        ("SELECT", None),
        ("USE", None),
        ("SELECT", "Other Db"),
    ]


@for_each(
    "sql, dialect, parser, outcome, reason",
    [
        ("SELECT a FROM t", "tsql", "sqlglot", Outcome.PARSED, None),
        (
            "BULK INSERT t FROM 'x'",
            "tsql",
            "sqlglot",
            Outcome.PARTIAL,
            "the file that is read is not known",
        ),
        (
            "SELECT a FROM t WHERE (",
            "tsql",
            "sqlglot",
            Outcome.PARTIAL,
            "columns not resolved: the parser does not support this statement",
        ),
        (
            "REPLACE INTO t SELECT a FROM u",
            "spark",
            "sql-metadata",
            Outcome.PARTIAL,
            "statement not supported: REPLACE",
        ),
        (
            "FROBNICATE t FROM u",
            "spark",
            "sql-metadata",
            Outcome.FAILED,
            "statement not supported: FROBNICATE",
        ),
        ("sp_help 't'", "tsql", "sqlglot", Outcome.PARSED, None),
    ],
)
def test_who_decided_and_how_sure_it_is(
    sql: str, dialect: str, parser: str, outcome: Outcome, reason: str | None
) -> None:
    (shape,) = parse(sql, Dialect(dialect))
    assert (shape.parser, shape.outcome) == (parser, outcome)
    assert (reason or "") in (shape.reason or "")
    assert (shape.reason is None) == (outcome is Outcome.PARSED)


def test_the_last_resort_goes_by_the_last_keyword() -> None:
    (shape,) = parse("REPLACE INTO a.t SELECT x FROM b.u JOIN v ON 1 = 1", Dialect.SPARK)
    assert (shape.reads, shape.writes) == ({"b.u", "v"}, {"a.t"})
