"""The places where events and CDATA sections begin and end in a text, plain or escaped again."""

from __future__ import annotations

import re

from dbt_graft.lineage.frozen import frozen


@frozen
class XmlMarks:
    """The marks that a text is cut at, as it writes them.

    Attributes:
        strict: A start tag as the server writes it, which no statement holds by chance.
        valued: The tags before a value's CDATA section, or the end of the section before it.
    """

    start: bytes
    behind_start: bytes
    end: bytes
    cdata: bytes
    cdata_end: bytes
    strict: re.Pattern[bytes]
    valued: tuple[bytes, ...]


PLAIN = XmlMarks(
    b"<event",
    b" \t\r\n>",
    b"</event>",
    b"<![CDATA[",
    b"]]>",
    re.compile(rb'<event name="\w+" package="\w+" timestamp="[\d:.TZ+-]+">'),
    (b"<value>", b"<text>", b"]]>"),
)
# The same as text within XML: `FOR XML` of a column that is text.
ESCAPED = XmlMarks(
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


class _Mark:
    """The next place of a mark in a text; each byte is searched once, from any start."""

    def __init__(self, text: bytes, mark: bytes) -> None:
        self._text = text
        self._mark = mark
        self._from = 0
        self._at = -1

    def after(self, start: int) -> int:
        """The first place at or after one; the text's length where there is none."""
        if not self._from <= start <= self._at:
            index = self._find(start)
            self._at = len(self._text) if index < 0 else index
            self._from = start
        return self._at

    def _find(self, start: int) -> int:
        return self._text.find(self._mark, start)


class _Starts(_Mark):
    """The start of the next event: `<events>` and `<event_data>` are none."""

    def __init__(self, text: bytes, marks: XmlMarks) -> None:
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


class XmlText:
    """A piece of a text, and the places of its marks."""

    def __init__(self, text: bytes, marks: XmlMarks, last: bool) -> None:
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
        """The end of the event that begins at a place, and what is wrong with it.

        Returns:
            -1 where the end is in a later piece.
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
        return (self.strict_start(start + 1), "the event is cut off") if self.last else (-1, "")

    def in_section(self, start: int, end: int | None = None) -> bool:
        """Whether an event's text is within a CDATA section at a place."""
        opened = self.bytes.rfind(self.marks.cdata, start, end)
        return opened >= 0 and self.bytes.find(self.marks.cdata_end, opened, end) < 0

    def section(self, start: int) -> tuple[int, bool]:
        """The place where a CDATA section ends, or was broken off.

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
        """The certain start of the next event; the text's length where none does."""
        tag = self.marks.strict.search(self.bytes, start)
        return tag.start() if tag else self.size
