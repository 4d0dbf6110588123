"""Texts in double quotes: names where QUOTED_IDENTIFIER is on, values where it is off.

Drivers turn it on, sqlcmd and SQL Server Agent leave it off. Of SQL Server's events only those of a
connection have it. Without them the text itself must show it: one with double quotes where a value
would be an error was read with the setting on. Where nothing shows it, or a text changes it, what
may be a value is not stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto

from dbt_graft.collectors.statements.text.dialect import COMMENT, CUT_NAME, NAME, STRING, Dialect

# A column or a value, and nobody knows which.
NAME_OR_VALUE = '"?"'
# In front of texts whose setting is known.
QUOTES_ARE_NAMES, QUOTES_ARE_VALUES = (f"SET QUOTED_IDENTIFIER {to}; " for to in ("ON", "OFF"))
_SETS = r"\bSET\s+(?:\w++\s*,\s*)*QUOTED_IDENTIFIER(?:\s*,\s*\w++)*\s+"

_QUOTED = r'"(?:[^"]++|"")*"(?!")'
_BRACKETS = r"\[(?:[^\]]++|\]\])*\](?!\])"
_PART = rf"(?:{_BRACKETS}|[\w@#$]++)"
_PIECES = re.compile(
    rf"{_BRACKETS}|(?P<quoted>{_QUOTED})|(?P<on>{_SETS}ON\b)|(?P<closes>\))"
    r"|(?P<names>\b(?:TABLE|INTO|INSERT|KEY|UNIQUE|REFERENCES|FOR)\b(?!\s+OPEN)"
    rf"(?:\s+{_PART}(?:\s*\.+\s*{_PART})*(?:\s+IN)?)?\s*\((?!\s*(?:\(|SELECT\b|WITH\b|EXEC)))"
    r"|(?P<values>\b(?:IN|VALUES)\s*\((?!\s*SELECT\b))|(?P<opens>\()",
    re.IGNORECASE,
)
# So far before a text in quotes stands what says what it is.
_NEAR = 60
_BEFORE_NAME = re.compile(
    r"(?:\.|\b(?:FROM|JOIN|INTO|INSERT|UPDATE|DELETE|MERGE|USING|TABLE|VIEW|INDEX|PROC|PROCEDURE"
    r"|FUNCTION|TRIGGER|SCHEMA|DATABASE|USE|ADD|COLUMN|CONSTRAINT|REFERENCES|COLLATE|WITH|SET"
    r"|EXEC|EXECUTE|(?:ORDER|GROUP)\s+BY))\s*\Z",
    re.IGNORECASE,
)
_BEFORE_ALIAS = re.compile(r"\bAS\s*\Z", re.IGNORECASE)
_BEFORE_OPERAND = re.compile(r"(?:[<>=!+]|\b(?:LIKE|BETWEEN|THEN|ELSE))\s*\Z", re.IGNORECASE)
_BEFORE_VALUE = re.compile(
    r"\b(?:PRINT|RAISERROR\s*\(|THROW\s*\?\s*,|WAITFOR\s+(?:DELAY|TIME)|DEFAULT[\s(]*"
    r"|CONTAINS\s*\([^()\"]*,)\s*\Z",
    re.IGNORECASE,
)
_BEGINS_ITEM = re.compile(r"[(,]\s*\Z")
_GOES_ON = re.compile(r"\s*\.")
_IS_ON, _IS_OFF = (re.compile(rf"{_SETS}{to}\b", re.IGNORECASE) for to in ("ON", "OFF"))
# A module is all of its batch, and has the setting that it was created with.
_CREATES_MODULE = re.compile(
    rf"(?:\s|{COMMENT})*(?:CREATE(?:\s+OR\s+ALTER)?|ALTER)\s+"
    r"(?:PROC(?:EDURE)?|FUNCTION|TRIGGER)\b",
    re.IGNORECASE | re.DOTALL,
)
# ANSI_DEFAULTS brings it along, but not when the text is read; that of a database is another.
_SETTINGS = re.compile(
    rf"(?P<skip>{COMMENT}|{STRING[Dialect.TSQL]}|{NAME[Dialect.TSQL]}|{CUT_NAME[Dialect.TSQL]})"
    rf"|(?P<unsure>\bSET\s+(?:\w++\s*,\s*)*ANSI_DEFAULTS\b"
    rf"|\bALTER\s+DATABASE\b[^;]{{0,200}}?\bQUOTED_IDENTIFIER\b)|{_SETS}(?P<to>ON|OFF)\b",
    re.IGNORECASE | re.DOTALL,
)
# Dates and addresses of people are no names of columns, whatever the setting is.
_MAY_BE_NAME = re.compile(r'"(?=[^"@]*[^\W\d_])[^"@]*"')


def setting_after(batch: str) -> str | None:
    """The setting that a batch leaves its session with: that of its last `SET`, run or not.

    Returns:
        `QUOTES_ARE_NAMES` or `QUOTES_ARE_VALUES`; empty where it is not sure, None where the batch
        does not set it. What it runs as a text of its own, `EXEC (…)`, sets it for that text only.
    """
    folded = batch.casefold()
    if "quoted_identifier" not in folded and "ansi_defaults" not in folded:
        return None
    settings = [match for match in _SETTINGS.finditer(batch) if not match["skip"]]
    if not settings or _CREATES_MODULE.match(batch):
        return None
    if any(match["unsure"] for match in settings):
        return ""
    return QUOTES_ARE_NAMES if settings[-1]["to"].upper() == "ON" else QUOTES_ARE_VALUES


class _Place(Enum):
    """The place of a text in double quotes.

    Attributes:
        NAME: A value would be an error: behind FROM, before or behind a dot.
        ALIAS: Behind AS: a name, whatever the setting is.
        VALUE: A name would be: behind PRINT.
        ITEM: In the list of IN or VALUES.
        OPERAND: Behind a sign such as `=`, where values are usual.
        OTHER: In a list of columns, or an argument of a function.
    """

    NAME = auto()
    ALIAS = auto()
    VALUE = auto()
    ITEM = auto()
    OPERAND = auto()
    OTHER = auto()


def strip_double_quotes(text: str) -> str:
    """A T-SQL text without its other literals, with `?` for values in double quotes.

    What may as well be a name is `"?"`.
    """
    if '"' not in text:
        return text
    quoted = [*_find(text)]
    sets_off = bool(_IS_OFF.search(text))
    is_off = sets_off and not _IS_ON.search(text)
    is_on = not sets_off and any(place is _Place.NAME for _, _, place in quoted)
    parts, at = [], 0
    for start, end, place in quoted:
        parts += [text[at:start], _shown(text[start:end], place, is_on, is_off)]
        at = end
    return "".join([*parts, text[at:]])


def bracket_names(text: str) -> str:
    """A T-SQL text without its literals, with `[name]` for `"name"`."""
    return _PIECES.sub(
        lambda piece: (
            piece.group()
            if piece["quoted"] in (None, NAME_OR_VALUE)
            else bracket_name(piece["quoted"])
        ),
        text,
    )


def bracket_name(quoted: str) -> str:
    """A name in double quotes as one in brackets."""
    name = quoted[1:-1].replace('""', '"').replace("]", "]]")
    return f"[{name}]"


def _shown(quoted: str, place: _Place, is_on: bool, is_off: bool) -> str:
    if quoted == NAME_OR_VALUE or place in (_Place.NAME, _Place.ALIAS):
        return quoted
    if is_on and place in (_Place.OPERAND, _Place.OTHER) and _MAY_BE_NAME.fullmatch(quoted):
        return quoted
    is_value = place is _Place.VALUE or is_off or not (is_on or place is _Place.OTHER)
    return "?" if is_value else NAME_OR_VALUE


def _find(text: str) -> Iterator[tuple[int, int, _Place]]:
    """The texts in double quotes: start, end, place; SET QUOTED_IDENTIFIER ON is an empty name."""
    around = [""]  # the kinds of the brackets that are open
    for piece in _PIECES.finditer(text):
        start, end = piece.span()
        match piece.lastgroup:
            case "quoted":
                yield start, end, _place(text, start, end, around)
            case "on":
                yield start, start, _Place.NAME
            case "closes" if len(around) > 1:
                around.pop()
            case "opens" if around[-1] == "values":
                around.append("values")
            case "names" | "values" | "opens" as kind:
                around.append(kind)


def _place(text: str, start: int, end: int, around: list[str]) -> _Place:
    before = text[max(0, start - _NEAR) : start]
    is_name = around[-1] == "names" and _BEGINS_ITEM.search(before)
    if is_name or _BEFORE_NAME.search(before) or _GOES_ON.match(text, end):
        return _Place.NAME
    if _BEFORE_ALIAS.search(before):
        return _Place.ALIAS
    if end - start == len('""') or _BEFORE_VALUE.search(before):
        return _Place.VALUE
    if around[-1] == "values":
        return _Place.ITEM
    return _Place.OPERAND if _BEFORE_OPERAND.search(before) else _Place.OTHER
