"""The actions of an event: `u32 action id · u32 length · bytes`, again and again, then an end mark.

The length of an event is not stored, so the list is walked even for events that are left out. The
walk follows a tree of the ids and lengths that were met before, eight bytes at a step, whose leaves
know how to unpack such a list at once.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, TypeAlias

from dbt_graft.collectors.sqlserver.event import Value
from dbt_graft.collectors.sqlserver.files.xel.metadata import FieldType, StreamMetadata
from dbt_graft.collectors.sqlserver.files.xel.values import (
    Convert,
    bytes_converter,
    repeated_converter,
    struct_code,
    unpacked_converter,
)

_HEAD = struct.Struct("<II")
_LAST = 0x60000000
_UNKNOWN = FieldType("", 0)
_STEPS = 1 << 16  # Of the tree and its leaves, how many are remembered.


class ActionList:
    """The end of the walk over an event's actions, and their ids and lengths, in their order.

    Attributes:
        application: From where to where behind the list's start `client_app_name` is stored.
        met: Whether such a list was decoded before: only then a struct is compiled for it.
        unpack, names, converts: Decode such a list, the values by their indexes.
    """

    __slots__ = ("application", "converts", "heads", "met", "names", "unpack")

    def __init__(self, heads: list[tuple[int, int]], application: int | None) -> None:
        self.heads = heads
        self.application = (0, 0)
        self.met = False
        self.unpack: Callable[[bytes, int], tuple[Any, ...]] | None = None
        self.names: list[str] = []
        self.converts: list[tuple[str, int, Convert]] = []
        at = 0
        for action, length in heads:
            at += 8
            if action == application:
                self.application = (at, at + length)
            at += length


# The next node, how far it is away, and the leaf where the list ends there.
_Step: TypeAlias = tuple[dict[bytes, "_Step"], int, ActionList | None]


class ActionDecoder:
    """Finds and decodes the actions of one stream's events."""

    def __init__(self, stream: StreamMetadata) -> None:
        self._stream = stream
        self._converts: dict[int, tuple[str, Convert]] = {}
        self._root: dict[bytes, _Step] = {}
        self._steps = 0

    def find(self, data: bytes, start: int) -> tuple[int, ActionList]:
        """The end of the actions that begin at an offset, and their ids and lengths.

        Raises:
            struct.error: They do not end within the data.
        """
        node, at, leaf = self._root, start, None
        while leaf is None:
            step = node.get(data[at : at + 8]) or self._grow(node, data, at, start)
            node, length, leaf = step
            at += length
        return at, leaf

    def _grow(self, node: dict[bytes, _Step], data: bytes, at: int, start: int) -> _Step:
        action, length = _HEAD.unpack_from(data, at)
        leaf = None
        if self._steps >= _STEPS:
            self._root.clear()
            self._steps = 0
        self._steps += 1
        if action == _LAST:
            length = 0
            leaf = ActionList(_heads(data, start), self._stream.application)
            self._steps += len(leaf.heads)
        step: _Step = ({}, 8 + length, leaf)
        node[data[at : at + 8]] = step
        return step

    def fields(self, data: bytes, start: int, leaf: ActionList) -> dict[str, Value]:
        """The names and values of the actions that begin at an offset.

        Raises:
            ValueError, struct.error: A value does not fit its type.
        """
        if leaf.unpack is None:
            if not leaf.met:
                leaf.met = True
                return self._one_by_one(data, start, leaf)
            self._compile(leaf)
            assert leaf.unpack
        values = leaf.unpack(data, start)
        fields = dict(zip(leaf.names, values, strict=False))
        for name, index, convert in leaf.converts:
            fields[name] = convert(values[index])
        return fields

    def _compile(self, leaf: ActionList) -> None:
        code, names, converts = "<", [], []
        for index, (action, length) in enumerate(leaf.heads):
            name, kind = self._describe_action(action)
            in_place = length == kind.size and not struct_code(kind).endswith("s")
            code += f"8x{struct_code(kind)}" if in_place else f"8x{length}s"
            names.append(name)
            if (
                convert := unpacked_converter(kind)
                if in_place
                else repeated_converter(kind, length)
            ):
                converts.append((name, index, convert))
        leaf.unpack, leaf.names, leaf.converts = struct.Struct(code).unpack_from, names, converts

    def _one_by_one(self, data: bytes, at: int, leaf: ActionList) -> dict[str, Value]:
        fields: dict[str, Value] = {}
        for action, length in leaf.heads:
            if action not in self._converts:
                name, kind = self._describe_action(action)
                self._converts[action] = (name, bytes_converter(kind))
            name, convert = self._converts[action]
            fields[name] = convert(data[at + 8 : at + 8 + length])
            at += 8 + length
        return fields

    def _describe_action(self, action: int) -> tuple[str, FieldType]:
        definition = self._stream.actions.get(action)
        if definition is None:
            # The event is worth more than the action's name.
            return f"action {action:#x}", _UNKNOWN
        return definition.name, self._stream.types.get(definition.type, _UNKNOWN)


def _heads(data: bytes, at: int) -> list[tuple[int, int]]:
    heads = []
    action, length = _HEAD.unpack_from(data, at)
    while action != _LAST:
        heads.append((action, length))
        at += 8 + length
        action, length = _HEAD.unpack_from(data, at)
    return heads
