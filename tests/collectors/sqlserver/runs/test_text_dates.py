"""`GETDATE()` in a condition -> a day by the server's clock."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from dbt_graft.collectors.sqlserver.runs.requests import dates_at
from dbt_graft.collectors.statements.periods.shape import find_dates
from dbt_graft.collectors.statements.text.fingerprint import literals
from tests.cases import for_each

# In Berlin it is the 2nd by then, in New York still the 1st.
AT = datetime(2026, 11, 1, 23, 30, tzinfo=UTC)


@for_each(
    "expression, zone, expected",
    [
        ("GETDATE()", "UTC", "2026-11-01"),
        ("GETDATE()", "Europe/Berlin", "2026-11-02"),
        ("SYSDATETIME()", "Europe/Berlin", "2026-11-02"),
        ("CURRENT_TIMESTAMP", "Europe/Berlin", "2026-11-02"),
        ("GETDATE()", "America/New_York", "2026-11-01"),
        ("DATEADD(day, -1, GETDATE())", "Europe/Berlin", "2026-11-01"),
        ("GETUTCDATE()", "Europe/Berlin", "2026-11-01"),
        ("DATEADD(day, -1, SYSUTCDATETIME())", "Europe/Berlin", "2026-10-31"),
    ],
)
def test_days_are_by_the_clock_of_the_server(expression: str, zone: str, expected: str) -> None:
    text = f"SELECT a FROM dbo.orders WHERE day = CAST({expression} AS date)"
    shape = find_dates(text)
    assert shape
    found = literals(text)
    values = tuple(found[number] for number in shape.numbers)
    at = int(AT.timestamp()) * 1_000_000
    [day] = dates_at(shape, values, (), at, ZoneInfo(zone))
    assert day.start
    assert str(day.start.date()) == expected
