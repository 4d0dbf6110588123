"""Stored bytes -> values, for each type of Extended Events.

Text is UTF-16 (invalid bytes become U+FFFD), a GUID is written as SQL Server does, in
capitals, an address as `0x…` of 16 digits, a FILETIME as the time of an event. A type that is not
known stays bytes.
"""

from __future__ import annotations

import struct
from codecs import utf_16_le_decode
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from dbt_graft.collectors.sqlserver.event import Mapped, Mask, Value
from dbt_graft.collectors.sqlserver.files.event_text import timestamp
from dbt_graft.collectors.sqlserver.files.xel.metadata import TICKS, FieldType

Convert = Callable[[Any], Value]

# How a number is packed; `ptr` and `callstack` are addresses.
_NUMBERS = {
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
    "uint64": "Q",
    "float32": "f",
    "float64": "d",
    "boolean": "?",
    "ptr": "Q",
    "cpu_cycle": "Q",
    "filetime": "Q",
    "char": "B",
    "wchar": "H",
}
UNIX_EPOCH = 116_444_736_000_000_000  # 1970 in 100 ns since 1601.
LATEST = 253_402_300_800 * TICKS  # The year 10000 in 100 ns since 1970; no clock reaches it.
_BY_WIDTH = {1: "B", 2: "H", 4: "I", 8: "Q"}
_SHORT = 256  # Bytes of a text that is worth remembering.
# Stored elsewhere in the payload although their size is that of a pointer.
_POINTERS = frozenset({"guid_ptr", "unicode_string_ptr", "ansi_string_ptr"})


def is_elsewhere(kind: FieldType) -> bool:
    """Whether a column of this type holds the place and length of its value, not the value."""
    return not kind.size or kind.name in _POINTERS


def struct_code(kind: FieldType) -> str:
    """The `struct` code of a type of fixed size; a number only where its size is the usual one."""
    code = _NUMBERS.get(kind.name) if kind.texts is None else _BY_WIDTH.get(kind.size)
    return code if code and struct.calcsize(code) == kind.size else f"{kind.size}s"


def unpacked_converter(kind: FieldType) -> Convert | None:
    """A function that converts what `struct` unpacked; None where it is the value already."""
    if struct_code(kind).endswith("s"):
        return bytes_converter(kind)
    if kind.texts is not None:
        return _mapping(kind.texts)
    return _CONVERTED.get(kind.name)


def bytes_converter(kind: FieldType) -> Convert:
    """A function that makes a value of the bytes of a type, of any size.

    It raises ValueError or `struct.error` where bytes have an impossible number.
    """
    if kind.texts is None and kind.name in _BYTES:
        return _BYTES[kind.name]
    code = struct_code(kind)
    if code.endswith("s"):
        return bytes
    unpack, convert = struct.Struct(f"<{code}").unpack, unpacked_converter(kind)
    if convert is None:
        return lambda raw: unpack(raw)[0] if raw else None
    return lambda raw: convert(unpack(raw)[0]) if raw else None


def repeated_converter(kind: FieldType, length: int) -> Convert | None:
    """As `bytes_converter`, for values that come again and again; None where bytes stay bytes."""
    convert = bytes_converter(kind)
    if convert is bytes:
        return None
    return _known_text if convert is _text and length <= _SHORT else convert


class _Enumeration(dict[int, Mapped]):
    """The values of a map; one that has no name is a number without text."""

    def __missing__(self, value: int) -> Mapped:
        return Mapped(value, "")


class _Flags(dict[int, Mapped]):
    """The values of a map whose keys are bits: the names of those that are set, by commas."""

    def __missing__(self, value: int) -> Mapped:
        return Mask(value, ",".join(self[bit].text for bit in sorted(self) if value & bit))


def _mapping(texts: Mapping[int, str]) -> Convert:
    if _are_flags(sorted(key for key in texts if key)):
        return _Flags({value: Mask(value, text) for value, text in texts.items()}).__getitem__
    return _Enumeration({value: Mapped(value, text) for value, text in texts.items()}).__getitem__


def _are_flags(keys: list[int]) -> bool:
    """Whether a map's values are single bits; one alone, and 1 with 2, are an enumeration."""
    return len(keys) > 1 and keys[-1] > 2 and all(key & (key - 1) == 0 for key in keys)


def _text(raw: bytes) -> Value:
    # Three times as fast as `raw.decode`, which looks its codec up each time.
    return utf_16_le_decode(raw, "replace", True)[0]


@lru_cache(4096)
def _known_text(raw: bytes) -> Value:
    return _text(raw)


def _narrow(raw: bytes) -> Value:
    """Text of a code page that the file does not name."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _address(value: int) -> Value:
    return f"0x{value:016x}"


def _character(value: int) -> Value:
    return _text(value.to_bytes(2, "little"))


def _time(value: int) -> Value:
    """A FILETIME as text; one that is no time, such as -1, stays a number."""
    at = value - UNIX_EPOCH
    return timestamp(at) if at < LATEST else value


def _stack(raw: bytes) -> Value:
    return "\n".join(f"0x{frame:016x}" for (frame,) in struct.iter_unpack("<Q", raw))


@lru_cache(4096)
def _guid(raw: bytes) -> str:
    if len(raw) != 16:
        raise ValueError("a GUID has 16 bytes")
    first, second, third = struct.unpack_from("<IHH", raw)
    rest = raw[8:].hex().upper()
    return f"{first:08X}-{second:04X}-{third:04X}-{rest[:4]}-{rest[4:]}"


def _optional_guid(raw: bytes) -> Value:
    return _guid(raw) if raw else None


def _activity(raw: bytes) -> Value:
    """The activity's GUID and the number of its event."""
    if not raw:
        return None
    return f"{_guid(raw[:-4])}-{int.from_bytes(raw[-4:], 'little')}"


_CONVERTED: Mapping[str, Convert] = {
    "ptr": _address,
    "char": chr,
    "wchar": _character,
    "filetime": _time,
}
_BYTES: Mapping[str, Convert] = {
    "unicode_string": _text,
    "unicode_string_ptr": _text,
    "xml": _text,
    "ansi_string": _narrow,
    "ansi_string_ptr": _narrow,
    "binary_data": bytes,
    "callstack": _stack,
    "guid": _optional_guid,
    "guid_ptr": _optional_guid,
    "activity_id": _activity,
    "activity_id_xfer": _activity,
}
