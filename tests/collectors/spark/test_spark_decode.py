"""Files of any codec give their events; damage is told with its place and costs nothing else."""

from __future__ import annotations

import gzip

import pytest
import zstandard

from collectors.files import LogFile
from collectors.spark.decode import Damage, Event, Finished, decode
from collectors.spark.logs import application_logs

LINES = [
    b'{"Event":"SparkListenerApplicationStart","App Name":"a","App ID":"x","Timestamp":1}\n',
    b'{"Event":"SparkListenerTaskEnd","Stage ID":0}\n',
    b'{"Event":"SparkListenerApplicationEnd","Timestamp":2}\n',
]
PLAIN = b"".join(LINES)


def zstd(*pieces: bytes) -> bytes:
    """As Spark writes it: a frame for each flush."""
    return b"".join(zstandard.ZstdCompressor().compress(piece) for piece in pieces)


def read(data: bytes, growing: bool = False) -> tuple[list[str], list[Damage], int]:
    *found, finished = decode(data, growing)
    assert isinstance(finished, Finished)
    names = [event.name for event in found if isinstance(event, Event)]
    return names, [damage for damage in found if isinstance(damage, Damage)], finished.events


@pytest.mark.parametrize(
    "data",
    [PLAIN, PLAIN.rstrip(), zstd(*LINES), zstd(PLAIN), gzip.compress(PLAIN)],
    ids=["plain", "no newline at the end", "zstd frames", "one zstd frame", "gzip"],
)
def test_every_codec_gives_the_needed_events(data: bytes) -> None:
    names, damage, events = read(data)
    assert names == ["SparkListenerApplicationStart", "SparkListenerApplicationEnd"]
    assert (damage, events) == ([], 3)


def test_lines_longer_than_a_chunk_are_put_together() -> None:
    long = b'{"Event":"SparkListenerApplicationStart","App Name":"%s","Timestamp":1}\n'
    data = long % (b"n" * 300_000)
    for packed in (data * 2, zstd(data * 2), zstd(data, data)):
        assert read(packed) == (["SparkListenerApplicationStart"] * 2, [], 2)


START = "SparkListenerApplicationStart"
END = "SparkListenerApplicationEnd"


@pytest.mark.parametrize(
    ("data", "names", "damage"),
    [
        (b"", [], Damage("byte 0", "the file is empty")),
        (
            b"\x00\x01 what is this",
            [],
            Damage("line 1", "no Spark event log: it does not start with an event"),
        ),
        (
            b'{"user": "someone else"}\n' * 3,
            [],
            Damage("line 1", "no Spark event log: it does not start with an event"),
        ),
        (LINES[0] + b"oops\n" + LINES[2], [START, END], Damage("line 2", "no Spark event")),
        (
            LINES[0] + b'{"Event":"SparkListenerApplicationEnd","Timestamp":oops}\n' + LINES[2],
            [START, END],
            Damage("line 2", "the event is no valid JSON"),
        ),
        (
            LINES[0] + b'{"Event":"SparkListenerJobStart"}\n{"Event":"SparkListenerJobStart",'
            b'"Properties":{"spark.sql.execution.id":"3"}}\n',
            [START],
            Damage("line 3", "the event lacks a field or has it in another form"),
        ),
        (PLAIN[:-20], [START], Damage("line 3", "the event is cut off")),
        (
            zstd(*LINES)[:-10],
            [START],
            Damage(f"line 3, byte {len(zstd(*LINES)) - 10}", "the compressed data breaks off"),
        ),
        (
            b"LZ4Block\x15....",
            [],
            Damage("line 1, byte 0", "lz4 compression is not supported: use zstd"),
        ),
    ],
    ids=["empty", "garbage", "foreign", "line", "json", "field", "cut", "cut zstd", "lz4"],
)
def test_damage_is_told_and_the_rest_is_kept(data: bytes, names: list[str], damage: Damage) -> None:
    assert read(data)[:2] == (names, [damage])


def test_damaged_compression_is_told_with_its_byte() -> None:
    good, bad = zstd(*LINES[:2]), bytearray(zstd(LINES[2] * 50))
    bad[8:20] = b"\xff" * 12
    names, [damage], _ = read(good + bytes(bad))
    assert names == [START]
    assert damage == Damage(f"line 3, byte {len(good)}", "the compressed data is damaged")


@pytest.mark.parametrize("data", [PLAIN[:-20], zstd(*LINES)[:-10], b""])
def test_a_growing_file_may_end_anywhere(data: bytes) -> None:
    assert read(data, growing=True)[1] == []


def test_a_file_full_of_garbage_gives_a_few_rejects() -> None:
    _, damage, _ = read(LINES[0] + b"oops\n" * 5_000)
    assert len(damage) == 21
    assert damage[-1] == Damage("whole file", "4980 more lines are no Spark events")


def test_a_rolling_log_is_one_application_with_its_parts_in_order() -> None:
    folder = "eventlog_v2_app-1"
    names = ["appstatus_app-1", *(f"events_{n}_app-1.zstd" for n in (10, 2, 1))]
    files = [
        LogFile(f"/l/{folder}/{n}", f"l/{folder}/{n}", 5, f"5@{at}") for at, n in enumerate(names)
    ]
    [log] = application_logs(files)
    assert (log.log.origin, log.log.position, log.growing) == (f"l/{folder}", "20@3", False)
    assert [part.url.partition("events_")[2][:2] for part in log.parts] == ["1_", "2_", "10"]


@pytest.mark.parametrize(
    ("names", "kept"),
    [
        (["events_1_a.zstd", "events_2_a.zstd.compact", "events_3_a.zstd"], "23"),
        (["events_1_a.zstd", "events_2_a.zstd", "events_2_a.zstd.compact"], "2"),
        (["events_1_a", "events_2_a.inprogress"], "12"),
        (["appstatus_a.inprogress"], ""),
    ],
)
def test_what_a_compaction_replaced_is_not_read_twice(names: list[str], kept: str) -> None:
    files = [LogFile(f"/l/eventlog_v2_a/{n}", f"l/eventlog_v2_a/{n}", 1, "1@1") for n in names]
    [log] = application_logs(files)
    assert "".join(part.url.partition("events_")[2][:1] for part in log.parts) == kept


def test_a_single_file_keeps_its_origin_when_it_is_finished() -> None:
    growing = application_logs([LogFile("/l/app-1.inprogress", "l/app-1.inprogress", 5, "5@1")])
    finished = application_logs([LogFile("/l/app-1", "l/app-1", 9, "9@2")])
    assert [log.log.origin for log in (*growing, *finished)] == ["l/app-1", "l/app-1"]
    assert [log.growing for log in (*growing, *finished)] == [True, False]
