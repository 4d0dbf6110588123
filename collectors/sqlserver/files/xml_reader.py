"""A split of an XML export -> its events."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.sax.saxutils import unescape

from dbt_graft.collectors.sqlserver.event import (
    Chunk,
    EventFilter,
    ExtendedEvent,
    FileSplit,
    LogDamage,
)
from dbt_graft.collectors.sqlserver.files.streams import (
    LONGEST,
    batched,
    is_one_split,
    mark_last,
    pieces,
    read_range,
)
from dbt_graft.collectors.sqlserver.files.xml_events import (
    excerpt,
    is_dismissed,
    is_wanted,
    parse_event,
)
from dbt_graft.collectors.sqlserver.files.xml_marks import ESCAPED, PLAIN, XmlMarks, XmlText

# Between a value's tag and its CDATA section there is white space at most.
NEAR = 100


class EventCut(NamedTuple):
    """The text of one event.

    Attributes:
        position: Of its first byte.
        problem: Why it is not complete; empty where it is.
    """

    position: int
    text: bytes
    problem: str = ""


class EventCutter:
    """Cuts the events out of a text that comes in pieces.

    It holds the text of one event at most, no more than `LONGEST`. CDATA sections are respected,
    so a statement may hold anything; one that was never closed shows by an event that follows.
    """

    def __init__(
        self,
        marks: XmlMarks,
        position: int = 0,
        first: int = 0,
        end: int | None = None,
        in_section: bool = False,
    ) -> None:
        """Begin a text.

        Args:
            position: Where it begins; somewhere within an event if that is before `first`.
            first, end: Events that begin from here on and before there.
            in_section: It begins with a CDATA section.
        """
        self.done = False
        self._marks = marks
        self._base = position
        self._first = first
        self._end = end
        self._rest = b""
        self._within = position < first
        self._in_section = in_section
        self._scanned = 0 if in_section else first - position
        self._skips = False

    def feed(self, piece: bytes, last: bool = False) -> Iterator[EventCut]:
        """The events that are complete with this piece, and those that never will be."""
        text = XmlText(self._rest + piece, self._marks, last)
        at = self._behind_event(text) if self._within else 0
        while not self._within:
            start = text.starts.after(at)
            if start >= text.size:
                at = text.size if last else max(at, text.size - len(self._marks.start))
                break
            position = self._base + start
            if self._end is not None and position >= self._end:
                self.done = True
                break
            stop, problem = text.extent(start)
            too_long = stop < 0 and text.size - start > LONGEST
            if too_long:
                stop, problem = text.size, f"the event is longer than {LONGEST >> 20} MB"
            if stop >= 0 and position >= self._first:
                yield EventCut(position, text.bytes[start:stop], problem)
            at = stop
            if too_long:
                self._in_section = self._skips = text.in_section(start)
                at = self._hold(text.size - text.unsure)
            elif stop < 0:
                at = start
                break
        self._rest = text.bytes[at:]
        self._base += at

    def _behind_event(self, text: XmlText) -> int:
        """The place where the next event may begin after the one within which the text begins.

        While that is in a later piece: where the text begins that must stay in memory.
        """
        at = self._scanned
        self._within = False
        while True:
            if self._in_section:
                stop, reopened = text.section(at)
                if reopened:
                    return stop
                if stop < 0 and text.last:
                    return text.size if self._skips else text.strict_start(at)
                if stop < 0:
                    self._skips = self._skips or text.size - at > LONGEST
                    return self._hold(max(at, text.size - text.unsure) if self._skips else at)
                at = stop
                self._in_section = self._skips = False
            opened = text.opens.after(at)
            nearest = min(text.starts.after(at), text.ends.after(at), opened)
            if nearest >= text.size:
                return text.size if text.last else self._hold(max(at, text.size - text.unsure))
            if nearest != opened:
                return nearest
            # There may be sections around events too; these hold no value.
            before = text.bytes[max(0, opened - NEAR) : opened].rstrip()
            self._in_section = before.endswith(self._marks.valued)
            at = opened + len(self._marks.cdata)

    def _hold(self, at: int) -> int:
        """Go on from a place when there is more of the text."""
        self._within = True
        held_from = max(0, at - NEAR)
        self._scanned = at - held_from
        return held_from


_NAME = re.compile(rb'(?:<|&lt;)event\s+name=(?:"|&quot;)(\w+)(?:"|&quot;)')
_REFERENCES = {
    "&quot;": '"',
    "&apos;": "'",
    "&#39;": "'",
    "&#x0D;": "\r",
    "&#xD;": "\r",
    "&#13;": "\r",
    "&#x0A;": "\n",
    "&#xA;": "\n",
    "&#10;": "\n",
    "&#x09;": "\t",
    "&#x9;": "\t",
    "&#9;": "\t",
}
# Bytes that a split looks back at a time, and after which a start tag is certain enough.
_BACK = 1 << 16
_LONG = 1 << 20


def read_xml(split: FileSplit, wanted: EventFilter) -> Iterator[Chunk]:
    """The events that begin within a split, piece by piece.

    Raises:
        UnreadableError: The file is gone or breaks off.
    """
    marks = ESCAPED if split.escaped else PLAIN
    if is_one_split(split):
        start, cutter = 0, EventCutter(marks)
    else:
        section = _section(split, marks)
        start = max(0, split.start - NEAR) if section is None else section
        cutter = EventCutter(marks, start, split.start, split.end, in_section=section is not None)
    number = 0
    for piece, last in mark_last(pieces(split, start)):
        for cuts in batched(cutter.feed(piece, last)):
            yield _chunk(split, wanted, cuts, number)
            number += len(cuts)
        if cutter.done:
            return


def _chunk(split: FileSplit, wanted: EventFilter, cuts: list[EventCut], before: int) -> Chunk:
    """The wanted events of some cuts, which `before` others precede."""
    names = None if wanted.names is None else {name.encode() for name in wanted.names}
    is_numbered = is_one_split(split)

    def events() -> Iterator[tuple[str, ExtendedEvent | LogDamage | None]]:
        for number, cut in enumerate(cuts, before + 1):
            tag = _NAME.match(cut.text)
            if names is None or tag is None or tag[1] in names:
                position = f"event {number}" if is_numbered else f"event at byte {cut.position}"
                yield position, _event(cut, split.escaped, wanted)

    return Chunk.of(len(cuts), events())


def _event(cut: EventCut, escaped: bool, wanted: EventFilter) -> ExtendedEvent | LogDamage | None:
    """An event that is wanted; None for another."""
    if cut.problem:
        # Its beginning is all that is looked at.
        return LogDamage("", cut.problem, excerpt(_text(cut.text[:1000], escaped)))
    text = _text(cut.text, escaped)
    if is_dismissed(text, wanted):
        return None
    event = parse_event(text)
    return event if isinstance(event, LogDamage) or is_wanted(event, wanted) else None


def _text(text: bytes, escaped: bool) -> str:
    decoded = text.decode(errors="replace")
    return unescape(decoded, _REFERENCES) if escaped else decoded


def _section(split: FileSplit, marks: XmlMarks) -> int | None:
    """The start of the CDATA section that a split begins in; None if it is in none.

    A section may hold texts that look like events. The last mark before the split decides; where
    there is none for long, because values are no sections, a start tag of the server decides.
    """
    # A mark counts where it begins, and may end after the start of the split.
    reach = max(len(marks.cdata), len(marks.cdata_end)) - 1
    end, behind = split.start, read_range(split, split.start, split.start + reach)
    while end > max(0, split.start - LONGEST):
        start = max(0, end - _BACK)
        text = read_range(split, start, end)
        seen = text + behind[:reach]
        opened, closed = seen.rfind(marks.cdata), seen.rfind(marks.cdata_end)
        if opened > closed:
            before = read_range(split, max(0, start + opened - NEAR), start + opened).rstrip()
            return start + opened if before.endswith(marks.valued) else None
        if closed >= 0 or (split.start - start > _LONG and marks.strict.search(text)):
            return None
        end, behind = start, text
    return None
