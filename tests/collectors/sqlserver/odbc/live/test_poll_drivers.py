"""The drivers for SQL Server themselves, against a server that speaks its protocol."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from dbt_graft.collectors.sqlserver.odbc import failure as odbc_failure
from dbt_graft.collectors.sqlserver.odbc.drivers import bundled_driver
from dbt_graft.collectors.sqlserver.odbc.live import LiveSession, poll

pytestmark = pytest.mark.odbc
SESSION = LiveSession("env:GRAFT_TEST", "lineage")
END = "C:\\Log\\lineage_0_13.xel|14848"


@pytest.fixture(params=["Microsoft", "FreeTDS"])
def logins(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[IO[str]]:
    """A server where two readings end in a deadlock; it says who has logged in."""
    odbc = pytest.importorskip("pyodbc", reason="`make odbc` installs it", exc_type=ImportError)
    driver = "FreeTDS" if request.param == "FreeTDS" else bundled_driver()
    if not driver or (driver == "FreeTDS" and driver not in odbc.drivers()):
        pytest.skip(f"the driver of {request.param} is not here: `make odbc` installs FreeTDS")
    command = [sys.executable, str(Path(__file__).with_name("tds_server.py")), "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        where = {"FreeTDS": f"SERVER=127.0.0.1;PORT={port}"}.get(driver, f"SERVER=127.0.0.1,{port}")
        text = f"DRIVER={{{driver}}};{where};UID=u;PWD=p;Encrypt=no"
        monkeypatch.setenv("GRAFT_TEST", text)
        monkeypatch.setattr(odbc_failure, "_FIRST_PAUSE", 0)
        yield server.stdout
        server.kill()


def test_events_come_once_and_complete_through_deadlocks(logins: IO[str]) -> None:
    polled = list(poll(SESSION, ""))
    events = [event for chunk, _ in polled for event in chunk.events]
    assert not any(chunk.damages for chunk, _ in polled)
    assert [event.actions["event_sequence"] for event in events] == list(map(str, range(300)))
    assert {event.data["batch_text"] for event in events} == {f"żółw {'x' * 5000}\ufffd"}
    assert polled[-1][1] == END
    assert [logins.readline().strip() for _ in range(3)] == 3 * ["dbt-graft"]


@pytest.mark.usefixtures("logins")
def test_a_lost_checkpoint_is_read_over() -> None:
    ((chunk, position),) = poll(SESSION, "C:\\Log\\lineage_0_13.xel|512")
    assert [event.actions["event_sequence"] for event in chunk.events[:1]] == ["20"]
    assert (chunk.seen, chunk.damages, position) == (280, [], END)
