"""Runs of DAGs by the names that people have for them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from dbt_graft.analysis.dates.incident import dag_run_answer
from dbt_graft.analysis.history.dag_runs import DagRun, failed_dags, find_dag_run, runs_by_dag
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import Run, Status

START = datetime(2026, 10, 2, 5, tzinfo=UTC)


def run(
    name: str, day: int, status: Status = Status.OK, number: int = 1, prefix: str = "scheduled"
) -> Run:
    """A run for a day of October: `shop/load` is a task, `shop` a DAG."""
    begin = START + timedelta(days=day - 1, minutes=number)
    return Run(
        f"{name}-{day}-{number}",
        name.rpartition("/")[2].rpartition(".")[2],
        "airflow",
        begin,
        begin + timedelta(minutes=1),
        status,
        application_id=f"{name}/{prefix}__2026-10-{day:02}",
        nominal_start=begin.replace(hour=0, minute=0) - timedelta(days=1),
        nominal_end=begin.replace(hour=0, minute=0),
        attempt=number,
    )


def runs(*listed: Run) -> dict[str, Run]:
    return {one.run_id: one for one in listed}


GOOD = (run("shop/raw.load", 3), run("shop/build", 3, number=2), run("shop", 3))
FAILED = (run("shop/raw.load", 4, Status.FAILED), run("shop", 4, Status.FAILED))
OTHER = run("ads/load", 3)


@pytest.mark.parametrize(
    "name", ["shop/scheduled__2026-10-04", "scheduled__2026-10-04", "shop/2026-10-04"]
)
def test_a_run_of_a_dag_is_found_by_its_id_and_by_its_date(name: str) -> None:
    found = find_dag_run(runs(*GOOD, *FAILED, OTHER), name)
    assert found
    assert (found.dag, found.name, found.date) == ("shop", "scheduled__2026-10-04", "2026-10-04")


@pytest.mark.parametrize("name", ["shop", "scheduled", "shop/2026-11-04", "shop/raw.load-4-1"])
def test_other_names_mean_none(name: str) -> None:
    assert find_dag_run(runs(*GOOD, *FAILED), name) is None


def test_a_name_of_several_is_an_error() -> None:
    with pytest.raises(GraftError, match="2 runs of DAGs have this name"):
        find_dag_run(runs(*GOOD, OTHER), "scheduled__2026-10-03")


def test_the_newest_try_of_a_task_counts() -> None:
    again = run("shop/raw.load", 4, number=2)
    found = find_dag_run(runs(*GOOD, FAILED[0], again), "shop/2026-10-04")
    assert found
    assert (found.status, [one.attempt for one in found.tries.values()]) == (Status.OK, [2])


def test_a_failed_run_names_the_tasks_that_it_did_not_get_to() -> None:
    found = find_dag_run(runs(*GOOD, *FAILED), "shop/2026-10-04")
    assert found
    [(name, missing)] = found.missing.items()
    assert (found.status, name) == (Status.FAILED, "build")
    assert (missing.task, missing.status) == ("build", Status.FAILED)
    assert missing.nominal_start == FAILED[0].nominal_start
    answer = dag_run_answer(found, None)
    assert answer.title == "run scheduled__2026-10-04 of DAG shop"
    assert answer.verdict.startswith("1 of 1 task failed")
    [tasks, *_] = answer.tables
    assert [row[:2] for row in tasks.rows] == [("raw.load", "failed"), ("build", "did not run")]


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ((*GOOD, *FAILED), {"shop": ["build"]}),
        ((*FAILED, run("shop", 5)), {}),
        ((*GOOD, OTHER), {}),
    ],
)
def test_a_dag_whose_newest_run_failed_is_listed(
    listed: tuple[Run, ...], expected: dict[str, list[str]]
) -> None:
    found = failed_dags(runs_by_dag(runs(*listed)))
    assert {one.dag: [*one.missing] for one in found} == expected


def test_without_an_event_of_the_dag_its_tasks_tell_its_state() -> None:
    [task] = FAILED[:1]
    assert DagRun("shop", "x", None, {"load": task}).status is Status.FAILED
    assert DagRun("shop", "x", None, {"load": GOOD[0]}).status is Status.OK
