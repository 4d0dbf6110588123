"""A part of a file -> the JSON values in it.

Files have one JSON a line, and a part begins and ends anywhere: a line belongs to the part in which
it begins. A file of JSONs in several lines, or of arrays of events, is read at once, up to a size.
The last line of a file may still be written: without its end it is left for the next collect.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from io import BufferedReader, RawIOBase
from itertools import chain
from typing import Any, NamedTuple, cast

import orjson

from dbt_graft.collectors.codecs import ByteStream, DecompressionError, decompress
from dbt_graft.collectors.files import filesystem

_MAGIC = (b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"LZ4Block", b"\x82SNAPPY\x00", b"ZV")
_BOM = b"\xef\xbb\xbf"
# The longest line, and the largest file that is one JSON.
_LONGEST = 64 << 20
_REQUEST = 4 << 20
_HEAD = 4096
_BETWEEN = re.compile(r"[\s,\ufeff\x1e]*")
_DECODER = json.JSONDecoder()
_TOO_LONG = "a line is longer than 64 MB"
_TOO_LARGE = "the file is one JSON of more than 64 MB: write one event a line"


class Line(NamedTuple):
    """A value, or the reason why there is none.

    Attributes:
        end: The byte behind it in the file; 0 in a file that cannot be read on from there.
    """

    position: str
    value: Any
    size: int
    end: int
    problem: str = ""
    unfinished: bool = False


class Range(NamedTuple):
    """A part of a file, and its start, which tells how the file is written."""

    url: str
    start: int
    end: int
    size: int
    first: int


def lines(part: Range, head: bytes) -> Iterator[Line]:
    """The values in a part of a file.

    Raises:
        OSError: The file cannot be read.
    """
    if head.startswith(_MAGIC):
        if part.start == part.first:
            yield from _read_packed(part)
        return
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        if part.start == part.first:
            yield Line("the file", None, 0, part.size, "the file is not UTF-8")
        return
    if _is_one_document(part, head):
        if part.start == part.first:
            yield from _document(part)
        return
    yield from _read_plain(part)


def _read_plain(part: Range) -> Iterator[Line]:
    files, path = filesystem(part.url)
    with (
        files.open_input_file(path) as raw,
        BufferedReader(cast("RawIOBase", raw), _REQUEST) as file,
    ):
        at = part.start
        if part.start == part.first:
            file.seek(at)
        else:
            # A line that begins where the part does is the part's.
            file.seek(at - 1)
            at += len(file.readline(_LONGEST)) - 1
        while at < part.end and (line := file.readline(_LONGEST)):
            end = at + len(line)
            if line.endswith(b"\n"):
                if not line.isspace():
                    yield _line(line, f"byte {at}", end)
            elif len(line) >= _LONGEST:
                yield Line(f"byte {at}", None, len(line), end, _TOO_LONG)
            else:
                yield _last_line(line, at)
            at = end


def _last_line(line: bytes, begin: int) -> Line:
    """A line without its end: complete if it is JSON."""
    parsed = _line(line, f"byte {begin}", begin + len(line))
    return parsed._replace(unfinished=True, end=begin) if parsed.problem else parsed


def _read_packed(part: Range) -> Iterator[Line]:
    files, path = filesystem(part.url)
    with files.open_input_stream(path, compression=None) as file:
        try:
            pieces = decompress(cast("ByteStream", file))
            first = next(pieces, b"")
            if _is_one_document(part._replace(size=0), first[:_HEAD]):
                yield from _packed_document(first, pieces)
            else:
                yield from _packed_lines(first, pieces)
        except DecompressionError as error:
            yield Line(f"byte {error.byte}", None, 0, 0, str(error), unfinished=error.cut)


def _packed_document(first: bytes, pieces: Iterator[bytes]) -> Iterator[Line]:
    content, size = [first], len(first)
    for piece in pieces:
        content.append(piece)
        size += len(piece)
        if size > _LONGEST:
            yield Line("the file", None, 0, 0, _TOO_LARGE)
            return
    yield from _values(b"".join(content))


def _packed_lines(first: bytes, pieces: Iterator[bytes]) -> Iterator[Line]:
    number, rest = 0, b""
    for piece in chain([first], pieces, [b"\n"]):
        *complete, rest = (rest + piece).split(b"\n")
        for line in complete:
            number += 1
            if line and not line.isspace():
                yield _line(line, f"line {number}", 0)
        if len(rest) > _LONGEST:
            yield Line(f"line {number + 1}", None, 0, 0, _TOO_LONG)
            return


def _is_one_document(part: Range, head: bytes) -> bool:
    """Whether a file is one JSON in several lines: its first line is none."""
    text = head.removeprefix(_BOM).lstrip()
    first, newline, _ = text.partition(b"\n")
    if text.startswith(b"[") and not newline:
        return part.size <= _LONGEST
    if not newline or first.strip() not in (b"{", b"[", b"[{"):
        return text.startswith(b"[")
    return True


def _document(part: Range) -> Iterator[Line]:
    if part.size > _LONGEST:
        yield Line("the file", None, 0, 0, _TOO_LARGE)
        return
    files, path = filesystem(part.url)
    with files.open_input_stream(path, compression=None) as file:
        content: bytes = file.read()
    yield from _values(content)


def _values(content: bytes) -> Iterator[Line]:
    document = _line(content, "the file", 0)
    yield from _consecutive_values(content, document) if document.problem else _entries(document)


def _entries(document: Line) -> Iterator[Line]:
    """The values of an array, or the one value that is none."""
    if not isinstance(document.value, list):
        yield document
        return
    each = document.size // max(len(document.value), 1)
    for number, value in enumerate(document.value, 1):
        yield Line(f"event {number}", value, each, 0)


def _consecutive_values(content: bytes, document: Line) -> Iterator[Line]:
    """The values of several JSONs, each in several lines or an array: as `jq` writes them.

    Args:
        document: The complaint about them as one.
    """
    number = at = 0
    try:
        text = content.decode()
        while (at := _skip(text, at)) < len(text):
            _, end = _DECODER.raw_decode(text, at)
            for line in _entries(_line(text[at:end].encode(), "", 0)):
                number += 1
                yield line._replace(position=f"event {number}")
            at = end
    except (ValueError, RecursionError):
        # Not all of it may be written yet.
        position = f"behind event {number}" if number else document.position
        yield document._replace(position=position, unfinished=True)


def _skip(text: str, at: int) -> int:
    between = _BETWEEN.match(text, at)
    return between.end() if between else at


def _line(line: bytes, position: str, end: int) -> Line:
    try:
        value = orjson.loads(line.removeprefix(_BOM))
    except orjson.JSONDecodeError:
        return Line(position, None, len(line), end, "this is not JSON, or is cut short")
    return Line(position, _unwrap(value), len(line), end)


def _unwrap(value: Any) -> Any:
    """The event in a record of Kafka, as consumers dump it: `{"key": …, "value": …}`."""
    if isinstance(value, dict) and "eventTime" not in value:
        for key in ("value", "payload"):
            inner = value.get(key)
            if isinstance(inner, dict):
                return inner
            if isinstance(inner, str):
                try:
                    return orjson.loads(inner)
                except orjson.JSONDecodeError:
                    return value
    return value
