"""A fingerprint of a T-SQL text: one pass, many times faster than normalising.

Texts that differ in nothing but values, comments and the length of lists have one fingerprint, and
so one normalised text. The converse need not hold: a fingerprint may be finer than the normalised
text, never coarser, so it can stand for the text in a cache.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from dbt_graft.collectors.statements.text.dialect import COMMENT, TSQL_QUOTED

Result = TypeVar("Result")

# Control characters, which no statement has, stand for what was taken out.
_VALUE, _LIST, _COMMENT = "\x01", "\x02", "\x03"
_TAKEN_OUT = {"(": _LIST, "-": _COMMENT, "/": _COMMENT}
_NAMES = frozenset('["')

# What follows a number directly may belong to it.
_END = r"(?![\w@#$£€.])"
_DECIMAL = r"\d*+(?:\.\d*+)?(?:[eE][+-]?\d++)?"
_HEX = r"[xX][0-9a-fA-F]*+"
_NUMBER = rf"[-+]?(?:0{_HEX}|\d{_DECIMAL}){_END}"
_NULL = r"(?:[Nn][Uu][Ll][Ll]|[Dd][Ee][Ff][Aa][Uu][Ll][Tt])(?![\w(])"
_ITEM = rf"(?:[Nn]?{TSQL_QUOTED}|{_NUMBER}|{_NULL})"
_ITEMS = rf"\(\s*+{_ITEM}(?:\s*+,\s*+{_ITEM})*\s*+\)"
# A digit inside a name begins no number.
_ALONE = r"(?<![\w@#$.].)"
# Each alternative begins with one character: `re` then skips all others at the speed of C.
_PIECES = re.compile(
    rf"{_ITEMS}(?:\s*+,\s*+{_ITEMS})*"
    rf"|{TSQL_QUOTED}"
    rf"|0{_ALONE}(?:{_HEX}|{_DECIMAL}){_END}"
    + "".join(rf"|{digit}{_ALONE}{_DECIMAL}{_END}" for digit in range(1, 10))
    + r'|"(?:[^"]++|"")*(?:"(?!")|\Z)'
    r"|\[(?:[^\]]++|\]\])*(?:\](?!\])|\Z)"
    rf"|{COMMENT}",
    re.DOTALL,
)
# Texts whose strings are more than values: calls that carry statements or names, queries for other
# servers, what a driver declares in front of a statement, and the number behind `GO`.
_CARRIES = re.compile(
    rf"EXEC|\bsp_|\bOPEN(?:QUERY|ROWSET|DATASOURCE)\b|\A\s*\(\s*@|^\s*GO\s+{_VALUE}",
    re.IGNORECASE | re.MULTILINE,
)
VALUE_MARK, LIST_MARK = "__value", "__list"
_RESERVED = re.compile(f"[{_VALUE}{_LIST}{_COMMENT}]")
# Fingerprints that are remembered, by number and by length of all of them in characters.
_MOST, _MOST_CHARACTERS = 50_000, 16_000_000


def fingerprint(text: str) -> str:
    """A T-SQL text with signs in the place of its values, lists of values and comments."""
    return _read(text)[0]


def _read(text: str) -> tuple[str, list[str]]:
    """The fingerprint of a text, and what it takes out."""
    taken: list[str] = []

    def take_out(piece: re.Match[str]) -> str:
        part = piece.group()
        first = part[0]
        if first in _NAMES:
            return part
        taken.append(part)
        return _TAKEN_OUT.get(first, _VALUE)

    return _PIECES.sub(take_out, text), taken


def literals(text: str) -> list[str]:
    """The parts that a fingerprint takes out of a text: values, lists of values, comments.

    Texts with one fingerprint have as many of them, each of the same kind.
    """
    return _read(text)[1]


def mark_literals(text: str) -> str:
    """A text with a word in the place of each of its literals, which has the literal's number."""
    number = -1

    def word(piece: re.Match[str]) -> str:
        nonlocal number
        first = piece.string[piece.start()]
        if first in _NAMES:
            return piece.group()
        number += 1
        if first == "(":
            return f"({LIST_MARK}{number}__)"
        return " " if first in _TAKEN_OUT else f" {VALUE_MARK}{number}__ "

    return _PIECES.sub(word, text)


def is_plain(text: str, fingerprint: str) -> bool:
    """Whether all texts with its fingerprint have its normalised text."""
    return not _CARRIES.search(fingerprint) and not _RESERVED.search(text)


class ByFingerprint(Generic[Result]):
    """A function of T-SQL texts that does not depend on values, worked out once a fingerprint."""

    def __init__(self, work: Callable[[str], Result]) -> None:
        self._work = work
        self._known: dict[str, Result] = {}
        self._characters = 0

    def __call__(self, text: str) -> Result:
        """The result for a text."""
        return self.with_literals(text)[0]

    def with_literals(self, text: str) -> tuple[Result, Sequence[str] | None]:
        """The result for a text, and its literals; None where its strings are more than values."""
        key, taken = _read(text)
        if key in self._known:
            return self._known[key], taken
        result = self._work(text)
        if not is_plain(text, key):
            return result, None
        self._characters += len(key)
        if len(self._known) > _MOST or self._characters > _MOST_CHARACTERS:
            self._known.clear()
            self._characters = len(key)
        self._known[key] = result
        return result, taken
