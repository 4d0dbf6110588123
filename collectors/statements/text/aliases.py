"""Names of columns that T-SQL has in strings: `SELECT a AS 'x'`, `SELECT 'x' = a`.

They would be lost with the literals, so here they become names in brackets.
"""

from __future__ import annotations

import re

from dbt_graft.collectors.statements.text.dialect import COMMENT, NAME, STRING, Dialect
from dbt_graft.collectors.statements.text.variables import unquote

_HINT = re.compile(r"[sS]\s++[nN]?'|'\s*+=")
_TOP = r"TOP\s*+(?:\(\s*+[\w@]++\s*+\)|\d++)(?:\s++PERCENT)?(?:\s++WITH\s++TIES)?"
_AS = re.compile(r"(?<!EXECUTE )(?<!EXEC )\bAS\s++[nN]?\Z", re.IGNORECASE)
_ITEM = re.compile(
    rf"(?:,|\bSELECT(?:\s++(?:DISTINCT|ALL))?(?:\s++{_TOP})?\s)\s*+[nN]?\Z", re.IGNORECASE
)
_EQUALS = re.compile(r"\s*+=")
# So far before a string stands what makes a name of it.
_NEAR = 60
_STRINGS = re.compile(
    rf"{COMMENT}|{NAME[Dialect.TSQL]}|(?P<string>{STRING[Dialect.TSQL]})", re.DOTALL
)
_LONGEST = 128


def is_alias(text: str, start: int, end: int) -> bool:
    """Whether the string at a place of a text names a column."""
    if start and text[start - 1] not in " \t\r\n,nN":
        return False
    near = max(0, start - _NEAR)
    if _AS.search(text, near, start):
        return True
    return bool(_EQUALS.match(text, end) and _ITEM.search(text, near, start))


def protect_aliases(text: str) -> str:
    """A T-SQL text in which names of columns stand without quotes."""
    return _STRINGS.sub(_name, text) if _HINT.search(text) else text


def _name(match: re.Match[str]) -> str:
    string = match["string"]
    if not string or not is_alias(match.string, *match.span()):
        return match.group()
    name = unquote(string)
    return f"[{name.replace(']', ']]')}]" if name.strip() and len(name) <= _LONGEST else string
