"""A statement's tree -> its column edges: which column that it writes comes from which.

Inputs that decide on rows (JOIN, FILTER, GROUP_BY, SORT) act on all columns of the target and lead
to its column `*`, as in the `dataset` list of OpenLineage's column lineage; those that decide on
one value (CONDITIONAL, WINDOW) lead to that column. A `*` at the end of a direct edge stands for
columns that are not known: `SELECT *` of a table without a schema.
https://openlineage.io/docs/spec/facets/dataset-facets/column_lineage_facet
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence

from sqlglot import exp

from dbt_graft.collectors.statements.columns.edge_collector import (
    EdgeCollector,
    ParsedColumnEdge,
)
from dbt_graft.collectors.statements.columns.expressions import clause_inputs, inputs
from dbt_graft.collectors.statements.columns.input_columns import NOTHING, InputColumns
from dbt_graft.collectors.statements.columns.queries import add_ctes, query_rowset
from dbt_graft.collectors.statements.columns.query_scope import QueryContext, QueryScope
from dbt_graft.collectors.statements.columns.rowsets import Rowset, RowsetColumn
from dbt_graft.collectors.statements.columns.sources import (
    add_sources,
    found_table,
    table_parts,
)
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.records import ANY_COLUMN, Subtype

_log = logging.getLogger(__name__)


def column_edges(
    tree: exp.Expr,
    reads: Sequence[Name],
    writes: Sequence[Name],
    dialect: Dialect,
    columns: Callable[[Name], Sequence[str]] = lambda _: (),
) -> tuple[tuple[ParsedColumnEdge, ...], str | None]:
    """The column edges of a statement, and why some are missing where some are.

    Args:
        tree: Small enough to be walked by recursion.
        reads, writes: The tables that the token scan found.
        columns: A table as the scan names it -> its columns; empty where they are not known.
    """
    tables = {tuple(part.casefold() for part in name if part): name for name in (*writes, *reads)}
    context = QueryContext(dialect, tables, columns, query_rowset)
    collector = EdgeCollector(QueryScope(context), writes[0] if writes else (), {})
    follow = _STATEMENTS.get(type(tree), _query if isinstance(tree, exp.Query) else None)
    if follow is None:
        return (), "not supported for this statement" if reads and writes else None
    try:
        add_ctes(tree, collector.scope)
        follow(tree, collector)
    except (AttributeError, IndexError, KeyError, TypeError, RecursionError):
        # sqlglot's trees have no schema: a form that we do not know costs its columns only.
        _log.debug("a statement has an unknown form", exc_info=True)
        context.gap("the statement has an unknown form")
    return tuple(collector.edges), ", ".join(context.gaps) if writes and context.gaps else None


def _query(tree: exp.Expr, collector: EdgeCollector) -> None:
    _fill(collector, query_rowset(tree, collector.scope))


def _fill(collector: EdgeCollector, rowset: Rowset, names: Sequence[str] = ()) -> None:
    """Put the columns of a query into the target's, by position where these have names."""
    context = collector.scope.context
    if names and (rowset.is_open or len(names) < len(rowset.columns)):
        context.gap("* stands for columns that are not known")
        names = [ANY_COLUMN] * len(rowset.columns)
    elif rowset.is_open and collector.target:
        context.gap("* of a table whose columns are not known")
    for at, column in enumerate(rowset.columns):
        collector.add_edges(names[at] if at < len(names) else column.name, column.inputs)
    collector.add_row_edges(rowset.influences)


def _create(tree: exp.Expr, collector: EdgeCollector) -> None:
    if not isinstance(tree.expression, exp.Query):
        return
    _fill(collector, query_rowset(tree.expression, collector.scope), _named(tree.this))


def _alter(tree: exp.Expr, collector: EdgeCollector) -> None:
    """`ALTER VIEW v AS SELECT …`; other changes have no columns."""
    for action in tree.args.get("actions") or ():
        if isinstance(action, exp.Query):
            _fill(collector, query_rowset(action, collector.scope), _named(tree.this))


def _named(target: exp.Expr | None) -> list[str]:
    """The columns in brackets after a target."""
    return [column.name for column in target.expressions] if isinstance(target, exp.Schema) else []


def _insert(tree: exp.Expr, collector: EdgeCollector) -> None:
    source = tree.expression or tree.args.get("source")  # INSERT INTO n TABLE t
    if not isinstance(source, exp.Query | exp.Table):
        return
    rowset = query_rowset(source, collector.scope)
    names = _named(tree.this) or _positions(tree, collector)
    filled = any(column.inputs for column in rowset.columns)
    if filled and not (names or tree.args.get("by_name")):
        collector.scope.context.gap("the target's columns are matched by name")
    _fill(collector, rowset, names)


def _inserts(tree: exp.Expr, collector: EdgeCollector) -> None:
    """`FROM t INSERT INTO a SELECT … INSERT INTO b SELECT …`: each SELECT is of what FROM names."""
    context = collector.scope.context
    for insert in tree.expressions:
        place = insert.this.this if isinstance(insert.this, exp.Schema) else insert.this
        target = found_table(table_parts(place), context)
        if target is None:
            context.gap("the statement has an unknown form")
            continue
        insert.expression.set("from_", exp.From(this=tree.args["source"].copy()))
        _insert(insert, EdgeCollector(collector.scope, target, collector.edges))


def _positions(tree: exp.Expr, collector: EdgeCollector) -> list[str]:
    """The target's columns after its schema; those of PARTITION (…) come last or not at all."""
    if tree.args.get("by_name"):
        return []
    partition = tree.find(exp.Partition)
    parts = partition.expressions if partition else []
    static = {one.this.name.casefold() for one in parts if isinstance(one, exp.EQ)}
    dynamic = [one.name for one in parts if not isinstance(one, exp.EQ)]
    partitioned = static | {name.casefold() for name in dynamic}
    first = [name for name in collector.columns if name.casefold() not in partitioned]
    return [*first, *dynamic] if first else []


def _update(tree: exp.Expr, collector: EdgeCollector) -> None:
    scope = collector.scope
    source = tree.args.get("from_")
    if source:
        collector.add_row_edges(add_sources(source.this, scope) | _influences(scope))
    target = _target(tree.this, scope)
    collector.add_row_edges(clause_inputs(tree.args.get("where"), scope, Subtype.FILTER))
    _assign(tree.expressions, collector, scope, target)


def _target(node: exp.Expr, scope: QueryScope) -> Rowset:
    """The rowset that UPDATE or MERGE change: an alias or a name in FROM, or one of its own."""
    name = node.name.casefold()
    for rowset in scope.rowsets:
        if rowset.path[-1:] == (name,):
            return rowset
    first = len(scope.rowsets)
    add_sources(node, scope)
    return scope.rowsets[first]


def _assign(
    assignments: Iterable[exp.Expr], collector: EdgeCollector, scope: QueryScope, target: Rowset
) -> None:
    """`SET a = b`: through a derived table or common table expression into the table below."""
    for one in assignments:
        if isinstance(one, exp.EQ) and isinstance(one.this, exp.Column):
            found = inputs(one.expression, scope)
            for below in target.find(one.this.name) or ():
                if below.subtype is Subtype.IDENTITY:
                    collector.add_edges(below.column, found, below.table)


def _influences(scope: QueryScope) -> InputColumns:
    return NOTHING.union(*(rowset.influences for rowset in scope.rowsets))


def _delete(tree: exp.Expr, collector: EdgeCollector) -> None:
    scope = collector.scope
    add_sources(tree.this or tree.args["tables"][0], scope)
    for other in tree.args.get("using") or ():
        collector.add_row_edges(add_sources(other, scope))
    collector.add_row_edges(clause_inputs(tree.args.get("where"), scope, Subtype.FILTER))


def _merge(tree: exp.Expr, collector: EdgeCollector) -> None:
    both = collector.scope.inner()
    target = _target(tree.this, both)
    add_sources(tree.args["using"], both)
    source = both.rowsets[-1]
    collector.add_row_edges(
        source.influences | clause_inputs(tree.args.get("on"), both, Subtype.JOIN)
    )
    only_source = collector.scope.inner(source)
    whens = tree.args.get("whens")
    for when in whens.expressions if whens else ():
        collector.add_row_edges(clause_inputs(when.args.get("condition"), both, Subtype.FILTER))
        action = when.args.get("then")
        if not isinstance(action, exp.Insert | exp.Update):
            continue
        if any(isinstance(one, exp.Star) for one in (action.this, *action.expressions)):
            _fill(collector, _same_names(source, collector.columns))
        elif isinstance(action, exp.Update):
            _assign(action.expressions, collector, both, target)
        elif action.expression:
            _insert_values(action, collector, only_source)


def _same_names(source: Rowset, columns: Sequence[str]) -> Rowset:
    """`UPDATE SET *`, `INSERT *`: the columns of the source that the target has too."""
    known = [
        RowsetColumn(name, found) for name in columns if (found := source.find(name)) is not None
    ]
    return Rowset((), known or source.columns)


def _insert_values(action: exp.Expr, collector: EdgeCollector, scope: QueryScope) -> None:
    named = [column.name for column in action.this.expressions] if action.this else []
    names = named or collector.columns
    values = action.expression.expressions
    if len(names) < len(values):
        scope.context.gap("the target's columns are not known")
    for name, value in zip(names, values, strict=False):
        collector.add_edges(name, inputs(value, scope))


_STATEMENTS: Mapping[type[exp.Expr], Callable[[exp.Expr, EdgeCollector], None]] = {
    exp.Alter: _alter,
    exp.Create: _create,
    exp.Delete: _delete,
    exp.Insert: _insert,
    exp.Merge: _merge,
    exp.MultitableInserts: _inserts,
    exp.Update: _update,
}
