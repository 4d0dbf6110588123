"""The lineage as everybody downstream of the store reads it: datasets, tasks, flows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from dbt_graft.lineage.columns import column_edges
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.flow import Flow, flows
from dbt_graft.lineage.graph import Graph
from dbt_graft.lineage.names import NameRules, Rename
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    Evidence,
    Records,
    Reject,
    Run,
    Shape,
    Status,
    TaskInfo,
)
from dbt_graft.lineage.runs import runs_by_task
from dbt_graft.lineage.transient import transient
from dbt_graft.lineage.usage import Usage, usages

# The engines of tasks that nobody runs: they say what a dataset is made of.
DBT, VIEW = "dbt", "view"
# The engine of tasks that people's YAML tells of and no log.
DECLARED = "declared"


@dataclass(frozen=True, slots=True)
class Task:
    """What a team runs again and again, by name.

    A dbt model is a task too, of engine `dbt`, and so is a view's definition, of engine `view`.

    Attributes:
        usages: What it reads and writes, temporary tables left out, sorted by dataset.
        runs: Its runs, newest first.
    """

    name: str
    engine: str
    usages: tuple[Usage, ...] = ()
    runs: tuple[Run, ...] = ()
    info: TaskInfo = field(default_factory=TaskInfo)

    @property
    def is_definition(self) -> bool:
        """Nobody runs it: it is a dbt model or a view."""
        return self.engine in (DBT, VIEW)

    @property
    def reads(self) -> list[DatasetId]:
        """The datasets it took data from, sorted."""
        return self._datasets(Direction.READ)

    @property
    def writes(self) -> list[DatasetId]:
        """The datasets it put data into, sorted."""
        return self._datasets(Direction.WRITE)

    def _datasets(self, direction: Direction) -> list[DatasetId]:
        return sorted(
            usage.dataset
            for usage in self.usages
            if usage.direction is direction
            and not usage.failed
            and (direction is Direction.READ or usage.brings_data)
        )


@dataclass(frozen=True, slots=True)
class Lineage:
    """Datasets, tasks and the flows between them; everything sorted, so equal in, equal out."""

    datasets: Mapping[DatasetId, Dataset] = field(default_factory=dict)
    tasks: Mapping[str, Task] = field(default_factory=dict)
    flows: tuple[Flow, ...] = ()
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    rejects: tuple[Reject, ...] = ()
    column_edges: tuple[ColumnEdge, ...] = ()

    def dataset_graph(self) -> Graph[DatasetId]:
        """Datasets, with an edge where data flowed from one to the other."""
        return Graph(((f.source, f.target) for f in self.flows), self.datasets)

    def task_graph(self) -> Graph[str]:
        """Tasks, with an edge from each writer of a dataset to each reader of it."""
        writers = self.writers()
        edges = (
            (writer, task.name)
            for task in self.tasks.values()
            for dataset in task.reads
            for writer in writers.get(dataset, ())
        )
        return Graph(edges, self.tasks)

    def writers(self) -> dict[DatasetId, list[str]]:
        """For each dataset the tasks that put data into it, sorted."""
        found: dict[DatasetId, list[str]] = defaultdict(list)
        for name in sorted(self.tasks):
            for dataset in self.tasks[name].writes:
                found[dataset].append(name)
        return dict(found)

    def merged(self, other: Lineage) -> Lineage:
        """Both together; what `self` says of a dataset comes first, columns from who has them."""
        datasets = dict(self.datasets)
        for dataset in other.datasets.values():
            mine = datasets.get(dataset.id)
            datasets[dataset.id] = _merge_datasets(mine, dataset) if mine else dataset
        return Lineage(
            datasets={key: datasets[key] for key in sorted(datasets)},
            tasks=dict(sorted({**other.tasks, **self.tasks}.items())),
            flows=tuple(
                sorted({*self.flows, *other.flows}, key=lambda f: (f.target, f.source, f.task))
            ),
            shapes={**other.shapes, **self.shapes},
            rejects=(*self.rejects, *other.rejects),
            column_edges=tuple(dict.fromkeys((*self.column_edges, *other.column_edges))),
        )


def build(
    records: Records,
    rename: Rename | None = None,
    infos: Mapping[str, TaskInfo] | None = None,
    *,
    failed: bool = False,
) -> Lineage:
    """The lineage that records of a store make, under the names that the rules give.

    Args:
        failed: What statements did that failed counts too.
    """
    rename = rename or NameRules()
    accesses, edges = _renamed(records, rename)
    if failed:
        accesses = [
            replace(a, status=Status.UNKNOWN) if a.status is Status.FAILED else a for a in accesses
        ]
    gone = transient(accesses)
    accesses = [replace(a, kind=Kind.TEMPORARY) if a.dataset in gone else a for a in accesses]
    moved = flows(accesses)
    lasting = [access for access in accesses if access.kind is not Kind.TEMPORARY]
    known = (dataset for dataset in records.datasets if rename(dataset.id) not in gone)
    datasets = _datasets(known, lasting, rename)
    return Lineage(
        datasets=datasets,
        tasks=_tasks(records.runs, lasting, infos or {}),
        flows=tuple(sorted(moved, key=lambda f: (f.target, f.source, f.task))),
        shapes=records.shapes,
        rejects=records.rejects,
        column_edges=column_edges(edges, accesses, datasets.values(), moved),
    )


def _renamed(records: Records, rename: Rename) -> tuple[list[Access], list[ColumnEdge]]:
    """Accesses and column edges under the names of the rules, which say nothing of temporaries."""
    temporary = {a.dataset for a in records.accesses if a.kind is Kind.TEMPORARY}

    def named(dataset: DatasetId) -> DatasetId:
        return dataset if dataset in temporary else rename(dataset)

    return (
        [replace(access, dataset=named(access.dataset)) for access in records.accesses],
        [
            replace(edge, to_dataset=named(edge.to_dataset), from_dataset=named(edge.from_dataset))
            for edge in records.column_edges
        ],
    )


def _datasets(
    known: Iterable[Dataset], accesses: Iterable[Access], rename: Rename
) -> dict[DatasetId, Dataset]:
    found: dict[DatasetId, Dataset] = {}

    def add(dataset: Dataset) -> None:
        mine = found.get(dataset.id)
        found[dataset.id] = _merge_datasets(mine, dataset) if mine else dataset

    for dataset in known:
        if dataset.kind is not Kind.TEMPORARY:
            symlinks = tuple(rename(symlink) for symlink in dataset.symlinks)
            add(replace(dataset, id=rename(dataset.id), symlinks=symlinks))
    for access in accesses:
        add(
            Dataset(
                access.dataset, access.kind, first_seen=access.first_at, last_seen=access.last_at
            )
        )
    return {key: found[key] for key in sorted(found)}


def _merge_datasets(a: Dataset, b: Dataset) -> Dataset:
    types = {column.name.casefold(): column.type for column in b.columns if column.type}
    columns = tuple(
        column if column.type else Column(column.name, types.get(column.name.casefold(), ""))
        for column in a.columns
    )
    return replace(
        a,
        kind=b.kind if b.kind is Kind.VIEW else a.kind,
        columns=columns or b.columns,
        symlinks=tuple(sorted({*a.symlinks, *b.symlinks})),
        first_seen=min((t for t in (a.first_seen, b.first_seen) if t), default=None),
        last_seen=max((t for t in (a.last_seen, b.last_seen) if t), default=None),
        dropped_at=max((t for t in (a.dropped_at, b.dropped_at) if t), default=None),
    )


def _tasks(
    runs: Iterable[Run], accesses: Iterable[Access], infos: Mapping[str, TaskInfo]
) -> dict[str, Task]:
    by_task = runs_by_task(runs)
    used: dict[str, list[Usage]] = defaultdict(list)
    for usage in usages(accesses):
        used[usage.task].append(usage)
    return {
        name: Task(
            name=name,
            engine=by_task[name][0].engine if name in by_task else _engine(used[name]),
            usages=tuple(used[name]),
            runs=by_task.get(name, ()),
            info=infos.get(name, TaskInfo()),
        )
        for name in sorted({*by_task, *used})
    }


def _engine(used: Iterable[Usage]) -> str:
    """The engine of a task that no log tells a run of."""
    evidence = {usage.evidence for usage in used}
    return DECLARED if evidence == {Evidence.DECLARED} else "unknown"
