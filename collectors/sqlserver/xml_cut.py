"""Text that holds `<event>` elements, in pieces -> the text of each, whatever surrounds them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from collectors.sqlserver.streams import LONGEST


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
        self, marks: Marks, position: int = 0, first: int = 0, end: int | None = None
    ) -> None:
        """What to cut, and which events.

        Args:
            position: Where the text begins; within a CDATA section if that is before `first`.
            first, end: Events that begin from here on and before there.
        """
        self.done = False
        self._marks = marks
        self._base = position
        self._first = first
        self._end = end
        self._rest = b""
        self._inside = position < first
        self._skips = False

    def feed(self, piece: bytes, last: bool = False) -> Iterator[Cut]:
        """The events that are complete with this piece, and what is none.

        Args:
            last: Nothing follows.
        """
        text = _Text(self._rest + piece, self._marks, last)
        at = self._outside(text) if self._inside else 0
        while not self._inside:
            start = text.starts.after(at)
            if start >= text.size:
                at = text.size if last else max(at, text.size - len(self._marks.start))
                break
            position = self._base + start
            if self._end is not None and position >= self._end:
                self.done = True
                break
            stop, problem = text.extent(start)
            if stop < 0 and text.size - start > LONGEST:
                stop, problem = text.size, f"the event is longer than {LONGEST >> 20} MB"
                self._inside = self._skips = text.within_cdata(start)
            if stop < 0:
                at = start
                break
            if position >= self._first:
                yield Cut(position, text.bytes[start:stop], problem)
            at = stop
        self._rest = text.bytes[at:]
        self._base += at

    def _outside(self, text: _Text) -> int:
        """Where the CDATA section ends within which the text begins."""
        close = text.closes.after(0)
        if close < text.size:
            self._inside = False
            reopened = -1 if self._skips else text.reopened(0, close)
            return close + len(self._marks.cdata_end) if reopened < 0 else reopened
        if text.last:
            self._inside = False
            return text.size if self._skips else text.strict_start(0)
        self._skips = self._skips or text.size > LONGEST
        return text.size - len(self._marks.cdata_end) if self._skips else 0


class _Text:
    """What is at hand of a text, and where its marks are."""

    def __init__(self, text: bytes, marks: Marks, last: bool) -> None:
        self.bytes = text
        self.size = len(text)
        self.last = last
        self.marks = marks
        self.starts = _Starts(text, marks)
        self.closes = _Mark(text, marks.cdata_end)
        self._opens = _Mark(text, marks.cdata)
        self._ends = _Mark(text, marks.end)

    def extent(self, start: int) -> tuple[int, str]:
        """Where the event ends that begins at a place, and what is wrong with it.

        Returns:
            -1 where that is still to come.
        """
        at = start + len(self.marks.start)
        following = self.starts.after(at)
        end = self._ends.after(at)
        if end < following and not self.within_cdata(start, end):
            return end + len(self.marks.end), ""
        while True:
            following, end = self.starts.after(at), self._ends.after(at)
            opened = self._opens.after(at)
            nearest = min(following, end, opened)
            if nearest >= self.size:
                break
            if nearest == end:
                return end + len(self.marks.end), ""
            if nearest == following:
                return following, "the event has no end"
            behind = opened + len(self.marks.cdata)
            close = self.closes.after(behind)
            at = close + len(self.marks.cdata_end)
            # What follows the section tells whether it was one.
            if close >= self.size or (not self.last and at + len(self.marks.cdata) > self.size):
                break
            reopened = self.reopened(behind, close)
            if reopened >= 0:
                return reopened, "the event has no end"
        return (self.strict_start(start + 1), "the event breaks off") if self.last else (-1, "")

    def within_cdata(self, start: int, end: int | None = None) -> bool:
        """Whether an event's text is within a CDATA section at a place."""
        opened = self.bytes.rfind(self.marks.cdata, start, end)
        return opened >= 0 and self.bytes.find(self.marks.cdata_end, opened, end) < 0

    def reopened(self, start: int, close: int) -> int:
        """Where in a CDATA section the next event begins, if the section was never closed.

        Then what ends it is the end of a section of that event. Within a section, the server
        writes such an end so that another section begins behind it.
        """
        tag = self.marks.strict.search(self.bytes, start, close)
        if tag is None or self.bytes.find(self.marks.cdata, tag.end(), close) < 0:
            return -1
        behind = close + len(self.marks.cdata_end)
        return -1 if self.bytes.startswith(self.marks.cdata, behind) else tag.start()

    def strict_start(self, start: int) -> int:
        """Where the next event begins beyond doubt; the text's length where none does."""
        tag = self.marks.strict.search(self.bytes, start)
        return tag.start() if tag else self.size
