"""Deadlines and lengths of time, as people write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from dbt_graft.analysis.quality.times import clock_text, length, next_at, time_of_day
from tests.cases import for_each


@for_each(
    "text, clock, zone",
    [
        ("08:00", "08:00", "UTC"),
        ("8:30", "08:30", "UTC"),
        ("T08:00Z", "08:00", "UTC"),
        ("08:00:00 UTC", "08:00", "UTC"),
        (" 23:59 Europe/Berlin ", "23:59", "Europe/Berlin"),
        ("09:00-08:00", "09:00", "UTC-08:00"),
        ("09:00 +0530", "09:00", "UTC+05:30"),
        ("09:00+01", "09:00", "UTC+01:00"),
        ("09:00+99:00", None, ""),
        ("08:00-18:00", None, ""),  # from 8 to 18 hours
        ("09:00 GMT", "09:00", "UTC"),
        ("25:00", None, ""),
        ("08:00 Mars/Olympus", None, ""),
        ("08:00 CET?", None, ""),
        ("08:00 ../../etc/passwd", None, ""),
        ("morning", None, ""),
        ("8", None, ""),
        ("", None, ""),
    ],
)
def test_a_time_of_day(text: str, clock: str | None, zone: str) -> None:
    found = time_of_day(text)
    assert (found and found[0].isoformat("minutes")) == clock
    if found:
        assert str(found[1]) == zone


@for_each(
    "text, minutes",
    [
        ("2h", 120),
        ("PT2H", 120),
        ("pt90m", 90),
        ("P1DT30M", 24 * 60 + 30),
        ("90 minutes", 90),
        ("1 day", 24 * 60),
        ("2 weeks", 14 * 24 * 60),
        ("1y", 365 * 24 * 60),
        ("P1W", 7 * 24 * 60),
        ("PT120S", 2),
        ("90 sec", 1.5),
        ("2 months", None),
        ("0h", None),
        ("PT0H", None),
        ("P", None),
        ("two hours", None),
        ("-2h", None),
        ("999999999999h", None),
        ("", None),
    ],
)
def test_a_length_of_time(text: str, minutes: float | None) -> None:
    assert length(text) == (None if minutes is None else timedelta(minutes=minutes))


@for_each(
    "now, text, expected",
    [
        ("2026-11-22T06:00", "08:00", "2026-11-22T08:00"),
        ("2026-11-22T08:00", "08:00", "2026-11-22T08:00"),
        ("2026-11-22T08:01", "08:00", "2026-11-23T08:00"),
        ("2026-11-22T06:30", "08:00 Europe/Berlin", "2026-11-22T07:00"),
        ("2026-07-22T05:30", "08:00 Europe/Berlin", "2026-07-22T06:00"),
        ("2026-11-22T23:30", "08:00 Asia/Tokyo", "2026-11-23T23:00"),
        # In the night of spring 2:30 is left out, in that of autumn it comes twice.
        ("2026-03-29T00:00", "02:30 Europe/Berlin", "2026-03-29T01:30"),
        ("2026-03-29T01:10", "02:30 Europe/Berlin", "2026-03-29T01:30"),
        ("2026-03-29T01:40", "02:30 Europe/Berlin", "2026-03-30T00:30"),
        ("2026-10-25T00:00", "02:30 Europe/Berlin", "2026-10-25T00:30"),
        ("2026-10-25T01:15", "02:30 Europe/Berlin", "2026-10-26T01:30"),
    ],
)
def test_the_next_moment_with_it(now: str, text: str, expected: str) -> None:
    clock = time_of_day(text)
    assert clock
    moment = datetime.fromisoformat(now).replace(tzinfo=UTC)
    assert next_at(moment, *clock) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


@for_each(
    "value, text",
    [
        (1110, "18:30"),
        (0, "00:00"),
        (" 08:00 ", "08:00"),
        (1440, "1440"),
        (True, "True"),
        (-5, "-5"),
    ],
)
def test_minutes_of_yaml_are_a_time_of_day(value: object, text: str) -> None:
    assert clock_text(value) == text
