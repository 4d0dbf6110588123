"""Date expressions of T-SQL: literals by their number, parameters, and `GETDATE()` with shifts.

An expression is read once for all texts that differ in nothing but their literals; its value is
worked out for each from the literals alone.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta

from dbt_graft.collectors.statements.text.fingerprint import LIST_MARK, VALUE_MARK
from dbt_graft.collectors.statements.text.tokens import Token, keywords, word_at
from dbt_graft.lineage.dates.date_ranges import DateRange, Place, begin_of_unit, date_range, unit
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.frozen import frozen

_NOW = keywords(
    "GETDATE SYSDATETIME GETUTCDATE SYSUTCDATETIME SYSDATETIMEOFFSET CURRENT_TIMESTAMP"
    " CURRENT_DATE NOW"
)
# The clocks among them that do not depend on the server's time zone.
_UTC_NOW = keywords("GETUTCDATE SYSUTCDATETIME")
_CASTS = keywords("CAST TRY_CAST")
_CONVERTS = keywords("CONVERT TRY_CONVERT")
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
_MARK = re.compile(rf"{VALUE_MARK}(?P<number>\d+)__", re.IGNORECASE)
_LIST = re.compile(rf"{LIST_MARK}(?P<number>\d+)__", re.IGNORECASE)
_ITEM = re.compile(r"[Nn]?'(?:[^']|'')*'|[^\s,()']+")
_NUMBER = re.compile(r"[-+]?\d{1,5}")
_PARTS = 3
_MOST_MONTHS = 12 * 200


@frozen
class DateExpression:
    """An expression whose value is a date.

    Attributes:
        literal: The number of the literal, or of a list of them.
        place: Of a list that is cut into rows: its place in a row, and the length of a row.
        variable: A parameter or variable, in lower case.
        now: The beginning of the statement, on the server's clock or, with `is_utc`, in UTC.
        is_date: A time of day is cut off.
        of: The expression that is shifted.
        days, months: The length of one step; `steps` is the number of the literal that counts them,
            `sign` its sign.
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

    @property
    def variables(self) -> frozenset[str]:
        """The parameters that its value depends on."""
        inner = self.of.variables if self.of else frozenset()
        return inner | {self.variable} if self.variable else inner

    @property
    def numbers(self) -> frozenset[int]:
        """The literals that its value depends on."""
        inner = self.of.numbers if self.of else frozenset()
        return inner | {number for number in (self.literal, self.steps) if number is not None}

    @property
    def is_relative(self) -> bool:
        """Whether its value depends on the time of the statement."""
        return self.now or bool(self.of and self.of.is_relative)


@frozen
class DateValues:
    """The values that expressions are worked out from.

    Attributes:
        literals: As written, by number.
        parameters: As written, by name.
        now: The beginning of the statement on the server's clock.
        utc_now: The same in UTC.
    """

    literals: Mapping[int, str] = field(default_factory=dict)
    parameters: Mapping[str, str] | None = None
    now: datetime | None = None
    utc_now: datetime | None = None


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
    listed = _LIST.fullmatch(word_at(tokens, at + 2)) if after == "(" else None
    if listed and word == "DATEFROMPARTS":
        return DateExpression(literal=int(listed["number"]), variable=""), at + 4
    if after == "(" and word in _CASTS:
        return _read_cast(tokens, at + 2)
    if after == "(" and word in _CONVERTS:
        return _read_convert(tokens, at + 2)
    if after == "(" and word == "DATEADD":
        return _read_shift(tokens, at + 2)
    return None


def _read_cast(tokens: Sequence[Token], at: int) -> tuple[DateExpression, int] | None:
    """`GETDATE() AS date)`"""
    parsed = read_expression(tokens, at)
    if parsed is None or word_at(tokens, parsed[1]) != "AS":
        return None
    is_date = parsed[0].is_date or word_at(tokens, parsed[1] + 1) == "DATE"
    return replace(parsed[0], is_date=is_date), _place_behind(tokens, parsed[1])


def _read_convert(tokens: Sequence[Token], at: int) -> tuple[DateExpression, int] | None:
    """`date, GETDATE())`, `varchar(10), @d, 120)`"""
    is_date = word_at(tokens, at) == "DATE"
    while word_at(tokens, at) not in (",", ""):
        at = _place_behind(tokens, at + 1) if word_at(tokens, at) == "(" else at + 1
    parsed = read_expression(tokens, at + 1)
    if parsed is None:
        return None
    is_date = is_date or parsed[0].is_date
    return replace(parsed[0], is_date=is_date), _place_behind(tokens, parsed[1])


def _read_shift(tokens: Sequence[Token], at: int) -> tuple[DateExpression, int] | None:
    """`day, -1, GETDATE())`"""
    part = word_at(tokens, at)
    sign = -1 if word_at(tokens, at + 2) == "-" else 1
    position = at + 2 + (word_at(tokens, at + 2) in ("-", "+"))
    steps = _mark(tokens, position)
    is_known = part in _UNITS or part in _MONTHS
    if not is_known or steps is None or word_at(tokens, position + 1) != ",":
        return None
    parsed = read_expression(tokens, position + 2)
    if parsed is None or word_at(tokens, parsed[1]) != ")":
        return None
    days, months = _UNITS.get(part, 0), _MONTHS.get(part, 0)
    shifted = DateExpression(of=parsed[0], days=days, months=months, steps=steps, sign=sign)
    return shifted, parsed[1] + 1


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


def dates_of(expression: DateExpression, values: DateValues) -> tuple[DateRange, ...]:
    """The days of an expression; empty where one of its values is no date."""
    dates = _timed_dates(expression, values)
    if expression.is_date:
        return tuple(replace(day, place=Place.BEGINNING) for day in dates)
    return dates


def _timed_dates(expression: DateExpression, values: DateValues) -> tuple[DateRange, ...]:
    if expression.now:
        now = values.utc_now if expression.is_utc else values.now
        if now is None:
            return ()
        return (replace(unit(begin_of_unit(now, Grain.DAY), Grain.DAY), place=Place.INSIDE),)
    if expression.variable:
        text = (values.parameters or {}).get(expression.variable, "")
        return _days([text]) if text else ()
    if expression.literal is not None:
        text = _literal(values, expression.literal)
        if text.startswith("("):
            items = _ITEM.findall(text)
            if expression.place:
                place, length = expression.place
                return _days(items[place::length]) if len(items) % length == 0 else ()
            if expression.is_list:
                return _days(items)
            parts = [item.zfill(2) for item in items]
            return _days(["-".join(parts)]) if len(parts) == _PARTS else ()
        return _days([text])
    shifted = dates_of(expression.of, values) if expression.of else ()
    count = _NUMBER.fullmatch(_literal(values, expression.steps or 0))
    if len(shifted) != 1 or not count or shifted[0].start is None:
        return ()
    days = _move_date(shifted[0].start, expression, expression.sign * int(count[0]))
    return tuple(replace(day, place=shifted[0].place) for day in days)


def _move_date(start: datetime, expression: DateExpression, steps: int) -> tuple[DateRange, ...]:
    months = start.month - 1 + expression.months * steps
    if abs(expression.months * steps) > _MOST_MONTHS:
        return ()
    try:
        last = start.replace(year=start.year + months // 12, month=months % 12 + 1)
        return (unit(last + timedelta(days=expression.days * steps), Grain.DAY),)
    except (ValueError, OverflowError):
        return ()  # the 31st of June


def without_others(rows: str, columns: tuple[Container[int], int]) -> str:
    """The literals of rows with 0 for those that are not in some columns.

    Args:
        columns: The places of the columns, and the length of a row.
    """
    places, length = columns
    items = enumerate(_ITEM.findall(rows))
    return f"({','.join(item if at % length in places else '0' for at, item in items)})"


def _literal(values: DateValues, number: int) -> str:
    return values.literals.get(number, "")


def _days(texts: Sequence[str]) -> tuple[DateRange, ...]:
    """The units that texts name; days at finest."""
    ranges = [date_range(text.removeprefix("N").removeprefix("n")) for text in texts]
    days = tuple(day for day in ranges if day and day.grain is not Grain.HOUR)
    return days if len(days) == len(ranges) else ()


# -- variables of a batch that are dates


def variables_of(tokens: Sequence[Token]) -> dict[str, DateExpression]:
    """The variables to which a batch assigns one date: `DECLARE @d date = '2026-11-01'`."""
    variables: dict[str, DateExpression] = {}
    twice: set[str] = set()
    for at, token in enumerate(tokens):
        if not token.word.startswith("@") or at + 1 >= len(tokens):
            continue
        before = tokens[at - 1].word if at else ""
        if before not in ("DECLARE", "SET", "SELECT", ","):
            continue
        name, position = token.word.casefold(), at + 1
        if tokens[position].word == "AS":
            position += 1
        if tokens[position].word != "=" and position + 1 < len(tokens):
            position += 1
            if position < len(tokens) and tokens[position].word == "(":
                position += 3  # datetime2(7), with the number as a list
        if position < len(tokens) and tokens[position].word == "=":
            if name in variables or name in twice:
                twice.add(name)
                variables.pop(name, None)
            elif value := read_expression(tokens, position + 1):
                variables[name] = value[0]
            else:
                twice.add(name)
    return variables


def assign_value(value: DateExpression, variables: Mapping[str, DateExpression]) -> DateExpression:
    """An expression with what a batch assigned to its variable, itself not a variable again."""
    if value.of:
        return replace(value, of=assign_value(value.of, variables))
    expression = variables.get(value.variable) if value.variable else None
    return expression if expression and not expression.variables else value
