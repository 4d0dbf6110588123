"""The dates in texts of one shape: found where they stand once, then taken from each text.

`find_dates` looks at a text with the words `__value7__` in the place of its literals: nothing but
the literals that a condition compares a column with, or that an INSERT writes, can come out.

A table that stands in a statement without a condition makes the statement read all of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import chain

from sqlglot.errors import TokenError

from dbt_graft.collectors.statements.periods.batch_variables import assign_value, variables_of
from dbt_graft.collectors.statements.periods.conditions import (
    DateCondition,
    TableMention,
    inserting_mentions,
    table_mentions,
)
from dbt_graft.collectors.statements.periods.expression_dates import (
    DateValues,
    dates_of,
    without_others,
)
from dbt_graft.collectors.statements.periods.expressions import DateExpression
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.fingerprint import literals, mark_literals
from dbt_graft.collectors.statements.text.length import LONGEST
from dbt_graft.collectors.statements.text.split import split
from dbt_graft.collectors.statements.text.tokens import tokenise
from dbt_graft.lineage.dates.date_columns import is_personal, name_grain
from dbt_graft.lineage.dates.date_conditions import comparison_ranges, intersection, known_extents
from dbt_graft.lineage.dates.date_ranges import DateRange, Extent
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.dates.period_union import union
from dbt_graft.lineage.frozen import frozen

# Most texts have none of these, and need no more.
_HINT = re.compile(
    r"'\s*(?:19|20)\d\d[-/.]?\d\d|(?:GET|SYS|CURRENT_)\w*(?:DATE|TIME)"
    r"|\b(?:19|20)\d{6}\b|DATEFROMPARTS|@\w",
    re.IGNORECASE,
)
_LIMITS = re.compile(r"\b(?:WHERE|ON|INSERT|INTO)\b", re.IGNORECASE)
_LONGEST = min(LONGEST, 200_000)


@frozen
class TextDate:
    """Dates of a column in the conditions of a text.

    Attributes:
        changes: Rows of the table are deleted or updated.
        adds: Rows are inserted; else, where they are not changed either, they are read.
        sure: The condition is on a column of this table; else on one of those beside it.
        extent: The part of each unit.
    """

    table: str
    changes: bool
    column: str
    start: datetime | None
    end: datetime | None
    grain: str
    sure: bool = True
    extent: Extent = Extent.ALL
    adds: bool = False

    @property
    def range(self) -> DateRange:
        """The dates."""
        return DateRange(self.start, self.end, Grain(self.grain), extent=self.extent)


@dataclass(frozen=True, eq=False)
class DateShape:
    """The tables of texts of one shape whose conditions on dates are known.

    Attributes:
        is_relative: Dates depend on the time of the statement.
    """

    tables: tuple[tuple[TableMention, tuple[DateCondition, ...]], ...]
    numbers: tuple[int, ...]
    variables: frozenset[str]
    is_relative: bool

    def dated_literals(self, literals: tuple[str, ...]) -> tuple[str, ...]:
        """The literals that dates depend on, of rows of VALUES those in columns of dates alone.

        Texts that differ in nothing else have one answer.
        """
        if not self._columns:
            return literals
        return tuple(
            without_others(text, self._columns[number]) if number in self._columns else text
            for number, text in zip(self.numbers, literals, strict=True)
        )

    @cached_property
    def _columns(self) -> dict[int, tuple[set[int], int]]:
        """Of literals that are rows the columns of dates, and the length of a row."""
        columns: dict[int, tuple[set[int], int]] = {}
        for _, conditions in self.tables:
            for value in (value for condition in conditions for value in condition.values):
                if value.literal is not None and value.place:
                    place, length = value.place
                    columns.setdefault(value.literal, (set(), length))[0].add(place)
        return columns

    def dates(self, values: DateValues) -> tuple[TextDate, ...]:
        """The dates in one text."""
        by_table = (_dates(*table, values) for table in self.tables)
        return merge_dates(date for dates in by_table for date in dates)


# Of a text that goes on with it, only what follows has dates.
BEGIN = "DECLARE @graft_begins_here int"
_BEGIN = BEGIN.split()[1].upper()


def find_dates(text: str) -> DateShape | None:
    """The places of the dates in a text's conditions; None where it has none."""
    if len(text) > _LONGEST or not (_LIMITS.search(text) and _HINT.search(text)):
        return None
    try:
        return _date_shape(text)
    except (TokenError, RecursionError):  # brackets in brackets in brackets
        return None


def _date_shape(text: str) -> DateShape | None:
    tokens = tokenise(mark_literals(text), Dialect.TSQL)
    variables = variables_of(tokens)
    mentions: list[TableMention] = []
    temporary: dict[str, list[DateCondition]] = {}
    for statement in split(tokens, Dialect.TSQL):
        if len(statement) > 1 and statement[1].word == _BEGIN:
            mentions = []
        changing = list(table_mentions(statement))
        mentions += changing
        for mention in changing:
            if mention.changes and not mention.removes:
                temporary.pop(mention.name[-1].casefold(), None)
        for mention in inserting_mentions(statement, temporary):
            mentions.append(mention)
            name = mention.name[-1].casefold()
            if name.startswith(("#", "@")):
                temporary[name] = [] if name in temporary else mention.conditions
    values = DateValues(dict(enumerate(literals(text))))
    without = {_key(mention) for mention in mentions if not _candidates(mention, variables, values)}
    tables = tuple(
        (mention, conditions)
        for mention in mentions
        if _key(mention) not in without and (conditions := _candidates(mention, variables, values))
    )
    if not tables:
        return None
    used = [
        value for _, conditions in tables for condition in conditions for value in condition.values
    ]
    return DateShape(
        tables,
        tuple(sorted({number for value in used for number in value.numbers})),
        frozenset(name for value in used for name in value.variables),
        any(value.is_relative for value in used),
    )


def _key(mention: TableMention) -> tuple[str, bool, bool]:
    return mention.name[-1].casefold(), mention.changes, mention.adds


def _candidates(
    mention: TableMention, variables: dict[str, DateExpression], values: DateValues
) -> tuple[DateCondition, ...]:
    """The conditions on columns that are date columns by name, or are compared with a date here."""
    candidates = []
    for condition in mention.conditions:
        if is_personal(condition.column):
            continue
        expressions = tuple(assign_value(value, variables) for value in condition.values)
        by_name = name_grain(condition.column) not in (None, Grain.HOUR)
        # Of an INSERT most variables are others' values.
        is_dated = [
            dates_of(v, values) or v.is_relative or (v.variables and not mention.adds)
            for v in expressions
        ]
        if by_name or (is_dated and all(is_dated)):
            candidates.append(replace(condition, values=expressions))
    return tuple(candidates)


def _dates(
    mention: TableMention, conditions: Collection[DateCondition], values: DateValues
) -> Iterator[TextDate]:
    by_column: dict[str, list[DateCondition]] = {}
    for condition in conditions:
        by_column.setdefault(condition.column.casefold(), []).append(condition)
    table = ".".join(filter(None, mention.name)).casefold()
    # Other conditions leave rows of these dates in the table.
    is_limited = len(by_column) > 1 or len(conditions) < len(mention.conditions)
    is_part = mention.removes and (mention.is_limited or is_limited)
    for column_conditions in by_column.values():
        ranges: tuple[DateRange, ...] | None = None
        for condition in column_conditions:
            new_ranges = _ranges(condition, values)
            if new_ranges is not None:
                ranges = new_ranges if ranges is None else _overlaps(ranges, new_ranges)
        # None of its values is a date: all dates may be meant.
        for dates in (DateRange(None, None, Grain.DAY),) if ranges is None else ranges:
            yield TextDate(
                table,
                mention.changes,
                condition.column,
                dates.start,
                dates.end,
                dates.grain.value,
                mention.sure,
                max(dates.extent, Extent.PART) if is_part else dates.extent,
                mention.adds,
            )


def _overlaps(a: Iterable[DateRange], b: Collection[DateRange]) -> tuple[DateRange, ...]:
    return tuple(dates for x in a for y in b if (dates := intersection(x, y)))


def _ranges(condition: DateCondition, values: DateValues) -> tuple[DateRange, ...] | None:
    """The dates for which a condition holds; None where its value is not known."""
    each = [dates_of(value, values) for value in condition.values]
    if not each or not all(each):
        return None
    if condition.operator == "BETWEEN":
        first, last = each[0][0], each[1][0]
        ranges = _overlaps(comparison_ranges(">=", first), comparison_ranges("<=", last))
    else:
        by_value = (comparison_ranges(condition.operator, dates) for dates in chain(*each))
        ranges = tuple(chain.from_iterable(by_value))
    return known_extents(ranges, has_time=False) if condition.is_date else ranges


def merge_dates(dates: Iterable[TextDate]) -> tuple[TextDate, ...]:
    """The dates of each table and column, sorted, without overlaps in one extent."""
    grouped: dict[tuple[str, bool, str, bool, Extent, bool], list[TextDate]] = {}
    for date in dates:
        key = (date.table, date.changes, date.column, date.sure, date.extent, date.adds)
        grouped.setdefault(key, []).append(date)
    merged: list[TextDate] = []
    for key in sorted(grouped):
        each = grouped[key]
        if len(each) == 1:
            merged += each
            continue
        periods = [Period(o.start, o.end, Grain(o.grain), PeriodEvidence.PREDICATE) for o in each]
        merged += [
            TextDate(*key[:3], p.start, p.end, p.grain.value, *key[3:])
            for p in union(periods) or (Period(None, None, Grain.DAY, PeriodEvidence.PREDICATE),)
        ]
    return tuple(merged)


def add_dates(a: tuple[TextDate, ...], b: tuple[TextDate, ...]) -> tuple[TextDate, ...]:
    """The dates of two texts of one shape."""
    if not b or a == b or all(date in a for date in b):
        return a
    return merge_dates((*a, *b))
