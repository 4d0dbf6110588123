"""A query -> its result: the columns, and the inputs that decide which rows there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest

from sqlglot import exp

from dbt_graft.collectors.statements.columns.expressions import (
    clause_inputs,
    inputs,
    inputs_of_all,
    window_inputs,
)
from dbt_graft.collectors.statements.columns.input_columns import NOTHING, InputColumns, transformed
from dbt_graft.collectors.statements.columns.query_scope import QueryScope
from dbt_graft.collectors.statements.columns.rowsets import Rowset, RowsetColumn
from dbt_graft.collectors.statements.columns.sources import add_joins, add_sources
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.records import ANY_COLUMN, Subtype

# Clauses after FROM, and what the columns in them do to the rows.
_CLAUSES: Mapping[str, Subtype] = {
    "where": Subtype.FILTER,
    "group": Subtype.GROUP_BY,
    "having": Subtype.FILTER,
    "qualify": Subtype.FILTER,
}
_ORDERS = ("order", "sort", "cluster", "distribute")


def query_rowset(node: exp.Expr, outer: QueryScope) -> Rowset:
    """The rows of a SELECT, of a set operation (UNION…), of TABLE or VALUES.

    Common table expressions of the query are known in it and below.
    """
    scope = outer.inner()
    add_ctes(node, scope)
    if isinstance(node, exp.SetOperation):
        return _ordered(node, _union(node, scope), scope)
    if isinstance(node, exp.Select):
        return _select(node, scope)
    if isinstance(node, exp.Subquery | exp.Paren):
        return _ordered(node, query_rowset(node.this, scope), scope)
    if isinstance(node, exp.Table):  # TABLE t
        add_sources(node, scope)
        return scope.rowsets[0]
    return _values(node, scope)


def _values(node: exp.Expr, scope: QueryScope) -> Rowset:
    """VALUES: columns without names, each with the inputs of its place in all rows."""
    rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in node.expressions]
    places = zip_longest(*rows)
    return Rowset(
        (), [RowsetColumn("", inputs_of_all(filter(None, place), scope)) for place in places]
    )


def add_ctes(node: exp.Expr, scope: QueryScope) -> None:
    """Make the common table expressions of a statement known in a scope."""
    clause = node.args.get("with_")
    for cte in clause.expressions if clause else ():
        name = cte.alias.casefold()
        names = [column.name for column in cte.args["alias"].args.get("columns") or ()]
        body = cte.this
        if isinstance(body, exp.SetOperation) and _names_itself(body, name):
            # A recursive one begins with the branch that does not name it.
            first = query_rowset(body.left, scope)
            scope.ctes[name] = first.renamed((name,), names)
        scope.ctes[name] = query_rowset(body, scope).renamed((name,), names)


def _names_itself(body: exp.Expr, name: str) -> bool:
    return any(table.name.casefold() == name for table in body.find_all(exp.Table))


def _union(node: exp.SetOperation, scope: QueryScope) -> Rowset:
    # A thousand UNIONs are nested to the left.
    branches: list[exp.Expr] = [node.expression]
    left = node.this
    while isinstance(left, exp.SetOperation) and not left.args.get("with_"):
        branches.append(left.expression)
        left = left.this
    rowset = query_rowset(left, scope)
    for branch in reversed(branches):
        other = query_rowset(branch, scope)
        matched = _by_name if node.args.get("by_name") else _by_position
        rowset = Rowset((), list(matched(rowset, other)), rowset.influences | other.influences)
    return rowset


def _by_position(one: Rowset, other: Rowset) -> Iterator[RowsetColumn]:
    if one.is_open or other.is_open:
        # It is not known which columns belong together.
        yield from one.columns
        yield from other.columns
        return
    for mine, theirs in zip_longest(one.columns, other.columns):
        if mine and theirs:
            yield RowsetColumn(mine.name, mine.inputs | theirs.inputs)


def _by_name(one: Rowset, other: Rowset) -> Iterator[RowsetColumn]:
    for column in one.columns:
        yield RowsetColumn(column.name, column.inputs | (other.find(column.name) or NOTHING))
    yield from (column for column in other.columns if not one.knows(column.name.casefold()))


def _select(node: exp.Select, scope: QueryScope) -> Rowset:
    source = node.args.get("from_")
    deciding = add_sources(source.this, scope) if source else NOTHING
    deciding |= add_joins(node, scope)
    deciding |= NOTHING.union(*(rowset.influences for rowset in scope.rowsets))
    for window in node.args.get("windows") or ():
        scope.windows[window.name.casefold()] = window_inputs(window, scope)
    columns: list[RowsetColumn] = []
    for projection in node.expressions:
        for column in _projected(projection, scope):
            columns.append(column)
            if scope.context.dialect != Dialect.TSQL:
                scope.aliases.setdefault(column.name.casefold(), column.inputs)
    if node.args.get("for_"):  # FOR JSON, FOR XML: one text of all
        columns = [
            RowsetColumn(name, transformed(found, Subtype.TRANSFORMATION))
            for name, found in columns
        ]
    for clause, subtype in _CLAUSES.items():
        deciding |= clause_inputs(node.args.get(clause), scope, subtype)
    return _ordered(node, Rowset((), columns, deciding), scope)


def _ordered(node: exp.Expr, rowset: Rowset, scope: QueryScope) -> Rowset:
    """The same rows, sorted: ORDER BY names columns of the result first, then of the sources."""
    orders = [node.args[clause] for clause in _ORDERS if node.args.get(clause)]
    if not orders:
        return rowset
    known = [column for column in rowset.columns if column.name != ANY_COLUMN]
    result = Rowset((), known if scope.rowsets else rowset.columns)
    deciding = transformed(inputs_of_all(orders, scope.inner(result)), Subtype.SORT)
    return Rowset(rowset.path, rowset.columns, rowset.influences | deciding)


def _projected(node: exp.Expr, scope: QueryScope) -> Iterable[RowsetColumn]:
    star = node.this if isinstance(node, exp.Column) else node
    if isinstance(star, exp.Star):
        parts = node.parts[:-1] if isinstance(node, exp.Column) else []
        qualifier = [part.name.casefold() for part in parts]
        return _starred(star, tuple(qualifier), scope)
    if isinstance(node, exp.EQ) and isinstance(node.this, exp.Parameter | exp.Placeholder):
        # `@v = a` goes into no column; `'x' = a` into one whose name was taken out.
        is_variable = isinstance(node.this, exp.Parameter)
        return [] if is_variable else [RowsetColumn("", inputs(node.expression, scope))]
    found = inputs(node, scope)
    if isinstance(node, exp.Alias) and isinstance(node.args["alias"], exp.Placeholder):
        return [RowsetColumn("", found)]
    if isinstance(node, exp.Aliases):
        return [RowsetColumn(alias.name, found) for alias in node.expressions]
    if isinstance(node, exp.Placeholder):
        return [RowsetColumn("", found)]
    return [RowsetColumn(node.output_name or node.sql(scope.context.dialect), found)]


def _starred(
    star: exp.Star, qualifier: tuple[str, ...], scope: QueryScope
) -> Iterator[RowsetColumn]:
    left_out = {column.name.casefold() for column in star.args.get("except_") or ()}
    replaced: dict[str, InputColumns] = {
        alias.alias.casefold(): inputs(alias, scope) for alias in star.args.get("replace") or ()
    }
    seen: set[str] = set()
    for rowset in scope.named(qualifier) if qualifier else scope.rowsets:
        for column in rowset.columns:
            name = column.name.casefold()
            if name in left_out or (name in seen and name in scope.shared):
                continue
            seen.add(name)
            yield RowsetColumn(column.name, replaced.get(name, column.inputs))
