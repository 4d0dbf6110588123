"""Writes .xel files for tests and benchmarks, in the layout that `files.xel` reads.

`write_events` makes a file of events whose types a `Session` has; `LINEAGE` has those of a
capture for lineage. For what is damaged or odd, a file is put together from `file_header`,
`metadata_blocks` and `event_block`. `Template` repeats one event with other times and values, a
million in a few seconds.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from dbt_graft.collectors.sqlserver.event import ExtendedEvent, Mapped, Value
from tests.collectors.sqlserver.xel_session import LINEAGE, SIZES, STREAM, TICKS, Session

UNIX_EPOCH = 116_444_736_000_000_000
SECTOR = 0x200
BLOCK = 64 << 10
# Bits of the flags that mean nothing, and what the server's buffer held before.
_NOISE = 0x0012_3440
_JUNK = "password = 'junk behind the data' ".encode("utf-16-le")

_PACKED = {
    "int8": "<b",
    "int16": "<h",
    "int32": "<i",
    "int64": "<q",
    "uint8": "<B",
    "uint16": "<H",
    "uint32": "<I",
    "uint64": "<Q",
    "float32": "<f",
    "float64": "<d",
    "boolean": "<?",
    "cpu_cycle": "<Q",
    "filetime": "<Q",
}


def write_events(
    path: Path,
    events: Iterable[ExtendedEvent],
    session: Session = LINEAGE,
    *,
    sector: int = SECTOR,
    block: int = BLOCK,
) -> int:
    """Write a file of events in blocks of about `block` bytes; how many there were."""
    return write_records(path, (record(event, session) for event in events), session, sector, block)


def write_records(
    path: Path,
    records: Iterable[bytes],
    session: Session = LINEAGE,
    sector: int = SECTOR,
    block: int = BLOCK,
) -> int:
    """Write a file of encoded events, as `record` or a `Template` gives them."""
    count = 0
    with path.open("wb") as out:
        out.write(file_header(sector) + metadata_blocks(session, sector))
        for number, data in enumerate(_batches(records, block), 1):
            count += data[0]
            out.write(event_block(data[1], session, sector, number))
    return count


def _batches(records: Iterable[bytes], size: int) -> Iterator[tuple[int, bytes]]:
    batch: list[bytes] = []
    length = 0
    for one in records:
        if batch and length + len(one) > size:
            yield len(batch), b"".join(batch)
            batch, length = [], 0
        batch.append(one)
        length += len(one)
    if batch:
        yield len(batch), b"".join(batch)


def file_header(sector: int = SECTOR) -> bytes:
    """The sector that a file begins with; the rest of it is whatever was there."""
    return _filled(struct.pack("<IHH", 0xEFAB375A, 10, sector) + STREAM.bytes_le, sector)


def event_block(
    records: bytes,
    session: Session = LINEAGE,
    sector: int = SECTOR,
    sequence: int = 1,
    room: int = 0,
) -> bytes:
    """A block of events; `room` bytes of old buffer follow the data."""
    return _block(records, 0, session.stream, sector, sequence, room)


def metadata_blocks(session: Session = LINEAGE, sector: int = SECTOR) -> bytes:
    """Both blocks: package0's own record, and the records of all packages."""
    content = metadata_block([_package0(session)], sector)
    return content + metadata_block([_package0(session), _sqlserver(session)], sector)


def metadata_block(records: Iterable[bytes], sector: int = SECTOR) -> bytes:
    """A block of package records."""
    return _block(b"".join(records), 1, UUID(int=0), sector, 0xFFFFFFFF, 0)


def _block(data: bytes, kind: int, stream: UUID, sector: int, sequence: int, room: int) -> bytes:
    length = 0x4C if kind else 0x4D
    size = -(-(length + len(data) + room) // sector) * sector
    checksum = zlib.crc32(data[-1024:]) ^ 0xFFFFFFFF
    header = struct.pack(
        "<IIIHHIHHII16s",
        *(0, sequence % 3, sequence, 10, kind, size, 0, length, len(data), checksum),
        stream.bytes_le,
    )
    return _filled(header.ljust(length, b"\0") + data, size)


def _filled(data: bytes, size: int) -> bytes:
    return (data + _JUNK * ((size - len(data)) // len(_JUNK) + 1))[:size]


def _package0(session: Session) -> bytes:
    types = [
        struct.pack("<HBBI", 0, 0, 0, session.type_id(name))
        + _text(name)
        + _text("")
        + bytes([size])
        for name, size in SIZES.items()
    ]
    return _package(session, "package0", 0, [[], [], [], types])


def _sqlserver(session: Session) -> bytes:
    events = [_event(session, name) for name in session.events]
    actions = [
        struct.pack("<HHI", 0, 2, session.id(1, session.actions, name))
        + _text(name)
        + _text(f"Collect {name}")
        + struct.pack("<III", session.type_id(kind), 0, 0)
        for name, kind in session.actions.items()
    ]
    maps = [
        struct.pack("<HHI", 0, 0, session.type_id(name))
        + _text(name)
        + _text("")
        + struct.pack("<BH", kind.width, len(kind.texts))
        + b"".join(struct.pack("<I", key) + _text(text) for key, text in kind.texts.items())
        for name, kind in session.maps.items()
    ]
    return _package(session, "sqlserver", 2, [events, actions, maps, []])


def _package(session: Session, name: str, index: int, items: list[list[bytes]]) -> bytes:
    body = (
        struct.pack(
            "<16sHQQQHHI",
            session.stream.bytes_le,
            0,
            1,
            session.base,
            session.ticks,
            10,
            0,
            8 << 28 | index,
        )
        + _text(name)
        + _text(f"The objects of {name}")
        + bytes(34)
        + struct.pack("<IIHHI", 1, 0, 0, 72, 318)
        + b"".join(struct.pack("<I", len(content)) + b"".join(content) for content in items)
    )
    size = -(-(len(body) + 6) // 8) * 8
    return _filled(struct.pack("<HI", 10, size) + body, size)


def _event(session: Session, name: str) -> bytes:
    columns = session.events[name]
    fixed = sum(not _is_elsewhere(kind) for kind in columns.values())
    uuid = (
        struct.pack("<I", session.type_id("guid_ptr")) + _text("UUID") + STREAM.bytes_le + _text("")
    )
    version = struct.pack("<I", session.type_id("uint8")) + _text("VERSION") + struct.pack("<Q", 1)
    collect = struct.pack("<I", session.type_id("boolean")) + _text("collect_it") + bytes(24)
    return b"".join(
        (
            struct.pack("<HHI", 10, 2, session.id(0, session.events, name)) + _text(name),
            _text(f"Occurs at {name}"),
            struct.pack("<HHHH", 2, 1, len(columns), fixed),
            uuid + version + _text("") + collect + _text("Collect it"),
            *(
                struct.pack("<I", session.type_id(kind))
                + _text(column)
                + struct.pack("<HH", offset, 0)
                + _text("")
                for column, (kind, offset) in _offsets(session, name).items()
            ),
        )
    )


def _is_elsewhere(kind: str) -> bool:
    return SIZES.get(kind) == 0 or kind.endswith("_ptr")


def _offsets(session: Session, name: str) -> dict[str, tuple[str, int]]:
    offsets, at = {}, 0
    for column, kind in session.events[name].items():
        offsets[column] = (kind, at)
        width = session.maps[kind].width if kind in session.maps else SIZES[kind]
        at += 8 if _is_elsewhere(kind) else width
    return offsets


def record(event: ExtendedEvent, session: Session = LINEAGE) -> bytes:
    """An event as a file stores it; columns that it lacks are written as not collected."""
    columns = session.events[event.name]
    slots, bodies = [], []
    size = sum(
        8 if _is_elsewhere(kind) else len(encode(kind, None, session)) for kind in columns.values()
    )
    for column, kind in columns.items():
        value = event.data.get(column)
        stored = encode(kind, value, session)
        if _is_elsewhere(kind):
            slots.append(struct.pack("<II", size if stored else 0, len(stored)))
            bodies.append(stored)
            size += len(stored)
        else:
            slots.append(stored)
    payload = b"".join(slots + bodies)
    ticks = (event.at + UNIX_EPOCH - session.base) * (session.ticks or TICKS) // TICKS
    flags = 10 | _NOISE | (1 << 31 if event.actions else 0)
    head = struct.pack(
        *("<IIIQI", session.id(0, session.events, event.name), flags, 0, ticks, len(payload))
    )
    return head + payload + (_actions(event, session) if event.actions else b"")


def _actions(event: ExtendedEvent, session: Session) -> bytes:
    parts = []
    for name, value in event.actions.items():
        stored = b"" if value is None else encode(session.actions[name], value, session)
        parts += [struct.pack("<II", session.id(1, session.actions, name), len(stored)), stored]
    return b"".join(parts) + struct.pack("<II", 0x60000000, 0)


def encode(kind: str, value: Value, session: Session = LINEAGE) -> bytes:
    """A value as its type is stored; None as zeros, or nothing where the size varies."""
    if kind in session.maps:
        number = value.value if isinstance(value, Mapped) else int(value or 0)
        return number.to_bytes(session.maps[kind].width, "little")
    if value is None:
        return b"" if _is_elsewhere(kind) else bytes(SIZES[kind])
    if isinstance(value, bytes):
        return value
    if kind in _PACKED:
        return struct.pack(_PACKED[kind], _number(value))
    text = str(value)
    if kind == "ptr":
        return int(text, 16).to_bytes(8, "little")
    if kind == "callstack":
        return b"".join(int(frame, 16).to_bytes(8, "little") for frame in text.split())
    if kind.startswith("activity_id"):
        guid, _, number = text.rpartition("-")
        return UUID(guid).bytes_le + int(number).to_bytes(4, "little")
    if kind.startswith("guid"):
        return UUID(text).bytes_le if text else b""
    if kind == "char":
        return text.encode("latin-1")
    return text.encode() if kind.startswith("ansi") else text.encode("utf-16-le", "surrogatepass")


def _number(value: Value) -> Value:
    """A number itself; of a time, as `2026-11-21T02:15:00.1234567Z`, 100 ns since 1601."""
    if not isinstance(value, str):
        return value
    text, ticks = value[:19], int(value[20:27])
    whole = datetime.fromisoformat(f"{text}+00:00") - datetime(1601, 1, 1, tzinfo=UTC)
    return (whole.days * 86_400 + whole.seconds) * TICKS + ticks


def _text(text: str) -> bytes:
    return text.encode("utf-16-le") + b"\0\0"


class Template:
    """An event to be repeated: encoded once, then filled with what differs.

    Args:
        blanks: Texts that occur in the event's fields; each is replaced by one of equal length.
    """

    def __init__(
        self, event: ExtendedEvent, blanks: Iterable[str] = (), session: Session = LINEAGE
    ) -> None:
        self._raw = record(event, session)
        self._since = UNIX_EPOCH - session.base
        self._numbers = {
            name: self._raw.index(struct.pack("<I", session.id(1, session.actions, name))) + 8
            for name in ("event_sequence", "session_id")
        }
        self._places = []
        for blank in blanks:
            stored = blank.encode("utf-16-le")
            at = self._raw.find(stored)
            while at >= 0:
                self._places.append((blank, at, at + len(stored)))
                at = self._raw.find(stored, at + len(stored))

    def __call__(
        self, at: int, sequence: int, session_id: int, values: Mapping[str, str] | None = None
    ) -> bytes:
        """The record of an event at another time, with other numbers and blanks filled."""
        raw = bytearray(self._raw)
        struct.pack_into("<Q", raw, 12, at + self._since)
        struct.pack_into("<Q", raw, self._numbers["event_sequence"], sequence)
        struct.pack_into("<H", raw, self._numbers["session_id"], session_id)
        for blank, start, end in self._places:
            raw[start:end] = values[blank].encode("utf-16-le")  # type: ignore[index]
        return bytes(raw)
