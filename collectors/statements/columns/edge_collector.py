"""The column edges of a statement while they are collected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt_graft.collectors.statements.columns.expressions import inputs
from dbt_graft.collectors.statements.columns.input_columns import (
    NOTHING,
    SENT,
    VARIABLE,
    InputColumns,
    sent_as,
)
from dbt_graft.collectors.statements.columns.query_scope import QueryScope
from dbt_graft.collectors.statements.columns.rowsets import Rowset
from dbt_graft.collectors.statements.columns.sources import add_sources, table_parts
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import ANY_COLUMN, EdgeType, Masking, Subtype


def fill(collector: EdgeCollector, rowset: Rowset, names: Sequence[str] = ()) -> None:
    """Put the columns of a query into the target's, by position where these have names."""
    context = collector.scope.context
    # One column of a value is that column: `INSERT INTO t (x) SELECT inline(items)`.
    is_single = len(names) == len(rowset.columns) == 1 and not any(
        input_column.column == ANY_COLUMN for input_column in rowset.columns[0].inputs
    )
    if names and (rowset.is_open or len(names) < len(rowset.columns)) and not is_single:
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


@frozen
class ParsedColumnEdge:
    """A column of a table that a statement reads has a part in one that it writes.

    Attributes:
        table: The table written, named as the statement's accesses name it; empty for the result
            of a query that writes nothing.
        column: `*` for all of them, or where it is not known which.
        from_table: Empty for what the task sends, as parameters or literals.
        masking: The operation that hides the value.
    """

    table: Name
    column: str
    from_table: Name
    from_column: str
    subtype: Subtype
    masking: Masking = Masking.NONE


@dataclass(slots=True)
class EdgeCollector:
    """The edges of one statement that leads to one target.

    Attributes:
        result: The columns of the query that fills it; empty where one is not known.
    """

    scope: QueryScope
    target: Name
    edges: dict[ParsedColumnEdge, None]
    row_inputs: InputColumns = NOTHING
    result: tuple[str, ...] = ()

    def add_edges(self, column: str, inputs: InputColumns, table: Name | None = None) -> None:
        """Add the inputs of a column of the target, or of another table."""
        target = self.target if table is None else table
        for input_column in sorted(sent_as(inputs, "" if column == ANY_COLUMN else column)):
            if input_column.source == VARIABLE:
                if input_column.subtype.type is EdgeType.DIRECT:
                    self.scope.context.gap("what a variable holds is not followed")
                continue
            on_itself = (
                input_column.source == target and input_column.subtype.type is EdgeType.INDIRECT
            )
            if input_column.column and (target == () or not on_itself):
                self.edges[ParsedColumnEdge(target, column, *input_column)] = None

    def add_row_edges(self, inputs: InputColumns) -> None:
        """Add the inputs that decide on the rows of the target."""
        self.row_inputs |= inputs
        self.add_edges(ANY_COLUMN, inputs)

    @property
    def columns(self) -> Sequence[str]:
        """The target's columns as the schema has them."""
        return self.scope.context.columns(self.target)
