"""The list between SELECT and FROM -> the columns of the result: expressions, stars, COLUMNS."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sqlglot import exp

from dbt_graft.collectors.statements.columns.expressions import inputs
from dbt_graft.collectors.statements.columns.fields import struct_fields
from dbt_graft.collectors.statements.columns.input_columns import (
    NOTHING,
    InputColumns,
    transformed,
)
from dbt_graft.collectors.statements.columns.query_scope import QueryScope
from dbt_graft.collectors.statements.columns.rowsets import RowsetColumn
from dbt_graft.lineage.records import ANY_COLUMN, Subtype

_WITH_STRUCTS = frozenset({"bigquery", "databricks", "duckdb", "spark"})
# sqlglot's names of functions have underscores where they are not the engine's, but for these.
_ENGINES_NAMES = frozenset({"row_number", "dense_rank", "array_agg", "first_value", "last_value"})
_OPERATORS = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Connector, exp.Predicate, exp.Not)
_WITH_COLUMNS = frozenset({"duckdb", "clickhouse"})


def projected(node: exp.Expr, scope: QueryScope, place: int) -> Iterable[RowsetColumn]:
    """The columns that one projection makes.

    Args:
        place: The number of columns before it, by which BigQuery names those without a name.
    """
    if type(node) is exp.Column and type(node.this) is exp.Identifier:  # most of them
        found = inputs(node, scope)
        return [RowsetColumn(node.this.name, found, _fields_of_struct(node, found, scope))]
    star = node.this if isinstance(node, exp.Column) else node
    if isinstance(star, exp.Star):
        parts = node.parts[:-1] if isinstance(node, exp.Column) else []
        return _starred(star, tuple(part.name.casefold() for part in parts), scope)
    if isinstance(node, exp.EQ) and isinstance(node.this, exp.Parameter | exp.Placeholder):
        # `@v = a` goes into no column; `'x' = a` into one whose name was taken out.
        is_variable = isinstance(node.this, exp.Parameter)
        return [] if is_variable else [RowsetColumn("", inputs(node.expression, scope))]
    if scope.context.dialect in _WITH_COLUMNS:
        many = _many(node, scope)
        if many is not None:
            return many
    found = inputs(node, scope)
    if isinstance(node, exp.Alias) and isinstance(node.args["alias"], exp.Placeholder):
        return [RowsetColumn("", found)]
    if isinstance(node, exp.Aliases):
        return [RowsetColumn(alias.name, found) for alias in node.expressions]
    if isinstance(node, exp.Placeholder):
        return [RowsetColumn("", found)]
    if isinstance(node, exp.Literal):
        return [RowsetColumn(_name(node, scope.context.dialect, place), found)]
    name = node.output_name or _name(node, scope.context.dialect, place)
    return [RowsetColumn(name, found, _fields_of_struct(node, found, scope))]


def _fields_of_struct(
    node: exp.Expr, found: InputColumns, scope: QueryScope
) -> tuple[RowsetColumn, ...]:
    """The fields of a projection that makes a struct."""
    if scope.context.tables is not None or scope.context.dialect not in _WITH_STRUCTS:
        return ()
    is_copied = len(found) == 1 and next(iter(found)).subtype is Subtype.IDENTITY
    return () if is_copied else tuple(struct_fields(node, scope))


def _name(node: exp.Expr, dialect: str, place: int) -> str:
    """The name that the engine gives to an expression without one."""
    if dialect == "bigquery":
        return f"f{place}_"
    if dialect in {"postgres", "redshift"}:
        inner = node.this if isinstance(node, exp.Window) else node
        if isinstance(inner, exp.Anonymous):
            return inner.name.casefold()
        if isinstance(inner, exp.Func) and not isinstance(inner, exp.Binary):
            name = inner.sql_name().casefold()
            return name if "_" not in name or name in _ENGINES_NAMES else ""
        return "?column?"
    if dialect in {"spark", "databricks"}:
        if isinstance(node, exp.Posexplode):
            return "pos"
        if isinstance(node, exp.Explode):
            return "col"
    if node.find(exp.Literal):  # these are not published
        return ""
    return _name_in_spark(node) if dialect in {"spark", "databricks"} else node.sql(dialect)


def _name_in_spark(node: exp.Expr) -> str:
    """`sum((a + b))` for `SUM(t.a + t.b)`: brackets around operators only, columns alone."""

    def named(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column):
            return exp.column(part.this)
        if isinstance(part, exp.Paren):
            return part.this
        if isinstance(part, exp.Star):
            return exp.Literal.number(1)  # COUNT(*)
        return exp.Paren(this=part.copy()) if isinstance(part, _OPERATORS) else part

    # Each part is replaced after those inside of it.
    root = exp.Paren(this=node.copy())
    for part in reversed(list(root.this.walk())):
        part.replace(named(part))
    return root.this.sql("spark", normalize_functions="lower")


def _starred(
    star: exp.Expr, qualifier: tuple[str, ...], scope: QueryScope
) -> Iterator[RowsetColumn]:
    """The columns of `*` and `t.*`, with EXCEPT, REPLACE, RENAME and ILIKE."""
    args = star.args
    left_out = {column.name.casefold() for column in args.get("except_") or ()}
    replaced: dict[str, InputColumns] = {
        alias.alias.casefold(): inputs(alias, scope) for alias in args.get("replace") or ()
    }
    renamed = {alias.this.name.casefold(): alias.alias for alias in args.get("rename") or ()}
    pattern = _like(args["ilike"]) if args.get("ilike") else None
    seen: set[str] = set()
    rowsets = scope.named(qualifier) if qualifier else scope.rowsets
    for rowset in rowsets:
        for column in rowset.columns:
            name = column.name.casefold()
            is_shared = name in scope.shared and not qualifier
            if name in left_out or (is_shared and name in seen):
                continue
            if pattern and name != ANY_COLUMN and not pattern.fullmatch(name):
                continue
            seen.add(name)
            found = scope.shared[name] if is_shared else column.inputs
            yield RowsetColumn(renamed.get(name, column.name), replaced.get(name, found))
    if qualifier and not rowsets:
        yield from _fields(qualifier, scope)


def _fields(qualifier: tuple[str, ...], scope: QueryScope) -> Iterator[RowsetColumn]:
    """`s.*` of a struct."""
    known = [
        column.fields
        for rowset in scope.rowsets
        for column in rowset.columns
        if column.fields and column.name.casefold() == qualifier[-1]
    ]
    if known:
        yield from known[0]
        return
    parts = [exp.to_identifier(part) for part in qualifier]
    column = exp.Column(this=parts[-1])
    for key, part in zip(("table", "db", "catalog"), reversed(parts[:-1]), strict=False):
        column.set(key, part)
    found = inputs(column, scope)
    yield RowsetColumn(ANY_COLUMN, transformed(found, Subtype.TRANSFORMATION))


def _many(node: exp.Expr, scope: QueryScope) -> list[RowsetColumn] | None:
    """The columns of `COLUMNS('regex')`, `MIN(COLUMNS(*))`, `* LIKE 'a%'`, `* APPLY(sum)`."""
    if isinstance(node, exp.Like | exp.ILike) and isinstance(node.this, exp.Star):
        pattern = _like(node.expression)
        return [one for one in _all(scope) if pattern.fullmatch(one.name.casefold())]
    if isinstance(node, exp.Apply):
        function = exp.func(node.expression.name, exp.Columns(this=exp.Star()))
        return _each(function, _all(scope), scope)
    if isinstance(node, exp.Column) or not (found := node.find(exp.Columns)):
        return None
    which = found.this
    if isinstance(which, exp.Star):
        return _each(node, list(_starred(which, (), scope)), scope)
    if isinstance(which, exp.Literal):
        try:
            pattern = re.compile(which.this, re.IGNORECASE)
        except re.error:
            scope.context.gap("columns(…) is not known")
            return []
        return _each(node, [one for one in _all(scope) if pattern.search(one.name)], scope)
    scope.context.gap("columns(…) is not known")
    every = NOTHING.union(*(one.inputs for one in _all(scope)))
    return [RowsetColumn(ANY_COLUMN, every)]


def _all(scope: QueryScope) -> list[RowsetColumn]:
    return [column for rowset in scope.rowsets for column in rowset.columns]


def _each(node: exp.Expr, columns: Iterable[RowsetColumn], scope: QueryScope) -> list[RowsetColumn]:
    made = []
    for column in columns:
        scope.star = column.inputs
        made.append(RowsetColumn(column.name, inputs(node, scope)))
    scope.star = NOTHING
    return made


def _like(pattern: exp.Expr) -> re.Pattern[str]:
    """A pattern of LIKE as a regular expression."""
    parts = re.split(r"([%_])", pattern.name.casefold())
    wild = {"%": ".*", "_": "."}
    return re.compile("".join(wild.get(part, re.escape(part)) for part in parts), re.DOTALL)
