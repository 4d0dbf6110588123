"""What flowed where: from the accesses of runs to edges between lasting datasets.

Within a run, statements are followed in the order they were first seen:

- a statement that reads and writes carries data from the one to the other;
- a temporary table holds what was put into it until a later statement takes it out, so the
  edge goes from base table to base table with the temporary one noted as a hop;
- a statement that only reads brings data into the task's memory, and one that only writes
  (`INSERT … VALUES`, a bulk insert, a data frame made in Python) takes its data from there:
  that is how a pandas script moves data.

A dataset that a task reads and writes makes no edge to itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from lineage.dataset import DatasetId, Kind
from lineage.records import Access, Direction, Evidence, Status

# Writes that change or remove what is there and bring no data of their own.
LIFECYCLE = frozenset(
    {"DELETE", "TRUNCATE", "DROP", "CREATE TABLE", "ALTER", "RENAME", "CREATE SYNONYM"}
)
# Writes that make a temporary table anew, so that what it held before is gone.
_FRESH = frozenset({"CREATE TABLE AS", "SELECT INTO", "CREATE VIEW", "TRUNCATE", "DROP"})
_BEGINNING = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Flow:
    """Data of `source` went into `target` in runs of `task`.

    Attributes:
        hops: Temporary tables on the way, first to last.
        through_memory: The task carried the data itself (read it, then wrote it).
        shapes: The shapes that wrote the target.
    """

    source: DatasetId
    target: DatasetId
    task: str
    hops: tuple[DatasetId, ...] = ()
    through_memory: bool = False
    shapes: tuple[str, ...] = ()
    evidence: Evidence = Evidence.OBSERVED
    first_at: datetime | None = None
    last_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Origin:
    """A lasting dataset some data came from, and the way it took so far."""

    dataset: DatasetId
    hops: tuple[DatasetId, ...] = ()
    through_memory: bool = False


def flows(accesses: Iterable[Access]) -> list[Flow]:
    """The edges between lasting datasets that these accesses make, each once a task, sorted."""
    runs: dict[tuple[str, str], list[Access]] = defaultdict(list)
    for access in accesses:
        if access.status is not Status.FAILED:
            runs[access.task, access.run_id].append(access)
    merged: dict[tuple[str, DatasetId, DatasetId], Flow] = {}
    for run in runs.values():
        for flow in _run_flows(run):
            key = (flow.task, flow.source, flow.target)
            merged[key] = _merge(merged[key], flow) if key in merged else flow
    return [merged[key] for key in sorted(merged)]


def _run_flows(run: list[Access]) -> Iterable[Flow]:
    held: dict[DatasetId, dict[DatasetId, _Origin]] = defaultdict(dict)
    memory: dict[DatasetId, _Origin] = {}
    for step in _steps(run):
        reads = [a for a in step if a.direction is Direction.READ]
        writes = [a for a in step if a.direction is Direction.WRITE]
        origins = _origins(reads, held)
        if not writes:
            memory.update({o.dataset: replace(o, through_memory=True) for o in origins.values()})
        elif not reads:
            origins = memory
        for write in writes:
            if write.kind is Kind.TEMPORARY:
                if write.operation in _FRESH:
                    held[write.dataset] = {}
                if write.operation not in LIFECYCLE:
                    held[write.dataset] |= {
                        o.dataset: replace(o, hops=(*o.hops, write.dataset))
                        for o in origins.values()
                    }
            elif reads or write.operation not in LIFECYCLE:
                yield from (_flow(o, write) for o in origins.values() if o.dataset != write.dataset)


def _steps(run: list[Access]) -> list[list[Access]]:
    """A run's accesses by shape, in the order the shapes were first seen."""
    shapes: dict[str, list[Access]] = defaultdict(list)
    for access in run:
        shapes[access.shape_id].append(access)
    return sorted(
        shapes.values(),
        key=lambda step: (min(a.first_at or _BEGINNING for a in step), step[0].shape_id),
    )


def _origins(
    reads: list[Access], held: dict[DatasetId, dict[DatasetId, _Origin]]
) -> dict[DatasetId, _Origin]:
    origins: dict[DatasetId, _Origin] = {}
    for read in reads:
        if read.kind is Kind.TEMPORARY:
            for origin in held[read.dataset].values():
                origins.setdefault(origin.dataset, origin)
        else:
            origins[read.dataset] = _Origin(read.dataset)
    return origins


def _flow(origin: _Origin, write: Access) -> Flow:
    return Flow(
        source=origin.dataset,
        target=write.dataset,
        task=write.task,
        hops=origin.hops,
        through_memory=origin.through_memory,
        shapes=(write.shape_id,),
        evidence=write.evidence,
        first_at=write.first_at,
        last_at=write.last_at,
    )


def _merge(a: Flow, b: Flow) -> Flow:
    """One flow of two runs: the shorter way, the stronger evidence, the longer time."""
    direct = min(a, b, key=lambda flow: (flow.through_memory, len(flow.hops)))
    ranks = list(Evidence)
    return replace(
        direct,
        shapes=tuple(sorted({*a.shapes, *b.shapes})),
        evidence=min(a.evidence, b.evidence, key=ranks.index),
        first_at=min((t for t in (a.first_at, b.first_at) if t), default=None),
        last_at=max((t for t in (a.last_at, b.last_at) if t), default=None),
    )
