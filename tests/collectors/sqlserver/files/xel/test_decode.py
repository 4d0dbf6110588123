"""Events out of a block: what is wanted, whose metadata hold, and records that lie."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias
from uuid import UUID

import pytest

from dbt_graft.collectors.sqlserver.event import (
    Chunk,
    EventFilter,
    ExtendedEvent,
    FileSplit,
    Mapped,
    Mask,
)
from dbt_graft.collectors.sqlserver.files.xel import decode, metadata
from dbt_graft.collectors.sqlserver.files.xel.decode import payload_decoder
from dbt_graft.collectors.sqlserver.files.xel.read import read_xel
from tests.cases import for_each
from tests.collectors.sqlserver.xel_session import BASE, LINEAGE, SIZES, Map, Session
from tests.collectors.sqlserver.xel_writer import (
    UNIX_EPOCH,
    Template,
    event_block,
    file_header,
    metadata_blocks,
    record,
)

Read: TypeAlias = Callable[..., Chunk]

START = BASE - UNIX_EPOCH
HEAD = file_header() + metadata_blocks()


def batch(text: str, app: str | None = "python_task::load", number: int = 0) -> ExtendedEvent:
    actions = {"event_sequence": number, "session_id": 51}
    if app is not None:
        actions = {"client_app_name": app, **actions}
    return ExtendedEvent("sql_batch_starting", START + number, {"batch_text": text}, actions)


def file_of(*events: ExtendedEvent, session: Session = LINEAGE) -> bytes:
    records = b"".join(record(event, session) for event in events)
    return file_header() + metadata_blocks(session) + event_block(records, session)


def test_other_events_are_counted_but_not_decoded(read_bytes: Read) -> None:
    done = ExtendedEvent("sql_batch_completed", START, {"batch_text": "SELECT 1"}, {})
    content = read_bytes(
        file_of(batch("SELECT 1"), done), EventFilter(names=frozenset({"sql_batch_completed"}))
    )
    assert ([event.name for event in content.events], content.seen) == (["sql_batch_completed"], 2)


@pytest.mark.parametrize(
    ("prefix", "texts"),
    [
        ("python_", ["a", "c", "e"]),
        ("SSMS", ["b"]),
        ("", ["a", "b", "c", "d", "e", "f"]),
        ("x", []),
    ],
)
def test_each_event_is_asked_for_by_its_application(
    prefix: str, texts: list[str], read_bytes: Read
) -> None:
    asked: list[str] = []

    def is_wanted(name: str) -> bool:
        asked.append(name)
        return name.startswith(prefix)

    apps = ["python_a", "SSMS", "python_b", "", "python_a", None]
    events = [batch(text, app) for text, app in zip("abcdef", apps, strict=True)]
    content = read_bytes(file_of(*events), EventFilter(application=is_wanted))
    assert ([event.data["batch_text"] for event in content.events], content.seen) == (texts, 6)
    assert asked == ["python_a", "SSMS", "python_b", "", "python_a", ""]


def test_lists_of_actions_that_change_all_the_time_are_read_as_those_that_do_not(
    read_bytes: Read,
) -> None:
    names = [
        "a",
        "a",
        "a",
        "longer",
        "a",
        None,
        None,
        None,
        "longer",
        "longer",
        "b",
        "\U0001f40d" * 90,
    ]
    events = [batch("SELECT 1", app, n) for n, app in enumerate(names * 3)]
    assert read_bytes(file_of(*events)).events == events


@pytest.mark.parametrize(
    ("ticks", "step"), [(10_000_000, 1), (0, 1), (1_000_000, 10), (2_000_000, 5), (24_000_000, 5)]
)
def test_times_are_exact_whatever_the_clock(ticks: int, step: int, read_bytes: Read) -> None:
    session = replace(LINEAGE, ticks=ticks)
    events = [batch("SELECT 1", number=n * step) for n in (0, 1, 7, 123_456_789, 10**15)]
    content = read_bytes(file_of(*events, session=session))
    assert [event.at for event in content.events] == [event.at for event in events]


def test_each_stream_has_its_own_ids_and_clock(read_bytes: Read) -> None:
    other = replace(LINEAGE, stream=UUID(int=7), first_id=90, base=BASE + 10**10, ticks=1_000_000)
    event, two = batch("SELECT 1"), batch("SELECT 2", number=10**11)
    data = file_header() + metadata_blocks() + metadata_blocks(other)
    data += event_block(record(event)) + event_block(record(two, other), other)
    assert read_bytes(data + event_block(record(event))).events == [event, two, event]


def test_later_metadata_add_to_the_ids_and_replace_them(read_bytes: Read) -> None:
    first = Session({"a": {"x": "int32"}}, {"client_app_name": "unicode_string"})
    second = Session({"b": {"y": "unicode_string"}, "a": {"x": "int32"}}, first.actions)
    apps = {"client_app_name": "etl"}
    event, two = (
        ExtendedEvent("a", START, {"x": 1}, apps),
        ExtendedEvent("b", START, {"y": "new"}, apps),
    )
    data = file_header() + metadata_blocks(first) + event_block(record(event, first))
    data += metadata_blocks(second)
    data += event_block(record(two, second) + record(event, second))
    assert read_bytes(data).events == [event, two, event]


MASK = Map(4, {0: "NONE", 1: "read", 2: "write", 4: "run"})
MAPPED = {
    "an enumeration": (Map(1, {0: "OK", 1: "Error"}), 1, Mapped(1, "Error")),
    "a value without a name": (Map(1, {0: "OK", 1: "Error"}), 9, Mapped(9, "")),
    "keys that are bits by chance": (Map(1, {0: "a", 1: "b", 2: "c"}), 3, Mapped(3, "")),
    "one bit alone": (Map(1, {4: "four"}), 4, Mapped(4, "four")),
    "8 bytes": (Map(8, {5: "five"}), 5, Mapped(5, "five")),
    "one bit of a mask": (MASK, 2, Mask(2, "write")),
    "bits of a mask": (MASK, 5, Mask(5, "read,run")),
    "no bit of a mask": (MASK, 0, Mask(0, "NONE")),
    "a bit without a name": (MASK, 0x1002, Mask(0x1002, "write")),
}


@for_each("name", MAPPED)
def test_numbers_of_maps_have_their_names(name: str, read_bytes: Read) -> None:
    kind, stored, value = MAPPED[name]
    session = Session({"a": {"x": "kind", "y": "unicode_string"}}, {"z": "kind"}, {"kind": kind})
    event = ExtendedEvent("a", START, {"x": stored, "y": ""}, {"z": stored})
    (found,) = read_bytes(file_of(event, session=session)).events
    for value_found in (found.data["x"], found.actions["z"]):
        assert (value_found, type(value_found)) == (value, type(value))


def test_a_column_that_was_not_collected_is_empty_as_in_xml(read_bytes: Read) -> None:
    event = ExtendedEvent("rpc_completed", START, {"statement": "exec p"}, {})
    (found,) = read_bytes(file_of(event)).events
    assert found.data["object_name"] == ""
    assert found.data["data_stream"] == b""
    assert list(found.data) == list(LINEAGE.events["rpc_completed"])


@pytest.mark.parametrize(
    ("stored", "value"),
    [
        (0, "1601-01-01T00:00:00.0000000Z"),
        (131_527_462_231_482_054, "2017-10-17T20:37:03.1482054Z"),
        ((1 << 64) - 1, (1 << 64) - 1),
    ],
    ids=["1601", "2017", "no time"],
)
def test_a_file_time_is_a_time(stored: int, value: str | int, read_bytes: Read) -> None:
    session = Session({"opened": {"at": "filetime"}}, {"since": "filetime"})
    event = ExtendedEvent("opened", START, {"at": stored}, {"since": stored})
    # Lists of actions that were seen before are decoded in another way.
    for read in read_bytes(file_of(event, event, event, session=session)).events:
        assert (read.data, read.actions) == ({"at": value}, {"since": value})


def test_text_of_an_unnamed_code_page_is_read(read_bytes: Read) -> None:
    session = Session({"a": {"x": "ansi_string"}})
    event = ExtendedEvent("a", START, {"x": b"caf\xe9"}, {})
    (found,) = read_bytes(file_of(event, session=session)).events
    assert found.data["x"] == "café"


def edited(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def u32(number: int) -> bytes:
    return struct.pack("<I", number)


RECORD = record(batch("SELECT 1"))
ACTION = 24 + struct.unpack_from("<I", RECORD, 20)[0]
UNKNOWN = "the metadata do not name the event"
BREAKS_OFF = "the events are cut off"
LIES = {
    "an unknown event": (edited(RECORD, 0, u32(0x7FFF)), 2, UNKNOWN),
    "another version": (edited(RECORD, 4, b"\x0b"), 1, BREAKS_OFF),
    "a payload of 4 GB": (edited(RECORD, 20, u32(0xFFFFFFFF)), 1, BREAKS_OFF),
    "an action of 4 GB": (edited(RECORD, ACTION + 4, u32(0xFFFFFFFF)), 1, BREAKS_OFF),
    "a record that is cut off": (RECORD[:13], 1, BREAKS_OFF),
    "actions without an end": (RECORD[:-8], 1, BREAKS_OFF),
    "a text behind its event": (
        edited(RECORD, 24, u32(9_999)),
        2,
        "a column ends behind its event",
    ),
    "a time in the year 60,000": (edited(RECORD, 16, u32(0x7FFFFFFF)), 2, "its time is impossible"),
    "a payload without columns": (
        edited(RECORD, 20, u32(0))[:24] + RECORD[ACTION:],
        2,
        "the event is shorter than its columns",
    ),
}


@for_each("name", LIES)
def test_a_false_record_is_a_damage_and_the_others_are_read(name: str, read_bytes: Read) -> None:
    lie, left, reason = LIES[name]
    # What ends within its record costs itself, what does not the rest of the block.
    rest = b"" if lie in (RECORD[:13], RECORD[:-8]) else RECORD
    content = read_bytes(HEAD + event_block(RECORD + lie + rest) + event_block(RECORD))
    assert len(content.events) == left + 1
    assert [(d.position, d.reason) for d in content.damages] == [
        (f"block at byte {len(HEAD)}, event 2", reason)
    ]


def test_an_action_without_metadata_stays_bytes(read_bytes: Read) -> None:
    strange = edited(RECORD, ACTION, u32(0x1FFFFFFF))
    content = read_bytes(HEAD + event_block(strange * 3))
    expected = "python_task::load".encode("utf-16-le")
    assert [event.actions["action 0x1fffffff"] for event in content.events] == [expected] * 3
    assert [event.actions["session_id"] for event in content.events] == [51] * 3


def test_the_same_lie_again_and_again_is_one_damage_with_a_count(read_bytes: Read) -> None:
    lie = edited(RECORD, 0, u32(0x7FFF))
    content = read_bytes(HEAD + event_block(RECORD + lie * 1_000))
    assert (len(content.events), content.seen) == (1, 1_001)
    assert [d.reason for d in content.damages] == [f"{UNKNOWN} (and of 999 more in this block)"]


def test_columns_that_all_claim_the_same_bytes_do_not_fill_the_memory(read_bytes: Read) -> None:
    columns = {f"c{n}": "binary_data" for n in range(1_000)}
    session = Session({"a": columns})
    claims = struct.pack("<II", 8_000, 1 << 20) * 1_000
    head = record(ExtendedEvent("a", START, {}, {}), session)[:20]
    lie = head + u32(8_000 + (1 << 20)) + claims + bytes(1 << 20)
    data = file_header() + metadata_blocks(session) + event_block(lie, session)
    content = read_bytes(data)
    assert [d.reason for d in content.damages] == ["a column ends behind its event"]


def test_a_huge_block_comes_in_chunks(tmp_path: Path) -> None:
    path = tmp_path / "a.xel"
    lie = edited(RECORD, 0, u32(0x7FFF))
    path.write_bytes(HEAD + event_block(RECORD * 40_000 + lie + RECORD * 40_000))
    part = FileSplit(str(path), "a.xel", "xel", 0, path.stat().st_size)
    chunks = list(read_xel(part, EventFilter()))
    assert [len(chunk.events) for chunk in chunks] == [32_768, 32_768, 14_464]
    assert sum(chunk.seen for chunk in chunks) == 80_001
    assert [d.position for chunk in chunks for d in chunk.damages] == [
        f"block at byte {len(HEAD)}, event 40001"
    ]


def test_columns_that_overlap_cost_their_events_and_are_compared_once(
    read_bytes: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []
    monkeypatch.setattr(
        decode,
        "payload_decoder",
        lambda kind, types: compared.append(kind.name) or payload_decoder(kind, types),
    )
    session = Session({"a": {"x": "int64", "y": "int64"}, "b": {"x": "int64"}})
    blocks = bytearray(metadata_blocks(session))
    # Where `y` begins: behind its name.
    place = blocks.index("y\0".encode("utf-16-le"), blocks.index(b"a\0\0\0O\0c\0c\0")) + 4
    blocks[place : place + 2] = struct.pack("<H", 4)
    size = struct.unpack_from("<I", blocks, 16)[0]
    length = struct.unpack_from("<I", blocks, size + 24)[0]
    data = blocks[size + 0x4C :][:length]
    struct.pack_into("<I", blocks, size + 28, zlib.crc32(data[-1024:]) ^ 0xFFFFFFFF)
    records = [record(ExtendedEvent(name, START, {}, {}), session) for name in "aabaa"]
    content = read_bytes(file_header() + bytes(blocks) + event_block(b"".join(records), session))
    assert ([event.name for event in content.events], compared) == (["b"], ["a", "b"])
    reason = "the metadata let the event's columns overlap (and of 3 more in this block)"
    assert [d.reason for d in content.damages] == [reason]


PACKAGE = metadata_blocks()[0x4C:]
PACKAGE = PACKAGE[: struct.unpack_from("<I", PACKAGE, 2)[0]]


@for_each("length", [1, 7, 56, 61, 601, -20])
def test_truncated_metadata_are_reported(length: int) -> None:
    with pytest.raises(ValueError, match="its record of a package is broken"):
        metadata.add_records(PACKAGE[:length], {})


def test_a_count_of_four_billion_items_ends_with_the_record() -> None:
    at = PACKAGE.index(u32(len(SIZES)))
    with pytest.raises(ValueError, match="its record of a package is broken"):
        metadata.add_records(edited(PACKAGE, at, u32(0xFFFFFFFF)), {})


def test_damaged_metadata_cost_their_events_and_no_more(read_bytes: Read) -> None:
    blocks = metadata_blocks()
    size = struct.unpack_from("<I", blocks, 16)[0]
    damaged = blocks[:size] + edited(blocks[size:], 28, u32(0))
    content = read_bytes(
        file_header() + damaged + event_block(RECORD) + blocks + event_block(RECORD)
    )
    assert len(content.events) == 1
    assert [d.reason for d in content.damages] == ["its checksum is wrong", UNKNOWN]


def test_a_template_repeats_an_event_as_if_each_were_written(read_bytes: Read) -> None:
    events = [batch(f"SELECT {n:08}", number=n) for n in range(50)]
    repeat = Template(batch("SELECT ########"), ["########"])
    records = [repeat(e.at, n, 51, {"########": f"{n:08}"}) for n, e in enumerate(events)]
    content = read_bytes(HEAD + event_block(b"".join(records)))
    assert content.events == events
    assert all(one.at < two.at for one, two in pairwise(content.events))
