"""The dates in texts of one shape: found where they stand once, then taken from each text.

`find_dates` looks at a text with the words `__value7__` in the place of its literals: nothing but
the literals that a condition compares a column with can come out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from sqlglot.errors import TokenError

from dbt_graft.collectors.statements.periods.conditions import table_mentions
from dbt_graft.collectors.statements.periods.expressions import (
    DateExpression,
    DateValues,
    dates_of,
)
from dbt_graft.collectors.statements.periods.mentions import DateCondition, TableMention
from dbt_graft.collectors.statements.periods.variables import assign_value, variables_of
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.fingerprint import literals, mark_literals
from dbt_graft.collectors.statements.text.length import LONGEST
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.collectors.statements.text.split import split
from dbt_graft.collectors.statements.text.tokens import tokenise
from dbt_graft.lineage.dates.date_columns import is_personal, name_grain
from dbt_graft.lineage.dates.date_ranges import DateRange, comparison_range, intersection
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.dates.period_union import union

# Most texts have none of these, and need no more.
_HINT = re.compile(
    r"'\s*(?:19|20)\d\d[-/.]?\d\d|(?:GET|SYS|CURRENT_)\w*(?:DATE|TIME)"
    r"|\b(?:19|20)\d{6}\b|DATEFROMPARTS|@\w",
    re.IGNORECASE,
)
_LIMITS = re.compile(r"\bWHERE\b|\bON\b", re.IGNORECASE)
_LONGEST = min(LONGEST, 200_000)


@dataclass(frozen=True, slots=True)
class TextDate:
    """Dates of a column in the conditions of a text.

    Attributes:
        table: As written, in lower case, dotted.
        changes: Rows of the table are deleted or updated; else they are read.
        sure: The condition is on a column of this table; else on one of those beside it.
        after: The condition is `>` on the day before `start`, whose later hours may be meant.
    """

    table: str
    changes: bool
    column: str
    start: datetime | None
    end: datetime | None
    grain: str
    sure: bool = True
    after: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class DateShape:
    """The tables of texts of one shape whose conditions on dates are known.

    Attributes:
        numbers: The literals that dates depend on.
        variables: The parameters that dates depend on.
        is_relative: Dates depend on the time of the statement.
    """

    tables: tuple[tuple[Name, bool, bool, tuple[DateCondition, ...]], ...]
    numbers: tuple[int, ...]
    variables: frozenset[str]
    is_relative: bool

    def dates(self, values: DateValues) -> tuple[TextDate, ...]:
        """The dates in one text."""
        by_table = (_dates(*table, values) for table in self.tables)
        return merge_dates(date for dates in by_table for date in dates)


def find_dates(text: str) -> DateShape | None:
    """The places of the dates in a text's conditions; None where it has none.

    Args:
        text: A T-SQL text, unwrapped.
    """
    if len(text) > _LONGEST or not (_LIMITS.search(text) and _HINT.search(text)):
        return None
    try:
        return _date_shape(text)
    except (TokenError, RecursionError):  # brackets in brackets in brackets
        return None


def _date_shape(text: str) -> DateShape | None:
    tokens = tokenise(mark_literals(text), Dialect.TSQL)
    variables = variables_of(tokens)
    mentions = [
        mention
        for statement in split(tokens, Dialect.TSQL)
        for mention in table_mentions(statement)
    ]
    values = DateValues(dict(enumerate(literals(text))))
    without = {_key(mention) for mention in mentions if not _candidates(mention, variables, values)}
    tables = tuple(
        (mention.name, mention.changes, mention.sure, conditions)
        for mention in mentions
        if _key(mention) not in without and (conditions := _candidates(mention, variables, values))
    )
    if not tables:
        return None
    used = [
        value for *_, conditions in tables for condition in conditions for value in condition.values
    ]
    return DateShape(
        tables,
        tuple(sorted({number for value in used for number in value.numbers})),
        frozenset(name for value in used for name in value.variables),
        any(value.is_relative for value in used),
    )


def _key(mention: TableMention) -> tuple[str, bool]:
    return mention.name[-1].casefold(), mention.changes


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
        if by_name or all(dates_of(v, values) or v.is_relative or v.variables for v in expressions):
            candidates.append(replace(condition, values=expressions))
    return tuple(candidates)


def _dates(
    name: Name, changes: bool, sure: bool, conditions: Iterable[DateCondition], values: DateValues
) -> Iterator[TextDate]:
    by_column: dict[str, list[DateCondition]] = {}
    for condition in conditions:
        by_column.setdefault(condition.column.casefold(), []).append(condition)
    table = ".".join(filter(None, name)).casefold()
    for column_conditions in by_column.values():
        ranges: tuple[DateRange, ...] | None = None
        after = False
        for condition in column_conditions:
            new_ranges = _ranges(condition, values)
            if new_ranges is None:
                continue
            after = after or condition.operator == ">"
            ranges = (
                new_ranges
                if ranges is None
                else tuple(
                    overlap for a in ranges for b in new_ranges if (overlap := intersection(a, b))
                )
            )
        # None of its values is a date: all dates may be meant.
        for dates in (DateRange(None, None, Grain.DAY),) if ranges is None else ranges:
            yield TextDate(
                table,
                changes,
                condition.column,
                dates.start,
                dates.end,
                dates.grain.value,
                sure,
                after and dates.start is not None,
            )


def _ranges(condition: DateCondition, values: DateValues) -> tuple[DateRange, ...] | None:
    """The dates for which a condition holds; None where its value is not known."""
    each = [dates_of(value, values) for value in condition.values]
    if not all(each):
        return None
    if condition.operator == "BETWEEN":
        first, last = each[0][0], each[1][0]
        low, high = comparison_range(">=", first), comparison_range("<=", last)
        overlap = intersection(low, high) if low and high else None
        return (overlap,) if overlap else ()
    ranges = (comparison_range(condition.operator, dates) for dates in each[0])
    return tuple(dates for dates in ranges if dates)


def merge_dates(dates: Iterable[TextDate]) -> tuple[TextDate, ...]:
    """The dates of each table and column, sorted, without overlaps."""
    grouped: dict[tuple[str, bool, str, bool], list[TextDate]] = {}
    for date in dates:
        grouped.setdefault((date.table, date.changes, date.column, date.sure), []).append(date)
    merged: list[TextDate] = []
    for key in sorted(grouped):
        each = grouped[key]
        if len(each) == 1:
            merged += each
            continue
        periods = [Period(o.start, o.end, Grain(o.grain), PeriodEvidence.PREDICATE) for o in each]
        after = any(date.after for date in each)
        table, changes, column, sure = key
        merged += [
            TextDate(table, changes, column, p.start, p.end, p.grain.value, sure, after)
            for p in union(periods) or (Period(None, None, Grain.DAY, PeriodEvidence.PREDICATE),)
        ]
    return tuple(merged)


def add_dates(a: tuple[TextDate, ...], b: tuple[TextDate, ...]) -> tuple[TextDate, ...]:
    """The dates of two texts of one shape."""
    if not b or a == b or all(date in a for date in b):
        return a
    return merge_dates((*a, *b))
