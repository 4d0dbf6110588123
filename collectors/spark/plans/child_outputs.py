"""Input and output columns of operators."""

from __future__ import annotations

from dbt_graft.collectors.spark.gap_reasons import PLAN_CUT
from dbt_graft.collectors.spark.plans.arguments import (
    Attribute,
    attribute,
    attributes,
    expressions,
    is_cut,
    split_arguments,
)
from dbt_graft.collectors.spark.plans.columns import ColumnTrace, Outputs
from dbt_graft.collectors.spark.plans.tree import Operator


def input_columns(operator: Operator, trace: ColumnTrace) -> Outputs:
    """The columns that an operator takes from its first child."""
    if text := operator.fields.get("Input"):
        return attributes(text)
    for child in operator.children:
        return trace.outputs.get(id(child), [])
    return []


def all_input_columns(operator: Operator, trace: ColumnTrace) -> list[Attribute]:
    """The columns of all children."""
    if text := operator.fields.get("Input"):
        return attributes(text)
    return [column for child in operator.children for column in trace.columns_of(child)]


def make_columns(items: str, trace: ColumnTrace, size: int = 0) -> list[Attribute]:
    """Add the columns of a list of named expressions to the trace."""
    if is_cut(items):
        trace.gaps[PLAN_CUT] = None
    columns = []
    for item in expressions(items):
        if column := attribute(item):
            columns.append(column)
            inputs = trace.inputs_of(item)
            if inputs or column.id not in trace.inputs_by_id:
                trace.inputs_by_id[column.id] = inputs
    trace.name_columns(columns, size, items)
    return columns


def first_argument(operator: Operator) -> str:
    """The first argument of an operator."""
    return split_arguments(operator.arguments)[0]
