"""GROUP BY and ORDER BY, which name columns of the result by place, by alias, or all of them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dbt_graft.collectors.statements.columns.dialect_rules import GROUP_ALIASES_FIRST
from dbt_graft.collectors.statements.columns.expressions import inputs, inputs_of_all
from dbt_graft.collectors.statements.columns.input_columns import (
    NOTHING,
    InputColumns,
    transform_inputs,
)
from dbt_graft.collectors.statements.columns.query_scope import QueryScope
from dbt_graft.collectors.statements.columns.rowsets import RowsetColumn
from dbt_graft.lineage.records import Subtype


def group_inputs(
    group: exp.Expr,
    projections: Sequence[exp.Expr],
    columns: Sequence[RowsetColumn],
    scope: QueryScope,
) -> InputColumns:
    """The inputs of `GROUP BY a, 2, ALL, ROLLUP (b)`."""
    input_columns = NOTHING
    if group.args.get("all"):
        input_columns = inputs_of_all(
            [projection for projection in projections if not _is_aggregated(projection)], scope
        )
    for node in group.iter_expressions():
        input_columns |= _at_place(node, columns) or _by_alias(node, scope) or inputs(node, scope)
    return transform_inputs(input_columns, Subtype.GROUP_BY)


def order_inputs(
    order: exp.Expr, columns: Sequence[RowsetColumn], scope: QueryScope
) -> InputColumns:
    """The inputs of `ORDER BY a, 2, ALL`."""
    input_columns = NOTHING
    for node in order.expressions:
        value = node.this if isinstance(node, exp.Ordered) else node
        if isinstance(value, exp.Var) and value.name.upper() == "ALL":
            input_columns = input_columns.union(*(column.inputs for column in columns))
        else:
            input_columns |= _at_place(value, columns) or inputs(value, scope)
    return input_columns


def _at_place(node: exp.Expr, columns: Sequence[RowsetColumn]) -> InputColumns:
    if not isinstance(node, exp.Literal) or not node.is_int:
        return NOTHING
    at = int(node.this) - 1
    return columns[at].inputs if at < len(columns) else NOTHING


def _by_alias(node: exp.Expr, scope: QueryScope) -> InputColumns:
    is_name = isinstance(node, exp.Column) and len(node.parts) == 1
    if not is_name or scope.context.dialect not in GROUP_ALIASES_FIRST:
        return NOTHING
    return scope.aliases.get(node.name.casefold(), NOTHING)


def _is_aggregated(projection: exp.Expr) -> bool:
    """Whether a projection has an aggregate that is no window function."""
    return any(
        not isinstance(aggregate.parent, exp.Window)
        for aggregate in projection.find_all(exp.AggFunc)
    )
