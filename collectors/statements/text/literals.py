"""Taking literals out: statements that differ in values only become one text.

Strings, numbers and parameter markers become `?`, comments go, lists of literals become `(?)` and
equal rows of VALUES one row, so that `IN (1, 2, 3)` and `IN (7)` have one shape. Names in brackets
or quotes stay as they are. A second time changes nothing.
"""

from __future__ import annotations

import re

from dbt_graft.collectors.statements.text.dialect import COMMENT, CUT_NAME, NAME, STRING, Dialect
from dbt_graft.collectors.statements.text.double_quotes import strip_double_quotes

# SQL Server's own limit; anything longer between quotes is text, not a name.
_LONGEST_NAME = 128
_HEX = "0[xX][0-9a-fA-F]*+"
_DECIMAL = r"(?:\d++(?:\.\d*+|(?!\.))|\.\d++)(?:[eE][+-]?\d++)?"
# T-SQL's names never begin with a digit, so `1AS x` is a number; Spark's may.
_VALUE = {
    Dialect.TSQL: rf"[$£€]?(?:{_HEX}|{_DECIMAL})|@[Pp]\d++\b",
    Dialect.SPARK: rf"{_DECIMAL}(?:[LSYFDlsyfd]|BD|bd)?(?!\w)",
}
_PIECES = {
    dialect: re.compile(
        rf"(?P<comment>{COMMENT})|(?P<string>{STRING[dialect]})"
        rf"|(?P<name>{NAME[dialect]})|(?P<cut>{CUT_NAME[dialect]})"
        rf"|(?P<value>(?<![\w@#$])(?:{_VALUE[dialect]})+)"
        r"|(?P<space>\s{2,}|[^\S ])",
        re.DOTALL,
    )
    for dialect in Dialect
}
_ITEM = r"(?:\?|NULL|DEFAULT|TRUE|FALSE)(?![\w(])"
_LIST = rf"\(\s*{_ITEM}(?:\s*,\s*{_ITEM})*\s*\)"
_LISTS = {
    dialect: re.compile(
        rf"(?P<name>{NAME[dialect]})|(?P<space> {{2,}})"
        r"|(?P<before>(?:[=<>(,]|\b(?:AND|BETWEEN|THEN|ELSE|LIKE))\s*)[-+]\s*\?"
        rf"|(?P<list>{_LIST}(?:\s*,\s*{_LIST})*)",
        re.IGNORECASE,
    )
    for dialect in Dialect
}
_ROW = r"\((?:[^()]++|\((?:[^()]++|\([^()]*+\))*\))*\)"
_EQUAL_ROWS = re.compile(rf"(?P<row>{_ROW})(?:\s*,\s*(?P=row))+")


def strip_literals(text: str, dialect: Dialect) -> str:
    """A text without its literals and comments, on one line."""
    # A NUL or half a surrogate pair is no SQL, and neither Arrow nor Parquet stores it.
    text = text.replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")
    text = _PIECES[dialect].sub(_piece, text)
    if dialect is Dialect.TSQL:
        text = strip_double_quotes(text)
    signed = "-" in text or "+" in text
    text = _LISTS[dialect].sub(_list, text)
    if signed:  # without its sign, a value may now be part of a list
        text = _LISTS[dialect].sub(_list, text)
    if "values" in text.casefold():
        text = _EQUAL_ROWS.sub(r"\g<row>", text)
    return text.strip()


def _piece(match: re.Match[str]) -> str:
    kind, piece = match.lastgroup, match.group()
    if kind in ("comment", "space"):
        return " "
    # What is left of a name that was cut off is no name.
    is_path = piece[0] == "`" or match.string.endswith("files.", 0, match.start())
    is_name = kind == "name" and (len(piece) <= _LONGEST_NAME or is_path)
    return piece if is_name else "?"


def _list(match: re.Match[str]) -> str:
    if match["name"]:
        return match.group()
    if match["space"]:
        return " "
    return f"{match['before']}?" if match["before"] else "(?)"
