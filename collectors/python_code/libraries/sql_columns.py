"""SQL text -> the columns of its result, in order, and those that its parameters go into."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt_graft.collectors.statements.columns.expressions import MASKING
from dbt_graft.collectors.statements.columns.projections import engines_name
from dbt_graft.collectors.statements.columns.tree import parse_statements
from dbt_graft.collectors.statements.text.dialect import COMMENT, STRING, Dialect
from dbt_graft.lineage.code import UNKNOWN_PART
from dbt_graft.lineage.records import ANY_COLUMN, Masking, Subtype

_LONGEST = 100_000


class ResultColumns(NamedTuple):
    """The columns of a result.

    Attributes:
        is_open: It has more, which the text does not name: `SELECT *`.
        is_query: The text is a query; else what it returns, only a run knows.
        has_unknown: Some of the columns stand in a part of the text that is not known.
    """

    names: tuple[str, ...] = ()
    is_open: bool = True
    is_query: bool = False
    has_unknown: bool = False


@lru_cache(maxsize=2048)
def result_columns(text: str, dialect: Dialect) -> ResultColumns:
    """The columns of a text's last query."""
    for tree in reversed(parse_sql(text, dialect)):
        if isinstance(tree, exp.Query):
            return _columns(tree, {}, dialect)
        if isinstance(tree, exp.Insert | exp.Update | exp.Delete | exp.Create | exp.Merge):
            return ResultColumns(is_open=False)
    return ResultColumns()


def parse_sql(text: str, dialect: Dialect) -> list[exp.Expr]:
    """The statements of a text, by the dialect or by those that scripts use beside it."""
    if len(text) > _LONGEST:
        return []
    for name in (dialect.value, "postgres", "mysql", ""):
        try:
            return parse_statements(text, name)
        except (SqlglotError, RecursionError, TypeError, ValueError):  # it asserts little itself
            continue
    return []


def _columns(
    query: exp.Expr, outer: dict[str, exp.Expr], dialect: Dialect, depth: int = 0
) -> ResultColumns:
    if depth > 20:
        return ResultColumns(is_query=True)
    ctes = dict(outer)
    for cte in (query.args.get("with_") and query.args["with_"].expressions) or ():
        ctes[cte.alias.casefold()] = cte.this
    if isinstance(query, exp.SetOperation):
        return _columns(query.this, ctes, dialect, depth + 1)
    if isinstance(query, exp.Subquery):
        return _columns(query.this, ctes, dialect, depth + 1)
    names: list[str] = []
    is_open = has_unknown = False
    for projection in query.selects if isinstance(query, exp.Query) else ():
        if projection.is_star and not isinstance(projection, exp.Alias):
            stars = _starred(query, projection, ctes, dialect, depth)
            if stars is None:
                is_open = True
            else:
                names += stars
        elif projection.alias_or_name == UNKNOWN_PART:
            has_unknown = is_open = True
        else:
            # As the edges of a statement have it where the text gives none.
            made = engines_name(projection, dialect.value, len(names))
            names.append(projection.output_name or made)
    return ResultColumns(tuple(names), is_open, True, has_unknown)


def _starred(
    query: exp.Expr, star: exp.Expr, ctes: dict[str, exp.Expr], dialect: Dialect, depth: int
) -> list[str] | None:
    """The columns behind a star over queries that name theirs."""
    from_ = query.args.get("from_")
    sources = [from_.this] if from_ is not None else []
    sources += [join.this for join in query.args.get("joins") or ()]
    if isinstance(star, exp.Column):
        sources = [source for source in sources if source.alias_or_name == star.table]
    names: list[str] = []
    for source in sources:
        inner = None
        if isinstance(source, exp.Subquery):
            inner = source.this
        elif isinstance(source, exp.Table) and not source.db:
            inner = ctes.get(source.name.casefold())
        if inner is None:
            return None
        columns = _columns(
            inner, {k: v for k, v in ctes.items() if v is not inner}, dialect, depth + 1
        )
        if columns.is_open:
            return None
        names += columns.names
    return names if sources else None


# The key of a parameter: its number, or its name.
Marker = int | str
_MARKERS = (
    r"(?P<mark>\?|%[sd](?!\w)|%\((?P<percent>\w+)\)s|(?<![:\w]):(?P<colon>[A-Za-z_]\w*)|(?<![\w:])[$:](?P<number>\d+)"
    rf"|(?P<part>{UNKNOWN_PART}))"
)
_PATTERN = re.compile(rf"(?P<other>{COMMENT}|{STRING[Dialect.TSQL]})|{_MARKERS}")
_QUOTED_PART = re.compile(rf"'%?{UNKNOWN_PART}%?'")
_STAND_IN = "graft_sent_"


class Slot(NamedTuple):
    """A place of a parameter in a statement.

    Attributes:
        column: The column that it goes into; `*` where it decides on rows.
    """

    marker: Marker
    column: str
    subtype: Subtype
    masking: Masking = Masking.NONE


class Slots(NamedTuple):
    """The places of a statement's parameters.

    Attributes:
        reason: Why places are not known; empty where they are.
    """

    slots: tuple[Slot, ...] = ()
    columns: tuple[str, ...] = ()
    reason: str = ""


def with_question_marks(text: str) -> str:
    """The text with `?` for all markers of parameters."""
    return _PATTERN.sub(lambda match: match[0] if match["other"] or match["part"] else "?", text)


@lru_cache(maxsize=2048)
def find_slots(text: str, counts_parts: bool = False) -> Slots:
    """The columns that the parameters of a text go into.

    Args:
        counts_parts: Unknown parts of the text are parameters, each by its number.
    """
    markers: list[Marker] = []
    if counts_parts:
        text = _QUOTED_PART.sub(UNKNOWN_PART, text)

    def stand_in(match: re.Match[str]) -> str:
        if match["other"] or (match["part"] and not counts_parts):
            return match[0]
        if counts_parts and not match["part"]:
            return "NULL"
        number = match["number"]
        markers.append(
            match["percent"] or match["colon"] or (int(number) - 1 if number else len(markers))
        )
        return f"{_STAND_IN}{len(markers) - 1}"

    readable = _PATTERN.sub(stand_in, text)
    slots: list[Slot] = []
    columns: list[str] = []
    reason = ""
    for tree in parse_sql(readable, Dialect.TSQL):
        for at, column, subtype, masking in _of_statement(tree):
            slots.append(Slot(markers[at], column, subtype, masking))
        columns += _columns_of(tree)
        if isinstance(tree, exp.Insert) and not isinstance(tree.this, exp.Schema):
            reason = "an INSERT without names of columns: where values go is not known"
    direct = dict.fromkeys([slot.column for slot in slots if slot.column != ANY_COLUMN] or columns)
    return Slots(tuple(slots), tuple(direct), reason)


_Placed = tuple[int, str, Subtype, Masking]


def _of_statement(tree: exp.Expr) -> Iterator[_Placed]:
    if isinstance(tree, exp.Insert):
        yield from _of_insert(tree)
    elif isinstance(tree, exp.Update):
        yield from _of_settings(tree.expressions, {})
        yield from _deciding(tree.args.get("where"))
    elif isinstance(tree, exp.Merge):
        yield from _of_merge(tree)
    else:
        yield from _deciding(tree)


def _columns_of(tree: exp.Expr) -> list[str]:
    if isinstance(tree, exp.Insert) and isinstance(tree.this, exp.Schema):
        return [column.name for column in tree.this.expressions]
    return []


def _of_insert(tree: exp.Insert) -> Iterator[_Placed]:
    names = _columns_of(tree)
    query = tree.expression
    rows: list[list[exp.Expr]] = []
    if isinstance(query, exp.Values):
        rows = [
            list(row.expressions) if isinstance(row, exp.Tuple) else [row]
            for row in query.expressions
        ]
    elif isinstance(query, exp.Select):
        rows = [list(query.selects)]
        yield from _deciding(query.args.get("where"))
    for row in rows:
        for name, value in zip(names, row, strict=False):
            yield from _into(value, name, {})
    conflict = tree.args.get("conflict")
    if isinstance(conflict, exp.OnConflict):
        yield from _of_settings(conflict.expressions, {})


def _of_settings(settings: list[exp.Expr], named: dict[str, exp.Expr]) -> Iterator[_Placed]:
    for setting in settings:
        if isinstance(setting, exp.EQ):
            yield from _into(setting.expression, setting.this.name, named)


def _into(value: exp.Expr, column: str, named: dict[str, exp.Expr]) -> Iterator[_Placed]:
    value = value.this if isinstance(value, exp.Alias) else value
    for node in value.find_all(exp.Column):
        numbers = _numbers(node, named)
        is_alone = node is value
        subtype, masking = Subtype.IDENTITY, Masking.NONE
        if not is_alone:
            subtype = Subtype.TRANSFORMATION
            masking = _masking(node, value)
        for number, inner in numbers:
            yield number, column, inner if is_alone else subtype, masking


def _numbers(node: exp.Column, named: dict[str, exp.Expr]) -> list[tuple[int, Subtype]]:
    if node.name.startswith(_STAND_IN):
        return [(int(node.name.removeprefix(_STAND_IN)), Subtype.IDENTITY)]
    source = named.get(node.name.casefold())
    if source is None:
        return []
    return [(number, subtype) for number, _, subtype, _ in _into(source, "", {})]


def _masking(node: exp.Expr, value: exp.Expr) -> Masking:
    masking = Masking.NONE
    at: exp.Expr | None = node.parent
    while at is not None:
        if isinstance(at, exp.Func):
            name = at.name.upper() if isinstance(at, exp.Anonymous) else at.sql_name()
            masking = masking.then(MASKING.get(name, Masking.NONE))
        if at is value:
            break
        at = at.parent
    return masking


def _deciding(tree: exp.Expr | None) -> Iterator[_Placed]:
    for node in tree.find_all(exp.Column) if tree is not None else ():
        for number, _ in _numbers(node, {}):
            yield number, ANY_COLUMN, Subtype.FILTER, Masking.NONE


def _of_merge(tree: exp.Merge) -> Iterator[_Placed]:
    using = tree.args.get("using")
    named = _merged_columns(using)
    for node in tree.args["on"].find_all(exp.Column) if tree.args.get("on") else ():
        is_source = not node.table or node.table == (using.alias if using else "")
        for number, _ in _numbers(node, named if is_source else {}):
            yield number, ANY_COLUMN, Subtype.JOIN, Masking.NONE
    whens = tree.args.get("whens")
    for when in whens.expressions if whens is not None else ():
        then = when.args.get("then")
        if isinstance(then, exp.Update):
            yield from _of_settings(then.expressions, named)
        elif isinstance(then, exp.Insert) and isinstance(then.this, exp.Tuple | exp.Schema):
            values = then.expression.expressions if then.expression is not None else []
            for name, value in zip(then.this.expressions, values, strict=False):
                yield from _into(value, name.name, named)


def _merged_columns(using: exp.Expr | None) -> dict[str, exp.Expr]:
    """The columns of a MERGE's source that are parameters."""
    inner = using.this if isinstance(using, exp.Subquery) else using
    if isinstance(inner, exp.Select):
        return {item.alias_or_name.casefold(): item for item in inner.selects}
    if isinstance(inner, exp.Values) and inner.expressions:
        alias = using.args.get("alias") or inner.args.get("alias") if using else None
        names = [column.name.casefold() for column in alias.columns] if alias else []
        row = inner.expressions[0]
        values = row.expressions if isinstance(row, exp.Tuple) else [row]
        return dict(zip(names, values, strict=False))
    return {}
