"""The work of a run: its inputs and outputs under their names of today, with what was counted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from dbt_graft.exporters.openlineage.column_lineage import (
    column_lineage,
    edges_by_target,
    lineage_facet,
)
from dbt_graft.exporters.openlineage.facets import Facet, facet
from dbt_graft.exporters.openlineage.jobs import sql
from dbt_graft.exporters.openlineage.run_facets import subset
from dbt_graft.exporters.openlineage.snapshot import LineageSnapshot
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.period import DataPosition, Period
from dbt_graft.lineage.dates.period_union import join_positions, known_union
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Run, Status
from dbt_graft.lineage.usage import Usage

# No count of anything, and no number that others can read.
_TOO_LARGE = 1 << 63


@dataclass
class AccessCounts:
    """Rows, bytes and files that a run read or wrote; None where the log does not count them.

    Attributes:
        periods: The dates of data; None before the first statement.
    """

    rows: int | None = None
    bytes: int | None = None
    files: int | None = None
    periods: tuple[Period, ...] | None = None
    positions: tuple[DataPosition, ...] = ()

    def add(self, access: Access) -> None:
        """Add what one statement did."""
        self.rows = _sum(self.rows, access.rows)
        self.bytes = _sum(self.bytes, access.bytes)
        self.files = _sum(self.files, access.files)
        # An empty table that was made before its rows is of no date.
        if access.operation.brings_data or not access.operation.creates:
            periods = access.periods if self.periods is None else self.periods
            self.periods = known_union(periods, access.periods)
        self.positions = join_positions(self.positions, access.positions)

    def in_datasets(self, direction: Direction) -> dict[str, Facet]:
        """The facet of the part that was read or written: `subset`."""
        subset_facet = subset(self.periods or (), direction)
        return {"subset": subset_facet} if subset_facet else {}

    def facet(self, schema: str) -> Facet | None:
        """The facet of the statistics; None where nothing is counted."""
        counts = {"rowCount": self.rows, "size": self.bytes, "fileCount": self.files}
        counted = {
            name: count
            for name, count in counts.items()
            if count is not None and count < _TOO_LARGE
        }
        return facet(schema, **counted) if counted else None


Counts = Mapping[tuple[DatasetId, Direction], AccessCounts]


@dataclass(frozen=True)
class WorkFacets:
    """The facets of a job that show its work; runs of the same statements share them."""

    sql: Facet | None
    lineage: Facet | None
    columns: Mapping[DatasetId, Facet | None]


@dataclass(frozen=True)
class RunWork:
    """The work of a run.

    Attributes:
        outputs: What it did to each output.
        shapes: The shapes of its statements, also of those that failed or touched no dataset.
    """

    inputs: Sequence[DatasetId]
    outputs: Mapping[DatasetId, Collection[Operation]]
    facets: WorkFacets
    counts: Counts = field(default_factory=dict)
    shapes: Collection[str] = ()


def run_work(
    snapshot: LineageSnapshot,
    run: Run,
    usages: Sequence[Usage],
    facets_of: Callable[..., WorkFacets],
) -> RunWork:
    """The work of a run of a task, under the names that the datasets have now."""
    accesses = snapshot.accesses_by_run.get((run.task, run.run_id), ())
    succeeded = [access for access in accesses if access.status is not Status.FAILED]
    failed_uses = _uses(snapshot, accesses) - _uses(snapshot, succeeded)
    effective_usages = [
        usage
        for usage in sorted(usages, key=lambda usage: usage.dataset)
        if not usage.failed and (usage.dataset, usage.direction) not in failed_uses
    ]
    inputs = tuple(
        dict.fromkeys(
            usage.dataset
            for usage in effective_usages
            if usage.direction is Direction.READ and usage.moves_data
        )
    )
    outputs = {
        usage.dataset: usage.operations
        for usage in effective_usages
        if usage.direction is Direction.WRITE
    }
    counts: dict[tuple[DatasetId, Direction], AccessCounts] = defaultdict(AccessCounts)
    operations: dict[DatasetId, set[Operation]] = defaultdict(set)
    for access in succeeded:
        name = snapshot.present_name(access.dataset)
        counts[name, access.direction].add(access)
        if access.direction is Direction.WRITE:
            operations[name].add(access.operation)
    shapes = tuple(dict.fromkeys(access.shape_id for access in succeeded))
    if not accesses:
        shapes = tuple(sorted({shape for usage in usages for shape in usage.shapes}))
    return RunWork(
        inputs=inputs,
        outputs={
            dataset: operations.get(dataset) or declared for dataset, declared in outputs.items()
        },
        facets=facets_of(inputs, tuple(outputs), shapes),
        counts=counts,
        shapes=sorted({*shapes, *run.gaps, *(access.shape_id for access in accesses)}),
    )


def work_facets(
    snapshot: LineageSnapshot,
    name: str,
    inputs: tuple[DatasetId, ...],
    outputs: tuple[DatasetId, ...],
    shapes: tuple[str, ...],
) -> WorkFacets:
    """The facets of a task or definition that ran these statements; none for all that it has."""
    shapes_by_id, in_run = snapshot.lineage.shapes, set(shapes)
    read, written = set(inputs), set(outputs)
    flows = [
        (flow.source, flow.target)
        for flow in snapshot.flows.get(name, ())
        if flow.source in read
        and flow.target in written
        and (not flow.shapes or not in_run.isdisjoint(flow.shapes))
    ]
    edges = [
        edge
        for edge in snapshot.edges.get(name, ())
        if edge.to_dataset in written
        and (not in_run or not edge.shape_id or edge.shape_id in in_run)
    ]
    return WorkFacets(
        sql=sql(shapes_by_id[shape] for shape in shapes if shape in shapes_by_id),
        lineage=lineage_facet(inputs, outputs, flows, edges),
        columns={
            target: column_lineage(target_edges)
            for target, target_edges in edges_by_target(edges).items()
        },
    )


def _uses(
    snapshot: LineageSnapshot, accesses: Sequence[Access]
) -> set[tuple[DatasetId, Direction]]:
    return {(snapshot.present_name(access.dataset), access.direction) for access in accesses}


def _sum(a: int | None, b: int | None) -> int | None:
    return a + b if a is not None and b is not None else b if a is None else a
