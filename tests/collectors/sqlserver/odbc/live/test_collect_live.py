"""A live session and a table of events as `graft.yml` names them: from ODBC to the store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dbt_graft.collectors.engines.engine import Engine
from dbt_graft.collectors.engines.reading import Reading
from dbt_graft.collectors.store import door as store
from dbt_graft.graft.project.config import load
from dbt_graft.graft.project.sources import sources

if TYPE_CHECKING:
    from tests.collectors.sqlserver.odbc.live.conftest import StandIn

pytestmark = pytest.mark.odbc

SESSION = """
collect:
  - sqlserver: {server: "mssql://sql01:1433", connection: "env:GRAFT_TEST", session: lineage}
store: store
"""
TABLE = """
collect:
  - sqlserver: {server: "mssql://sql01:1433", connection: "env:GRAFT_TEST", table: written,
                key: seq, columns: {event_data: event_data}}
store: store
"""


def collect(engine: Engine, folder: Path) -> int:
    """Collect as `graft collect` does; gives the number of new events."""
    place = str(folder / "store")
    positions = store.positions(place)
    (source,) = sources(load(folder / "graft.yml"))
    is_new = source.new_logs(positions)
    parts = source.parts(engine, positions, Reading()) if is_new else []
    done = store.commit(place, parts, positions)
    return done.events if done else 0


def reads(folder: Path) -> dict[str, int]:
    found: dict[str, int] = {}
    for access in store.read(str(folder / "store")).accesses:
        found[access.dataset.short] = found.get(access.dataset.short, 0) + access.statements
    return found


@pytest.mark.parametrize("config", [SESSION, TABLE], ids=["session", "table"])
def test_events_come_once_however_often_they_are_asked_for(
    engine: Engine, log: StandIn, tmp_path: Path, config: str
) -> None:
    (tmp_path / "graft.yml").write_text(config)
    log.session("C:\\Log\\lineage_0_11.xel")
    log.add(11, 0, log.xml(1, "SELECT x FROM dbo.a"), log.xml(2, "SELECT x FROM dbo.b"))
    assert collect(engine, tmp_path) == 2
    assert collect(engine, tmp_path) == 0
    log.add(12, 0, log.xml(3, "SELECT x FROM dbo.a WHERE secret = 'hunter2'"))
    assert collect(engine, tmp_path) == 1
    assert reads(tmp_path) == {"dbo.a": 2, "dbo.b": 1}
    written = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"hunter2" not in written


def test_what_the_session_lost_is_a_reject(engine: Engine, log: StandIn, tmp_path: Path) -> None:
    (tmp_path / "graft.yml").write_text(SESSION)
    log.session("C:\\Log\\lineage_0_11.xel", dropped=(7, 0, 0))
    log.add(11, 0, log.xml(1, "SELECT x FROM dbo.a"))
    assert collect(engine, tmp_path) == 1
    rejects = [reject.reason for reject in store.read(str(tmp_path / "store")).rejects]
    assert any("7" in reason for reason in rejects), rejects
