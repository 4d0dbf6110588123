"""SQL scripting in Spark: the statements inside a compound statement, and what they ask first."""

# ruff: noqa: E501 (one line a case)

from collections.abc import Callable

import pytest

from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect

# fmt: off
CASES = [
    ("SELECT * FROM a; INSERT INTO b SELECT 1;; DELETE FROM c", "a", "INSERT b DELETE c"),
    ("BEGIN INSERT INTO t SELECT * FROM u; DELETE FROM v; END", "u", "INSERT t DELETE v"),
    ("BEGIN DECLARE x INT DEFAULT (SELECT max(a) FROM t); SET x = (SELECT min(a) FROM u); END", "t u", ""),
    ("BEGIN DECLARE x, y INT DEFAULT 1; SET (x, y) = (SELECT a, b FROM t); END", "t", ""),
    ("DECLARE OR REPLACE VARIABLE x INT DEFAULT (SELECT max(a) FROM t)", "t", ""),
    ("SET VAR x = (SELECT max(a) FROM t)", "t", ""),
    ("BEGIN IF EXISTS (SELECT 1 FROM a) THEN INSERT INTO b VALUES (1); END IF; END", "a", "INSERT b"),
    ("BEGIN IF 1 = 1 THEN DELETE FROM a; ELSEIF (SELECT count(*) FROM b) > 1 THEN DELETE FROM c; ELSE DELETE FROM d; END IF; END", "b", "DELETE a DELETE c DELETE d"),
    ("BEGIN IF x THEN IF y THEN DELETE FROM a; END IF; END IF; END", "", "DELETE a"),
    ("BEGIN WHILE x < (SELECT max(i) FROM a) DO INSERT INTO b SELECT x; SET x = x + 1; END WHILE; END", "a", "INSERT b"),
    ("BEGIN l: WHILE x < 3 DO ITERATE l; UPDATE a SET b = 1; LEAVE l; END WHILE l; END", "", "UPDATE a"),
    ("BEGIN REPEAT DELETE FROM a; UNTIL x > (SELECT max(i) FROM b) END REPEAT; END", "b", "DELETE a"),
    ("BEGIN LOOP TRUNCATE TABLE a; END LOOP; END", "", "TRUNCATE a"),
    ("BEGIN FOR r AS SELECT * FROM a DO INSERT INTO b VALUES (r.x); END FOR; END", "a", "INSERT b"),
    ("BEGIN l: FOR SELECT * FROM a JOIN c ON 1 = 1 DO DELETE FROM b; END FOR l; END", "a c", "DELETE b"),
    ("BEGIN FOR r AS WITH q AS (SELECT * FROM a) SELECT * FROM q DO DELETE FROM b; END FOR; END", "a", "DELETE b"),
    ("BEGIN CASE WHEN EXISTS (SELECT 1 FROM a) THEN DELETE FROM b; WHEN x THEN DELETE FROM c; ELSE DELETE FROM d; END CASE; END", "a", "DELETE b DELETE c DELETE d"),
    ("BEGIN CASE (SELECT max(i) FROM a) WHEN 1 THEN DELETE FROM b; END CASE; END", "a", "DELETE b"),
    ("BEGIN IF CASE WHEN x THEN 1 ELSE 2 END = 1 THEN DELETE FROM a; END IF; END", "", "DELETE a"),
    ("BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN INSERT INTO errors SELECT 1; END; DELETE FROM a; END", "", "INSERT errors DELETE a"),
    ("BEGIN DECLARE EXIT HANDLER FOR DIVIDE_BY_ZERO INSERT INTO errors SELECT * FROM b; SELECT 1 / 0 FROM a; END", "a b", "INSERT errors"),
    ("BEGIN DECLARE c CONDITION FOR SQLSTATE '12345'; SIGNAL c; END", "", ""),
    ("outer_block: BEGIN inner_block: BEGIN INSERT INTO t SELECT * FROM u; END inner_block; END outer_block", "u", "INSERT t"),
    ("BEGIN NOT ATOMIC DELETE FROM a; END", "", "DELETE a"),
    ("BEGIN CREATE TEMP VIEW v AS SELECT * FROM a; MERGE INTO t USING v ON t.i = v.i WHEN MATCHED THEN DELETE; END", "a v", "CREATE VIEW v MERGE t"),
    ("BEGIN DECLARE q STRING; SET q = 'INSERT INTO t SELECT * FROM u'; EXECUTE IMMEDIATE q; END", "u", "INSERT t"),
    ("CREATE OR REPLACE PROCEDURE p (x INT) LANGUAGE SQL AS BEGIN INSERT INTO t SELECT * FROM u; DELETE FROM v; END", "u", "INSERT t DELETE v"),
    ("BEGIN INSERT INTO t SELECT * FROM u; IF x THEN DELE", "u", "INSERT t"),
    ("BEGIN WHILE x < (SELECT max(i) FROM a", "", ""),
]
# fmt: on


@pytest.mark.parametrize(("sql", "reads", "writes"), CASES, ids=[case[0][:60] for case in CASES])
def test_tables_of_a_script(
    sql: str, reads: str, writes: str, tables: Callable[[str, str, str], None]
) -> None:
    tables(sql, reads, writes)


def test_a_statement_has_one_shape_alone_and_in_a_script() -> None:
    (alone,) = parse("DELETE FROM t WHERE a = 1", Dialect.SPARK)
    script = parse("BEGIN IF x THEN DELETE FROM t WHERE a = 2; END IF; END", Dialect.SPARK)
    assert alone.shape_id in {shape.shape_id for shape in script}


@pytest.mark.parametrize(
    ("sql", "database"),
    [
        ("USE s", "s"),
        ("USE DATABASE s", "s"),
        ("USE SCHEMA `a b`", "a b"),
        ("USE NAMESPACE c.s", "c.s"),
        ("USE CATALOG c", None),
    ],
)
def test_the_schema_that_use_chooses(sql: str, database: str | None) -> None:
    shapes = parse(f"{sql}; SELECT * FROM t", Dialect.SPARK)
    assert shapes[-1].database == database
