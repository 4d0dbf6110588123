"""Forecasts of `raw -> stage -> mart -> board`, each written nightly, by the history of 20 days."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from dbt_graft.analysis.history.data_age import WriteHistory
from dbt_graft.analysis.quality.deadlines import DeadlineForecast, forecasts
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from tests.cases import for_each

LINE = ("raw", "stage", "mart")
USUAL = {"raw": "04:00", "stage": "05:00", "mart": "06:00"}
TODAY = datetime(2026, 11, 20, tzinfo=UTC)  # a Friday


def dataset(name: str) -> DatasetId:
    return DatasetId("db", name)


def parents(one: DatasetId) -> list[DatasetId]:
    at = LINE.index(one.name) if one.name in LINE else 0
    return [dataset(LINE[at - 1])] if at else []


def at(day: int, clock: str) -> datetime:
    hours, minutes = map(int, clock.split(":"))
    return TODAY + timedelta(days=day, hours=hours, minutes=minutes)


def history(today: dict[str, str], days: int = 20, skip: str = "") -> WriteHistory:
    """Nights at the usual times; `today` says what is written today, and when.

    Args:
        skip: The weekdays without a night, as `%a`.
    """
    nights = [-day for day in range(days, 0, -1)]
    nights = [day for day in nights if f"{at(day, '00:00'):%a}" not in skip.split()]
    found = {name: [at(day, USUAL[name]) for day in nights] for name in LINE}
    for name, clock in today.items():
        found[name].append(at(0, clock))
    return WriteHistory({dataset(name): times for name, times in found.items()}, parents)


def forecast(
    now: str, today: dict[str, str], deadline: str = "08:00", slo: str = "", **more: object
) -> DeadlineForecast:
    board = Consumer(
        "e", "board", "dashboard", (dataset("mart"),), freshness_slo=slo, deadline=deadline
    )
    [found] = forecasts(history(today, **more), [board], at(0, now))  # type: ignore[arg-type]
    return found


@for_each(
    "now, today, status, expected, waits_for",
    [
        ("03:00", {}, "on time", "06:00", None),
        # Not before the usual time and a quarter of an hour has passed.
        ("04:10", {}, "on time", "06:00", None),
        ("04:30", {}, "late", "06:30", "raw"),
        ("06:30", {}, "will miss", "08:30", "raw"),
        ("05:30", {"raw": "04:00"}, "late", "06:30", "stage"),
        ("07:30", {"raw": "04:00"}, "will miss", "08:30", "stage"),
        ("07:00", {"raw": "04:00", "stage": "05:00"}, "late", "07:00", "mart"),
        ("06:30", {"raw": "04:00", "stage": "05:00", "mart": "06:00"}, "met", None, None),
        ("02:30", {"raw": "01:00", "stage": "01:30", "mart": "02:00"}, "met", None, None),
        ("09:00", {}, "missed", None, "raw"),
        ("09:30", {"raw": "09:00"}, "missed", None, "stage"),
        # It came late, and the next night is not yet due.
        ("10:00", {"raw": "09:00", "stage": "09:10", "mart": "09:20"}, "on time", None, None),
    ],
)
def test_a_deadline(
    now: str, today: dict[str, str], status: str, expected: str | None, waits_for: str | None
) -> None:
    found = forecast(now, today)
    assert found.status.value == status
    assert (found.waits_for.name if found.waits_for else None) == waits_for
    if expected:
        assert found.expected is not None
        assert f"{found.expected:%H:%M}" == expected


@pytest.mark.parametrize(
    ("deadline", "days", "status", "reason"),
    [
        ("08:00", 3, "unknown", "db/mart has no history of 5 days"),
        ("soon", 20, "unknown", "its deadline is not a time of day: soon"),
        ("09:00 Europe/Berlin", 20, "on time", ""),
    ],
)
def test_what_is_not_known_is_said(deadline: str, days: int, status: str, reason: str) -> None:
    found = forecast("03:00", {}, deadline, days=days)
    assert (found.status.value, found.reason) == (status, reason)


def test_nothing_is_due_on_days_of_the_week_without_a_night() -> None:
    found = forecast("07:30", {}, days=28, skip="Fri Sat Sun")
    assert (found.status.value, found.reason) == ("met", "db/mart is not written on Fridays")


@for_each(
    "weeks, status",
    [
        ((), "met"),
        # A night of Thursday that came on Friday is none of Friday.
        ((1,), "met"),
        ((1, 3), "on time"),
        ((1, 2, 3, 4), "on time"),
    ],
)
def test_a_day_of_the_week_has_a_night_if_half_of_them_had_one(
    weeks: tuple[int, ...], status: str
) -> None:
    nights = history({}, days=35, skip="Fri Sat Sun").finished
    later = {name: [at(-7 * week, USUAL[name]) for week in weeks] for name in LINE}
    finished = {table: sorted([*times, *later[table.name]]) for table, times in nights.items()}
    board = Consumer("e", "board", "dashboard", (dataset("mart"),), deadline="08:00")
    [of_friday] = forecasts(WriteHistory(finished, parents), [board], at(0, "03:00"))
    assert of_friday.status.value == status


@pytest.mark.parametrize(
    ("now", "slo", "status"),
    [
        ("06:30", "2h", "met"),
        ("08:30", "2h", "stale"),
        ("08:30", "PT3H", "met"),
        ("08:30", "x", "unknown"),
    ],
)
def test_the_age_of_the_data(now: str, slo: str, status: str) -> None:
    today = {"mart": "06:00"}
    assert forecast(now, today, deadline="", slo=slo).status.value == status


@pytest.mark.parametrize(
    ("now", "slo", "status", "waits_for"),
    [
        ("09:30", "30h", "met", None),
        # It was written at 6, and holds what was loaded at 4 the day before.
        ("10:30", "30h", "stale", "raw"),
    ],
)
def test_the_age_of_the_data_is_that_of_its_source(
    now: str, slo: str, status: str, waits_for: str | None
) -> None:
    old = forecast(now, {"mart": "06:00"}, deadline="", slo=slo)
    assert old.status.value == status
    assert old.waits_for == (dataset(waits_for) if waits_for else None)


def test_what_is_read_through_views_counts() -> None:
    board = Consumer("e", "board", "dashboard", (dataset("view"),), deadline="08:00")
    line = WriteHistory(
        history({}).finished,
        lambda one: [dataset("mart")] if one.name == "view" else parents(one),
    )
    [found] = forecasts(line, [board], at(0, "06:30"))
    assert (found.status.value, found.dataset) == ("will miss", dataset("mart"))
