"""A part of an XML export -> its events."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
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
    pieces,
    read_range,
    with_last,
)
from dbt_graft.collectors.sqlserver.files.xml_cut import NEAR, EventCut, EventCutter
from dbt_graft.collectors.sqlserver.files.xml_events import (
    excerpt,
    is_dismissed,
    is_wanted,
    parse_event,
)
from dbt_graft.collectors.sqlserver.files.xml_marks import ESCAPED, PLAIN, XmlMarks

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
# How far a part looks back at a time, and from where on it needs no certainty.
_BACK = 1 << 16
_LONG = 1 << 20


def read_xml(part: FileSplit, wanted: EventFilter) -> Iterator[Chunk]:
    """The events that begin within a part, piece by piece.

    Raises:
        UnreadableError: The file is gone or breaks off.
    """
    marks = ESCAPED if part.escaped else PLAIN
    if is_one_split(part):
        start, cutter = 0, EventCutter(marks)
    else:
        section = _section(part, marks)
        start = max(0, part.start - NEAR) if section is None else section
        cutter = EventCutter(marks, start, part.start, part.end, in_section=section is not None)
    number = 0
    for piece, last in with_last(pieces(part, start)):
        for cuts in batched(cutter.feed(piece, last)):
            yield _chunk(part, wanted, cuts, number)
            number += len(cuts)
        if cutter.done:
            return


def _chunk(part: FileSplit, wanted: EventFilter, cuts: list[EventCut], before: int) -> Chunk:
    """What is wanted of some events, `before` of which the file had others."""
    chunk = Chunk(seen=len(cuts))
    names = None if wanted.names is None else {name.encode() for name in wanted.names}
    for number, cut in enumerate(cuts, before + 1):
        tag = _NAME.match(cut.text)
        if names is not None and tag is not None and tag[1] not in names:
            continue
        found = _event(cut, part.escaped, wanted)
        if isinstance(found, ExtendedEvent):
            chunk.events.append(found)
        elif found is not None:
            place = f"event {number}" if is_one_split(part) else f"event at byte {cut.position}"
            chunk.damages.append(replace(found, position=place))
    return chunk


def _event(cut: EventCut, escaped: bool, wanted: EventFilter) -> ExtendedEvent | LogDamage | None:
    """An event that is wanted; None for another."""
    if cut.problem:
        # Its beginning is all that is looked at.
        return LogDamage("", cut.problem, excerpt(_text(cut.text[:1000], escaped)))
    text = _text(cut.text, escaped)
    if is_dismissed(text, wanted):
        return None
    found = parse_event(text)
    return found if isinstance(found, LogDamage) or is_wanted(found, wanted) else None


def _text(text: bytes, escaped: bool) -> str:
    decoded = text.decode(errors="replace")
    return unescape(decoded, _REFERENCES) if escaped else decoded


def _section(part: FileSplit, marks: XmlMarks) -> int | None:
    """Where the CDATA section of a value begins that a part begins in; None if it does in none.

    It may hold what looks like events. The last mark before the part tells; where there is none
    for long, as no value is written as a section, a start tag as the server writes it does.
    """
    # A mark counts where it begins, and may end behind the part's start.
    reach = max(len(marks.cdata), len(marks.cdata_end)) - 1
    end, behind = part.start, read_range(part, part.start, part.start + reach)
    while end > max(0, part.start - LONGEST):
        start = max(0, end - _BACK)
        text = read_range(part, start, end)
        seen = text + behind[:reach]
        opened, closed = seen.rfind(marks.cdata), seen.rfind(marks.cdata_end)
        if opened > closed:
            before = read_range(part, max(0, start + opened - NEAR), start + opened).rstrip()
            return start + opened if before.endswith(marks.valued) else None
        if closed >= 0 or (part.start - start > _LONG and marks.strict.search(text)):
            return None
        end, behind = start, text
    return None
