"""Paths, names and statements that Spark SQL keeps in quotes: none of them is lost as a literal."""

# ruff: noqa: E501 (one line a case)

from collections.abc import Callable

from dbt_graft.collectors.statements.normalise import normalise
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.dataset import Kind
from tests.cases import for_each

# fmt: off
PATHS = [
    ("SELECT * FROM parquet.`/landing/a b`", "/landing/a b", ""),
    ("SELECT * FROM PARQUET.`s3://bucket/x/*.parquet` p JOIN t ON 1 = 1", "s3://bucket/x/*.parquet t", ""),
    ("SELECT * FROM csv.`/x`, json.`/y`, orc.`/z`, text.`/w`, avro.`/v`, binaryFile.`/u`", "/x /y /z /w /v /u", ""),
    ("SELECT * FROM delta.`abfss://c@a.dfs.core.windows.net/x`", "abfss://c@a.dfs.core.windows.net/x", ""),
    ("SELECT * FROM delta.`/x@v3`", "/x", ""),
    ("SELECT * FROM delta.`/x` VERSION AS OF 3", "/x", ""),
    ("INSERT INTO delta.`/x` SELECT * FROM t", "t", "INSERT /x"),
    ("MERGE INTO delta.`/x` d USING parquet.`/y` p ON d.i = p.i WHEN MATCHED THEN DELETE", "/y", "MERGE /x"),
    ("DELETE FROM delta.`/x` WHERE a = 1", "", "DELETE /x"),
    ("CREATE TABLE delta.`/x` USING delta AS SELECT * FROM t", "t", "CREATE TABLE AS /x"),
    ("CREATE TABLE t AS SELECT * FROM parquet.`/x`", "/x", "CREATE TABLE AS t"),
    ("CONVERT TO DELTA parquet.`/x` PARTITIONED BY (d DATE)", "", "CONVERT /x"),
    ("INSERT OVERWRITE DIRECTORY '/x' USING parquet SELECT * FROM t", "t", "INSERT OVERWRITE /x"),
    ("INSERT OVERWRITE LOCAL DIRECTORY '/x' STORED AS orc SELECT * FROM t", "t", "INSERT OVERWRITE /x"),
    ("INSERT OVERWRITE DIRECTORY \"/x\" ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' SELECT * FROM t", "t", "INSERT OVERWRITE /x"),
    ("INSERT OVERWRITE DIRECTORY USING parquet OPTIONS (path '/x') SELECT * FROM t", "t", ""),
    ("FROM s INSERT OVERWRITE DIRECTORY '/x' SELECT a INSERT INTO t SELECT b", "s", "INSERT OVERWRITE /x INSERT t"),
    ("LOAD DATA INPATH '/x' INTO TABLE s.t", "/x", "LOAD DATA s.t"),
    ("LOAD DATA LOCAL INPATH '/x' OVERWRITE INTO TABLE t PARTITION (d = 1)", "/x", "LOAD DATA t"),
    ("COPY INTO t FROM '/x' FILEFORMAT = CSV FORMAT_OPTIONS ('header' = 'true')", "/x", "COPY INTO t"),
    ("COPY INTO s.t FROM (SELECT a::int, _metadata FROM 's3://b/x') FILEFORMAT = JSON PATTERN = '*.json'", "s3://b/x", "COPY INTO s.t"),
    ("COPY INTO delta.`/y` FROM '/x' FILEFORMAT = PARQUET", "/x", "COPY INTO /y"),
    ("SELECT * FROM read_files('/x', format => 'csv') r JOIN t ON 1 = 1", "/x t", ""),
    ("CREATE STREAMING TABLE t AS SELECT * FROM STREAM read_files('s3://b/x')", "s3://b/x", "CREATE TABLE AS t"),
    ("CREATE TEMPORARY VIEW v USING csv OPTIONS (header 'true', path '/x')", "/x", "CREATE VIEW v"),
    ("CREATE OR REPLACE TEMP VIEW v (a INT) USING org.apache.spark.sql.parquet OPTIONS (path = '/x')", "/x", "CREATE VIEW v"),
    ("SELECT * FROM parquet.`/cut o", "", ""),
]
NAMES = [
    ("SELECT * FROM IDENTIFIER('s.t')", "s.t", ""),
    ("SELECT * FROM IDENTIFIER('s.' || 't') x JOIN u ON 1 = 1", "s.t u", ""),
    ("SELECT * FROM IDENTIFIER('`a b`.t')", "a b.t", ""),
    ("INSERT INTO IDENTIFIER('s.t') SELECT * FROM u", "u", "INSERT s.t"),
    ("SELECT * FROM IDENTIFIER(:name) JOIN u ON 1 = 1", "u", ""),
    ("SELECT * FROM ${hiveconf:db}.t JOIN u ON a = ${x}", "u", ""),
    ("SELECT * FROM table_changes('s.t', 2, 5) c", "s.t", ""),
]
STATEMENTS = [
    ("EXECUTE IMMEDIATE 'SELECT * FROM t'", "t", ""),
    ("EXECUTE IMMEDIATE 'INSERT INTO t SELECT * FROM u WHERE a = ?' USING 5", "u", "INSERT t"),
    ("EXECUTE IMMEDIATE \"SELECT max(a) FROM t WHERE b = 'x'\" INTO m USING 1 AS p", "t", ""),
    ("EXECUTE IMMEDIATE 'SELECT * FROM t WHERE d = ' || v || ' AND e IN (SELECT e FROM u)'", "t u", ""),
    ("DECLARE q STRING DEFAULT 'DELETE FROM t'; EXECUTE IMMEDIATE q", "", "DELETE t"),
    ("DECLARE q STRING; SET VAR q = 'SELECT * FROM t'; EXECUTE IMMEDIATE q", "t", ""),
    ("EXECUTE IMMEDIATE q", "", ""),
    ("EXECUTE IMMEDIATE 'EXECUTE IMMEDIATE \\'SELECT * FROM t\\''", "t", ""),
    ("EXECUTE IMMEDIATE 'SELECT * FROM t; cut", "t", ""),
]
# fmt: on
CASES = PATHS + NAMES + STATEMENTS


@for_each("sql, reads, writes", CASES)
def test_tables_and_paths(
    sql: str, reads: str, writes: str, tables: Callable[[str, str, str], None]
) -> None:
    tables(sql, reads, writes)


@for_each("sql", [case[0] for case in PATHS])
def test_a_path_is_no_table(sql: str) -> None:
    for shape in parse(sql, Dialect.SPARK):
        for access in shape.accesses:
            is_path = access.kind is Kind.PATH
            assert is_path == (access.name[0].startswith(("/", "s3://", "abfss://")))


@for_each("sql", [case[0] for case in CASES])
def test_showing_them_twice_changes_nothing(sql: str) -> None:
    once = normalise(sql, Dialect.SPARK)
    assert normalise(once, Dialect.SPARK) == once


@for_each(
    "sql",
    [
        "SELECT * FROM parquet.`s3a://key:secret99@bucket/x`",
        "COPY INTO t FROM 's3a://key:secret99@bucket/x'",
        "COPY INTO t FROM 'https://a.blob.core.windows.net/c?sig=secret99&x=1'",
        "COPY INTO t FROM '/x' WITH (CREDENTIAL (AWS_SECRET_KEY = 'secret99'))",
        "INSERT OVERWRITE DIRECTORY '/x' USING csv OPTIONS (password 'secret99') SELECT 1",
        "CALL system.my_procedure('secret99')",
        "EXECUTE IMMEDIATE 'SELECT * FROM t WHERE a = \\'secret99\\''",
        "EXECUTE IMMEDIATE 'SELECT * FROM t WHERE a = ?' USING 'secret99'",
        "DECLARE q STRING DEFAULT 'secret99'; EXECUTE IMMEDIATE 'SELECT * FROM t WHERE a = \\'' || q || '\\''",
        "SELECT * FROM IDENTIFIER('secret99 is no name')",
        "CREATE TEMP VIEW v USING jdbc OPTIONS (url 'jdbc:x:secret99', path '/x')",
    ],
)
def test_no_secret_comes_with_them(sql: str) -> None:
    shapes = parse(sql, Dialect.SPARK)
    assert shapes
    assert "secret99" not in repr(shapes)
