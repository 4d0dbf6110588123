"""SQL text -> the names of the columns that its result has, in order."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt_graft.collectors.python_code.script import UNKNOWN_PART
from dbt_graft.collectors.statements.columns.projections import engines_name
from dbt_graft.collectors.statements.columns.tree import parse_statements
from dbt_graft.collectors.statements.text.dialect import Dialect

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
            names.append(_name(projection, dialect, len(names)))
    return ResultColumns(tuple(names), is_open, True, has_unknown)


def _name(projection: exp.Expr, dialect: Dialect, position: int) -> str:
    """The name of a column; as the edges of a statement have it where the text gives none."""
    return projection.output_name or engines_name(projection, dialect.value, position)


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
