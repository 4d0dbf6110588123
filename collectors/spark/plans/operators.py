"""What each operator does to columns: physical and logical ones, in both layouts of the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import zip_longest

from collectors.spark.plans.arguments import (
    Attribute,
    attribute,
    attributes,
    expressions,
    is_cut,
    plain_expressions,
    split_arguments,
)
from collectors.spark.plans.columns import (
    CUT,
    NOTHING,
    OPAQUE,
    Outputs,
    Sources,
    Trace,
    leaves_first,
)
from collectors.spark.plans.expressions import parts
from collectors.spark.plans.text import Operator, PlanText
from lineage.records import Subtype

_LIST = re.compile(r"\[[^\[\]]*#\d{1,18}L?[^\[\]]*\]")
_UNSURE = re.compile(
    r"isnotnull\([^()]*#(?P<id>\d{1,18})L?\)|\(size\([^()]*#(?P<size>\d{1,18})L?(?:, \w+)?\) > 0\)"
)
_STAGE = re.compile(r"(?:partial|merge)_")
_NEW_ID = re.compile(r"#(?P<id>\d{1,18})")
_EXISTS = re.compile(r"ExistenceJoin\((?P<name>[^#()]*)#(?P<id>\d{1,18})")
_PARTITION_FILTERS = re.compile(r"PartitionFilters: (?P<list>\[[^\n]*?\])(?:, [A-Z]\w+: |$)")
_CTE_ID = re.compile(r"\d{1,18}")
# What may stand between the stages of one aggregation.
_BETWEEN_STAGES = ("Exchange", "Sort", "ShuffleExchange", "ColumnarExchange", "AQEShuffleRead")
_AGGREGATES = ("Aggregate", "Agg")
_SUBQUERY = re.compile(r"(?:scalar-subquery|exists|list)#(\d{1,18}) \[")
_ONE_SIDE = ("LeftSemi", "LeftAnti")

_Rule = Callable[[Operator, Trace], Outputs]


def trace_columns(plan: PlanText, root: Operator, sources: Sources) -> Trace:
    """Follow columns from the leaves of a plan to its root.

    Args:
        plan: The text that the root is of; it has the subqueries.
        sources: Which datasets a leaf, or a view, reads.
    """
    trace = Trace(sources)
    if plan.is_cut:
        trace.gaps[CUT] = None
    views = {id(one) for one in root.walk() if one.kind == "View" and sources(one, [])}
    # Subqueries that are in another stand behind it.
    for number, subquery in reversed(plan.subqueries.items()):
        _follow_all(subquery, trace, views)
        _is_column(number, subquery, trace)
    _follow_all(root, trace, views)
    trace.finish()
    return trace


def _follow_all(root: Operator, trace: Trace, views: set[int]) -> None:
    trace.stages |= _stages(root)
    for operator in leaves_first(root, lambda one: id(one) in views):
        if id(operator) in trace.outputs:
            continue
        for number, inside in zip(
            _SUBQUERY.findall(operator.arguments), operator.inside, strict=False
        ):
            _is_column(int(number), inside, trace)
        rule = _rule(operator, leaf=id(operator) in views)
        trace.outputs[id(operator)] = rule(operator, trace)


def _rule(operator: Operator, *, leaf: bool) -> _Rule:
    if leaf:
        return _view
    if rule := _RULES.get(operator.kind):
        return rule
    if operator.kind.endswith("Join"):
        return _join
    if operator.kind.endswith(_AGGREGATES):
        return _aggregate
    return _pass if operator.children or operator.inside else _leaf


def _is_column(number: int, query: Operator, trace: Trace) -> None:
    """A subquery has an id as a column has: what it gives is its first column."""
    if columns := trace.columns_of(query):
        trace.known[number] = trace.known.get(columns[0].id, NOTHING)


def _stages(root: Operator) -> set[int]:
    """The physical aggregations that only prepare the one above them."""
    found: set[int] = set()
    for operator in root.walk():
        if not operator.kind.endswith(_AGGREGATES) or operator.kind == "Aggregate":
            continue
        functions = operator.fields.get("Functions", "") or operator.text
        if "[partial_" in functions and "(distinct " not in functions:
            continue
        below = operator
        while len(below.children) == 1:
            below = below.children[0]
            if below.kind.endswith(_AGGREGATES):
                found.add(id(below))
            if below.kind not in _BETWEEN_STAGES:
                break
    return found


def _input(operator: Operator, trace: Trace) -> Outputs:
    if text := operator.fields.get("Input"):
        return attributes(text)
    for child in operator.children:
        return trace.outputs.get(id(child), [])
    return []


def _inputs(operator: Operator, trace: Trace) -> list[Attribute]:
    """All columns that any child gives."""
    if text := operator.fields.get("Input"):
        return attributes(text)
    return [one for child in operator.children for one in trace.columns_of(child)]


def _pass(operator: Operator, trace: Trace) -> Outputs:
    return _input(operator, trace)


def _leaf(operator: Operator, trace: Trace) -> Outputs:
    found = _LIST.search(operator.fields.get("Output", "") or operator.arguments)
    text = operator.fields.get("Output", "") or (found.group() if found else "")
    columns = attributes(text)
    cut = is_cut(text)
    source = trace.sources(operator, columns)
    for one in columns:
        if one.id not in trace.known or source:
            trace.known[one.id] = source.uses(one.name) if source else NOTHING
    if source:
        trace.influences |= source.influences
        if not source.is_known:
            trace.gaps[OPAQUE] = None
        for filters in _pushed(operator):
            for condition in plain_expressions(filters):
                if "dynamicpruning" not in condition:
                    _filter_text(condition, trace)
    if cut:
        trace.gaps[CUT] = None
    return columns


def _pushed(operator: Operator) -> Iterable[str]:
    """The filters on partitions: these are in no Filter above."""
    if filters := operator.fields.get("PartitionFilters"):
        yield filters
    elif found := _PARTITION_FILTERS.search(operator.text):
        yield found["list"]
    if "HiveTableRelation" in operator.arguments:
        yield from split_arguments(operator.arguments)[2:]


def _named(items: str, trace: Trace) -> list[Attribute]:
    """Make the columns of a list of named expressions."""
    if is_cut(items):
        trace.gaps[CUT] = None
    columns = []
    for item in expressions(items):
        if one := attribute(item):
            columns.append(one)
            made = trace.of(item)
            if made or one.id not in trace.known:
                trace.known[one.id] = made
    return columns


def _project(operator: Operator, trace: Trace) -> Outputs:
    return _named(operator.fields.get("Output") or _first(operator), trace)


def _first(operator: Operator) -> str:
    return split_arguments(operator.arguments)[0]


def _filter(operator: Operator, trace: Trace) -> Outputs:
    _filter_text(operator.fields.get("Condition", operator.arguments), trace)
    return _input(operator, trace)


def _filter_text(condition: str, trace: Trace) -> None:
    for found in _UNSURE.finditer(condition):
        trace.unsure.add(int(found["id"] or found["size"]))
    trace.decides(_UNSURE.sub("", condition), Subtype.FILTER)


def _join(operator: Operator, trace: Trace) -> Outputs:
    keys = ("Left keys", "Right keys", "Join condition")
    if any(key in operator.fields for key in keys):
        for key in keys:
            trace.decides(operator.fields.get(key, ""), Subtype.JOIN)
    else:
        trace.decides(operator.arguments, Subtype.JOIN)
    how = f"{operator.name} {operator.fields.get('Join type', '')} {operator.text[:200]}"
    how += operator.arguments[:200]
    left: Outputs
    right: Outputs
    left, right, *_ = [*(trace.outputs.get(id(one), []) for one in operator.children), [], []]
    if found := _EXISTS.search(how):
        exists = Attribute(found["name"], int(found["id"]))
        trace.known[exists.id] = trace.of(
            " ".join(operator.fields.values()) or operator.arguments, subtype=Subtype.TRANSFORMATION
        )
        return (left, [exists])
    return left if any(side in how for side in _ONE_SIDE) else (left, right)


def _aggregate(operator: Operator, trace: Trace) -> Outputs:
    if "Results" in operator.fields:
        keys, functions = operator.fields.get("Keys", ""), operator.fields.get("Functions", "")
        made = operator.fields.get("Aggregate Attributes", "")
        results = operator.fields["Results"]
    elif operator.text.startswith("(keys="):
        keys, functions, results = _keyword_arguments(operator.text)
        made = ""
    else:
        keys, results, *_ = [*split_arguments(operator.arguments), "", ""]
        functions = made = ""
    _functions(functions, made, trace)
    prepares = _STAGE.search(functions[:20]) or id(operator) in trace.stages or "gid#" in keys
    if not prepares:
        trace.decides(keys, Subtype.GROUP_BY)
    columns = _named(results, trace)
    if functions and not made:
        _by_position(columns[len(plain_expressions(keys)) :], functions, trace)
    return columns


def _keyword_arguments(text: str) -> tuple[str, str, str]:
    """`(keys=[a#1], functions=[sum(b#2)], output=[a#1, s#3])`"""
    found = {
        name.strip(): value
        for part in split_arguments(text.removeprefix("(").removesuffix(")"))
        for name, _, value in [part.partition("=")]
    }
    return found.get("keys", ""), found.get("functions", ""), found.get("output", "")


def _functions(functions: str, made: str, trace: Trace) -> None:
    """Give the columns that aggregate functions make what they take."""
    if is_cut(functions) or is_cut(made):
        trace.gaps[CUT] = None
    texts = plain_expressions(functions)
    names = attributes(made)
    for text, name in zip_longest(texts, names if len(names) == len(texts) else []):
        if text is None:
            continue
        found = trace.of(text)
        bare = re.sub(r"^(?:partial_|merge_)+", "", text.partition(" FILTER (")[0])
        if " FILTER (" in text:
            trace.filtered[bare] = found
        found |= trace.filtered.get(bare, NOTHING)
        if name is not None:
            trace.known[name.id] = found
        if " AS " in text and (own := attribute(text)):
            trace.known[own.id] = found


def _by_position(columns: list[Attribute], functions: str, trace: Trace) -> None:
    """The extended layout has no names for what the functions make."""
    texts = plain_expressions(functions)
    if len(texts) == len(columns):
        for column, text in zip(columns, texts, strict=True):
            trace.known[column.id] = trace.known.get(column.id) or trace.of(text)
    else:
        trace.gaps[OPAQUE] = None


def _generate(operator: Operator, trace: Trace) -> Outputs:
    generator, *rest = split_arguments(operator.arguments)
    trace.explained.update(part.id for part in parts(generator, trace.known))
    lists = [one for one in rest if one.startswith("[")]
    made = attributes(lists[-1]) if lists else []
    uses = trace.of(generator, subtype=Subtype.TRANSFORMATION)
    for one in made:
        trace.known[one.id] = uses
    kept = attributes(lists[0]) if len(lists) > 1 and "#" in lists[0] else None
    if kept is None and "Input" not in operator.fields:
        return (_input(operator, trace), made)
    return (kept if kept is not None else [], made)


def _window(operator: Operator, trace: Trace) -> Outputs:
    return (_input(operator, trace), _named(_first(operator), trace))


def _sort(operator: Operator, trace: Trace) -> Outputs:
    orders, *flags = split_arguments(operator.arguments)
    if flags[:1] == ["true"]:
        for order in plain_expressions(orders):
            trace.decides(order, Subtype.SORT)
    return _input(operator, trace)


def _top(operator: Operator, trace: Trace) -> Outputs:
    """`3, [amount#25 DESC NULLS LAST], [order_id#23, a1#1045]`; extended, `(limit=3, …)`"""
    lists = [
        one.partition("=")[2] or one for one in split_arguments(operator.arguments.strip("()"))
    ]
    lists = [one for one in lists if one.startswith("[")]
    if lists:
        trace.decides(lists[0], Subtype.SORT)
    return _named(lists[-1], trace) if lists[1:] else _input(operator, trace)


def _expand(operator: Operator, trace: Trace) -> Outputs:
    rows, *rest = split_arguments(operator.arguments)
    if is_cut(operator.arguments):
        trace.gaps[CUT] = None
    columns = attributes(rest[-1]) if rest else []
    found = [set(trace.known.get(one.id, NOTHING)) for one in columns]
    before = [trace.known.get(one.id) for one in columns]
    for row in plain_expressions(rows):
        for at, text in enumerate(plain_expressions(row)[: len(columns)]):
            found[at] |= trace.of(text)
    for one, uses, was in zip(columns, found, before, strict=True):
        trace.known[one.id] = was if was is not None else frozenset(uses)
    return columns


def _union(operator: Operator, trace: Trace) -> Outputs:
    sides = [trace.columns_of(child) for child in operator.children]
    columns = attributes(operator.fields.get("Output", "")) or (sides[0] if sides else [])
    for at, one in enumerate(columns):
        given = [trace.known.get(side[at].id, NOTHING) for side in sides if at < len(side)]
        trace.known[one.id] = NOTHING.union(*given)
    return columns


def _set_operation(operator: Operator, trace: Trace) -> Outputs:
    for child in operator.children:
        trace.influences |= trace.all_of(trace.columns_of(child), Subtype.JOIN)
    return _input(operator, trace)


def _distinct(operator: Operator, trace: Trace) -> Outputs:
    keys = [*attributes(_first(operator)), *_input_list(operator, trace)]
    trace.influences |= trace.all_of(keys, Subtype.GROUP_BY)
    return _input(operator, trace)


def _input_list(operator: Operator, trace: Trace) -> list[Attribute]:
    return [] if "#" in _first(operator) else _inputs(operator, trace)


def _same(operator: Operator, trace: Trace) -> Outputs:
    """Columns that stand for others in the same places: of a reused exchange, a cached plan."""
    of = operator.reuses or next(iter(operator.inside or operator.children), None)
    text = operator.fields.get("Output") or _first(operator)
    columns = attributes(text)
    if of is None:
        return columns
    for one, other in zip(columns, trace.columns_of(of), strict=False):
        trace.known[one.id] = trace.known.get(other.id, NOTHING)
    if is_cut(text):
        trace.gaps[CUT] = None
    return columns


def _listed(operator: Operator, trace: Trace) -> Outputs:
    """A scan of a cached relation: the columns are the relation's."""
    text = operator.fields.get("Output") or _first(operator)
    return attributes(text)


def _view(operator: Operator, trace: Trace) -> Outputs:
    """A view that is a dataset itself: its columns are those of the query right below."""
    source = trace.sources(operator, [])
    given = _LIST.search(operator.arguments)
    below = [given.group()] if given else [_first(one) for one in operator.children]
    columns = attributes(below[0]) if below else []
    for one in columns:
        trace.known[one.id] = source.uses(one.name) if source else NOTHING
    return columns


def _subquery(operator: Operator, trace: Trace) -> Outputs:
    """`Subquery scalar-subquery#12, [id=#45]` inside an operator of the extended layout."""
    if found := _NEW_ID.search(operator.text):
        _is_column(int(found["id"]), operator.children[0] if operator.children else operator, trace)
    return []


def _cte_definition(operator: Operator, trace: Trace) -> Outputs:
    if found := _CTE_ID.search(operator.arguments):
        trace.definitions[found.group()] = operator
    return _input(operator, trace)


def _cte_reference(operator: Operator, trace: Trace) -> Outputs:
    found, columns = _CTE_ID.search(operator.arguments), _LIST.search(operator.arguments)
    given = attributes(columns.group()) if columns else []
    definition = trace.definitions.get(found.group()) if found else None
    for one, other in zip(given, trace.columns_of(definition) if definition else [], strict=False):
        trace.known[one.id] = trace.known.get(other.id, NOTHING)
    return given


def _with_cte(operator: Operator, trace: Trace) -> Outputs:
    return trace.outputs.get(id(operator.children[-1]), []) if operator.children else []


def _python(operator: Operator, trace: Trace) -> Outputs:
    """`[f(a#1)#338], [pythonUDF0#340], 101`: each function makes one column."""
    functions, *rest = [*split_arguments(operator.arguments), ""]
    made = attributes(rest[0])
    for text, one in zip(
        expressions(functions) or plain_expressions(functions), made, strict=False
    ):
        trace.known[one.id] = trace.of(text, subtype=Subtype.TRANSFORMATION)
    return (_input(operator, trace), made)


def _python_aggregate(operator: Operator, trace: Trace) -> Outputs:
    """`[k#1], [f(v#2)#5], [k#1, f(v)#6 AS f#7]`"""
    keys, functions, results, *_ = [*split_arguments(operator.arguments), "", "", ""]
    trace.decides(keys, Subtype.GROUP_BY)
    texts = plain_expressions(functions)
    columns = _named(results, trace)
    grouped = {one.id for one in attributes(keys)}
    for one, text in zip((c for c in columns if c.id not in grouped), texts, strict=False):
        trace.known[one.id] = trace.of(text, subtype=Subtype.AGGREGATION)
    return columns


def _opaque(operator: Operator, trace: Trace) -> Outputs:
    """A function that gets whole rows: each column that it makes is of all that it gets."""
    inputs = _inputs(operator, trace)
    uses = trace.all_of(inputs, Subtype.TRANSFORMATION)
    given = {one.id for one in inputs}
    text = operator.arguments
    made = [one for one in _made(text) if one.id not in given and one.id not in trace.known]
    for one in made:
        trace.known[one.id] = uses
    if uses:
        trace.gaps[OPAQUE] = None
    if operator.kind.startswith("FlatMapGroups") and text.startswith("["):
        trace.decides(split_arguments(text)[0], Subtype.GROUP_BY)
    return made or inputs


def _made(text: str) -> list[Attribute]:
    lists = _LIST.findall(text)
    if lists:
        return attributes(lists[-1])
    return [Attribute("", int(found["id"])) for found in _NEW_ID.finditer(text)]


_OPAQUE = (
    *("MapInPandas", "MapInArrow", "PythonMapInArrow", "FlatMapGroupsInPandas"),
    *("FlatMapGroupsInArrow", "FlatMapCoGroupsInPandas", "FlatMapCoGroupsInArrow", "MapPartitions"),
    *(
        "MapElements",
        "MapGroups",
        "FlatMapGroups",
        "CoGroup",
        "AppendColumns",
        "ScriptTransformation",
    ),
    *("DeserializeToObject", "SerializeFromObject", "FlatMapGroupsInPandasWithState"),
    *("TransformWithStateInPandas", "TransformWithStateInPySpark", "TransformWithState"),
)
_RULES: Mapping[str, _Rule] = {
    **dict.fromkeys(_OPAQUE, _opaque),
    **dict.fromkeys(("ArrowEvalPython", "BatchEvalPython"), _python),
    **dict.fromkeys(("AggregateInPandas", "ArrowAggregatePython"), _python_aggregate),
    **dict.fromkeys(("Window", "WindowInPandas", "ArrowWindowPython", "RunningWindow"), _window),
    **dict.fromkeys(("Intersect", "Except"), _set_operation),
    **dict.fromkeys(("Distinct", "Deduplicate"), _distinct),
    **dict.fromkeys(("ReusedExchange", "InMemoryRelation"), _same),
    "CTERelationDef": _cte_definition,
    "CTERelationRef": _cte_reference,
    "Expand": _expand,
    "Filter": _filter,
    "Generate": _generate,
    "InMemoryTableScan": _listed,
    "Project": _project,
    "Sort": _sort,
    "TakeOrderedAndProject": _top,
    "TopK": _top,
    "Union": _union,
    "Subquery": _subquery,
    "WithCTE": _with_cte,
}
