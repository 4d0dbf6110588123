"""Values that go into the columns of a target: of a query, of assignments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from dbt_graft.collectors.statements.columns.edge_collector import EdgeCollector
from dbt_graft.collectors.statements.columns.expressions import inputs
from dbt_graft.collectors.statements.columns.input_columns import SENT
from dbt_graft.collectors.statements.columns.query_scope import QueryScope
from dbt_graft.collectors.statements.columns.rowsets import Rowset
from dbt_graft.collectors.statements.columns.sources import add_sources, table_parts
from dbt_graft.lineage.records import ANY_COLUMN, Subtype


def fill(collector: EdgeCollector, rowset: Rowset, names: Sequence[str] = ()) -> None:
    """Put the columns of a query into the target's, by position where these have names."""
    context = collector.scope.context
    if names and (rowset.is_open or len(names) < len(rowset.columns)):
        context.gap("* stands for columns that are not known")
        names = [ANY_COLUMN] * len(rowset.columns)
    elif rowset.is_open and collector.target:
        context.gap("* of a table whose columns are not known")
    result = [*names, *(column.name for column in rowset.columns[len(names) :])]
    if not rowset.is_open and all(result) and ANY_COLUMN not in result:
        collector.result = tuple(result)
    for at, column in enumerate(rowset.columns):
        name = names[at] if at < len(names) else column.name
        if name:
            collector.add_edges(name, column.inputs)
        elif column.inputs - {SENT}:
            context.gap("a column's name was taken out as a value")
    collector.add_row_edges(rowset.influences)


def target_rowset(node: exp.Expr, scope: QueryScope) -> Rowset:
    """The rowset that UPDATE or MERGE change: an alias or a name in FROM, or one of its own."""
    name = table_parts(node)[-1:] if isinstance(node, exp.Table) else ()
    for rowset in scope.rowsets:
        if name and rowset.path[-1:] == name:
            return rowset
    first = len(scope.rowsets)
    add_sources(node, scope)
    return scope.rowsets[first]


def assign(
    assignments: Iterable[exp.Expr], collector: EdgeCollector, scope: QueryScope, target: Rowset
) -> None:
    """`SET a = b`: through a derived table or common table expression into the table below."""
    for assignment in assignments:
        if isinstance(assignment, exp.EQ) and isinstance(assignment.this, exp.Column):
            input_columns = inputs(assignment.expression, scope)
            column = assignment.this.name
            for below in target.find(column) or target.place(column) or ():
                if below.subtype is Subtype.IDENTITY:
                    collector.add_edges(below.column, input_columns, below.source)
