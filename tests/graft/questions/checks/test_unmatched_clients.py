"""Events without a task: the client names that were seen instead are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_graft.analysis.finding import Severity
from dbt_graft.collectors.sqlserver.event import ExtendedEvent
from dbt_graft.graft.project.config import Config, load
from dbt_graft.graft.project.progress import Progress
from dbt_graft.graft.questions.checks.unmatched_clients import (
    find_other_clients,
    find_unmatched_clients,
)
from dbt_graft.graft.steps.collecting import collect
from dbt_graft.graft.steps.summary import Summary
from dbt_graft.lineage.records import Records, Run
from tests.collectors.sqlserver.xel_session import BASE
from tests.collectors.sqlserver.xel_writer import UNIX_EPOCH, write_events


def event(number: int, client: str) -> ExtendedEvent:
    data = {"batch_text": "SELECT 1"}
    return ExtendedEvent(
        "sql_batch_completed",
        BASE - UNIX_EPOCH + number,
        data,
        {"client_app_name": client, "session_id": 51},
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    clients = ["etl::load_1", "etl::load_2", "SSMS", "job 0x77", "etl::copy", "job 0x12", ""]
    (tmp_path / "xe").mkdir()
    write_events(tmp_path / "xe/a.xel", [event(n, one) for n, one in enumerate(clients)])
    (tmp_path / "graft.yml").write_text(
        "collect: [{sqlserver: {server: 'mssql://crm:1433', path: xe}}]"
    )
    return tmp_path


POSITIONS = {"xe/a.xel": ("", 7)}


def test_the_client_names_are_shown_most_frequent_first(folder: Path) -> None:
    (finding,) = find_unmatched_clients(load(folder / "graft.yml"), Records(), lambda: POSITIONS)
    assert finding.subject == "xe"
    assert finding.problem == (
        "7 events, noise and rejects with them, and no task: no client name matches `task`; "
        "seen: etl::*, job *x*, SSMS, (no name)"
    )
    assert "graft collect --again" in finding.remedy


def test_logs_that_are_gone_are_still_named(folder: Path) -> None:
    (folder / "xe/a.xel").unlink()
    (folder / "xe").rmdir()
    (finding,) = find_unmatched_clients(load(folder / "graft.yml"), Records(), lambda: POSITIONS)
    assert (
        finding.problem
        == "7 events, noise and rejects with them, and no task: no client name matches `task`"
    )


@pytest.mark.parametrize(
    ("records", "positions"),
    [
        (Records(), {}),
        (Records(), {"xe/a.xel": ("", 0)}),
        (Records(), {"xe2/a.xel": ("", 7)}),
        (Records(runs=(Run("r", "load", "sqlserver", origin="xe/a.xel"),)), POSITIONS),
    ],
    ids=["nothing collected", "no events", "another source", "a task"],
)
def test_nothing_is_said_where_tasks_or_no_events_came(
    folder: Path, records: Records, positions: dict[str, tuple[str, int]]
) -> None:
    assert [*find_unmatched_clients(load(folder / "graft.yml"), records, lambda: positions)] == []


@pytest.fixture
def with_a_task(folder: Path) -> Config:
    pattern = "etl::(?P<task>load)_(?P<run>.*)"
    entry = f"{{server: 'mssql://crm:1433', path: xe, task: '{pattern}'}}"
    (folder / "graft.yml").write_text(f"collect: [{{sqlserver: {entry}}}]\nengine: local")
    return load(folder / "graft.yml")


def test_clients_of_no_task_are_named_beside_tasks(with_a_task: Config) -> None:
    records = Records(runs=(Run("r", "load", "sqlserver", origin="xe/a.xel"),))
    (finding,) = find_other_clients(with_a_task, records)
    assert (finding.subject, finding.severity) == ("xe", Severity.NOTE)
    assert finding.problem.endswith("not tasks: job *x*, SSMS, etl::*, (no name)")


def test_events_of_clients_of_no_task_are_counted_when_they_are_read(with_a_task: Config) -> None:
    collected = collect(with_a_task, Progress(quiet=True))
    assert collected.other_clients == {"job *x*": 2, "SSMS": 1, "etl::*": 1, "(no name)": 1}
    assert str(Summary("store", other_clients=collected.other_clients)).splitlines()[0] == (
        "clients   5 events of clients that are not tasks: "
        "2 of job *x*, 1 of SSMS, 1 of etl::*, 1 of (no name)"
    )
