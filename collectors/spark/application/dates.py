"""The dates of data that statements write, and those of batches of streaming queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from dbt_graft.collectors.spark.application import streams
from dbt_graft.collectors.spark.application.accesses import PlanStatement
from dbt_graft.collectors.spark.application.execution import (
    Application,
    StreamBatch,
    StreamingQuery,
)
from dbt_graft.collectors.spark.application.segments import PlanSegment
from dbt_graft.collectors.spark.plans.date_filters import date_conditions, is_only_about
from dbt_graft.collectors.spark.sources.datasets import DatasetResolver
from dbt_graft.collectors.statement import DatasetAccess, StatementEdge
from dbt_graft.lineage.building.period_flow import derive_periods
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.date_columns import DateColumns, DateRank
from dbt_graft.lineage.dates.partition_dates import Partition, partition_periods, path_period
from dbt_graft.lineage.dates.period import DataPosition, Period, PeriodEvidence
from dbt_graft.lineage.dates.period_union import condition_periods, join_positions, union
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Status

_BY_CONDITION = (Operation.DELETE, Operation.UPDATE)


def written_periods(
    segment: PlanSegment, application: Application, partitions: int | None
) -> tuple[Period, ...]:
    """The dates that a command writes, drops or changes, by itself.

    Args:
        partitions: The number of partitions that it wrote, where the rows decided on them.
    """
    target, columns = segment.target, application.date_columns
    if target is None:
        return ()
    if named := partition_periods(target.partitions, columns, PeriodEvidence.PARTITION):
        return union(named)
    new = _new_partitions(segment)
    # What is not new in the catalog was written again, and nothing tells which.
    if new and partitions in (None, len(new)):
        return union(partition_periods(new, columns, PeriodEvidence.PARTITION, by_rows=True))
    if periods := _condition_periods(segment, columns):
        return periods
    period = path_period(target.path, columns, PeriodEvidence.PATH) if target.path else None
    # Of a table, a date in its folder's name is no date of its rows.
    return (period,) if period and (not target.table or period.column) else ()


def _new_partitions(segment: PlanSegment) -> list[Partition]:
    """The partitions of the target that the metastore created meanwhile, each once."""
    table = ".".join(segment.target.table[-2:]).casefold() if segment.target else ""
    partitions = {
        tuple(map(tuple, partition)): None
        for execution in (segment.execution, *segment.around)
        for partition in execution.new_partitions.get(table, ())
    }
    return [[(str(key), str(value)) for key, value in partition] for partition in partitions]


def _condition_periods(segment: PlanSegment, columns: DateColumns) -> tuple[Period, ...]:
    """The dates in the condition of a DELETE, an UPDATE or an overwrite of some rows."""
    by_condition = segment.operation in _BY_CONDITION or segment.name == "OverwriteByExpression"
    if not by_condition or segment.node is None:
        return ()
    text = segment.operator.arguments if segment.operator else ""
    text = text or segment.node.text
    begins = text.find("[")
    while begins >= 0:
        ends = text.find("]", begins)
        conditions = date_conditions(text[begins : ends + 1], {})
        for column in sorted(conditions, key=lambda name: (-columns.rank(name), name)):
            if columns.rank(column) is not DateRank.NONE:
                periods = condition_periods(conditions[column], column)
                in_part = not is_only_about(text[begins : ends + 1], column)
                return union(replace(p, in_part=p.in_part or in_part) for p in periods)
        begins = text.find("[", begins + 1)
    return ()


def pass_dates(
    writes: Iterable[DatasetAccess], reads: Sequence[DatasetAccess], edges: Sequence[StatementEdge]
) -> Iterator[DatasetAccess]:
    """Writes with the dates that pass to them along column edges, where nothing else tells them."""
    dated: dict[DatasetId, tuple[Period, ...]] = {}
    for read in reads:
        before = dated.get(read.dataset, read.periods)
        dated[read.dataset] = union((*before, *read.periods)) if before and read.periods else ()
    for write in writes:
        if write.periods or write.operation.is_in_place or not any(dated.values()):
            yield write
            continue
        inputs = (
            (edge.to_column, edge.from_dataset, edge.from_column, edge.subtype)
            for edge in edges
            if edge.to_dataset == write.dataset
        )
        yield write._replace(periods=derive_periods(inputs, dated))


def stream_statement(
    statement: PlanStatement,
    batch: StreamBatch | None,
    stream: StreamingQuery | None,
    resolver: DatasetResolver,
    error: str = "",
) -> PlanStatement:
    """A statement of a streaming query, with the positions and times of its batch.

    What a stop of the query interrupted has not failed.

    Args:
        error: That of the outermost execution.
    """
    if stream and stream.is_interrupted_by(error) and statement.status is Status.FAILED:
        statement = replace(statement, status=Status.UNKNOWN)
    if batch is None:
        return statement
    positions = _positions(batch, resolver)
    times = streams.event_period(batch.event_times)
    return replace(
        statement,
        reads=tuple(
            access._replace(
                positions=positions.get(access.dataset, access.positions),
                periods=access.periods or (times if access.dataset in positions else ()),
            )
            for access in statement.reads
        ),
        writes=tuple(
            access._replace(periods=access.periods or times) for access in statement.writes
        ),
    )


def _positions(
    batch: StreamBatch, resolver: DatasetResolver
) -> dict[DatasetId, tuple[DataPosition, ...]]:
    positions: dict[DatasetId, tuple[DataPosition, ...]] = {}
    for (text, _), (start, end) in zip(batch.sources, batch.offsets, strict=False):
        scan = streams.parse_place(text)
        for dataset, _kind in resolver.read(scan) if scan else ():
            of_topic = dataset.name if scan and scan.topics else ""
            position = streams.position(text, start, end, of_topic)
            positions[dataset] = join_positions(positions.get(dataset, ()), position)
    return positions
