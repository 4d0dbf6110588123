"""A fingerprint of a SQL text: one pass, many times faster than normalising.

Texts that differ in nothing but values, comments and the length of lists have one fingerprint, and
so one normalised text. The converse need not hold: a fingerprint may be finer than the normalised
text, never coarser, so it can stand for the text in a cache.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from dbt_graft.collectors.statements.text.aliases import ColumnNames
from dbt_graft.collectors.statements.text.dialect import COMMENT, TSQL_QUOTED, Dialect
from dbt_graft.collectors.statements.text.protect import CARRIERS
from dbt_graft.collectors.statements.text.protect import CARRIES as SPARK_CARRIES
from dbt_graft.collectors.statements.text.remembered import Remembered

Result = TypeVar("Result")

# Control characters, which no statement has, stand for what was taken out.
_VALUE, _LIST, _COMMENT = "\x01", "\x02", "\x03"
_TAKEN_OUT = {"(": _LIST, "-": _COMMENT, "/": _COMMENT}
_NAMES = {Dialect.TSQL: frozenset('["'), Dialect.SPARK: frozenset("`")}

# What follows a number directly may belong to it.
_END = r"(?![\w@#$£€.])"
_EXPONENT = r"(?:[eE][+-]?\d++)?"
_DECIMAL = rf"\d*+(?:\.\d*+)?{_EXPONENT}"
_HEX = r"[xX][0-9a-fA-F]*+"
_NULL = r"(?:[Nn][Uu][Ll][Ll]|[Dd][Ee][Ff][Aa][Uu][Ll][Tt])(?![\w(])"
# A digit inside a name begins no number.
_ALONE = r"(?<![\w@#$.].)"
_DIGITS = "|".join(rf"{digit}{_ALONE}{_DECIMAL}{_END}" for digit in range(1, 10))
# Spark's strings: quoted in either way, and raw ones, in which a backslash is no sign.
_SINGLE, _DOUBLE = (
    rf"{quote}(?:[^{quote}\\]++|\\(?:.|\Z)|{quote * 2})*(?:{quote}(?!{quote})|\Z)"
    for quote in "'\""
)
_RAW = r"""(?:'[^']*+(?:'|\Z)|"[^"]*+(?:"|\Z))"""
_AFTER_R = r"(?<=\W[rR].)"
_SUFFIX = r"(?:[LSYFDlsyfd]|BD|bd)?"


def _lists(item: str) -> str:
    items = rf"\(\s*+{item}(?:\s*+,\s*+{item})*\s*+\)"
    return rf"{items}(?:\s*+,\s*+{items})*"


# Each alternative begins with one character: `re` then skips all others at the speed of C.
_PIECES = {
    Dialect.TSQL: re.compile(
        _lists(rf"(?:[Nn]?{TSQL_QUOTED}|[-+]?(?:0{_HEX}|\d{_DECIMAL}){_END}|{_NULL})")
        + rf"|{TSQL_QUOTED}"
        + rf"|0{_ALONE}(?:{_HEX}|{_DECIMAL}){_END}|{_DIGITS}"
        + r'|"(?:[^"]++|"")*(?:"(?!")|\Z)'
        + r"|\[(?:[^\]]++|\]\])*(?:\](?!\])|\Z)"
        + rf"|{COMMENT}",
        re.DOTALL,
    ),
    Dialect.SPARK: re.compile(
        _lists(
            rf"(?:{_SINGLE}|{_DOUBLE}|[rR]{_RAW}"
            rf"|[-+]?\d++(?:\.\d++)?{_EXPONENT}{_SUFFIX}{_END}|{_NULL})"
        )
        + rf"|'{_AFTER_R}[^']*+(?:'|\Z)|\"{_AFTER_R}[^\"]*+(?:\"|\Z)|{_SINGLE}|{_DOUBLE}|"
        + "|".join(
            rf"{digit}{_ALONE}\d*+(?:\.\d++)?{_EXPONENT}{_SUFFIX}{_END}" for digit in range(10)
        )
        + r"|`(?:[^`]++|``)*(?:`(?!`)|\Z)"
        + rf"|{COMMENT}",
        re.DOTALL,
    ),
}
# Texts whose strings are more than values: calls that carry statements or names, queries for other
# servers, files, what a driver declares in front of a statement, and the number behind `GO`.
_CARRIES = {
    Dialect.TSQL: re.compile(
        r"EXEC|\bsp_|\bOPEN(?:QUERY|ROWSET|DATASOURCE)\b|\b(?:BULK|COPY\s++INTO"
        r"|EXTERNAL\s++TABLE)\b"
        rf"|\A\s*\(\s*@|^\s*GO\s+{_VALUE}",
        re.IGNORECASE | re.MULTILINE,
    ),
    Dialect.SPARK: re.compile(rf"{SPARK_CARRIES}|\A[rR]{_VALUE}|\$\{{", re.IGNORECASE),
}
# Texts without these, folded, have none of those: to see that takes a hundredth of the time.
_HINTS = {
    Dialect.TSQL: ("exec", "sp_", "open", "bulk", "copy", "external", "@", "go"),
    Dialect.SPARK: (*map(str.casefold, CARRIERS), "://", "${", f"r{_VALUE}"),
}
VALUE_MARK, LIST_MARK = "__value", "__list"
_RESERVED = re.compile(f"[{_VALUE}{_LIST}{_COMMENT}]")


def fingerprint(text: str, dialect: Dialect = Dialect.TSQL) -> str:
    """A text with signs in the place of its values, lists of values and comments."""
    return _read(text, dialect)[0]


def _read(text: str, dialect: Dialect) -> tuple[str, list[str]]:
    taken: list[str] = []
    names, columns = _NAMES[dialect], ColumnNames(text)

    def take_out(piece: re.Match[str]) -> str:
        part = piece.group()
        first = part[0]
        if first in names or (first == "'" and columns.holds(*piece.span())):
            return part
        taken.append(part)
        return _TAKEN_OUT.get(first, _VALUE)

    return _PIECES[dialect].sub(take_out, text), taken


def literals(text: str) -> list[str]:
    """The parts that a fingerprint takes out of a T-SQL text: values, lists of values, comments.

    Texts with one fingerprint have as many of them, each of the same kind.
    """
    return _read(text, Dialect.TSQL)[1]


def mark_literals(text: str) -> str:
    """A T-SQL text with a word in the place of each literal, which has the literal's number."""
    number = -1
    columns = ColumnNames(text)

    def word(piece: re.Match[str]) -> str:
        nonlocal number
        first = piece.string[piece.start()]
        if first in _NAMES[Dialect.TSQL] or (first == "'" and columns.holds(*piece.span())):
            return piece.group()
        number += 1
        if first == "(":
            return f"({LIST_MARK}{number}__)"
        return " " if first in _TAKEN_OUT else f" {VALUE_MARK}{number}__ "

    return _PIECES[Dialect.TSQL].sub(word, text)


def is_plain(text: str, fingerprint: str, dialect: Dialect = Dialect.TSQL) -> bool:
    """Whether all texts with its fingerprint have its normalised text."""
    folded = fingerprint.casefold()
    if any(hint in folded for hint in _HINTS[dialect]) and _CARRIES[dialect].search(fingerprint):
        return False
    return not _RESERVED.search(text)


class ByFingerprint(Generic[Result]):
    """A function of T-SQL that does not depend on values, worked out once a fingerprint."""

    def __init__(self, work: Callable[[str], Result]) -> None:
        self._work = work
        self._known: Remembered[Result] = Remembered()

    def __call__(self, text: str) -> Result:
        """The result for a text."""
        return self.with_literals(text)[0]

    def with_literals(self, text: str) -> tuple[Result, Sequence[str] | None]:
        """The result for a text, and its literals; None where its strings are more than values."""
        key, taken = _read(text, Dialect.TSQL)
        known = self._known.get(key)
        if known is not None:
            return known, taken
        result = self._work(text)
        if not is_plain(text, key, Dialect.TSQL):
            return result, None
        return self._known.add(key, result), taken
