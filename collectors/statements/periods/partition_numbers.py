"""Partition numbers in texts of one shape: T-SQL names partitions by their number, not by a date.

    ALTER TABLE a SWITCH PARTITION 2 TO b PARTITION 7
    TRUNCATE TABLE a WITH (PARTITIONS (2, 4 TO 6))

As with dates, their places are found once, in a text whose literals are marked; only whole numbers
in the range of SQL Server's partitions come out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlglot.errors import TokenError

from dbt_graft.collectors.statements.periods.batch_variables import assign_value, variables_of
from dbt_graft.collectors.statements.periods.expression_dates import DateValues
from dbt_graft.collectors.statements.periods.expressions import (
    DateExpression,
    list_number,
    read_expression,
)
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.fingerprint import mark_literals
from dbt_graft.collectors.statements.text.length import LONGEST
from dbt_graft.collectors.statements.text.names import Name, name_at
from dbt_graft.collectors.statements.text.split import split
from dbt_graft.collectors.statements.text.tokens import Token, tokenise, word_at
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.operations import Operation

_HINT = re.compile(r"\bPARTITIONS?\b", re.IGNORECASE)
_VERB = re.compile(r"\b(?:SWITCH|TRUNCATE)\b", re.IGNORECASE)
_LONGEST = min(LONGEST, 200_000)
_NUMBER = re.compile(r"\d{1,5}")
_MOST_PARTITIONS = 15_000
# A table with more gaps than this between its numbers counts as one range.
_MOST = 400

# The first and the last of some partitions, equal for one; of a list both are the list.
NumberRange = tuple[DateExpression, DateExpression]


@frozen
class TextPartitions:
    """Partitions that a text switches or truncates.

    Attributes:
        operation: SWITCH or TRUNCATE.
        changes: They are written; else they are read, by a SWITCH.
        first, last: Their numbers; 0 where the text does not tell which, None where it means the
            table with all its partitions.
    """

    table: str
    operation: str
    changes: bool
    first: int | None
    last: int | None


@frozen
class _PartitionMention:
    """A table that a statement switches or truncates; `ranges` is None for all its partitions."""

    name: Name
    operation: Operation
    changes: bool
    ranges: tuple[NumberRange, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class PartitionShape:
    """The places of the partition numbers in texts of one shape."""

    mentions: tuple[_PartitionMention, ...]
    numbers: tuple[int, ...]

    def partitions(
        self, literals: tuple[str, ...], parameters: tuple[tuple[str, str], ...]
    ) -> tuple[TextPartitions, ...]:
        """The partitions in one text.

        Args:
            literals: Those that the numbers depend on.
        """
        numbered = dict(zip(self.numbers, literals, strict=True))
        values = DateValues(numbered, dict(parameters))
        return merge_partitions(
            partition
            for mention in self.mentions
            for partition in _text_partitions(mention, values)
        )


def find_partitions(text: str) -> PartitionShape | None:
    """The places of partition numbers in a text; None where it has none."""
    if len(text) > _LONGEST or not (_HINT.search(text) and _VERB.search(text)):
        return None
    try:
        tokens = tokenise(mark_literals(text), Dialect.TSQL)
        statements = list(split(tokens, Dialect.TSQL))
    except (TokenError, RecursionError):
        return None
    variables = variables_of(tokens)
    mentions = tuple(
        _PartitionMention(
            name,
            operation,
            changes,
            ranges
            and tuple((assign_value(a, variables), assign_value(b, variables)) for a, b in ranges),
        )
        for each in statements
        for name, operation, changes, ranges in _mentions(each)
    )
    if all(mention.ranges is None for mention in mentions):
        return None
    used = [end for mention in mentions for ends in mention.ranges or () for end in ends]
    return PartitionShape(mentions, tuple(sorted({n for end in used for n in end.numbers})))


_Mention = tuple[Name, Operation, bool, tuple[NumberRange, ...] | None]


def _mentions(tokens: list[Token]) -> Iterator[_Mention]:
    """The tables of a statement; their ranges are empty where they cannot be read."""
    if _words(tokens, 0, 2) == ["TRUNCATE", "TABLE"]:
        if table := name_at(tokens, 2, Dialect.TSQL):
            yield table.name, Operation.TRUNCATE, True, _read_truncate(tokens, table.end)
    elif _words(tokens, 0, 2) == ["ALTER", "TABLE"]:
        source = name_at(tokens, 2, Dialect.TSQL)
        if source is None or _words(tokens, source.end, 1) != ["SWITCH"]:
            return
        words = [token.word for token in tokens]
        to = words.index("TO", source.end) if "TO" in words[source.end :] else len(words)
        yield source.name, Operation.SWITCH, False, _read_switch(tokens, source.end + 1, ("TO",))
        if target := name_at(tokens, to + 1, Dialect.TSQL):
            ranges = _read_switch(tokens, target.end, ("", ";", "WITH"))
            yield target.name, Operation.SWITCH, True, ranges


def _read_switch(
    tokens: list[Token], at: int, behind: tuple[str, ...]
) -> tuple[NumberRange, ...] | None:
    """`PARTITION 2`"""
    if word_at(tokens, at) != "PARTITION":
        return None
    parsed = read_expression(tokens, at + 1)
    if parsed is None or word_at(tokens, parsed[1]) not in behind:
        return ()  # $PARTITION.by_day(@d), @p + 1
    return ((parsed[0], parsed[0]),)


def _read_truncate(tokens: list[Token], at: int) -> tuple[NumberRange, ...] | None:
    """`WITH (PARTITIONS (2, 4 TO 6))`"""
    if _words(tokens, at, 4) != ["WITH", "(", "PARTITIONS", "("]:
        return None
    at += 3
    listed = list_number(tokens, at)
    if listed is not None:
        return ((DateExpression(literal=listed, is_list=True),) * 2,)
    ranges: list[NumberRange] = []
    while word_at(tokens, at) in ("(", ","):
        first = read_expression(tokens, at + 1)
        last = first
        if first and word_at(tokens, first[1]) == "TO":
            last = read_expression(tokens, first[1] + 1)
        if first is None or last is None:
            return ()
        ranges.append((first[0], last[0]))
        at = last[1]
    return tuple(ranges) if word_at(tokens, at) == ")" else ()


def _words(tokens: list[Token], at: int, count: int) -> list[str]:
    return [token.word for token in tokens[at : at + count]]


def _text_partitions(mention: _PartitionMention, values: DateValues) -> Iterator[TextPartitions]:
    table = ".".join(filter(None, mention.name)).casefold()
    key = (table, mention.operation.value, mention.changes)
    if mention.ranges is None:
        yield TextPartitions(*key, None, None)
        return
    ranges = [_numbers(ends, values) for ends in mention.ranges]
    partitions = [numbers for pairs in ranges for numbers in pairs]
    for first, last in partitions if all(ranges) and partitions else ((0, 0),):
        yield TextPartitions(*key, first, last)


def _numbers(ends: NumberRange, values: DateValues) -> list[tuple[int, int]]:
    """The partitions of a range, or each of a list; empty where an end is no number."""
    first, last = (_integers(end, values) for end in ends)
    pairs = list(zip(first, last, strict=False))
    return pairs if all(a <= b for a, b in pairs) else []


def _integers(expression: DateExpression, values: DateValues) -> list[int]:
    if expression.variable:
        text = (values.parameters or {}).get(expression.variable, "")
    else:
        text = values.literals.get(-1 if expression.literal is None else expression.literal, "")
    items = text.strip("()").split(",") if expression.is_list else [text]
    numbers = [int(number) for item in items if _NUMBER.fullmatch(number := item.strip())]
    is_known = len(numbers) == len(items) and all(
        0 < number <= _MOST_PARTITIONS for number in numbers
    )
    return numbers if is_known else []


def merge_partitions(partitions: Iterable[TextPartitions]) -> tuple[TextPartitions, ...]:
    """The partitions of each table, sorted, without overlaps."""
    grouped: dict[tuple[str, str, bool], list[TextPartitions]] = {}
    for partition in partitions:
        grouped.setdefault((partition.table, partition.operation, partition.changes), []).append(
            partition
        )
    return tuple(
        TextPartitions(*key, first, last)
        for key in sorted(grouped)
        for first, last in _merge_ranges(
            [(partition.first, partition.last) for partition in grouped[key]]
        )
    )


def _merge_ranges(
    ranges: list[tuple[int | None, int | None]],
) -> list[tuple[int | None, int | None]]:
    complete = sorted((first, last) for first, last in ranges if first and last)
    if len(complete) < len(ranges):
        return [(None, None) if (None, None) in ranges else (0, 0)]
    merged: list[tuple[int, int]] = []
    for first, last in complete:
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return [*merged] if len(merged) <= _MOST else [(merged[0][0], merged[-1][1])]


def add_partitions(
    a: tuple[TextPartitions, ...], b: tuple[TextPartitions, ...]
) -> tuple[TextPartitions, ...]:
    """The partitions of two texts of one shape."""
    return a if a == b or not b else merge_partitions((*a, *b))
