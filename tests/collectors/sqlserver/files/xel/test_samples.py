"""Two real files, beside the repository where they are: SQL Server 2012, and an export of 2017."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from dbt_graft.collectors.sqlserver.event import Chunk, EventFilter, Mapped
from dbt_graft.collectors.sqlserver.files.event_text import timestamp


@pytest.fixture(scope="module")
def samples(root: Path) -> Path:
    folder = root.parent / "shared/samples/xel"
    if not folder.is_dir():
        pytest.skip("the public .xel files are not beside the repository")
    return folder


def test_every_event_of_the_export_is_read(samples: Path, read_file: Callable[..., Chunk]) -> None:
    found = read_file(samples / "TestXel_0.xel")
    assert (len(found.events), found.seen, found.damages) == (149, 149, [])
    first, last = found.events[0], found.events[-1]
    assert (first.name, last.name) == ("rpc_completed", "sql_batch_completed")
    assert timestamp(first.at) == "2017-10-17T20:37:03.1482054Z"
    assert first.data["result"] == Mapped(0, "OK")
    assert first.actions["session_id"] == 182
    assert first.actions["attach_activity_id"] == "329B2676-060B-4760-8698-46A43E0B1603-1"
    assert {event.package for event in found.events} == {"sqlserver"}


def test_the_prepared_handles_of_the_export_can_be_followed(
    samples: Path, read_file: Callable[..., Chunk]
) -> None:
    wanted = EventFilter(frozenset({"rpc_completed"}))
    calls = read_file(samples / "TestXel_0.xel", wanted).events
    by_name = Counter(call.data["object_name"] for call in calls)
    assert (by_name["sp_prepare"], by_name["sp_execute"], by_name["sp_unprepare"]) == (2, 1, 2)
    handles = [
        handle
        for handle in ("3441", "3442")
        for call in calls
        if handle in str(call.data["statement"])
    ]
    assert handles == ["3441", "3441", "3442", "3442", "3442"]


def test_the_application_of_an_open_connection_is_its_own(
    samples: Path, read_file: Callable[..., Chunk]
) -> None:
    wanted = EventFilter(frozenset({"existing_connection"}), "DWDiagnostics".__eq__)
    found = read_file(samples / "TestXel_0.xel", wanted).events
    assert {event.client["client_app_name"] for event in found} == {"DWDiagnostics"}
    assert {event.actions["client_app_name"] for event in found} == {"SQLServerCEIP"}


def test_every_event_of_2012_is_read(samples: Path, read_file: Callable[..., Chunk]) -> None:
    found = read_file(samples / "sqltrace.xel")
    assert (len(found.events), found.damages) == (6, [])
    first = found.events[0]
    assert first.name == "sql_statement_starting"
    assert timestamp(first.at).startswith("2012-05-26T19:27:19.")
    assert first.data["state"] == Mapped(0, "Normal")
    assert first.data["statement"] == "select * from sysobjects\r\n"


@pytest.mark.parametrize("size", [1, 600, 20_000])
def test_the_parts_of_the_export_hold_all_of_it(
    samples: Path, read_file: Callable[..., Chunk], size: int
) -> None:
    path = samples / "TestXel_0.xel"
    assert read_file(path, size=size) == read_file(path)


def cuts(data: bytes) -> tuple[set[int], set[int]]:
    """Lengths to cut a file to, of every kind; and those at which a block ends."""
    (at,) = struct.unpack_from("<H", data, 6)
    lengths, ends = {0, 1, 3, 4, 7, 8, at - 1, at}, {at}
    while at < len(data):
        size, _, header, length = struct.unpack_from("<IHHI", data, at + 16)
        end = at + header + length
        # In the header, in the data, and in the padding behind them.
        lengths |= {at + n for n in (1, 4, 5, 12, 16, 20, 32, 47, 48, header - 1, header)}
        lengths |= {at + header + 1, (at + end) // 2, end - 1025, end - 1, end, end + 1}
        at += size
        lengths |= {at - 513, at - 512, at - 511, at - 1, at}
        ends.add(at)
    return {length for length in lengths if 0 <= length < len(data)}, ends


@pytest.mark.parametrize("name", ["TestXel_0.xel", "sqltrace.xel"])
def test_a_sample_cut_short_is_reported_and_its_intact_blocks_count(
    name: str, samples: Path, read_bytes: Callable[..., Chunk]
) -> None:
    data = (samples / name).read_bytes()
    whole = read_bytes(data)
    assert whole.damages == []
    lengths, ends = cuts(data)
    silent = set()
    for length in lengths:
        content = read_bytes(data[:length])
        assert content.events == whole.events[: len(content.events)]
        if not content.damages:
            silent.add(length)
    # Where a block ends, nothing tells that another follows.
    assert silent == ends & lengths - {min(ends)}


@pytest.mark.parametrize(("length", "events"), [(100_000, 0), (214_499, 0), (214_576, 149)])
def test_the_export_cut_short_is_reported(
    samples: Path, read_bytes: Callable[..., Chunk], length: int, events: int
) -> None:
    content = read_bytes((samples / "TestXel_0.xel").read_bytes()[:length])
    assert len(content.events) == events
    assert len(content.damages) == 1
