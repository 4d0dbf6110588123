"""Aggregates and windows: values computed from many rows."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import zip_longest

from dbt_graft.collectors.spark.gap_reasons import PLAN_CUT
from dbt_graft.collectors.spark.plans.arguments import (
    Attribute,
    attribute,
    attributes,
    bracket_items,
    is_cut,
    plain_expressions,
    split_arguments,
)
from dbt_graft.collectors.spark.plans.columns import (
    HIDDEN,
    NOTHING,
    UNKNOWN,
    ColumnInputs,
    ColumnTrace,
    Outputs,
    first_argument,
    input_columns,
    make_columns,
)
from dbt_graft.collectors.spark.plans.tree import Operator
from dbt_graft.lineage.records import Subtype

AGGREGATES = ("Aggregate", "Agg")
_STAGE = re.compile(r"(?<![a-z])(?:partial|merge)_")
_STEP = re.compile(r"^(?:partial_|merge_)+")
# Operators between the stages of one aggregation.
_BETWEEN_STAGES = ("Exchange", "Sort", "ShuffleExchange", "ColumnarExchange", "AQEShuffleRead")


def aggregate(operator: Operator, trace: ColumnTrace) -> Outputs:
    """Keys are influences, functions make columns; in every layout of the text."""
    keys, functions, aggregates, results = _lists(operator)
    for key in plain_expressions(keys):
        # `normalizenanandzero(a#1) AS a#2`, of floating point numbers that are counted distinctly.
        if (column := attribute(key)) and column.id not in trace.inputs_by_id:
            trace.inputs_by_id[column.id] = trace.inputs_of(key)
    _add_functions(functions, aggregates, trace, _reused_stage(operator))
    prepares = _STAGE.search(functions[:20]) or id(operator) in trace.stages or "gid#" in keys
    if not prepares:
        trace.add_influences(keys, Subtype.GROUP_BY)
    if not results and "functions=" in operator.text and "output=" not in operator.text:
        trace.gaps[HIDDEN] = None  # a plan in the simple layout
    columns = make_columns(results, trace, operator.sizes.get("Results", 0))
    if functions and not aggregates and not prepares:
        grouped = {key.id for key in attributes(keys)}
        others = [column for column in columns if column.id not in grouped]
        # A renamed key may be anywhere among them.
        all_keys = len(columns) - len(others) == len(plain_expressions(keys))
        _add_by_position(others, functions if all_keys or len(others) == 1 else "", trace)
    return columns


def _lists(operator: Operator) -> tuple[str, str, str, str]:
    """The keys, functions, attributes and results of an aggregation."""
    if "Results" in operator.fields:
        keys, functions = operator.fields.get("Keys", ""), operator.fields.get("Functions", "")
        aggregates = operator.fields.get("Aggregate Attributes", "")
        return keys, functions, aggregates, operator.fields["Results"]
    if operator.text.startswith("(keys="):
        keys, functions, results = _keyword_arguments(operator.text)
        return keys, functions, "", results
    lists = [
        argument for argument in split_arguments(operator.arguments) if argument.startswith("[")
    ]
    # Photon and RAPIDS list all; a logical one has its functions in its results.
    if len(lists) > 2:
        keys, functions, aggregates, results = ["", *lists][-4:]
        return keys, functions, aggregates, results
    # An empty list is left out. Without keys, all results are functions with names.
    if len(lists) == 1 and " AS " not in lists[0]:
        return lists[0], "", "", ""
    keys, results = ["", "", *lists][-2:]
    return keys, "", "", results


def _keyword_arguments(text: str) -> tuple[str, str, str]:
    """`(keys=[a#1], functions=[sum(b#2)], output=[a#1, s#3])`"""
    arguments = {
        name.strip(): value
        for part in split_arguments(text.removeprefix("(").removesuffix(")"))
        for name, _, value in [part.partition("=")]
    }
    return arguments.get("keys", ""), arguments.get("functions", ""), arguments.get("output", "")


def _reused_stage(operator: Operator) -> list[str]:
    """The functions of the partial aggregation behind a reused exchange: the aggregation's own
    have ids that are nowhere else in the plan.
    """
    below, reused = operator, False
    while below.reuses or len(below.children) == 1:
        reused |= below.reuses is not None
        below = below.reuses or below.children[0]
        if below.kind.endswith(AGGREGATES):
            return plain_expressions(below.fields.get("Functions", "")) if reused else []
        if below.kind not in (*_BETWEEN_STAGES, "ReusedExchange"):
            break
    return []


def _add_functions(functions: str, aggregates: str, trace: ColumnTrace, reused: list[str]) -> None:
    if is_cut(functions) or is_cut(aggregates):
        trace.gaps[PLAN_CUT] = None
    texts = plain_expressions(functions)
    names = attributes(aggregates)
    filters: dict[str, list[ColumnInputs]] = defaultdict(list)
    times: Counter[str] = Counter()
    names_or_none = names if len(names) == len(texts) else []
    for text, name, stage in zip_longest(texts, names_or_none, reused, fillvalue=None):
        if text is None:
            continue
        inputs = trace.inputs_of(text) or trace.inputs_of(stage or "")
        bare = _STEP.sub("", text.partition(" FILTER (")[0])
        if text.startswith("partial_"):
            filters[bare].append(inputs if " FILTER (" in text else NOTHING)
        # Only the first stage shows a filter; the last has its functions in the same order.
        before = trace.filtered.get(bare, ())
        inputs |= before[times[bare]] if times[bare] < len(before) else NOTHING
        times[bare] += 1
        if name is not None:
            trace.inputs_by_id[name.id] = inputs
        if " AS " in text and (column := attribute(text)):
            trace.inputs_by_id[column.id] = inputs
    trace.filtered |= filters


def _add_by_position(columns: list[Attribute], functions: str, trace: ColumnTrace) -> None:
    """Add columns by position: the extended layout names neither functions nor renamed keys."""
    texts = plain_expressions(functions)
    if len(texts) == len(columns):
        for column, text in zip(columns, texts, strict=True):
            trace.inputs_by_id[column.id] = trace.inputs_by_id.get(column.id) or trace.inputs_of(
                text
            )
    else:
        trace.gaps[UNKNOWN] = None


def window(operator: Operator, trace: ColumnTrace) -> Outputs:
    """`Window [rank(a#1) windowspecdefinition(…) AS r#2], [k#3], [a#1 ASC]`"""
    return (input_columns(operator, trace), make_columns(first_argument(operator), trace))


def python_aggregate(operator: Operator, trace: ColumnTrace) -> Outputs:
    """`[k#1], [f(v#2)#5], [k#1, f(v)#6 AS f#7]`"""
    keys, functions, results, *_ = [*split_arguments(operator.arguments), "", "", ""]
    trace.add_influences(keys, Subtype.GROUP_BY)
    texts = plain_expressions(functions)
    columns = make_columns(results, trace)
    grouped = {key.id for key in attributes(keys)}
    for column, text in zip((c for c in columns if c.id not in grouped), texts, strict=False):
        trace.inputs_by_id[column.id] = trace.inputs_of(text, subtype=Subtype.AGGREGATION)
    return columns


def stages(root: Operator) -> set[int]:
    """The identities of partial aggregations: their keys are those of the last stage, or make the
    values of `count(DISTINCT b#2)` differ.
    """
    partials: set[int] = set()
    for operator in root.walk():
        if not operator.kind.endswith(AGGREGATES) or operator.kind == "Aggregate":
            continue
        keys, functions, *_ = _lists(operator)
        if "[partial_" in functions and "(distinct " not in functions:
            continue
        below = operator
        while len(below.children) == 1:
            below = below.children[0]
            if below.kind.endswith(AGGREGATES) and _prepares(below, keys, functions):
                partials.add(id(below))
            if below.kind not in _BETWEEN_STAGES:
                break
    return partials


def _prepares(below: Operator, keys: str, functions: str) -> bool:
    """Whether an aggregation is a stage of that above it, and not one of a subquery: in one
    partition Spark makes an aggregation in one stage.
    """
    keys_below, functions_below, *_ = _lists(below)
    if bracket_items(functions_below):
        return _STAGE.search(functions_below) is not None
    if "(distinct " in functions:
        return True
    same_keys = {key.id for key in attributes(keys)} == {key.id for key in attributes(keys_below)}
    return same_keys and not bracket_items(functions)
