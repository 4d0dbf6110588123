"""Text that holds `<event>` elements, in pieces -> the text of each, whatever surrounds them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from collectors.sqlserver.streams import LONGEST

# Between a value's tag and its CDATA section there is white space at most.
NEAR = 100


@dataclass(frozen=True, slots=True)
class Marks:
    """How the text writes what it is cut at.

    Attributes:
        strict: A start tag as the server writes it, which no statement holds by chance.
        valued: What a value's CDATA section begins with, or what ends the one before it.
    """

    start: bytes
    behind_start: bytes
    end: bytes
    cdata: bytes
    cdata_end: bytes
    strict: re.Pattern[bytes]
    valued: tuple[bytes, ...]


PLAIN = Marks(
    b"<event",
    b" \t\r\n>",
    b"</event>",
    b"<![CDATA[",
    b"]]>",
    re.compile(rb'<event name="\w+" package="\w+" timestamp="[\d:.TZ+-]+">'),
    (b"<value>", b"<text>", b"]]>"),
)
# The same as text within XML: `FOR XML` of a column that is text.
ESCAPED = Marks(
    b"&lt;event",
    b" \t\r\n&>",
    b"&lt;/event&gt;",
    b"&lt;![CDATA[",
    b"]]&gt;",
    re.compile(
        rb'&lt;event name=(?:"|&quot;)\w+(?:"|&quot;) package=(?:"|&quot;)\w+(?:"|&quot;)'
        rb' timestamp=(?:"|&quot;)[\d:.TZ+-]+(?:"|&quot;)&gt;'
    ),
    (b"&lt;value&gt;", b"&lt;text&gt;", b"]]&gt;"),
)


class Cut(NamedTuple):
    """The text of one event.

    Attributes:
        position: Of its first byte.
        problem: Why it is not whole; empty where it is.
    """

    position: int
    text: bytes
    problem: str = ""


class _Mark:
    """Where a mark stands next in a text; each byte is looked at once, wherever one asks from."""

    def __init__(self, text: bytes, mark: bytes) -> None:
        self._text = text
        self._mark = mark
        self._from = 0
        self._at = -1

    def after(self, start: int) -> int:
        """The first place at or after one; the text's length where there is none."""
        if not self._from <= start <= self._at:
            found = self._find(start)
            self._at = len(self._text) if found < 0 else found
            self._from = start
        return self._at

    def _find(self, start: int) -> int:
        return self._text.find(self._mark, start)


class _Starts(_Mark):
    """Where an event begins next: `<events>` and `<event_data>` are none."""

    def __init__(self, text: bytes, marks: Marks) -> None:
        super().__init__(text, marks.start)
        self._behind = marks.behind_start

    def _find(self, start: int) -> int:
        while (start := super()._find(start)) >= 0:
            behind = start + len(self._mark)
            # At the text's very end it may yet be one.
            if self._text[behind : behind + 1] in self._behind:
                return start
            start = behind
        return -1


class Cutter:
    """Cuts the events out of a text that comes in pieces.

    It holds one event's text at most and no more than `LONGEST`. CDATA sections are obeyed, so a
    statement may hold anything; one that was never closed is told by the event that follows in it.
    """

    def __init__(
        self,
        marks: Marks,
        position: int = 0,
        first: int = 0,
        end: int | None = None,
        in_section: bool = False,
    ) -> None:
        """What to cut, and which events.

        Args:
            position: Where the text begins; somewhere within an event if that is before `first`.
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

    def feed(self, piece: bytes, last: bool = False) -> Iterator[Cut]:
        """The events that are complete with this piece, and what is none.

        Args:
            last: Nothing follows.
        """
        text = _Text(self._rest + piece, self._marks, last)
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
                yield Cut(position, text.bytes[start:stop], problem)
            at = stop
            if too_long:
                self._in_section = self._skips = text.in_section(start)
                at = self._keep(text.size - text.unsure)
            elif stop < 0:
                at = start
                break
        self._rest = text.bytes[at:]
        self._base += at

    def _behind_event(self, text: _Text) -> int:
        """Where the next event may begin after the one within which the text begins.

        While that is to come: where what is to be kept of the text begins.
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
                    return self._keep(max(at, text.size - text.unsure) if self._skips else at)
                at = stop
                self._in_section = self._skips = False
            opened = text.opens.after(at)
            nearest = min(text.starts.after(at), text.ends.after(at), opened)
            if nearest >= text.size:
                return text.size if text.last else self._keep(max(at, text.size - text.unsure))
            if nearest != opened:
                return nearest
            # Around whole events there may be sections too; these hold no value.
            before = text.bytes[max(0, opened - NEAR) : opened].rstrip()
            self._in_section = before.endswith(self._marks.valued)
            at = opened + len(self._marks.cdata)

    def _keep(self, at: int) -> int:
        """Go on from a place when there is more of the text."""
        self._within = True
        kept = max(0, at - NEAR)
        self._scanned = at - kept
        return kept


class _Text:
    """What is at hand of a text, and where its marks are."""

    def __init__(self, text: bytes, marks: Marks, last: bool) -> None:
        self.bytes = text
        self.size = len(text)
        self.last = last
        self.marks = marks
        # Marks in so many bytes at the end may be incomplete, or what follows them unknown.
        self.unsure = len(marks.cdata) + len(marks.cdata_end)
        self.starts = _Starts(text, marks)
        self.closes = _Mark(text, marks.cdata_end)
        self.opens = _Mark(text, marks.cdata)
        self.ends = _Mark(text, marks.end)

    def extent(self, start: int) -> tuple[int, str]:
        """Where the event ends that begins at a place, and what is wrong with it.

        Returns:
            -1 where that is still to come.
        """
        at = start + len(self.marks.start)
        end = self.ends.after(at)
        if end < self.starts.after(at) and not self.in_section(start, end):
            return end + len(self.marks.end), ""
        while True:
            following, end = self.starts.after(at), self.ends.after(at)
            opened = self.opens.after(at)
            nearest = min(following, end, opened)
            if nearest >= self.size:
                break
            if nearest == end:
                return end + len(self.marks.end), ""
            if nearest == following:
                return following, "the event has no end"
            at, reopened = self.section(opened + len(self.marks.cdata))
            if at < 0:
                break
            if reopened:
                return at, "the event has no end"
        return (self.strict_start(start + 1), "the event breaks off") if self.last else (-1, "")

    def in_section(self, start: int, end: int | None = None) -> bool:
        """Whether an event's text is within a CDATA section at a place."""
        opened = self.bytes.rfind(self.marks.cdata, start, end)
        return opened >= 0 and self.bytes.find(self.marks.cdata_end, opened, end) < 0

    def section(self, start: int) -> tuple[int, bool]:
        """Where a CDATA section ends, or was broken off.

        Returns:
            The place behind it, or where the next event begins in it: then it was never closed and
            what ends it is the end of a section of that event. (Within a section, the server
            writes such an end so that another section begins behind it.) -1 where it does not end,
            or what follows is still to come.
        """
        close = self.closes.after(start)
        behind = close + len(self.marks.cdata_end)
        if close >= self.size or (not self.last and behind + len(self.marks.cdata) > self.size):
            return -1, False
        if self.bytes.startswith(self.marks.cdata, behind):
            return behind, False
        tag = self.marks.strict.search(self.bytes, start, close)
        if tag and self.bytes.find(self.marks.cdata, tag.end(), close) >= 0:
            return tag.start(), True
        return behind, False

    def strict_start(self, start: int) -> int:
        """Where the next event begins beyond doubt; the text's length where none does."""
        tag = self.marks.strict.search(self.bytes, start)
        return tag.start() if tag else self.size
