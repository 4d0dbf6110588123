"""Text in pieces, with `<event>` elements anywhere in it -> the text of each element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dbt_graft.collectors.sqlserver.files.streams import LONGEST
from dbt_graft.collectors.sqlserver.files.xml_marks import XmlMarks, XmlText

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
        """The events that are complete with this piece, and those that never will be.

        Args:
            last: Nothing follows.
        """
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
