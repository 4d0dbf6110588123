"""A task in one version: what it did in some of its runs, as sets of facts that can be compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import (
    ANY_COLUMN,
    Access,
    ColumnEdge,
    Direction,
    EdgeType,
    Evidence,
    Masking,
    Run,
    Status,
    Subtype,
)

# What each of so many runs before the base did is usual: when it is missing since, it is gone.
_USUAL = 3
_BEGINNING = datetime.min.replace(tzinfo=UTC)


class ColumnFact(NamedTuple):
    """A column of an output comes from another; `column` is empty for what decides on rows."""

    dataset: DatasetId
    column: str
    source: DatasetId
    source_column: str
    subtype: Subtype
    masked_by: Masking


@dataclass(frozen=True, slots=True)
class UsualWork:
    """What the last runs of a task all did.

    Attributes:
        used: Datasets, read or written.
        varying: The shapes that only some of the runs had.
    """

    used: frozenset[tuple[DatasetId, Direction]] = frozenset()
    shapes: frozenset[str] = frozenset()
    varying: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class TaskVersion:
    """A task in one version.

    Attributes:
        flows: Source and target.
        columns: Names are folded.
        shapes: What is written, None for a statement that only reads, and the shape.
        removes: The datasets that it drops.
    """

    reads: frozenset[DatasetId] = frozenset()
    writes: frozenset[DatasetId] = frozenset()
    flows: frozenset[tuple[DatasetId, DatasetId]] = frozenset()
    columns: frozenset[ColumnFact] = frozenset()
    shapes: frozenset[tuple[DatasetId | None, str]] = field(default=frozenset(), compare=False)
    removes: frozenset[DatasetId] = frozenset()

    def without(self, *others: TaskVersion) -> TaskVersion:
        """What none of the others has."""
        return TaskVersion(
            self.reads.difference(*(one.reads for one in others)),
            self.writes.difference(*(one.writes for one in others)),
            self.flows.difference(*(one.flows for one in others)),
            self.columns.difference(*(one.columns for one in others)),
            self.shapes.difference(*(one.shapes for one in others)),
            self.removes.difference(*(one.removes for one in others)),
        )


def task_versions(
    lineage: Lineage,
    evidence: Collection[Evidence] = tuple(Evidence),
    usual: Mapping[str, UsualWork] | None = None,
) -> dict[str, TaskVersion]:
    """What each task did in all runs of a lineage.

    Args:
        evidence: Only by these.
        usual: Only what is in here.
    """
    columns: dict[str, set[ColumnFact]] = defaultdict(set)
    for edge in lineage.column_edges:
        shapes = None if usual is None else usual.get(edge.task, UsualWork()).shapes
        is_wanted = edge.task in lineage.tasks and edge.evidence in evidence
        if is_wanted and (shapes is None or edge.shape_id in shapes):
            columns[edge.task].add(_fact(edge))
    flows: dict[str, set[tuple[DatasetId, DatasetId]]] = defaultdict(set)
    for flow in lineage.flows:
        if flow.definition is None and flow.evidence in evidence:
            flows[flow.task].add((flow.source, flow.target))
    return {
        name: _version(
            task,
            flows[name],
            columns[name],
            evidence,
            None if usual is None else usual.get(name, UsualWork()),
        )
        for name, task in lineage.tasks.items()
    }


def usual_work(before: Lineage, since: Lineage) -> dict[str, UsualWork]:
    """What the last runs of each task all did, on engines on which one since has ended well.

    Where none has, nothing is known to be gone.
    """
    found = {}
    by_task: dict[str, list[Access]] = defaultdict(list)
    for access in before.accesses:
        by_task[access.task].append(access)
    for name, accesses in by_task.items():
        now = since.tasks.get(name)
        ended = {run.engine for run in (now.runs if now else ()) if _ended_well(run)}
        runs = {run.run_id: run for run in before.tasks[name].runs if _ended_well(run)}
        engines: dict[str, dict[str, list[Access]]] = defaultdict(lambda: defaultdict(list))
        for access in accesses:
            run = runs.get(access.run_id)
            if run and run.engine in ended and access.status is not Status.FAILED:
                engines[run.engine][access.run_id].append(access)
        used: set[tuple[DatasetId, Direction]] = set()
        shapes: set[str] = set()
        all_shapes: set[str] = set()
        for group in engines.values():
            last = sorted(group, key=lambda one: runs[one].started_at or _BEGINNING)[-_USUAL:]
            each = [group[run_id] for run_id in last]
            used |= set.intersection(*({(a.dataset, a.direction) for a in one} for one in each))
            shapes |= set.intersection(*({a.shape_id for a in one} for one in each))
            all_shapes.update(access.shape_id for one in each for access in one)
        found[name] = UsualWork(frozenset(used), frozenset(shapes), frozenset(all_shapes - shapes))
    return found


def _ended_well(run: Run) -> bool:
    return run.status is Status.OK or (run.status is Status.UNKNOWN and run.ended_at is not None)


def _fact(edge: ColumnEdge) -> ColumnFact:
    decides = edge.type is EdgeType.INDIRECT and edge.to_column == ANY_COLUMN
    return ColumnFact(
        edge.to_dataset,
        "" if decides else edge.to_column.casefold(),
        edge.from_dataset,
        edge.from_column.casefold(),
        edge.subtype,
        edge.masked_by,
    )


def _version(
    task: Task,
    flows: Iterable[tuple[DatasetId, DatasetId]],
    columns: Iterable[ColumnFact],
    evidence: Collection[Evidence],
    usual: UsualWork | None,
) -> TaskVersion:
    used = [
        one
        for one in task.usages
        if not one.failed
        and one.evidence in evidence
        and (usual is None or (one.dataset, one.direction) in usual.used)
    ]
    reads = {one.dataset for one in used if one.direction is Direction.READ and one.moves_data}
    writes = {one.dataset for one in used if one.direction is Direction.WRITE and one.moves_data}
    if usual is not None:
        flows = [(source, target) for source, target in flows if source in reads | writes]
        flows = [one for one in flows if one[1] in writes]
    written = {s for one in task.usages if one.direction is Direction.WRITE for s in one.shapes}

    def shapes() -> Iterator[tuple[DatasetId | None, str]]:
        for one in used:
            for shape in one.shapes:
                if usual is None or shape in usual.shapes:
                    if one.direction is Direction.WRITE:
                        yield one.dataset, shape
                    elif shape not in written:
                        yield None, shape

    return TaskVersion(
        frozenset(reads),
        frozenset(writes),
        frozenset(flows),
        frozenset(columns),
        frozenset(shapes()),
        frozenset(one.dataset for one in used if any(o.removes for o in one.operations)),
    )
