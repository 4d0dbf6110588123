"""What each execution of an application read and wrote.

One `Statement` is what a user would call one: `df.write.saveAsTable("t")` is three nested
executions in Spark 4 (save, create, insert) and one statement here; an `INSERT … INSERT …` over
one source is one execution and two statements. Reading a view is reading its tables, for plans
have views resolved; only `CREATE VIEW` still shows the views it stands on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from dbt_graft.collectors.spark.application import streams
from dbt_graft.collectors.spark.application.accesses import (
    DatasetAccess,
    counts_written,
    merged,
    scanned,
    scans_of,
)
from dbt_graft.collectors.spark.application.column_edges import Edge, column_edges
from dbt_graft.collectors.spark.application.column_sources import ColumnSources
from dbt_graft.collectors.spark.application.execution import (
    Application,
    Execution,
    ExecutionGroup,
    StreamBatch,
)
from dbt_graft.collectors.spark.application.lru import LruDict
from dbt_graft.collectors.spark.application.pairing import paired
from dbt_graft.collectors.spark.application.segments import PlanSegment, bridge, plan_segments
from dbt_graft.collectors.spark.application.unresolved_scans import resolve_scans
from dbt_graft.collectors.spark.sources.commands import Command, CommandRole
from dbt_graft.collectors.spark.sources.connectors import Target
from dbt_graft.collectors.spark.sources.datasets import DatasetResolver
from dbt_graft.collectors.spark.sources.rdds import labelled_scan
from dbt_graft.collectors.spark.sources.scans import PATHS_CUT, Scan
from dbt_graft.collectors.spark.sources.schema import typed_columns
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.records import Status

T = TypeVar("T")

# Of the columns that scans of the application showed, the latest.
_MOST_COLUMNS = 20_000
# Of streaming queries, whose plans have none.
_SINK = Command(CommandRole.SAVE, lambda _: None, "INSERT")
_USES = ("SetCatalogAndNamespace", "Execute SetDatabaseCommand")
_CHECKPOINT = re.compile(r"\.(?:localC|c)heckpoint\(")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of an application: what it does, from what, to what, when, how it ended.

    Attributes:
        sql: Its text without literals; empty where the log has none.
        edges: Which column comes from which.
        gaps: Why column edges are missing or not exact, and why inputs are (`PATHS_CUT`).
    """

    operation: str
    reads: tuple[DatasetAccess, ...]
    writes: tuple[DatasetAccess, ...]
    status: Status
    started_at: datetime
    ended_at: datetime
    sql: str = ""
    edges: tuple[Edge, ...] = ()
    gaps: tuple[str, ...] = ()
    times: int = 1


@dataclass(frozen=True, slots=True)
class StatementContext:
    """What the statements of an application tell of those that follow.

    Attributes:
        reads: Where tables lie, and which scan gave a column.
        types: Of columns by their ids.
    """

    column_sources: ColumnSources
    types: LruDict[int, str]

    @classmethod
    def of(cls, resolver: DatasetResolver) -> StatementContext:
        """Nothing is known yet but the places."""
        columns: list[LruDict[int, Any]] = [LruDict(_MOST_COLUMNS) for _ in range(4)]
        return cls(ColumnSources(resolver, *columns[1:]), columns[0])


def statements(
    group: ExecutionGroup,
    application: Application,
    context: StatementContext,
    reject: Callable[[str], None],
) -> list[Statement]:
    """The statements that an outermost execution is, with all that is nested in it.

    Their datasets are as the plans have them: that a path is a table's may come out later, so
    `DatasetResolver.owner` is asked at the end.

    Args:
        known: Takes what these tell of later ones.
        reject: Takes the reason for each piece that could not be used.
    """

    def guarded(execution: int, work: Callable[[], T]) -> T | None:
        # Whatever a plan we do not know does to the parser costs this execution only.
        try:
            return work()
        except Exception as error:
            reject(f"execution {execution}: the plan cannot be read ({type(error).__name__})")
            return None

    segments: list[PlanSegment] = []
    problems: list[str] = []
    for execution in sorted(group.executions.values(), key=lambda e: e.id):
        if execution.plan and execution.plan.name.startswith(_USES):
            context.column_sources.resolver.use(execution.text)
        segments += guarded(execution.id, partial(plan_segments, execution, problems)) or ()
    problems += guarded(group.root, partial(resolve_scans, segments)) or ()
    for problem in problems:
        reject(problem)
    for segment in segments:
        guarded(segment.execution.id, partial(_complete, segment, application))
    kept = guarded(group.root, partial(paired, segments, application)) or []
    for segment in segments:
        guarded(segment.execution.id, partial(_learn, segment, context))
    found = [
        guarded(segment.execution.id, partial(_statement, application, segment, context))
        for segment in kept
    ]
    if batch := group.batch:
        found.append(guarded(group.root, partial(_streamed, application, batch, segments, context)))
    return [one for one in found if one and (one.reads or one.writes)]


def outside(application: Application, resolver: DatasetResolver) -> Iterator[Statement]:
    """What jobs outside of SQL read: files and tables that RDDs were made of."""
    for label, (first, last) in application.outside.items():
        scan = labelled_scan(label)
        reads = [DatasetAccess(d, kind) for d, kind in resolver.read(scan)] if scan else []
        if reads:
            yield Statement("SELECT", merged(reads), (), Status.OK, first, last)


def _complete(segment: PlanSegment, application: Application) -> None:
    """Take what a plan itself does not tell of its sources: RDDs before it, a stream's folders."""
    bridge(segment, application.rdds)
    stream = application.streams.get(segment.execution.stream or "")
    if stream and segment.role in (None, CommandRole.INSERT, CommandRole.SAVE):
        segment.scans = streams.watched_folders(segment.scans, streams.sources(stream))


def _streamed(
    application: Application,
    batch: StreamBatch,
    segments: list[PlanSegment],
    context: StatementContext,
) -> Statement | None:
    """A batch of a streaming query whose sink is a place, or that no execution tells of; its plan
    tells its columns and what it is joined with.
    """
    sink, resolver = streams.parse_place(batch.sink), context.column_sources.resolver
    queries = [
        segment for segment in segments if segment.command is None and segment.execution.batch
    ]
    if sink is None and segments:
        return None
    taken = [(streams.parse_place(text), rows) for text, rows in batch.sources]
    reads = [
        DatasetAccess(d, kind, rows) for one, rows in taken if one for d, kind in resolver.read(one)
    ]
    rows, edges, gaps = batch.rows, list[Edge](), list[str]()
    if queries and sink:
        segment = queries[-1]
        watched = {use.dataset for use in reads}
        reads += [
            use
            for scan in segment.scans
            for use in scanned(application, segment.execution, scan, resolver)
            if use.dataset not in watched
        ]
        rows = segment.execution.written if rows is None else rows
        edges, gaps = column_edges(_into(sink, segment), context.column_sources)
    return Statement(
        operation="INSERT" if sink else "SELECT",
        reads=merged(reads),
        writes=merged(
            DatasetAccess(d, kind, rows) for d, kind in (resolver.read(sink) if sink else ())
        ),
        status=Status.OK,
        started_at=batch.at,
        ended_at=batch.at,
        edges=tuple(edges),
        gaps=tuple(gaps),
    )


def _into(sink: Scan, batch: PlanSegment) -> PlanSegment:
    """A batch of a streaming query as a command that writes into its sink."""
    target = Target(path="".join(sink.paths[:1]), topics=sink.topics)
    return replace(batch, command=_SINK, target=target, feeds=[batch])


def _learn(segment: PlanSegment, context: StatementContext) -> None:
    """Take note of where tables lie and of which types columns are, for the whole application."""
    if segment.target and segment.target.path:
        context.column_sources.resolver.learn(segment.target.table, [segment.target.path])
    for scan in segment.scans:
        context.column_sources.learn(scan)
        for column, kind in scan.types:
            context.types[column] = kind
    if segment.command is None and _is_reused(segment.execution):
        context.column_sources.keep(segment)


def _is_reused(execution: Execution) -> bool:
    """Whether other plans begin with the columns of this one."""
    return bool(_CHECKPOINT.search(execution.details) or execution.stream)


def _statement(
    application: Application, segment: PlanSegment, context: StatementContext
) -> Statement:
    execution, resolver = segment.execution, context.column_sources.resolver
    reads = [
        use
        for execution_, scan in scans_of(segment)
        for use in scanned(application, execution_, scan, resolver)
    ]
    if not (reads and segment.role is CommandRole.SAVE):
        named = (scanned(application, execution, source, resolver) for source in segment.sources)
        reads += [use for uses in named for use in uses]
    writes: list[DatasetAccess] = []
    if target := segment.target:
        if target.source_table:
            reads.append(
                DatasetAccess(resolver.table(target.source_table, target.catalog), Kind.TABLE)
            )
        if target.source_path:
            reads += [
                DatasetAccess(d, kind) for d, kind in resolver.resolve((), [target.source_path])
            ]
        counted = counts_written(application, segment)
        writes = [
            DatasetAccess(
                dataset,
                Kind.VIEW if target.is_view else kind,
                **counted,
                columns=typed_columns(list(target.columns), segment.inputs, context.types),
            )
            for dataset, kind in resolver.written(target)
        ]
    edges, gaps = column_edges(segment, context.column_sources)
    if any(scan.is_cut for one in (segment, *segment.feeds) for scan in one.scans):
        gaps.append(PATHS_CUT)
    if not reads:
        # Before Spark 3.4 a save's query is in its text alone; a checkpoint's is in another.
        reads = [DatasetAccess(d, _kind(d)) for d in sorted({edge.use.dataset for edge in edges})]
    return Statement(
        operation=segment.operation,
        reads=merged(reads),
        writes=merged(writes),
        status=segment.status,
        started_at=execution.started_at,
        ended_at=execution.ended_at or execution.started_at,
        sql=execution.sql,
        edges=tuple(edges),
        gaps=tuple(gaps),
    )


def _kind(dataset: DatasetId) -> Kind:
    return Kind.PATH if "/" in dataset.name else Kind.TABLE
