"""The actions of an event: `u32 action id · u32 length · bytes`, again and again, then an end mark.

An event's whole length is not stored, so the list is walked even for events that nobody wants.
Most events of a kind have the actions of the one before them, and of the same lengths: such a list
is unpacked at once, by a struct made for it, and walked only where its heads turn out otherwise.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from collectors.sqlserver.event import Value
from collectors.sqlserver.xel.metadata import Stream, Type
from collectors.sqlserver.xel.values import Convert, from_bytes, from_packed, packed, repeated

_HEAD = struct.Struct("<II")
_LAST = 0x60000000
_UNKNOWN = Type("", 0)
_LAYOUTS = 4096  # How many are kept in mind.


class _Layout(NamedTuple):
    """A list of actions of certain lengths; index 2n + 1 of what is unpacked has the nth value."""

    struct: struct.Struct
    heads: tuple[int, ...]
    names: tuple[str, ...]
    converts: tuple[tuple[str, int, Convert], ...]
    application: int | None


class Found(NamedTuple):
    """An event's actions: where they end, and the application's name as it is stored."""

    end: int
    application: bytes
    start: int
    layout: _Layout | None = None
    values: tuple[Value, ...] = ()


class Actions:
    """Finds and decodes the actions of one stream's events."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._converts: dict[int, tuple[str, Convert]] = {}
        self._last: dict[int, _Layout] = {}
        # By ids and lengths; a list met once has None, so that texts that never come again cost
        # no struct of their own.
        self._layouts: dict[tuple[int, ...], _Layout | None] = {}

    def find(self, data: bytes, at: int, event: int) -> Found:
        """The actions that begin at an offset, of an event of this id.

        Raises:
            struct.error: They do not end within the data.
        """
        layout = self._last.get(event)
        if layout and at + layout.struct.size <= len(data):
            values = layout.struct.unpack_from(data, at)
            if values[::2] == layout.heads:
                app = b"" if layout.application is None else values[layout.application]
                return Found(at + layout.struct.size, app, at, layout, values)
        return self._walk(data, at, event)

    def _walk(self, data: bytes, start: int, event: int) -> Found:
        app = b""
        heads: list[int] = []
        at, unpack, application = start, _HEAD.unpack_from, self._stream.application
        action, length = unpack(data, at)
        while action != _LAST:
            at += 8
            if action == application:
                app = data[at : at + length]
            heads += (action, length)
            at += length
            action, length = unpack(data, at)
        key = tuple(heads)
        if key in self._layouts:
            layout = self._layouts[key] = self._layouts[key] or self._layout(key)
            if layout:
                self._last[event] = layout
        else:
            if len(self._layouts) >= _LAYOUTS:
                self._layouts.clear()
            self._layouts[key] = None
        return Found(at + 8, app, start)

    def _layout(self, key: tuple[int, ...]) -> _Layout | None:
        code, heads, names, converts, app = "<", [], [], [], None
        for index, (action, length) in enumerate(zip(key[::2], key[1::2], strict=True)):
            if action not in self._stream.actions:
                return None
            name, kind = self._known(action)
            in_place = length == kind.size and not packed(kind).endswith("s")
            code += f"Q{packed(kind)}" if in_place else f"Q{length}s"
            convert = from_packed(kind) if in_place else repeated(kind, length)
            if convert:
                converts.append((name, 2 * index + 1, convert))
            if action == self._stream.application:
                app = 2 * index + 1
            heads.append(length << 32 | action)
            names.append(name)
        heads.append(_LAST)
        return _Layout(struct.Struct(f"{code}Q"), tuple(heads), tuple(names), tuple(converts), app)

    def _known(self, action: int) -> tuple[str, Type]:
        known = self._stream.actions[action]
        return known.name, self._stream.types.get(known.type, _UNKNOWN)

    def fields(self, data: bytes, found: Found) -> dict[str, Value]:
        """The actions' names and values.

        Raises:
            ValueError, struct.error: A value is not what its type says.
        """
        if found.layout is None:
            return self._one_by_one(data, found.start)
        values = found.values
        fields = dict(zip(found.layout.names, values[1::2], strict=False))
        for name, index, convert in found.layout.converts:
            fields[name] = convert(values[index])
        return fields

    def _one_by_one(self, data: bytes, at: int) -> dict[str, Value]:
        fields: dict[str, Value] = {}
        converts, unpack = self._converts, _HEAD.unpack_from
        while True:
            action, length = unpack(data, at)
            at += 8
            if action == _LAST:
                return fields
            if action not in converts:
                if action not in self._stream.actions:
                    raise ValueError("the metadata do not tell what an action is")
                name, kind = self._known(action)
                converts[action] = (name, from_bytes(kind))
            name, convert = converts[action]
            fields[name] = convert(data[at : at + length])
            at += length
