"""Pictures of a year: a bar a day, and the same in words."""

from __future__ import annotations

import re
from datetime import date, timedelta

from dbt_graft.catalog.day_charts import day_chart
from dbt_graft.lineage.building.daily import DayRows, DayRuns

BEGIN = date(2026, 1, 1)


def runs(*failed: int) -> list[DayRuns]:
    return [DayRuns(BEGIN + timedelta(days=at), 24, bad) for at, bad in enumerate(failed)]


def test_runs_have_a_bar_a_day_and_their_number_in_words() -> None:
    chart = str(day_chart(runs(*[0] * 20)))
    assert len(re.findall(r"M\d+ 40v-40h", chart)) == 20
    assert "480 runs since 2026-01-01, at most 24 a day; none failed" in chart


def test_a_day_with_failed_runs_has_a_mark() -> None:
    chart = str(day_chart(runs(*[0] * 14, 3, 0)))
    assert chart.count("M28 44h1") == 1
    assert '<span class="graft-bars__failed">3 failed</span> on 1 day' in chart


def test_days_without_runs_leave_a_gap() -> None:
    days = [one for one in runs(*[0] * 20) if one.day.day != 10]
    assert "M18 40" not in str(day_chart(days))


def test_one_large_day_does_not_make_all_others_flat() -> None:
    days = [DayRows(BEGIN + timedelta(days=at), 100) for at in range(20)]
    days.append(DayRows(BEGIN + timedelta(days=20), 1_000_000))
    chart = str(day_chart(days))
    assert "v-13.3h" in chart
    assert "Rows on 21 days since 2026-01-01, usually 100 a day, at most 1,000,000" in chart


def test_few_days_have_no_chart() -> None:
    assert day_chart(runs(0, 0, 0)) == ""
    assert day_chart([]) == ""
