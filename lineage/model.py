"""The lineage as every reader of the store sees it: datasets, tasks, definitions and flows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Any

from dbt_graft.lineage.code import CodeMatch
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.graph import Graph
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.history import History
from dbt_graft.lineage.names import DatasetNames
from dbt_graft.lineage.records import (
    Column,
    ColumnEdge,
    Dataset,
    DatasetMetadata,
    Direction,
    Reject,
    Run,
    Shape,
    Status,
    TaskInfo,
)
from dbt_graft.lineage.renaming import map_datasets, spelling
from dbt_graft.lineage.settings import IgnoredTasks
from dbt_graft.lineage.usage import Usage


@frozen
class Task:
    """A job that a team runs again and again, by name; it may use several engines.

    Attributes:
        usages: What it reads and writes on each engine, temporary tables left out, sorted by
            dataset.
        runs: Its runs, newest first; each has its engine. Of old ones that did the same only some
            are listed.
        repeats: For each listed run, by id, how many others did the same and are not listed.
        gaps: The shapes of statements that are not understood and touch no dataset that lasts, as
            far as is known; sorted.
        described_in_events: The description is an event's: plain text, not Markdown that we trust.
    """

    name: str
    engines: tuple[str, ...] = ()
    usages: tuple[Usage, ...] = ()
    runs: tuple[Run, ...] = ()
    info: TaskInfo = field(default_factory=TaskInfo)
    described_in_events: bool = False
    repeats: Mapping[str, int] = field(default_factory=dict)
    gaps: tuple[str, ...] = ()

    @property
    def shapes(self) -> list[str]:
        """The shapes of its statements, sorted."""
        return sorted({*self.gaps, *(shape for usage in self.usages for shape in usage.shapes)})

    @property
    def run_count(self) -> int:
        """The number of its runs, those that are not listed too."""
        return self.count(self.runs)

    def count(self, runs: Collection[Run]) -> int:
        """The number of runs that listed ones stand for: each with those that did the same."""
        return len(runs) + sum(self.repeats.get(run.run_id, 0) for run in runs)

    @property
    def reads(self) -> list[DatasetId]:
        """The datasets it took data from, sorted."""
        return self._datasets(Direction.READ)

    @property
    def writes(self) -> list[DatasetId]:
        """The datasets it put data into, sorted."""
        return self._datasets(Direction.WRITE)

    @property
    def only_reads(self) -> bool:
        """It read something and never tried to write, like a report."""
        writes = any(usage.direction is Direction.WRITE for usage in self.usages)
        return not writes and bool(self.reads)

    def runs_of(self, *usages: Usage) -> tuple[Run, ...]:
        """The runs behind usages, newest first, each on the engine of its usage.

        A failed run counts for all that its task does on that engine: it may have failed before.
        """
        engines = {usage.engine for usage in usages}
        run_ids = {(usage.engine, run_id) for usage in usages for run_id in usage.run_ids}
        return tuple(
            run
            for run in self.runs
            if (run.engine, run.run_id) in run_ids
            or (run.status is Status.FAILED and run.engine in engines)
        )

    def last_attempt(self, usage: Usage) -> tuple[Run, bool] | None:
        """The newest run behind a usage, or that should have been, and whether it failed to do it.

        A failed run that did not get there should have, if the last good run did it.
        """
        runs = [run for run in self.runs if run.engine == usage.engine]
        good = next((run for run in runs if run.status is Status.OK), None)
        is_usual = good is None or good.run_id in usage.run_ids
        for run in runs:
            if run.run_id in usage.run_ids:
                return run, run.run_id in usage.failed_runs
            if run.status is Status.FAILED and is_usual:
                return run, True
        return None

    def _datasets(self, direction: Direction) -> list[DatasetId]:
        return sorted(
            {
                usage.dataset
                for usage in self.usages
                if usage.direction is direction and usage.moves_data and not usage.failed
            }
        )

    def usages_of(self, dataset: DatasetId, direction: Direction) -> tuple[Usage, ...]:
        """The usages by which it reads, or writes, a dataset: one for each engine."""
        return tuple(
            usage
            for usage in self.usages
            if usage.direction is direction and usage.dataset == dataset
        )


@frozen
class ColumnUse:
    """A column that statements of a task name, and fail without, also if nothing comes of it.

    They take it into what lives as long as a run, or find rows of its own table by it.
    """

    task: str
    dataset: DatasetId
    column: str


@dataclass(frozen=True)
class Lineage:
    """Datasets, tasks, definitions and flows; everything sorted, so equal in, equal out.

    Attributes:
        definitions: dbt's models and views, by name.
        dataset_metadata: Descriptions, owners and tags of datasets in events.
        codes: The code of tasks, and how far it agrees with their logs, by task.
        known_reads: Task and dataset, where logs show all columns that the task reads of it: those
            of its column edges and uses.
    """

    datasets: Mapping[DatasetId, Dataset] = field(default_factory=dict)
    tasks: Mapping[str, Task] = field(default_factory=dict)
    flows: tuple[Flow, ...] = ()
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    rejects: tuple[Reject, ...] = ()
    column_edges: Sequence[ColumnEdge] = ()
    column_uses: tuple[ColumnUse, ...] = ()
    known_reads: tuple[tuple[str, DatasetId], ...] = ()
    definitions: Mapping[str, Definition] = field(default_factory=dict)
    dataset_metadata: Mapping[DatasetId, DatasetMetadata] = field(default_factory=dict)
    ignored: IgnoredTasks = field(default_factory=IgnoredTasks)
    names: DatasetNames = field(default_factory=DatasetNames)
    history: History = field(default_factory=History)
    dbt: DbtRuns = field(default_factory=DbtRuns)
    codes: Mapping[str, CodeMatch] = field(default_factory=dict)

    def names_of(self, dataset: DatasetId) -> tuple[DatasetId, ...]:
        """All names of a dataset: its own, those in logs, links to it, and former ones."""
        facts = self.datasets.get(dataset)
        return (
            dataset,
            *self.names.aliases.get(dataset, ()),
            *(facts.symlinks if facts else ()),
            *self.names.former.get(dataset, ()),
        )

    def failed_write(self, dataset: DatasetId) -> Run | None:
        """The newest run of all that write a dataset, if it failed to write it: it is late then."""
        attempts = [
            attempt
            for usage in self.usages_of(dataset, Direction.WRITE)
            if (attempt := self.tasks[usage.task].last_attempt(usage)) and attempt[0].started_at
        ]
        newest = max(attempts, key=lambda a: (a[0].started_at, a[0].run_id), default=None)
        return newest[0] if newest and newest[1] else None

    def writers(self, dataset: DatasetId) -> tuple[Usage, ...]:
        """The usages that put data into a dataset, by task: the one answer for every face.

        Without those that only repeat what a log shows on another engine.
        """
        return tuple(usage for usage in self.usages_of(dataset, Direction.WRITE) if usage.counts)

    def readers(self, dataset: DatasetId) -> tuple[Usage, ...]:
        """The usages that took data from a dataset, by task."""
        return tuple(usage for usage in self.usages_of(dataset, Direction.READ) if usage.counts)

    def usages_of(self, dataset: DatasetId, direction: Direction) -> tuple[Usage, ...]:
        """All usages of a dataset, failed ones and those that moved no data too, by task."""
        return self._usages.get((dataset, direction), ())

    def definition(
        self, dataset: DatasetId, kind: DefinitionKind | None = None
    ) -> Definition | None:
        """The definition that makes a dataset, dbt's before a view's; None where none does."""
        definitions = self._definitions.get(dataset, ())
        return next(
            (definition for definition in definitions if kind in (None, definition.kind)), None
        )

    def columns_read(self, task: str) -> tuple[tuple[DatasetId, str], ...]:
        """The columns that a task without outputs names, each with its dataset."""
        return tuple((use.dataset, use.column) for use in self._uses.get(task, ()))

    def knows_reads(self, task: str, dataset: DatasetId) -> bool:
        """Whether all columns are known that a task reads of a dataset."""
        return (task, dataset) in self._known_reads

    def writer_names(self) -> dict[DatasetId, list[str]]:
        """For each dataset the tasks that put data into it, sorted."""
        writers = {
            dataset: sorted({usage.task for usage in usages if usage.counts})
            for (dataset, direction), usages in self._usages.items()
            if direction is Direction.WRITE
        }
        return {dataset: writers[dataset] for dataset in sorted(writers) if writers[dataset]}

    def dataset_graph(self) -> Graph[DatasetId]:
        """Datasets, with an edge where data flowed from one to the other."""
        return Graph(((f.source, f.target) for f in self.flows), self.datasets)

    def task_graph(self) -> Graph[str]:
        """Tasks and definitions, with an edge from each writer of a dataset to each reader."""
        makers: dict[DatasetId, list[str]] = defaultdict(list, self.writer_names())
        for definition in self.definitions.values():
            makers[definition.dataset].append(definition.name)
        readers = [
            *((task.name, task.reads) for task in self.tasks.values()),
            *((definition.name, definition.reads) for definition in self.definitions.values()),
        ]
        return Graph(
            (
                (maker, reader)
                for reader, reads in readers
                for dataset in reads
                for maker in makers.get(dataset, ())
            ),
            (*self.tasks, *self.definitions),
        )

    def merge(self, other: Lineage) -> Lineage:
        """Both together; `self` comes first, columns from the one that has them.

        A dataset that the two spell differently is spelled as in `self`, everywhere.
        """
        both = {
            key: merge_datasets(dataset, other.datasets[key])
            for key, dataset in self.datasets.items()
            if key in other.datasets
        }
        joined: Lineage = _join(self, other)
        flows = tuple(sorted(joined.flows, key=flow_order))
        joined = replace(joined, datasets={**joined.datasets, **both}, flows=flows)
        has_same_names = all(str(key) == str(other.datasets[key].id) for key in both)
        if has_same_names and other == Lineage(datasets=other.datasets):
            return joined  # Going over all edges and flows would take longer than the rest.
        return map_datasets(joined, spelling((*self.datasets, *other.datasets)))

    def with_runs(self, other: Lineage) -> Lineage:
        """The same with the tasks, runs and accesses of another, in the spelling of this one."""
        history = replace(
            self.history,
            accesses=other.history.accesses,
            orchestrator_runs=other.history.orchestrator_runs,
            superseded=other.history.superseded,
        )
        tasks = dict(sorted({**self.tasks, **other.tasks}.items()))
        return map_datasets(replace(self, tasks=tasks, history=history), spelling(self.datasets))

    @cached_property
    def _usages(self) -> Mapping[tuple[DatasetId, Direction], tuple[Usage, ...]]:
        grouped: dict[tuple[DatasetId, Direction], list[Usage]] = defaultdict(list)
        for task in self.tasks.values():
            for usage in task.usages:
                grouped[usage.dataset, usage.direction].append(usage)
        return {key: tuple(usages) for key, usages in grouped.items()}

    @cached_property
    def _known_reads(self) -> frozenset[tuple[str, DatasetId]]:
        return frozenset(self.known_reads)

    @cached_property
    def _uses(self) -> Mapping[str, Sequence[ColumnUse]]:
        return group_by_key((use.task, use) for use in self.column_uses)

    @cached_property
    def _definitions(self) -> Mapping[DatasetId, tuple[Definition, ...]]:
        grouped: dict[DatasetId, list[Definition]] = defaultdict(list)
        for definition in self.definitions.values():
            grouped[definition.dataset].append(definition)
        return {key: tuple(sorted(definitions, key=_kind)) for key, definitions in grouped.items()}


def _kind(definition: Definition) -> int:
    return list(DefinitionKind).index(definition.kind)


def _join(a: Any, b: Any) -> Any:
    """Two values of a field in one: all that is in both, of a mapping sorted by key.

    Of what both have under a key that of `a` counts. Numbers are added up.
    """
    if isinstance(a, Sequence):
        return tuple(dict.fromkeys((*a, *b))) if a and b else a or b
    if is_dataclass(a) and not isinstance(a, type):
        names = [part.name for part in fields(a)]
        return replace(a, **{name: _join(getattr(a, name), getattr(b, name)) for name in names})
    if isinstance(a, Mapping):
        return dict(sorted({**b, **a}.items(), key=itemgetter(0)))
    return a + b


def flow_order(flow: Flow) -> tuple[tuple[str, str], tuple[str, str], str]:
    """The order of flows: by target, source and task."""
    return flow.target.key, flow.source.key, flow.task


def joint_kind(a: Kind, b: Kind) -> Kind:
    """The kind of a dataset that two records say to be of a kind."""
    # Who knows files only by their path does not know that they are a table's.
    return b if b is Kind.VIEW or a is Kind.PATH else a


def merge_datasets(a: Dataset, b: Dataset) -> Dataset:
    """One dataset of two records: names and columns of the first, types from who has them."""
    columns = a.columns
    if types := {column.name.casefold(): column.type for column in b.columns if column.type}:
        columns = tuple(
            column if column.type else Column(column.name, types.get(column.name.casefold(), ""))
            for column in columns
        )
    return Dataset(
        a.id,
        kind=joint_kind(a.kind, b.kind),
        columns=columns or b.columns,
        has_all_columns=a.has_all_columns if columns else b.has_all_columns,
        symlinks=tuple(sorted({*a.symlinks, *b.symlinks})) if b.symlinks else a.symlinks,
        first_seen=min(filter(None, (a.first_seen, b.first_seen)), default=None),
        last_seen=max(filter(None, (a.last_seen, b.last_seen)), default=None),
        dropped_at=max(filter(None, (a.dropped_at, b.dropped_at)), default=None),
        origin=a.origin,
    )
