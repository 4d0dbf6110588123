"""Fingerprints: equal for texts that differ in values only, and never equal for others."""

from __future__ import annotations

import random
import re

from dbt_graft.collectors.statements.normalise import normalise, redact_secrets
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.fingerprint import (
    ByFingerprint,
    fingerprint,
    is_plain,
)
from dbt_graft.collectors.statements.text.literals import strip_literals
from dbt_graft.collectors.statements.text.protect import protect_quoted_names
from tests.cases import for_each

SAME = [
    ("SELECT 1 FROM a", "SELECT 27.5e3 FROM a"),
    ("SELECT 'a' FROM a", "SELECT 'it''s' FROM a"),
    ("SELECT N'a' FROM a", "SELECT N'' FROM a"),
    ("SELECT 0x1F FROM a", "SELECT 7 FROM a"),
    ("x IN (1)", "x IN (1, 2, 3)"),
    ("x IN ('a')", "x IN (N'a',\n 'b''c', -5, NULL)"),
    ("VALUES (1, 'a')", "VALUES (2, 'b'), (3, 'c')"),
    ("/* run 1 */ DELETE FROM a", "/* run /* 2 */ */ DELETE FROM a"),
    ("DELETE FROM a -- 1\nWHERE b = 1", "DELETE FROM a -- it's\nWHERE b = 2"),
    ("SELECT 'cut of", "SELECT 'cut"),
    ("SELECT a FROM t WHERE 'x' = b", "SELECT a FROM t WHERE 'y' = b"),
]
DIFFERENT = [
    ("SELECT a1 FROM t", "SELECT a2 FROM t"),
    ("SELECT [a'1'] FROM t", "SELECT [a'2'] FROM t"),
    ('SELECT 1 FROM "t1"', 'SELECT 1 FROM "t2"'),
    ("SELECT 1 -- x\nFROM t", "SELECT 1 'x'\nFROM t"),
    ("SELECT f(1)", "SELECT f 1"),
    ("SELECT 1, 2", "SELECT 1"),
    ("SELECT #t1.a", "SELECT #t2.a"),
    ("SELECT a AS 'b' FROM t", "SELECT a AS N'c' FROM t"),
    ("SELECT a, 'b' = c FROM t", "SELECT a, 'd' = c FROM t"),
]
SAME_SPARK = [
    ("SELECT 1 FROM a", "SELECT 27.5e3 FROM a"),
    ("SELECT 1L, 2.0BD FROM a", "SELECT 7S, 1.5BD FROM a"),
    ("SELECT 'a' FROM a", "SELECT 'it\\'s ''x' FROM a"),
    ("SELECT 'a' FROM a", 'SELECT "it\'s `b`" FROM a'),
    ("SELECT r'a' FROM a", "SELECT r'\\' FROM a"),
    ("x IN (1)", "x IN ('a', \"b\", -5L, NULL, r'\\')"),
    ("/* 1 */ DELETE FROM a -- 1\nWHERE b = 1", "/* it's */ DELETE FROM a -- 2\nWHERE b = 2"),
    ("SELECT 'cut of", "SELECT 'cut"),
]
DIFFERENT_SPARK = [
    ("SELECT a1 FROM t", "SELECT a2 FROM t"),
    ("SELECT * FROM 2026_a", "SELECT * FROM 2027_a"),
    ("SELECT `a'1'` FROM t", "SELECT `a'2'` FROM t"),
    ("SELECT r'\\', 'a' FROM t", "SELECT '\\', 'a' FROM t"),
    ("SELECT 1, 2", "SELECT 1"),
]
CARRIES_SPARK = [
    "INSERT OVERWRITE DIRECTORY '/x' SELECT 1",
    "SELECT * FROM IDENTIFIER('a.b')",
    "EXECUTE IMMEDIATE 'SELECT a FROM t'",
    "CREATE TEMP VIEW v USING csv OPTIONS (path '/x')",
    "CALL system.snapshot('a', 'b')",
    "SELECT * FROM read_files('/x')",
    "SELECT * FROM parquet.`s3://k:s@b/x`",
    "SELECT ${x} FROM t",
    "SELECT '\x01'",
]
CARRIES = [
    "EXEC dbo.load 'x'",
    "exec sp_executesql N'DELETE FROM a'",
    "sp_rename 'a', 'b'",
    "SELECT * FROM OPENQUERY(srv, 'SELECT 1')",
    "(@P1 int)DELETE FROM a WHERE b = @P1",
    "DELETE FROM a\nGO 5\nDELETE FROM b",
    "SELECT '\x01'",
]


@for_each("one, other", SAME)
def test_texts_that_differ_in_values_have_one_fingerprint(one: str, other: str) -> None:
    assert fingerprint(one) == fingerprint(other)
    assert normalise(one, Dialect.TSQL) == normalise(other, Dialect.TSQL)


@for_each("one, other", DIFFERENT)
def test_other_texts_have_fingerprints_of_their_own(one: str, other: str) -> None:
    assert fingerprint(one) != fingerprint(other)


@for_each("text", CARRIES)
def test_a_text_whose_values_matter_is_not_plain(text: str) -> None:
    assert not is_plain(text, fingerprint(text))


@for_each("one, other", SAME_SPARK)
def test_spark_texts_that_differ_in_values_have_one_fingerprint(one: str, other: str) -> None:
    assert fingerprint(one, Dialect.SPARK) == fingerprint(other, Dialect.SPARK)
    assert normalise(one, Dialect.SPARK) == normalise(other, Dialect.SPARK)


@for_each("one, other", DIFFERENT_SPARK)
def test_other_spark_texts_have_fingerprints_of_their_own(one: str, other: str) -> None:
    assert fingerprint(one, Dialect.SPARK) != fingerprint(other, Dialect.SPARK)


@for_each("text", CARRIES_SPARK)
def test_a_spark_text_whose_values_matter_is_not_plain(text: str) -> None:
    assert not is_plain(text, fingerprint(text, Dialect.SPARK), Dialect.SPARK)


VALUES = ["1", "-5", "'a'", "N'b''c'", "0x1F", "1.5e3", ".5", "NULL", "(1)", "(1,2)"]
PIECES = [
    *VALUES,
    *("(1, 'x', NULL), (2)", "/* c */", "-- c\n", "@P1", "?", "$5", "GETDATE()", "[n]", '"q"'),
    *("'", "[", "/*", "x", "(", ")", ",", " ", "GO\n", "=", "-", "VALUES ", "IN ", "AS", "1AS"),
]
TEXTS = [
    "INSERT INTO dw.dbo.t (a, b) SELECT a, 'x' FROM crm.dbo.s WHERE d > 5 AND e IN (1, 2, 3)",
    "UPDATE t SET a = s.a * 2 FROM dbo.t t JOIN dbo.s s ON s.id = t.id WHERE t.k = N'it''s'",
    "INSERT INTO dbo.t VALUES (1, 'a'), (2, 'b') -- done\nDELETE FROM dbo.u WHERE v = 0x1F",
    "/* loader 7 */ MERGE [dbo].[t 1] AS t USING dbo.s ON t.id = s.id WHEN MATCHED THEN DELETE;",
]


SPARK_VALUES = ["1", "-5", "'a'", '"b"', "r'c\\'", "1.5e3", ".5", "7L", "2.0BD", "NULL", "(1,2)"]
SPARK_PIECES = [
    *SPARK_VALUES,
    *("/* c */", "-- c\n", ":p", "?", "`n`", "`", "'", '"', "\\", "r'", 'R"', "x", "(", ")"),
    *(",", " ", "=", "-", "VALUES ", "IN ", "AS", "1a", "1_b", "t.", "SET k=", "$$", "//", "@v1"),
]
SPARK_TEXTS = [
    "INSERT INTO dw.t (a, b) SELECT a, 'x' FROM crm.s WHERE d > 5 AND e IN (1, 2, 3)",
    'MERGE INTO dw.`t 1` AS t USING s ON t.id = s.id AND t.k = "it\'s" WHEN MATCHED THEN DELETE',
    "INSERT INTO t VALUES (1, 'a'), (2, 'b') -- done\n; DELETE FROM u WHERE v = r'\\d'",
    "/* loader 7 */ CREATE TABLE t TBLPROPERTIES ('k'='v') AS SELECT 1L AS a, `b` FROM s",
]


def test_one_fingerprint_of_spark_means_one_normalised_text() -> None:
    """Texts with pieces put in and values replaced at random; the seed is fixed."""
    randomly = random.Random(5)  # noqa: S311
    seen: dict[str, tuple[str, str]] = {}
    met = 0
    for _ in range(8_000):
        text = randomly.choice(SPARK_TEXTS)[: randomly.choice((40, 300))]
        text = re.sub(r"'[^']*'|\d+", lambda _: randomly.choice(SPARK_VALUES), text)
        for _ in range(randomly.randrange(3)):
            at = randomly.randrange(len(text) + 1)
            text = text[:at] + randomly.choice(SPARK_PIECES) + text[at:]
        key = fingerprint(text, Dialect.SPARK)
        if not is_plain(text, key, Dialect.SPARK):
            continue
        protected = strip_literals(protect_quoted_names(text), Dialect.SPARK)
        normalised = redact_secrets(protected, Dialect.SPARK)
        other, before = seen.setdefault(key, (text, normalised))
        met += other != text
        assert normalised == before, (other, text)
    assert met > 100


def test_one_fingerprint_means_one_normalised_text() -> None:
    """Texts with pieces put in and values replaced at random; the seed is fixed."""
    randomly = random.Random(3)  # noqa: S311
    seen: dict[str, tuple[str, str]] = {}
    met = 0
    for _ in range(6_000):
        text = randomly.choice(TEXTS)[: randomly.choice((40, 300))]
        text = re.sub(r"'[^']*'|\d+", lambda _: randomly.choice(VALUES), text)
        for _ in range(randomly.randrange(3)):
            at = randomly.randrange(len(text) + 1)
            text = text[:at] + randomly.choice(PIECES) + text[at:]
        key = fingerprint(text)
        if not is_plain(text, key):
            continue
        normalised = strip_literals(text.replace("GO\n", "; GO ;"), Dialect.TSQL)
        other, before = seen.setdefault(key, (text, normalised))
        met += other != text
        assert normalised == before, (other, text)
    assert met > 100


def test_a_function_is_worked_out_once_a_fingerprint() -> None:
    texts: list[str] = []

    def work(text: str) -> str:
        texts.append(text)
        return text.upper()

    by_fingerprint = ByFingerprint(work)
    answers = [by_fingerprint(f"select a from t where b = {n}") for n in range(3)]
    assert answers == ["SELECT A FROM T WHERE B = 0"] * 3
    assert [by_fingerprint(f"exec p {n}") for n in range(2)] == ["EXEC P 0", "EXEC P 1"]
    assert texts == ["select a from t where b = 0", "exec p 0", "exec p 1"]
