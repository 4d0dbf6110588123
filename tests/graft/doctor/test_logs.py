"""The doctor's findings on a log source: its logs, their age, its server's answers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic import TypeAdapter

from dbt_graft.analysis.finding import Severity
from dbt_graft.collectors.source import LogSource
from dbt_graft.collectors.sqlserver import tools as events
from dbt_graft.collectors.sqlserver.server import snapshot
from dbt_graft.collectors.sqlserver.server.session_state import SessionState
from dbt_graft.graft.doctor.logs import source, sqlserver
from dbt_graft.graft.doctor.store_state import StoreState, read
from dbt_graft.graft.project.collect_section import CollectEntry, SqlServerEntry
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.project import Project
from dbt_graft.lineage.records import Records, Run

NOW = datetime.now(UTC)
CRM = "mssql://crm:1433"
SPARK = TypeAdapter(CollectEntry).validate_python({"spark": {"path": "logs/spark/"}})
LIVE = TypeAdapter(CollectEntry).validate_python(
    {"sqlserver": {"server": CRM, "connection": "env:CRM", "session": "s"}}
)
TABLE = TypeAdapter(CollectEntry).validate_python(
    {"sqlserver": {"server": CRM, "connection": "env:CRM", "table": "dbo.events", "key": "id"}}
)


def found(logs: int, new: int, label: str = "logs/spark/") -> LogSource:
    return LogSource(
        lambda known, *_: ["log"] * (new if known else logs),
        lambda spark, known, reading: None,
        label,
    )


def state(*runs: tuple[str, timedelta]) -> StoreState:
    """A store with runs of logs, each so long ago."""
    finding = tuple(
        Run(f"{n}", "load", "spark", NOW - age, origin=o) for n, (o, age) in enumerate(runs)
    )
    positions = {origin: ("1", 40) for origin, _ in runs}
    return StoreState("store", Records(runs=finding), positions=positions)


def test_logs_and_what_came_of_them_are_counted() -> None:
    store = state(
        ("logs/spark/app-1", timedelta(days=5)),
        ("logs/spark/app-2", timedelta(days=3)),
        ("logs/spark2/app-3", timedelta(0)),
    )
    assert [str(finding) for finding in source(SPARK, found(1_500, 2), store)] == [
        "note: logs/spark/: 1,500 logs, 2 of them new or changed; 80 events collected\n"
        "  run `graft collect`",
        "note: logs/spark/: the newest run started 3 days ago",
    ]


def test_a_source_that_went_silent_is_a_warning() -> None:
    *_, last = source(SPARK, found(1, 0), state(("logs/spark/app-1", timedelta(days=40))))
    assert (last.severity, last.problem) == (Severity.WARNING, "the newest run started 40 days ago")


class Open:
    """A connection of which only its end matters."""

    def close(self) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Callable[[SessionState | None], None]:
    """A SQL Server that answers, with this session."""

    def answer(state: SessionState | None) -> None:
        monkeypatch.setattr(events, "connect", lambda setting, patient: Open())
        monkeypatch.setattr(events, "session_state", lambda connection, name: state)

    return answer


def test_a_session_is_checked(server: Callable[[SessionState | None], None]) -> None:
    server(None)
    [finding] = source(LIVE, found(0, 0), StoreState("store"))
    assert (finding.severity, finding.subject) == (Severity.ERROR, f"{CRM}/s: s")
    assert finding.problem == "there is no such session, or the login may not see it"


def test_a_table_of_events_is_reached(server: Callable[[SessionState | None], None]) -> None:
    server(None)
    [finding] = source(TABLE, found(0, 0), StoreState("store"))
    assert str(finding) == f"note: {CRM}: can be reached"


def test_what_is_known_of_a_server_beside_its_events(tmp_path: Path) -> None:
    taken = snapshot.Snapshot(
        "CRM", NOW - timedelta(days=12), {"Shop": snapshot.SnapshotDatabase({})}
    )
    snapshot.write_snapshot(taken, tmp_path / "snapshot.json")
    for table, row in (
        ("sessions", {"server": CRM, "session": "61", "task": "load", "run": "", "origin": "a"}),
        ("batches", {"origin": "a", "position": "1", "events": 1, "noise": 0, "committed_at": NOW}),
    ):
        place = tmp_path / "store" / table / "batch_id=1"
        place.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist([row]), place / "part.parquet")
    entry = SqlServerEntry(server=CRM, path="logs", snapshot=str(tmp_path / "snapshot.json"))
    finding = sqlserver(entry, Config(), read(Project(Config(store=str(tmp_path / "store")))))
    assert [one.problem for one in finding] == [
        "1 database of CRM, taken 12 days ago",
        "1 session open at the end of the last log",
    ]
