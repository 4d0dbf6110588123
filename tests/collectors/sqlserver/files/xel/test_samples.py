"""Two real files, beside the repository where they are: SQL Server 2012, and an export of 2017."""

from __future__ import annotations

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


@pytest.mark.parametrize(("length", "events"), [(100_000, 0), (214_499, 0), (214_576, 149)])
def test_the_export_cut_short_is_reported(
    samples: Path, read_bytes: Callable[..., Chunk], length: int, events: int
) -> None:
    found = read_bytes((samples / "TestXel_0.xel").read_bytes()[:length])
    assert len(found.events) == events
    assert len(found.damages) == (not events)
