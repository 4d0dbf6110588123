"""The fields of structs, where an expression makes them: of a table's rows, of `STRUCT(…)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from dbt_graft.collectors.statements.columns.expressions import inputs, inputs_of_all
from dbt_graft.collectors.statements.columns.input_columns import transform_inputs
from dbt_graft.collectors.statements.columns.query_scope import QueryScope
from dbt_graft.collectors.statements.columns.rowsets import RowsetColumn
from dbt_graft.lineage.records import Subtype

# They leave a struct as it is, or take one of many.
_AROUND = (exp.Alias, exp.Bracket, exp.Limit, exp.Paren)


def struct_fields(node: exp.Expr, scope: QueryScope) -> Sequence[RowsetColumn]:
    """The fields of a struct; none where it is none, or they are not known.

    `ARRAY_AGG(t ORDER BY a LIMIT 1)[OFFSET(0)]` has the columns of t.
    """
    while isinstance(node, _AROUND):
        node = node.this
    make = _STRUCTS.get(type(node))
    return make(node, scope) if make else ()


def _ordered_fields(node: exp.Expr, scope: QueryScope) -> Sequence[RowsetColumn]:
    order = transform_inputs(inputs_of_all(node.expressions, scope), Subtype.SORT)
    fields = struct_fields(node.this, scope)
    return [RowsetColumn(field.name, field.inputs | order) for field in fields]


def _aggregated_fields(node: exp.Expr, scope: QueryScope) -> Sequence[RowsetColumn]:
    return [
        RowsetColumn(field.name, transform_inputs(field.inputs, Subtype.AGGREGATION))
        for field in struct_fields(node.this, scope)
    ]


def _constructor_fields(node: exp.Expr, scope: QueryScope) -> Sequence[RowsetColumn]:
    """The fields of `STRUCT(a, b + 1 AS c)`."""
    fields = []
    for expression in node.expressions:
        is_named = isinstance(expression, exp.PropertyEQ)
        value, name = (
            (expression.expression, expression.this.name)
            if is_named
            else (expression, expression.output_name)
        )
        fields.append(RowsetColumn(name, inputs(value, scope)))
    return fields


def _row_fields(node: exp.Expr, scope: QueryScope) -> Sequence[RowsetColumn]:
    """The columns of a table whose name stands for its rows."""
    if node.args.get("table"):
        return ()
    rowsets = scope.find_rowsets((node.name.casefold(),))
    return rowsets[0].columns if rowsets else ()


_STRUCTS: Mapping[type[exp.Expr], Callable[[exp.Expr, QueryScope], Sequence[RowsetColumn]]] = {
    exp.AnyValue: _aggregated_fields,
    exp.ArrayAgg: _aggregated_fields,
    exp.Column: _row_fields,
    exp.Order: _ordered_fields,
    exp.Struct: _constructor_fields,
}
