"""Date expressions of T-SQL: literals by their number, parameters, and `GETDATE()` with shifts.

An expression is read once for all texts that differ in nothing but their literals; its value is
worked out for each from the literals alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from dbt_graft.collectors.statements.text.fingerprint import LIST_MARK, VALUE_MARK
from dbt_graft.collectors.statements.text.tokens import Token, keywords, word_at
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.frozen import frozen

_NOW = keywords(
    "GETDATE SYSDATETIME GETUTCDATE SYSUTCDATETIME SYSDATETIMEOFFSET CURRENT_TIMESTAMP"
    " CURRENT_DATE NOW"
)
# The clocks among them that do not depend on the server's time zone.
_UTC_NOW = keywords("GETUTCDATE SYSUTCDATETIME")
_TYPES = keywords("DATE TIMESTAMP DATETIME DATETIME2 SMALLDATETIME DATETIMEOFFSET")
# Before a string: `DATE '2026-11-01'`, `N'2026-11-01'`.
_PREFIXES = _TYPES | {"N"}
_UNITS = {
    **dict.fromkeys(("DAY", "DD", "D", "DAYOFYEAR", "DY", "Y"), 1),
    **dict.fromkeys(("WEEK", "WK", "WW"), 7),
}
_MONTHS = {
    **dict.fromkeys(("MONTH", "MM", "M"), 1),
    **dict.fromkeys(("QUARTER", "QQ", "Q"), 3),
    **dict.fromkeys(("YEAR", "YY", "YYYY"), 12),
}
_TRUNCATED = {
    **dict.fromkeys(("DAY", "DD", "D", "DAYOFYEAR", "DY", "Y"), Grain.DAY),
    **dict.fromkeys(("MONTH", "MM", "M"), Grain.MONTH),
    **dict.fromkeys(("QUARTER", "QQ", "Q"), Grain.QUARTER),
    **dict.fromkeys(("YEAR", "YY", "YYYY"), Grain.YEAR),
}
_CHARACTERS = keywords("CHAR NCHAR VARCHAR NVARCHAR")
_MARK = re.compile(rf"{VALUE_MARK}(?P<number>\d+)__", re.IGNORECASE)
_LIST = re.compile(rf"{LIST_MARK}(?P<number>\d+)__", re.IGNORECASE)


@frozen
class DateExpression:
    """An expression whose value is a date.

    Attributes:
        literal: The number of the literal, or of a list of them.
        place: Of a list that is cut into rows: its place in a row, and the length of a row.
        variable: A parameter or variable, in lower case.
        now: The beginning of the statement, on the server's clock or, with `is_utc`, in UTC.
        is_date: A time of day is cut off.
        of: The expression that is shifted, or cut.
        days, months: The length of one step; `steps` is the number of the literal that counts them,
            `sign` its sign.
        begin_of: The unit of which it is the first day.
        is_end: It is the last day of the unit.
        constants: Literals by number, and what each must be.
        cut: Of a text of it the numbers of the literals with its length and with its style.
    """

    literal: int | None = None
    is_list: bool = False
    place: tuple[int, int] | None = None
    variable: str = ""
    now: bool = False
    is_utc: bool = False
    is_date: bool = False
    of: DateExpression | None = None
    days: int = 0
    months: int = 0
    steps: int | None = None
    sign: int = 1
    begin_of: Grain | None = None
    is_end: bool = False
    constants: tuple[tuple[int, str], ...] = ()
    cut: tuple[int, int | None] | None = None

    @property
    def variables(self) -> frozenset[str]:
        """The parameters that its value depends on."""
        inner = self.of.variables if self.of else frozenset()
        return inner | {self.variable} if self.variable else inner

    @property
    def numbers(self) -> frozenset[int]:
        """The literals that its value depends on."""
        inner = self.of.numbers if self.of else frozenset()
        constants = (number for number, _ in self.constants)
        own = (self.literal, self.steps, *(self.cut or ()), *constants)
        return inner | {number for number in own if number is not None}

    @property
    def is_relative(self) -> bool:
        """Whether its value depends on the time of the statement."""
        return self.now or bool(self.of and self.of.is_relative)


def read_expression(tokens: Sequence[Token], at: int) -> tuple[DateExpression, int] | None:
    """The date expression that begins at a place, and the place after it."""
    parsed = _read_simple(tokens, at)
    if parsed is None:
        return None
    expression, end = parsed
    if word_at(tokens, end) in ("+", "-"):
        steps = _mark(tokens, end + 1)
        if steps is None or not expression.is_relative or word_at(tokens, end + 2) in ("*", "/"):
            return None
        sign = 1 if word_at(tokens, end) == "+" else -1
        return DateExpression(of=expression, days=1, steps=steps, sign=sign), end + 2
    return None if word_at(tokens, end) in ("*", "/", "%", "COLLATE") else parsed


def _read_simple(tokens: Sequence[Token], at: int) -> tuple[DateExpression, int] | None:
    word, after = word_at(tokens, at), word_at(tokens, at + 1)
    literal = _mark(tokens, at)
    if literal is not None:
        return DateExpression(literal=literal), at + 1
    if word.startswith("@") and not word.startswith("@@"):
        return DateExpression(variable=word.casefold()), at + 1
    if word in _NOW:
        now = DateExpression(now=True, is_utc=word in _UTC_NOW, is_date=word == "CURRENT_DATE")
        return now, at + (3 if after == "(" else 1)
    if word in _PREFIXES and _mark(tokens, at + 1) is not None:
        return DateExpression(literal=_mark(tokens, at + 1)), at + 2
    read = _FUNCTIONS.get(word) if after == "(" else None
    return read(tokens, at + 2) if read else None


def _read_cast(tokens: Sequence[Token], at: int) -> tuple[DateExpression, int] | None:
    """`GETDATE() AS date)`"""
    parsed = read_expression(tokens, at)
    if parsed is None or word_at(tokens, parsed[1]) != "AS":
        return None
    is_date = parsed[0].is_date or word_at(tokens, parsed[1] + 1) == "DATE"
    return replace(parsed[0], is_date=is_date), _place_behind(tokens, parsed[1])


def _read_convert(tokens: Sequence[Token], at: int) -> tuple[DateExpression, int] | None:
    """`date, GETDATE())`, `varchar(10), @d, 120)`"""
    name = word_at(tokens, at)
    length = list_number(tokens, at + 1) if name in _CHARACTERS else None
    while word_at(tokens, at) not in (",", ""):
        at = _place_behind(tokens, at + 1) if word_at(tokens, at) == "(" else at + 1
    parsed = read_expression(tokens, at + 1)
    if parsed is None:
        return None
    expression, end = parsed
    if length is not None:
        style = _mark(tokens, end + 1) if word_at(tokens, end) == "," else None
        expression = DateExpression(of=expression, cut=(length, style))
    is_date = name == "DATE" or expression.is_date
    return replace(expression, is_date=is_date), _place_behind(tokens, end)


def _read_shift(tokens: Sequence[Token], at: int) -> tuple[DateExpression, int] | None:
    """`day, -1, GETDATE())`"""
    part = word_at(tokens, at)
    if word_at(tokens, at + 2) == "DATEDIFF":
        return _read_difference(tokens, at)
    sign = -1 if word_at(tokens, at + 2) == "-" else 1
    position = at + 2 + (word_at(tokens, at + 2) in ("-", "+"))
    steps = _mark(tokens, position)
    is_known = part in _UNITS or part in _MONTHS
    if not is_known or steps is None or word_at(tokens, position + 1) != ",":
        return None
    parsed = read_expression(tokens, position + 2)
    if parsed is None or word_at(tokens, parsed[1]) != ")":
        return None
    return _shift(parsed[0], part, steps, sign), parsed[1] + 1


def _shift(expression: DateExpression, part: str, steps: int, sign: int) -> DateExpression:
    days, months = _UNITS.get(part, 0), _MONTHS.get(part, 0)
    return DateExpression(of=expression, days=days, months=months, steps=steps, sign=sign)


def _read_difference(tokens: Sequence[Token], at: int) -> tuple[DateExpression, int] | None:
    """`month, DATEDIFF(month, 0, GETDATE()) - 1, 0)`: the beginning of the month before."""
    part, grain, zero = word_at(tokens, at), _part(tokens, at), _mark(tokens, at + 6)
    parsed = read_expression(tokens, at + 8)
    if not grain or grain is not _part(tokens, at + 4) or zero is None or parsed is None:
        return None
    expression, end = parsed
    if word_at(tokens, end) != ")":
        return None
    begin = DateExpression(of=expression, begin_of=grain)
    sign, steps, end = word_at(tokens, end + 1), _mark(tokens, end + 2), end + 1
    if sign in ("+", "-") and steps is not None:
        begin, end = _shift(begin, part, steps, 1 if sign == "+" else -1), end + 2
    origin = _mark(tokens, end + 1)
    if origin is None or word_at(tokens, end) != "," or word_at(tokens, end + 2) != ")":
        return None
    return replace(begin, constants=((zero, "0"), (origin, "0"))), end + 3


def _read_truncation(tokens: Sequence[Token], at: int) -> tuple[DateExpression, int] | None:
    """`month, GETDATE())`"""
    grain, parsed = _part(tokens, at), read_expression(tokens, at + 2)
    if grain is None or parsed is None or word_at(tokens, parsed[1]) != ")":
        return None
    return DateExpression(of=parsed[0], begin_of=grain), parsed[1] + 1


def _read_end_of_month(tokens: Sequence[Token], at: int) -> tuple[DateExpression, int] | None:
    """`GETDATE())`, `GETDATE(), -1)`"""
    parsed = read_expression(tokens, at)
    if parsed is None:
        return None
    expression, end = parsed
    if word_at(tokens, end) == ",":
        is_back = word_at(tokens, end + 1) == "-"
        steps = _mark(tokens, end + 1 + is_back)
        if steps is None:
            return None
        begin = DateExpression(of=expression, begin_of=Grain.MONTH)
        expression, end = _shift(begin, "MONTH", steps, -1 if is_back else 1), end + 2 + is_back
    if word_at(tokens, end) != ")":
        return None
    return DateExpression(of=expression, begin_of=Grain.MONTH, is_end=True), end + 1


def _read_parts(tokens: Sequence[Token], at: int) -> tuple[DateExpression, int] | None:
    """`2026, 11, 1)`; `YEAR(@d), MONTH(@d), 1)` and `YEAR(@d), 1, 1)`: the beginning of a unit."""
    if listed := _LIST.fullmatch(word_at(tokens, at)):
        return DateExpression(literal=int(listed["number"])), at + 2
    parsed = read_expression(tokens, at + 2) if word_at(tokens, at) == "YEAR" else None
    if parsed is None:
        return None
    grain, (expression, end) = Grain.YEAR, parsed
    first = [_mark(tokens, end + 2)]
    if word_at(tokens, end + 2) == "MONTH":
        again = read_expression(tokens, end + 4)
        if again is None or again[0] != expression:
            return None
        grain, end, first = Grain.MONTH, again[1] - 2, []
    first.append(_mark(tokens, end + 4))
    constants = tuple((number, "1") for number in first if number is not None)
    if len(constants) < len(first) or word_at(tokens, end + 5) != ")":
        return None
    return DateExpression(of=expression, begin_of=grain, constants=constants), end + 6


def _part(tokens: Sequence[Token], at: int) -> Grain | None:
    return _TRUNCATED.get(word_at(tokens, at))


_FUNCTIONS = {
    **dict.fromkeys(("CAST", "TRY_CAST"), _read_cast),
    **dict.fromkeys(("CONVERT", "TRY_CONVERT"), _read_convert),
    "DATEADD": _read_shift,
    "DATETRUNC": _read_truncation,
    "EOMONTH": _read_end_of_month,
    "DATEFROMPARTS": _read_parts,
}


def _place_behind(tokens: Sequence[Token], at: int) -> int:
    """The place behind the bracket that closes."""
    depth = 1
    while at < len(tokens) and depth:
        depth += (tokens[at].word == "(") - (tokens[at].word == ")")
        at += 1
    return at


def list_number(tokens: Sequence[Token], at: int) -> int | None:
    """The number of the list of literals that stands in brackets from a place on."""
    match = _LIST.fullmatch(word_at(tokens, at + 1)) if word_at(tokens, at) == "(" else None
    return int(match["number"]) if match and word_at(tokens, at + 2) == ")" else None


def _mark(tokens: Sequence[Token], at: int) -> int | None:
    match = _MARK.fullmatch(word_at(tokens, at))
    return int(match["number"]) if match else None
