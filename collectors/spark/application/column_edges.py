"""Which column of what a command writes comes from which column of what it reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from dbt_graft.collectors.spark.application.accesses import IN_PLACE
from dbt_graft.collectors.spark.application.column_sources import ColumnSources
from dbt_graft.collectors.spark.application.segments import PlanSegment
from dbt_graft.collectors.spark.plans.arguments import Attribute, attributes, identifier
from dbt_graft.collectors.spark.plans.columns import UNKNOWN, ColumnInput, ColumnTrace, PlanSource
from dbt_graft.collectors.spark.plans.operators import trace_columns
from dbt_graft.collectors.spark.plans.text import Operator, PlanText
from dbt_graft.collectors.spark.sources.commands import CommandRole
from dbt_graft.collectors.spark.sources.connectors import Target
from dbt_graft.collectors.spark.sources.plan_text import plan_text
from dbt_graft.collectors.spark.sources.schema import is_plain
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import ANY_COLUMN

# What formats keep of rows themselves while they change them.
_OF_ROWS = re.compile(r"__row_operation|_file|_pos|_spec_id|_partition|_change_type|_\w+_")
_FUNCTION = re.compile(r"\w+\((?:distinct )?(?P<of>[\w.*]+)\)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Edge:
    """A column of a dataset that a statement reads has a segment in one that it writes."""

    dataset: DatasetId
    column: str
    use: ColumnInput


def column_edges(
    segment: PlanSegment, column_sources: ColumnSources
) -> tuple[list[Edge], list[str]]:
    """The column edges of a command, and why some are missing where some are."""
    target = segment.target
    if target is None or segment.role not in (
        CommandRole.INSERT,
        CommandRole.WRAPPER,
        CommandRole.SAVE,
        CommandRole.VIEW,
    ):
        return [], []
    written = [dataset for dataset, _ in column_sources.resolver.written(target)]
    plans = list(_plans(segment))
    if not (written and plans):
        return [], [UNKNOWN] if segment.feeds else []
    edges: dict[Edge, None] = {}
    gaps: dict[str, None] = {}
    for plan, root, columns in plans:
        column_sources.adopt(root)
        trace = trace_columns(plan, root, partial(_source, column_sources, segment))
        gaps |= trace.gaps
        given = columns or trace.columns_of(root)
        if segment.operation in IN_PLACE:
            given = [one for one in given if not _OF_ROWS.fullmatch(one.name)]
        for dataset in written:
            edges |= dict.fromkeys(_edges(dataset, target, given, trace, gaps))
    return list(edges), list(gaps)


def _source(
    column_sources: ColumnSources,
    segment: PlanSegment,
    operator: Operator,
    columns: list[Attribute],
) -> PlanSource | None:
    """What an operator reads: a lasting view that another one stands on is what that one reads."""
    if operator.kind != "View":
        return column_sources.source(operator, columns, segment.execution.root)
    if segment.role is not CommandRole.VIEW:
        return None
    named = identifier(operator.arguments.lstrip("("))
    return PlanSource((column_sources.resolver.table(named),)) if len(named) > 1 else None


def _plans(segment: PlanSegment) -> Iterator[tuple[PlanText, Operator, list[Attribute]]]:
    """The plans whose rows a command writes, and the columns it takes of them if that is said."""
    plan = plan_text(segment.execution.text)
    command = segment.operator
    if len(segment.feeds) > 1 and segment.operation in IN_PLACE:
        return  # Delta looks for rows first, and what it writes is not told from that.
    if segment.feeds:
        for feed in segment.feeds:
            fed = plan_text(feed.execution.text)
            top = fed.optimised or fed.root
            if top is not None:
                rows = top.kind == "DeserializeToObject" and top.children
                given = top.fields.get("Input", "") if rows else ""
                yield fed, top.children[0] if rows else top, attributes(given)
    elif command is not None and command.children and (inner := _logical(plan, segment.name)):
        yield plan, inner.children[0], []
    elif command is not None and command.children:
        yield plan, command.children[0], segment.inputs
    elif command is not None and segment.role in (CommandRole.VIEW, CommandRole.SAVE):
        for inner in command.inside:
            for root in (*inner.inside, *inner.children):
                yield plan, root, []


def _logical(plan: PlanText, name: str) -> Operator | None:
    """The command in an extended text's logical plan, which says more than the physical one."""
    if plan.is_formatted or plan.optimised is None:
        return None
    found = [one for one in plan.optimised.walk() if one.kind == name and one.children]
    return found[0] if len(found) == 1 else None


def _edges(
    dataset: DatasetId,
    target: Target,
    columns: list[Attribute],
    trace: ColumnTrace,
    gaps: dict[str, None],
) -> Iterator[Edge]:
    named = len(target.columns) == len(columns)
    for at, one in enumerate(columns):
        uses = trace.known.get(one.id)
        if uses is None:
            gaps[UNKNOWN] = None
            continue
        name = target.columns[at] if named else one.name
        if _is_safe(name, uses):
            yield from (
                Edge(dataset, name, use) for use in sorted(uses) if _is_safe(use.column, ())
            )
    for use in sorted(trace.influences):
        if _is_safe(use.column, ()) and use.dataset != dataset:
            yield Edge(dataset, ANY_COLUMN, use)


def _is_safe(name: str, uses: Iterable[ColumnInput]) -> bool:
    """Whether a name holds no literal: it is plain, or a function of a column that is known."""
    if name == ANY_COLUMN or is_plain(name):
        return True
    found = _FUNCTION.fullmatch(name)
    if found is None:
        return False
    return found["of"] in ("1", "*") or any(use.column == found["of"] for use in uses)
