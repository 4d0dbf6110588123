"""Datasets as statements read and write them, and what Spark counted for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce

from dbt_graft.collectors.spark.application.execution import Application, Execution
from dbt_graft.collectors.spark.application.segments import PlanSegment
from dbt_graft.collectors.spark.sources.commands import CommandRole
from dbt_graft.collectors.spark.sources.datasets import DatasetResolver
from dbt_graft.collectors.spark.sources.scans import Scan
from dbt_graft.collectors.spark.sources.schema import merge_columns
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.records import Column, Status

# What is counted for each use of a dataset.
COUNTS = ("rows", "bytes", "files", "partitions")
_WRITTEN = {
    "rows": "number of output rows",
    "bytes": "written output",
    "files": "number of written files",
    "partitions": "number of dynamic part",
}
# What these take from their own target stays in it.
IN_PLACE = frozenset({"MERGE", "UPDATE", "DELETE"})


@dataclass(frozen=True, slots=True)
class DatasetAccess:
    """A dataset as a statement read or wrote it; None for numbers that the log does not tell."""

    dataset: DatasetId
    kind: Kind
    rows: int | None = None
    bytes: int | None = None
    files: int | None = None
    partitions: int | None = None
    columns: tuple[Column, ...] = ()


def scans_of(segment: PlanSegment) -> Iterator[tuple[Execution, Scan]]:
    """The scans of a statement and their executions; what a plan reuses it shows again."""
    seen: set[int] = set()
    for one in (segment, *segment.feeds):
        for scan in one.scans:
            if scan.rows_metric_id is None or scan.rows_metric_id not in seen:
                yield one.execution, scan
            seen.add(-1 if scan.rows_metric_id is None else scan.rows_metric_id)


def counts_written(application: Application, segment: PlanSegment) -> dict[str, int | None]:
    """What Spark counted of a write."""
    metrics = segment.node.metrics if segment.node else {}
    counted = {
        count: application.metrics.of(segment.execution.id, metrics.get(metric))
        for count, metric in _WRITTEN.items()
    }
    if (
        segment.role is CommandRole.SAVE
        and segment.operation not in IN_PLACE
        and counted["rows"] is None
    ):
        # Connectors have no metrics of their own: what tasks gave away they took.
        given = (one.execution.written for one in (segment, *segment.feeds))
        counted["rows"] = reduce(_sum, given, None)
    return counted


def scanned(
    application: Application, execution: Execution, scan: Scan, resolver: DatasetResolver
) -> Iterator[DatasetAccess]:
    """The datasets that a scan reads, with what was counted for them."""
    counted = {
        count: application.metrics.of(execution.id, getattr(scan, f"{count}_metric_id"))
        for count in COUNTS
    }
    ran = counted["bytes"] is not None and execution.status is not Status.FAILED
    if ran and scan.rows_metric_id not in application.metrics:
        counted["rows"] = 0  # Spark leaves out what counted nothing.
    found = resolver.read(scan)
    if len(found) > 1:
        counted = {}  # Spark counts a scan, not each of the folders it read.
    for dataset, kind in found:
        yield DatasetAccess(dataset, kind, **counted, columns=scan.columns)


def merged(uses: Iterable[DatasetAccess]) -> tuple[DatasetAccess, ...]:
    """Each dataset once, sorted; what was counted for it is added up."""
    merged: dict[DatasetId, DatasetAccess] = {}
    for use in uses:
        mine = merged.get(use.dataset)
        merged[use.dataset] = (
            DatasetAccess(
                use.dataset,
                use.kind if use.kind is Kind.VIEW else mine.kind,
                **{count: _sum(getattr(mine, count), getattr(use, count)) for count in COUNTS},
                columns=merge_columns(mine.columns, use.columns),
            )
            if mine
            else use
        )
    return tuple(merged[key] for key in sorted(merged))


def _sum(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else a + b
