"""Texts in T-SQL -> the dates in their conditions, table by table."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dbt_graft.collectors.statements.periods.expression_dates import DateValues
from dbt_graft.collectors.statements.periods.shape import find_dates
from dbt_graft.collectors.statements.text.fingerprint import literals
from dbt_graft.lineage.dates.date_conditions import known_extents
from dbt_graft.lineage.dates.date_ranges import DateRange
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.dates.period_union import condition_periods
from tests.cases import for_each

NOW = datetime(2026, 11, 5, tzinfo=UTC)


def dates(text: str, *, has_time: bool = False, **parameters: str) -> list[str]:
    """`orders day 2026-11-01 2026-11-02`, `~` behind a part of a day.

    `!` stands before a table whose rows are changed, `+` before one that gets new rows.

    Args:
        has_time: The columns have times.
    """
    shape = find_dates(text)
    named = {f"@{name}": value for name, value in parameters.items()}
    values = DateValues(dict(enumerate(literals(text))), named, NOW, NOW)
    by_column: dict[str, list[DateRange]] = {}
    for date in shape.dates(values) if shape else ():
        use = "!" * date.changes + "+" * date.adds
        by_column.setdefault(f"{use}{date.table} {date.column}", []).append(date.range)
    return [
        f"{column} {_day(period.start)} {_day(period.end)}{' ~' * period.in_part}"
        for column, ranges in by_column.items()
        for period in condition_periods(known_extents(ranges, has_time=has_time), column)
        or [Period(None, None, Grain.DAY, PeriodEvidence.PREDICATE)]
    ]


def _day(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d}" if at else "-"


@for_each(
    "condition, expected",
    [
        ("day = '2026-11-01'", "2026-11-01 2026-11-02"),
        ("day='20261101'", "2026-11-01 2026-11-02"),
        ("[day] >= N'2026-11-01'", "2026-11-01 -"),
        ("day > '2026-11-01'", "2026-11-02 -"),
        ("day < '2026-11-01'", "- 2026-11-01"),
        ("day <= '2026-11-01'", "- 2026-11-02"),
        ("'2026-11-01' <= day", "2026-11-01 -"),
        ("day BETWEEN '2026-11-01' AND '2026-11-03' AND x = 1", "2026-11-01 2026-11-04"),
        ("day IN ('2026-11-01', '2026-11-02')", "2026-11-01 2026-11-03"),
        ("day IN ('2026-11-01', DATEADD(day, 1, '2026-11-01'))", "2026-11-01 2026-11-03"),
        ("day IN ('2026-11-01', x)", None),
        ("x IS NOT NULL AND day = '2026-11-01'", "2026-11-01 2026-11-02"),
        ("day = '2026-11-01' AND NOT (x = 1 AND day < '2026')", "2026-11-01 2026-11-02"),
        ("NOT EXISTS (SELECT 1) AND day = '2026-11-01'", "2026-11-01 2026-11-02"),
        ("day = '2026-11-01' OR day = '2026-11-02'", "2026-11-01 2026-11-03"),
        ("x = 1 AND (day = '2026-11-01' OR day IN ('2026-11-02'))", "2026-11-01 2026-11-03"),
        ("day = '2026-11-01' OR x = 1", None),
        ("day = '2026-11-01' OR day > '2026-11-02'", None),
        ("x = 1 OR day = '2026-11-01' AND day = '2026-11-02'", None),
        ("day = '2026-11-01' OR day = '2026-11-02' AND x = 1", None),
        ("day = '2026-11-01' OR day =", None),
        ("NOT day = '2026-11-01'", None),
        ("NOT (day = '2026-11-01')", None),
        ("day NOT BETWEEN '2026-11-01' AND '2026-11-02'", None),
        ("day >= '2026-11-01' AND day < '2026-11-03'", "2026-11-01 2026-11-03"),
        ("(day >= '2026-11-01') AND (day < '2026-11-03' AND x = 1)", "2026-11-01 2026-11-03"),
        ("day = CAST('2026-11-01' AS date)", "2026-11-01 2026-11-02"),
        ("CAST(day AS date) = '2026-11-01'", "2026-11-01 2026-11-02"),
        ("CONVERT(date, day) = CONVERT(date, '20261101', 112)", "2026-11-01 2026-11-02"),
        ("day = {d '2026-11-01'}", "2026-11-01 2026-11-02"),
        ("day = DATEFROMPARTS(2026, 11, 1)", "2026-11-01 2026-11-02"),
        ("day = @d", "2026-11-04 2026-11-05"),
        ("day >= DATEADD(day, -1, @d)", "2026-11-03 -"),
        ("day = CAST(GETDATE() AS date)", "2026-11-05 2026-11-06"),
        ("day = CAST(GETDATE() - 1 AS date)", "2026-11-04 2026-11-05"),
        ("day >= DATEADD(month, -1, CAST(SYSDATETIME() AS date))", "2026-10-05 -"),
        ("date_key = 20261101", "2026-11-01 2026-11-02"),
        ("period = '2026-10'", "2026-10-01 2026-11-01"),
        # The beginning and the end of a unit.
        ("day = DATEADD(month, DATEDIFF(month, 0, GETDATE()), 0)", "2026-11-01 2026-11-02"),
        ("day = DATEADD(mm, DATEDIFF(m, '19000101', @d) - 1, 0)", "2026-10-01 2026-10-02"),
        (
            "day >= DATEADD(d, DATEDIFF(d, 0, @d), 0) AND day < DATEADD(d, DATEDIFF(d, 0, @d)+1,0)",
            "2026-11-04 2026-11-05",
        ),
        (
            "day = DATEADD(day, -1, DATEADD(month, DATEDIFF(month, 0, @d) + 1, 0))",
            "2026-11-30 2026-12-01",
        ),
        ("day = EOMONTH(@d)", "2026-11-30 2026-12-01"),
        ("day = EOMONTH(@d, -1)", "2026-10-31 2026-11-01"),
        ("day = DATETRUNC(quarter, @d)", "2026-10-01 2026-10-02"),
        ("day >= DATEFROMPARTS(YEAR(@d), MONTH(@d), 1) AND day < @d", "2026-11-01 2026-11-04"),
        ("day = DATEFROMPARTS(YEAR(GETDATE()), 1, 1)", "2026-01-01 2026-01-02"),
        ("day = CONVERT(varchar(8), @d, 112)", "2026-11-04 2026-11-05"),
        ("period = CONVERT(char(6), GETDATE(), 112)", "2026-11-01 2026-12-01"),
        ("period = CONVERT(varchar(7), @d, 120)", "2026-11-01 2026-12-01"),
        ("day = CONVERT(char(6), GETDATE(), 12)", "- -"),
        ("day = CONVERT(varchar(7), @d)", "- -"),
        ("day = DATEADD(month, DATEDIFF(month, 5, @d), 5)", "- -"),
        ("day = DATEFROMPARTS(YEAR(@d), 7, 1)", "- -"),
        # Weeks begin where DATEFIRST says.
        ("day = DATEADD(week, DATEDIFF(week, 0, @d), 0)", None),
        ("day = DATETRUNC(week, @d)", None),
        ("day = DATEADD(month, DATEDIFF(year, 0, @d), 0)", None),
        ("day = DATEFROMPARTS(YEAR(@d), MONTH(GETDATE()), 1)", None),
        ("day = DATEFROMPARTS(YEAR(@d), MONTH(@d), DAY(@d))", None),
        # Nothing is known for certain.
        ("day = '2026-11-01' OR x = 1", None),
        ("NOT day = '2026-11-01'", None),
        ("day <> '2026-11-01'", None),
        ("day = '2026-11-01' + 5", None),
        ("f(day) = '2026-11-01'", None),
        ("CASE WHEN day = '2026-11-01' THEN 1 END = 1", None),
        ("day LIKE '2026-11-%'", None),
        ("birth_date = '1990-05-17'", None),
        ("x = 'text'", None),
    ],
)
def test_conditions(condition: str, expected: str | None) -> None:
    found = [
        date.split(maxsplit=2)[2]
        for date in dates(f"SELECT a FROM dbo.orders WHERE {condition}", d="'2026-11-04'")
    ]
    assert found == ([expected] if expected else [])


@for_each(
    "condition, has_time, expected",
    [
        ("ts >= '2026-11-01 05:00'", True, ["2026-11-01 2026-11-02 ~", "2026-11-02 -"]),
        ("ts > '2026-11-01T05:00:00'", True, ["2026-11-01 2026-11-02 ~", "2026-11-02 -"]),
        ("ts < '2026-11-03 17:30'", True, ["- 2026-11-03", "2026-11-03 2026-11-04 ~"]),
        ("ts <= '2026-11-03 17:30'", False, ["- 2026-11-03", "2026-11-03 2026-11-04 ~"]),
        ("ts = '2026-11-01 05:00'", True, ["2026-11-01 2026-11-02 ~"]),
        (
            "ts BETWEEN '2026-11-01 05:00' AND '2026-11-03 05:00'",
            True,
            ["2026-11-01 2026-11-02 ~", "2026-11-02 2026-11-03", "2026-11-03 2026-11-04 ~"],
        ),
        ("ts >= '2026-11-01 05:00' AND ts < '2026-11-01 06:00'", True, ["2026-11-01 2026-11-02 ~"]),
        # Midnight cuts nothing off, unless it is the end of a column with times.
        ("ts >= '2026-11-01 00:00:00'", True, ["2026-11-01 -"]),
        ("ts < '2026-11-01 00:00'", True, ["- 2026-11-01"]),
        ("ts = '2026-11-01'", True, ["2026-11-01 2026-11-02"]),
        ("ts > '2026-11-01'", True, ["2026-11-01 2026-11-02 ~", "2026-11-02 -"]),
        ("ts <= '2026-11-01'", True, ["- 2026-11-01", "2026-11-01 2026-11-02 ~"]),
        ("CAST(ts AS date) <= '2026-11-01'", True, ["- 2026-11-02"]),
        ("ts <= '2026-11-01 23:59:59.997'", True, ["- 2026-11-02"]),
        ("ts < '2026-11-01 23:59:59'", True, ["- 2026-11-01", "2026-11-01 2026-11-02 ~"]),
        # The time of the statement is one.
        ("ts >= DATEADD(day, -1, GETDATE())", True, ["2026-11-04 2026-11-05 ~", "2026-11-05 -"]),
        ("ts >= CAST(GETDATE() AS date)", True, ["2026-11-05 -"]),
        ("ts >= CONVERT(date, GETDATE() - 1)", True, ["2026-11-04 -"]),
        ("ts >= CURRENT_DATE", True, ["2026-11-05 -"]),
    ],
)
def test_a_condition_cuts_days(condition: str, has_time: bool, expected: list[str]) -> None:
    found = dates(f"SELECT a FROM dbo.orders WHERE {condition}", has_time=has_time)
    assert [date.split(maxsplit=2)[2] for date in found] == expected


@for_each(
    "text, expected",
    [
        ("DELETE FROM t WHERE day = '2026-11-01'", "!t day 2026-11-01 2026-11-02"),
        ("DELETE FROM t WHERE (day = '2026-11-01');", "!t day 2026-11-01 2026-11-02"),
        (
            "DELETE FROM t WHERE day = '2026-11-01' AND land = 'DE'",
            "!t day 2026-11-01 2026-11-02 ~",
        ),
        ("DELETE FROM t WHERE day = '2026-11-01' AND n > 5", "!t day 2026-11-01 2026-11-02 ~"),
        (
            "DELETE FROM t WHERE day = '2026-11-01' AND (a = 1 OR b = 2)",
            "!t day 2026-11-01 2026-11-02 ~",
        ),
        (
            "DELETE FROM t WHERE day = '2026-11-01' AND id IN (SELECT id FROM s)",
            "!t day 2026-11-01 2026-11-02 ~",
        ),
        ("DELETE TOP (100) FROM t WHERE day = '2026-11-01'", "!t day 2026-11-01 2026-11-02 ~"),
        (
            "DELETE o FROM t AS o JOIN s ON s.id = o.id WHERE o.day = '2026-11-01'",
            "!t day 2026-11-01 2026-11-02 ~",
        ),
        # Others than deletes take the place of no day by what they leave out.
        ("UPDATE t SET a = 1 WHERE day = '2026-11-01' AND n > 5", "!t day 2026-11-01 2026-11-02"),
    ],
)
def test_other_conditions_of_a_delete_leave_rows_of_a_day(text: str, expected: str) -> None:
    assert dates(text)[0] == expected


@for_each(
    "text, expected",
    [
        pytest.param(
            "DELETE o FROM dbo.orders AS o WHERE o.day = '2026-11-01'",
            ["!dbo.orders day 2026-11-01 2026-11-02"],
            id="delete by alias",
        ),
        pytest.param(
            "SELECT 1 FROM a JOIN b ON b.id = a.id AND b.day = '2026-11-01' "
            "WHERE a.dt = '20261102'",
            ["a dt 2026-11-02 2026-11-03", "b day 2026-11-01 2026-11-02"],
            id="join",
        ),
        pytest.param(
            "SELECT 1 FROM a LEFT JOIN b ON b.id = a.id AND a.day = '2026-11-01'",
            [],
            id="outer join",
        ),
        pytest.param(
            "SELECT 1 FROM a LEFT JOIN b x ON x.i = a.i AND x.day = '2026-11-01' AND a.day > '2'",
            ["b day 2026-11-01 2026-11-02"],
            id="the table that a left join adds",
        ),
        pytest.param(
            "SELECT 1 FROM a LEFT JOIN (SELECT 1 AS x) b ON a.day = '2026-11-01' AND b.day = '2'",
            [],
            id="a left join of a query",
        ),
        pytest.param(
            "SELECT 1 FROM a WHERE day = '2026-11-01' UNION ALL "
            "SELECT 1 FROM a WHERE day = '2026-11-03'",
            ["a day 2026-11-01 2026-11-02", "a day 2026-11-03 2026-11-04"],
            id="union",
        ),
        pytest.param(
            "SELECT 1 FROM a WHERE day = '2026-11-01' UNION ALL SELECT 1 FROM a",
            [],
            id="once without",
        ),
        pytest.param(
            "WITH c AS (SELECT * FROM a WHERE day = '2026-11-01') SELECT * FROM c",
            ["a day 2026-11-01 2026-11-02"],
            id="common table",
        ),
        pytest.param(
            "SELECT 1 FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.day = '2026-11-01')",
            ["b day 2026-11-01 2026-11-02"],
            id="exists",
        ),
        pytest.param("SELECT '2026-11-01' AS day FROM a WHERE (", [], id="cut off"),
        pytest.param("", [], id="empty"),
    ],
)
def test_tables(text: str, expected: list[str]) -> None:
    assert dates(text) == expected


FIRST, SECOND = "+t day 2026-11-01 2026-11-02", "+t day 2026-11-01 2026-11-03"


@for_each(
    "text, expected",
    [
        ("INSERT INTO t (id, day) SELECT id, '2026-11-01' FROM a", [FIRST]),
        ("INSERT t (id, day) SELECT id, day = CAST(N'20261101' AS date) FROM a", [FIRST]),
        ("INSERT INTO t WITH (TABLOCK) (day) SELECT TOP (5) '2026-11-01' AS day FROM a", [FIRST]),
        (
            "INSERT t (id, day) OUTPUT inserted.id INTO @i (id) SELECT id, '20261101' FROM a",
            [FIRST],
        ),
        ("DECLARE @d date = '2026-11-01'; INSERT INTO t (id, day) SELECT id, @d FROM a", [FIRST]),
        ("INSERT INTO t (id, day) VALUES (1, '2026-11-01'), (2, '2026-11-02')", [SECOND]),
        ("INSERT INTO t (id, day) VALUES (NEWID(), '2026-11-01')", [FIRST]),
        ("INSERT t (day) SELECT '20261101' FROM a UNION ALL SELECT '20261102' FROM b", [SECOND]),
        ("INSERT t (day) SELECT '20261101' FROM a EXCEPT SELECT day FROM b", [FIRST]),
        (
            "WITH q AS (SELECT * FROM a) INSERT t (day) SELECT q.day FROM q WHERE q.day='20261101'",
            ["q day 2026-11-01 2026-11-02", FIRST],
        ),
        (
            "INSERT t (day) SELECT dt FROM a WHERE dt >= '20261101' AND dt < '2026-11-03'",
            ["a dt 2026-11-01 2026-11-03", SECOND],
        ),
        ("SELECT id, '2026-11-01' AS day INTO t FROM a", [FIRST]),
        (
            "SELECT i, '20261101' AS d INTO #x FROM a; INSERT t (day) SELECT x.d FROM #x x, b",
            ["+#x d 2026-11-01 2026-11-02", FIRST],
        ),
        (
            "SELECT '20261101' AS d INTO #x; UPDATE #x SET d = e; INSERT t (day) SELECT d FROM #x",
            ["+#x d 2026-11-01 2026-11-02"],
        ),
        (
            "SELECT '20261101' AS d INTO #x; INSERT #x SELECT e; INSERT t (day) SELECT d FROM #x",
            [],
        ),
        (  # `other` is a date as well, and nothing tells which
            "INSERT INTO t (day, other_date) SELECT '2026-11-01', x FROM a",
            [FIRST, "+t other_date - -"],
        ),
        ("INSERT INTO t (id, day) SELECT id, day FROM a", []),
        ("INSERT INTO t (id, day) VALUES (1, '2026-11-01'), (@i, dbo.f(1))", []),
        ("INSERT INTO t (id, day) VALUES (@i, dbo.f(1)), (1, '2026-11-01')", []),
        ("SELECT id, '2026-11-01' AS day INTO t FROM a UNION SELECT id FROM b", []),
        ("INSERT INTO t (id, day) SELECT *, '2026-11-01' FROM a", []),
        ("INSERT INTO t (id, day) SELECT '2026-11-01' FROM a", []),
        ("INSERT INTO t SELECT id, '2026-11-01' FROM a", []),
        ("INSERT INTO t (day) SELECT '2026-11-01' + x FROM a", []),
        ("INSERT INTO t (day) SELECT '2026-11-01' FROM a UNION SELECT day FROM b", []),
        ("INSERT INTO t (day) SELECT '2026-11-01'; INSERT INTO t (day) SELECT day FROM b", []),
        ("INSERT INTO t (day) EXEC p '2026-11-01'", []),
        ("INSERT INTO t (day) SELECT '2026-11-01' UNION", []),
        ("INSERT INTO t (day", []),
        ("INSERT INTO t (day) VALUES (", []),
    ],
)
def test_new_rows_have_the_dates_that_the_statement_writes(text: str, expected: list[str]) -> None:
    assert dates(text) == expected


@for_each(
    "text",
    [
        pytest.param("SELECT 1 FROM t WHERE " + "(" * 5_000 + "day = '2026-11-01'", id="brackets"),
        pytest.param("SELECT 1 FROM t WHERE day = " + "CAST(" * 5_000 + "'2026-11-01'", id="casts"),
        pytest.param("SELECT 1 FROM t WHERE day = '2026-11-01" + "x" * 100_000, id="no end"),
        pytest.param(
            "SELECT 1 FROM t WHERE x = 1" + " AND day = '2026-11-01' OR x = 2" * 5_000, id="long"
        ),
        pytest.param("WHERE day = '2026-11-01' FROM", id="no table"),
        pytest.param("DECLARE @d date =; SELECT 1 FROM t WHERE day = @d", id="no value"),
        pytest.param("UPDATE WHERE day = '2026-11-01'", id="no name"),
    ],
)
def test_texts_without_a_date_that_can_be_read_have_none(text: str) -> None:
    # A value that is no date leaves all dates open.
    assert dates(text) in ([], ["t day - -"])
