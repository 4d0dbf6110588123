"""One JSON object a line -> its event: as `graft logs xel` prints them, flat, or XML in a field."""

from __future__ import annotations

import logging
from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from dbt_graft.collectors.sqlserver.event import (
    Chunk,
    EventFilter,
    ExtendedEvent,
    FileSplit,
    LogDamage,
    Value,
)
from dbt_graft.collectors.sqlserver.files.flat_events import NO_TIME, flat_event, local_ticks
from dbt_graft.collectors.sqlserver.files.streams import (
    LONGEST,
    batched,
    is_one_split,
    mark_last,
    pieces,
)
from dbt_graft.collectors.sqlserver.files.xml_events import is_wanted, map_value

_log = logging.getLogger(__name__)


class NumberedLine(NamedTuple):
    """A line; its text is empty where it is too long to be read."""

    position: int
    text: bytes


def read_ndjson(split: FileSplit, wanted: EventFilter) -> Iterator[Chunk]:
    """The events of the lines that begin within a split, piece by piece.

    Raises:
        UnreadableError: The file is gone or breaks off.
    """
    ranged = not is_one_split(split)
    # A line that began before the split ends behind the byte before it, or later.
    start = max(0, split.start - 1) if ranged else 0
    splitter = LineSplitter(start, skips=ranged and split.start > 0)
    number = 0
    for piece, last in mark_last(pieces(split, start)):
        for lines in batched(splitter.feed(piece, last)):
            if ranged:
                lines = [line for line in lines if line.position < split.end]
            if lines:
                yield _chunk(lines, ranged, number, wanted)
            number += len(lines)
        if ranged and splitter.position >= split.end:
            return


def _chunk(lines: list[NumberedLine], ranged: bool, before: int, wanted: EventFilter) -> Chunk:
    events = (
        (f"line at byte {position}" if ranged else f"event {number}", _event(text, wanted))
        for number, (position, text) in enumerate(lines, before + 1)
    )
    return Chunk.of(len(lines), events)


class LineSplitter:
    """Cuts text that comes in pieces into lines."""

    def __init__(self, position: int = 0, skips: bool = False) -> None:
        self.position = position
        self._rest = b""
        self._skips = skips

    def feed(self, piece: bytes, last: bool = False) -> Iterator[NumberedLine]:
        """The lines that are complete with this piece, empty ones left out."""
        text = self._rest + piece + (b"\n" if last else b"")
        start = 0
        while (end := text.find(b"\n", start)) >= 0:
            line = text[start:end].removeprefix(BOM_UTF8).strip()
            if line and not self._skips:
                yield NumberedLine(self.position, line)
            self._skips = False
            self.position += end + 1 - start
            start = end + 1
        self._rest = text[start:]
        if len(self._rest) > LONGEST:
            if not self._skips:
                yield NumberedLine(self.position, b"")
            self._skips = True
            self.position += len(self._rest)
            self._rest = b""


def _event(line: bytes, wanted: EventFilter) -> ExtendedEvent | LogDamage | None:
    """An event that is wanted; None for another."""
    if not line:
        return LogDamage("", f"the line is longer than {LONGEST >> 20} MB")
    try:
        document = orjson.loads(line)
    except orjson.JSONDecodeError:
        _log.debug("a reject: a line", exc_info=True)
        return LogDamage("", "the line is not valid JSON")
    if not isinstance(document, dict):
        return LogDamage("", "the line is not a JSON object")
    if not isinstance(document.get("data"), dict):
        return flat_event(_values(document), wanted)
    name, at = document.get("name"), local_ticks(str(document.get("timestamp")))
    if not isinstance(name, str) or not name:
        return LogDamage("", "the event has no name")
    package = str(document.get("package") or "sqlserver")
    event = ExtendedEvent(
        name, at or 0, _values(document["data"]), _values(document.get("actions")), package
    )
    if not is_wanted(event, wanted):
        return None
    return event if at is not None else LogDamage("", NO_TIME)


def _values(document: Any) -> dict[str, Value]:
    return (
        {name: _value(value) for name, value in document.items()}
        if isinstance(document, dict)
        else {}
    )


def _value(entry: Any) -> Value:
    """A value, or a number with its name; None for lists and other objects."""
    value, word = (
        (entry.get("value"), entry.get("text")) if isinstance(entry, dict) else (entry, None)
    )
    if isinstance(value, dict | list):
        return None
    return map_value(str(value), word) if isinstance(word, str) else value
