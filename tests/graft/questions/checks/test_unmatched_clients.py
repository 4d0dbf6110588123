"""Events without a task: the client names that were seen instead are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_graft.analysis.finding import Severity
from dbt_graft.collectors.sqlserver.event import ExtendedEvent
from dbt_graft.graft.project.config import load
from dbt_graft.graft.questions.checks.unmatched_clients import (
    find_other_clients,
    find_unmatched_clients,
)
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
        "7 events and no task: no client name matches `task`; "
        "seen: etl::*, job *x*, SSMS, (no name)"
    )
    assert "graft collect --again" in finding.remedy


def test_logs_that_are_gone_are_still_named(folder: Path) -> None:
    (folder / "xe/a.xel").unlink()
    (folder / "xe").rmdir()
    (finding,) = find_unmatched_clients(load(folder / "graft.yml"), Records(), lambda: POSITIONS)
    assert finding.problem == "7 events and no task: no client name matches `task`"


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


def test_clients_of_no_task_are_named_beside_tasks(folder: Path) -> None:
    with (folder / "graft.yml").open("w") as file:
        pattern = "etl::(?P<task>load)_(?P<run>.*)"
        entry = f"{{server: 'mssql://crm:1433', path: xe, task: '{pattern}'}}"
        file.write(f"collect: [{{sqlserver: {entry}}}]")
    records = Records(runs=(Run("r", "load", "sqlserver", origin="xe/a.xel"),))
    (finding,) = find_other_clients(load(folder / "graft.yml"), records)
    assert (finding.subject, finding.severity) == ("xe", Severity.NOTE)
    assert finding.problem.endswith("no task: job *x*, SSMS, etl::*, (no name)")
