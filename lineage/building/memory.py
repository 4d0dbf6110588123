"""A task's memory: what a run reads into it, and writes from it.

A script reads `SELECT a, b FROM x` into a data frame and writes
`INSERT INTO y (a, c) VALUES (?, ?)` later: nobody saw what it did between. The memory stands
between the two as a dataset that lives as long as the run, so that a log shows `memory.a <- x.a`
and `y.a <- memory.a`; columns of equal name make edges whose evidence is INFERRED. What several
engines do in one run of an orchestrator shares a memory; two tasks, or two runs, never do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from datetime import UTC, datetime

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Access, ColumnEdge, Status

MEMORY = DatasetId("graft", "memory")

_BEGINNING = datetime.min.replace(tzinfo=UTC)
_ShapeKey = tuple[str, str]


@frozen
class MemoryOrder:
    """The first time that each shape used the memory of each run, by task and shape id."""

    _times: Mapping[_ShapeKey, Mapping[str, datetime]] = field(default_factory=dict)
    _cache: dict[tuple[str, str, str], bool] = field(default_factory=dict)

    def precedes(self, task: str, read: str, write: str) -> bool:
        """Whether a shape read into the memory of a run before another wrote from it."""
        key = (task, read, write)
        if key not in self._cache:
            reads, writes = self._times.get((task, read), {}), self._times.get((task, write), {})
            self._cache[key] = any(
                reads[run] <= written for run, written in writes.items() if run in reads
            )
        return self._cache[key]


def memory_order(
    edges: Iterable[ColumnEdge], accesses: Iterable[Access], parents: Mapping[_ShapeKey, str]
) -> MemoryOrder:
    """The order of the shapes that use a memory.

    Args:
        parents: The run of an orchestrator that started a run, by task and run id.
    """
    shapes = {(edge.task, edge.shape_id) for edge in edges if uses_memory(edge)}
    return MemoryOrder(_first_times(shapes, accesses, parents) if shapes else {})


def uses_memory(edge: ColumnEdge) -> bool:
    """Whether an edge leads into a task's memory, or out of it."""
    return MEMORY.key in (edge.to_dataset.key, edge.from_dataset.key)


def _first_times(
    shapes: Collection[_ShapeKey], accesses: Iterable[Access], parents: Mapping[_ShapeKey, str]
) -> dict[_ShapeKey, dict[str, datetime]]:
    times: dict[_ShapeKey, dict[str, datetime]] = defaultdict(dict)
    for access in accesses:
        shape = (access.task, access.shape_id)
        if shape in shapes and access.status is not Status.FAILED:
            run = parents.get((access.task, access.run_id), access.run_id)
            at = access.first_at or _BEGINNING
            times[shape][run] = min(at, times[shape].get(run, at))
    return times
