"""A task in one version: what it did in some of its runs, as sets of facts that can be compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from typing import NamedTuple

from dbt_graft.lineage.building.event_runs import EVENT_SHAPE
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    ANY_COLUMN,
    ColumnEdge,
    Direction,
    EdgeType,
    Evidence,
    Masking,
    Shape,
    Subtype,
)

_PLAN = "spark-plan"


class ColumnFact(NamedTuple):
    """A column of an output comes from another; `column` is empty for what decides on rows."""

    dataset: DatasetId
    column: str
    source: DatasetId
    source_column: str
    subtype: Subtype
    masked_by: Masking


@frozen
class TaskVersion:
    """A task in one version.

    Attributes:
        flows: Source and target.
        columns: Names are folded.
        operations: What is written, and how.
        shapes: What is written, None for a statement that only reads, and the shape. Plans and
            events have none of their own: theirs stand for tables and operations.
    """

    reads: frozenset[DatasetId] = frozenset()
    writes: frozenset[DatasetId] = frozenset()
    flows: frozenset[tuple[DatasetId, DatasetId]] = frozenset()
    columns: frozenset[ColumnFact] = frozenset()
    shapes: frozenset[tuple[DatasetId | None, str]] = field(default=frozenset(), compare=False)
    operations: frozenset[tuple[DatasetId, Operation]] = frozenset()

    def without(self, *others: TaskVersion) -> TaskVersion:
        """The facts that none of the others has."""
        return TaskVersion(
            self.reads.difference(*(other.reads for other in others)),
            self.writes.difference(*(other.writes for other in others)),
            self.flows.difference(*(other.flows for other in others)),
            self.columns.difference(*(other.columns for other in others)),
            self.shapes.difference(*(other.shapes for other in others)),
            self.operations.difference(*(other.operations for other in others)),
        )

    def intersection(self, other: TaskVersion) -> TaskVersion:
        """The facts that both have."""
        return TaskVersion(
            self.reads & other.reads,
            self.writes & other.writes,
            self.flows & other.flows,
            self.columns & other.columns,
            self.shapes & other.shapes,
            self.operations & other.operations,
        )


NO_WORK = TaskVersion()


@frozen
class TaskVersions:
    """A task before and after.

    Attributes:
        usual: What of `before` is gone if it is missing.
        elsewhere: What else shows that it does, so that it is neither new nor gone.
        varying: Shapes that only some of its last runs had.
    """

    before: TaskVersion
    after: TaskVersion
    usual: TaskVersion
    elsewhere: TaskVersion = NO_WORK
    varying: Collection[str] = ()

    @property
    def new(self) -> TaskVersion:
        """The facts that only the new version has."""
        return self.after.without(self.before, self.elsewhere)

    @property
    def gone(self) -> TaskVersion:
        """The facts that only the old version has, and always had."""
        return self.usual.without(self.after, self.elsewhere)


def usual_versions(last: Iterable[Lineage]) -> dict[str, TaskVersion]:
    """The work that each task did in all of its last runs.

    Args:
        last: The last run of each task, the one before, and so on.
    """
    usual: dict[str, TaskVersion] = {}
    for lineage in last:
        for name, version in task_versions(lineage).items():
            usual[name] = usual[name].intersection(version) if name in usual else version
    return usual


def task_versions(
    lineage: Lineage, evidence: Collection[Evidence] = tuple(Evidence)
) -> dict[str, TaskVersion]:
    """The work of each task in all runs of a lineage.

    Args:
        evidence: Only by these.
    """
    columns: dict[str, set[ColumnFact]] = defaultdict(set)
    for edge in lineage.column_edges:
        if edge.task in lineage.tasks and edge.evidence in evidence:
            columns[edge.task].add(_fact(edge))
    flows: dict[str, set[tuple[DatasetId, DatasetId]]] = defaultdict(set)
    for flow in lineage.flows:
        if flow.definition is None and flow.evidence in evidence:
            flows[flow.task].add((flow.source, flow.target))
    return {
        name: _version(task, flows[name], columns[name], evidence, lineage.shapes)
        for name, task in lineage.tasks.items()
    }


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
    texts: Mapping[str, Shape],
) -> TaskVersion:
    used = [usage for usage in task.usages if not usage.failed and usage.evidence in evidence]
    written = [usage for usage in used if usage.direction is Direction.WRITE]
    read = [usage for usage in used if usage.direction is Direction.READ]
    in_writes = {shape for usage in written for shape in usage.shapes}
    shapes = {(usage.dataset, shape) for usage in written for shape in usage.shapes}
    only_read = {
        (None, shape) for usage in read for shape in usage.shapes if shape not in in_writes
    }
    return TaskVersion(
        frozenset(usage.dataset for usage in read if usage.moves_data),
        frozenset(usage.dataset for usage in written if usage.moves_data),
        frozenset(flows),
        frozenset(columns),
        frozenset(pair for pair in (*shapes, *only_read) if _is_statement(pair[1], texts)),
        frozenset(
            (usage.dataset, how)
            for usage in written
            for how in usage.operations
            if _changes_rows(how)
        ),
    )


def _is_statement(shape_id: str, texts: Mapping[str, Shape]) -> bool:
    shape = texts.get(shape_id)
    return bool(shape and shape.dialect != _PLAN and not shape_id.startswith(EVENT_SHAPE))


def _changes_rows(how: Operation) -> bool:
    return how.brings_data or how.removes or how in (Operation.DELETE, Operation.TRUNCATE)
