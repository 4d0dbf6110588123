"""Files of any codec have the same events; damage is reported and costs nothing else."""

from __future__ import annotations

import gzip
import re
import shutil
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from dbt_graft.collectors.spark.log.decode import BadEvent, EndOfFile, SparkEvent, decode
from tests.cases import for_each
from tests.collectors.spark.packed import lz4, snappy, zstd

LINES = [
    b'{"Event":"SparkListenerApplicationStart","App Name":"a","App ID":"x","Timestamp":1}\n',
    b'{"Event":"SparkListenerTaskEnd","Stage ID":0}\n',
    b'{"Event":"SparkListenerApplicationEnd","Timestamp":2}\n',
]
PLAIN = b"".join(LINES)


UNPACK = "which is to be unpacked"


def archive(name: str) -> bytes:
    """The events as a packed file in an archive."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "log").mkdir()
        (Path(folder) / "log/app-1.zstd").write_bytes(zstd(PLAIN))
        made = shutil.make_archive(f"{folder}/{name}", name, f"{folder}/log")
        return Path(made).read_bytes()


ZIP, TAR = archive("zip"), archive("tar")


def read(data: bytes, growing: bool = False) -> tuple[list[str], list[BadEvent], int]:
    *found, finished = decode(BytesIO(data), growing)
    assert isinstance(finished, EndOfFile)
    names = [event.name for event in found if isinstance(event, SparkEvent)]
    return (
        names,
        [damage for damage in found if isinstance(damage, BadEvent)],
        finished.events,
    )


@for_each(
    "data",
    [
        *(PLAIN, PLAIN.rstrip(), zstd(*LINES), zstd(PLAIN)),
        *(gzip.compress(PLAIN), lz4(PLAIN), snappy(PLAIN)),
    ],
    ids=["plain", "no newline at the end", "zstd frames", "one frame", "gzip", "lz4", "snappy"],
)
def test_every_codec_yields_the_same_events(data: bytes) -> None:
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


@for_each(
    "data, names, damage",
    [
        (b"", [], BadEvent("byte 0", "the file is empty")),
        (
            b"\x00\x01 what is this",
            [],
            BadEvent("line 1", "not a Spark event log: it does not start with an event"),
        ),
        (
            ZIP,
            [],
            BadEvent("line 1", f"not a Spark event log: it is a ZIP archive, {UNPACK}"),
        ),
        (
            TAR,
            [],
            BadEvent("line 1", f"not a Spark event log: it is a tar archive, {UNPACK}"),
        ),
        (
            gzip.compress(TAR),
            [],
            BadEvent("line 1", f"not a Spark event log: it is a tar archive, {UNPACK}"),
        ),
        (
            b'{"eventTime": "2026-11-01T00:00:00Z", "producer": "x", "schemaURL": "y"}\n',
            [],
            BadEvent(
                "line 1",
                "not a Spark event log: it has events of OpenLineage, an entry of their own",
            ),
        ),
        (
            b'{"user": "someone else"}\n' * 3,
            [],
            BadEvent("line 1", "not a Spark event log: it does not start with an event"),
        ),
        (
            b'{"user": "someone else"}\n' * 10 + LINES[0],
            [],
            BadEvent("line 1", "not a Spark event log: it does not start with an event"),
        ),
        (
            LINES[0] + b"oops\n" + LINES[2],
            [START, END],
            BadEvent("line 2", "no Spark event"),
        ),
        (
            b"\noops\n" + LINES[0] + LINES[2],
            [START, END],
            BadEvent("line 2", "no Spark event"),
        ),
        (
            LINES[0] + b'{"Event":"SparkListenerApplicationEnd","Timestamp":oops}\n' + LINES[2],
            [START, END],
            BadEvent("line 2", "the event is not valid JSON"),
        ),
        (
            LINES[0] + b'{"Event":"SparkListenerJobStart"}\n{"Event":"SparkListenerJobStart",'
            b'"Properties":{"spark.sql.execution.id":"3"}}\n',
            [START, "SparkListenerJobStart"],
            BadEvent(
                "line 3",
                "the event lacks a field or has it in another form "
                "(KeyError at dbt_graft.collectors.spark.log.events)",
            ),
        ),
        (PLAIN[:-20], [START], BadEvent("line 3", "the event is cut off")),
        (
            zstd(*LINES)[:-10],
            [START],
            BadEvent(f"line 3, byte {len(zstd(*LINES)) - 10}", "the compressed data is truncated"),
        ),
        (
            b"ZV\x01....",
            [],
            BadEvent("line 1, byte 0", "lzf compression is not supported: use zstd"),
        ),
    ],
    ids=[
        *("empty", "garbage", "ZIP", "tar", "tar.gz", "OpenLineage", "foreign", "long foreign"),
        *("line", "first line", "json", "field", "cut", "cut zstd", "lzf"),
    ],
)
def test_damage_is_reported_and_the_other_events_count(
    data: bytes, names: list[str], damage: BadEvent
) -> None:
    found, [bad] = read(data)[:2]
    assert found == names
    assert replace(bad, reason=re.sub(r":\d+\)$", ")", bad.reason)) == damage


def test_damaged_compression_is_reported_with_its_byte() -> None:
    good, bad = zstd(*LINES[:2]), bytearray(zstd(LINES[2] * 50))
    bad[8:20] = b"\xff" * 12
    names, [damage], _ = read(good + bytes(bad))
    assert names == [START]
    assert damage == BadEvent(f"line 3, byte {len(good)}", "the compressed data is damaged")


@pytest.mark.parametrize("data", [PLAIN[:-20], zstd(*LINES)[:-10], b""])
def test_a_growing_file_may_end_anywhere(data: bytes) -> None:
    assert read(data, growing=True)[1] == []


def test_a_file_full_of_garbage_has_a_few_rejects() -> None:
    _, damage, _ = read(LINES[0] + b"oops\n" * 5_000)
    assert len(damage) == 21
    assert damage[-1] == BadEvent("file", "4980 more lines are not Spark events")


UPDATE = (
    b'{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate",'
    b'"executionId":%d,"physicalPlanDescription":"","sparkPlanInfo":{"nodeName":"%s"}}\n'
)
EXECUTION_END = (
    b'{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd",'
    b'"executionId":%d,"time":1}\n'
)


def test_of_the_plans_of_an_execution_only_the_last_is_read_before_its_end() -> None:
    lines = [UPDATE % (1, b"a"), UPDATE % (2, b"b"), UPDATE % (1, b"c"), EXECUTION_END % 1]
    found = [
        decoded for decoded in decode(BytesIO(b"".join(lines))) if isinstance(decoded, SparkEvent)
    ]
    assert [
        (decoded.line, decoded.body.get("sparkPlanInfo", {}).get("nodeName")) for decoded in found
    ] == [
        (3, "c"),
        (4, None),
        (2, "b"),
    ]


def test_another_writers_blanks_in_an_event_do_no_harm() -> None:
    spaced = PLAIN.replace(b'{"Event":', b' { "Event" : ').replace(b"\n", b" \r\n")
    assert read(spaced) == ([START, END], [], 3)


def test_a_line_that_nothing_ends_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbt_graft.collectors.spark.log.decode._LONGEST", 3 << 20)
    endless = b'{"Event":"SparkListenerApplicationStart","App Name":"%s"}\n' % (b"n" * (9 << 20))
    names, damage, events = read(endless + PLAIN)
    assert (names, events) == ([START, END], 4)
    assert damage == [BadEvent("line 1", "the event is not valid JSON")]
