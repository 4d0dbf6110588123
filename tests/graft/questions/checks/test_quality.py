"""`graft check --only quality`: the docs' example, its data, and exit codes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dbt_graft.collectors.store.arrow_tables import table, tables
from dbt_graft.collectors.store.commit import commit
from dbt_graft.collectors.store.fold.write import fold_store
from dbt_graft.collectors.store.tables import ReadLog
from dbt_graft.graft.commands.cli import main
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, NodeResult, Records, Run, Status
from tests.graft.commands.answers import read_answer
from tests.graft.commands.test_impact import project as orders_project

__all__ = ["orders_project"]
MIDNIGHT = datetime(2026, 11, 20, tzinfo=UTC)
MODELS = {"model.shop.orders_x": 5, "model.shop.mart": 6}
DBT = "dbt:shop#1"
TEST = "test.shop.not_null_note"


@pytest.fixture
def project(orders_project: Path) -> Path:
    """Ten nights of `load -> orders_x -> mart`; in the last one a test failed."""
    orders = DatasetId("spark", "raw.orders")
    nights = [MIDNIGHT - timedelta(days=day) for day in range(10)]
    runs = tuple(
        Run(f"load-{night:%d}", "load", "spark", night, hour(night, 4), Status.OK, origin="log")
        for night in nights
    )
    accesses = tuple(
        Access(
            *("load", run.run_id, orders, Kind.TABLE, Direction.WRITE),
            *(Operation.INSERT, "insert"),
            first_at=run.started_at,
            last_at=run.ended_at,
            origin="log",
        )
        for run in runs
    )
    results = [
        NodeResult(
            *(model, f"{night:%d}", "build", "success", Status.OK),
            started_at=hour(night, end - 1),
            ended_at=hour(night, end),
            origin=DBT,
        )
        for model, end in MODELS.items()
        for night in nights
    ]
    at = hour(MIDNIGHT, 5)
    results.append(
        NodeResult(*(TEST, "20", "build", "fail", Status.FAILED, at, at), failures=3, origin=DBT)
    )
    found = tables(
        Records(accesses=accesses, runs=runs),
        {},
        node_results=table(NodeResult, results),
        origins=table(ReadLog, [ReadLog("log", "1"), ReadLog(DBT, "1", events=len(results))]),
    )
    commit(str(orders_project / ".graft/store"), [found])
    return orders_project


def hour(night: datetime, hours: int) -> datetime:
    return night + timedelta(hours=hours)


def quality(folder: Path, *arguments: str) -> Result:
    command = ["check", "--only", "quality", "-c", str(folder / "graft.yml"), *arguments]
    return CliRunner().invoke(main, command)


def document(folder: Path, *arguments: str) -> dict[str, Any]:
    answer = read_answer(quality(folder, "--json", *arguments).stdout)
    found: dict[str, Any] = answer["data"]["quality"]
    return found


def test_the_example_of_the_docs(project: Path, root: Path) -> None:
    text = (root / "docs/check.md").read_text()
    command, _, example = (
        text.partition("$ graft check --only quality ")[2].partition("```")[0].partition("\n")
    )
    assert quality(project, *command.split()).stdout == example


def test_the_data_names_the_tasks_that_a_deadline_waits_for(project: Path) -> None:
    [deadline] = document(project, "--at", "2026-11-21T06:30")["deadlines"]
    assert (deadline["status"], deadline["tasks"]) == ("will miss", ["load"])


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ((), 0),
        (("--at", "2026-11-22T12:00", "--fail-on", "warning"), 3),
        (("--at", "2026-11-20T06:30", "--fail-on", "warning"), 3),  # the failed test
        (("--at", "yesterday"), 2),
    ],
)
def test_it_fails_where_somebody_should_know(
    project: Path, arguments: tuple[str, ...], status: int
) -> None:
    assert quality(project, *arguments).exit_code == status


@pytest.mark.parametrize(("at", "count"), [("2026-11-20T04:30", 0), ("2026-11-20T05:30", 1)])
def test_a_moment_knows_no_later_fault(project: Path, at: str, count: int) -> None:
    assert len(document(project, "--at", at)["faults"]) == count


def test_without_results_nothing_is_wrong(orders_project: Path) -> None:
    result = quality(orders_project, "--fail-on", "note")
    assert result.exit_code == 0
    assert "0 faults, 0 datasets below" in result.stdout


def test_a_consumer_in_yaml_has_a_deadline_too(project: Path) -> None:
    with (project / "graft.yml").open("a") as config:
        config.write("\ntasks: {mart_to_mail: {deadline: 09:15 Europe/Berlin}}\n")
    CliRunner().invoke(main, ["collect", "-c", str(project / "graft.yml")])
    assert quality(project).exit_code == 0


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("deadline: soon", "write a time of day"),
        ("freshness_slo: often", "write a length of time"),
    ],
)
def test_what_is_no_time_is_refused(project: Path, entry: str, message: str) -> None:
    with (project / "graft.yml").open("a") as config:
        config.write(f"\ntasks: {{mart_to_mail: {{{entry}}}}}\n")
    result = quality(project)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_task_that_runs_all_day_has_a_history(orders_project: Path) -> None:
    """Its newest runs are of a day; older ones that did the same are read for the forecast."""
    orders = DatasetId("spark", "raw.orders")
    now = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    store = str(orders_project / ".graft/store")
    for day in range(12, 0, -1):
        at = [now - timedelta(days=day) + timedelta(hours=hour) for hour in range(24)]
        runs = tuple(
            Run(f"load-{one:%d-%H}", "load", "spark", one, one, Status.OK, origin=f"log-{day}")
            for one in at
        )
        accesses = tuple(
            Access(
                *("load", run.run_id, orders, Kind.TABLE, Direction.WRITE),
                *(Operation.INSERT, "insert"),
                first_at=run.started_at,
                last_at=run.ended_at,
                origin=f"log-{day}",
            )
            for run in runs
        )
        commit(store, [tables(Records(accesses=accesses, runs=runs), {f"log-{day}": "1"})])
    assert fold_store(store, few=1)
    [deadline] = document(orders_project)["deadlines"]
    assert deadline["status"] in ("met", "on time")
