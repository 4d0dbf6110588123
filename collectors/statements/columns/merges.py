"""MERGE: its branches write what they take from the source, into a row of the target."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dbt_graft.collectors.statements.columns.edge_collector import EdgeCollector
from dbt_graft.collectors.statements.columns.expressions import clause_inputs, inputs
from dbt_graft.collectors.statements.columns.query_scope import QueryScope
from dbt_graft.collectors.statements.columns.rowsets import Rowset, RowsetColumn
from dbt_graft.collectors.statements.columns.sources import add_sources
from dbt_graft.collectors.statements.columns.targets import assign, fill, target_rowset
from dbt_graft.lineage.records import Subtype


def merge(tree: exp.Expr, collector: EdgeCollector) -> None:
    """Add the edges of a MERGE."""
    scope = collector.scope
    target = target_rowset(tree.this, scope)
    first = len(scope.rowsets)
    collector.add_row_edges(add_sources(tree.args["using"], scope))
    sources = scope.rowsets[first:]
    source = Rowset((), [column for rowset in sources for column in rowset.columns])
    collector.add_row_edges(
        clause_inputs(tree.args.get("on"), scope, Subtype.JOIN).union(
            *(rowset.influences for rowset in sources)
        )
    )
    only_source = collector.scope.inner(*sources)
    whens = tree.args.get("whens")
    for when in whens.expressions if whens else ():
        collector.add_row_edges(clause_inputs(when.args.get("condition"), scope, Subtype.FILTER))
        action = when.args.get("then")
        if not isinstance(action, exp.Insert | exp.Update):
            continue
        if any(isinstance(part, exp.Star) for part in (action.this, *action.expressions)):
            fill(collector, _same_names(source, collector.columns))
        elif isinstance(action, exp.Update):
            assign(action.expressions, collector, scope, target)
        elif action.expression:
            _insert_values(action, collector, only_source)


def _same_names(source: Rowset, columns: Sequence[str]) -> Rowset:
    """`UPDATE SET *`, `INSERT *`: the columns of the source that the target has too."""
    shared = [
        RowsetColumn(name, input_columns)
        for name in columns
        if (input_columns := source.find(name)) is not None
    ]
    return Rowset((), shared or source.columns)


def _insert_values(action: exp.Expr, collector: EdgeCollector, scope: QueryScope) -> None:
    named = [column.name for column in action.this.expressions] if action.this else []
    names = named or collector.columns
    values = action.expression.expressions
    if len(names) < len(values):
        scope.context.gap("the target's columns are not known")
    if len(values) == 1:
        values = values * len(names)  # equal values were folded into one
    for name, value in zip(names, values, strict=False):
        collector.add_edges(name, inputs(value, scope))
