"""The history of accesses: what each run read and wrote, when, and for which dates.

All that is derived from it is derived on demand, for the edges and datasets that are asked for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cached_property

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import ALL_DATES, NO_DATES, Dates, dates_of
from dbt_graft.lineage.dates.partition_mapping import (
    EdgeRun,
    MappingEvidence,
    PartitionMapping,
    mapping_from_runs,
    with_declared,
)
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, ColumnEdge, Direction, Status, Subtype

# A task, or a definition, with the run: that of the orchestrator where there is one.
Execution = tuple[str, str]
# A task, or a definition, its input and its output.
Edge = tuple[str, DatasetId, DatasetId]

_REMOVES = frozenset({Operation.DELETE, Operation.TRUNCATE, Operation.DROP})
# Their rows take the place of those of the same dates.
_REWRITES = frozenset({Operation.MERGE, Operation.RESTORE, Operation.SWITCH, Operation.EXCHANGE})
_TESTS = ("test", "source freshness", "freshness")


class AccessHistory:
    """Accesses of a lineage by dataset and by edge; failed ones did nothing and are left out."""

    def __init__(self, lineage: Lineage) -> None:
        self.lineage = lineage
        self.upstream: dict[DatasetId, list[Edge]] = defaultdict(list)
        self.downstream: dict[DatasetId, list[Edge]] = defaultdict(list)
        for edge in sorted(set(_edges(lineage))):
            self.upstream[edge[2]].append(edge)
            self.downstream[edge[1]].append(edge)
        self._mappings: dict[Edge, PartitionMapping] = {}
        self._written: dict[int, Dates | None] = {}
        self._grains: dict[DatasetId, Grain | None] = {}
        self._run_reads: dict[tuple[str, DatasetId], dict[Execution, list[Access]]] = {}

    @cached_property
    def writes(self) -> dict[DatasetId, list[Access]]:
        """For each dataset what put data into it or took data out of it, oldest first."""
        return self._by_dataset(Direction.WRITE)

    @cached_property
    def reads(self) -> dict[DatasetId, list[Access]]:
        """For each dataset what took data from it, oldest first."""
        return self._by_dataset(Direction.READ)

    @cached_property
    def tasks_with_reads(self) -> set[tuple[str, DatasetId]]:
        """The tasks that were seen to read a dataset."""
        return set(self._reads_by_task)

    @cached_property
    def tasks_with_writes(self) -> set[tuple[str, DatasetId]]:
        """The tasks that were seen to write a dataset."""
        return {(one.task, dataset) for dataset, all_ in self.writes.items() for one in all_}

    def execution(self, access: Access) -> Execution:
        """The execution that an access belongs to: what engines did in one try shares a memory."""
        run = (access.task, access.run_id)
        parent = self._parents.get(run) if self._parents else None
        return (access.task, parent) if parent else run

    def grain(self, dataset: DatasetId) -> Grain | None:
        """The unit in which a dataset is written, or else read; None where no log tells."""
        if dataset not in self._grains:
            self._grains[dataset] = self._grain(dataset)
        return self._grains[dataset]

    def mapping(self, edge: Edge) -> PartitionMapping:
        """The partition mapping of an edge: declared, or derived from its runs."""
        if edge not in self._mappings:
            declared = self.lineage.declared_dates.get(edge[2])
            self._mappings[edge] = with_declared(
                self.derived_mapping(edge), declared.mapping(edge[1]) if declared else None
            )
        return self._mappings[edge]

    def derived_mapping(self, edge: Edge) -> PartitionMapping:
        """The mapping that logs alone show."""
        output_grain, input_grain = self.grain(edge[2]), self.grain(edge[1])
        found = mapping_from_runs([*self._edge_runs(edge)], output_grain, input_grain)
        if found.evidence is MappingEvidence.RUNS or input_grain is None:
            return found
        period = self._column_period(edge, input_grain, output_grain)
        if period is None:
            return found
        return PartitionMapping(period, 0, 0, input_grain, MappingEvidence.COLUMN, of=found.of)

    def written(self, access: Access) -> Dates | None:
        """The dates that a write is about; all of a table that it replaces; None if not known."""
        key = id(access)
        if key not in self._written:
            self._written[key] = self._written_dates(access)
        return self._written[key]

    def rewrites(self, access: Access) -> bool:
        """Whether a write takes the place of all that was there for its dates."""
        if access.operation.replaces or access.operation in _REWRITES:
            return True
        removed = NO_DATES
        for one in self._removals.get((self.execution(access), access.dataset), ()):
            if one.last_at and access.last_at and one.last_at <= access.last_at:
                removed |= removed_dates(one)
        dates = self.written(access)
        return removed.covers(ALL_DATES if dates is None else dates)

    @cached_property
    def _parents(self) -> dict[Execution, str]:
        return {
            (task.name, run.run_id): run.parent_run_id
            for task in self.lineage.tasks.values()
            for run in task.runs
            if run.parent_run_id
        }

    @cached_property
    def _accesses(self) -> list[Access]:
        found = [
            access
            for access in (*self.lineage.accesses, *_builds(self.lineage))
            if access.last_at is not None and access.status is not Status.FAILED
        ]
        return sorted(found, key=_order)

    def _by_dataset(self, direction: Direction) -> dict[DatasetId, list[Access]]:
        found: dict[DatasetId, list[Access]] = defaultdict(list)
        is_used = _puts if direction is Direction.WRITE else _takes
        for access in self._accesses:
            if access.direction is direction and is_used(access):
                found[access.dataset].append(access)
        return found

    @cached_property
    def _removals(self) -> dict[tuple[Execution, DatasetId], list[Access]]:
        found: dict[tuple[Execution, DatasetId], list[Access]] = defaultdict(list)
        for dataset, all_ in self.writes.items():
            for access in all_:
                if access.operation in _REMOVES:
                    found[self.execution(access), dataset].append(access)
        return found

    @cached_property
    def _reads_by_task(self) -> dict[tuple[str, DatasetId], list[Access]]:
        found: dict[tuple[str, DatasetId], list[Access]] = {}
        for dataset, all_ in self.reads.items():
            of_dataset: dict[str, list[Access]] = defaultdict(list)
            for access in all_:
                of_dataset[access.task].append(access)
            found.update(((task, dataset), reads) for task, reads in of_dataset.items())
        return found

    def _reads_of_runs(self, task: str, dataset: DatasetId) -> dict[Execution, list[Access]]:
        """The reads of a dataset by each run of a task."""
        key = (task, dataset)
        if key not in self._run_reads:
            found: dict[Execution, list[Access]] = defaultdict(list)
            for access in self._reads_by_task.get(key, ()):
                found[self.execution(access)].append(access)
            self._run_reads[key] = found
        return self._run_reads[key]

    @cached_property
    def _column_edges(self) -> dict[Edge, list[ColumnEdge]]:
        found: dict[Edge, list[ColumnEdge]] = defaultdict(list)
        for edge in self.lineage.column_edges:
            if edge.subtype in (Subtype.IDENTITY, Subtype.TRANSFORMATION):
                found[edge.task, edge.from_dataset, edge.to_dataset].append(edge)
        return found

    def _grain(self, dataset: DatasetId) -> Grain | None:
        declared = self.lineage.declared_dates.get(dataset)
        if declared:
            return declared.period
        for accesses in (self.writes.get(dataset, ()), self.reads.get(dataset, ())):
            counted = Counter(period.grain for one in accesses for period in one.periods)
            if counted:
                return max(counted, key=lambda grain: (counted[grain], grain))
        return None

    def _edge_runs(self, edge: Edge) -> Iterator[EdgeRun]:
        """The runs of an edge that say for which dates they wrote, the newest first."""
        task, source, target = edge
        runs: dict[Execution, Dates] = {}
        for access in self.writes.get(target, ()):
            if access.task == task and access.periods and access.operation not in _REMOVES:
                run = self.execution(access)
                runs[run] = runs.get(run, NO_DATES) | dates_of(access.periods)
        of_runs = self._reads_of_runs(task, source)
        for run in reversed(runs):
            if reads := of_runs.get(run):
                yield EdgeRun(run[1], self.read_dates(reads), runs[run])

    def read_dates(self, reads: Sequence[Access]) -> Dates | None:
        """The dates of several reads; None where one of them names none."""
        if len(reads) == 1 and reads[0].periods:
            return dates_of(reads[0].periods)
        found = NO_DATES
        for one in reads:
            if not one.periods:
                return None
            found |= dates_of(one.periods)
        return found

    def _column_period(
        self, edge: Edge, input_grain: Grain, output_grain: Grain | None
    ) -> Grain | None:
        """The period in which the partition column of the output comes from that of the input."""
        columns = self._date_columns(edge[1])
        found = {
            one.subtype: one
            for one in self._column_edges.get(edge, ())
            if one.from_column.casefold() in columns
        }
        if Subtype.IDENTITY in found and output_grain in (None, input_grain):
            return input_grain
        grains = list(Grain)
        if output_grain and found and grains.index(output_grain) > grains.index(input_grain):
            return output_grain
        return None

    def _date_columns(self, dataset: DatasetId) -> set[str]:
        accesses = (*self.writes.get(dataset, ()), *self.reads.get(dataset, ()))
        return {p.column.casefold() for one in accesses for p in one.periods if p.column}

    def _written_dates(self, access: Access) -> Dates | None:
        if access.periods:
            return dates_of(access.periods)
        if self._replaces_all(access):
            return ALL_DATES
        # Rows decide on the partitions: they take the dates of the input.
        found: Dates | None = None
        for edge in self.upstream.get(access.dataset, ()):
            if edge[0] != access.task:
                continue
            reads = self._reads_of_runs(access.task, edge[1]).get(self.execution(access), ())
            dates = self.read_dates(reads) if reads else None
            if dates is not None and (mapping := self.mapping(edge)).is_rule:
                found = mapping.affected(dates) & (ALL_DATES if found is None else found)
        return found

    def _replaces_all(self, access: Access) -> bool:
        if access.operation is not Operation.INSERT_OVERWRITE:
            return access.operation.replaces
        # Of a table that is written by dates a partition is overwritten: no log shows which.
        by_dates = any(one.periods for one in self.writes.get(access.dataset, ()))
        return access.partitions is None and not by_dates


def removed_dates(access: Access) -> Dates:
    """The dates of which a DELETE, TRUNCATE or DROP removes rows; none where it is not known."""
    if access.periods:
        return dates_of(access.periods)
    return NO_DATES if access.operation is Operation.DELETE else ALL_DATES


def removes_rows(access: Access) -> bool:
    """Whether an access takes rows out and puts none in."""
    return access.operation in _REMOVES


def times(access: Access) -> Sequence[datetime]:
    """The times at which an access counts: when it ended; of several statements the first, too."""
    if access.last_at is None:
        return ()
    if access.statements > 1 and access.first_at and access.first_at < access.last_at:
        return access.first_at, access.last_at
    return (access.last_at,)


def _order(access: Access) -> tuple[datetime, str, str, str]:
    assert access.last_at
    return access.last_at, access.task, access.run_id, access.shape_id


def _puts(access: Access) -> bool:
    brings = access.operation.brings_data and access.operation is not Operation.CREATE_VIEW
    return brings or access.operation in _REMOVES


def _takes(access: Access) -> bool:
    return access.operation.reads_data


def _edges(lineage: Lineage) -> Iterator[Edge]:
    for flow in lineage.flows:
        if flow.definition is None:
            yield flow.task, flow.source, flow.target
    for definition in lineage.definitions.values():
        for source in definition.reads:
            if source != definition.dataset:
                yield definition.name, source, definition.dataset


def is_view(definition: Definition) -> bool:
    """Whether a definition holds no data of its own."""
    is_sql_view = definition.operation is Operation.CREATE_VIEW
    return is_sql_view or definition.kind is DefinitionKind.VIEW


def _builds(lineage: Lineage) -> Iterator[Access]:
    """dbt's builds of models as accesses: no log of an engine is needed for them."""
    for definition in lineage.definitions.values():
        if is_view(definition):
            continue
        dataset = lineage.datasets.get(definition.dataset)
        for result in lineage.node_results.get(definition.name, ()):
            if result.status is not Status.OK or result.command in _TESTS:
                continue
            start, end = result.started_at, result.ended_at or result.started_at
            if start is None or end is None:
                continue
            ends = [(one, Direction.READ, Operation.SELECT, start) for one in definition.reads]
            ends.append((definition.dataset, Direction.WRITE, definition.operation, end))
            for one, direction, operation, at in ends:
                kind = lineage.datasets[one].kind if one in lineage.datasets else None
                known = kind or (dataset.kind if dataset else None)
                if known is not None:
                    yield Access(
                        task=definition.name,
                        run_id=result.invocation_id,
                        dataset=one,
                        kind=known,
                        direction=direction,
                        operation=operation,
                        shape_id="",
                        first_at=at,
                        last_at=at,
                        status=result.status,
                    )
