"""Project, Filter, Join, Sort, Expand, Union: operators that combine or select rows."""

from __future__ import annotations

import re

from dbt_graft.collectors.spark.gap_reasons import PLAN_CUT
from dbt_graft.collectors.spark.plans.arguments import (
    Attribute,
    attributes,
    is_cut,
    plain_expressions,
    split_arguments,
)
from dbt_graft.collectors.spark.plans.columns import (
    HIDDEN,
    NOTHING,
    ColumnTrace,
    Outputs,
    all_input_columns,
    first_argument,
    input_columns,
    make_columns,
)
from dbt_graft.collectors.spark.plans.tree import Operator
from dbt_graft.lineage.records import Subtype

_NULL_TEST = re.compile(
    r"isnotnull\([^()]*#(?P<id>\d{1,18})L?\)|\(size\([^()]*#(?P<size>\d{1,18})L?(?:, \w+)?\) > 0\)"
)
_PRUNING = re.compile(r"\bdynamicpruning#\d{1,18} \[[^\[\]]*\]")
_EXISTS = re.compile(r"ExistenceJoin\((?P<name>[^#()]*)#(?P<id>\d{1,18})")
_SCALA_LIST = re.compile(r"^[A-Z]\w+\((?P<items>.*)\)$", re.DOTALL)
# Marks of the rows that EXCEPT ALL or INTERSECT ALL counts of its second side.
_COUNTED = re.compile(r"-1 AS vcol#\d|true AS vcol2#\d")
_ONE_SIDE = ("LeftSemi", "LeftAnti")


def project(operator: Operator, trace: ColumnTrace) -> Outputs:
    """`Project [a#1, (b#2 + 1) AS c#3]`"""
    if output := operator.fields.get("Output"):
        return make_columns(output, trace, operator.sizes.get("Output", 0))
    return make_columns(first_argument(operator), trace)


def restrict(operator: Operator, trace: ColumnTrace) -> Outputs:
    """`Filter (a#1 > 3)`: the condition decides on rows."""
    filter_text(operator.fields.get("Condition", operator.arguments), trace)
    return input_columns(operator, trace)


def filter_text(condition: str, trace: ColumnTrace) -> None:
    """Add a condition on rows, without the tests for NULL that Spark may have added."""
    for test in _NULL_TEST.finditer(condition):
        trace.null_tested.add(int(test["id"] or test["size"]))
    # Dynamic pruning uses a key of a join, which is an influence already.
    certain = _PRUNING.sub("", _NULL_TEST.sub("", condition))
    trace.add_influences(certain, Subtype.FILTER)


def join(operator: Operator, trace: ColumnTrace) -> Outputs:
    """Keys and condition of a join decide on rows; a semi or anti join has only its left side."""
    keys = ("Left keys", "Right keys", "Join condition")
    if any(key in operator.fields for key in keys):
        for key in keys:
            trace.add_influences(operator.fields.get(key, ""), Subtype.JOIN)
    else:
        trace.add_influences(operator.arguments, Subtype.JOIN)
    how = f"{operator.name} {operator.fields.get('Join type', '')} {operator.text[:200]}"
    how += operator.arguments[:200]
    left: Outputs
    right: Outputs
    left, right, *_ = [*(trace.outputs.get(id(child), []) for child in operator.children), [], []]
    if match := _EXISTS.search(how):
        exists = Attribute(match["name"], int(match["id"]))
        trace.inputs_by_id[exists.id] = trace.inputs_of(
            " ".join(operator.fields.values()) or operator.arguments, subtype=Subtype.TRANSFORMATION
        )
        return (left, [exists])
    return left if any(side in how for side in _ONE_SIDE) else (left, right)


def sort(operator: Operator, trace: ColumnTrace) -> Outputs:
    """A sort of all rows decides on their order; one of a partition prepares a join or a write."""
    orders, *flags = split_arguments(operator.arguments)
    if flags[:1] == ["true"]:
        for order in plain_expressions(orders):
            trace.add_influences(order, Subtype.SORT)
    return input_columns(operator, trace)


def top(operator: Operator, trace: ColumnTrace) -> Outputs:
    """`3, [amount#25 DESC NULLS LAST], [order_id#23, a1#1045]`; extended, `(limit=3, …)`"""
    lists = [
        argument.partition("=")[2] or argument
        for argument in split_arguments(operator.arguments.strip("()"))
    ]
    lists = [argument for argument in lists if argument.startswith("[")]
    if lists:
        trace.add_influences(lists[0], Subtype.SORT)
    return make_columns(lists[-1], trace) if lists[1:] else input_columns(operator, trace)


def expand(operator: Operator, trace: ColumnTrace) -> Outputs:
    """`Expand [[a#1, b#2, 0], [a#1, null, 1]], [a#3, b#4, gid#5]`: each row several times."""
    rows, *rest = split_arguments(operator.arguments)
    if is_cut(operator.arguments):
        trace.gaps[PLAN_CUT] = None
    columns = attributes(rest[-1]) if rest else []
    sources = [set(trace.inputs_by_id.get(column.id, NOTHING)) for column in columns]
    before = [trace.inputs_by_id.get(column.id) for column in columns]
    for row in plain_expressions(rows):
        # Before Spark 3.2, `ArrayBuffer(a#1, null, 1)` or another of Scala's lists.
        row = _SCALA_LIST.sub(r"[\g<items>]", row)
        for at, text in enumerate(plain_expressions(row)[: len(columns)]):
            sources[at] |= trace.inputs_of(text)
    for column, inputs, was in zip(columns, sources, before, strict=True):
        trace.inputs_by_id[column.id] = was if was is not None else frozenset(inputs)
    return columns


def union(operator: Operator, trace: ColumnTrace) -> Outputs:
    """Columns of the same position are one column, with the ids of the first side.

    Of EXCEPT ALL and INTERSECT ALL, which Spark makes of a union, only the first side has values.
    """
    sides = [trace.columns_of(child) for child in operator.children]
    columns = attributes(operator.fields.get("Output", "")) or (sides[0] if sides else [])
    if len(sides) == 2 and _COUNTED.search(_listed(operator.children[1])):
        for side in sides:
            trace.influences |= trace.inputs_of_all(side, Subtype.JOIN)
        del sides[1]
    for at, column in enumerate(columns):
        inputs = [trace.inputs_by_id.get(side[at].id, NOTHING) for side in sides if at < len(side)]
        trace.inputs_by_id[column.id] = NOTHING.union(*inputs)
    return columns


def _listed(operator: Operator) -> str:
    return operator.fields.get("Output") or operator.arguments


def merge_rows(operator: Operator, trace: ColumnTrace) -> Outputs:
    """`MergeRows …, [keep(true, a#1, b#2)], [split(true, a#1, b#2, a#3, b#4)], false, [a#5, b#6]`:
    each instruction makes one or two rows with the columns of the last list. The extended layout
    has that list only.
    """
    lists = [
        argument for argument in split_arguments(operator.arguments) if argument.startswith("[")
    ]
    columns = attributes(lists[-1]) if lists else []
    if not lists[:-1]:
        trace.gaps[HIDDEN] = None
    sources = [set(trace.inputs_by_id.get(column.id, NOTHING)) for column in columns]
    for instruction in (
        expression for text in lists[:-1] for expression in plain_expressions(text)
    ):
        rows = 2 if instruction.startswith("split(") else 1
        values = plain_expressions(instruction.partition("(")[2].removesuffix(")"))
        # Before the values are a condition and, in Spark 4, the instruction's context.
        if columns and len(values) - rows * len(columns) not in (0, 1, 2):
            trace.gaps[PLAN_CUT] = None
            continue
        for at, text in enumerate(values[len(values) - rows * len(columns) :]):
            sources[at % len(columns)] |= trace.inputs_of(text)
    for column, inputs in zip(columns, sources, strict=True):
        trace.inputs_by_id[column.id] = frozenset(inputs)
    return columns


def set_operation(operator: Operator, trace: ColumnTrace) -> Outputs:
    """Intersect and Except compare all columns of both sides."""
    for child in operator.children:
        trace.influences |= trace.inputs_of_all(trace.columns_of(child), Subtype.JOIN)
    return input_columns(operator, trace)


def distinct(operator: Operator, trace: ColumnTrace) -> Outputs:
    """`Distinct`, `Deduplicate [a#1]`: groups by all columns, or by these."""
    listed = first_argument(operator)
    keys = attributes(listed) if "#" in listed else all_input_columns(operator, trace)
    trace.influences |= trace.inputs_of_all(keys, Subtype.GROUP_BY)
    return input_columns(operator, trace)
