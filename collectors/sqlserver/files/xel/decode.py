"""The events of a block; those that are not wanted are only walked over.

A record is, one after the other until the block's data are used up:

    u32 event id · u32 flags · u32 0 · u64 ticks · u32 payload's length · payload · actions

The six lowest bits of the flags are the version, 10; the highest is set where actions follow.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from typing import TypeAlias

from dbt_graft.collectors.sqlserver.event import (
    EXISTING_CONNECTION,
    Chunk,
    EventFilter,
    ExtendedEvent,
    LogDamage,
    Value,
)
from dbt_graft.collectors.sqlserver.files.xel.actions import ActionDecoder, ActionList
from dbt_graft.collectors.sqlserver.files.xel.metadata import (
    TICKS,
    EventField,
    EventType,
    FieldType,
    StreamMetadata,
)
from dbt_graft.collectors.sqlserver.files.xel.values import (
    LATEST,
    UNIX_EPOCH,
    Convert,
    bytes_converter,
    is_elsewhere,
    struct_code,
    unpacked_converter,
)

# (data, where the payload begins, its length) -> the fields
_PayloadDecoder: TypeAlias = Callable[[bytes, int, int], dict[str, Value]]
# A column, its type, and whether its value is elsewhere.
_Slot: TypeAlias = tuple[EventField, FieldType, bool]
_PLACE = "II"
# Columns may share bytes, but not so that a small event fills the memory.
_SHARED = 4
_log = logging.getLogger(__name__)
_RECORD = struct.Struct("<II4xQI")
_ACTIONS_FOLLOW = 0x80000000
_VERSION, _VERSION_BITS = 10, 0x3F
_PACKAGE_BITS = 0xFF
_APPLICATIONS = 4096  # How many are remembered.
_AT_ONCE = 1 << 15  # Events of a chunk: about 100 MB, where the block is as large.
_Decoded: TypeAlias = tuple[
    str, str, _PayloadDecoder
]  # Its name, its package's, and its fields' decoder.


def payload_decoder(kind: EventType, types: Mapping[int, FieldType]) -> _PayloadDecoder:
    """A decoder for the payloads of an event type.

    It raises ValueError or `struct.error` where a payload contradicts the columns.

    Raises:
        ValueError: The columns contradict each other.
    """
    slots = _slots(kind, types)
    layout, size = _struct_layout(slots)
    converted: list[tuple[str, int, Convert]] = []
    elsewhere: list[tuple[str, int, Value, Convert]] = []
    indexes: dict[EventField, int] = {}
    index = 0
    for column, its_type, away in slots:
        if away:
            convert_bytes = bytes_converter(its_type)
            elsewhere.append((column.name, index, convert_bytes(b""), convert_bytes))
        elif convert := unpacked_converter(its_type):
            converted.append((column.name, index, convert))
        indexes[column] = index
        index += 2 if away else 1
    names = [column.name for column in kind.columns]
    order = [indexes[column] for column in kind.columns]
    pick = None if order == sorted(order) and not _is_mixed(slots) else itemgetter(*order, 0)
    unpack = struct.Struct(layout).unpack_from

    def decode(data: bytes, start: int, length: int) -> dict[str, Value]:
        if length < size:
            raise ValueError("the event is shorter than its columns")
        values = unpack(data, start)
        # What is elsewhere has its place here for now, so that the fields keep their order.
        fields: dict[str, Value] = dict(zip(names, pick(values) if pick else values, strict=False))
        for name, at, convert in converted:
            fields[name] = convert(values[at])
        used = 0
        for name, at, empty, convert in elsewhere:
            many = values[at + 1]
            if not many:
                fields[name] = empty
                continue
            offset = values[at]
            used += many
            if offset + many > length or used > _SHARED * length:
                raise ValueError("a column ends behind its event")
            fields[name] = convert(data[start + offset : start + offset + many])
        return fields

    return decode


def _struct_layout(slots: list[_Slot]) -> tuple[str, int]:
    """The layout of the columns for `struct`, and its size in bytes."""
    layout, size = "<", 0
    for column, its_type, away in slots:
        if column.offset < size:
            raise ValueError("the metadata let the event's columns overlap")
        code = _PLACE if away else struct_code(its_type)
        layout += f"{column.offset - size}x{code}"
        size = column.offset + struct.calcsize(f"<{code}")
    return layout, size


def _is_mixed(slots: list[_Slot]) -> bool:
    """Whether a value of fixed size stands behind one that is elsewhere."""
    away = [away for *_, away in slots]
    return away != sorted(away)


def _slots(kind: EventType, types: Mapping[int, FieldType]) -> list[_Slot]:
    """The columns as they stand in the payload, and whether the value of each is elsewhere."""
    columns = sorted(kind.columns, key=lambda column: column.offset)
    if any(column.type not in types for column in columns):
        raise ValueError("the metadata do not name the type of a column")
    typed = [(column, types[column.type]) for column in columns]
    fixed = sum(not is_elsewhere(its_type) for _, its_type in typed)
    # Where fewer columns are fixed than have a size, a GUID's bytes are elsewhere.
    return [
        (column, its_type, is_elsewhere(its_type) or (fixed > kind.fixed and its_type.size > 8))
        for column, its_type in typed
    ]


class BlockDecoder:
    """Decodes the blocks of one stream; made anew when its metadata have changed."""

    def __init__(self, stream: StreamMetadata, wanted: EventFilter) -> None:
        self._stream = stream
        self._wanted = wanted.application
        self._known: dict[bytes, str] = {}
        self._names = wanted.names
        # Event types met so far; None: the type is not wanted.
        self._types: dict[int, _Decoded | None] = {}
        self._actions = ActionDecoder(stream)

    def chunks(self, data: bytes, position: int) -> Iterator[Chunk]:
        """The wanted events of a block: one chunk, of a huge block several.

        Args:
            position: Of the block in the file, to name it where something is damaged.
        """
        events: list[ExtendedEvent] = []
        damages: dict[str, tuple[int, int]] = {}
        base, ticks = self._stream.base - UNIX_EPOCH, self._stream.ticks
        types, find = self._types, self._actions.find
        passes = self._is_wanted if self._wanted else None
        unpack, decode_actions = _RECORD.unpack_from, self._actions.fields
        at = number = before = 0
        end = len(data)
        while at < end:
            if len(events) == _AT_ONCE:
                yield Chunk(events, number - before)
                events, before = [], number
            number += 1
            try:
                event, flags, tick, length = unpack(data, at)
                payload = at + _RECORD.size
                actions = payload + length
                at, leaf = find(data, actions) if flags & _ACTIONS_FOLLOW else (actions, None)
            except struct.error:
                at = end + 1
            if at > end or flags & _VERSION_BITS != _VERSION:
                _count(damages, "the events are cut off", number)
                break
            try:
                kind = types[event] if event in types else self._type(event)
                if kind is None or (passes and not passes(kind, data, payload, actions, leaf)):
                    continue
                name, package, decode = kind
                when = base + (tick if ticks == TICKS else tick * TICKS // ticks)
                if not 0 <= when < LATEST:
                    raise ValueError("its time is impossible")
                fields = decode(data, payload, length)
                action_fields = decode_actions(data, actions, leaf) if leaf else {}
            except ValueError as error:
                _log.debug("a reject: an event", exc_info=True)
                _count(damages, str(error), number)
            except (struct.error, OverflowError):
                _log.debug("a reject: an event", exc_info=True)
                _count(damages, "a value is not of its type", number)
            else:
                events.append(ExtendedEvent(name, when, fields, action_fields, package))
        listed = [_damage(position, *counts) for counts in damages.items()]
        yield Chunk(events, number - before, listed)

    def _is_wanted(
        self, kind: _Decoded, data: bytes, payload: int, actions: int, leaf: ActionList | None
    ) -> bool:
        assert self._wanted is not None
        name, _, decode = kind
        if name == EXISTING_CONNECTION:
            fields = decode(data, payload, actions - payload)
            return self._wanted(str(fields.get("client_app_name") or ""))
        application = b""
        if leaf:
            start, end = leaf.application
            application = data[actions + start : actions + end]
        client = self._known.get(application)
        if client is None:
            if len(self._known) >= _APPLICATIONS:
                self._known.clear()
            client = self._known[application] = application.decode("utf-16-le", "replace")
        return self._wanted(client)

    def _type(self, event: int) -> _Decoded | None:
        kind = self._stream.events.get(event)
        if kind is None:
            raise ValueError("the metadata do not name the event")
        decoded: _Decoded | None = None
        if self._names is None or kind.name in self._names:
            package = self._stream.packages.get(event & _PACKAGE_BITS, "")
            decoded = (kind.name, package, _decoder(kind, self._stream.types))
        self._types[event] = decoded
        return decoded


def _decoder(kind: EventType, types: Mapping[int, FieldType]) -> _PayloadDecoder:
    """As `payload_decoder`; where the columns contradict each other, each event is a damage."""
    try:
        return payload_decoder(kind, types)
    except ValueError as error:
        reason = str(error)

    def refuse(_data: bytes, _start: int, _length: int) -> dict[str, Value]:
        raise ValueError(reason)

    return refuse


def _count(damages: dict[str, tuple[int, int]], reason: str, event: int) -> None:
    first, count = damages.get(reason, (event, 0))
    damages[reason] = (first, count + 1)


def _damage(position: int, reason: str, counts: tuple[int, int]) -> LogDamage:
    first, count = counts
    ending = f" (and of {count - 1:,} more in this block)" if count > 1 else ""
    return LogDamage(f"block at byte {position}, event {first}", reason + ending)
