"""Column edges of a statement: which output column comes from which input columns.

The result of a query goes into the task's memory, and rows that the task made come from there; the
rows of an RDD that it made of a data frame's do both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.spark.application.column_sources import ColumnSources
from dbt_graft.collectors.spark.application.segments import PlanSegment
from dbt_graft.collectors.spark.plans.arguments import Attribute, attributes, identifier
from dbt_graft.collectors.spark.plans.columns import (
    BY_PLACE,
    LITERAL,
    NAMES,
    NOTHING,
    UNKNOWN,
    UNSEEN,
    ColumnInputs,
    ColumnTrace,
    PlanSource,
)
from dbt_graft.collectors.spark.plans.operators import trace_columns
from dbt_graft.collectors.spark.plans.tree import Operator, PlanText
from dbt_graft.collectors.spark.sources.commands import CommandRole
from dbt_graft.collectors.spark.sources.connectors import Target
from dbt_graft.collectors.spark.sources.plan_text import plan_text
from dbt_graft.collectors.spark.sources.schema import is_column_name, is_plain, written_names
from dbt_graft.collectors.statement import StatementEdge
from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.graphs.columns import compose
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import ANY_COLUMN, Subtype

_WRITES_COLUMNS = (CommandRole.INSERT, CommandRole.WRAPPER, CommandRole.SAVE, CommandRole.VIEW)
# Columns that Spark, Iceberg and Delta add to rows while they change them. Names are exact: users
# may have others that look alike (`_loaded_`).
_ROW_METADATA = words("""
    __row_operation _file _pos _spec_id _partition _change_type _condition_ _file_name_
    _incr_metrics_ _incr_row_count_ _row_dropped_ _row_id_ _source_row_id_ _source_row_index
    _source_row_present_ _target_row_id_ _target_row_index_ _target_row_present_""")
# The tables in a view's query, to Spark 3.1.
_NOT_RESOLVED = "UnresolvedRelation"
_ADAPTIVE = "AdaptiveSparkPlan"
_FUNCTION = re.compile(r"\w+\((?:distinct )?(?P<of>[^\n]+)\)", re.IGNORECASE)


@frozen
class TracedColumns:
    """The columns of a command.

    Attributes:
        taken: The columns that the command takes from its query.
    """

    edges: tuple[StatementEdge, ...] = ()
    gaps: tuple[str, ...] = ()
    taken: tuple[Attribute, ...] = ()


def column_edges(segment: PlanSegment, column_sources: ColumnSources) -> TracedColumns:
    """The columns of a command and their edges; of a query, those into the task's memory."""
    target = segment.target
    if segment.command is None:
        return TracedColumns(tuple(_into_memory(segment, column_sources)))
    if target is None or segment.role not in _WRITES_COLUMNS:
        return TracedColumns(gaps=(BY_PLACE,) if segment.operation is Operation.LOAD_DATA else ())
    written = [dataset for dataset, _ in column_sources.resolver.written_datasets(target)]
    plans = list(_plans(segment))
    if not (written and plans):
        is_query = segment.feeds or segment.scans or segment.sources
        return TracedColumns(gaps=(UNSEEN,) if is_query else ())
    edges: dict[StatementEdge, None] = {}
    gaps: dict[str, None] = {}
    taken: list[Attribute] = []
    rebuilt: dict[DatasetId, None] = {}
    for plan, root, listed in plans:
        column_sources.match_reused(root)
        trace = trace_columns(plan, root, partial(_source, column_sources, segment, rebuilt))
        gaps |= trace.gaps
        columns = listed or trace.columns_of(root)
        if any(operator.kind == _NOT_RESOLVED for operator in root.walk()):
            gaps[UNSEEN] = None
        if segment.operation.is_in_place:
            columns = [column for column in columns if column.name not in _ROW_METADATA]
        taken = taken or columns
        for dataset in written:
            edges |= dict.fromkeys(_edges(dataset, target, columns, trace, gaps))
    if segment.operation.is_in_place:
        edges = {edge: None for edge in edges if edge.from_column not in _ROW_METADATA}
    for dataset in rebuilt:
        edges[_edge(MEMORY, ANY_COLUMN, ColumnInput(dataset, ANY_COLUMN))] = None
    return TracedColumns(tuple(edges), tuple(gaps), tuple(taken))


def _into_memory(segment: PlanSegment, column_sources: ColumnSources) -> Iterator[StatementEdge]:
    """The edges of a query whose rows go to the task: `collect`, `toPandas`."""
    plan = plan_text(segment.execution.text)
    top = _top(plan)
    if top is None:
        return
    column_sources.match_reused(top)
    trace = trace_columns(plan, top, partial(_source, column_sources, segment, {}))
    edges = [
        _edge(MEMORY, column.name, upstream)
        for column in trace.columns_of(top)
        if is_column_name(column.name)
        for upstream in sorted(trace.inputs_by_id.get(column.id, NOTHING))
        if upstream.source != MEMORY and is_column_name(upstream.column)
    ]
    yield from edges
    for upstream in sorted(trace.influences) if edges else ():
        if upstream.source != MEMORY and is_column_name(upstream.column):
            yield _edge(MEMORY, ANY_COLUMN, upstream)


def _source(
    column_sources: ColumnSources,
    segment: PlanSegment,
    rebuilt: dict[DatasetId, None],
    operator: Operator,
    columns: list[Attribute],
) -> PlanSource | None:
    """The source of an operator; a persisted view inside another view is a dataset.

    Args:
        rebuilt: Takes the datasets of RDDs, whose rows code of the task made anew.
    """
    if operator.kind != "View":
        source = column_sources.source(operator, columns, segment.execution.root)
        if source and not source.is_known:
            inputs = NOTHING.union(*source.columns.values())
            rebuilt |= {
                column_input.source: None
                for column_input in sorted(inputs)
                if column_input.source != MEMORY
            }
        return source
    if segment.role is not CommandRole.VIEW:
        return None
    named = identifier(operator.arguments.lstrip("("))
    return PlanSource((column_sources.resolver.table(named),)) if len(named) > 1 else None


def _plans(segment: PlanSegment) -> Iterator[tuple[PlanText, Operator, list[Attribute]]]:
    """The plans whose rows a command writes, each with the columns it takes where these are
    listed.
    """
    plan = plan_text(segment.execution.text)
    command = segment.operator
    if len(segment.feeds) > 1 and segment.operation.is_in_place:
        return  # Delta looks for the rows to change first, in a query that looks like its write.
    if segment.feeds:
        for feed in segment.feeds:
            fed = plan_text(feed.execution.text)
            if top := _top(fed):
                rows = top.kind == "DeserializeToObject" and top.children
                listed = top.fields.get("Input", "") if rows else ""
                yield fed, top.children[0] if rows else top, attributes(listed)
    elif command is not None and command.children and (inner := _logical(plan, segment.name)):
        yield plan, inner.children[0], []
    elif command is not None and command.children:
        yield plan, command.children[0], segment.inputs
    elif command is not None and segment.role in (CommandRole.VIEW, CommandRole.SAVE):
        for inner in command.inside:
            for root in (*inner.inside, *inner.children):
                yield plan, root, []


def _top(plan: PlanText) -> Operator | None:
    """The operator that gives the rows of a query."""
    top = plan.optimised or plan.root
    while top is not None and top.kind == _ADAPTIVE and top.children:
        top = top.children[0]
    return top


def _logical(plan: PlanText, name: str) -> Operator | None:
    """The command in an extended text's logical plan, which has more detail than the physical."""
    if plan.is_formatted or plan.optimised is None:
        return None
    commands = [
        operator
        for operator in plan.optimised.walk()
        if operator.kind == name and operator.children
    ]
    return commands[0] if len(commands) == 1 else None


def _edges(
    dataset: DatasetId,
    target: Target,
    columns: list[Attribute],
    trace: ColumnTrace,
    gaps: dict[str, None],
) -> Iterator[StatementEdge]:
    names = written_names(target.columns, columns)
    if len(names) != len(columns):
        names = [column.name for column in columns]
    for name, column in zip(names, columns, strict=True):
        inputs = trace.inputs_by_id.get(column.id)
        if inputs is None:
            gaps[NAMES if NAMES in gaps else UNKNOWN] = None
            continue
        if not _has_no_literal(name, inputs):
            gaps |= {LITERAL: None} if inputs else {}
        else:
            for upstream in sorted(inputs):
                if is_column_name(upstream.column):
                    yield _edge(dataset, name, upstream)
    for upstream in sorted(trace.influences):
        if is_column_name(upstream.column):
            yield _edge(dataset, ANY_COLUMN, upstream)


def _edge(dataset: DatasetId, column: str, upstream: ColumnInput[DatasetId]) -> StatementEdge:
    is_made = upstream.source == MEMORY
    subtype = compose(Subtype.TRANSFORMATION, upstream.subtype) if is_made else upstream.subtype
    return StatementEdge(
        *(dataset, column, upstream.source, upstream.column, subtype),
        masking=bool(upstream.masking),
        masked_by=upstream.masking,
    )


def _has_no_literal(name: str, inputs: ColumnInputs = NOTHING) -> bool:
    """Whether a column's name is no expression that may hold a literal, or a function of a known
    column.
    """
    if name == ANY_COLUMN or is_plain(name) or (inputs and is_column_name(name)):
        return True
    match = _FUNCTION.fullmatch(name)
    if match is None:
        return False
    return match["of"] in ("1", "*") or any(
        column_input.column == match["of"] for column_input in inputs
    )
