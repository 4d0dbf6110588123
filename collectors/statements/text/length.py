"""Long texts: the pieces in which they are parsed, so that memory does not grow with a text.

A piece is as many statements as fit. A statement that is longer alone, without its literals, is
cut; the next one of the batch begins a new piece.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# The longest statement without its literals, in characters.
LONGEST = 1_000_000
TOO_LONG = f"the statement is longer than {LONGEST:,} characters: it was cut there"
# Behind a statement that was cut: a semicolon, or brackets and what begins the next statement.
_NEXT = re.compile(
    r";|\) (?=(?:INSERT INTO|UPDATE|DELETE FROM|MERGE|TRUNCATE TABLE|EXEC|EXECUTE|CREATE|DROP)\b)",
    re.I,
)


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The pieces of a normalised text, and whether the last statement of each was cut."""
    start = 0
    while len(text) - start > LONGEST:
        end = text.rfind(";", start, start + LONGEST) + 1
        is_cut = end <= start
        if is_cut:
            end = start + LONGEST
        yield text[start:end], is_cut
        behind = _NEXT.search(text, end) if is_cut else None
        start = behind.end() if behind else len(text) if is_cut else end
    if start < len(text) or not text:
        yield text[start:], False
