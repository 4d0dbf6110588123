"""Dates of data as sets of ranges: units, union, intersection, difference."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random

import pytest

from dbt_graft.lineage.dates.calendar import (
    ALL_DATES,
    FIRST,
    LAST,
    NO_DATES,
    Dates,
    dates_in,
    dates_of,
    moment_of,
    unit_of,
    unit_start,
)
from dbt_graft.lineage.dates.date_text import dates_from_iso, dates_iso, dates_text, parse_dates
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from tests.cases import for_each


@for_each(
    "grain, moment, start, end",
    [
        ("hour", "2026-10-03T05", "2026-10-03T05", "2026-10-03T06"),
        ("day", "2026-10-03T05", "2026-10-03", "2026-10-04"),
        ("week", "2026-10-03", "2026-09-28", "2026-10-05"),
        ("week", "1970-01-01", "1969-12-29", "1970-01-05"),
        ("month", "2026-10-03", "2026-10-01", "2026-11-01"),
        ("month", "2024-02-29", "2024-02-01", "2024-03-01"),
        ("quarter", "2026-12-31", "2026-10-01", "2027-01-01"),
        ("year", "1969-12-31", "1969-01-01", "1970-01-01"),
    ],
)
def test_a_unit_begins_and_ends(grain: str, moment: str, start: str, end: str) -> None:
    hours = parse_dates(moment).span[0]
    unit = unit_of(hours, Grain(grain))

    found = (unit_start(unit, Grain(grain)), unit_start(unit + 1, Grain(grain)))

    assert [f"{moment_of(hour):%Y-%m-%dT%H}" for hour in found] == [
        text if "T" in text else f"{text}T00" for text in (start, end)
    ]


@for_each("grain", list(Grain))
def test_units_beyond_all_years_are_open_ends(grain: Grain) -> None:
    assert unit_start(10**8, grain) == LAST
    assert unit_start(-(10**8), grain) == FIRST
    assert ALL_DATES.widen(grain) == ALL_DATES


def test_sets_agree_with_sets_of_hours() -> None:
    random = Random(16)  # noqa: S311
    for _ in range(500):
        one, other = (
            dates_in(
                (start, start + random.randint(0, 9))
                for start in random.choices(range(60), k=random.randint(0, 6))
            )
            for _ in range(2)
        )
        hours, others = (
            {hour for start, end in dates.ranges for hour in range(start, end)}
            for dates in (one, other)
        )

        for found, wanted in (
            (one | other, hours | others),
            (one & other, hours & others),
            (one - other, hours - others),
        ):
            assert found == dates_in((hour, hour + 1) for hour in wanted)
        assert one.covers(other) == (others <= hours)


def test_all_dates_without_some_are_open_on_both_sides() -> None:
    dates = parse_dates("2026-10-03")

    assert dates_text(ALL_DATES - dates) == "up to 2 Oct 2026, since 4 Oct 2026"
    assert (ALL_DATES - dates) | dates == ALL_DATES
    assert ALL_DATES - ALL_DATES == NO_DATES


def test_periods_are_counted_in_complete_units() -> None:
    start = datetime(2026, 10, 3, 5, tzinfo=UTC)
    period = Period(start, None, Grain.DAY, PeriodEvidence.PREDICATE, "ds")

    assert dates_text(dates_of([period])) == "since 3 Oct 2026"


@for_each(
    "text, grain, shown",
    [
        ("2026-10-03", "day", "3 Oct 2026"),
        ("2026-10-03..2026-10-05", "day", "3 to 5 Oct 2026"),
        ("2026-09-30..2026-10-02", "day", "30 Sep to 2 Oct 2026"),
        ("2025-12-30..2026-01-02", "day", "30 Dec 2025 to 2 Jan 2026"),
        ("2026-10-03,2026-10-05..2026-10-06", "day", "3 Oct 2026, 5 to 6 Oct 2026"),
        ("2026-10", "month", "Oct 2026"),
        ("2026-10..2026-12", "month", "Oct to Dec 2026"),
        ("2025-12..2026-01", "month", "Dec 2025 to Jan 2026"),
        ("2026-10", "day", "1 to 31 Oct 2026"),
        ("2026-Q4", "quarter", "Q4 2026"),
        ("2026", "year", "2026"),
        ("2026-W41", "week", "5 to 11 Oct 2026"),
        ("2026-10-03T05", "hour", "3 Oct 2026 05:00 to 06:00"),
        ("2026-10-03T23", "hour", "3 Oct 2026 23:00 to 24:00"),
        ("2026-10-03T22..2026-10-04T01", "hour", "3 Oct 2026 22:00 to 4 Oct 2026 02:00"),
        ("2026-10-03..", "day", "since 3 Oct 2026"),
        ("..2026-10-03", "day", "up to 3 Oct 2026"),
    ],
)
def test_dates_are_read_and_written_as_people_do(text: str, grain: str, shown: str) -> None:
    dates = parse_dates(text)

    assert dates_text(dates, Grain(grain)) == shown
    assert dates_from_iso(dates_iso(dates)) == dates


@for_each(
    "text",
    [
        "",
        "..",
        "yesterday",
        "2026-13-01",
        "2026-02-30",
        "2026-10-05..2026-10-03",
        "2026-W60",
        "1.5",
    ],
)
def test_what_is_no_date_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"write 2026-10-03|not a date|ends before it begins"):
        parse_dates(text)


def test_long_lists_are_cut() -> None:
    dates = Dates(tuple((n * 48, n * 48 + 24) for n in range(10)))

    assert dates_text(dates, most=2) == "1 Jan 1970, 3 Jan 1970 and 8 more"
