"""The tables of T-SQL statements with the conditions on their dates, in place of their literals.

Only what limits rows for certain counts: parts of WHERE and of inner joins that are joined by AND,
and what all rows of an INSERT have in a column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType

from dbt_graft.collectors.statements.periods.expressions import (
    DateExpression,
    list_number,
    read_expression,
)
from dbt_graft.collectors.statements.periods.insertions import Row, insertions
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name, name_at
from dbt_graft.collectors.statements.text.tokens import Token, closings, keywords
from dbt_graft.lineage.frozen import frozen


@frozen
class DateCondition:
    """A comparison of a column with dates.

    Attributes:
        qualifier: The table or alias before the column; empty without one.
        values: The right side: of BETWEEN both ends, of `=` any of them; none where nothing tells
            what an INSERT writes.
        is_date: The column's time of day is cut off.
    """

    qualifier: str
    column: str
    operator: str
    values: tuple[DateExpression, ...]
    is_date: bool = False


@dataclass(slots=True)
class TableMention:
    """A table where a statement names it.

    Attributes:
        changes: Its rows are deleted or updated.
        adds: Rows are inserted into it; its conditions are those that hold for all of them.
        removes: They are deleted.
        is_limited: Something else than the conditions limits which ones: a join, TOP, OR.
        sure: The conditions are on this table; else on one of those beside it that has the column.
    """

    name: Name
    alias: str = ""
    changes: bool = False
    adds: bool = False
    removes: bool = False
    is_limited: bool = False
    sure: bool = True
    conditions: list[DateCondition] = field(default_factory=list)

    def is_called(self, qualifier: str) -> bool:
        """Whether a column's qualifier means it."""
        return qualifier.casefold() in (self.alias, "" if self.alias else self.name[-1].casefold())


_COMPARES = keywords("= > >= < <=")
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
_BEGINS_QUERY = frozenset({"SELECT", "WITH"})
_SETS = frozenset({"UNION", "EXCEPT", "INTERSECT"})
_BEFORE_TABLE = frozenset({"FROM", "JOIN", "USING", "APPLY"})
_ENDS_CONDITION = keywords(
    "GROUP ORDER HAVING WINDOW OPTION LIMIT JOIN LEFT RIGHT FULL INNER CROSS OUTER WHEN SET OUTPUT"
    " WHERE SELECT FROM UNION EXCEPT INTERSECT INTO VALUES"
)
_NO_ALIAS = _ENDS_CONDITION | keywords("ON WITH AND OR USING FOR TABLESAMPLE PIVOT UNPIVOT APPLY")
_OUTER = frozenset({"LEFT", "RIGHT", "FULL"})
_CHANGES = frozenset({"DELETE", "UPDATE", "MERGE"})
# What is behind NOT begins no comparison.
_LEFT_OUT = frozenset({"OR", "CASE"})


def table_mentions(tokens: list[Token]) -> Iterator[TableMention]:
    """The tables of a statement with their conditions on dates."""
    closes = closings(tokens)
    scopes = [(0, len(tokens))]
    while scopes:
        begin, end = scopes.pop()
        reader = _Scope(tokens, closes, begin, end)
        reader.read()
        scopes += reader.inner
        yield from reader.mentions()


# Temporary table -> the conditions that all of its rows meet.
Temporary = Mapping[str, Sequence[DateCondition]]


def inserting_mentions(
    tokens: list[Token], temporary: Temporary = MappingProxyType({})
) -> Iterator[TableMention]:
    """The tables that a statement inserts into, with the conditions that their new rows meet.

    Args:
        temporary: The conditions that the rows of temporary tables meet.
    """
    closes = closings(tokens)
    for insertion in insertions(tokens, closes):
        by_row = [
            list(_new_conditions(_query(tokens, closes, row), row, insertion.columns, temporary))
            for row in insertion.rows
        ]
        conditions = (
            [
                condition
                for column, *each in zip(insertion.columns, *by_row, strict=True)
                for condition in _of_all_rows(column, each)
            ]
            if by_row
            else []
        )
        is_dated = any(condition.values for condition in conditions)
        yield TableMention(insertion.table, adds=True, conditions=conditions if is_dated else [])


def _query(tokens: list[Token], closes: dict[int, int], row: Row) -> _Scope:
    scope = _Scope(tokens, closes, row.query or 0, len(tokens))
    if row.query is not None:
        scope.read()
    return scope


def _new_conditions(
    query: _Scope, row: Row, columns: Sequence[str], temporary: Temporary
) -> Iterator[list[DateCondition]]:
    """The conditions that each value of a row meets."""
    for column, value in zip(columns, row.values, strict=True):
        if isinstance(value, DateExpression):
            yield [DateCondition("", column, "=", (value,))]
        elif value is None:
            yield []
        else:
            qualifier = value[-2].casefold() if len(value) > 1 else ""
            tables = [t for t in query.tables if not qualifier or t.is_called(qualifier)]
            filled = temporary.get(tables[0].name[-1].casefold(), ()) if len(tables) == 1 else ()
            yield [
                replace(condition, qualifier="", column=column)
                for condition in (*query.conditions, *filled)
                if condition.column.casefold() == value[-1].casefold()
                and condition.qualifier.casefold() in (qualifier, "")
                and condition.values
            ]


def _of_all_rows(column: str, by_row: Sequence[list[DateCondition]]) -> list[DateCondition]:
    """The conditions that all rows meet; one without values where nothing is known of some."""
    if len(by_row) == 1 and by_row[0]:
        return by_row[0]
    values = [row[0].values for row in by_row if len(row) == 1 and row[0].operator == "="]
    is_known = len(values) == len(by_row) > 0
    return [
        DateCondition("", column, "=", tuple(dict.fromkeys(chain(*values))) if is_known else ())
    ]


class _Scope:
    """One query of a statement, without those inside of it."""

    def __init__(self, tokens: list[Token], closes: dict[int, int], begin: int, end: int) -> None:
        self.tokens, self.closes, self.at, self.end = tokens, closes, begin, end
        self.inner: list[tuple[int, int]] = []
        self.tables: list[TableMention] = []
        self.conditions: list[DateCondition] = []
        self.removes = self.is_limited = self.is_outer = False
        self.added: TableMention | None = None  # by a LEFT JOIN

    def word(self, at: int) -> str:
        return self.tokens[at].word if at < self.end else ""

    def read(self) -> None:
        """Go through the tokens up to the end, or to the next query of a UNION."""
        in_from = False
        while self.at < self.end:
            word = self.word(self.at)
            if word == "(":
                self._bracket(in_from)
            elif word in _SETS:
                skip = 2 if self.word(self.at + 1) in ("ALL", "DISTINCT") else 1
                self.inner.append((self.at + skip, self.end))
                return
            elif word in _CHANGES and not self.tables:
                self._changed_table()
            elif word == "INTO":
                target = name_at(self.tokens, self.at + 1, Dialect.TSQL)
                self.at = target.end if target else self.at + 1
            elif word in _BEFORE_TABLE or (word == "," and in_from):
                in_from = True
                self._joined_table()
            elif word in ("WHERE", "ON"):
                in_from = in_from and word == "ON"
                end = self._end_of_condition(self.at + 1)
                if word == "ON" and self.is_outer:
                    self._outer_condition(end)
                else:
                    self._condition(self.at + 1, end)
                self.at = end
            else:
                in_from = in_from and word not in ("SELECT", "GROUP", "ORDER", "HAVING", "SET")
                self.at += 1

    def _joined_table(self) -> None:
        before = [self.word(at) for at in range(max(self.at - 2, 0), self.at)]
        self.is_outer = not _OUTER.isdisjoint(before)
        tables = len(self.tables)
        self.at += 1
        self._table()
        is_left = self.is_outer and "LEFT" in before and len(self.tables) > tables
        self.added = self.tables[-1] if is_left else None

    def _outer_condition(self, end: int) -> None:
        """That of a LEFT JOIN chooses rows of the table that it adds, and of no other."""
        conditions, self.conditions = self.conditions, []
        self._condition(self.at + 1, end, counts=self.added is not None)
        if self.added:
            self.added.conditions += [
                condition
                for condition in self.conditions
                if condition.qualifier and self.added.is_called(condition.qualifier)
            ]
        self.conditions, self.is_limited = conditions, True

    def _bracket(self, in_from: bool) -> None:
        close = min(self.closes.get(self.at, self.end), self.end)
        inside = self.at + 1
        while self.word(inside) == "(":
            inside += 1
        if self.word(inside) in _BEGINS_QUERY:
            self.inner.append((inside, close))
            self.at = close + 1
        else:
            # `FROM (a JOIN b ON …)` is read on; anything else may hold queries deeper inside.
            if not in_from:
                self._queries_in(self.at + 1, close)
            self.at = self.at + 1 if in_from else close + 1

    def _queries_in(self, begin: int, end: int) -> None:
        at = begin
        while at < end:
            if self.word(at) == "(" and self.word(at + 1) in _BEGINS_QUERY:
                self.inner.append((at + 1, min(self.closes.get(at, end), end)))
                at = self.closes.get(at, end)
            at += 1

    def _changed_table(self) -> None:
        """`DELETE TOP (5) FROM t`, `UPDATE t SET`, `MERGE INTO t AS x USING`"""
        self.removes = self.word(self.at) == "DELETE"
        self.at += 1
        if self.word(self.at) == "TOP":
            self.is_limited = True
            opens = self.at + 1
            self.at = self.closes.get(opens, opens) + 1
        if self.word(self.at) in ("FROM", "INTO"):
            self.at += 1
        before = len(self.tables)
        self._table()
        for table in self.tables[before:]:
            table.changes = True

    def _table(self) -> None:
        name = name_at(self.tokens, self.at, Dialect.TSQL)
        if name is None:
            return
        self.at = name.end
        if self.word(self.at) == "(":
            self.at = self.closes.get(self.at, self.end) + 1  # a function's arguments
        if self.word(self.at) == "WITH":
            opens = self.at + 1
            self.at = self.closes.get(opens, opens) + 1
        alias = ""
        if self.word(self.at) == "AS":
            self.at += 1
        token = self.tokens[self.at] if self.at < self.end else None
        if token and token.is_name and token.word not in _NO_ALIAS:
            alias = token.text.casefold()
            self.at += 1
        self.tables.append(TableMention(name.name, alias))

    def _end_of_condition(self, at: int) -> int:
        while at < self.end and self.word(at) not in _ENDS_CONDITION and self.word(at) != ",":
            at = self.closes.get(at, at) + 1 if self.word(at) == "(" else at + 1
        return min(at, self.end)

    def _condition(self, begin: int, end: int, *, counts: bool = True) -> None:
        """Take the comparisons that are joined by AND; brackets around some of them are opened."""
        at, words = begin, []
        while at < end:
            words.append(self.word(at))
            at = self.closes.get(at, at) + 1 if self.word(at) == "(" else at + 1
        if counts and "OR" in words and (either := self._alternatives(begin, end)):
            self.conditions.append(either)
            return
        counts = counts and not _LEFT_OUT.intersection(words)
        self.is_limited |= not counts
        at = begin
        while at < end:
            if counts and (comparison := self._comparison(at)):
                condition, at = comparison
                self.conditions.append(condition)
            elif self.word(at) == "(":
                close = min(self.closes.get(at, end), end)
                is_query = self.word(at + 1) in _BEGINS_QUERY
                if counts and (at == begin or self.word(at - 1) == "AND") and not is_query:
                    self._condition(at + 1, close)
                else:
                    self.is_limited = True
                    if is_query:
                        self.inner.append((at + 1, close))
                    else:
                        self._queries_in(at + 1, close)
                at = close + 1
            else:
                self.is_limited |= self.word(at) not in ("AND", ";")
                at += 1

    def _alternatives(self, begin: int, end: int) -> DateCondition | None:
        """`day = '2026-11-01' OR day = @d`: one of several dates, of one column."""
        conditions: list[DateCondition] = []
        at = begin
        while comparison := self._comparison(at):
            conditions.append(comparison[0])
            at = comparison[1]
            if at == end or self.word(at) != "OR":
                break
            at += 1
        values = tuple(value for condition in conditions for value in condition.values)
        same = {replace(condition, values=()) for condition in conditions}
        is_equal = at == end and len(same) == 1 and conditions[0].operator == "="
        return replace(conditions[0], values=values) if is_equal else None

    def _comparison(self, at: int) -> tuple[DateCondition, int] | None:
        if at and self.word(at - 1) not in ("WHERE", "ON", "AND", "OR", "("):
            return None
        named = self._column(at)
        if named is None:
            return self._reversed_comparison(at)
        qualifier, column, is_date, at = named
        operator = self.word(at)
        if operator == "IN":
            values = self._listed(at + 1)
            end = self.closes.get(at + 1, self.end) + 1
            return (DateCondition(qualifier, column, "=", values, is_date), end) if values else None
        if operator not in _COMPARES and operator != "BETWEEN":
            return None
        first = read_expression(self.tokens, at + 1)
        if first is None:
            return None
        if operator != "BETWEEN":
            return DateCondition(qualifier, column, operator, (first[0],), is_date), first[1]
        last = read_expression(self.tokens, first[1] + 1)
        if last is None or self.word(first[1]) != "AND":
            return None
        both = (first[0], last[0])
        return DateCondition(qualifier, column, operator, both, is_date), last[1]

    def _listed(self, at: int) -> tuple[DateExpression, ...]:
        """The values in brackets, literals or others; none where one of them is no date."""
        number = list_number(self.tokens, at)
        if number is not None:
            return (DateExpression(literal=number, is_list=True),)
        values: list[DateExpression] = []
        while self.word(at) in ("(", ","):
            parsed = read_expression(self.tokens, at + 1)
            if parsed is None:
                return ()
            values.append(parsed[0])
            at = parsed[1]
        return tuple(values) if self.word(at) == ")" else ()

    def _reversed_comparison(self, at: int) -> tuple[DateCondition, int] | None:
        """`@d <= day`"""
        first = read_expression(self.tokens, at)
        if first is None or self.word(first[1]) not in _MIRRORED:
            return None
        named = self._column(first[1] + 1)
        if named is None:
            return None
        operator = _MIRRORED[self.word(first[1])]
        qualifier, column, is_date, at = named
        return DateCondition(qualifier, column, operator, (first[0],), is_date), at

    def _column(self, at: int) -> tuple[str, str, bool, int] | None:
        """The qualifier and name of a column, a cast taken off, and the place after it.

        The third value says whether the cast takes off the time of day.
        """
        if self.word(at) in ("CAST", "TRY_CAST") and self.word(at + 1) == "(":
            inside, close = self._column(at + 2), self.closes.get(at + 1, self.end)
            if inside is None or self.word(inside[3]) != "AS":
                return None
            return *inside[:2], self.word(inside[3] + 1) == "DATE", close + 1
        if self.word(at) in ("CONVERT", "TRY_CONVERT") and self.word(at + 3) == ",":
            inside, close = self._column(at + 4), self.closes.get(at + 1, self.end)
            return (*inside[:2], self.word(at + 2) == "DATE", close + 1) if inside else None
        name = name_at(self.tokens, at, Dialect.TSQL)
        if name is None or name.name[-1].startswith(("@", "__value", "__list")):
            return None
        if self.word(name.end) == "(":
            return None
        qualifier = name.name[-2] if len(name.name) > 1 else ""
        return qualifier, name.name[-1], False, name.end

    def mentions(self) -> Iterator[TableMention]:
        """The tables with the conditions on each."""
        targets = [table for table in self.tables if table.changes]
        is_limited = self.is_limited or len(self.tables) > 1 + len(targets)
        for target in targets:
            named = [
                table
                for table in self.tables
                if table is not target
                and len(target.name) == 1
                and table.is_called(target.name[-1])
            ]
            if named:  # DELETE o FROM orders AS o
                named[0].changes = True
                self.tables.remove(target)
        for condition in self.conditions:
            for table in self.tables:
                if not condition.qualifier or table.is_called(condition.qualifier):
                    table.conditions.append(condition)
                    table.sure = table.sure and (bool(condition.qualifier) or len(self.tables) == 1)
        for table in self.tables:
            table.removes, table.is_limited = table.changes and self.removes, is_limited
        yield from self.tables
