"""A statement's tree -> its column edges: which column of what it writes comes from which.

What decides on rows (JOIN, FILTER, GROUP_BY, SORT) acts on the whole target and leads to its
column `*`, as in the `dataset` list of OpenLineage's column lineage; what decides on one value
(CONDITIONAL, WINDOW) leads to that column. A `*` at the end of a direct edge means columns that
are not known: `SELECT *` of a table without a schema.
https://openlineage.io/docs/spec/facets/dataset-facets/column_lineage_facet
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt_graft.collectors.statements.columns.expressions import influences, uses
from dbt_graft.collectors.statements.columns.queries import add_ctes, query_relation
from dbt_graft.collectors.statements.columns.relations import (
    Column,
    Context,
    Relation,
    Scope,
    Use,
    Uses,
)
from dbt_graft.collectors.statements.columns.sources import add_sources
from dbt_graft.collectors.statements.tables.scan_state import TableAccess
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.records import ANY_COLUMN, Direction, EdgeType, Subtype


@dataclass(frozen=True, slots=True)
class ColumnEdge:
    """A column of a table that a statement reads has a part in one that it writes.

    Attributes:
        table: What is written, named as the statement's accesses name it; empty for the result
            of a query that writes nothing.
        column: `*` for all of them, or where it is not known which.
        masking: The value cannot be told from the result.
    """

    table: Name
    column: str
    from_table: Name
    from_column: str
    subtype: Subtype
    masking: bool = False


@dataclass(slots=True)
class _Statement:
    """A statement while its edges are collected."""

    scope: Scope
    target: Name
    edges: dict[ColumnEdge, None]

    def edge(self, column: str, found: Uses, table: Name | None = None) -> None:
        """Note what has a part in a column of the target, or of another table."""
        target = self.target if table is None else table
        for use in sorted(found):
            itself = use.table == target and use.subtype.type is EdgeType.INDIRECT
            if target == () or not itself:
                self.edges[
                    ColumnEdge(target, column, use.table, use.column, use.subtype, use.masking)
                ] = None

    def decides(self, found: Uses) -> None:
        """Note what decides on the rows of the target."""
        self.edge(ANY_COLUMN, found)

    @property
    def columns(self) -> Sequence[str]:
        """The target's columns as the schema has them."""
        return self.scope.context.columns(self.target)


def column_edges(
    tree: exp.Expr,
    accesses: Iterable[TableAccess],
    dialect: Dialect,
    columns: Callable[[Name], Sequence[str]] = lambda _: (),
) -> tuple[tuple[ColumnEdge, ...], str | None]:
    """The column edges of a statement, and why some are missing where some are.

    Args:
        tree: Small enough to be walked by recursion.
        accesses: What the token scan found.
        columns: A table as the accesses name it -> its columns; empty where they are not known.
    """
    accesses = tuple(accesses)
    written = [a.name for a in accesses if a.direction is Direction.WRITE]
    tables = {tuple(part.casefold() for part in a.name if part): a.name for a in accesses}
    context = Context(dialect, tables, columns, query_relation)
    statement = _Statement(Scope(context), written[0] if written else (), {})
    read = _STATEMENTS.get(type(tree), _query if isinstance(tree, exp.Query) else None)
    if read is None:
        reads = any(a.direction is Direction.READ for a in accesses)
        return (), "columns: not followed in such a statement" if reads and written else None
    try:
        add_ctes(tree, statement.scope)
        read(tree, statement)
    except (AttributeError, IndexError, KeyError, TypeError, RecursionError):
        # sqlglot's trees have no schema: a form that we do not know costs its columns only.
        context.gap("the tree has a form that is not known")
    gaps = ", ".join(context.gaps) if written else ""
    return tuple(statement.edges), f"columns: {gaps}" if gaps else None


def _query(tree: exp.Expr, statement: _Statement) -> None:
    _fill(statement, query_relation(tree, statement.scope))


def _fill(statement: _Statement, relation: Relation, names: Sequence[str] = ()) -> None:
    """Put the columns of a query into the target's, by position where these have names."""
    context = statement.scope.context
    if names and (relation.is_open or len(names) < len(relation.columns)):
        context.gap("* takes the place of columns that are not known")
        names = [ANY_COLUMN] * len(relation.columns)
    elif relation.is_open and statement.target:
        context.gap("* of a table whose columns are not known")
    for at, column in enumerate(relation.columns):
        statement.edge(names[at] if at < len(names) else column.name, column.uses)
    statement.decides(relation.influences)


def _create(tree: exp.Expr, statement: _Statement) -> None:
    if not isinstance(tree.expression, exp.Query):
        return
    _fill(statement, query_relation(tree.expression, statement.scope), _named(tree.this))


def _named(target: exp.Expr | None) -> list[str]:
    """The columns in brackets behind a target."""
    return [column.name for column in target.expressions] if isinstance(target, exp.Schema) else []


def _insert(tree: exp.Expr, statement: _Statement) -> None:
    source = tree.expression or tree.args.get("source")  # INSERT INTO n TABLE t
    if not isinstance(source, exp.Query | exp.Table):
        return
    relation = query_relation(source, statement.scope)
    names = _named(tree.this) or _positions(tree, statement)
    filled = any(column.uses for column in relation.columns)
    if filled and not (names or tree.args.get("by_name")):
        statement.scope.context.gap("the target's are taken for those of the same name")
    _fill(statement, relation, names)


def _positions(tree: exp.Expr, statement: _Statement) -> list[str]:
    """The target's columns after its schema; those of PARTITION (…) come last or not at all."""
    if tree.args.get("by_name"):
        return []
    partition = tree.find(exp.Partition)
    given = partition.expressions if partition else []
    fixed = {one.this.name.casefold() for one in given if isinstance(one, exp.EQ)}
    late = [one.name for one in given if not isinstance(one, exp.EQ)]
    folded = fixed | {name.casefold() for name in late}
    first = [name for name in statement.columns if name.casefold() not in folded]
    return [*first, *late] if first else []


def _update(tree: exp.Expr, statement: _Statement) -> None:
    scope = statement.scope
    source = tree.args.get("from_")
    if source:
        statement.decides(add_sources(source.this, scope) | _influences(scope))
    target = _target(tree.this, scope)
    statement.decides(influences(tree.args.get("where"), scope, Subtype.FILTER))
    _assign(tree.expressions, statement, scope, target)


def _target(node: exp.Expr, scope: Scope) -> Relation:
    """The relation that UPDATE or MERGE change: an alias or a name in FROM, or one of its own."""
    name = node.name.casefold()
    for relation in scope.relations:
        if relation.path[-1:] == (name,):
            return relation
    first = len(scope.relations)
    add_sources(node, scope)
    return scope.relations[first]


def _assign(
    assignments: Iterable[exp.Expr], statement: _Statement, scope: Scope, target: Relation
) -> None:
    """`SET a = b`: through a derived table or common table expression into the table below."""
    for one in assignments:
        if isinstance(one, exp.EQ) and isinstance(one.this, exp.Column):
            found = uses(one.expression, scope)
            for use in target.find(one.this.name) or ():
                if use.subtype is Subtype.IDENTITY:
                    statement.edge(use.column, found, use.table)


def _influences(scope: Scope) -> Uses:
    return frozenset[Use]().union(*(relation.influences for relation in scope.relations))


def _delete(tree: exp.Expr, statement: _Statement) -> None:
    scope = statement.scope
    add_sources(tree.this or tree.args["tables"][0], scope)
    for other in tree.args.get("using") or ():
        statement.decides(add_sources(other, scope))
    statement.decides(influences(tree.args.get("where"), scope, Subtype.FILTER))


def _merge(tree: exp.Expr, statement: _Statement) -> None:
    both = statement.scope.inner()
    target = _target(tree.this, both)
    add_sources(tree.args["using"], both)
    source = both.relations[-1]
    statement.decides(source.influences | influences(tree.args.get("on"), both, Subtype.JOIN))
    only_source = statement.scope.inner(source)
    whens = tree.args.get("whens")
    for when in whens.expressions if whens else ():
        statement.decides(influences(when.args.get("condition"), both, Subtype.FILTER))
        action = when.args.get("then")
        if not isinstance(action, exp.Insert | exp.Update):
            continue
        if any(isinstance(one, exp.Star) for one in (action.this, *action.expressions)):
            _fill(statement, _same_names(source, statement.columns))
        elif isinstance(action, exp.Update):
            _assign(action.expressions, statement, both, target)
        elif action.expression:
            _insert_values(action, statement, only_source)


def _same_names(source: Relation, columns: Sequence[str]) -> Relation:
    """`UPDATE SET *`, `INSERT *`: the columns of the source that the target has too."""
    known = [Column(name, found) for name in columns if (found := source.find(name)) is not None]
    return Relation((), known or source.columns)


def _insert_values(action: exp.Expr, statement: _Statement, scope: Scope) -> None:
    named = [column.name for column in action.this.expressions] if action.this else []
    names = named or statement.columns
    values = action.expression.expressions
    if len(names) < len(values):
        scope.context.gap("the target's columns are not known")
    for name, value in zip(names, values, strict=False):
        statement.edge(name, uses(value, scope))


_STATEMENTS: Mapping[type[exp.Expr], Callable[[exp.Expr, _Statement], None]] = {
    exp.Create: _create,
    exp.Delete: _delete,
    exp.Insert: _insert,
    exp.Merge: _merge,
    exp.Update: _update,
}
