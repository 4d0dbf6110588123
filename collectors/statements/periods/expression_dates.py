"""Date expressions -> their dates, from the literals and parameters of one text."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta

from dbt_graft.collectors.statements.periods.expressions import DateExpression
from dbt_graft.lineage.dates.date_ranges import (
    DateRange,
    Place,
    begin_of_unit,
    date_range,
    next_unit,
    unit,
)
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.frozen import frozen

# The length and style of a date's text that is cut off behind its month.
_CUT_TO_MONTHS = {
    ("6", "112"),
    *(("7", style) for style in ("23", "102", "111", "120", "121", "126")),
}
# In characters, of a date as text.
_LONG_ENOUGH = 8
# The first day of SQL Server's time.
_ZEROS = frozenset({"0", "'19000101'", "'1900-01-01'"})
_ITEM = re.compile(r"[Nn]?'(?:[^']|'')*'|[^\s,()']+")
_NUMBER = re.compile(r"[-+]?\d{1,5}")
_PARTS = 3
_MOST_MONTHS = 12 * 200


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
        return _literal_dates(expression, _literal(values, expression.literal))
    inner = dates_of(expression.of, values) if expression.of else ()
    if len(inner) != 1 or inner[0].start is None:
        return ()
    if not all(_is_constant(_literal(values, at), text) for at, text in expression.constants):
        return ()
    if expression.cut:
        return _cut_date(inner[0], *(_literal(values, at) for at in expression.cut))
    if expression.begin_of:
        return _unit_day(inner[0].start, expression.begin_of, is_end=expression.is_end)
    count = _NUMBER.fullmatch(_literal(values, expression.steps))
    days = _move_date(inner[0].start, expression, expression.sign * int(count[0])) if count else ()
    return tuple(replace(day, place=inner[0].place) for day in days)


def _literal_dates(expression: DateExpression, text: str) -> tuple[DateRange, ...]:
    if not text.startswith("("):
        return _days([text])
    items = _ITEM.findall(text)
    if expression.place:
        place, length = expression.place
        return _days(items[place::length]) if len(items) % length == 0 else ()
    if expression.is_list:
        return _days(items)
    parts = [item.zfill(2) for item in items]
    return _days(["-".join(parts)]) if len(parts) == _PARTS else ()


def _is_constant(literal: str, text: str) -> bool:
    return literal == text or (text == "0" and literal in _ZEROS)


def _unit_day(at: datetime, grain: Grain, *, is_end: bool) -> tuple[DateRange, ...]:
    """The first or the last day of a unit."""
    start = begin_of_unit(at, grain)
    day = next_unit(start, grain) - timedelta(days=1) if is_end else start
    return (unit(day, Grain.DAY),)


def _cut_date(dates: DateRange, length: str, style: str) -> tuple[DateRange, ...]:
    """The date that is left of its text in some characters."""
    characters = length.strip("()")
    if not characters.isdecimal() or int(characters) >= _LONG_ENOUGH:
        return (dates,)
    if dates.start and (characters, style) in _CUT_TO_MONTHS:
        return (unit(begin_of_unit(dates.start, Grain.MONTH), Grain.MONTH),)
    return ()


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


def _literal(values: DateValues, number: int | None) -> str:
    return values.literals.get(number, "") if number is not None else ""


def _days(texts: Sequence[str]) -> tuple[DateRange, ...]:
    """The units that texts name; days at finest."""
    ranges = [date_range(text.removeprefix("N").removeprefix("n")) for text in texts]
    days = tuple(day for day in ranges if day and day.grain is not Grain.HOUR)
    return days if len(days) == len(ranges) else ()
