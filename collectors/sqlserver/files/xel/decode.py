"""The events of a block; those that are not wanted are only walked over.

A record is, one after the other until the block's data are used up:

    u32 event id · u32 flags · u32 0 · u64 ticks · u32 payload's length · payload · actions

The six lowest bits of the flags are the version, 10; the highest is set where actions follow.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from dbt_graft.collectors.sqlserver.event import Chunk, EventFilter, ExtendedEvent, LogDamage, Value
from dbt_graft.collectors.sqlserver.files.xel.actions import ActionDecoder, ActionList
from dbt_graft.collectors.sqlserver.files.xel.metadata import (
    TICKS,
    EventType,
    FieldType,
    StreamMetadata,
)
from dbt_graft.collectors.sqlserver.files.xel.payload import PayloadDecoder, payload_decoder
from dbt_graft.collectors.sqlserver.files.xel.values import LATEST, UNIX_EPOCH

_log = logging.getLogger(__name__)

_RECORD = struct.Struct("<II4xQI")
_ACTIONS_FOLLOW = 0x80000000
_VERSION, _VERSION_BITS = 10, 0x3F
_PACKAGE_BITS = 0xFF
_APPLICATIONS = 4096  # How many are remembered.
_AT_ONCE = 1 << 15  # Events of a chunk: about 100 MB, where the block is as large.

_Decoded: TypeAlias = tuple[
    str, str, PayloadDecoder
]  # Its name, its package's, and its fields' decoder.


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
            data: The block's.
            position: Of the block in the file, to name it where something is damaged.
        """
        events: list[ExtendedEvent] = []
        damages: dict[str, tuple[int, int]] = {}
        base, ticks = self._stream.base - UNIX_EPOCH, self._stream.ticks
        types, find = self._types, self._actions.find
        is_wanted = self._is_wanted if self._wanted else None
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
                if kind is None or (is_wanted and not is_wanted(data, actions, leaf)):
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

    def _is_wanted(self, data: bytes, actions: int, leaf: ActionList | None) -> bool:
        application = b""
        if leaf:
            start, end = leaf.application
            application = data[actions + start : actions + end]
        name = self._known.get(application)
        if name is None:
            if len(self._known) >= _APPLICATIONS:
                self._known.clear()
            name = self._known[application] = application.decode("utf-16-le", "replace")
        assert self._wanted is not None
        return self._wanted(name)

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


def _decoder(kind: EventType, types: Mapping[int, FieldType]) -> PayloadDecoder:
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
