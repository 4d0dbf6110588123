"""INSERTs of T-SQL: the constants and columns that they write, by column.

`INSERT INTO mart.days (id, ds) SELECT id, '2026-11-01' FROM …` writes rows of that day alone,
whatever it reads, and so does `SELECT id, ds FROM … WHERE ds = '2026-11-01'`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dbt_graft.collectors.statements.periods.expressions import (
    DateExpression,
    list_number,
    read_expression,
)
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name, name_at
from dbt_graft.collectors.statements.text.tokens import Token, keywords, word_at
from dbt_graft.lineage.frozen import frozen

_BEGINS_ROWS = keywords("SELECT VALUES EXEC EXECUTE DEFAULT")
_ENDS_LIST = keywords("FROM INTO WHERE GROUP HAVING ORDER OPTION UNION EXCEPT INTERSECT FOR ;")
# A constant, the name of a column, or None for anything else.
Value = DateExpression | Name | None


@frozen
class Row:
    """The values of a row, or of all rows of a SELECT.

    Attributes:
        query: The place of the SELECT; None of a row of VALUES.
    """

    values: Sequence[Value]
    query: int | None = None


@frozen
class Insertion:
    """An INSERT, or a SELECT INTO.

    Attributes:
        table: The table as it is written.
        columns: The columns that it names; none where it names none.
        rows: Each has as many values; none where they are not seen.
    """

    table: Name
    columns: Sequence[str]
    rows: Sequence[Row]


def insertions(tokens: list[Token], closes: Mapping[int, int]) -> Iterator[Insertion]:
    """The INSERTs of a statement, and a SELECT INTO; that of a MERGE names no table.

    Args:
        closes: See `closings`.
    """
    for at, token in enumerate(tokens):
        if token.word == "INSERT" and (insertion := _insert(tokens, closes, at + 1)):
            yield insertion
        if token.word == "SELECT" and (insertion := _select_into(tokens, closes, at)):
            yield insertion


def _insert(tokens: list[Token], closes: Mapping[int, int], at: int) -> Insertion | None:
    if word_at(tokens, at) == "TOP":
        at = closes.get(at + 1, at) + 1
    at += word_at(tokens, at) == "PERCENT"
    at += word_at(tokens, at) == "INTO"
    if (table := name_at(tokens, at, Dialect.TSQL)) is None:
        return None
    at = table.end
    if word_at(tokens, at) == "WITH":
        at = closes.get(at + 1, at) + 1
    columns = _columns(tokens, closes, at)
    while at < len(tokens) and tokens[at].word not in _BEGINS_ROWS:
        at = closes.get(at, at) + 1  # OUTPUT inserted.id INTO @ids (id)
    rows = _values(tokens, closes, at, len(columns)) or _queries(tokens, closes, at)
    return _insertion(table.name, columns, rows)


def _select_into(tokens: list[Token], closes: Mapping[int, int], at: int) -> Insertion | None:
    """`SELECT id, '2026-11-01' AS ds INTO #days FROM …`"""
    items = _items(tokens, closes, _list_begin(tokens, closes, at + 1))
    end = items[-1][1]
    if word_at(tokens, end) != "INTO":
        return None
    table = name_at(tokens, end + 1, Dialect.TSQL)
    if table is None or any(begin == stop for begin, stop in items):
        return None
    columns = [
        tokens[begin if word_at(tokens, begin + 1) == "=" else stop - 1].text
        for begin, stop in items
    ]
    return _insertion(table.name, columns, _queries(tokens, closes, at))


def _insertion(table: Name, columns: list[str], rows: list[Row]) -> Insertion:
    fits = all(len(row.values) == len(columns) for row in rows)
    return Insertion(table, columns, rows if fits else ())


def _columns(tokens: list[Token], closes: Mapping[int, int], at: int) -> list[str]:
    """The names in the brackets at a place; none where it has none."""
    if word_at(tokens, at) != "(":
        return []
    names = (name_at(tokens, item[0], Dialect.TSQL) for item in _items(tokens, closes, at + 1))
    return [name.name[-1] if name else "" for name in names]


def _items(tokens: list[Token], closes: Mapping[int, int], at: int) -> list[tuple[int, int]]:
    """The places of what commas part, up to the end of brackets or of a SELECT's list."""
    items, begin = [], at
    while at < len(tokens) and tokens[at].word != ")" and tokens[at].word not in _ENDS_LIST:
        if tokens[at].word == ",":
            items.append((begin, at))
            begin = at + 1
        at = closes.get(at, at) + 1
    return [*items, (begin, min(at, len(tokens)))]


def _values(tokens: list[Token], closes: Mapping[int, int], at: int, columns: int) -> list[Row]:
    """The rows of VALUES; those of literals alone are one list of them."""
    rows: list[Row] = []
    if word_at(tokens, at) == "VALUES":
        at += 1
        number = list_number(tokens, at)
        if number is not None and word_at(tokens, at + 3) == ",":
            return []  # and others, not of literals alone
        if number is not None:
            places = ((place, columns) for place in range(columns))
            return [Row([DateExpression(number, is_list=True, place=place) for place in places])]
        while word_at(tokens, at) == "(":
            rows.append(Row([_value(tokens, *item) for item in _items(tokens, closes, at + 1)]))
            at = closes[at] + 1
            at += word_at(tokens, at) == ","
    return rows


def _queries(tokens: list[Token], closes: Mapping[int, int], at: int) -> list[Row]:
    """The lists of a SELECT and of those that UNION adds; none where one is not seen."""
    rows: list[Row] = []
    while at < len(tokens):
        if tokens[at].word == "SELECT":
            query, at = at, _list_begin(tokens, closes, at + 1)
            items = _items(tokens, closes, at)
            if any(word_at(tokens, end - 1) == "*" for _, end in items):
                return []  # nothing tells how many columns it stands for
            rows.append(Row([_value(tokens, *item) for item in items], query))
        elif tokens[at].word == "UNION":
            at += 2 if word_at(tokens, at + 1) == "ALL" else 1
            if word_at(tokens, at) != "SELECT":
                return []
            continue
        elif tokens[at].word in ("EXCEPT", "INTERSECT"):
            return rows  # takes rows away from those before
        at = closes.get(at, at) + 1
    return rows


def _list_begin(tokens: list[Token], closes: Mapping[int, int], at: int) -> int:
    """The place of the first value behind SELECT."""
    at += word_at(tokens, at) in ("ALL", "DISTINCT")
    return closes.get(at + 1, at + 1) + 1 if word_at(tokens, at) == "TOP" else at


def _value(tokens: list[Token], begin: int, end: int) -> Value:
    """`@d`, `'2026-11-01' AS ds`, `ds = CAST(GETDATE() AS date)`, `o.ds`"""
    if word_at(tokens, begin + 1) == "=" and tokens[begin].is_name:
        begin += 2
    if constant := read_expression(tokens, begin):
        value: Value
        value, stop = constant
    elif name := name_at(tokens, begin, Dialect.TSQL):
        value, stop = name.name, name.end
    else:
        return None
    stop += word_at(tokens, stop) == "AS"
    return value if stop == end or (stop + 1 == end and tokens[stop].is_name) else None
