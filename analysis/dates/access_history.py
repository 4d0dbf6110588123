"""The history of accesses: what each run read and wrote, when, and for which dates.

All that is derived from it is derived on demand, for the edges and datasets that are asked for.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property

from dbt_graft.analysis.dates.access_effects import (
    read_dates,
    removed_dates,
    removes_rows,
    replaces_rows,
)
from dbt_graft.analysis.dates.access_index import AccessIndex
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import ALL_DATES, NO_DATES, Dates, dates_of, entire_dates
from dbt_graft.lineage.dates.partition_mapping import (
    EdgeRun,
    MappingEvidence,
    PartitionMapping,
    mapping_from_runs,
    with_declared,
)
from dbt_graft.lineage.dates.period import Grain, PeriodEvidence
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, ColumnEdge, Evidence, Status, Subtype

# A task, or a definition, its input and its output.
Edge = tuple[str, DatasetId, DatasetId]
_OPENS, _CLOSES = r"[\[\"`]", r"[\]\"`]"
_PART = rf"(?:[\w$@#]+|{_OPENS}[^\]\"`]*{_CLOSES})"
# What decides on the rows that a statement takes.
_CHOICES = frozenset({Subtype.FILTER, Subtype.JOIN, Subtype.SORT})
_OF_PARTITIONS = frozenset({PeriodEvidence.PARTITION, PeriodEvidence.LOCATION})
_Dated = dict[DatasetId, Sequence[tuple[Access, Dates | None]]]


class AccessHistory(AccessIndex):
    """Accesses of a lineage by dataset and by edge, and how their dates belong together."""

    def __init__(self, lineage: Lineage) -> None:
        super().__init__(lineage)
        self.upstream: dict[DatasetId, list[Edge]] = defaultdict(list)
        self.downstream: dict[DatasetId, list[Edge]] = defaultdict(list)
        for edge in sorted({*_edges(lineage), *self._edges_to_themselves()}):
            self.upstream[edge[2]].append(edge)
            self.downstream[edge[1]].append(edge)
        self._mappings: dict[Edge, PartitionMapping] = {}
        self._written: dict[int, Dates | None] = {}
        self._dated_reads: _Dated = {}
        self._dated_writes: _Dated = {}
        self._partitioned: dict[DatasetId, bool] = {}
        self._with_partitions: dict[DatasetId, bool] = {}
        self._added_to: dict[DatasetId, bool] = {}
        self._grains: dict[DatasetId, Grain | None] = {}
        self._run_dates: dict[tuple[str, DatasetId], dict[str, Dates]] = {}

    def _edges_to_themselves(self) -> Iterator[Edge]:
        """The edges of tasks that make rows of a dataset of other rows of it.

        Where no columns are known, as of most events, that is so if it reads certain dates of it.
        """
        fed_again = self.lineage.history.fed_again
        for task, dataset in {*fed_again, *self._without_columns()}:
            # An UPDATE, which is no read, changes rows where they are.
            reads = self.reads_by_task(dataset).get(task, ())
            is_fed = (task, dataset) in fed_again or any(read.periods for read in reads)
            if reads and is_fed and task in self.writes_by_task(dataset):
                yield task, dataset, dataset

    def _without_columns(self) -> set[tuple[str, DatasetId]]:
        """Tasks with datasets that they read and write, of whose columns nothing is known."""
        outputs = {
            (task.name, dataset)
            for task in self.lineage.tasks.values()
            for dataset in {*task.reads} & {*task.writes}
        }
        if not outputs:
            return outputs
        return outputs - {(edge.task, edge.to_dataset) for edge in self.lineage.column_edges}

    def grain(self, dataset: DatasetId) -> Grain | None:
        """The unit in which a dataset is written, or else read; None where no log tells."""
        if dataset not in self._grains:
            self._grains[dataset] = self._grain(dataset)
        return self._grains[dataset]

    def mapping(self, edge: Edge) -> PartitionMapping:
        """The partition mapping of an edge: declared, or derived from its runs."""
        if edge not in self._mappings:
            declared = self.lineage.history.declared_dates.get(edge[2])
            self._mappings[edge] = with_declared(
                self.derived_mapping(edge), declared.mapping(edge[1]) if declared else None
            )
        return self._mappings[edge]

    def derived_mapping(self, edge: Edge) -> PartitionMapping:
        """The mapping that logs alone show."""
        output_grain, input_grain = self.grain(edge[2]), self.grain(edge[1])
        mapping = mapping_from_runs([*self._edge_runs(edge)], output_grain, input_grain)
        # A contract says what no log does.
        input_grain = input_grain or self._contract_grain(edge[1])
        if mapping.evidence is MappingEvidence.RUNS or input_grain is None:
            return mapping
        period = self._column_period(edge, input_grain, output_grain)
        if period is None:
            return mapping
        return PartitionMapping(period, 0, 0, input_grain, MappingEvidence.COLUMN, of=mapping.of)

    def written_dates(self, access: Access) -> Dates | None:
        """The dates that a write is about; all of a table that it replaces; None if not known."""
        if access.periods:
            return dates_of(access.periods)
        key = id(access)
        if key not in self._written:
            self._written[key] = self._written_dates(access)
        return self._written[key]

    def dated_reads(self, dataset: DatasetId) -> Sequence[tuple[Access, Dates | None]]:
        """The reads of a dataset, each with its dates; None if not known."""
        if dataset not in self._dated_reads:
            self._dated_reads[dataset] = [
                (read, dates_of(read.periods) if read.periods else None)
                for read in self.reads(dataset)
            ]
        return self._dated_reads[dataset]

    def dated_writes(self, dataset: DatasetId) -> Sequence[tuple[Access, Dates | None]]:
        """The writes of a dataset, each with its dates, as `written` has them."""
        if dataset not in self._dated_writes:
            self._dated_writes[dataset] = [
                (write, self.written_dates(write)) for write in self.writes(dataset)
            ]
        return self._dated_writes[dataset]

    def entire_dates(self, access: Access) -> Dates:
        """The dates of which a write is about all rows; none if not known."""
        return (
            entire_dates(access.periods)
            if access.periods
            else self.written_dates(access) or NO_DATES
        )

    def replaced_dates(self, access: Access, *, perhaps: bool = False) -> Dates:
        """The dates of which a write takes the place of all that was there.

        Args:
            perhaps: What has no end in the logs, and may not have been done, counts too, and dates
                of which it may have replaced a part.
        """
        if access.status is Status.UNKNOWN and not perhaps:
            return NO_DATES
        written = self.written_dates(access) or NO_DATES
        if replaces_rows(access):
            return written if perhaps else self.entire_dates(access)
        return self.removed_before(access, perhaps=perhaps) & written

    def removed_before(self, access: Access, *, perhaps: bool = False) -> Dates:
        """The dates of which the run of a write has removed all rows before it."""
        removed = NO_DATES
        task, run = self.execution(access)
        for write in self.writes_by_run(task, access.dataset).get(run, ()):
            is_before = write.last_at and access.last_at and write.last_at <= access.last_at
            is_done = perhaps or write.status is not Status.UNKNOWN
            if is_before and is_done and removes_rows(write):
                removed |= removed_dates(write, perhaps=perhaps)
        return removed

    def may_choose_rows(self, read: Access, *, all_dates: bool) -> bool:
        """Whether a read that names no dates may have been one of other rows than the bad ones.

        Args:
            all_dates: All dates are bad, or it is not known which.
        """
        if (read.task, read.dataset) in self._complete_reads:
            return False
        return (
            self._is_added_to(read.dataset) if all_dates else self.grain(read.dataset) is not None
        )

    def _is_added_to(self, dataset: DatasetId) -> bool:
        """Whether rows that are written stand beside those that were there."""
        if dataset not in self._added_to:
            self._added_to[dataset] = any(
                not write.operation.replaces and not removes_rows(write)
                for write in self.writes(dataset)
            )
        return self._added_to[dataset]

    @cached_property
    def _complete_reads(self) -> set[tuple[str, DatasetId]]:
        """Tasks and datasets, where no statement of the task decides which rows it takes."""
        taken: set[tuple[str, DatasetId]] = set()
        chosen: set[tuple[str, DatasetId]] = set()
        for edge in self.lineage.column_edges:
            is_choice = edge.subtype in _CHOICES or edge.evidence is Evidence.INFERRED
            (chosen if is_choice else taken).add((edge.task, edge.from_dataset))
        return taken - chosen

    def may_replace_all(self, access: Access) -> bool:
        """Whether a write may have replaced more than the dates that it is known for.

        An overwrite that shows no partition may be a full refresh, whatever interval its run has.
        """
        if access.operation is not Operation.INSERT_OVERWRITE or access.partitions is not None:
            return False
        return not access.periods or not self._shows_partitions(access.dataset)

    def _has_partitions(self, dataset: DatasetId) -> bool:
        """Whether a dataset is written by dates, or is read by its partitions."""
        if dataset not in self._with_partitions:
            self._with_partitions[dataset] = any(
                write.periods for write in self.writes(dataset)
            ) or any(
                period.evidence in _OF_PARTITIONS
                for read in self.reads(dataset)
                for period in read.periods
            )
        return self._with_partitions[dataset]

    def _shows_partitions(self, dataset: DatasetId) -> bool:
        if dataset not in self._partitioned:
            partitioned = self.lineage.history.partition_columns
            self._partitioned[dataset] = dataset in partitioned or any(
                access.partitions is not None
                or any(period.evidence is not PeriodEvidence.INTERVAL for period in access.periods)
                for access in (*self.writes(dataset), *self.reads(dataset))
            )
        return self._partitioned[dataset]

    @cached_property
    def _column_edges(self) -> dict[Edge, list[ColumnEdge]]:
        edges: dict[Edge, list[ColumnEdge]] = defaultdict(list)
        for edge in self.lineage.column_edges:
            if edge.subtype in (Subtype.IDENTITY, Subtype.TRANSFORMATION, Subtype.WINDOW):
                edges[edge.task, edge.from_dataset, edge.to_dataset].append(edge)
        return edges

    @cached_property
    def _fills(self) -> dict[Edge, set[str]]:
        """The shapes that filled temporary tables on the way of an edge."""
        fills: dict[Edge, set[str]] = defaultdict(set)
        for flow in self.lineage.flows:
            if flow.hops:
                fills[flow.task, flow.source, flow.target].update(flow.fills)
        return fills

    def _may_mix_dates(self, edge: Edge) -> bool:
        column_edges = self._column_edges.get(edge, ())
        if any(column_edge.subtype is Subtype.WINDOW for column_edge in column_edges):
            return True
        shapes = {column_edge.shape_id for column_edge in column_edges} | self._fills[edge]
        texts = (self.lineage.shapes[key].text for key in shapes if key in self.lineage.shapes)
        name = re.escape(edge[1].parts[-1])
        mention = re.compile(
            rf"(?:\b(?:FROM|JOIN|USING|APPLY)\b|,)\s*(?:{_PART}\s*\.\s*)*"
            rf"(?:{name}|{_OPENS}{name}{_CLOSES})(?![\w$@#]|\s*[.(=])",
            re.IGNORECASE,
        )
        return any(len(mention.findall(text)) > 1 for text in texts)

    def _grain(self, dataset: DatasetId) -> Grain | None:
        declared = self.lineage.history.declared_dates.get(dataset)
        if declared:
            return declared.period
        for accesses in (self.writes(dataset), self.reads(dataset)):
            counted = Counter([period.grain for access in accesses for period in access.periods])
            if counted:
                return max(counted, key=lambda grain: (counted[grain], grain))
        return None

    def _edge_runs(self, edge: Edge) -> Iterator[EdgeRun]:
        """The runs of an edge that say for which dates they wrote, the newest first."""
        task, source, target = edge
        reads = self.reads_by_run(task, source)
        written = self._dates_by_run(task, target)
        for run in reversed(written):
            if run_reads := reads.get(run):
                yield EdgeRun(run, read_dates(run_reads), written[run])

    def _dates_by_run(self, task: str, dataset: DatasetId) -> dict[str, Dates]:
        """The dates that each run of a task wrote, of those that name them, the oldest first."""
        key = (task, dataset)
        if key not in self._run_dates:
            dates_by_run: dict[str, Dates] = {}
            for write in self.writes_by_task(dataset).get(task, ()):
                if write.periods and not removes_rows(write):
                    run = self.execution(write)[1]
                    dates_by_run[run] = dates_by_run.get(run, NO_DATES) | dates_of(write.periods)
            self._run_dates[key] = dates_by_run
        return self._run_dates[key]

    def _column_period(
        self, edge: Edge, input_grain: Grain, output_grain: Grain | None
    ) -> Grain | None:
        """The period in which the partition column of the output comes from that of the input.

        None where rows of other dates may have a part in it, too: by a window, or as the input is
        read twice, as it is joined to its day before.
        """
        if self._may_mix_dates(edge):
            return None
        columns = self._date_columns(edge[1])
        by_subtype = {
            column_edge.subtype: column_edge
            for column_edge in self._column_edges.get(edge, ())
            if column_edge.from_column.casefold() in columns
        }
        if Subtype.IDENTITY in by_subtype and output_grain in (None, input_grain):
            return input_grain
        grains = list(Grain)
        if output_grain and by_subtype and grains.index(output_grain) > grains.index(input_grain):
            return output_grain
        return None

    def _date_columns(self, dataset: DatasetId) -> set[str]:
        accesses = (*self.writes(dataset), *self.reads(dataset))
        shown = {p.column.casefold() for access in accesses for p in access.periods if p.column}
        return shown or {*self.lineage.history.partition_columns.get(dataset, ())}

    def _contract_grain(self, dataset: DatasetId) -> Grain | None:
        """The finest unit of the columns that a contract says a dataset is partitioned by."""
        grains = self.lineage.history.partition_columns.get(dataset, {}).values()
        return min(grains, key=list(Grain).index, default=None)

    def _written_dates(self, access: Access) -> Dates | None:
        if self._replaces_all(access):
            return ALL_DATES
        # Rows decide on the partitions: they take the dates of the input.
        dates_written: Dates | None = None
        task, run = self.execution(access)
        for edge in self.upstream.get(access.dataset, ()):
            if edge[0] != task:
                continue
            reads: Sequence[Access] = self.reads_by_run(task, edge[1]).get(run, ())
            dates = read_dates(reads) if reads else None
            if dates is not None and (mapping := self.mapping(edge)).is_rule:
                dates_written = mapping.affected_dates(dates) & (
                    ALL_DATES if dates_written is None else dates_written
                )
        return dates_written

    def _replaces_all(self, access: Access) -> bool:
        if access.operation is not Operation.INSERT_OVERWRITE:
            return access.operation.replaces
        # Of a table that has partitions one is overwritten: no log shows which.
        return access.partitions is None and not self._has_partitions(access.dataset)


def _edges(lineage: Lineage) -> Iterator[Edge]:
    for flow in lineage.flows:
        if flow.definition is None:
            yield flow.task, flow.source, flow.target
    for definition in lineage.definitions.values():
        for source in definition.reads:
            if source != definition.dataset:
                yield definition.name, source, definition.dataset
