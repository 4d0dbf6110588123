"""Fuzzes the readers of captured events: damaged .xel files, and damaged XML events.

    python -m tests.fuzz.fuzz_events --cases 100000 --seed 1

A case is a small file of the writer with bits flipped, numbers replaced by extreme ones, pieces cut
out, doubled or taken from another file, or its end missing; half of the .xel files get right
checksums afterwards, so that the damage reaches the decoder. A capture of a task, as XML, is folded
to the segments of its runs. Every case must end, in time, as events and counted damage: no
exception, nothing lost without a word, no value of the log in a damage or a log line, no more text
than the file can hold, and the same whether read at once or in splits. Prints the case that fails,
by its number: the same seed and number make the same file. The address space is limited while it
runs.
"""

from __future__ import annotations

import random
import re
import resource
import shutil
import struct
import tempfile
import zlib
from collections import Counter
from pathlib import Path

import click

from dbt_graft.collectors.files import LogFile, log_files
from dbt_graft.collectors.schema import record as record_of
from dbt_graft.collectors.sqlserver.event import (
    Chunk,
    EventFilter,
    ExtendedEvent,
    FileSplit,
    LogDamage,
    Mapped,
    Value,
)
from dbt_graft.collectors.sqlserver.files.event_text import to_json, to_xml
from dbt_graft.collectors.sqlserver.files.formats import file_splits
from dbt_graft.collectors.sqlserver.files.readers import read_split
from dbt_graft.collectors.sqlserver.files.xel.read import read_xel, xel_splits
from dbt_graft.collectors.sqlserver.files.xml_events import parse_event
from dbt_graft.collectors.sqlserver.files.xml_reader import read_xml
from dbt_graft.collectors.sqlserver.runs.captured import event_filter
from dbt_graft.collectors.sqlserver.runs.clients import TaskClients
from dbt_graft.collectors.sqlserver.runs.folding import fold_chunks
from dbt_graft.collectors.sqlserver.runs.rules import RunRules
from dbt_graft.collectors.sqlserver.runs.segment import Segment, SegmentKind
from tests.collectors.sqlserver.xel_session import BASE, SIZES, Map, Session
from tests.collectors.sqlserver.xel_writer import (
    UNIX_EPOCH,
    event_block,
    file_header,
    metadata_blocks,
    record,
)
from tests.fuzz.guard import LITERAL, CaseError, guarded

_MEMORY = 2 << 30
_START = BASE - UNIX_EPOCH
_EXTREME = (0, 1, 2, 10, 24, 0x7F, 0xFF, 0x200, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
_APPS = ("python_task::load", "SSMS", "")
_HEADER = struct.Struct("<I8xHHIHHII")
_VALUE = re.compile(rb"<value>([^<]*)</value>|timestamp=\"([^\"]*)\"")
_OTHER_VALUES = (
    *(b"", b"-1", b"0", b"9" * 30, b"1e400", b"NaN", b"0x", b"\xff", b"&#0;", b"&none;", b"]]>"),
    *(b"2026-13-01T00:00:00Z", b"9999-12-31T23:59:59.9999999Z", "\u202e🪵".encode()),
    *(b"x" * 10_000, f"'{LITERAL}".encode(), b"(" * 3_000),
)
# What a byte of a file may become: columns may share bytes, and a name is repeated in each event.
_GROWTH = 64


def _seeds() -> list[bytes]:
    """Small files of every type, sector and number of blocks and streams."""
    maps = {"kind": Map(1, {0: "OK", 1: "Error"}), "mask": Map(4, {1: "a", 2: "b", 4: "c"})}
    actions = {"client_app_name": "unicode_string", "session_id": "uint16"}
    texts = {"n": "int32", "kind": "kind", "mask": "mask", "text": "unicode_string", "xml": "xml"}
    plain = Session({"batch": texts, "nothing": {}}, actions, maps)
    types = Session({"types": {f"c_{kind}": kind for kind in SIZES}}, {"stack": "callstack"})
    other = Session({"batch": {"text": "ansi_string"}}, {"id": "activity_id"}, first_id=50)
    batches = [
        ExtendedEvent(
            *(
                "batch",
                _START + n,
                {"n": n, "text": f"SELECT '{LITERAL}'" * n, "xml": "<a/>", "mask": n},
            ),
            {"client_app_name": _APPS[n % 3], "session_id": 51},
        )
        for n in range(8)
    ]
    encoded = [record(event, plain) for event in batches]
    nothing = record(ExtendedEvent("nothing", _START, {}, {}), plain)
    typed = record(ExtendedEvent("types", _START, {}, {"stack": "0x0000000000000001"}), types)
    ids = {"id": "329B2676-060B-4760-8698-46A43E0B1603-7"}
    named = record(ExtendedEvent("batch", _START, {"text": "SELECT 2"}, ids), other)
    seeds = []
    for sector in (0x200, 0x1000):
        head = file_header(sector) + metadata_blocks(plain, sector)
        block = event_block(b"".join(encoded), plain, sector)
        seeds.append(head + block + event_block(nothing * 3 + encoded[0], plain, sector))
        seeds.append(head + metadata_blocks(types, sector) + event_block(typed * 5, types, sector))
        content = metadata_blocks(other, sector) + event_block(named * 4, other, sector)
        seeds.append(head + block + content + block)
    return seeds


def _mutated(data: bytes, donor: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4, 16))):
        at = chance.randrange(len(changed) or 1)
        length = chance.choice((1, 4, 8, 24, 512, 1024))
        how = chance.randrange(8)
        if how <= 1 and changed:
            changed[at] ^= 1 << chance.randrange(8)
        elif how <= 3:
            width, number = chance.choice((1, 2, 4)), chance.choice(_EXTREME)
            changed[at : at + width] = (number & ((1 << 8 * width) - 1)).to_bytes(width, "little")
        elif how == 4:
            del changed[at : at + length]
        elif how == 5:
            changed[at:at] = changed[at : at + length]
        elif how == 6:
            other = chance.randrange(len(donor))
            changed[at : at + length] = donor[other : other + length]
        else:
            del changed[max(at, 1) :]
    return bytes(changed)


def _captured() -> list[bytes]:
    """Events of a task in two sessions, as XML: what a capture for lineage holds."""
    statement = f"INSERT INTO dbo.b SELECT x FROM dbo.a WHERE y = '{LITERAL}'"
    texts = {
        "sql_batch_completed": {"batch_text": statement},
        "sql_statement_completed": {"statement": statement, "offset": 0, "offset_end": -1},
        "rpc_completed": {
            "statement": f"exec sp_executesql N'SELECT x FROM a WHERE y = @y', N'@y', '{LITERAL}'",
            "object_name": "sp_executesql",
        },
        "error_reported": {"message": LITERAL, "severity": 16, "error_number": 208},
        "logout": {},
    }
    counts = {"duration": 1_000, "row_count": 3, "result": Mapped(0, "OK")}
    return [
        to_xml(
            ExtendedEvent(
                *(name, _START + number * 10**7, data | counts),
                {
                    "client_app_name": "python_task::load::7",
                    "session_id": 51 + number % 2,
                    "database_name": "Shop",
                    "event_sequence": number,
                    "request_id": 1,
                    "transaction_id": 4_711,
                },
            )
        ).encode()
        for number, (name, data) in enumerate(texts.items())
    ]


def _with_other_value(event: bytes, chance: random.Random) -> bytes:
    """The event with one of its values replaced."""
    value = chance.choice([*_VALUE.finditer(event)])
    start, end = value.span(value.lastindex or 0)
    return event[:start] + chance.choice(_OTHER_VALUES) + event[end:]


def _check_capture(events: list[bytes], path: Path) -> Counter[str]:
    """Fold what a file holds to the segments of runs; none of its values is in a damage."""
    path.write_bytes(b"\n".join(events))
    (log,) = log_files(str(path), path.name)
    splits = file_splits(log)
    if isinstance(splits, LogDamage):
        return Counter(damages=1)
    rules = RunRules()
    clients = TaskClients(rules.task)
    wanted = event_filter(clients)
    segments = [
        record_of(Segment, row)
        for split in splits
        for batch in fold_chunks(split.origin, read_split(split, wanted), rules, clients)
        for row in batch.to_pylist()
    ]
    damages = [part.damage for part in segments if part.key.kind is SegmentKind.DAMAGE]
    if LITERAL in repr(damages):
        raise CaseError("a damage shows a value of the log")
    return Counter(segments=len(segments) - len(damages), damages=len(damages))


def _sealed(data: bytes) -> bytes:
    """The file with the checksum of each block made right, as far as the chain can be followed."""
    sealed, at = bytearray(data), struct.unpack_from("<H", data.ljust(8), 6)[0]
    while 0 < at <= len(data) - 0x4D:
        _, _, _, size, _, data_at, length, _ = _HEADER.unpack_from(data, at)
        content = data[at + data_at : at + data_at + length]
        struct.pack_into("<I", sealed, at + 28, zlib.crc32(content[-1024:]) ^ 0xFFFFFFFF)
        if not size:
            break
        at += size
    return bytes(sealed)


def _check_xel(data: bytes, path: Path, size: int) -> Counter[str]:
    path.write_bytes(data)
    log = LogFile(str(path), "fuzz.xel", len(data), "")
    at_once = list(read_xel(FileSplit(log.url, log.origin, "xel", 0, len(data)), EventFilter()))
    _check(at_once, len(data))
    in_splits = [chunk for part in xel_splits(log, size) for chunk in read_xel(part, EventFilter())]
    if _events(at_once) != _events(in_splits):
        raise CaseError("splits give other events than the file")
    is_task = EventFilter(frozenset({"batch", "types"}), lambda name: name.startswith("python"))
    chunks = [chunk for part in xel_splits(log, size) for chunk in read_xel(part, is_task)]
    if sum(chunk.seen for chunk in chunks) != sum(chunk.seen for chunk in at_once):
        raise CaseError("a filter changes how many events there are")
    return Counter(
        events=len(_events(at_once)), damages=sum(len(chunk.damages) for chunk in at_once)
    )


def _check_xml(data: bytes, path: Path) -> Counter[str]:
    text = data.decode("utf-8", "replace")
    found = parse_event(text)
    if not isinstance(found, ExtendedEvent | LogDamage):
        raise CaseError("neither an event nor a damage")
    path.write_bytes(data)
    chunks = list(read_xml(FileSplit(str(path), "fuzz.xml", "xml", 0, len(data)), EventFilter()))
    _check(chunks, len(data))
    return Counter(events=len(_events(chunks)), damages=sum(len(chunk.damages) for chunk in chunks))


def _check(chunks: list[Chunk], length: int) -> None:
    for chunk in chunks:
        if len(chunk.events) < chunk.seen and not chunk.damages:
            raise CaseError("events were lost without a word")
    size = 0
    for event in _events(chunks):
        to_json(event)
        size += sum(_size(value) for value in (*event.data.values(), *event.actions.values()))
    if size > _GROWTH * length:
        raise CaseError(f"{size} characters came out of {length} bytes")


def _events(chunks: list[Chunk]) -> list[ExtendedEvent]:
    # NaN equals nothing, itself neither.
    return [event for chunk in chunks for event in chunk.events if "nan" not in repr(event)]


def _size(value: Value) -> int:
    return (
        len(value.text if isinstance(value, Mapped) else value)
        if isinstance(value, str | bytes | Mapped)
        else 8
    )


def fuzz(cases: int, seed: int, folder: Path) -> Counter[str]:
    """Run this many cases of each kind; what came of them all.

    Raises:
        AssertionError: A case did not end as it should; the note names it.
    """
    seeds = _seeds()
    events = read_events(seeds, folder)
    xml = [to_xml(event).encode() for event in events]
    captured = _captured()
    counted: Counter[str] = Counter()
    for number in range(cases):
        chance = random.Random(f"{seed} {number}")  # noqa: S311
        data = _mutated(chance.choice(seeds), chance.choice(seeds), chance)
        if chance.random() < 0.5:
            data = _sealed(data)
        text = _mutated(b"\n".join(chance.choices(xml, k=3)), chance.choice(xml), chance)
        capture = [
            _with_other_value(event, chance) if chance.random() < 0.3 else event
            for event in chance.choices(captured, k=8)
        ]
        if chance.random() < 0.5:
            capture = [_mutated(b"\n".join(capture), chance.choice(captured), chance)]
        try:
            with guarded():
                counted += _check_xel(data, folder / "fuzz.xel", chance.choice((1, 600, 5_000)))
                counted += _check_xml(text, folder / "fuzz.xml")
                counted += _check_capture(capture, folder / "capture.xml")
        except Exception as error:
            error.add_note(f"case {number} of seed {seed}; its files are in {folder}")
            raise
    return counted


def read_events(seeds: list[bytes], folder: Path) -> list[ExtendedEvent]:
    """The events of the seeds as they were before any damage."""
    path = folder / "fuzz.xel"
    events = []
    for seed in seeds:
        path.write_bytes(seed)
        chunks = list(
            read_xel(FileSplit(str(path), "fuzz.xel", "xel", 0, len(seed)), EventFilter())
        )
        if any(chunk.damages for chunk in chunks):
            raise CaseError("a seed is damaged")
        events += _events(chunks)
    return events


@click.command()
@click.option("--cases", default=100_000, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(cases: int, seed: int) -> None:
    """Fuzz the readers of captured events."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    counted = fuzz(cases, seed, folder)
    shutil.rmtree(folder)  # Left where a case failed.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    click.echo(
        f"{cases:,} .xel files and as many of XML: {counted['events']:,} events and ", nl=False
    )
    click.echo(f"{counted['damages']:,} damages, no failure; {peak} MB at most")


if __name__ == "__main__":
    main()
