"""Dynamic T-SQL put together from strings and variables, as far as the batch itself shows it.

`SET @sql = N'SELECT a FROM ' + @table` and later `EXEC (@sql)`: a variable holds the text that was
last assigned to it above. A part that is not known becomes `?`, as a value does.
"""

from __future__ import annotations

import re

from dbt_graft.collectors.statements.text.dialect import NAME, STRING, TSQL_QUOTED, Dialect

STRING_PART = STRING[Dialect.TSQL]
VARIABLE = r"@[\w@#$]++"
_CALL = rf"\w++\s*\((?:[^()']++|{TSQL_QUOTED}|\((?:[^()']++|{TSQL_QUOTED}|\([^()']*+\))*\))*\)"
PART = rf"(?:{STRING_PART}|{VARIABLE}|{_CALL})"
EXPRESSION = rf"{PART}(?:\s*\+\s*{PART})*"
_TYPE = rf"\s(?:\s*AS\b)?\s*(?:\w++|{NAME[Dialect.TSQL]})(?:\s*\(\s*\w++\s*\))?"
# A condition such as `WHERE @a = 'x'` assigns nothing.
ASSIGNMENT = (
    rf"(?:\b(?:SET|SELECT|DECLARE)\s+|,\s*)(?P<variable>{VARIABLE})(?:{_TYPE})?"
    rf"\s*(?P<adds>\+?)=\s*(?P<value>{EXPRESSION})?(?!\s*[-+*/%.])"
)
_ONE_PART = re.compile(PART, re.IGNORECASE | re.DOTALL)
_QUOTED_NAME = re.compile(
    rf"QUOTENAME\s*\(\s*({STRING_PART}|{VARIABLE})\s*\)", re.IGNORECASE | re.DOTALL
)
_WHITE = re.compile(r"N?CHAR\s*\(\s*(?:9|10|13|32)\s*\)", re.IGNORECASE)
# Texts that grow by being added to themselves end here.
_LONGEST = 65_536


class Variables:
    """The texts of a batch's variables at the place up to which it was read."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def assign(self, variable: str, value: str | None, adds: bool) -> None:
        """Take in `SET @a = value`, or `SET @a += value`."""
        name = variable.casefold()
        text = self.text(value) if value else None
        if text is None:
            self._texts.pop(name, None)
        elif not adds:
            self._texts[name] = text[:_LONGEST]
        elif name in self._texts:
            self._texts[name] = (self._texts[name] + text)[:_LONGEST]

    def text(self, expression: str) -> str | None:
        """The text of an expression; None where no part of it is known."""
        parts = [self._part(part) for part in _ONE_PART.findall(expression)]
        if not any(parts):
            return None
        return "".join("?" if part is None else part for part in parts)[:_LONGEST]

    def _part(self, part: str) -> str | None:
        if part.startswith("@"):
            return self._texts.get(part.casefold())
        if quoted := _QUOTED_NAME.match(part):
            name = self._part(quoted[1])
            return None if name is None else f"[{name.replace(']', ']]')}]"
        if part.endswith(")"):
            return " " if _WHITE.match(part) else None
        return unquoted(part)


def unquoted(string: str) -> str:
    """The text of a string literal; to its end where the string was cut off."""
    return string.partition("'")[2].removesuffix("'").replace("''", "'")
