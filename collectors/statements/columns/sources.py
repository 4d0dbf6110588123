"""The sources of a query -> rowsets: tables, derived tables, functions, PIVOT, JOIN by JOIN."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlglot import exp

from dbt_graft.collectors.statements.columns.expressions import (
    clause_inputs,
    inputs,
    inputs_of_all,
)
from dbt_graft.collectors.statements.columns.input_columns import (
    NOTHING,
    InputColumn,
    InputColumns,
    transformed,
)
from dbt_graft.collectors.statements.columns.query_scope import QueryContext, QueryScope
from dbt_graft.collectors.statements.columns.rowsets import Rowset, RowsetColumn, table_rowset
from dbt_graft.collectors.statements.columns.tree import identifier_name
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.records import ANY_COLUMN, Subtype

# The columns of table functions that have names of their own.
_RESULTS = {
    "generateseries": ["value"],
    "openjson": ["key", "value", "type"],
    "string_split": ["value", "ordinal"],
}


def add_sources(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """Add the sources after FROM or JOIN to a scope; return the inputs of the join conditions."""
    deciding = NOTHING
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
        deciding |= add_sources(node.this, scope)  # FROM (a JOIN b ON …)
    else:
        scope.rowsets.append(_pivoted(node, _rowset(node, scope), scope))
    return deciding | add_joins(node, scope)


def add_joins(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """Add the tables joined to a scope; return the inputs of the join conditions."""
    deciding = NOTHING
    for join in node.args.get("joins") or ():
        first = len(scope.rowsets)
        deciding |= add_sources(join.this, scope)
        deciding |= clause_inputs(join.args.get("on"), scope, Subtype.JOIN)
        for shared in join.args.get("using") or ():
            scope.shared.add(shared.name.casefold())
            both = (_first(scope.rowsets[:first], shared.name), scope.rowsets[-1])
            for side in filter(None, both):
                deciding |= transformed(side.find(shared.name) or NOTHING, Subtype.JOIN)
    for lateral in node.args.get("laterals") or ():
        scope.rowsets.append(_rowset(lateral, scope))
    return deciding


def _first(rowsets: Sequence[Rowset], name: str) -> Rowset | None:
    """The rowset from which a column that several share is taken."""
    return next((one for one in rowsets if one.find(name)), None)


def _rowset(node: exp.Expr, scope: QueryScope) -> Rowset:
    path, names = _alias(node)
    if isinstance(node, exp.Table):
        return _table(node, path, names, scope)
    inner = node.this if isinstance(node, exp.Lateral) else node
    if isinstance(inner, exp.Query | exp.Values):
        return scope.context.query(inner, scope).renamed(path, names)
    return _made(inner, path, names, scope)


def _made(function: exp.Expr, path: Name, names: Sequence[str], scope: QueryScope) -> Rowset:
    """The rows of a table function: each column comes from its arguments."""
    found = transformed(inputs(function, scope.inner(*scope.rowsets)), Subtype.TRANSFORMATION)
    named = names or [column.name for column in function.find_all(exp.OpenJSONColumnDef)]
    kind = function.name if isinstance(function, exp.Anonymous) else function.key
    named = named or _RESULTS.get(kind.casefold(), [ANY_COLUMN])
    return Rowset(path, [RowsetColumn(name, found) for name in named])


def _table(node: exp.Table, path: Name, names: Sequence[str], scope: QueryScope) -> Rowset:
    parts = table_parts(node)
    cte = scope.ctes.get(parts[0]) if len(parts) == 1 else None
    if cte is not None:
        return cte.renamed(path or parts, names)
    if isinstance(node.this, exp.Func):
        return _made(node.this, path, names, scope)
    table = found_table(parts, scope.context)
    if table is None:
        scope.context.gap("a table is not among those found")
        return Rowset(path or parts, [RowsetColumn(ANY_COLUMN, NOTHING)])
    columns = scope.context.columns(table)
    return table_rowset(path or parts, table, columns).renamed(path or parts, names)


def table_parts(node: exp.Table) -> Name:
    """The parts of a table's name, folded, without those left out."""
    return tuple(part for part in _parts(node) if part)


def _parts(node: exp.Table) -> Iterator[str]:
    for place in ("catalog", "db", "this"):
        part = node.args.get(place)
        while isinstance(part, exp.Dot):
            yield part.this.name.casefold()
            part = part.expression
        if isinstance(part, exp.Parameter | exp.Identifier):
            yield identifier_name(part)


def found_table(parts: Name, context: QueryContext) -> Name | None:
    """The table as the token scan names it: temporary ones and paths by one part, others in full.

    A query that runs on a linked server names its tables without the server.
    """
    known = context.tables.get(parts) or context.tables.get(parts[-1:])
    if known or not parts:
        return known
    ending = [name for key, name in context.tables.items() if key[-len(parts) :] == parts]
    return ending[0] if len(ending) == 1 else None


def _alias(node: exp.Expr) -> tuple[Name, list[str]]:
    alias = node.args.get("alias")
    if not isinstance(alias, exp.TableAlias):
        return (), []
    path = (alias.name.casefold(),) if alias.name else ()
    return path, [column.name for column in alias.args.get("columns") or ()]


def _pivoted(node: exp.Expr, rowset: Rowset, scope: QueryScope) -> Rowset:
    for pivot in node.args.get("pivots") or ():
        inside = scope.inner(rowset)
        turn = _unpivot if pivot.args.get("unpivot") else _pivot
        consumed, produced = turn(pivot, inside)
        remaining = [column for column in rowset.columns if not consumed & column.inputs]
        path, _ = _alias(pivot)
        rowset = Rowset(path or rowset.path, [*remaining, *produced], rowset.influences)
    return rowset


def _pivot(pivot: exp.Expr, scope: QueryScope) -> tuple[InputColumns, list[RowsetColumn]]:
    """The columns that PIVOT consumes, and those that it produces, a value by an aggregate each."""
    aggregates = [inputs(node, scope) for node in pivot.expressions]
    by = inputs_of_all([field.this for field in _fields(pivot)], scope)
    names = [column.name.strip("'\"") for column in pivot.args.get("columns") or ()]
    deciding = transformed(by, Subtype.CONDITIONAL)
    made = [
        RowsetColumn(name, aggregates[at % len(aggregates)] | deciding)
        for at, name in enumerate(names)
    ]
    consumed = frozenset(InputColumn(one.table, one.column) for one in by.union(*aggregates))
    return consumed, made


def _unpivot(pivot: exp.Expr, scope: QueryScope) -> tuple[InputColumns, list[RowsetColumn]]:
    values = inputs_of_all([one for field in _fields(pivot) for one in field.expressions], scope)
    made = [RowsetColumn(value.name, values) for value in pivot.expressions]
    return values, [*made, *(RowsetColumn(field.this.name, NOTHING) for field in _fields(pivot))]


def _fields(pivot: exp.Expr) -> list[Any]:
    return [field for field in pivot.args.get("fields") or () if isinstance(field, exp.In)]
