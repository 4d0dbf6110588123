"""References to plans: reused exchanges, cached relations, CTEs, subqueries, views."""

from __future__ import annotations

import re

from dbt_graft.collectors.spark.gap_reasons import PLAN_CUT
from dbt_graft.collectors.spark.plans.arguments import (
    Attribute,
    attributes,
    expression_columns,
    is_cut,
    plain_expressions,
)
from dbt_graft.collectors.spark.plans.columns import (
    NOTHING,
    ColumnTrace,
    Outputs,
    first_argument,
    input_columns,
)
from dbt_graft.collectors.spark.plans.tree import Operator

_LIST = re.compile(r"\[[^\[\]]*#\d{1,18}L?[^\[\]]*\]")
_NEW_ID = re.compile(r"#(?P<id>\d{1,18})")
_MERGED = "mergedValue"
# Greater than any id of Spark's.
_OWN_IDS = 10**17
_CTE_ID = re.compile(r"\d{1,18}")


def reused_columns(operator: Operator, trace: ColumnTrace) -> Outputs:
    """The columns of a reused exchange or cached plan, by position."""
    origin = operator.reuses or next(iter(operator.inside or operator.children), None)
    text = operator.fields.get("Output") or first_argument(operator)
    columns = attributes(text)
    if origin is None:
        return columns
    for column, source in zip(columns, trace.columns_of(origin), strict=False):
        trace.inputs_by_id[column.id] = trace.inputs_by_id.get(source.id, NOTHING)
    trace.name_columns(columns, 0, text)
    if is_cut(text):
        trace.gaps[PLAN_CUT] = None
    return columns


def cached_columns(operator: Operator, trace: ColumnTrace) -> Outputs:
    """A scan of a cached relation has the relation's columns."""
    listed = _LIST.search(operator.arguments)
    return attributes(operator.fields.get("Output") or (listed.group() if listed else ""))


def cte_definition(operator: Operator, trace: ColumnTrace) -> Outputs:
    if match := _CTE_ID.search(operator.arguments):
        trace.definitions[match.group()] = operator
    return input_columns(operator, trace)


def cte_reference(operator: Operator, trace: ColumnTrace) -> Outputs:
    match, columns = _CTE_ID.search(operator.arguments), _LIST.search(operator.arguments)
    listed = attributes(columns.group()) if columns else []
    definition = trace.definitions.get(match.group()) if match else None
    for column, source in zip(
        listed, trace.columns_of(definition) if definition else [], strict=False
    ):
        trace.inputs_by_id[column.id] = trace.inputs_by_id.get(source.id, NOTHING)
    return listed


def loops(root: Operator) -> dict[str, Operator]:
    """The recursive queries of a plan, by what their references call them."""
    return {_loop(operator): operator for operator in root.walk() if operator.kind == "UnionLoop"}


def loop_queries(loop: Operator) -> list[Operator]:
    """The query that a recursive one begins with, and that which it repeats."""
    return [*loop.children, *loop.inside]


def loop_columns(operator: Operator) -> list[Attribute]:
    """The columns of a recursive query, or of a reference to it."""
    listed = _LIST.search(operator.arguments)
    return attributes(operator.fields.get("Output") or (listed.group() if listed else ""))


def loop_reference(operator: Operator, trace: ColumnTrace) -> Outputs:
    """The rows so far: at first those of the first query, then those of the loop as well."""
    columns = loop_columns(operator)
    loop = trace.definitions.get(_loop(operator))
    first = loop_queries(loop)[:1] if loop else []
    for rows in (*map(trace.columns_of, first), loop_columns(loop) if loop else []):
        for column, source in zip(columns, rows, strict=False):
            before = trace.inputs_by_id.get(column.id, NOTHING)
            trace.inputs_by_id[column.id] = before | trace.inputs_by_id.get(source.id, NOTHING)
    return columns


def _loop(operator: Operator) -> str:
    number = _CTE_ID.search(operator.fields.get("Loop id", operator.arguments))
    return f"loop {number.group()}" if number else ""


def with_cte(operator: Operator, trace: ColumnTrace) -> Outputs:
    return trace.outputs.get(id(operator.children[-1]), []) if operator.children else []


def view(operator: Operator, trace: ColumnTrace) -> Outputs:
    """A view that is read as a dataset: its columns are those of the query below it."""
    source = trace.resolve_leaf(operator, [])
    listed = _LIST.search(operator.arguments)
    below = [listed.group()] if listed else [first_argument(child) for child in operator.children]
    columns = expression_columns(below[0]) if below else []
    for column in columns:
        trace.inputs_by_id[column.id] = source.inputs(column.name) if source else NOTHING
    return columns


def subquery(operator: Operator, trace: ColumnTrace) -> Outputs:
    """`Subquery scalar-subquery#12, [id=#45]` inside an operator of the extended layout."""
    if match := _NEW_ID.search(operator.text):
        subquery_column(
            int(match["id"]), operator.children[0] if operator.children else operator, trace
        )
    return []


def subquery_column(number: int, query: Operator, trace: ColumnTrace) -> None:
    """Add a subquery to the trace: its id stands for its first column.

    Spark merges subqueries that read the same into one, whose column is a struct of theirs:
    `Project [named_struct(max(id), max(id)#5, avg(age), avg(age)#6) AS mergedValue#7]`, used as
    `Subquery subquery#8, [id=#9].max(id)`.
    """
    columns = trace.columns_of(query)
    if columns:
        trace.inputs_by_id[number] = trace.inputs_by_id.get(columns[0].id, NOTHING)
    if columns and columns[0].name == _MERGED:
        projects = (operator for operator in query.walk() if operator.kind == "Project")
        text = next((project.fields.get("Output") or project.arguments for project in projects), "")
        fields = plain_expressions(
            text.partition("named_struct(")[2].rpartition(f") AS {_MERGED}")[0]
        )
        for at, (name, value) in enumerate(zip(fields[::2], fields[1::2], strict=False)):
            id_ = _OWN_IDS + number * 1_000 + at
            trace.inputs_by_id[id_] = trace.inputs_of(value)
            trace.merged[number, name] = id_
