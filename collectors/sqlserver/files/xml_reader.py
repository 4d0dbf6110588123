"""A part of an XML export -> its events."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from xml.sax.saxutils import unescape

from dbt_graft.collectors.sqlserver.event import Chunk, Damage, Event, Part, Wanted
from dbt_graft.collectors.sqlserver.files.streams import (
    LONGEST,
    few,
    pieces,
    to_the_end,
    whole,
    window,
)
from dbt_graft.collectors.sqlserver.files.xml_cut import NEAR, Cut, Cutter
from dbt_graft.collectors.sqlserver.files.xml_events import dismissed, event, excerpt, is_wanted
from dbt_graft.collectors.sqlserver.files.xml_marks import ESCAPED, PLAIN, Marks

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


def read(part: Part, wanted: Wanted) -> Iterator[Chunk]:
    """The events that begin within a part, piece by piece.

    Raises:
        UnreadableError: The file is gone or breaks off.
    """
    marks = ESCAPED if part.escaped else PLAIN
    if whole(part):
        start, cutter = 0, Cutter(marks)
    else:
        section = _section(part, marks)
        start = max(0, part.start - NEAR) if section is None else section
        cutter = Cutter(marks, start, part.start, part.end, in_section=section is not None)
    number = 0
    for piece, last in to_the_end(pieces(part, start)):
        for cuts in few(cutter.feed(piece, last)):
            yield _chunk(part, wanted, cuts, number)
            number += len(cuts)
        if cutter.done:
            return


def _chunk(part: Part, wanted: Wanted, cuts: list[Cut], before: int) -> Chunk:
    """What is wanted of some events, `before` of which the file had others."""
    chunk = Chunk(seen=len(cuts))
    names = None if wanted.names is None else {name.encode() for name in wanted.names}
    for number, cut in enumerate(cuts, before + 1):
        tag = _NAME.match(cut.text)
        if names is not None and tag is not None and tag[1] not in names:
            continue
        found = _event(cut, part.escaped, wanted)
        if isinstance(found, Event):
            chunk.events.append(found)
        elif found is not None:
            place = f"event {number}" if whole(part) else f"event at byte {cut.position}"
            chunk.damages.append(replace(found, position=place))
    return chunk


def _event(cut: Cut, escaped: bool, wanted: Wanted) -> Event | Damage | None:
    """An event that is wanted; None for another."""
    if cut.problem:
        # Its beginning is all that is looked at.
        return Damage("", cut.problem, excerpt(_text(cut.text[:1000], escaped)))
    text = _text(cut.text, escaped)
    if dismissed(text, wanted):
        return None
    found = event(text)
    return found if isinstance(found, Damage) or is_wanted(found, wanted) else None


def _text(text: bytes, escaped: bool) -> str:
    decoded = text.decode(errors="replace")
    return unescape(decoded, _REFERENCES) if escaped else decoded


def _section(part: Part, marks: Marks) -> int | None:
    """Where the CDATA section of a value begins that a part begins in; None if it does in none.

    It may hold what looks like events. The last mark before the part tells; where there is none
    for long, as no value is written as a section, a start tag as the server writes it does.
    """
    # A mark counts where it begins, and may end behind the part's start.
    reach = max(len(marks.cdata), len(marks.cdata_end)) - 1
    end, behind = part.start, window(part, part.start, part.start + reach)
    while end > max(0, part.start - LONGEST):
        start = max(0, end - _BACK)
        text = window(part, start, end)
        seen = text + behind[:reach]
        opened, closed = seen.rfind(marks.cdata), seen.rfind(marks.cdata_end)
        if opened > closed:
            before = window(part, max(0, start + opened - NEAR), start + opened).rstrip()
            return start + opened if before.endswith(marks.valued) else None
        if closed >= 0 or (part.start - start > _LONG and marks.strict.search(text)):
            return None
        end, behind = start, text
    return None
