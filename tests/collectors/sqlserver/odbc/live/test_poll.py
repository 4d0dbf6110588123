"""Polling a live session over a real ODBC connection: no event lost, none twice."""

from __future__ import annotations

import gc
import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dbt_graft.collectors.sqlserver.event import Chunk, EventFilter
from dbt_graft.collectors.sqlserver.odbc import live, polling
from dbt_graft.collectors.sqlserver.odbc.live import LiveSession, poll
from dbt_graft.lineage.errors import GraftError

if TYPE_CHECKING:
    from tests.collectors.sqlserver.odbc.live.conftest import StandIn

pytestmark = pytest.mark.odbc
FILES = LiveSession("env:GRAFT_TEST", "", "C:\\Log\\lineage_0_*.xel")
SESSION = LiveSession("env:GRAFT_TEST", "lineage")
SERVER, AZURE = 3, 5


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block is a chunk."""
    monkeypatch.setattr(live, "_CHUNK_CHARACTERS", 1)


def at(file: int, offset: int) -> str:
    return f"C:\\Log\\lineage_0_{file}.xel|{offset}"


def sequences(*chunks: Chunk) -> list[int]:
    return [int(str(e.actions["event_sequence"])) for chunk in chunks for e in chunk.events]


def everything(position: str = "", session: LiveSession = FILES) -> list[int]:
    return sequences(*(chunk for chunk, _ in poll(session, position)))


def damages(position: str = "", session: LiveSession = FILES) -> list[str]:
    found = [damage for chunk, _ in poll(session, position) for damage in chunk.damages]
    return [f"{damage.position}: {damage.reason}" for damage in found]


def test_a_first_poll_reads_all_and_the_next_what_came_since(log: StandIn) -> None:
    log.write(11, 0, 1, 2)
    log.write(11, 4096, 3)
    ((chunk, position),) = poll(FILES, "")
    assert (sequences(chunk), chunk.seen, position) == ([1, 2, 3], 3, at(11, 4096))
    assert list(poll(FILES, position)) == []
    log.write(11, 8192, 4)
    log.write(12, 0, 5)
    ((chunk, position),) = poll(FILES, position)
    assert (sequences(chunk), position) == ([4, 5], at(12, 0))


@pytest.mark.usefixtures("small_chunks")
def test_a_chunk_ends_where_a_block_ends_and_its_position_is_exact(log: StandIn) -> None:
    blocks = {at(11, 0): [1, 2, 3], at(11, 4096): [4], at(12, 0): [5, 6]}
    for position, block in blocks.items():
        file, offset = position.removeprefix("C:\\Log\\lineage_0_").split(".xel|")
        log.write(int(file), int(offset), *block)
    assert {position: sequences(chunk) for chunk, position in poll(FILES, "")} == blocks
    assert everything(at(11, 0)) == [4, 5, 6]


def test_what_is_not_wanted_is_counted_and_left_out(log: StandIn) -> None:
    log.write(11, 0, 1)
    log.add(11, 0, "<not read>", name="lock_acquired")
    names = EventFilter(names=frozenset({"sql_batch_completed"}))
    others = replace(names, application=lambda name: name == "python_task::other")
    ((chunk, _),) = poll(replace(FILES, wanted=names), "")
    assert (sequences(chunk), chunk.seen, chunk.damages) == ([1], 2, [])
    ((chunk, _),) = poll(replace(FILES, wanted=others), "")
    assert (chunk.events, chunk.seen) == ([], 2)


def test_a_damaged_event_is_reported_with_its_place_and_the_rest_is_read(log: StandIn) -> None:
    log.add(11, 4096, log.xml(1), "<event name='a", log.xml(2))
    ((chunk, position),) = poll(FILES, "")
    assert (sequences(chunk), chunk.seen, position) == ([1, 2], 3, at(11, 4096))
    (damage,) = chunk.damages
    assert damage.position == "C:\\Log\\lineage_0_11.xel, block at byte 4096, event 2"


def test_text_comes_as_it_was_sent_however_long(log: StandIn) -> None:
    statement = "SELECT N'żółw 🐢 漢字'" + " " * 300_000 + "x"
    log.add(11, 0, log.xml(1, statement))
    ((chunk, _),) = poll(FILES, "")
    assert chunk.events[0].data["batch_text"] == statement


@pytest.mark.parametrize(
    ("checkpoint", "expected", "gap"),
    [
        pytest.param(at(8, 0), [1, 2, 3, 4], True, id="its file is gone"),
        pytest.param(at(8, 999), [1, 2, 3, 4], True, id="and it was far into it"),
        pytest.param(at(9, 100), [2, 3, 4], True, id="no block is there any more"),
        pytest.param(at(10, 100), [4], True, id="9 is before 10"),
        pytest.param(at(99, 0), [], False, id="nothing has come since"),
        pytest.param("D:\\Old\\lineage_0_9.xel|0", [2, 3, 4], False, id="the folder has moved"),
    ],
)
def test_a_lost_checkpoint_is_read_over_and_the_gap_reported(
    log: StandIn, checkpoint: str, expected: list[int], gap: bool
) -> None:
    log.write(9, 0, 1)
    log.write(9, 4096, 2)
    log.write(10, 0, 3)
    log.write(10, 4096, 4)
    assert everything(checkpoint) == expected
    found = damages(checkpoint)
    assert len(found) == gap
    if gap:
        file, offset = checkpoint.split("|")
        assert found[0].startswith(
            f"between {file}, block at byte {offset} and C:\\Log\\lineage_0_"
        )
        assert "raise max_rollover_files or collect more often" in found[0]


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize(
    "message",
    [
        pytest.param("a file rolled over while it was read (25717)", id="rolled over"),
        pytest.param("chosen as the deadlock victim (1205)", id="deadlock"),
        pytest.param("the service is busy (40501)", id="Azure is busy"),
    ],
)
def test_an_error_in_the_middle_that_passes_costs_no_event(log: StandIn, message: str) -> None:
    for n in range(100):
        log.write(11, n * 512, n)
    log.trouble(57, message, times=2)
    chunks = [chunk for chunk, _ in poll(FILES, "")]
    assert log.raised() >= 2
    assert sequences(*chunks) == list(range(100))
    assert not any(chunk.damages for chunk in chunks)


@pytest.mark.usefixtures("small_chunks")
def test_a_connection_lost_in_the_middle_costs_no_event(
    log: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    connected = []
    connect = polling.connect
    monkeypatch.setattr(polling, "connect", lambda to: connected.append(to) or connect(to))
    for n in range(100):
        log.write(11, n * 512, 2 * n, 2 * n + 1)
    found = []
    for number, (chunk, _) in enumerate(poll(FILES, "")):
        found += sequences(chunk)
        if number in (0, 60):
            log.disconnect_all()
    assert len(connected) == 3
    assert found == list(range(200))


@pytest.mark.parametrize(
    ("message", "fragment"),
    [
        ("deadlock victim again (1205)", "reading failed: .*deadlock victim again.*error 1205"),
        ("every file is gone (25717)", "error 25717"),
        ("it shows 'secret' (50000)", "it shows '…'"),
        ("the name is invalid (25718)", "the server finds no event file"),
        ("the metadata are damaged (25723)", "cannot read its event files"),
    ],
)
def test_a_permanent_error_is_reported(log: StandIn, message: str, fragment: str) -> None:
    log.write(11, 0, 1)
    log.trouble(1, message, times=100)
    with pytest.raises(GraftError, match=fragment):
        everything()


def test_records_that_the_server_skips_are_reported(log: StandIn) -> None:
    log.write(11, 0, 1, 2)
    log.trouble(1, "info: 3 records are skipped (25720)")
    assert damages() == [
        f"up to {at(11, 0)}: the server skipped records of its event files that it cannot read"
    ]
    assert everything() == [1, 2]


@pytest.mark.parametrize(
    ("edition", "version", "permission"),
    [
        (SERVER, 15, "VIEW SERVER STATE"),
        (SERVER, 16, "VIEW SERVER PERFORMANCE STATE"),
        (AZURE, 12, "VIEW DATABASE STATE"),
    ],
)
def test_a_missing_permission_is_named(
    log: StandIn, monkeypatch: pytest.MonkeyPatch, edition: int, version: int, permission: str
) -> None:
    log.property("EngineEdition", edition)
    log.property("ProductMajorVersion", version)
    monkeypatch.setenv("GRAFT_TEST", log.setting(user="stranger"))
    with pytest.raises(GraftError, match=f"GRANT {permission} TO"):
        everything(session=SESSION)


@pytest.mark.parametrize(
    ("edition", "of", "current", "files"),
    [
        (
            SERVER,
            "",
            "C:\\Log\\a&amp;b_0_13.xel",
            ["C:\\Log\\a&b_0_9.xel", "C:\\Log\\a&b_0_13.xel"],
        ),
        (SERVER, "", "/var/opt/mssql/log/l_0_1.xel", ["/var/opt/mssql/log/l_0_1.xel"]),
        (AZURE, "database_", "https://a.example/c/l_0_1.xel", ["https://a.example/c/l_0_1.xel"]),
    ],
)
def test_a_running_session_names_its_own_files(
    log: StandIn, edition: int, of: str, current: str, files: list[str]
) -> None:
    log.property("EngineEdition", edition)
    log.session(current, of=of)
    log.write(1, 0, 0)
    for number, file in enumerate(files, 1):
        log.write(99, 0, number)
        log.admin.execute("UPDATE written SET file_name = ? WHERE file_name LIKE '%99.xel'", file)
    assert everything(session=SESSION) == list(range(1, len(files) + 1))


def test_a_stopped_session_is_reported_and_read_by_its_definition(log: StandIn) -> None:
    log.definition("C:\\Log\\lineage.xel")
    log.write(11, 0, 1)
    assert everything(session=SESSION) == [1]
    assert damages(session=SESSION) == [
        "event session lineage: it is not running: nothing is recorded"
    ]


def test_losses_of_a_session_are_reported_even_without_events(log: StandIn) -> None:
    log.session("C:\\Log\\lineage_0_11.xel", dropped=(7, 2, 5_000_000))
    (reason,) = damages(at(11, 0).replace("11", "12"), SESSION)
    assert "dropped 7 events and 2 buffers, the largest event had 5000000 bytes" in reason
    ((chunk, position),) = poll(SESSION, "")
    assert (chunk.seen, position) == (0, "")


@pytest.mark.parametrize(
    ("defined", "fragment"), [(False, "no such event session"), (True, "no file")]
)
def test_a_session_without_files_is_an_error(log: StandIn, defined: bool, fragment: str) -> None:
    if defined:
        log.definition()
    with pytest.raises(GraftError, match=fragment):
        everything(session=SESSION)


@pytest.mark.parametrize("position", ["12@1700000", "|4", "C:\\a.xel|x"])
def test_a_position_of_another_source_is_refused(position: str) -> None:
    with pytest.raises(GraftError, match="none of an event session"):
        poll(FILES, position)


_COLLECTOR = """
import json, sys
from dbt_graft.collectors.sqlserver.odbc import live
from dbt_graft.collectors.sqlserver.odbc import polling
live._CHUNK_CHARACTERS = 1
session = live.LiveSession("env:GRAFT_TEST", "", "C:\\\\Log\\\\lineage_0_*.xel")
for chunk, position in live.poll(session, sys.argv[1]):
    found = [int(event.actions["event_sequence"]) for event in chunk.events]
    print(json.dumps([found, position]), flush=True)
    sys.stdin.readline()
"""


def test_a_collector_killed_in_the_middle_is_taken_up_without_loss(log: StandIn) -> None:
    for n in range(60):
        log.write(11, n * 512, 3 * n, 3 * n + 1, 3 * n + 2)
    stored, position = [], ""
    for _ in range(3):
        command = [sys.executable, "-c", _COLLECTOR, position]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as collector:
            assert collector.stdin is not None
            assert collector.stdout is not None
            for _ in range(7):
                found, position = json.loads(collector.stdout.readline())
                stored += found
                print(file=collector.stdin, flush=True)
            collector.send_signal(signal.SIGKILL)
    assert stored == list(range(63))
    assert stored + everything(position) == list(range(180))


_MEASURED = """
import resource
from dbt_graft.collectors.sqlserver.odbc.live import LiveSession, poll
session = LiveSession("env:GRAFT_TEST", "", "C:\\\\Log\\\\lineage_0_*.xel")
events = characters = 0
for chunk, _ in poll(session, ""):
    if not events:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    events += chunk.seen
    characters += sum(len(event.data["batch_text"]) for event in chunk.events)
print(events, characters, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_long_log_is_streamed(log: StandIn, root: Path) -> None:
    log.add(11, 0, log.xml(1, "x" * 2000))
    log.admin.execute(
        "INSERT INTO written (object_name, event_data, file_name, file_offset) "
        "SELECT object_name, event_data, file_name, n / 50 * 512 "
        "FROM written, generate_series(1, 99999) n"
    )
    measured = subprocess.run(
        [sys.executable, "-c", _MEASURED], capture_output=True, text=True, check=True, cwd=root
    )
    events, characters, more_kilobytes = map(int, measured.stdout.split())
    assert (events, characters) == (100_000, 200_000_000)
    assert more_kilobytes < 40_000


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_an_abandoned_poll_leaves_no_connection(log: StandIn) -> None:
    for n in range(200):
        log.write(11, n * 512, n)
    abandoned = poll(FILES, "")
    next(abandoned)
    del abandoned
    gc.collect()
    connected = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'reader'"
    for _ in range(50):
        if (left := log.admin.execute(connected).fetchval()) == 0:
            break
        time.sleep(0.1)
    assert left == 0
