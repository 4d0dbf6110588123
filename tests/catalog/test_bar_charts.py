"""Charts of past runs and of days: what they show, and in words."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from datetime import UTC, date, datetime, timedelta

from markupsafe import Markup

from dbt_graft.catalog.bar_charts import day_chart, duration_chart, rows_chart
from dbt_graft.catalog.run_history import PastRun
from dbt_graft.lineage.building.daily import DayRows, DayRuns
from dbt_graft.lineage.records import Status

NOW = datetime(2026, 11, 20, 5, tzinfo=UTC)
BEGIN = date(2026, 1, 1)


def past(
    age: int,
    seconds: int | None = 60,
    rows: int | None = None,
    status: Status = Status.OK,
    usual: int | None = None,
) -> PastRun:
    at = NOW - timedelta(days=age)
    ended = None if seconds is None else at + timedelta(seconds=seconds)
    return PastRun(at, ended, status, "", status, rows=rows, usual_rows=usual)


def bars(chart: Markup) -> list[tuple[float, float, str]]:
    """Place, height and title of each bar."""
    found = []
    for path in ET.fromstring(chart).iter("path"):  # noqa: S314
        if (title := path.findtext("title")) is not None:
            x, height = re.match(r"M([\d.]+) 40v-([\d.]+)", path.attrib["d"]).groups()
            found.append((float(x), float(height), title))
    return found


def caption(chart: Markup) -> str:
    return "".join(ET.fromstring(chart).find("figcaption").itertext())  # noqa: S314


def test_the_oldest_run_is_first_and_the_longest_is_the_highest() -> None:
    chart = duration_chart([past(0, 30), past(1, 60)])
    assert bars(chart) == [
        (0, 40, "2026-11-19 05:00 UTC, 1 min"),
        (122, 20, "2026-11-20 05:00 UTC, 30 s"),
    ]
    assert caption(chart) == "Duration of the last 2 runs, at most 1 min; none failed"


def test_a_chart_has_a_scale_and_the_dates_of_its_ends() -> None:
    chart = duration_chart([past(0, 30), past(1, 60)])
    drawn = ET.fromstring(chart).findall(".//text")  # noqa: S314
    texts = ["1 min", "0", "2026-11-19", "2026-11-20"]
    assert [match.text for match in drawn] == texts
    assert 'aria-label="Duration of the last 2 runs, at most 1 min; none failed"' in chart


def test_the_last_run_is_above_its_date_however_few_there_are() -> None:
    for runs in (2, 3, 8, 30):
        chart = duration_chart([past(age) for age in range(runs)])
        end = max(float(x) for x in re.findall('<text x="([^"]+)"', chart))
        places = [place for place, *_ in bars(chart)]
        assert (places[0], places[-1] + 8) == (0, end)
        assert len({*places}) == runs


def test_a_failed_run_is_marked_though_its_end_is_not_known() -> None:
    chart = duration_chart([past(0, None, status=Status.FAILED), past(1), past(2, None), past(3)])
    assert [x for x, _, _ in bars(chart)] == [0, 81, 122], "a run without an end leaves a gap"
    assert bars(chart)[-1][2] == "2026-11-20 05:00 UTC, failed"
    assert chart.count("graft-bars__mark") == 1
    assert caption(chart).endswith("; 1 failed")


def test_odd_numbers_of_rows_are_marked_and_counted_in_words() -> None:
    usual = [past(age, rows=1000) for age in range(1, 8)]
    chart = rows_chart([past(0, rows=3, usual=1000), *usual])
    assert bars(chart)[-1] == (122, 2, "2026-11-20 05:00 UTC, 3 rows, usually 1,000")
    assert chart.count("graft-bars__mark") == 1
    assert caption(chart) == "Rows of the last 8 runs, usually 1,000; 1 odd"


def test_of_a_few_runs_the_caption_says_the_most_rows() -> None:
    chart = rows_chart([past(0, rows=4), past(1, rows=12)])
    assert caption(chart) == "Rows of the last 2 runs, at most 12"


def test_rows_of_failed_runs_are_not_drawn() -> None:
    failed = past(0, rows=9, status=Status.FAILED)
    assert len(bars(rows_chart([failed, past(1, rows=1), past(2, rows=1)]))) == 2


def test_runs_that_wrote_nothing_have_bars_too() -> None:
    assert [height for _, height, _ in bars(rows_chart([past(0, rows=0), past(1, rows=0)]))] == [
        2,
        2,
    ]


def test_one_run_makes_no_picture() -> None:
    assert duration_chart([past(0)]) == rows_chart([past(0, rows=1)]) == ""
    assert rows_chart([past(0), past(1)]) == duration_chart([]) == ""


def test_an_odd_run_with_many_rows_leaves_the_others_visible() -> None:
    usual = [past(age, rows=100) for age in range(1, 8)]
    heights = [
        height for _, height, _ in bars(rows_chart([past(0, rows=10**6, usual=100), *usual]))
    ]
    assert heights == [*[26.7] * 7, 40]
    chart = rows_chart([past(0, rows=10**6, usual=100), *usual])
    assert chart.count("graft-bars__cut") == 1
    assert ">150</text>" in chart, "the scale's end, at which the bar is cut"


def runs(*failed: int) -> list[DayRuns]:
    return [DayRuns(BEGIN + timedelta(days=at), 24, bad) for at, bad in enumerate(failed)]


def test_runs_have_a_bar_a_day_and_their_number_in_words() -> None:
    chart = str(day_chart(runs(*[0] * 20)))
    assert len(re.findall(r"M\d+ 40v-40h", chart)) == 20
    assert "480 runs since 2026-01-01, at most 24 a day; none failed" in chart


def test_a_day_with_failed_runs_has_a_mark() -> None:
    chart = str(day_chart(runs(*[0] * 14, 3, 0)))
    assert chart.count("M112 44h1") == 1
    assert '<span class="graft-bars__failed">3 failed</span> on 1 day' in chart


def test_days_without_runs_leave_a_gap() -> None:
    days = [run for run in runs(*[0] * 14, 3, 0) if run.day.day != 10]
    chart = str(day_chart(days))
    assert "M72 40" not in chart
    days_read = ",".join(["24"] * 9 + [""] + ["24"] * 4 + ["24/3", "24"])
    assert f'data-begin="2026-01-01" data-days="{days_read}"' in chart


def test_one_large_day_does_not_make_all_others_flat() -> None:
    days = [DayRows(BEGIN + timedelta(days=at), 100) for at in range(20)]
    days.append(DayRows(BEGIN + timedelta(days=20), 1_000_000))
    chart = str(day_chart(days))
    assert "v-13.3h" in chart
    assert "Rows on 21 days since 2026-01-01, usually 100 a day, at most 1,000,000" in chart


def test_few_days_have_no_chart() -> None:
    assert day_chart(runs(0, 0, 0)) == ""
    assert day_chart([]) == ""
