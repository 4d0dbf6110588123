"""The lineage as everybody downstream of the store reads it: datasets, tasks, flows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from lineage.columns import column_edges
from lineage.dataset import DatasetId, Kind
from lineage.flow import LIFECYCLE, Flow, flows
from lineage.graph import Graph
from lineage.names import NameRules
from lineage.records import (
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


@dataclass(frozen=True, slots=True)
class Usage:
    """How a task uses a dataset, over all of its runs.

    Attributes:
        operations: What its statements do there, sorted.
        statements: How many statements, over all runs.
        rows: Rows of the last run that tells; None where none does.
        failed: Every attempt failed, so no data moved.
    """

    task: str
    dataset: DatasetId
    direction: Direction
    operations: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    statements: int = 0
    rows: int | None = None
    first_at: datetime | None = None
    last_at: datetime | None = None
    evidence: Evidence = Evidence.OBSERVED
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """What a team runs again and again, by name; a dbt model is a task of engine `dbt`.

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
            and (direction is Direction.READ or not LIFECYCLE.issuperset(usage.operations))
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
    rename: NameRules | None = None,
    infos: Mapping[str, TaskInfo] | None = None,
) -> Lineage:
    """The lineage that records of a store make, under the names that the rules give."""
    rename = rename or NameRules()
    accesses = [_renamed(access, rename) for access in records.accesses]
    moved = flows(accesses)
    lasting = [access for access in accesses if access.kind is not Kind.TEMPORARY]
    datasets = _datasets(records.datasets, lasting, rename)
    return Lineage(
        datasets=datasets,
        tasks=_tasks(records.runs, lasting, infos or {}),
        flows=tuple(sorted(moved, key=lambda f: (f.target, f.source, f.task))),
        shapes=records.shapes,
        rejects=records.rejects,
        column_edges=column_edges(records, datasets.values(), rename),
    )


def _renamed(access: Access, rename: NameRules) -> Access:
    if access.kind is Kind.TEMPORARY:
        return access
    return replace(access, dataset=rename(access.dataset))


def _datasets(
    known: Iterable[Dataset], accesses: Iterable[Access], rename: NameRules
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
    by_task: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        by_task[run.task].append(run)
    usages: dict[str, list[Usage]] = defaultdict(list)
    for usage in _usages(accesses):
        usages[usage.task].append(usage)
    return {
        name: Task(
            name=name,
            engine=by_task[name][0].engine if by_task[name] else "unknown",
            usages=tuple(usages[name]),
            runs=tuple(sorted(by_task[name], key=_recency, reverse=True)),
            info=infos.get(name, TaskInfo()),
        )
        for name in sorted({*by_task, *usages})
    }


def _recency(run: Run) -> tuple[float, str]:
    return (run.started_at.timestamp() if run.started_at else 0.0, run.run_id)


def _usages(accesses: Iterable[Access]) -> list[Usage]:
    groups: dict[tuple[str, DatasetId, Direction], list[Access]] = defaultdict(list)
    for access in accesses:
        groups[access.task, access.dataset, access.direction].append(access)
    return [_usage(groups[key]) for key in sorted(groups)]


def _usage(group: list[Access]) -> Usage:
    done = [access for access in group if access.status is not Status.FAILED]
    times = [access.last_at for access in group if access.last_at]
    firsts = [access.first_at for access in group if access.first_at]
    counted = [access for access in done if access.rows is not None]
    newest = max(counted, key=lambda a: a.last_at.timestamp() if a.last_at else 0.0, default=None)
    last_run = newest.run_id if newest else None
    ranks = list(Evidence)
    return Usage(
        task=group[0].task,
        dataset=group[0].dataset,
        direction=group[0].direction,
        operations=tuple(sorted({access.operation for access in done or group})),
        shapes=tuple(sorted({access.shape_id for access in done or group})),
        statements=sum(access.statements for access in group),
        rows=sum(a.rows or 0 for a in counted if a.run_id == last_run) if counted else None,
        first_at=min(firsts, default=None),
        last_at=max(times, default=None),
        evidence=min((access.evidence for access in group), key=ranks.index),
        failed=not done,
    )
