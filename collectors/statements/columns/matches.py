"""Clauses after FROM that match rows with others: MATCH_RECOGNIZE and CONNECT BY."""

from __future__ import annotations

from sqlglot import exp

from dbt_graft.collectors.statements.columns.expressions import (
    clause_inputs,
    inputs,
    inputs_of_all,
)
from dbt_graft.collectors.statements.columns.input_columns import InputColumns, transform_inputs
from dbt_graft.collectors.statements.columns.query_scope import QueryScope
from dbt_graft.collectors.statements.columns.rowsets import Rowset, RowsetColumn
from dbt_graft.lineage.records import Subtype


def connect_inputs(connect: exp.Expr, scope: QueryScope) -> InputColumns:
    """START WITH … CONNECT BY …, a join of a table with itself."""
    start = clause_inputs(connect.args.get("start"), scope, Subtype.FILTER)
    return start | clause_inputs(connect.args.get("connect"), scope, Subtype.JOIN)


def match_inputs(match: exp.Expr, scope: QueryScope) -> InputColumns:
    """MATCH_RECOGNIZE: the measures of a pattern in sorted rows; `up.a` is `a` of such a row."""
    source = scope.rowsets[-1]
    variables = {
        column.parts[0].name.casefold() for column in match.find_all(exp.Column) if column.table
    }
    inside = scope.inner(*(Rowset((name,), source.columns) for name in variables)).inner(source)
    partition = match.args.get("partition_by") or []
    order = match.args.get("order")
    window = transform_inputs(
        inputs_of_all([*partition, *([order] if order else [])], inside), Subtype.WINDOW
    )
    rows = match.args.get("rows")
    remaining = [
        RowsetColumn(expression.output_name, inputs(expression, inside)) for expression in partition
    ]
    if rows is not None and rows.name.upper().startswith("ALL"):
        remaining = list(source.columns)
    measures = [
        RowsetColumn(
            measure.this.output_name,
            transform_inputs(inputs(measure.this, inside), Subtype.TRANSFORMATION) | window,
        )
        for measure in match.args.get("measures") or ()
    ]
    alias = match.args.get("alias")
    path = (alias.name.casefold(),) if alias and alias.name else source.path
    scope.rowsets[-1] = Rowset(path, [*remaining, *measures], source.influences)
    return transform_inputs(inputs_of_all(match.args.get("define") or (), inside), Subtype.FILTER)
