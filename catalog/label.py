"""Labels of boxes: what fits into a box, with no two of a picture alike where names differ.

The table's own name comes first, in full where there is room, else cut in the middle: names of one
project often begin alike and end alike. The small line below it is the schema, then the platform
and the kind where there is room.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key

NAME_SIZE, NOTE_SIZE = 12, 10
_ELLIPSIS = "…"
# A word with more letters than this is not shown from its beginning on.
_WORD = 8

# Advance widths of Helvetica Bold in thousandths of the font size, from its published font metrics;
# the system fonts of the style sheet are as wide or narrower, other characters near enough.
_WIDTHS = {
    char: width
    for chars, width in (
        ("ijl I.,:;/|!'`", 278),
        ("ft-()[]·", 333),
        ('r*"', 400),
        ("aceksvxy0123456789_$?", 556),
        ("z{}^~", 500),
        ("bdghnopqu#<>=+FLTZ", 611),
        ("EPSVXYJ", 667),
        ("ABCDHKNRU&", 722),
        ("wGOQ", 778),
        ("M", 833),
        ("m%", 889),
        ("W@", 975),
        (_ELLIPSIS, 1000),
    )
    for char in chars
}
_OTHER, _WIDE = 722, 1050


@frozen
class BoxLabel:
    """The two lines of a box."""

    name: str
    note: str


@frozen
class LabelParts:
    """The parts of a label.

    Attributes:
        name: The own name of a table or task, without its schema.
        notes: Parts of the small line; the first count most.
        identity: A text that no other box has, for boxes that would be labelled alike.
    """

    name: str
    notes: tuple[str, ...]
    identity: str


@lru_cache(maxsize=1 << 16)
def text_width(text: str, size: float) -> float:
    """The width in pixels of a line of text in the page's font, rather too wide than too narrow."""
    return sum(map(_char_width, text)) * size / 1000


def _char_width(char: str) -> int:
    width = _WIDTHS.get(char)
    if width is not None:
        return width
    if unicodedata.combining(char):
        return 0
    return _WIDE if unicodedata.east_asian_width(char) in "WF" else _OTHER


def wanted_width(parts: LabelParts) -> float:
    """The room in pixels in which the name and the first two notes are shown in full."""
    notes = _join_notes(parts.notes[:2])
    return max(text_width(parts.name, NAME_SIZE), text_width(notes, NOTE_SIZE))


def complete_label(parts: LabelParts) -> BoxLabel:
    """The label of a box that has room for all of it."""
    return BoxLabel(parts.name, _join_notes(parts.notes))


def labels(boxes: Sequence[tuple[LabelParts, float]]) -> list[BoxLabel]:
    """The labels of a picture's boxes, each with the room that it has, in pixels."""
    box_labels = [
        BoxLabel(_name(parts.name, room), _note(parts.notes, room)) for parts, room in boxes
    ]
    for again in (_other_names, _other_notes, _identities):
        for alike in _group_alike(box_labels):
            for at, label in again([boxes[at] for at in alike], [box_labels[at] for at in alike]):
                box_labels[alike[at]] = label
    return box_labels


def _group_alike(box_labels: Sequence[BoxLabel]) -> list[list[int]]:
    groups = group_by_key((label, at) for at, label in enumerate(box_labels))
    return [group for group in groups.values() if len(group) > 1]


_Relabel = Iterable[tuple[int, BoxLabel]]


def _other_names(boxes: Sequence[tuple[LabelParts, float]], old: Sequence[BoxLabel]) -> _Relabel:
    """Names that differ where the middle was cut out: the part where they begin to differ."""
    names = [parts.name for parts, _ in boxes]
    if len(set(names)) > 1:
        for at, (text, (_, room)) in enumerate(zip(names, boxes, strict=True)):
            shown = _cut_around(text, _shared_length(names), _limit(room, NAME_SIZE))
            yield at, BoxLabel(shown, old[at].note)


def _other_notes(boxes: Sequence[tuple[LabelParts, float]], old: Sequence[BoxLabel]) -> _Relabel:
    """Schemas that differ where the middle was cut out."""
    notes = [parts.notes[0] if parts.notes else "" for parts, _ in boxes]
    if len(set(notes)) > 1:
        for at, (text, (_, room)) in enumerate(zip(notes, boxes, strict=True)):
            shown = _cut_around(text, _shared_length(notes), _limit(room, NOTE_SIZE))
            yield at, BoxLabel(old[at].name, shown)


def _identities(boxes: Sequence[tuple[LabelParts, float]], old: Sequence[BoxLabel]) -> _Relabel:
    """Boxes of one name and schema, on two servers."""
    texts = [parts.identity for parts, _ in boxes]
    for at, (text, (_, room)) in enumerate(zip(texts, boxes, strict=True)):
        shown = _cut_around(text, _shared_length(texts), _limit(room, NOTE_SIZE))
        yield at, BoxLabel(old[at].name, shown)


def _name(name: str, room: float) -> str:
    return cut_in_the_middle(name, _limit(room, NAME_SIZE))


def _note(notes: Sequence[str], room: float) -> str:
    """As many of the notes as there is room for; the first one is cut."""
    fits = _limit(room, NOTE_SIZE)
    for count in range(len(notes), 1, -1):
        if fits(joined := _join_notes(notes[:count])):
            return joined
    return cut_in_the_middle(notes[0], fits) if notes else ""


def _join_notes(notes: Iterable[str]) -> str:
    return " · ".join(notes)


_Fits = Callable[[str], bool]


def _limit(room: float, size: float) -> _Fits:
    return lambda text: text_width(text, size) <= room


def cut_in_the_middle(text: str, fits: _Fits) -> str:
    """The text, or as much of its beginning and its end as fits: `very_long_na…_suffix`."""
    return text if fits(text) else _find_longest(len(text), fits, lambda n: _ends(text, n))


def _ends(text: str, count: int) -> str:
    tail = count // 2
    return text[: count - tail] + _ELLIPSIS + (text[-tail:] if tail else "")


def _cut_around(text: str, at: int, fits: _Fits) -> str:
    """The text, or as much of it as fits, from the word at `at` on: `…2024_daily…`."""
    if fits(text):
        return text
    word = max((text.rfind(char, 0, at) for char in "_-. /"), default=-1) + 1
    start = min(word if at - word <= _WORD else at, len(text) - 1)
    from_there = _find_longest(
        len(text) - start, fits, lambda n: _window(text, start, start + max(n, 1))
    )
    if not from_there.endswith(_ELLIPSIS):  # there is room for more of what comes before
        return _find_longest(len(text), fits, lambda n: _window(text, len(text) - n, len(text)))
    return from_there


def _shared_length(texts: Sequence[str]) -> int:
    """The number of characters with which all texts begin."""
    first, last = min(texts), max(texts)
    same = (a == b for a, b in zip(first, last, strict=False))
    return next((at for at, equal in enumerate(same) if not equal), len(first))


def _window(text: str, start: int, end: int) -> str:
    before = _ELLIPSIS if start > 0 else ""
    return before + text[start:end] + (_ELLIPSIS if end < len(text) else "")


def _find_longest(most: int, fits: _Fits, cut: Callable[[int], str]) -> str:
    """The cut with the most characters that fits; that with one where none does."""
    low, high = 1, max(most, 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(cut(middle)) else (low, middle - 1)
    return cut(low)
