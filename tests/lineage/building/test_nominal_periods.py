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
    [found] = with_nominal_periods([WRITE], [OWN, TASK, DAG])
    assert shown(found.periods) == ["2026-11-01 2026-11-02 day interval"]


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


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("2026-11-01", "2026-11-02", "2026-11-01 2026-11-02 day interval"),
        ("2026-11-01", "2026-11-01", "2026-11-01 2026-11-02 day interval"),
        ("2026-11-01T05:00", "2026-11-01T06:00", "2026-11-01 2026-11-02 day interval"),
        ("2026-11-01T05:00", "2026-11-02T05:00", "2026-11-01 2026-11-02 day interval"),
        ("2026-11-01T05:00", "2026-11-02T06:00", "2026-11-01 2026-11-03 day interval"),
        ("2026-11-01", "2026-12-01", "2026-11-01 2026-12-01 month interval"),
        ("2026-11-02", "2026-11-09", "2026-11-02 2026-11-09 day interval"),
    ],
)
def test_intervals_are_days_or_months(start: str, end: str, expected: str) -> None:
    assert shown([nominal_period(at(start), at(end))]) == [expected]


def test_runs_above_each_other_in_a_circle_have_no_interval() -> None:
    circle = [replace(OWN, parent_run_id="ti"), replace(TASK, parent_run_id="app")]
    assert with_nominal_periods([WRITE], circle) == [WRITE]
