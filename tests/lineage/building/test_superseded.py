"""Superseded runs: tries of one piece of work, and dates of data that are written again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from dbt_graft.lineage.building.superseded import supersessions
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Run, Status
from tests import notation
from tests.cases import for_each
from tests.lineage.past_histories import START, TABLES

A, B, *_ = TABLES
DAY, HOUR = timedelta(days=1), timedelta(hours=1)


def _run(name: str, hour: float, **other: Any) -> Run:
    values = {"task": "load", "engine": "spark", "status": Status.OK, **other}
    return Run(name, started_at=START + hour * HOUR, **values)


def _interval(day: int) -> dict[str, Any]:
    return {"nominal_start": START + day * DAY, "nominal_end": START + (day + 1) * DAY}


def _later(runs: list[Run], accesses: list[Access] | None = None) -> dict[str, list[str]]:
    """Run id -> the ids of the runs that supersede it."""
    found = supersessions(runs, accesses or [])
    return {run_id: [one.run_id for one in later] for (_, run_id), later in found.items()}


def test_the_last_run_of_an_interval_supersedes_those_before() -> None:
    runs = [_run(f"r{n}", n, **_interval(0)) for n in range(3)]
    runs += [_run("other", 5, **_interval(1)), _run("plain", 6), _run("plain2", 7)]
    assert _later(runs) == {"r0": ["r2"], "r1": ["r2"]}


@pytest.mark.parametrize("other", [{"task": "mart"}, {"engine": "sqlserver"}])
def test_another_task_or_engine_supersedes_nothing(other: dict[str, str]) -> None:
    runs = [_run("r0", 0, **_interval(0)), _run("r1", 1, **_interval(0), **other)]
    assert _later(runs) == {}


def test_a_try_that_failed_supersedes_nothing_and_is_superseded() -> None:
    runs = [
        _run("r0", 0, **_interval(0)),
        _run("r1", 1, status=Status.FAILED, **_interval(0)),
    ]
    assert _later(runs) == {}
    assert _later([*runs, _run("r2", 2, **_interval(0))]) == {"r0": ["r2"], "r1": ["r2"]}


def test_the_tries_of_a_task_of_a_dag_are_known_by_its_run() -> None:
    tries = [
        Run(f"try{n}", "shop.load", "airflow", status=Status.OK, job="airflow/shop.load",
            parent_run_id="dag-1", attempt=n)
        for n in (1, 2)
    ]  # fmt: skip
    runs = [_run(f"app{n}", n, parent_run_id=f"try{n}") for n in (1, 2)]
    # A try may start several applications.
    runs.append(_run("app2b", 2.5, parent_run_id="try2"))
    other = Run("try9", "shop.load", "airflow", parent_run_id="dag-2", attempt=1)
    runs.append(_run("app9", 9, parent_run_id="try9"))
    assert _later([*tries, other, *runs])["app1"] == ["app2"]
    assert set(_later([*tries, other, *runs])) == {"app1", "try1"}


def _write(
    run: str, hour: float, days: tuple[int, int], operation: Operation, **other: Any
) -> Access:
    period = Period(
        START + days[0] * DAY, START + days[1] * DAY, Grain.DAY, PeriodEvidence.PARTITION, "ds"
    )
    values = {"dataset": A, "periods": (period,), "shape_id": f"s-{operation}", **other}
    return notation.access(operation, at=START + hour * HOUR, run_id=run, **values)


OVERWRITE, INSERT, DELETE = Operation.INSERT_OVERWRITE, Operation.INSERT, Operation.DELETE


@for_each("later, expected", [
    ([_write("r1", 1, (0, 1), OVERWRITE)], {"r0": ["r1"]}),
    ([_write("r1", 1, (0, 1), DELETE), _write("r1", 1, (0, 1), INSERT)], {"r0": ["r1"]}),
    ([_write("r1", 1, (0, 1), OVERWRITE, task="repair")], {"r0": ["r1"]}),
    ([_write("r1", 1, (0, 1), INSERT)], {}),
    ([_write("r1", 1, (0, 1), OVERWRITE, status=Status.FAILED)], {}),
    ([_write("r1", 1, (0, 1), OVERWRITE, dataset=B)], {}),
    ([_write("r1", 1, (0, 2), OVERWRITE)], {}),
    ([_write("r1", 1, (0, 1), OVERWRITE, periods=())], {}),
])  # fmt: skip
def test_a_write_is_superseded_where_all_of_its_dates_are_replaced(
    later: list[Access], expected: dict[str, list[str]]
) -> None:
    assert _later([], [_write("r0", 0, (0, 1), OVERWRITE), *later]) == expected


def test_a_write_that_is_superseded_names_its_dataset() -> None:
    accesses = [_write(f"r{n}", n, (0, 1), OVERWRITE) for n in range(3)]
    found = supersessions([], accesses)
    assert {one.run_id for later in found.values() for one in later} == {"r2"}
    assert {one.dataset for later in found.values() for one in later} == {A}


def test_a_run_that_was_done_again_is_superseded_once() -> None:
    runs = [_run(f"r{n}", n, **_interval(0)) for n in range(2)]
    accesses = [_write(f"r{n}", n, (0, 1), OVERWRITE) for n in range(2)]
    found = supersessions(runs, accesses)
    assert [one.dataset for one in found["load", "r0"]] == [None]
