"""Generators and user functions, of which Spark knows the inputs at best."""

from __future__ import annotations

import re
from itertools import takewhile

from dbt_graft.collectors.spark.plans.arguments import (
    Attribute,
    attributes,
    bracket_items,
    expressions,
    plain_expressions,
    split_arguments,
)
from dbt_graft.collectors.spark.plans.child_outputs import all_input_columns, input_columns
from dbt_graft.collectors.spark.plans.columns import OPAQUE, ColumnTrace, Outputs, flatten
from dbt_graft.collectors.spark.plans.expressions import column_references
from dbt_graft.collectors.spark.plans.tree import Operator
from dbt_graft.lineage.records import Subtype

_LIST = re.compile(r"\[[^\[\]]*#\d{1,18}L?[^\[\]]*\]")
_NEW_ID = re.compile(r"#(?P<id>\d{1,18})")


def generate(operator: Operator, trace: ColumnTrace) -> Outputs:
    """`Generate explode(tags#1), [id#2], false, [tag#3]`: the second list has the input columns
    that stay; in a logical plan, `[0]`, the positions of those that do not.
    """
    generator, *rest = split_arguments(operator.arguments)
    trace.explained.update(
        reference.id for reference in column_references(generator, trace.inputs_by_id)
    )
    lists = [argument for argument in rest if argument.startswith("[")]
    new_columns = attributes(lists[-1]) if lists else []
    sources = trace.inputs_of(generator, subtype=Subtype.TRANSFORMATION)
    for column in new_columns:
        trace.inputs_by_id[column.id] = sources
    staying = attributes(lists[0]) if len(lists) > 1 and "#" in lists[0] else None
    if staying is None and "Input" not in operator.fields:
        left_out = set(bracket_items(lists[0])) if len(lists) > 1 else set()
        columns = enumerate(flatten(input_columns(operator, trace)))
        return ([column for at, column in columns if str(at) not in left_out], new_columns)
    return (staying if staying is not None else [], new_columns)


def python(operator: Operator, trace: ColumnTrace) -> Outputs:
    """`[f(a#1)#338], [pythonUDF0#340], 101`: each function makes one column."""
    functions, *rest = [*split_arguments(operator.arguments), ""]
    new_columns = attributes(rest[0])
    for text, column in zip(
        expressions(functions) or plain_expressions(functions), new_columns, strict=False
    ):
        trace.inputs_by_id[column.id] = trace.inputs_of(text, subtype=Subtype.TRANSFORMATION)
    return (input_columns(operator, trace), new_columns)


def opaque(operator: Operator, trace: ColumnTrace) -> Outputs:
    """A function of rows: each of its columns depends on all of its inputs."""
    inputs = all_input_columns(operator, trace)
    sources = trace.inputs_of_all(inputs, Subtype.TRANSFORMATION)
    input_ids = {column.id for column in inputs}
    text = operator.arguments
    new_columns = [
        column
        for column in _new_columns(text)
        if column.id not in input_ids and column.id not in trace.inputs_by_id
    ]
    for column in new_columns:
        trace.inputs_by_id[column.id] = sources
    if sources:
        trace.gaps[OPAQUE] = None
    if "MapGroups" in operator.kind or "MapCoGroups" in operator.kind:
        # The keys, of each side: `[k#1], [k#2], f(k#1, v#3)#5, [v#6]`.
        for keys in takewhile(lambda argument: argument.startswith("["), split_arguments(text)):
            trace.add_influences(keys, Subtype.GROUP_BY)
        # In a logical plan, of each side how many of its first columns: `1, 1, f(k#1, v#3)#5, …`.
        counts = takewhile(str.isdigit, split_arguments(text))
        for count, child in zip(counts, operator.children, strict=False):
            firsts = trace.columns_of(child)[: int(count)]
            trace.influences |= trace.inputs_of_all(firsts, Subtype.GROUP_BY)
    return new_columns or inputs


def _new_columns(text: str) -> list[Attribute]:
    lists = _LIST.findall(text)
    if lists:
        return attributes(lists[-1])
    return [Attribute("", int(match["id"])) for match in _NEW_ID.finditer(text)]
