"""The fields of an event: each type of event gets a decoder, made once for all its events.

In the payload every column stands at its own offset: a value of fixed size, or for the others
`u32 offset in the payload · u32 length`. A column that was not collected has length 0.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import TypeAlias

from dbt_graft.collectors.sqlserver.event import Value
from dbt_graft.collectors.sqlserver.files.xel.metadata import EventField, EventType, FieldType
from dbt_graft.collectors.sqlserver.files.xel.values import (
    Convert,
    bytes_converter,
    is_elsewhere,
    struct_code,
    unpacked_converter,
)

# (data, where the payload begins, its length) -> the fields
PayloadDecoder: TypeAlias = Callable[[bytes, int, int], dict[str, Value]]

# A column, its type, and whether its value is elsewhere.
_Slot: TypeAlias = tuple[EventField, FieldType, bool]

_PLACE = "II"
# Columns may share bytes, but not so that a small event fills the memory.
_SHARED = 4


def payload_decoder(kind: EventType, types: Mapping[int, FieldType]) -> PayloadDecoder:
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
