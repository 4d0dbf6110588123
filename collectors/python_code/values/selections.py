"""Several columns of a frame under one name: `pl.col("a", "b")`, `pl.exclude("c")`, `cs.numeric()`.

A selection is a text that no column is called: a mark, its kind, and names or a pattern. It stands
where an expression names a column, and in the name of what is made of each: `pl.all().name.suffix`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dbt_graft.lineage.records import ANY_COLUMN

_MARK = "\x1f"
_LISTED, _OTHERS, _LIKE = "=", "!", "~"
# Columns of which only a run knows whether they are meant: those of a type.
UNSURE = f"{_MARK}?"
# Longer names and patterns, and patterns with more repetitions, could take long.
_LONGEST, _LONGEST_PATTERN, _MOST_REPEATED = 200, 2000, 2


def listed(names: Iterable[str]) -> str:
    """The columns of these names."""
    return _MARK.join((f"{_MARK}{_LISTED}", *names))


def like(pattern: str) -> str:
    """The columns whose names a regular expression of Polars matches, from the first character."""
    is_slow = "(" in pattern or len(re.findall("[*+?{]", pattern)) > _MOST_REPEATED
    return UNSURE if is_slow else _like(rf"(?:{pattern})")


def with_text(names: Iterable[str], before: str = "", after: str = "") -> str:
    """The columns whose names have one of these texts, behind and before a pattern."""
    return _like(f"{before}(?:{'|'.join(map(re.escape, names))}){after}")


def _like(pattern: str) -> str:
    if len(pattern) > _LONGEST_PATTERN:
        return UNSURE
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return UNSURE
    return f"{_MARK}{_LIKE}{_MARK}{pattern}"


def is_selection(name: object) -> bool:
    """Whether the name of a column stands for several."""
    return isinstance(name, str) and (name.startswith(_MARK) or name == ANY_COLUMN)


def names_of(selection: str) -> list[str] | None:
    """The names that are listed; None where it is no list."""
    kind, names = _parts(selection)
    return names if kind == _LISTED else None


def names_without(selection: str) -> list[str] | None:
    """The names that are left out of all; None where that is not what it means."""
    kind, names = _parts(selection)
    return names if kind == _OTHERS else None


def has(selection: str, name: object) -> bool:
    """Whether a column is meant, or may be."""
    kind, names = _parts(selection)
    if not isinstance(name, str):
        return kind == _OTHERS
    if kind == _LIKE:
        return len(name) > _LONGEST or re.match(names[0], name) is not None
    return kind == "?" or (name in names) is (kind == _LISTED)


def complement(selection: str) -> str:
    """All other columns."""
    kind, names = _parts(selection)
    if kind == "?":
        return UNSURE
    if kind == _LIKE:
        return _like(f"(?!{names[0]})")
    return _MARK.join((_MARK + (_OTHERS if kind == _LISTED else _LISTED), *names))


def both(left: str, right: str) -> str:
    """The columns that are in both."""
    if UNSURE in (left, right):
        return UNSURE
    for first, other in ((left, right), (right, left)):
        if (names := names_of(first)) is not None:
            return listed(name for name in names if has(other, name))
    out = names_without(left), names_without(right)
    if out[0] is not None and out[1] is not None:
        return complement(listed(dict.fromkeys((*out[0], *out[1]))))
    return _like(f"(?={_pattern(left)}){_pattern(right)}")


def either(left: str, right: str) -> str:
    """The columns that are in one of the two."""
    return complement(both(complement(left), complement(right)))


def _pattern(selection: str) -> str:
    kind, names = _parts(selection)
    if kind == _LIKE:
        return names[0]
    return rf"(?!(?:{'|'.join(map(re.escape, names))})\Z)"


def _parts(selection: str) -> tuple[str, list[str]]:
    if selection == ANY_COLUMN:
        return _OTHERS, []
    kind, *names = selection.removeprefix(_MARK).split(_MARK)
    return kind, names
