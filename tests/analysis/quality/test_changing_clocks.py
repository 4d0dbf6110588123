"""Deadlines in nights that change the clocks, and of tables that are written weekly."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import product
from zoneinfo import ZoneInfo

import pytest

from dbt_graft.analysis.history.data_age import WriteHistory
from dbt_graft.analysis.quality.deadlines import (
    DeadlineForecast,
    DeadlineStatus,
    forecasts,
)
from dbt_graft.analysis.quality.words import forecast_text
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from tests.cases import for_each

TABLE = DatasetId("db", "t")
BERLIN = ZoneInfo("Europe/Berlin")
SPRING, AUTUMN = datetime(2026, 3, 29), datetime(2026, 10, 25)


def forecast(now: datetime, writes: list[datetime], deadline: str) -> DeadlineForecast:
    board = Consumer("e", "board", "dashboard", (TABLE,), deadline=deadline)
    past = sorted(moment for moment in writes if moment <= now)
    [found] = forecasts(WriteHistory({TABLE: past}, lambda _: ()), [board], now)
    return found


def berlin(day: datetime, clock: str) -> datetime:
    hours, minutes = map(int, clock.split(":"))
    return day.replace(hour=hours, minute=minutes, tzinfo=BERLIN).astimezone(UTC)


def utc(day: datetime, clock: str) -> datetime:
    hours, minutes = map(int, clock.split(":"))
    return day.replace(hour=hours, minute=minutes, tzinfo=UTC)


@pytest.mark.parametrize("change", [SPRING, AUTUMN])
@pytest.mark.parametrize("place", [berlin, utc])
@for_each("day, task", product([-1, 0, 1, 5, 20], ["01:30", "02:30", "05:00", "07:50", "08:15"]))
def test_a_change_of_the_clocks_raises_no_alarm(
    change: datetime, day: int, task: str, place: Callable[[datetime, str], datetime]
) -> None:
    """A task that runs each day at one time, by the clock of Berlin or of UTC, is never missed."""
    writes = [place(change + timedelta(days=one), task) for one in range(-60, 40)]
    today = change + timedelta(days=day)
    deadline = "11:00 Europe/Berlin"
    moments = [berlin(today, f"{hour:02}:20") for hour in range(24)]
    missed = (DeadlineStatus.MISSED, DeadlineStatus.WILL_MISS)
    assert [now for now in moments if forecast(now, writes, deadline).status in missed] == []


@pytest.mark.parametrize("change", [SPRING, AUTUMN])
def test_what_does_not_run_is_seen_after_a_change_too(change: datetime) -> None:
    writes = [berlin(change + timedelta(days=day), "05:00") for day in range(-30, 0)]
    found = forecast(berlin(change, "07:30"), writes, "08:00 Europe/Berlin")
    # It may be a task of another clock: then it is an hour early.
    assert found.status.value == "late"
    found = forecast(berlin(change, "08:01"), writes, "08:00 Europe/Berlin")
    assert found.status.value == "missed"


def test_a_deadline_in_the_hour_that_is_left_out() -> None:
    writes = [berlin(SPRING + timedelta(days=day), "01:00") for day in range(-30, 0)]
    found = forecast(berlin(SPRING, "01:55"), writes, "02:30 Europe/Berlin")
    assert found.deadline == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)


def test_words_are_in_the_zone_of_the_deadline() -> None:
    writes = [berlin(SPRING - timedelta(days=day), "05:00") for day in range(1, 30)]
    found = forecast(berlin(SPRING, "04:00"), writes, "08:00 Europe/Berlin")
    assert forecast_text(found, {}) == "on time for 08:00 Europe/Berlin, expected by 05:00"


MONDAY = datetime(2026, 11, 16)


def weekly(*weeks: int) -> list[datetime]:
    """Writes on Mondays, so many weeks ago."""
    return [utc(MONDAY - timedelta(weeks=week), "05:00") for week in weeks]


@for_each(
    "day, clock, writes, status, reason",
    [
        (0, "04:00", weekly(*range(1, 9)), "on time", ""),
        (0, "06:00", weekly(*range(1, 9)), "late", ""),
        (0, "06:00", weekly(*range(9)), "met", ""),
        (1, "06:00", weekly(*range(9)), "met", "db/t is not written on Tuesdays"),
        # The Monday that went wrong is there until it is done, or the next one.
        (0, "09:00", weekly(*range(1, 9)), "missed", ""),
        (3, "06:00", weekly(*range(1, 9)), "missed", ""),
        (
            3,
            "06:00",
            [*weekly(*range(1, 9)), utc(MONDAY, "17:00")],
            "met",
            "db/t is not written on Thursdays",
        ),
        # One week that is left out changes nothing.
        (0, "04:00", weekly(1, 2, 4, 5, 6, 7, 8), "on time", ""),
        # Every second week, or each month: no day of the week is known.
        (0, "06:00", weekly(2, 4, 6, 8, 10), "unknown", "db/t has no history of 5 days"),
        (0, "06:00", weekly(1, 5, 9), "unknown", "db/t has no history of 5 days"),
        (0, "06:00", weekly(1, 2, 3), "unknown", "db/t has no history of 5 days"),
        # It is of each day, and paused for weeks.
        (
            0,
            "06:00",
            [utc(MONDAY - timedelta(days=day), "05:00") for day in (*range(26, 60), 1)],
            "unknown",
            "db/t has no history of 5 days",
        ),
        # It ended long ago.
        (0, "06:00", weekly(*range(5, 12)), "unknown", "db/t has no history of 5 days"),
    ],
)
def test_a_weekly_table(
    day: int, clock: str, writes: list[datetime], status: str, reason: str
) -> None:
    found = forecast(utc(MONDAY + timedelta(days=day), clock), writes, "08:00")
    assert (found.status.value, found.reason) == (status, reason)
