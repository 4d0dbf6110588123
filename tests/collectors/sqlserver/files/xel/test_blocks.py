"""The chain of blocks: what is damaged costs itself, what is unfinished waits, junk is not read."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_graft.collectors.files import LogFile, log_files
from dbt_graft.collectors.sqlserver.event import Chunk, EventFilter, ExtendedEvent
from dbt_graft.collectors.sqlserver.files.formats import file_splits
from dbt_graft.collectors.sqlserver.files.xel.read import read_xel, xel_splits
from tests.cases import for_each
from tests.collectors.sqlserver.xel_session import BASE, LINEAGE
from tests.collectors.sqlserver.xel_writer import (
    UNIX_EPOCH,
    event_block,
    file_header,
    metadata_blocks,
    record,
    write_events,
)

Read: TypeAlias = Callable[..., Chunk]

START = BASE - UNIX_EPOCH


def batch(number: int, text: str = "INSERT INTO t VALUES (1)") -> ExtendedEvent:
    return ExtendedEvent(
        "sql_batch_starting", START + number, {"batch_text": text}, {"session_id": 51}
    )


def block(first: int, sector: int = 0x200, room: int = 0) -> bytes:
    """Ten events in a block, more than one sector long."""
    records = b"".join(record(batch(first + n)) for n in range(10))
    return event_block(records, sector=sector, sequence=first, room=room)


def times(chunk: Chunk) -> list[int]:
    return [event.at - START for event in chunk.events]


HEAD = file_header() + metadata_blocks()
A, B, C = block(0), block(10), block(20)
AT = [len(HEAD), len(HEAD) + len(A), len(HEAD) + len(A) + len(B)]
FIRST, SECOND, THIRD = list(range(10)), list(range(10, 20)), list(range(20, 30))


def edited(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def u32(number: int) -> bytes:
    return struct.pack("<I", number)


LAST_OF_DATA = 0x4D + struct.unpack_from("<I", B, 24)[0] - 4
BROKEN = "its header is broken; {:,} bytes were left out"
PAST = "it runs past the file's end; {:,} bytes were left out"
DAMAGED = {
    "a flipped bit": (
        A + edited(B, LAST_OF_DATA, b"\xff") + C,
        FIRST + THIRD,
        "its checksum is wrong",
    ),
    "a wrong checksum": (A + edited(B, 28, u32(7)) + C, FIRST + THIRD, "its checksum is wrong"),
    "a data length that is too small": (
        A + edited(B, 24, u32(9)) + C,
        FIRST + THIRD,
        "its checksum is wrong",
    ),
    "a data length beyond the block": (
        A + edited(B, 24, u32(1 << 31)) + C,
        FIRST + THIRD,
        BROKEN.format(len(B)),
    ),
    "a size of 0": (A + edited(B, 16, u32(0)) + C, FIRST + THIRD, BROKEN.format(len(B))),
    "an odd size": (A + edited(B, 16, u32(len(B) - 1)) + C, FIRST + THIRD, BROKEN.format(len(B))),
    "a size of 4 GB": (
        A + edited(B, 16, u32(0xFFFFFE00)) + C,
        FIRST + SECOND + THIRD,
        "its size is wrong; 0 bytes were left out",
    ),
    "a data length of 4 GB": (
        A + edited(edited(B, 16, u32(0xFFFFFE00)), 24, u32(0xFFFFF000)) + C,
        FIRST + THIRD,
        PAST.format(len(B)),
    ),
    "another version": (A + edited(B, 12, b"\x0b") + C, FIRST + THIRD, BROKEN.format(len(B))),
    "another kind": (A + edited(B, 14, b"\x07") + C, FIRST + THIRD, BROKEN.format(len(B))),
    "a header of zeros": (A + bytes(512) + B[512:] + C, FIRST + THIRD, BROKEN.format(len(B))),
    "a header length of 60,000": (
        A + edited(B, 22, b"\x60\xea") + C,
        FIRST + THIRD,
        BROKEN.format(len(B)),
    ),
    "a sector of noise between": (A + b"\xa5" * 512 + C, FIRST + THIRD, BROKEN.format(512)),
    "a stream without metadata": (
        A + edited(B, 32, b"\x01" * 16) + C,
        FIRST + THIRD,
        "no metadata describe its events",
    ),
}


@pytest.mark.parametrize("size", [1, 32 << 20])
@for_each("name", DAMAGED)
def test_a_damaged_block_costs_itself_and_is_reported(
    name: str, size: int, read_bytes: Read
) -> None:
    data, left, reason = DAMAGED[name]
    content = read_bytes(HEAD + data, size=size)
    assert times(content) == left
    assert [(d.position, d.reason) for d in content.damages] == [(f"block at byte {AT[1]}", reason)]


DATA_END = 0x4D + struct.unpack_from("<I", C, 24)[0]


def unfinished(there: int, size: int = len(C)) -> str:
    return (
        f"pending, {there:,} of at least {size:,} bytes are there: "
        "it is read when the file has changed"
    )


@pytest.mark.parametrize("size", [1, 32 << 20])
@for_each(
    "tail, reason",
    [
        # Of zeros alone nobody can say that they are a block's first.
        (C[:17], unfinished(17, 0x200)),
        (C[:30], unfinished(30, 0x200)),
        (C[:0x4C], unfinished(0x4C)),
        (C[:0x4D], unfinished(0x4D)),
        (C[:200], unfinished(200)),
        (C[: len(C) - 0x200], unfinished(len(C) - 0x200)),
        (C[: DATA_END - 1], unfinished(DATA_END - 1)),
        (C[:0x4D].ljust(len(C), b"\0"), unfinished(48)),
        (bytes(0x200) + C[0x200:], BROKEN.format(len(C))),
    ],
    ids=["17", "30", "0x4C", "0x4D", "200", "a sector less", "a byte less", "room", "no header"],
)
def test_a_last_block_that_is_not_all_there_is_reported(
    tail: bytes, reason: str, size: int, read_bytes: Read
) -> None:
    content = read_bytes(HEAD + A + B + tail, size=size)
    assert times(content) == FIRST + SECOND
    assert [(d.position, d.reason) for d in content.damages] == [(f"block at byte {AT[2]}", reason)]


def test_a_file_cut_short_that_no_longer_grows_is_not_pending(
    tmp_path: Path, read_file: Read
) -> None:
    path = tmp_path / "a.xel"
    path.write_bytes(HEAD + A + B[:300])
    day_ago = time.time() - 86_400
    os.utime(path, (day_ago, day_ago))
    (damage,) = read_file(path).damages
    assert damage.reason == (
        f"the file is cut short: 300 of at least {len(B):,} bytes are there; copy it again"
    )


@pytest.mark.parametrize("tail", [bytes(512), bytes(70_144)])
def test_room_that_the_server_made_in_the_file_is_no_damage(tail: bytes, read_bytes: Read) -> None:
    content = read_bytes(HEAD + A + B + tail)
    assert (times(content), content.damages) == (FIRST + SECOND, [])


def test_a_growing_file_gives_at_every_length_its_complete_blocks(
    read_bytes: Read,
) -> None:
    data = HEAD + A + B + C
    starts = [*AT, len(data)]
    ends = [at + 0x4D + struct.unpack_from("<I", data, at + 24)[0] for at in AT]
    for length in range(len(HEAD), len(data) + 1, 97):
        content = read_bytes(data[:length])
        complete = sum(length >= end for end in ends)
        pending = length not in starts
        assert (len(content.events), len(content.damages)) == (10 * complete, pending)


def test_a_file_cut_anywhere_but_between_blocks_is_reported(
    tmp_path: Path, read_file: Read
) -> None:
    data = file_header() + metadata_blocks() + block(0, room=0x400) + block(10)
    starts, at = set[int](), 0x200
    while at < len(data):
        starts.add(at)
        at += struct.unpack_from("<I", data, at + 16)[0]
    near = {start + n for start in starts for n in range(-5, 6)}
    path = tmp_path / "a.xel"
    silent = set()
    for length in sorted({*range(0, len(data), 37), *near, len(data)}):
        path.write_bytes(data[:length])
        (file,) = [file_splits(log) for log in log_files(str(path), "a.xel")]
        assert isinstance(file, list)
        if not any(chunk.damages for split in file for chunk in read_xel(split, EventFilter())):
            silent.add(length)
    # Without its first block no file is whole; between two blocks, nothing tells that one follows.
    assert silent == {*starts - {0x200}, len(data)}


@pytest.mark.parametrize("sector", [0x200, 0x1000])
def test_what_lies_behind_the_data_is_never_read(sector: int, read_bytes: Read) -> None:
    old = block(0, sector, room=3 * sector)
    assert b"junk" in old.replace(b"\0", b"")
    data = file_header(sector) + metadata_blocks(LINEAGE, sector) + old + block(10, sector)
    content = read_bytes(data)
    assert (times(content), content.damages) == (FIRST + SECOND, [])


NO_FILES = {
    "text": (b"<event name='a'>" * 100, "it is not a .xel file of SQL Server 2012 or later"),
    "a start that is cut off": (HEAD[:7], "it ends before its header does"),
    "another version": (edited(HEAD, 4, b"\x0b"), "its format has version 11; 10 is known"),
    "sectors of 1 byte": (edited(HEAD, 6, b"\x01\x00"), "its sectors cannot have 1 bytes"),
    "sectors of 600 bytes": (edited(HEAD, 6, b"\x58\x02"), "its sectors cannot have 600 bytes"),
}


@for_each("name", NO_FILES)
@pytest.mark.parametrize("size", [1, 32 << 20])
def test_another_file_is_an_error(name: str, size: int, read_bytes: Read) -> None:
    data, reason = NO_FILES[name]
    content = read_bytes(data, size=size)
    assert [(d.position, d.reason) for d in content.damages] == [("byte 0", reason)]


@pytest.mark.parametrize(("length", "block"), [(0, 0), (8, 0x200), (300, 0x200), (0x200, 0x200)])
def test_a_file_without_a_block_is_not_all_there(length: int, block: int, read_bytes: Read) -> None:
    content = read_bytes(HEAD[:length])
    assert [(d.position, d.reason) for d in content.damages] == [
        (f"block at byte {block}", unfinished(0, 0x200))
    ]


def test_a_file_that_is_gone_is_a_damage_not_a_crash(tmp_path: Path) -> None:
    gone = LogFile(str(tmp_path / "gone.xel"), "gone.xel", 1 << 30, "")
    (part,) = xel_splits(gone)
    (chunk,) = read_xel(part, EventFilter())
    assert [d.reason for d in chunk.damages] == ["cannot be read: No such file or directory"]


def test_a_small_file_is_one_part_and_is_not_opened(tmp_path: Path) -> None:
    (part,) = xel_splits(LogFile(str(tmp_path / "gone.xel"), "logs/gone.xel", 4096, ""))
    assert (part.origin, part.form, part.start, part.end) == ("logs/gone.xel", "xel", 0, 4096)


@settings(deadline=None, max_examples=40)
@given(
    size=st.integers(1, 40_000),
    length=st.integers(300, 5_000),
    sector=st.sampled_from([0x200, 0x1000]),
)
def test_parts_hold_each_event_once_whatever_their_size(
    size: int, length: int, sector: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("parts") / "a.xel"
    events = [batch(n, "x" * (n % 80)) for n in range(150)]
    write_events(path, events, sector=sector, block=length)
    (log,) = log_files(str(path), "a.xel")
    cut = xel_splits(log, size)
    assert (cut[0].start, cut[-1].end) == (0, log.size)
    assert [part.end for part in cut[:-1]] == [part.start for part in cut[1:]]
    chunks = [chunk for part in cut for chunk in read_xel(part, EventFilter())]
    assert [event for chunk in chunks for event in chunk.events] == events


def test_a_part_knows_the_metadata_that_were_written_before_it(
    tmp_path: Path, read_file: Read
) -> None:
    path = tmp_path / "a.xel"
    path.write_bytes(HEAD + A + metadata_blocks() + B + C)
    (log,) = log_files(str(path), "a.xel")
    assert len(xel_splits(log, len(A))) > 3
    assert times(read_file(path, size=len(A))) == FIRST + SECOND + THIRD
