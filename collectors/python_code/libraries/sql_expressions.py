"""Expressions that are texts of SQL: `F.expr("a + b AS c")`, `df.selectExpr(…)`."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.python_code.libraries.column_expressions import named
from dbt_graft.collectors.python_code.values.machine import Call
from dbt_graft.collectors.python_code.values.values import (
    PENDING,
    UNKNOWN,
    Data,
    Form,
    Input,
    Items,
    LineGap,
    Value,
    change,
)
from dbt_graft.collectors.statements.columns.tree import parse_statements
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.code import UNKNOWN_PART
from dbt_graft.lineage.records import Subtype


def sql_expression(call: Call) -> Value:
    """`F.expr("a + b AS c")`."""
    texts = call.machine.items(call.get("", 0)) or Items((call.get("", 0) or UNKNOWN,))
    made = [parse_expression(call, text) for text in texts.values]
    return made[0] if len(made) == 1 else call.machine.new_list(made)


def parse_expression(call: Call, value: Value) -> Data | Items:
    """The columns that an expression of SQL makes, as the same in a query; several of `stack`."""
    text = call.machine.text(value)
    if text is None:
        gap = call.gap("the text of an expression is not known")
        return replace(call.machine.data(value).with_gap(gap), form=Form.EXPRESSION)
    try:
        query = f"SELECT {text} FROM graft_row"  # noqa: S608
        tree = parse_statements(query, Dialect.SPARK.value)[0]
        projection = tree.selects[0] if isinstance(tree, exp.Query) and tree.selects else tree
        (shape,) = parse(tree.transform(_with_dots).sql(Dialect.SPARK.value), Dialect.SPARK)
        if projection.find(exp.Query):
            raise ValueError(text)
    except (SqlglotError, RecursionError, ValueError):
        gap = call.gap("an expression in SQL is not read")
        return Data(gaps=frozenset({gap}), form=Form.EXPRESSION)
    inputs: dict[str, set[Input]] = {}
    makes_rows = False
    gaps: set[LineGap] = set()
    for edge in shape.column_edges:
        made = ColumnInput(PENDING, edge.from_column, edge.subtype, edge.masking)
        if edge.subtype is Subtype.JOIN:
            makes_rows = True
        elif UNKNOWN_PART not in edge.from_column:
            inputs.setdefault(edge.column, set()).add(made)
        else:
            gaps.add(call.gap("a part of an expression is not known"))
    parts = change(call.machine.data(value).inputs)
    if parts or inputs:  # it is a value
        gaps = set()
    if isinstance(projection, exp.Column) and not gaps:
        return named(_with_dots(projection).name)
    is_aggregate = projection.find(exp.AggFunc) is not None and not projection.find(exp.Window)
    base = Data(
        place=call.place,
        form=Form.EXPRESSION,
        gaps=frozenset(gaps),
        is_aggregate=is_aggregate,
        makes_rows=makes_rows,
    )
    if len(shape.result) > 1:
        each = ((name, parts.union(inputs.get(name, ()))) for name in shape.result)
        return Items(tuple(replace(base, inputs=of_it, name=name) for name, of_it in each))
    all_of_it = parts.union(*inputs.values())
    return replace(base, inputs=all_of_it, name=next(iter(shape.result), None))


def _with_dots(node: exp.Expr) -> exp.Expr:
    """A column with what stands before its name as a part of that: a table, or a struct."""
    if not isinstance(node, exp.Column) or len(node.parts) < 2:
        return node
    return exp.column(".".join(part.name for part in node.parts), quoted=True)
