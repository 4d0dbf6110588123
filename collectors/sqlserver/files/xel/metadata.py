"""Metadata blocks of a .xel file -> its events, actions, maps and types, by their ids.

A metadata block holds package records one after the other, whose texts are UTF-16 ended by NUL:

    u16 10 · u32 record's length · GUID stream · u16 0 · u64 1 · u64 base time · u64 ticks a
    second · u16 10 · u16 flag · u32 id · text name · text description · GUID package · GUID module
    · u16 0 · u32 n, n times (u32 kind, u16, u16, u32) · u32 n, events · u32 n, actions · u32 n,
    maps · u32 n, types

Ids differ from server to server; a later record adds to the ids of an earlier one or replaces them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from dbt_graft.lineage.frozen import frozen

_T = TypeVar("_T")
TICKS = 10_000_000  # A second, in the 100 ns of Windows' clock; 2012 leaves it out.


@frozen
class FieldType:
    """A type of a field.

    Attributes:
        size: In bytes; 0 where it varies.
        texts: The name of each value of a map; None of a plain type.
    """

    name: str
    size: int
    texts: Mapping[int, str] | None = None


@frozen
class EventField:
    """A field of an event: the id of its type, and where it stands in the payload."""

    name: str
    type: int
    offset: int


@frozen
class EventType:
    """The event of an id.

    Attributes:
        fixed: How many of them have a type whose size does not vary.
    """

    name: str
    columns: tuple[EventField, ...]
    fixed: int


@frozen
class ActionType:
    """The action of an id, and the id of its type."""

    name: str
    type: int


@dataclass(slots=True)
class StreamMetadata:
    """The contents of all records of one stream so far.

    Attributes:
        base: The time at tick 0, in 100 ns since 1601 in UTC.
        ticks: A second's.
        packages: Their names by the lowest byte of their ids, which their objects' ids share.
    """

    base: int = 0
    ticks: int = TICKS
    packages: dict[int, str] = field(default_factory=dict)
    events: dict[int, EventType] = field(default_factory=dict)
    actions: dict[int, ActionType] = field(default_factory=dict)
    types: dict[int, FieldType] = field(default_factory=dict)
    application: int | None = None


def add_records(data: bytes, streams: dict[bytes, StreamMetadata]) -> None:
    """Add a metadata block's records to what is known of their streams, by GUID.

    Raises:
        ValueError: A record is damaged; those before it were added.
    """
    at = 0
    try:
        while at < len(data):
            length = int.from_bytes(data[at + 2 : at + 6], "little")
            _record(data[at : at + length], streams)
            at += length
    except (struct.error, ValueError) as error:
        raise ValueError(f"its record of a package is broken ({at:,} bytes into it)") from error


_U32 = struct.Struct("<I")
_RECORD = struct.Struct("<6x16s10xQQ4xI")
_GUIDS = struct.Struct("<34x")
_TABLE = struct.Struct("<12x")
_ID = struct.Struct("<4xI")
_COLUMNS = struct.Struct("<HHHH")
_READONLY, _READONLY_GUID = struct.Struct("<8x"), struct.Struct("<16x")
_CUSTOMIZABLE = struct.Struct("<24x")
_PLACE = struct.Struct("<H2x")
_ACTION = struct.Struct("<I8x")
_MAP = struct.Struct("<BH")
_SIZE = struct.Struct("<B")


class _Cursor:
    """The position of reading in a record."""

    __slots__ = ("at", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def unpack(self, fields: struct.Struct) -> tuple[int, ...]:
        values = fields.unpack_from(self.data, self.at)
        self.at += fields.size
        return values

    def number(self) -> int:
        return self.unpack(_U32)[0]

    def text(self) -> str:
        end = self.data.index(b"\0\0", self.at)
        while (end - self.at) % 2:  # Halves of two characters, not a NUL.
            end = self.data.index(b"\0\0", end + 1)
        text = self.data[self.at : end].decode("utf-16-le", "replace")
        self.at = end + 2
        return text

    def read_name(self) -> tuple[int, str]:
        """The id and the name that every item begins with; its description is skipped."""
        (item,) = self.unpack(_ID)
        name = self.text()
        self.text()
        return item, name

    def all(self, item: Callable[[_Cursor], tuple[int, _T]]) -> dict[int, _T]:
        """The items after their number, by id."""
        return dict(item(self) for _ in range(self.number()))


def _record(data: bytes, streams: dict[bytes, StreamMetadata]) -> None:
    guid, base, ticks, package = _RECORD.unpack_from(data)
    cursor = _Cursor(data)
    cursor.at = _RECORD.size
    name = cursor.text()
    cursor.text()
    cursor.unpack(_GUIDS)
    for _ in range(cursor.number()):
        cursor.unpack(_TABLE)
    events, actions = cursor.all(_event), cursor.all(_action)
    types = {**cursor.all(_map), **cursor.all(_type)}
    stream = streams.setdefault(guid, StreamMetadata())
    stream.base, stream.ticks = base, ticks or TICKS
    stream.packages[package & 0xFF] = name
    stream.events.update(events)
    stream.actions.update(actions)
    stream.types.update(types)
    for action, kind in actions.items():
        if kind.name == "client_app_name":
            stream.application = action


def _event(cursor: _Cursor) -> tuple[int, EventType]:
    event, name = cursor.read_name()
    readonly, customizable, columns, fixed = cursor.unpack(_COLUMNS)
    for _ in range(readonly):
        cursor.number()
        # The one column whose value is a GUID.
        cursor.unpack(_READONLY_GUID if cursor.text() == "UUID" else _READONLY)
        cursor.text()
    for _ in range(customizable):
        cursor.number()
        cursor.text()
        cursor.unpack(_CUSTOMIZABLE)
        cursor.text()
    return event, EventType(name, tuple(_column(cursor) for _ in range(columns)), fixed)


def _column(cursor: _Cursor) -> EventField:
    kind, name = cursor.number(), cursor.text()
    (offset,) = cursor.unpack(_PLACE)
    cursor.text()
    return EventField(name, kind, offset)


def _action(cursor: _Cursor) -> tuple[int, ActionType]:
    action, name = cursor.read_name()
    return action, ActionType(name, *cursor.unpack(_ACTION))


def _map(cursor: _Cursor) -> tuple[int, FieldType]:
    item, name = cursor.read_name()
    size, count = cursor.unpack(_MAP)
    texts = {}
    for _ in range(count):
        key = cursor.number()
        texts[key] = cursor.text()
    return item, FieldType(name, size, texts)


def _type(cursor: _Cursor) -> tuple[int, FieldType]:
    item, name = cursor.read_name()
    (size,) = cursor.unpack(_SIZE)
    return item, FieldType(name, size)
