"""Data intervals without a length: the times are those at which Airflow 3.3 triggers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from dbt_graft.collectors.openlineage.ticks import interval_end
from tests.cases import for_each


def _end(timetable: dict[str, Any], start: str, end: str | None = None, facet: str = "") -> str:
    at = datetime.fromisoformat(start).replace(tzinfo=UTC)
    of_run = datetime.fromisoformat(end).replace(tzinfo=UTC) if end else at
    facets = {facet or "airflow": {"dag": {"timetable": timetable}}}
    last = interval_end(facets, at, of_run)
    return f"{last:%Y-%m-%dT%H:%M}" if last else ""


@for_each(
    "expression, zone, start, end",
    [
        ("0 5 * * *", "UTC", "2026-11-02T05:00", "2026-11-02T05:00"),
        ("0 5 * * 1-5", "UTC", "2026-11-02T05:00", "2026-11-02T05:00"),
        ("0 * * * *", "UTC", "2026-11-02T23:00", "2026-11-03T00:00"),
        ("*/15 * * * *", "UTC", "2026-11-02T05:45", "2026-11-02T06:00"),
        ("0 */6 * * *", "UTC", "2026-11-02T18:00", "2026-11-03T00:00"),
        ("0 6,18 * * *", "Europe/Berlin", "2026-11-02T05:00", "2026-11-02T17:00"),
        ("0 6,18 * * *", "Europe/Berlin", "2026-11-02T17:00", "2026-11-03T05:00"),
        ("30 9-17/4 * * *", "America/New_York", "2026-11-02T14:30", "2026-11-02T18:30"),
        ("10-50/20 3 * * *", "UTC", "2026-11-02T03:50", "2026-11-03T03:10"),
        # Not on the days between.
        ("0 6,18 * * 1-5", "UTC", "2026-11-06T18:00", "2026-11-09T06:00"),
        ("0 6,18 * * MON-FRI", "UTC", "2026-11-06T06:00", "2026-11-06T18:00"),
        ("0 8,20 1 * *", "UTC", "2026-11-01T20:00", "2026-12-01T08:00"),
        # Hours by the clock on the wall, where summer time ends and begins.
        ("0 6,18 * * *", "Europe/Berlin", "2026-10-24T16:00", "2026-10-25T05:00"),
        ("0 6,18 * * *", "Europe/Berlin", "2026-03-28T17:00", "2026-03-29T04:00"),
        ("0 * * * *", "Europe/Berlin", "2026-10-25T00:00", "2026-10-25T01:00"),
        ("@hourly", "UTC", "2026-11-02T05:00", "2026-11-02T06:00"),
        # By hand, between two times.
        ("0 * * * *", "UTC", "2026-11-02T05:40", "2026-11-02T06:00"),
        # What is not read is a day, as before.
        ("H * * * *", "UTC", "2026-11-02T05:00", "2026-11-02T05:00"),
        ("0 0,6 31 2 *", "UTC", "2026-11-02T05:00", "2026-11-02T05:00"),
        ("every hour", "Nowhere/Atall", "2026-11-02T05:00", "2026-11-02T05:00"),
        ("", "", "2026-11-02T05:00", "2026-11-02T05:00"),
    ],
)
def test_the_interval_of_a_schedule_of_several_times_a_day_goes_up_to_the_next(
    expression: str, zone: str, start: str, end: str
) -> None:
    timetable = {"expression": expression, "timezone": zone, "interval": 0.0}
    assert _end(timetable, start) == end
    assert _end(timetable, start, facet="airflowDagRun") == end


@pytest.mark.parametrize(
    ("timetable", "end"),
    [
        ({"delta": 3600.0, "interval": 0.0}, "2026-11-02T06:00"),
        ({"delta": 86400.0, "interval": 0.0}, "2026-11-02T05:00"),
        ({"expressions": ["0 5 * * *", "0 17 * * *"], "timezone": "UTC"}, "2026-11-02T17:00"),
        ({"expressions": ["0 5 * * 1", "0 17 * * 4"]}, "2026-11-02T05:00"),
        ({"expressions": [1, None]}, "2026-11-02T05:00"),
        ({}, "2026-11-02T05:00"),
    ],
)
def test_other_timetables(timetable: dict[str, Any], end: str) -> None:
    assert _end(timetable, "2026-11-02T05:00") == end


def test_a_length_that_is_known_stays() -> None:
    hourly = {"expression": "0 * * * *", "timezone": "UTC"}
    assert _end(hourly, "2026-11-02T05:00", "2026-11-03T05:00") == "2026-11-03T05:00"
    at = datetime(2026, 11, 2, tzinfo=UTC)
    assert interval_end({"airflow": {"dag": {"timetable": hourly}}}, at, None) is None
