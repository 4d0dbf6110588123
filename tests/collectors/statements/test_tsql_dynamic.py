"""Dynamic SQL keeps the tables that are visible; a statement with parts not known is partial."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dbt_graft.collectors.statements.normalise import normalise
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.records import Outcome
from tests.cases import for_each

Compare = Callable[[str, str, str], None]

# The expression of a variable that is run, what is read and written, and whether all is known.
CASES = [
    (
        "N'INSERT INTO dbo.t (a) SELECT b FROM dbo.s' + CASE WHEN @x = 1 THEN N' WHERE a > 1' END",
        "dbo.s",
        "INSERT dbo.t",
        False,
    ),
    (
        "N'INSERT INTO dbo.t (a) SELECT b' + CASE @x WHEN 1 THEN CASE WHEN 1 = 1 THEN N'END' END "
        "ELSE N'' END + N' FROM dbo.s'",
        "dbo.s",
        "INSERT dbo.t",
        False,
    ),
    ("N'SELECT a FROM dbo.s_' + CASE @a WHEN 1 THEN N'x' ELSE N'' END", "", "", False),
    ("CONCAT(N'SELECT a FROM dbo.s WHERE b = ', @v, N' AND c = 1')", "dbo.s", "", True),
    ("CONCAT(N'SELECT a INTO dbo.n FROM ', @v)", "", "SELECT INTO dbo.n", False),
    ("CONCAT(N'DELETE FROM ', CONCAT(N'dbo', N'.s'))", "", "DELETE dbo.s", True),
    ("REPLACE(N'INSERT INTO t SELECT a FROM {s}', N'{s}', N'dbo.x')", "dbo.x", "INSERT t", True),
    ("REPLACE(N'INSERT INTO t SELECT a FROM {s}', N'{s}', @s)", "", "INSERT t", False),
    ("REPLACE(N'INSERT INTO t SELECT a FROM dbo.x', @old, @new)", "dbo.x", "INSERT t", False),
    ("N'SELECT a FROM dbo.s ' + @where", "dbo.s", "", False),
    ("N'SELECT a FROM dbo.s' + @suffix + N' JOIN dbo.u ON 1 = 1'", "dbo.u", "", False),
    ("N'SELECT a FROM dbo.s WHERE i = ' + CAST(@i AS varchar(9))", "dbo.s", "", True),
    ("N'SELECT a FROM dbo.s WHERE i = ''' + @x + N''' AND b = 1'", "dbo.s", "", True),
    ("N'SELECT a FROM dbo.s' + IIF(@a = 1, N' WHERE x = 1', N'')", "", "", False),
    ("N'SELECT a FROM dbo.s ' + IIF(@a = 1, N'WHERE x = 1', N'')", "dbo.s", "", False),
    ("N'INSERT INTO ' + QUOTENAME(@t) + N' SELECT a FROM dbo.s'", "dbo.s", "", False),
    ("CAST(N'DELETE FROM dbo.s' AS nvarchar(max))", "", "DELETE dbo.s", True),
    ("CONVERT(nvarchar(max), N'TRUNCATE TABLE dbo.s')", "", "TRUNCATE dbo.s", True),
    ("LTRIM(ISNULL(N'DELETE FROM dbo.s', N''))", "", "DELETE dbo.s", True),
    ("N'SELECT a FROM dbo.s ' + 5", "dbo.s", "", False),
    # What has an alias is not known, so a name may be that alias.
    ("N'UPDATE h SET a = c.a FROM ' + @h + N' h JOIN dbo.c c ON 1 = 1'", "dbo.c", "", False),
    (
        "N'UPDATE c SET a = h.a FROM ' + @h + N' h JOIN dbo.c c ON 1 = 1'",
        "dbo.c",
        "UPDATE dbo.c",
        False,
    ),
    ("N'DELETE h FROM [History].[' + @h + N'] AS h'", "", "", False),
    ("N'UPDATE dbo.t SET a = h.a FROM ' + @h + N' h'", "", "UPDATE dbo.t", False),
    ("N'UPDATE t SET a = (SELECT MAX(a) FROM ' + @h + N')'", "", "UPDATE t", False),
    ("N'DELETE FROM t WHERE a IN (SELECT a FROM ' + @h + N')'", "", "DELETE t", False),
]


@pytest.mark.parametrize("runs", ["EXEC (@sql)", "EXEC sp_executesql @sql"])
@for_each("expression, reads, writes, known", CASES)
def test_it_keeps_what_is_visible(
    expression: str, reads: str, writes: str, known: bool, runs: str, tsql_tables: Compare
) -> None:
    text = f"DECLARE @sql nvarchar(max) = {expression}; {runs}"
    tsql_tables(text, reads, writes)
    shape = parse(text, Dialect.TSQL)[-1]
    reason = shape.reason or ""
    assert reason.startswith(("dynamic SQL not resolved", "no table found")) is not known
    assert known or shape.outcome is Outcome.PARTIAL


def test_normalising_again_changes_nothing() -> None:
    for expression, *_ in CASES:
        once = normalise(f"SET @sql = {expression}; EXEC (@sql)", Dialect.TSQL)
        assert normalise(once, Dialect.TSQL) == once
