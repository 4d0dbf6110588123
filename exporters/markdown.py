"""Markdown for comments: tables and texts in which nothing of a log or of people is markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_MARKS = "\\`*_{}[]<>|#@"
# A backslash does not stop these everywhere: tags of HTML, and mentions of people.
_REFERENCES = "<>@"


def markdown_table(
    head: tuple[str, ...], rows: Iterable[tuple[str, ...]], most: int | None
) -> Iterator[str]:
    """The lines of a table, with an empty one behind it; nothing for a table without rows.

    Args:
        most: The rows that are shown, before the number of the others; None for all.
    """
    some = list(rows)
    if not some:
        return
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in some[:most]:
        yield f"| {' | '.join(map(markdown_text, row))} |"
    if most is not None and len(some) > most:
        yield ""
        yield f"… and {len(some) - most:,} more."
    yield ""


def markdown_text(value: str) -> str:
    """A text in one line, its marks escaped."""
    plain = " ".join(value.split())
    for mark in _MARKS:
        plain = plain.replace(mark, f"&#{ord(mark)};" if mark in _REFERENCES else f"\\{mark}")
    return plain
