"""A query -> the relation that it makes: its columns, and what decides which rows there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest

from sqlglot import exp

from dbt_graft.collectors.statements.columns.expressions import (
    influences,
    of_all,
    uses,
    window_uses,
)
from dbt_graft.collectors.statements.columns.relations import (
    NOTHING,
    Column,
    Relation,
    Scope,
    Uses,
    changed,
)
from dbt_graft.collectors.statements.columns.sources import add_joins, add_sources
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.records import ANY_COLUMN, Subtype

# Clauses behind FROM, and what the columns in them do to the rows.
_CLAUSES: Mapping[str, Subtype] = {
    "where": Subtype.FILTER,
    "group": Subtype.GROUP_BY,
    "having": Subtype.FILTER,
    "qualify": Subtype.FILTER,
}
_ORDERS = ("order", "sort", "cluster", "distribute")


def query_relation(node: exp.Expr, outer: Scope) -> Relation:
    """The rows of a SELECT, of a set of them (UNION…), or of what stands for one.

    Common table expressions of the query are known in it and below.
    """
    scope = outer.inner()
    add_ctes(node, scope)
    if isinstance(node, exp.SetOperation):
        return _ordered(node, _union(node, scope), scope)
    if isinstance(node, exp.Select):
        return _select(node, scope)
    if isinstance(node, exp.Subquery | exp.Paren):
        return _ordered(node, query_relation(node.this, scope), scope)
    if isinstance(node, exp.Table):  # TABLE t
        add_sources(node, scope)
        return scope.relations[0]
    return Relation((), [])  # VALUES


def add_ctes(node: exp.Expr, scope: Scope) -> None:
    """Make the common table expressions of a statement known in a scope."""
    clause = node.args.get("with_")
    for cte in clause.expressions if clause else ():
        name = cte.alias.casefold()
        names = [column.name for column in cte.args["alias"].args.get("columns") or ()]
        body = cte.this
        if isinstance(body, exp.SetOperation) and _names_itself(body, name):
            # A recursive one begins with what does not name it; each round adds what goes in.
            first = query_relation(body.left, scope)
            scope.ctes[name] = first.renamed((name,), names)
        scope.ctes[name] = query_relation(body, scope).renamed((name,), names)


def _names_itself(body: exp.Expr, name: str) -> bool:
    return any(table.name.casefold() == name for table in body.find_all(exp.Table))


def _union(node: exp.SetOperation, scope: Scope) -> Relation:
    # A thousand UNIONs are nested to the left.
    branches: list[exp.Expr] = [node.expression]
    left = node.this
    while isinstance(left, exp.SetOperation) and not left.args.get("with_"):
        branches.append(left.expression)
        left = left.this
    relation = query_relation(left, scope)
    for branch in reversed(branches):
        other = query_relation(branch, scope)
        matched = _by_name if node.args.get("by_name") else _by_position
        relation = Relation(
            (), list(matched(relation, other)), relation.influences | other.influences
        )
    return relation


def _by_position(one: Relation, other: Relation) -> Iterator[Column]:
    if one.is_open or other.is_open:
        # Which column meets which is not known.
        yield from one.columns
        yield from other.columns
        return
    for mine, theirs in zip_longest(one.columns, other.columns):
        if mine and theirs:
            yield Column(mine.name, mine.uses | theirs.uses)


def _by_name(one: Relation, other: Relation) -> Iterator[Column]:
    for column in one.columns:
        yield Column(column.name, column.uses | (other.find(column.name) or NOTHING))
    yield from (column for column in other.columns if not one.knows(column.name.casefold()))


def _select(node: exp.Select, scope: Scope) -> Relation:
    source = node.args.get("from_")
    deciding = add_sources(source.this, scope) if source else NOTHING
    deciding |= add_joins(node, scope)
    deciding |= NOTHING.union(*(relation.influences for relation in scope.relations))
    for window in node.args.get("windows") or ():
        scope.windows[window.name.casefold()] = window_uses(window, scope)
    columns: list[Column] = []
    for projection in node.expressions:
        for column in _projected(projection, scope):
            columns.append(column)
            if scope.context.dialect is Dialect.SPARK:
                scope.aliases.setdefault(column.name.casefold(), column.uses)
    for clause, subtype in _CLAUSES.items():
        deciding |= influences(node.args.get(clause), scope, subtype)
    return _ordered(node, Relation((), columns, deciding), scope)


def _ordered(node: exp.Expr, relation: Relation, scope: Scope) -> Relation:
    """ORDER BY means the columns of the result first, then those of the sources."""
    orders = [node.args[clause] for clause in _ORDERS if node.args.get(clause)]
    if not orders:
        return relation
    known = [column for column in relation.columns if column.name != ANY_COLUMN]
    result = Relation((), known if scope.relations else relation.columns)
    deciding = changed(of_all(orders, scope.inner(result)), Subtype.SORT)
    return Relation(relation.path, relation.columns, relation.influences | deciding)


def _projected(node: exp.Expr, scope: Scope) -> Iterable[Column]:
    star = node.this if isinstance(node, exp.Column) else node
    if isinstance(star, exp.Star):
        parts = node.parts[:-1] if isinstance(node, exp.Column) else []
        qualifier = [part.name.casefold() for part in parts]
        return _starred(star, tuple(qualifier), scope)
    found = uses(node, scope)
    if isinstance(node, exp.Aliases):
        return [Column(alias.name, found) for alias in node.expressions]
    return [Column(node.output_name or node.sql(scope.context.dialect.value), found)]


def _starred(star: exp.Star, qualifier: tuple[str, ...], scope: Scope) -> Iterator[Column]:
    left_out = {column.name.casefold() for column in star.args.get("except_") or ()}
    replaced: dict[str, Uses] = {
        alias.alias.casefold(): uses(alias, scope) for alias in star.args.get("replace") or ()
    }
    seen: set[str] = set()
    for relation in scope.relations:
        if relation.path[-len(qualifier) :] != qualifier and qualifier:
            continue
        for column in relation.columns:
            name = column.name.casefold()
            if name in left_out or (name in seen and name in scope.shared):
                continue
            seen.add(name)
            yield Column(column.name, replaced.get(name, column.uses))
