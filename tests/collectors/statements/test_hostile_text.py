"""No input crashes the parser or keeps it busy for ever: each ends as shapes."""

import pytest

from dbt_graft.collectors.statements.normalise import normalise
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.time_limit import run_limited
from tests.cases import for_each

TEXTS = {
    "20,000 open brackets": "SELECT " + "(" * 20_000,
    "20,000 nested queries": "SELECT * FROM " + "(SELECT * FROM " * 20_000 + "t" + ")" * 20_000,
    "20,000 closing brackets": "SELECT a FROM t " + ")" * 20_000,
    "5 MB of one string": "SELECT '" + "x" * 5_000_000,
    "a megabyte of rows": "INSERT t VALUES " + "(1, 'a', f(2))," * 70_000,
    "a megabyte of words": "SELECT a FROM t " * 66_000,
    "many unequal rows": "INSERT t VALUES " + ",".join(f"(f{i}(1))" for i in range(20_000)),
    "a lone quote": "'",
    "a lone bracket": "[",
    "a lone comment": "/*",
    "nested comments": "/*" * 20_000,
    "NUL bytes": "SELECT\x00a\x00FROM\x00t",
    "half a surrogate pair": "SELECT '\ud800' FROM t\ud800",
    "20,000 minus signs": "SELECT " + "- " * 20_000 + "1 FROM t",
    "20,000 dots": "SELECT a FROM t" + "." * 20_000,
    "deep wrapping": "exec sp_executesql N'" * 1_000 + "SELECT 1",
    "20,000 arguments": "exec sp_executesql N'SELECT a FROM t'" + ", @a" * 20_000,
    "all signs": "".join(map(chr, range(1, 256))) * 20,
    "line noise in names": "SELECT a FROM [" + "]]" * 10_000,
    "a million spaces": "SELECT a FROM" + " " * 900_000 + "t",
    "backslashes": "SELECT '" + "\\" * 100_000,
    "60,000 conditions": "IF a THEN " * 60_000,
    "handlers and loops": "a: BEGIN FOR b AS CASE WHEN 1 THEN " * 20_000,
    "places without an end": "COPY INTO t FROM " * 10_000,
    "views without an end": "VIEW v USING csv OPTIONS (" * 20_000,
    "names in pieces": "SELECT a FROM IDENTIFIER(" + "'a' || " * 50_000,
    "statements in pieces": "EXECUTE IMMEDIATE a " + "|| 'b' " * 50_000 + "c",
    "arguments of a procedure": "CALL migrate(" + "'a', (" * 50_000,
    "grants": "GRANT SELECT ON a " * 20_000,
    "a text that doubles": "SET @s = 'a' " + "SET @s = @s + @s " * 20_000 + "EXEC (@s)",
    "a text run again and again": "SET @s = 'SELECT a FROM t' " + "EXEC (@s) " * 20_000,
    "nested remote queries": "SELECT * FROM OPENQUERY(s, SELECT * FROM " * 10_000,
    "calls in calls on servers": "EXEC (" * 20_000 + ") AT s" * 20_000,
    "procedures in procedures": "CREATE PROC p AS " * 20_000,
    "double quotes": 'EXEC p "' * 20_000,
    "declarations": "(" + "@a int," * 50_000,
}


# Texts that took minutes or more while a string could be split in two ways.
BACKTRACKING = {
    "doubled quotes in a call": "SET @s = f(g(h(i(" + "'a''b', " * 12 + "x" * 40,
    "strings in calls": "DECLARE @s nvarchar(9) = a(b(c(" + "''''" * 5_000,
    "prefixed strings in calls": "SET @s = a(b(c(" + "N'x'N'y'" * 5_000 + ";",
    "strings as arguments": "exec sp_executesql " + "N'a''b', " * 5_000 + "%",
    "strings added up": "EXEC (" + "'a''' + " * 5_000 + "%",
    "quoted values": "SELECT 1 WHERE a IN (" + 'NULL, "a""b", ' * 5_000 + "%",
    "rows of quoted values": "INSERT t VALUES (1, " + '"a""b" ' * 5_000 + "(",
    "numbers without an end": "SELECT 1, " + "1.1" * 5_000 + "x",
    "names without an end": "SELECT 1 FROM [" + "]].[" * 5_000,
    "connections": "SELECT * FROM OPENROWSET('a', " + "'b''c'; " * 5_000,
    "raw strings": "EXECUTE IMMEDIATE a " + "r'x'" * 5_000 + '"',
    "arguments in quotes": "CALL system.migrate(" + "r'a %'" * 5_000 + "(",
    "options in quotes": "CREATE VIEW v USING a OPTIONS (" + "r'a'" * 40 + "%",
    "a procedure of many strings": "CREATE PROC p AS SET @s = REPLACE(REPLACE(REPLACE(CONCAT("
    + "N'SELECT ''a'', ''b'' FROM t WHERE x = ''' + CAST(@v AS varchar(9)) + N''' AND ' + " * 2_000,
}


@for_each("dialect", Dialect)
@pytest.mark.parametrize("name", BACKTRACKING)
def test_no_pattern_backtracks_without_an_end(name: str, dialect: Dialect) -> None:
    assert "?" in run_limited(normalise, BACKTRACKING[name], dialect)


@pytest.mark.slow
@pytest.mark.parametrize(
    "dialect", [Dialect.TSQL, pytest.param(Dialect.SPARK, marks=pytest.mark.exhaustive)]
)
@for_each("name", TEXTS)
def test_it_ends_as_shapes(name: str, dialect: Dialect) -> None:
    for shape in parse(TEXTS[name], dialect):
        shape.text.encode("utf-8")
        assert "\x00" not in shape.text
