"""Statements of an application: the datasets and columns that its executions read and wrote."""

from __future__ import annotations

import logging
import re
from collections import ChainMap
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from dbt_graft.collectors.spark.application import streams
from dbt_graft.collectors.spark.application.accesses import (
    PlanStatement,
    columns_written,
    merge_accesses,
    read_with_edges,
    scan_accesses,
    scans_of,
    write_metrics,
)
from dbt_graft.collectors.spark.application.column_edges import TracedColumns, column_edges
from dbt_graft.collectors.spark.application.column_sources import ColumnSources
from dbt_graft.collectors.spark.application.dates import (
    pass_dates,
    stream_statement,
    written_periods,
)
from dbt_graft.collectors.spark.application.execution import (
    Application,
    ExecutionGroup,
    LruDict,
    OutsideJobs,
    StreamBatch,
)
from dbt_graft.collectors.spark.application.pairing import pair_segments
from dbt_graft.collectors.spark.application.segments import (
    PlanSegment,
    Problem,
    add_rdd_scans,
    plan_segments,
    use_planned_sink,
)
from dbt_graft.collectors.spark.application.unnamed import name_catalogs, resolve_scans, view_text
from dbt_graft.collectors.spark.gap_reasons import PATHS_CUT, PLAN_CUT, RDD_COLUMNS, RDD_READ
from dbt_graft.collectors.spark.sources.commands import Command, CommandRole
from dbt_graft.collectors.spark.sources.connectors import Target
from dbt_graft.collectors.spark.sources.datasets import DatasetResolver
from dbt_graft.collectors.spark.sources.relations import infers_schema, labelled_scan
from dbt_graft.collectors.spark.sources.scans import Scan
from dbt_graft.collectors.statement import DatasetAccess
from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.errors import exception_reason
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Column

_log = logging.getLogger(__name__)

T = TypeVar("T")
# Columns of scans that are remembered, the latest first.
_MOST_COLUMNS = 20_000
# The plans of streaming queries have no command for their sink.
_SINK = Command(CommandRole.SAVE, lambda _: None, Operation.INSERT)
_USE_COMMANDS = ("SetCatalogAndNamespace", "Execute SetDatabaseCommand")
_DELTA_MERGE = re.compile(r"^(?:Delta: )?MERGE operation - |\bio\.delta\.tables\.DeltaMerge\w+\.")
_CHECKPOINT = re.compile(r"\.(?:localC|c)heckpoint\(")


@frozen
class StatementContext:
    """Columns and places that earlier statements of an application show for the later ones."""

    column_sources: ColumnSources
    types: LruDict[int, str]

    @classmethod
    def create(cls, resolver: DatasetResolver) -> StatementContext:
        """The context of an application's first statement."""
        columns: list[LruDict[int, Any]] = [LruDict(_MOST_COLUMNS) for _ in range(4)]
        return cls(ColumnSources(resolver, *columns[1:]), columns[0])


def statements(
    group: ExecutionGroup,
    application: Application,
    context: StatementContext,
    reject: Callable[[int, str], None],
    gap: Callable[[str], None],
) -> list[PlanStatement]:
    """The statements of an outermost execution and all that are nested in it.

    Their datasets are as the plans name them. That a path is a table's may come out later, so
    `DatasetResolver.owner` is asked when the log has been read.

    Args:
        reject: Takes the execution of each piece that could not be used, and the reason.
        gap: Takes what they may touch beyond the statements.
    """

    def guard(execution: int, work: Callable[[], T]) -> T | None:
        # A plan that breaks the parser costs this execution only.
        try:
            return work()
        except Exception as error:
            reason = exception_reason(error, _log)
            reject(execution, f"the plan cannot be read ({reason})")
            return None

    resolver = context.column_sources.resolver
    # A session may have catalogs that others have not.
    own = ({}, *(execution.catalogs for execution in group.executions.values()))
    resolver.settings = ChainMap(*own, application.settings)
    segments: list[PlanSegment] = []
    problems: list[Problem] = []
    for execution in sorted(group.executions.values(), key=lambda e: e.id):
        if execution.plan and execution.plan.name.startswith(_USE_COMMANDS):
            resolver.use_database(execution.text)
        segments += guard(execution.id, partial(plan_segments, execution, problems)) or ()
    problems += guard(group.root, partial(_resolve_tables, segments, resolver)) or ()
    for problem in problems:
        reject(*problem)
    for segment in segments:
        guard(segment.execution.id, partial(_complete, segment, application, group.batch))
    chosen = guard(group.root, partial(pair_segments, segments, application)) or []
    for segment in segments:
        guard(segment.execution.id, partial(_learn, segment, context))
    candidates = [
        guard(segment.execution.id, partial(_statement, application, segment, context))
        for segment in chosen
    ]
    if batch := group.batch:
        candidates.append(
            guard(group.root, partial(_batch_statement, application, batch, segments, context))
        )
    for reason in _gaps_of_jobs(group, segments):
        gap(reason)
    stream = application.streams.get(group.stream)
    error = group.outermost.error if group.executions else ""
    return [
        stream_statement(statement, group.batch, stream, resolver, error)
        for statement in candidates
        if statement and (statement.reads or statement.writes)
    ]


def _resolve_tables(segments: list[PlanSegment], resolver: DatasetResolver) -> list[Problem]:
    """Resolve tables that plans do not name, and return a reason for each that stays unknown."""
    problems = [*resolve_scans(segments), *name_catalogs(segments, resolver)]
    # `DeltaTable.merge(…)` runs its steps outside of a command.
    if not any(segment.command for segment in segments):
        problems += [
            (execution.id, "a MERGE of Delta's API does not name its target")
            for execution in [segment.execution for segment in segments][:1]
            if _DELTA_MERGE.search(f"{execution.description}\n{execution.details}")
        ]
    return problems


def _gaps_of_jobs(group: ExecutionGroup, segments: list[PlanSegment]) -> Iterator[str]:
    """Gaps of jobs in executions: a command, or a sink of a stream, names what its jobs write."""
    commands = [segment.execution for segment in segments if segment.command]
    has_sink = group.batch is not None and streams.parse_place(group.batch.sink) is not None
    for execution in group.executions.values():
        is_named = any(each is execution or each.encloses(execution) for each in commands)
        for reason in execution.gaps:
            if reason == RDD_READ or not (is_named or has_sink):
                yield reason


def outside_reads(jobs: OutsideJobs, resolver: DatasetResolver) -> Iterator[PlanStatement]:
    """Reads of jobs outside of SQL: the files and tables that RDDs were made of."""
    for label, (first, last) in jobs.sources.items():
        scan = labelled_scan(label)
        reads = [DatasetAccess(*d, Operation.SELECT) for d in resolver.read(scan)] if scan else []
        if reads:
            yield PlanStatement(
                reads=merge_accesses(reads),
                first_at=first,
                last_at=last,
                infers_schema=infers_schema(label),
            )


def _complete(segment: PlanSegment, application: Application, batch: StreamBatch | None) -> None:
    """Add what a plan itself does not show: inputs of RDDs, folders and sinks of streams."""
    if batch is None:
        use_planned_sink(segment)
    add_rdd_scans(segment, application.rdds)
    stream = application.streams.get(segment.execution.stream or "")
    if stream and segment.role in (None, CommandRole.INSERT, CommandRole.SAVE):
        segment.scans = streams.watched_folders(segment.scans, streams.sources(stream))


def _batch_statement(
    application: Application,
    batch: StreamBatch,
    segments: list[PlanSegment],
    context: StatementContext,
) -> PlanStatement | None:
    """A batch of a streaming query whose sink is a dataset, or that the log has no execution of.

    Its plan, if there is one, has its columns and the datasets that it is joined with.
    """
    sink, resolver = streams.parse_place(batch.sink), context.column_sources.resolver
    queries = [
        segment for segment in segments if segment.command is None and segment.execution.batch
    ]
    if sink is None and segments:
        return None
    operation = Operation.INSERT if sink else Operation.SELECT
    taken = [(streams.parse_place(text), rows) for text, rows in batch.sources]
    reads = [
        DatasetAccess(*dataset, operation, rows)
        for scan, rows in taken
        if scan
        for dataset in resolver.read(scan)
    ]
    rows, traced = batch.rows, TracedColumns()
    if queries and sink:
        segment = queries[-1]
        watched = {access.dataset for access in reads}
        reads += [
            access
            for scan in segment.scans
            for access in scan_accesses(application, segment.execution, scan, resolver, operation)
            if access.dataset not in watched
        ]
        rows = segment.execution.written if rows is None else rows
        traced = column_edges(_sink_segment(sink, segment), context.column_sources)
    columns = columns_written((), traced.taken, context.types, traced.edges)
    return PlanStatement(
        reads=merge_accesses(read_with_edges(reads, traced.edges, operation)),
        writes=merge_accesses(
            DatasetAccess(*dataset, operation, rows, columns=columns)
            for dataset in (resolver.read(sink) if sink else ())
        ),
        first_at=batch.at,
        last_at=batch.at,
        edges=traced.edges,
        gaps=traced.gaps,
    )


def _sink_segment(sink: Scan, batch: PlanSegment) -> PlanSegment:
    """A batch of a streaming query as a command that writes into its sink."""
    target = Target(sink.table, "".join(sink.paths[:1]), topics=sink.topics)
    return replace(batch, command=_SINK, target=target, feeds=[batch])


def _learn(segment: PlanSegment, context: StatementContext) -> None:
    """Remember where tables lie and which types columns have."""
    if target := segment.target:
        learn = context.column_sources.resolver.learn
        paths = [target.path] if target.path else []
        learn(target.table, paths, target.catalog, by_path=target.by_path)
    for scan in segment.scans:
        context.column_sources.learn(scan)
        for column, kind in scan.types:
            context.types[column] = kind
    # The plans of other executions may begin with the columns of these.
    execution = segment.execution
    if segment.command is None and (_CHECKPOINT.search(execution.details) or execution.stream):
        context.column_sources.cache(segment)


def _statement(
    application: Application, segment: PlanSegment, context: StatementContext
) -> PlanStatement:
    execution, resolver = segment.execution, context.column_sources.resolver
    operation = segment.operation
    reads = [
        access
        for execution_, scan in scans_of(segment)
        for access in scan_accesses(application, execution_, scan, resolver, operation)
    ]
    if not (reads and segment.role is CommandRole.SAVE):
        named = (
            scan_accesses(application, execution, source, resolver, operation)
            for source in segment.sources
        )
        reads += [access for each in named for access in each]
    writes: list[DatasetAccess] = []
    columns: tuple[Column, ...] = ()
    traced = column_edges(segment, context.column_sources)
    gaps = dict.fromkeys(traced.gaps)
    if target := segment.target:
        if target.source_table:
            source_table = resolver.table(target.source_table, target.catalog)
            reads.append(DatasetAccess(source_table, Kind.TABLE, operation))
        if target.source_path:
            reads += [
                DatasetAccess(*dataset, operation)
                for dataset in resolver.resolve((), [target.source_path])
            ]
        counted = write_metrics(application, segment)
        taken = segment.inputs or traced.taken
        columns = columns_written(
            target.columns, taken, context.types, traced.edges, is_cut=target.is_cut
        )
        if target.is_cut and len(columns) <= len(target.columns):
            gaps[PLAN_CUT] = None
        periods = written_periods(segment, application, counted["partitions"])
        writes = [
            DatasetAccess(
                dataset,
                Kind.VIEW if target.is_view else kind,
                operation,
                **counted,
                columns=columns,
                periods=periods,
            )
            for dataset, kind in resolver.written_datasets(target)
        ]
    if segment.infers_schema:
        # One line of text, not the rows and columns of the files.
        reads = [DatasetAccess(*access[:3]) for access in reads]
    inputs = list(read_with_edges(reads, traced.edges if segment.command else (), operation))
    if any(scan.is_cut for part in (segment, *segment.feeds) for scan in part.scans):
        gaps[PATHS_CUT] = None
    of_rdds = {gap for part in (segment, *segment.feeds) for gap in part.gaps}
    followed = {edge.to_column for edge in traced.edges if edge.from_dataset != MEMORY}
    if not target or len(followed) >= max(1, len(columns)):
        of_rdds.discard(RDD_COLUMNS)
    gaps |= dict.fromkeys(sorted(of_rdds))
    return PlanStatement(
        reads=merge_accesses(inputs),
        writes=merge_accesses(pass_dates(writes, inputs, traced.edges)),
        status=segment.status,
        first_at=execution.started_at,
        last_at=execution.ended_at or execution.started_at,
        sql=execution.sql or view_text(segment, inputs, writes),
        edges=traced.edges,
        gaps=tuple(gaps),
        infers_schema=segment.infers_schema,
    )
