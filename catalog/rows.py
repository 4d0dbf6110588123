"""Rows of lists of datasets and tasks, made once for all lists."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import cache

from dbt_graft.catalog.badges import HealthBadge, dataset_badges, task_badges
from dbt_graft.catalog.formatting import KIND, ROLE, engine, platform
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.neighbourhood import BoxShape, box_shape
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Status
from dbt_graft.lineage.urls import dataset_path, owner_path, task_path


@frozen
class DatasetRow:
    """A dataset in a list.

    Attributes:
        kind: Its role in dbt, or what it is: `dbt model`, `view`.
        path, owner_path: Relative to the site's root.
        rows: Rows of the newest write whose log counts them.
        badges: The worst first.
        dropped: It is gone.
    """

    id: DatasetId
    shape: BoxShape
    path: str
    platform: str
    kind: str
    owner: str
    owner_path: str
    written_at: datetime | None
    rows: int | None
    badges: tuple[HealthBadge, ...]
    dropped: bool = False


@frozen
class TaskRow:
    """A task or consumer in a list.

    Attributes:
        kind: The engines of a task, the type of a consumer.
        writes, status: None for a consumer; a task without runs has no status either.
        badges: Without the status of its last run, which has a place of its own.
    """

    name: str
    shape: BoxShape
    path: str
    kind: str
    owner: str
    owner_path: str
    reads: int
    writes: int | None
    last_run: datetime | None
    status: Status | None
    badges: tuple[HealthBadge, ...]


class Rows:
    """The rows of a lineage."""

    def __init__(self, index: Index) -> None:
        self._dataset = cache(lambda dataset: _dataset_row(index, dataset))
        self._task = cache(lambda name: _task_row(index, name))

    def datasets(self, datasets: Iterable[DatasetId]) -> list[DatasetRow]:
        """The rows of datasets, in their order."""
        return [self._dataset(dataset) for dataset in datasets]

    def tasks(self, names: Iterable[str]) -> list[TaskRow]:
        """The rows of tasks and consumers, in their order."""
        return [self._task(name) for name in names]


def _dataset_row(index: Index, dataset: DatasetId) -> DatasetRow:
    role, description = index.role(dataset), index.descriptions.get(dataset)
    owner = description.owner if description else ""
    return DatasetRow(
        id=dataset,
        shape=box_shape(index, dataset),
        path=dataset_path(dataset),
        platform=platform(dataset),
        kind=ROLE[role] if role else KIND[index.datasets[dataset].kind].lower(),
        owner=owner,
        owner_path=owner_path(owner) if owner else "",
        written_at=index.written_at(dataset),
        rows=_rows(index, dataset),
        badges=dataset_badges(index, dataset),
        dropped=index.datasets[dataset].dropped_at is not None,
    )


def _rows(index: Index, dataset: DatasetId) -> int | None:
    """The rows of its newest write, by a task or by dbt, that counts them."""
    build = index.last_build(dataset)
    counted = [(usage.last_at, usage.rows) for usage in index.lineage.writers(dataset)]
    counted += [(build.started_at, build.rows)] if build else []
    dated = [(at, rows) for at, rows in counted if at and rows is not None]
    return max(dated)[1] if dated else None


def _task_row(index: Index, name: str) -> TaskRow:
    task, consumer = index.tasks.get(name), index.consumers.get(name)
    owner = index.task_owner(name)
    last = task.runs[0] if task and task.runs else None
    kind = ", ".join(map(engine, task.engines)) if task else ""
    return TaskRow(
        name=name,
        shape=BoxShape.TASK if task else BoxShape.CONSUMER,
        path=task_path(name),
        kind=kind or (consumer.kind if consumer else ""),
        owner=owner,
        owner_path=owner_path(owner) if owner else "",
        reads=len(task.reads if task else consumer.reads if consumer else ()),
        writes=len(task.writes) if task else None,
        last_run=last.started_at if last else None,
        status=last.status if last else None,
        badges=tuple(badge for badge in task_badges(index, name) if badge.kind != "run"),
    )
