"""Decode an event log file: the events that lineage needs, and the places that are damaged.

A log is JSON lines, plain or compressed; each line starts `{"Event":"<name>"`. The name decides
whether a line is parsed: TaskEnd, most of every log, never is (StageCompleted has the same sums),
and of the plans of adaptive execution only the last of each execution is. Damage is reported with
its place; events before it count.
"""

from __future__ import annotations

import codecs
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from itertools import chain

import orjson

from dbt_graft.collectors.codecs import ByteStream, DecompressionError, decompress
from dbt_graft.collectors.spark.log.events import READERS, Body
from dbt_graft.collectors.statements.time_limit import UnreadableTextError
from dbt_graft.lineage.errors import exception_reason
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Reject

ALL_OF_LOG = "whole log"
_MOST_REJECTS = 1_000


@dataclass(slots=True)
class Rejects:
    """The first thousand rejects of a log, and the number of further ones."""

    entries: list[tuple[str, str, str]] = field(default_factory=list)
    left_out: int = 0

    @property
    def number(self) -> int:
        """The number of all rejects."""
        return len(self.entries) + self.left_out

    def add(self, position: str, reason: str, task: str = "") -> None:
        """Add a reject."""
        if len(self.entries) < _MOST_REJECTS:
            self.entries.append((position, reason, task))
        else:
            self.left_out += 1

    def add_for_execution(self, execution: int, reason: str, task: str = "") -> None:
        """Add a reject that is about an execution."""
        self.add(f"execution {execution}", reason, task)

    def add_for_log(self, reason: str, task: str = "") -> None:
        """Add a reject that is about the log, not about a place in it."""
        self.add(ALL_OF_LOG, reason, task)

    def join(self, other: Rejects) -> None:
        """Add all rejects of another one."""
        for entry in other.entries:
            self.add(*entry)
        self.left_out += other.left_out

    def records(self, origin: str) -> tuple[Reject, ...]:
        """The records for the store."""
        more = f"{self.left_out} more pieces could not be used"
        rest = [(ALL_OF_LOG, more, "")] if self.left_out else []
        return tuple(
            Reject(origin, position, reason, task=task)
            for position, reason, task in (*self.entries, *rest)
        )


_log = logging.getLogger(__name__)

# By far the most frequent events, recognised by their prefix.
_TASK = b'{"Event":"SparkListenerTask'
_EVENT = re.compile(rb'\s*\{\s*"Event"\s*:\s*"')
_EXECUTION_ID = re.compile(rb'"executionId":(\d{1,18})[,}]')
_PLAN_UPDATE = "SparkListenerSQLAdaptiveExecutionUpdate"
_EXECUTION_END = "SparkListenerSQLExecutionEnd"
_LONGEST = 1 << 28
_TOO_LONG = b"\0\n"
_MOST_PENDING = 64
_REPORTED = 20
# A file that begins with so many other lines is no event log.
_HEAD = 10
_NO_EVENT = "no Spark event"


@frozen
class SparkEvent:
    """An event of a log.

    Attributes:
        name: Its class, without the package.
        end: The offset of its end in the uncompressed text.
        events: The number of events read, with it.
    """

    line: int
    name: str
    body: Body
    end: int = 0
    events: int = 0


@frozen
class BadEvent:
    """A place in a file that could not be used, and the reason.

    Attributes:
        unread: The storage did not give the rest of the file, now.
    """

    position: str
    reason: str
    unread: bool = False


@frozen
class EndOfFile:
    """The end of a file, and the number of events in it."""

    events: int


Decoded = SparkEvent | BadEvent | EndOfFile


def decode(
    file: ByteStream, growing: bool = False, start: tuple[int, int] = (0, 0)
) -> Iterator[Decoded]:
    """Yield the events of a file that lineage needs, its damage, and at last an `EndOfFile`.

    The last plan of adaptive execution comes when its execution ends, or at the file's end.

    Args:
        file: Open at its start.
        growing: The file is still being written: an end in the middle of a line is no damage.
        start: The number of bytes of the text, and of lines, to skip.
    """
    byte, line = start
    decoder = _Decoder(growing, line, base=byte)
    try:
        yield from decoder.lines(_skip_bytes(decompress(file), byte))
        yield from decoder.end()
    except DecompressionError as error:
        yield from decoder.end(broken=True)
        # A growing file may just end.
        if not (growing and error.cut):
            yield BadEvent(f"line {decoder.number + 1}, byte {error.byte}", str(error))
    except OSError as error:
        yield from decoder.end(broken=True)
        reason = f"the file cannot be read on ({exception_reason(error, _log)})"
        yield BadEvent(f"line {decoder.number + 1}", reason, unread=True)
    if decoder.foreign > _REPORTED:
        unreported = decoder.foreign - _REPORTED
        yield BadEvent("file", f"{unreported} more lines are not Spark events")
    yield EndOfFile(decoder.events)


_NEITHER = "it does not start with an event"
# How the first line of another file begins, as a History Server's download does -> what it is.
_FORMS = (
    (
        re.compile(codecs.BOM_UTF16_LE + b"|" + codecs.BOM_UTF16_BE),
        "it is text in UTF-16, which is to be written as UTF-8",
    ),
    (re.compile(rb"PK\x03\x04"), "it is a ZIP archive, which is to be unpacked"),
    (re.compile(rb"[^\n]{257}ustar"), "it is a tar archive, which is to be unpacked"),
    (re.compile(rb'\{[^\n]*"schemaURL"'), "it has events of OpenLineage, an entry of their own"),
)


@dataclass(slots=True)
class _Decoder:
    """The state of reading a file.

    Attributes:
        number: The number of the last complete line.
        foreign: The number of lines that are no events.
        instead: What a file without any event is.
        head: The numbers of the lines before the first event.
        rest: The start of an incomplete line; `buffered` is its length.
        text: The current piece, of `size` bytes from `base` on.
        pending: The number and text of the line with the last plan of each running execution.
    """

    growing: bool
    number: int = 0
    events: int = 0
    foreign: int = 0
    foreign_file: bool = False
    instead: str = ""
    head: list[int] = field(default_factory=list)
    rest: list[bytes] = field(default_factory=list)
    buffered: int = 0
    base: int = 0
    size: int = 0
    text: BytesIO = field(default_factory=BytesIO)
    pending: dict[bytes, tuple[int, bytes]] = field(default_factory=dict)

    def lines(self, chunks: Iterable[bytes]) -> Iterator[Decoded]:
        """Decode the lines of a text that comes in pieces."""
        for chunk in chunks:
            self.base, self.size = self.base + self.size, len(chunk)
            self.text = BytesIO(chunk)  # the quickest way to lines that Python has
            lines: Iterator[bytes] = self.text
            if self.rest:
                self._buffer(end := next(lines, b""))
                if not end.endswith(b"\n"):
                    continue
                lines = chain((self._join_rest(),), lines)
            before = self.number
            number, line = before, b"\n"
            for number, line in enumerate(lines, before + 1):
                if line.startswith(_TASK):
                    continue
                if not line.endswith(b"\n"):
                    break
                self.events += number - self.number - 1
                self.number = number
                yield from self._line(line)
                if self.foreign_file:
                    return
            if not line.endswith(b"\n"):
                self._buffer(line)
                number -= 1
            self.events += number - self.number
            self.number = number

    def _buffer(self, piece: bytes) -> None:
        """Buffer a piece of a line; of an endless line only the start, made invalid JSON."""
        self.buffered += len(piece)
        if self.buffered <= _LONGEST:
            self.rest.append(piece)
        elif self.rest and self.rest[-1] != _TOO_LONG:
            self.rest.append(_TOO_LONG)

    def end(self, broken: bool = False) -> Iterator[Decoded]:
        """Decode the last line, without a newline, and the pending plans."""
        if (last := self._join_rest()) and not broken:
            self.number += 1
            if self.growing and not last.rstrip().endswith(b"}"):
                pass
            elif _EVENT.match(last) and not last.rstrip().endswith(b"}"):
                self.events += 1
                yield BadEvent(f"line {self.number}", "the event is cut off")
            else:
                yield from self._line(last)
        elif not self.number and not broken and not self.growing:
            yield BadEvent("byte 0", "the file is empty")
        if self.head and not self.events:
            yield BadEvent("line 1", f"not a Spark event log: {self.instead}")
        else:
            yield from self._before()
        for execution in list(self.pending):
            yield from self._plan(execution)

    def _join_rest(self) -> bytes:
        line = b"".join(self.rest)
        self.rest, self.buffered = [], 0
        return line

    def _line(self, line: bytes) -> Iterator[Decoded]:
        if match := _EVENT.match(line):
            yield from self._before()
            self.events += 1
            start = match.end()
            name = _NAMES.get(line[start : line.find(b'"', start, start + 200)].rpartition(b".")[2])
            if name == _PLAN_UPDATE and (
                execution := _EXECUTION_ID.search(line, start, start + 400)
            ):
                self.pending[execution[1]] = self.number, line
                if len(self.pending) > _MOST_PENDING:
                    yield from self._plan(next(iter(self.pending)))
            elif name:
                yield from self._event(self.number, name, line)
        elif line.strip():
            self.foreign += 1
            if self.foreign == 1:
                self.instead = next((is_it for head, is_it in _FORMS if head.match(line)), _NEITHER)
            if not self.events:
                self.head.append(self.number)
                self.foreign_file = self.foreign == _HEAD
            elif self.foreign <= _REPORTED:
                yield BadEvent(f"line {self.number}", _NO_EVENT)

    def _before(self) -> Iterator[Decoded]:
        """Report the lines before the first event as damage."""
        yield from (BadEvent(f"line {number}", _NO_EVENT) for number in self.head)
        self.head.clear()

    def _event(self, number: int, name: str, line: bytes) -> Iterator[Decoded]:
        try:
            body = READERS[name](orjson.loads(line))
        except orjson.JSONDecodeError:
            _log.debug("line %d is not valid JSON", number, exc_info=True)
            yield BadEvent(f"line {number}", "the event is not valid JSON")
            return
        except UnreadableTextError as error:
            yield BadEvent(f"line {number}", f"the SQL text of the event {error}")
            return
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            reason = exception_reason(error, _log)
            form = f"the event lacks a field or has it in another form ({reason})"
            yield BadEvent(f"line {number}", form)
            return
        if name == _EXECUTION_END:
            yield from self._plan(str((body or {}).get("executionId")).encode())
        if body is not None:
            yield SparkEvent(number, name, body, self.base + self.text.tell(), self.events)

    def _plan(self, execution: bytes) -> Iterator[Decoded]:
        if pending := self.pending.pop(execution, None):
            number, line = pending
            yield from self._event(number, _PLAN_UPDATE, line)


def _skip_bytes(pieces: Iterable[bytes], byte: int) -> Iterator[bytes]:
    """The pieces of a text from an offset on."""
    for piece in pieces:
        if byte < len(piece):
            yield piece[byte:] if byte else piece
        byte = max(byte - len(piece), 0)


_NAMES: Mapping[bytes, str] = {name.encode(): name for name in READERS}
