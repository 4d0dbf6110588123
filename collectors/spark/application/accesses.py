"""A statement of an application, and the datasets that it reads and writes, with their metrics.

A statement is what a user calls one: `df.write.saveAsTable("t")` is three nested executions in
Spark 4 (save, create, insert) and one statement here; an `INSERT … INSERT …` over one source is one
execution and two statements. Reading a view is reading its tables, because Spark's plans have
views resolved; only `CREATE VIEW` shows the views that it reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import reduce
from typing import Any

from dbt_graft.collectors.spark.application.execution import Application, Execution
from dbt_graft.collectors.spark.application.segments import PlanSegment
from dbt_graft.collectors.spark.plans.arguments import Attribute
from dbt_graft.collectors.spark.sources.commands import CommandRole
from dbt_graft.collectors.spark.sources.datasets import TOPICS, DatasetResolver
from dbt_graft.collectors.spark.sources.periods import scan_periods, scan_positions
from dbt_graft.collectors.spark.sources.scans import Scan
from dbt_graft.collectors.spark.sources.schema import (
    is_column_name,
    merge_columns,
    typed_columns,
    written_names,
)
from dbt_graft.collectors.statement import (
    COUNTS,
    DatasetAccess,
    Statement,
    StatementEdge,
    add_counts,
)
from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.period import Period
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import ANY_COLUMN, Column, Status

# Text, operation, inputs, outputs.
StatementKey = tuple[str, Operation, tuple[DatasetId, ...], tuple[DatasetId, ...]]


@frozen(kw_only=True)
class PlanStatement(Statement):
    """A statement as plans show it; its run and shape are known when the log has been read.

    Attributes:
        sql: Its text without literals; empty where the log has none.
        gaps: The reasons why column edges or inputs (`PATHS_CUT`) are missing or not exact.
        infers_schema: Spark ran it to find the columns of files: it counts only where nothing else
            reads them.
    """

    first_at: datetime
    last_at: datetime
    sql: str = ""
    gaps: tuple[str, ...] = ()
    infers_schema: bool = False

    @property
    def operation(self) -> Operation:
        """The operation on its datasets."""
        return (self.writes or self.reads)[0].operation

    @property
    def key(self) -> StatementKey:
        """Its text, operation, inputs and outputs: equal for all runs of the same statement."""
        reads = tuple(access.dataset for access in self.reads)
        return self.sql, self.operation, reads, tuple(access.dataset for access in self.writes)


_WRITE_METRICS = {
    "bytes": "written output",
    "files": "number of written files",
    "partitions": "number of dynamic part",
}
_FROM_TASKS = (CommandRole.SAVE, CommandRole.WRAPPER)


def scans_of(segment: PlanSegment) -> Iterator[tuple[Execution, Scan]]:
    """The scans of a statement with their executions; a reused scan, shown twice, counts once."""
    seen: set[int] = set()
    for part in (segment, *segment.feeds):
        for scan in part.scans:
            if scan.rows_metric_id is None or scan.rows_metric_id not in seen:
                yield part.execution, scan
            seen.add(-1 if scan.rows_metric_id is None else scan.rows_metric_id)


def write_metrics(application: Application, segment: PlanSegment) -> dict[str, Any]:
    """The metrics of a write, by their names in `COUNTS`."""
    node = segment.node
    ids = {
        count: node.metrics.get(name) if node else None for count, name in _WRITE_METRICS.items()
    }
    ids["rows"] = node.rows_metric_id if node else None
    counted = {
        count: application.metrics.count_of(segment.execution.id, metric)
        for count, metric in ids.items()
    }
    is_save = segment.role in _FROM_TASKS and not segment.operation.is_in_place
    if is_save and counted["rows"] is None:
        # Connectors have no metrics of their own, and before Spark 3.4 those of CREATE TABLE AS may
        # be missing: they write the rows that the tasks put out.
        executions = [part.execution for part in (segment, *segment.feeds)]
        written = [rows for execution in executions if (rows := execution.written) is not None]
        counted["rows"] = sum(written) if written else None
        if counted["bytes"] is None:
            counted["bytes"] = sum(execution.written_bytes for execution in executions) or None
    return counted


def scan_accesses(
    application: Application,
    execution: Execution,
    scan: Scan,
    resolver: DatasetResolver,
    operation: Operation,
) -> Iterator[DatasetAccess]:
    """The datasets that a scan of a statement reads, with its metrics."""
    counted: dict[str, Any] = {
        count: application.metrics.count_of(execution.id, getattr(scan, f"{count}_metric_id"))
        for count in COUNTS
    }
    ran = counted["bytes"] is not None and execution.status is not Status.FAILED
    if ran and scan.rows_metric_id is not None and scan.rows_metric_id not in application.metrics:
        counted["rows"] = 0  # Spark leaves out metrics that stayed zero.
    datasets = resolver.read(scan)
    periods: tuple[Period, ...] = ()
    if len(datasets) > 1:
        counted = {}  # Spark counts a scan, not each of the folders it read.
    elif scan.node:
        types = {column.name: column.type for column in scan.columns}
        periods = scan_periods(scan.node, scan.location, types, application.date_columns)
    positions = scan_positions(scan.node) if scan.node and len(datasets) == 1 else ()
    for dataset, kind in datasets:
        yield DatasetAccess(
            dataset,
            kind,
            operation,
            **counted,
            columns=scan.columns,
            periods=periods,
            positions=positions,
        )


def columns_written(
    listed: Sequence[str],
    taken: Sequence[Attribute],
    types: Mapping[int, str],
    edges: Iterable[StatementEdge] = (),
    *,
    is_cut: bool = False,
) -> tuple[Column, ...]:
    """The columns of a write: those that its command lists. Where it lists none, or Spark left
    some out, the columns that it takes from its query have the other names.
    """
    others = [column.name for column in taken[len(listed) :]] if is_cut else []
    names = [*listed, *others] if is_cut else written_names(listed, taken)
    return typed_columns(names, taken, types, {edge.to_column for edge in edges})


def read_with_edges(
    reads: Sequence[DatasetAccess], edges: Iterable[StatementEdge], operation: Operation
) -> Iterator[DatasetAccess]:
    """Reads with the columns that edges name, where no scan shows any (of a view, say).

    Besides, the other datasets that edges come from: before Spark 3.4 a save's query is in its text
    only, and those of a checkpoint and of a streaming batch are in other plans.
    """
    columns_by_dataset: dict[DatasetId, dict[str, None]] = {}
    for edge in edges:
        if edge.from_dataset == MEMORY:
            continue
        columns = columns_by_dataset.setdefault(edge.from_dataset, {})
        if edge.from_column != ANY_COLUMN and is_column_name(edge.from_column):
            columns[edge.from_column] = None
    for access in reads:
        named = tuple(map(Column, columns_by_dataset.get(access.dataset, ())))
        yield access if access.columns or not named else access._replace(columns=named)
    read = {access.dataset for access in reads}
    for dataset in sorted(columns_by_dataset.keys() - read):
        columns = columns_by_dataset[dataset]
        kind = Kind.PATH if dataset.is_path else Kind.TABLE
        kind = Kind.TOPIC if dataset.namespace == TOPICS else kind
        yield DatasetAccess(dataset, kind, operation, columns=tuple(map(Column, columns)))


def merge_accesses(accesses: Iterable[DatasetAccess]) -> tuple[DatasetAccess, ...]:
    """Each dataset once, sorted, with the sums of its metrics and the dates of all."""
    groups = group_by_key((access.dataset, access) for access in accesses)
    return tuple(_merge(groups[dataset]) for dataset in sorted(groups))


def _merge(accesses: Sequence[DatasetAccess]) -> DatasetAccess:
    first, *others = accesses
    if not others:
        return first
    kinds = {access.kind for access in accesses}
    return first._replace(
        kind=Kind.VIEW if Kind.VIEW in kinds else first.kind,
        columns=reduce(merge_columns, (access.columns for access in accesses)),
        **add_counts(accesses),
    )
