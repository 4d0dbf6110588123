"""Data intervals of orchestrators -> the dates of what their runs wrote."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from dbt_graft.lineage.building.nominal_periods import nominal_period, with_nominal_periods
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Run
from tests.cases import for_each
from tests.lineage.shown_periods import shown


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


DAG = Run(
    "dag",
    "shop",
    "airflow",
    nominal_start=at("2026-11-01"),
    nominal_end=at("2026-11-02"),
)
TASK = Run("ti", "shop.load", "airflow", parent_run_id="dag")
OWN = Run("app", "load", "spark", parent_run_id="ti")
WRITE = Access(
    "load",
    "app",
    DatasetId("spark", "raw.orders"),
    Kind.TABLE,
    Direction.WRITE,
    Operation.INSERT,
    "s",
)
DATED = Period(at("2026-10-01"), at("2026-10-02"), Grain.DAY, PeriodEvidence.PARTITION, "ds")


def test_a_write_without_dates_has_those_of_the_run_above() -> None:
    [access] = with_nominal_periods([WRITE], [OWN, TASK, DAG])
    assert shown(access.periods) == ["2026-11-01 2026-11-02 day interval"]


@pytest.mark.parametrize(
    "access",
    [
        pytest.param(replace(WRITE, periods=(DATED,)), id="stronger evidence"),
        pytest.param(replace(WRITE, direction=Direction.READ), id="read"),
        pytest.param(replace(WRITE, operation=Operation.DROP), id="no data"),
        pytest.param(replace(WRITE, run_id="other"), id="another run"),
    ],
)
def test_other_accesses_stay_as_they_are(access: Access) -> None:
    assert with_nominal_periods([access], [OWN, TASK, DAG]) == [access]


@for_each(
    "start, end, expected",
    [
        ("2026-11-01", "2026-11-02", "2026-11-01 2026-11-02 day interval"),
        ("2026-11-01", "2026-11-01", "2026-11-01 2026-11-02 day interval"),
        ("2026-11-01T05:00", "2026-11-01T06:00", "2026-11-01T05 2026-11-01T06 hour interval"),
        ("2026-11-01T05:30", "2026-11-01T06:30", "2026-11-01T05 2026-11-01T06 hour interval"),
        ("2026-11-01T06:00", "2026-11-01T12:00", "2026-11-01T06 2026-11-01T12 hour interval"),
        ("2026-11-01T05:00", "2026-11-02T05:00", "2026-11-01 2026-11-02 day interval"),
        ("2026-11-01T05:00", "2026-11-02T06:00", "2026-11-01 2026-11-03 day interval"),
        ("2026-11-01", "2026-12-01", "2026-11-01 2026-12-01 month interval"),
        ("2026-11-02", "2026-11-09", "2026-11-02 2026-11-09 day interval"),
    ],
)
def test_intervals_are_hours_days_or_months(start: str, end: str, expected: str) -> None:
    assert _interval(start, end) == expected


def _interval(start: str, end: str, timezone: str = "") -> str:
    period = nominal_period(at(start), at(end), timezone)
    return shown([period])[0] if period else ""


@for_each(
    "start, end, timezone, expected",
    [
        ("2026-10-22T22:00", "2026-10-23T22:00", "Europe/Berlin", "2026-10-23 2026-10-24 day"),
        # Of 25 and of 23 hours.
        ("2026-10-24T22:00", "2026-10-25T23:00", "Europe/Berlin", "2026-10-25 2026-10-26 day"),
        ("2026-03-28T23:00", "2026-03-29T22:00", "Europe/Berlin", "2026-03-29 2026-03-30 day"),
        ("2026-10-24T22:00", "2026-10-25T23:00", "+01:00", "2026-10-25 2026-10-26 day"),
        ("2026-03-28T23:00", "2026-03-29T22:00", "+02:00", "2026-03-29 2026-03-30 day"),
        ("2026-10-22T22:00", "2026-10-23T22:00", "+02:00", "2026-10-23 2026-10-24 day"),
        ("2026-10-23T04:00", "2026-10-24T04:00", "America/New_York", "2026-10-23 2026-10-24 day"),
        ("2026-09-30T22:00", "2026-10-31T23:00", "Europe/Berlin", "2026-10-01 2026-11-01 month"),
        # To a time that clocks leave out, which Airflow takes an hour later.
        ("2026-03-28T01:30", "2026-03-29T01:30", "Europe/Berlin", "2026-03-28 2026-03-29 day"),
        ("2026-03-29T01:30", "2026-03-30T00:30", "Europe/Berlin", "2026-03-29 2026-03-30 day"),
        ("2026-09-05T04:00", "2026-09-06T04:00", "America/Santiago", "2026-09-05 2026-09-06 day"),
        ("2026-10-24T00:30", "2026-10-25T00:30", "Europe/Berlin", "2026-10-24 2026-10-25 day"),
        # The clock of the events was another one when the run was done.
        ("2026-10-22T22:00", "2026-10-23T22:00", "+01:00", "2026-10-22 2026-10-23 day"),
        ("2026-10-22T22:00", "2026-10-23T22:00", "Nowhere/Atall", "2026-10-22 2026-10-23 day"),
        # Hours are those of UTC.
        (
            "2026-10-25T00:00",
            "2026-10-25T01:00",
            "Europe/Berlin",
            "2026-10-25T00 2026-10-25T01 hour",
        ),
    ],
)
def test_days_are_those_of_the_zone(start: str, end: str, timezone: str, expected: str) -> None:
    assert _interval(start, end, timezone) == f"{expected} interval"


@for_each(
    "start, end",
    [
        ("2026-11-01T05:00", "2026-11-01T05:15"),
        # Dates that stand for none.
        ("0001-01-01", "0001-01-01"),
        ("0001-01-01", "2026-11-01"),
        ("1970-01-01", "9999-12-31"),
        ("9999-12-31", "9999-12-31T23:59:59"),
        ("9999-12-31T22:30", "9999-12-31T23:59:59"),
    ],
)
def test_an_interval_shorter_than_an_hour_or_without_ends_is_no_date(start: str, end: str) -> None:
    assert _interval(start, end) == ""
    assert _interval(start, end, "America/New_York") == ""


OVERWRITE = replace(WRITE, operation=Operation.INSERT_OVERWRITE)
PARTITIONED = replace(WRITE, run_id="other", periods=(DATED,))


@pytest.mark.parametrize(
    ("accesses", "expected"),
    [
        pytest.param([OVERWRITE], [], id="a snapshot"),
        pytest.param([replace(WRITE, operation=Operation.CREATE_TABLE_AS)], [], id="made anew"),
        pytest.param(
            [OVERWRITE, PARTITIONED],
            ["2026-11-01 2026-11-02 day interval"],
            id="a table that is written by dates",
        ),
        pytest.param(
            [replace(OVERWRITE, partitions=1)],
            ["2026-11-01 2026-11-02 day interval"],
            id="partitions",
        ),
    ],
)
def test_what_is_replaced_as_a_whole_has_no_dates(
    accesses: list[Access], expected: list[str]
) -> None:
    [first, *_] = with_nominal_periods(accesses, [OWN, TASK, DAG])
    assert shown(first.periods) == expected


def test_an_overwrite_of_an_hourly_run_is_that_of_its_hour() -> None:
    hourly = replace(DAG, nominal_end=at("2026-11-01T01:00"))
    [access] = with_nominal_periods([OVERWRITE], [OWN, TASK, hourly])
    assert shown(access.periods) == ["2026-11-01T00 2026-11-01T01 hour interval"]


def test_runs_above_each_other_in_a_circle_have_no_interval() -> None:
    circle = [replace(OWN, parent_run_id="ti"), replace(TASK, parent_run_id="app")]
    assert with_nominal_periods([WRITE], circle) == [WRITE]
