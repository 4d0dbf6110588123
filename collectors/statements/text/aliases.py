"""Names of columns that T-SQL has in strings: `SELECT a AS 'x'`, `SELECT a 'x'`, `SELECT 'x' = a`.

They would be lost with the literals, so here they become names in brackets; those in double quotes
too, unless AS shows that they are no values.
"""

from __future__ import annotations

import re

from dbt_graft.collectors.statements.text.dialect import COMMENT, NAME, STRING, Dialect
from dbt_graft.collectors.statements.text.double_quotes import bracket_name
from dbt_graft.collectors.statements.text.variables import unquote

_STRING, _NAME = STRING[Dialect.TSQL], NAME[Dialect.TSQL]
_HINT = re.compile(r"[\w\])\"']\s++(?:[nN]?'|\")|['\"]\s*+=")
_TOP = r"TOP\s*+(?:\(\s*+[\w@]++\s*+\)|\d++)(?:\s++PERCENT)?(?:\s++WITH\s++TIES)?"
_SELECT = rf"\bSELECT(?:\s++(?:DISTINCT|ALL))?(?:\s++{_TOP})?"
_AS = re.compile(r"(?<!EXECUTE )(?<!EXEC )\bAS\Z", re.IGNORECASE)
_ITEM = re.compile(rf"(?:,|{_SELECT})\Z", re.IGNORECASE)
_EQUALS = re.compile(r"\s*+=")
# So far before a string stands what makes a name of it.
_NEAR = 60
_STRINGS = re.compile(
    rf"{COMMENT}|\[(?:[^\]]++|\]\])*\](?!\])|(?P<string>{_STRING}|{_NAME})", re.DOTALL
)
_LONGEST = 128

# So far before a name that nothing announces begins the list of columns, and this comes behind it.
_LIST_NEAR = 2_000
_SELECTS = re.compile(_SELECT, re.IGNORECASE)
_MOST_SELECTS, _MOST_SEARCHES = 4, 100
_BEHIND_ITEM = re.compile(
    r"\s*+(?:[,;)]|\Z|(?:FROM|INTO|WHERE|UNION|EXCEPT|INTERSECT|ORDER|FOR|OPTION)\b)", re.IGNORECASE
)
_PART = rf"(?:{_NAME}|[\w@#$]++)"
_PIECES = re.compile(
    rf"{COMMENT}|(?P<value>{_STRING}|{_PART}(?:\s*+\.\s*+{_PART})*)|(?P<sign>\S)", re.DOTALL
)
# Pieces by one letter each; all others are values (`v`) and operators (`o`).
_KINDS = {
    ",": ",",
    "COLLATE": "c",
    "OVER": "p",
    "WITHIN": "w",
    "AT": "t",
    **dict.fromkeys(("FROM", "EXEC", "EXECUTE", ";", "=", "<", ">"), "!"),
}
# A value: `a + f(b) OVER (…)`, what stands in brackets being `b`.
_VALUE = r"o*+(?:vb?|b)(?:wvb)?(?:pb)?(?:cv)?(?:tvvv)?"
_IS_NEXT = re.compile(rf",{_VALUE}(?:o{_VALUE})*")
_LAST_IS_VALUE = re.compile(rf"(?:[^!]*,)?{_VALUE}(?:o{_VALUE})*")


class ColumnNames:
    """Tells the strings that name columns of a text from values; asked in their order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._behind = len(text)  # the last name that nothing announced
        self._searches = 0

    def holds(self, start: int, end: int) -> bool:
        """Whether the string at a place names a column."""
        text = self._text
        near = text[max(0, start - _NEAR) : start]
        before = near[:-1] if near[-1:] in ("n", "N") else near
        value = before.rstrip()
        if value == before and before[-1:] != ",":
            return False
        if _AS.search(value):
            return True
        if _EQUALS.match(text, end):
            return bool(_ITEM.search(value))
        last = value[-1:]
        if not (last.isalnum() or last in "_])\"'") or not _BEHIND_ITEM.match(text, end):
            return False
        if not self._ends_item(start - len(near) + len(value)):
            return False
        self._behind = end
        return True

    def _ends_item(self, end: int) -> bool:
        """Whether the text up to a place ends with a value in a list of columns."""
        text = self._text
        is_near = self._behind < end < self._behind + _LIST_NEAR
        if is_near and _IS_NEXT.fullmatch(_kinds(text, self._behind, end)):
            return True
        self._searches += 1
        if self._searches > _MOST_SEARCHES:
            return False
        selects = [*_SELECTS.finditer(text, max(0, end - _LIST_NEAR), end)]
        return any(
            _LAST_IS_VALUE.fullmatch(_kinds(text, select.end(), end))
            for select in selects[: -_MOST_SELECTS - 1 : -1]
        )


def _kinds(text: str, start: int, end: int) -> str:
    """The kinds of the pieces of a text, brackets and CASE … END as one; `!` where one is open."""
    kinds, depth = "", 0
    for piece in _PIECES.finditer(text, start, end):
        word = piece.group().upper()
        if word in {")", "END"}:
            depth -= 1
            if depth < 0:
                return "!"
        elif word in {"(", "CASE"}:
            kinds += "" if depth else "b"
            depth += 1
        elif not depth and (piece["value"] or piece["sign"]):
            kinds += _KINDS.get(word, "v" if piece["value"] else "o")
    return "!" if depth else kinds


def protect_aliases(text: str) -> str:
    """A T-SQL text in which names of columns stand without quotes."""
    if not _HINT.search(text):
        return text
    names = ColumnNames(text)

    def rewrite(match: re.Match[str]) -> str:
        string, start = match["string"], match.start()
        if not string or not names.holds(start, match.end()):
            return match.group()
        if string[0] == '"':
            is_sure = _AS.search(text[max(0, start - _NEAR) : start].rstrip())
            return string if is_sure or len(string) > _LONGEST else bracket_name(string)
        name = unquote(string)
        return f"[{name.replace(']', ']]')}]" if name.strip() and len(name) <= _LONGEST else string

    return _STRINGS.sub(rewrite, text)
