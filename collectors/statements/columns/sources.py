"""What stands in FROM -> relations: tables, derived tables, functions, PIVOT, JOIN by JOIN."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlglot import exp

from dbt_graft.collectors.statements.columns.expressions import influences, of_all, uses
from dbt_graft.collectors.statements.columns.relations import (
    NOTHING,
    Column,
    Context,
    Relation,
    Scope,
    Use,
    Uses,
    changed,
    table_relation,
)
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.records import ANY_COLUMN, Subtype


def add_sources(node: exp.Expr, scope: Scope) -> Uses:
    """Add what stands behind FROM or JOIN to a scope; gives what the joins are made on."""
    deciding = NOTHING
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
        deciding |= add_sources(node.this, scope)  # FROM (a JOIN b ON …)
    else:
        scope.relations.append(_pivoted(node, _relation(node, scope), scope))
    return deciding | add_joins(node, scope)


def add_joins(node: exp.Expr, scope: Scope) -> Uses:
    """Add what a table or a query is joined with; gives what the joins are made on."""
    deciding = NOTHING
    for join in node.args.get("joins") or ():
        first = len(scope.relations)
        deciding |= add_sources(join.this, scope)
        deciding |= influences(join.args.get("on"), scope, Subtype.JOIN)
        for shared in join.args.get("using") or ():
            scope.shared.add(shared.name.casefold())
            both = (_first(scope.relations[:first], shared.name), scope.relations[-1])
            for side in filter(None, both):
                deciding |= changed(side.find(shared.name) or NOTHING, Subtype.JOIN)
    for lateral in node.args.get("laterals") or ():
        scope.relations.append(_relation(lateral, scope))
    return deciding


def _first(relations: Sequence[Relation], name: str) -> Relation | None:
    """Where a column that several relations share is taken from."""
    return next((one for one in relations if one.find(name)), None)


def _relation(node: exp.Expr, scope: Scope) -> Relation:
    path, names = _alias(node)
    if isinstance(node, exp.Table):
        return _table(node, path, names, scope)
    inner = node.this if isinstance(node, exp.Lateral) else node
    if isinstance(inner, exp.Query):
        return scope.context.query(inner, scope).renamed(path, names)
    if isinstance(inner, exp.Values):
        return Relation(path, [Column(name, NOTHING) for name in names])
    # A function makes rows: any column of them is made of its arguments.
    made = changed(of_all([inner], scope.inner(*scope.relations)), Subtype.TRANSFORMATION)
    named = names or [str(column.name) for column in inner.find_all(exp.OpenJSONColumnDef)]
    return Relation(path, [Column(name, made) for name in named or [ANY_COLUMN]])


def _table(node: exp.Table, path: Name, names: Sequence[str], scope: Scope) -> Relation:
    parts = table_parts(node)
    cte = scope.ctes.get(parts[0]) if len(parts) == 1 else None
    if cte is not None:
        return cte.renamed(path or parts, names)
    if isinstance(node.this, exp.Func):
        made = changed(uses(node.this, scope), Subtype.TRANSFORMATION)
        return Relation(path, [Column(name, made) for name in names or [ANY_COLUMN]])
    table = found_table(parts, scope.context)
    if table is None:
        scope.context.gap("a table is not among those found")
        return Relation(path or parts, [Column(ANY_COLUMN, NOTHING)])
    columns = scope.context.columns(table)
    return table_relation(path or parts, table, columns).renamed(path or parts, names)


def table_parts(node: exp.Table) -> Name:
    """The parts of a table's name, folded, without those left out."""
    return tuple(part for part in _parts(node) if part)


def _parts(node: exp.Table) -> Iterator[str]:
    for place in ("catalog", "db", "this"):
        part = node.args.get(place)
        while isinstance(part, exp.Dot):
            yield part.this.name.casefold()
            part = part.expression
        if isinstance(part, exp.Parameter):
            yield f"@{part.name}".casefold()
        elif isinstance(part, exp.Identifier):
            sign = "#" if part.args.get("temporary") and part.name[:1] != "#" else ""
            yield f"{sign}{part.name}".casefold()


def found_table(parts: Name, context: Context) -> Name | None:
    """The table as the token scan names it, which calls temporary ones and paths by one part."""
    return context.tables.get(parts) or context.tables.get(parts[-1:])


def _alias(node: exp.Expr) -> tuple[Name, list[str]]:
    alias = node.args.get("alias")
    if not isinstance(alias, exp.TableAlias):
        return (), []
    path = (alias.name.casefold(),) if alias.name else ()
    return path, [column.name for column in alias.args.get("columns") or ()]


def _pivoted(node: exp.Expr, relation: Relation, scope: Scope) -> Relation:
    for pivot in node.args.get("pivots") or ():
        inside = scope.inner(relation)
        turn = _unpivot if pivot.args.get("unpivot") else _pivot
        gone, made = turn(pivot, inside)
        kept = [column for column in relation.columns if not gone & column.uses]
        path, _ = _alias(pivot)
        relation = Relation(path or relation.path, [*kept, *made], relation.influences)
    return relation


def _pivot(pivot: exp.Expr, scope: Scope) -> tuple[Uses, list[Column]]:
    """The columns that PIVOT takes in, and those that it makes: a value by an aggregate each."""
    aggregates = [uses(node, scope) for node in pivot.expressions]
    by = of_all([field.this for field in _fields(pivot)], scope)
    names = [column.name.strip("'\"") for column in pivot.args.get("columns") or ()]
    deciding = changed(by, Subtype.CONDITIONAL)
    made = [
        Column(name, aggregates[at % len(aggregates)] | deciding) for at, name in enumerate(names)
    ]
    taken = frozenset(Use(use.table, use.column) for use in by.union(*aggregates))
    return taken, made


def _unpivot(pivot: exp.Expr, scope: Scope) -> tuple[Uses, list[Column]]:
    values = of_all([one for field in _fields(pivot) for one in field.expressions], scope)
    made = [Column(value.name, values) for value in pivot.expressions]
    return values, [*made, *(Column(field.this.name, NOTHING) for field in _fields(pivot))]


def _fields(pivot: exp.Expr) -> list[Any]:
    return [field for field in pivot.args.get("fields") or () if isinstance(field, exp.In)]
