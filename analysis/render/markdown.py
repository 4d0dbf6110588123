"""Markdown for comments: tables and texts in which nothing of a log or of people is markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

# A backslash does not stop tags of HTML and mentions of people everywhere.
_ESCAPES = str.maketrans(
    {mark: f"\\{mark}" for mark in "\\`*_{}[]|#~"} | {mark: f"&#{ord(mark)};" for mark in "<>@"}
)


def markdown_table(
    head: tuple[str, ...], rows: Iterable[tuple[str, ...]], most: int | None
) -> Iterator[str]:
    """The lines of a table, with an empty one behind it; nothing for a table without rows.

    Args:
        most: The rows that are shown, before the number of the others; None for all.
    """
    table_rows = list(rows)
    if not table_rows:
        return
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in table_rows[:most]:
        yield f"| {' | '.join(map(markdown_text, row))} |"
    if most is not None and len(table_rows) > most:
        yield ""
        yield f"… and {len(table_rows) - most:,} more."
    yield ""


def markdown_text(value: str) -> str:
    """A text in one line, its marks escaped."""
    return " ".join(value.split()).translate(_ESCAPES)


def code(text: str) -> str:
    """A name as Markdown's code."""
    text = one_line(text)
    ticks = "`" * (max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    return f"{ticks} {text} {ticks}" if "`" in text else f"`{text}`"


def one_line(text: str) -> str:
    """A text without control characters, in one line."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
