from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dbt_graft.collectors.sqlserver import tools
from dbt_graft.collectors.sqlserver.server import catalog_queries
from dbt_graft.collectors.sqlserver.server.catalog_queries import TakenSnapshot
from dbt_graft.collectors.sqlserver.server.session_events import ACTIONS, EVENTS
from dbt_graft.collectors.sqlserver.server.session_script import SessionOptions, session_script
from dbt_graft.collectors.sqlserver.server.session_state import (
    CapturedEvent,
    DroppedEvents,
    SessionState,
)
from dbt_graft.collectors.sqlserver.server.snapshot import (
    Snapshot,
    SnapshotDatabase,
    SnapshotRelation,
    read_snapshot,
)
from dbt_graft.graft.commands.cli import main
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.errors import GraftError

SNAPSHOT = Snapshot(
    "CRM",
    datetime(2026, 11, 21, tzinfo=UTC),
    {
        "Shop": SnapshotDatabase(
            {"dbo.t": SnapshotRelation(Kind.TABLE), "dbo.v": SnapshotRelation(Kind.VIEW)}
        )
    },
)
# The recommended session, but without its STARTUP_STATE.
WARNED = SessionState(
    "ALLOW_SINGLE_EVENT_LOSS",
    16384,
    tracks_causality=True,
    starts_itself=False,
    events={
        event.name: CapturedEvent(
            frozenset(action.name.partition(".")[2] for action in ACTIONS),
            dict.fromkeys(event.collects, "1"),
            "client_app_name",
        )
        for event in EVENTS
    },
    targets={"event_file": {}},
    dropped=DroppedEvents(),
)


class Closed:
    """A connection of which only its end matters."""

    closed = 0

    def close(self) -> None:
        Closed.closed += 1


@pytest.fixture(autouse=True)
def connections(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The settings that were connected to."""
    settings: list[str] = []

    def connect(setting: str, **_: object) -> Closed:
        settings.append(setting)
        return Closed()

    Closed.closed = 0
    monkeypatch.setattr(tools, "connect", connect)
    return settings


def run(command: str, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["logs", f"sqlserver-{command}", *arguments])


def test_the_script_is_printed_as_it_is() -> None:
    assert run("session").stdout == session_script(SessionOptions())


def test_the_script_is_as_it_was_asked_for(tmp_path: Path) -> None:
    asked = [
        "--session=s",
        "--application=a",
        "--folder=/c",
        "--file-size=64",
        "--files=3",
        "--memory=32",
        "--no-statements",
    ]
    result = run("session", *asked, f"--out={tmp_path / 's.sql'}")
    assert result.exit_code == 0
    assert "graft doctor --sqlserver" in result.stdout
    assert (tmp_path / "s.sql").read_text() == session_script(
        SessionOptions("s", "a", "/c", False, 64, 3, 32, statements=False)
    )


@pytest.mark.parametrize("arguments", [["--azure"], ["--files=0"], ["--session="]])
def test_an_option_that_cannot_be_is_a_wrong_command_line(arguments: Sequence[str]) -> None:
    result = run("session", *arguments)
    assert (result.exit_code, result.stderr.startswith("error: ")) == (2, True)


def test_a_script_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    result = run("session", f"--out={tmp_path / 'missing/s.sql'}")
    assert (result.exit_code, "cannot be written" in result.stderr) == (1, True)


def check(monkeypatch: pytest.MonkeyPatch, state: SessionState | None, *options: str) -> Result:
    monkeypatch.setattr(tools, "session_state", lambda *_: state)
    return CliRunner().invoke(main, ["doctor", "--sqlserver", "env:GRAFT_MSSQL", *options])


def test_a_session_that_is_missing_fails_the_check(
    monkeypatch: pytest.MonkeyPatch, connections: list[str]
) -> None:
    result = check(monkeypatch, None, "--session", "py")
    assert result.exit_code == 3
    assert "  py: there is no such session" in result.stdout
    assert (connections, Closed.closed) == (["env:GRAFT_MSSQL"], 1)


def test_a_session_with_warnings_only_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    result = check(monkeypatch, WARNED)
    assert (result.exit_code, "\nwarning: EVENT_SESSION (1)" in result.stdout) == (0, True)


def test_a_complete_session_has_no_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    result = check(monkeypatch, replace(WARNED, starts_itself=True))
    assert (result.exit_code, result.stdout) == (0, "py_lineage: nothing is wrong\n")


def test_a_snapshot_is_written_and_its_notices_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, connections: list[str]
) -> None:
    asked: list[Sequence[str] | None] = []

    def take(_: object, databases: Sequence[str] | None) -> TakenSnapshot:
        asked.append(databases)
        return TakenSnapshot(SNAPSHOT, ("Archive: left out, it is OFFLINE",))

    monkeypatch.setattr(catalog_queries, "take_snapshot", take)
    out = tmp_path / "s.json"
    result = run(
        "snapshot", "--connection=dsn:CRM", "--database=Shop", "--database=Dw", f"--out={out}"
    )
    assert result.exit_code == 0
    assert result.stderr == "notice: Archive: left out, it is OFFLINE\n"
    assert "1 databases, 1 tables, 1 views, 0 synonyms, 0 modules" in result.stdout
    assert read_snapshot(out) == SNAPSHOT
    assert (asked, connections, Closed.closed) == ([("Shop", "Dw")], ["dsn:CRM"], 1)
    run("snapshot", f"--out={out}")
    assert asked[1] is None


def test_a_snapshot_of_nothing_replaces_no_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    empty = TakenSnapshot(Snapshot("CRM", SNAPSHOT.taken_at), ("Shop: left out, it is OFFLINE",))
    monkeypatch.setattr(catalog_queries, "take_snapshot", lambda *_: empty)
    out = tmp_path / "s.json"
    out.write_text("what was there")
    result = run("snapshot", f"--out={out}")
    assert (result.exit_code, out.read_text()) == (1, "what was there")
    assert "Shop: left out" in result.stderr


def test_an_error_is_printed_and_the_connection_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    def take(*_: object) -> TakenSnapshot:
        raise GraftError("the server refused", place="crm")

    monkeypatch.setattr(catalog_queries, "take_snapshot", take)
    result = run("snapshot")
    assert (result.exit_code, result.stderr) == (1, "error: crm: the server refused\n")
    assert Closed.closed == 1
