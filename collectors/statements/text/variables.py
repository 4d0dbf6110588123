"""Dynamic T-SQL put together from strings and variables, as far as the batch itself shows it.

`SET @sql = N'SELECT a FROM ' + @table` and later `EXEC (@sql)`: a variable holds the text that was
last assigned to it above. A part that is not known becomes `?` where a value stands, and `??`
elsewhere: the rest of the statement is read, which is marked as partial.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dbt_graft.collectors.statements.text.dialect import COMMENT, NAME, STRING, TSQL_QUOTED, Dialect

STRING_PART = STRING[Dialect.TSQL]
VARIABLE = r"@[\w@#$]++"
_CALL = rf"\w++\s*\((?:[^()']++|{TSQL_QUOTED}|\((?:[^()']++|{TSQL_QUOTED}|\([^()']*+\))*\))*\)"
PART = rf"(?:{STRING_PART}|{VARIABLE}|{_CALL})"
EXPRESSION = rf"{PART}(?:\s*\+\s*{PART})*"
_TYPE = rf"\s(?:\s*AS\b)?\s*(?:\w++|{NAME[Dialect.TSQL]})(?:\s*\(\s*\w++\s*\))?"
# A condition such as `WHERE @a = 'x'` assigns nothing.
ASSIGNMENT = (
    rf"(?:\b(?:SET|SELECT|DECLARE)\s+|,\s*)(?P<variable>{VARIABLE})(?:{_TYPE})?"
    rf"\s*(?P<adds>\+?)=\s*(?P<value>{EXPRESSION})?(?P<more>\s*\+)?(?!\s*[-+*/%.])"
)
# A part of a statement that is not known, and no value.
UNKNOWN = "??"
_ONE_PART = re.compile(PART, re.IGNORECASE | re.DOTALL)
_QUOTED_NAME = re.compile(
    rf"QUOTENAME\s*\(\s*({STRING_PART}|{VARIABLE})\s*\)", re.IGNORECASE | re.DOTALL
)
_WHITE = re.compile(r"N?CHAR\s*\(\s*(?:9|10|13|32)\s*\)", re.IGNORECASE)
_STEP = re.compile(rf"\s*(?:(?P<case>CASE)\b|(?P<part>{PART}))", re.IGNORECASE | re.DOTALL)
_PLUS = re.compile(r"\s*\+")
_IN_CASE = re.compile(
    rf"{COMMENT}|{STRING_PART}|\b(?:(?P<opens>CASE)|(?P<closes>END))\b", re.IGNORECASE | re.DOTALL
)
_BRANCH = re.compile(r"\b(?:THEN|ELSE)\s*+N?'(?P<first>(?:''|[^'])?)", re.IGNORECASE)
_FUNCTION = re.compile(r"(?P<name>\w+)\s*\((?P<arguments>.*)\)", re.DOTALL)
_LAST_WORD = re.compile(r"(?<![\w@#$.])[\w@#$.]++\Z")
_SEPARATOR = re.compile(rf"{STRING_PART}|(?P<sign>[(),]|\bAS\b)", re.IGNORECASE | re.DOTALL)
# Functions whose text is that of one argument, by its place.
_OF_ARGUMENT = {"cast": 0, "try_cast": 0, "convert": 1, "ltrim": 0, "rtrim": 0, "trim": 0} | {
    "isnull": 0,
    "coalesce": 0,
}
# Behind one of these stands a value.
_BEFORE_VALUE = re.compile(r"(?:[=<>(,'\-+*/]|\b(?:IN|LIKE|BETWEEN|AND|TOP|N))\s*\Z", re.IGNORECASE)
_REPLACES = 3
# Texts that grow by being added to themselves end here.
_LONGEST = 65_536


class Variables:
    """The texts of a batch's variables at the place up to which it was read."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def assign(self, variable: str, value: str | None, adds: bool, rest: str = "") -> None:
        """Take in `SET @a = value`, or `SET @a += value`.

        Args:
            rest: The text of what is added to the value and is more than strings and variables.
        """
        name = variable.casefold()
        text = self.text(value) if value else None
        text = None if text is None else text + rest
        if text is None:
            self._texts.pop(name, None)
        elif not adds:
            self._texts[name] = text[:_LONGEST]
        elif name in self._texts:
            self._texts[name] = (self._texts[name] + text)[:_LONGEST]

    def text(self, expression: str) -> str | None:
        """The text of an expression; None where no part of it is known."""
        return _join_parts([self._part(part) for part in _ONE_PART.findall(expression)])

    def rest(self, text: str, at: int) -> str:
        """The text of an expression behind a `+`: `CASE … END + N'…' + f(x)`."""
        parts: list[str | None] = [""]
        while True:
            step = _STEP.match(text, at)
            if step is None:
                return _join_parts([*parts, None]) or UNKNOWN
            if step["case"]:
                end = _end_of_case(text, step.end())
                branches = _BRANCH.findall(text, step.end(), end)
                # A name before it ends there if no branch can continue it.
                apart = branches and not any(first.strip() for first in branches)
                parts.append(f" {UNKNOWN}" if apart else None)
                at = end
            else:
                parts.append(self._part(step["part"]))
                at = step.end()
            plus = _PLUS.match(text, at)
            if plus is None:
                return _join_parts(parts) or UNKNOWN
            at = plus.end()

    def _part(self, part: str) -> str | None:
        if part.startswith("@"):
            return self._texts.get(part.casefold())
        if quoted := _QUOTED_NAME.match(part):
            name = self._part(quoted[1])
            return None if name is None else f"[{name.replace(']', ']]')}]"
        if part.endswith(")"):
            return " " if _WHITE.match(part) else self._call_text(part)
        return unquote(part)

    def _call_text(self, call: str) -> str | None:
        """The text of a function's result, for functions that put texts together."""
        function = _FUNCTION.fullmatch(call)
        if function is None:
            return None
        name, arguments = function["name"].casefold(), _arguments(function["arguments"])
        if name == "concat":
            return _join_parts([self.text(argument) for argument in arguments])
        if name == "replace" and len(arguments) == _REPLACES:
            text, old, new = (self.text(argument) for argument in arguments)
            if text is None or not old:
                return text and f"{text} {UNKNOWN}"
            return text.replace(old, UNKNOWN if new is None else new)
        position = _OF_ARGUMENT.get(name, len(arguments))
        return self.text(arguments[position]) if position < len(arguments) else None


def _join_parts(parts: Iterable[str | None]) -> str | None:
    """Parts as one text; None where no part of it is known."""
    parts = list(parts)
    if not any(parts):
        return None
    text = ""
    for part in parts:
        if part is None:
            part = "?" if _BEFORE_VALUE.search(text[-20:]) else UNKNOWN
        text = (text + part)[:_LONGEST]
    return text


def _end_of_case(text: str, at: int) -> int:
    """The place behind the END of a CASE that began before."""
    depth = 1
    for keyword in _IN_CASE.finditer(text, at):
        depth += bool(keyword["opens"]) - bool(keyword["closes"])
        if not depth:
            return keyword.end()
    return len(text)


def _arguments(text: str) -> list[str]:
    """The arguments of a call; what follows `AS` is a type."""
    arguments, depth, begins = [], 0, 0
    for separator in _SEPARATOR.finditer(text):
        sign = separator["sign"] or ""
        depth += (sign == "(") - (sign == ")")
        if not depth and sign not in ("", "(", ")"):
            arguments.append(text[begins : separator.start()])
            begins = separator.end()
    return [*arguments, text[begins:]]


def unquote(string: str) -> str:
    """The text of a string literal; where it was cut off, the last word is not known: `?`."""
    text = string.partition("'")[2]
    if not text.replace("''", "").endswith("'"):
        text = _LAST_WORD.sub("?", text)
    return text.removesuffix("'").replace("''", "'")
