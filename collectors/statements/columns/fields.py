"""The fields of structs, where an expression makes them: of a table's rows, of `STRUCT(…)`."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt_graft.collectors.statements.columns.expressions import inputs, inputs_of_all
from dbt_graft.collectors.statements.columns.input_columns import transformed
from dbt_graft.collectors.statements.columns.query_scope import QueryScope
from dbt_graft.collectors.statements.columns.rowsets import RowsetColumn
from dbt_graft.lineage.records import Subtype

# They leave a struct as it is, or take one of many.
_AROUND = (exp.Alias, exp.Bracket, exp.Limit, exp.Paren)


def struct_fields(node: exp.Expr, scope: QueryScope) -> Iterator[RowsetColumn]:
    """The fields of a struct; none where it is none, or they are not known.

    `ARRAY_AGG(t ORDER BY a LIMIT 1)[OFFSET(0)]` has the columns of t.
    """
    if isinstance(node, _AROUND):
        yield from struct_fields(node.this, scope)
    elif isinstance(node, exp.Order):
        order = transformed(inputs_of_all(node.expressions, scope), Subtype.SORT)
        for field in struct_fields(node.this, scope):
            yield RowsetColumn(field.name, field.inputs | order)
    elif isinstance(node, exp.ArrayAgg | exp.AnyValue):
        for field in struct_fields(node.this, scope):
            yield RowsetColumn(field.name, transformed(field.inputs, Subtype.AGGREGATION))
    elif isinstance(node, exp.Struct):
        for one in node.expressions:
            value = one.expression if isinstance(one, exp.PropertyEQ) else one
            name = one.this.name if isinstance(one, exp.PropertyEQ) else one.output_name
            yield RowsetColumn(name, inputs(value, scope))
    elif isinstance(node, exp.Column) and len(node.parts) == 1:
        for rowset in scope.named((node.name.casefold(),))[:1]:
            yield from rowset.columns
