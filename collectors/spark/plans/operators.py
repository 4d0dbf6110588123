"""Column lineage of operators, physical and logical, in every layout of the text.

Of generators and user functions Spark knows the inputs at best.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import takewhile

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.spark.gap_reasons import PLAN_CUT, PLAN_SHORT
from dbt_graft.collectors.spark.plans import grouping, references, relational
from dbt_graft.collectors.spark.plans.arguments import (
    Attribute,
    attributes,
    bracket_items,
    column_list,
    expressions,
    is_cut,
    plain_expressions,
    split_arguments,
)
from dbt_graft.collectors.spark.plans.columns import (
    NOTHING,
    OPAQUE,
    UNKNOWN,
    ColumnTrace,
    Outputs,
    ResolveLeaf,
    all_input_columns,
    flatten,
    input_columns,
    leaves_first,
)
from dbt_graft.collectors.spark.plans.expressions import column_references
from dbt_graft.collectors.spark.plans.tree import Operator, PlanText
from dbt_graft.lineage.records import Subtype

_LIST = re.compile(r"\[[^\[\]]*#\d{1,18}L?[^\[\]]*\]")
_PARTITION_FILTERS = re.compile(r"PartitionFilters: (?P<list>\[[^\n]*?\])(?:, [A-Z]\w+: |$)")
_SUBQUERY = re.compile(r"(?:scalar-subquery|exists|list)#(\d{1,18}) \[")


_Rule = Callable[[Operator, ColumnTrace], Outputs]


def trace_columns(plan: PlanText, root: Operator, sources: ResolveLeaf) -> ColumnTrace:
    """Trace columns from the leaves of a plan to its root.

    Args:
        plan: The plan of the root, with its subqueries.
        sources: Resolves what a leaf, or a view, reads.
    """
    trace = ColumnTrace(sources)
    if plan.is_cut:
        trace.gaps[PLAN_SHORT] = None
    # In a logical plan, recursive queries do not name their columns.
    for name, loop in references.loops(root).items():
        if not references.loop_columns(loop) and plan.root:
            loop.text = references.loops(plan.root).get(name, loop).text
    views = {
        id(operator)
        for operator in root.walk()
        if operator.kind == "View" and sources(operator, [])
    }
    # A subquery inside another one comes after it.
    for number, subquery in reversed(plan.subqueries.items()):
        _trace_all(subquery, trace, views)
        references.subquery_column(number, subquery, trace)
    _trace_all(root, trace, views)
    trace.finish()
    return trace


def _trace_all(root: Operator, trace: ColumnTrace, views: set[int]) -> None:
    trace.stages |= grouping.stages(root)
    trace.definitions |= references.loops(root)
    for operator in leaves_first(root, lambda node: id(node) in views):
        if id(operator) in trace.outputs:
            continue
        for number, inside in zip(
            _SUBQUERY.findall(operator.arguments), operator.inside, strict=False
        ):
            references.subquery_column(int(number), inside, trace)
        rule = _rule(operator, leaf=id(operator) in views)
        trace.outputs[id(operator)] = rule(operator, trace)


def _rule(operator: Operator, *, leaf: bool) -> _Rule:
    if leaf:
        return references.view
    if operator.kind == "Scan" and operator.inside:
        return references.cached_columns  # `Scan In-memory table t`
    if rule := _RULES.get(operator.kind):
        return rule
    if operator.kind.endswith("Join"):
        return relational.join
    if operator.kind.endswith("Window"):
        return grouping.window
    if operator.kind.endswith(grouping.AGGREGATES):
        return grouping.aggregate
    return input_columns if operator.children or operator.inside else _trace_leaf


def _trace_leaf(operator: Operator, trace: ColumnTrace) -> Outputs:
    text = operator.fields.get("Output", "") or column_list(operator.arguments)
    if not text and (match := _LIST.search(operator.arguments)):
        text = match.group()
    columns = attributes(text)
    cut = is_cut(text)
    source = trace.resolve_leaf(operator, columns)
    for column in columns:
        if column.id not in trace.inputs_by_id or source:
            trace.inputs_by_id[column.id] = source.inputs(column.name) if source else NOTHING
    trace.name_columns(columns, operator.sizes.get("Output", 0), text)
    if source:
        trace.influences |= source.influences
        if not source.is_known:
            trace.gaps[OPAQUE] = None
        for filters in _pushed_filters(operator):
            for condition in plain_expressions(filters):
                if "dynamicpruning" not in condition:
                    relational.filter_text(condition, trace)
    if cut:
        trace.gaps[PLAN_CUT] = None
    return columns


def _pushed_filters(operator: Operator) -> Iterable[str]:
    """The filters on partitions, which are in no Filter above."""
    if filters := operator.fields.get("PartitionFilters"):
        yield filters
    elif match := _PARTITION_FILTERS.search(operator.text):
        yield match["list"]
    if "HiveTableRelation" in operator.arguments:
        yield from split_arguments(operator.arguments)[2:]


_CALL = re.compile(r"(?P<name>[a-z_]+)\((?P<arguments>.*)\)", re.DOTALL)
_NEW_ID = re.compile(r"#(?P<id>\d{1,18})")
# Generators that make as many rows of any value, or as many as a grouping has counted.
_OF_FIXED_ROWS = (
    *(f"{name}({made}(" for name in ("explode", "posexplode") for made in ("array", "map")),
    *("inline(array(", "json_tuple(", "replicaterows(", "stack("),
)


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
    by_place = _values_by_place(generator, len(new_columns))
    sources = trace.inputs_of(generator, subtype=Subtype.TRANSFORMATION)
    if not generator.startswith(_OF_FIXED_ROWS):
        trace.add_influences(generator, Subtype.JOIN)
    for at, column in enumerate(new_columns):
        trace.inputs_by_id[column.id] = (
            NOTHING.union(*map(trace.inputs_of, by_place[at])) if by_place else sources
        )
    staying = attributes(lists[0]) if len(lists) > 1 and "#" in lists[0] else None
    if staying is None and "Input" not in operator.fields:
        left_out = set(bracket_items(lists[0])) if len(lists) > 1 else set()
        columns = enumerate(flatten(input_columns(operator, trace)))
        return ([column for at, column in columns if str(at) not in left_out], new_columns)
    return (staying if staying is not None else [], new_columns)


def _values_by_place(generator: str, size: int) -> list[list[str]]:
    """The values of each of so many columns that a generator lists one by one; empty otherwise.

    `stack(2, a, b#1, c, d#2)`, `inline(array(struct(x, a#1), struct(x, b#2)))` and, for
    EXCEPT ALL and INTERSECT ALL, `replicaterows(count#1, a#2, b#3)`.
    """
    call = _CALL.fullmatch(generator)
    if call is None or not size:
        return []
    values = split_arguments(call["arguments"])
    rows, more = divmod(len(values) - 1, size)
    if call["name"] == "stack" and values[0] == str(rows) and not more:
        return [values[1 + at :: size] for at in range(size)]
    if call["name"] == "replicaterows" and len(values) == 1 + size:
        return [[value] for value in values[1:]]
    array = _CALL.fullmatch(values[0]) if call["name"].startswith("inline") else None
    if array is None or array["name"] != "array":
        return []
    structs = [_CALL.fullmatch(text) for text in split_arguments(array["arguments"])]
    fields = [
        split_arguments(struct["arguments"])[1::2]
        for struct in structs
        if struct and struct["name"].endswith("struct")
    ]
    if len(fields) < len(structs) or any(len(row) != size for row in fields):
        return []
    return [list(column) for column in zip(*fields, strict=True)]


def python(operator: Operator, trace: ColumnTrace) -> Outputs:
    """`[f(a#1)#338], [pythonUDF0#340], 101`: each function makes one column."""
    functions, *rest = [*split_arguments(operator.arguments), ""]
    new_columns = attributes(rest[0])
    for text, column in zip(
        expressions(functions) or plain_expressions(functions), new_columns, strict=False
    ):
        trace.inputs_by_id[column.id] = trace.inputs_of(text, subtype=Subtype.TRANSFORMATION)
    return (input_columns(operator, trace), new_columns)


def union_loop(operator: Operator, trace: ColumnTrace) -> Outputs:
    """A recursive query: its rows are those of the first query, and those that the second one makes
    of its rows, which are traced until no column gets another input.
    """
    queries = references.loop_queries(operator)
    columns = references.loop_columns(operator)
    if not columns:
        trace.gaps[UNKNOWN] = None
    trace.inputs_by_id.update((column.id, NOTHING) for column in columns)
    for first in queries[:1]:
        for column, source in zip(columns, trace.columns_of(first), strict=False):
            trace.inputs_by_id[column.id] = trace.inputs_by_id.get(source.id, NOTHING)
    for second in queries[1:]:
        while True:
            sides = list(zip(columns, trace.columns_of(second), strict=False))
            inputs = [trace.inputs_by_id.get(source.id, NOTHING) for _, source in sides]
            if all(
                new <= trace.inputs_by_id[column.id]
                for (column, _), new in zip(sides, inputs, strict=True)
            ):
                break
            for (column, _), new in zip(sides, inputs, strict=True):
                trace.inputs_by_id[column.id] |= new
            for inner in leaves_first(second):
                # A view and what it reads have nothing of the loop.
                if id(inner) in trace.outputs and inner.kind != "View":
                    trace.outputs[id(inner)] = _rule(inner, leaf=False)(inner, trace)
    return columns


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


_OPAQUE = words("""
    AppendColumns CoGroup DeserializeToObject FlatMapCoGroupsInArrow FlatMapCoGroupsInPandas
    FlatMapGroups FlatMapGroupsInArrow FlatMapGroupsInPandas FlatMapGroupsInPandasWithState
    HiveScriptTransformation MapElements MapGroups MapInArrow MapInPandas MapPartitions
    PythonMapInArrow ScriptTransformation SerializeFromObject TransformWithState
    TransformWithStateInPandas TransformWithStateInPySpark""")
_RULES: Mapping[str, _Rule] = {
    **dict.fromkeys(_OPAQUE, opaque),
    **dict.fromkeys(("ArrowEvalPython", "BatchEvalPython"), python),
    **dict.fromkeys(("AggregateInPandas", "ArrowAggregatePython"), grouping.python_aggregate),
    **dict.fromkeys(("WindowInPandas", "ArrowWindowPython"), grouping.window),
    **dict.fromkeys(("Intersect", "Except"), relational.set_operation),
    **dict.fromkeys(("Distinct", "Deduplicate"), relational.distinct),
    **dict.fromkeys(("ReusedExchange", "InMemoryRelation"), references.reused_columns),
    "CTERelationDef": references.cte_definition,
    "CTERelationRef": references.cte_reference,
    "Expand": relational.expand,
    "Filter": relational.restrict,
    "Generate": generate,
    "InMemoryTableScan": references.cached_columns,
    "MergeRows": relational.merge_rows,
    **dict.fromkeys(("Project", "ProjectAst"), relational.project),
    "Sort": relational.sort,
    "TakeOrderedAndProject": relational.top,
    **dict.fromkeys(("TopK", "TopN"), relational.top),
    "Union": relational.union,
    "UnionLoop": union_loop,
    "UnionLoopRef": references.loop_reference,
    "Subquery": references.subquery,
    "WithCTE": references.with_cte,
}
