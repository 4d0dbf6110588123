"""Assignments of a batch -> the dates of a condition with a variable."""

from __future__ import annotations

from datetime import UTC, datetime

from dbt_graft.collectors.statements.periods.expression_dates import DateValues
from dbt_graft.collectors.statements.periods.shape import find_dates
from dbt_graft.collectors.statements.text.fingerprint import literals
from tests.cases import for_each

NOW = datetime(2026, 11, 5, 13, 30, tzinfo=UTC)


@for_each(
    "batch, expected",
    [
        ("DECLARE @d date = '2026-11-01'", "2026-11-01"),
        ("DECLARE @d AS datetime2(7) = '2026-11-01'", "2026-11-01"),
        ("DECLARE @a int = 5, @d date = GETDATE()", "2026-11-05"),
        ("DECLARE @d date; SET @d = '2026-11-01'", "2026-11-01"),
        ("DECLARE @d date; SELECT @d = '2026-11-01', @x = 5", "2026-11-01"),
        ("DECLARE @a date = '2026-11-01'; DECLARE @d date = DATEADD(day, -6, @a)", "2026-10-26"),
        ("DECLARE @a date = '2026-11-01', @d date; SET @d = EOMONTH(@a)", "2026-11-30"),
        ("DECLARE @d date = '2026-11-01'; EXEC p @x = 1, @d = @d", "2026-11-01"),
        ("DECLARE @d date = DATEADD(day, -1, @p)", "2026-11-06"),
        ("SET @d = @p", "2026-11-07"),
        # Two values, or one that the text does not show.
        ("DECLARE @d date = '2026-11-01'; SET @d = '2026-11-02'", None),
        ("DECLARE @d date = '2026-11-01'; SET @d = DATEADD(day, 1, @d)", None),
        ("SET @p = DATEADD(day, -1, @p); DECLARE @d date = @p", None),
        ("IF @p IS NULL SET @p = GETDATE(); DECLARE @d date = @p", None),
        (
            "DECLARE @a date = '2026-11-01'; WHILE 1 = 1 BEGIN DECLARE @d date = @a; "
            "SET @a = DATEADD(day, 1, @d) END",
            None,
        ),
        ("DECLARE @d date = '2026-11-01'; FETCH NEXT FROM c INTO @d", None),
        ("DECLARE @d date = '2026-11-01'; FETCH NEXT FROM c INTO @x, @d", None),
        ("DECLARE @d date = '2026-11-01'; EXEC p @d OUTPUT", None),
        ("DECLARE @d date = '2026-11-01'; SELECT @d = MAX(x) FROM s", None),
        ("DECLARE @d date", None),
        ("DECLARE @d date =", None),
        ("SET @d", None),
    ],
)
def test_a_variable_has_the_one_date_that_is_assigned(batch: str, expected: str | None) -> None:
    text = f"{batch}; DELETE FROM t WHERE day = @d"
    shape = find_dates(text)
    assert shape
    texts = literals(text)
    numbered = {number: texts[number] for number in shape.numbers}
    [day] = shape.dates(DateValues(numbered, {"@p": "'2026-11-07'"}, NOW, NOW))
    assert (day.start and f"{day.start:%Y-%m-%d}") == expected
