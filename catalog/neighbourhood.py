"""The boxes and arrows of a lineage graph: around a dataset, around a task, or all of them.

Datasets and tasks are both boxes: a task is between what it reads and what it writes. A dbt model
and its table are one box.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import TypeAlias

from dbt_graft.catalog.formatting import KIND, ROLE, engine, platform
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.label import LabelParts
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.describe import Role
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.model import Task
from dbt_graft.lineage.records import Direction, Status
from dbt_graft.lineage.urls import dataset_path, task_path
from dbt_graft.lineage.usage import Usage

LIMIT = 40
_STEPS = 2


# The identity of a box: a dataset; the name of a task or consumer; the path of a folder; for a
# folded box its distance. Never the text of a dataset, which has several spellings.
BoxKey: TypeAlias = DatasetId | str | int


class BoxShape(StrEnum):
    """The outline of a box, so that kinds differ without colour."""

    TABLE = "table"
    VIEW = "view"
    PATH = "path"
    TOPIC = "topic"
    DBT = "dbt"
    TASK = "task"
    CONSUMER = "consumer"
    MORE = "more"
    FOLDER = "folder"


_SHAPE = {Kind.VIEW: BoxShape.VIEW, Kind.PATH: BoxShape.PATH, Kind.TOPIC: BoxShape.TOPIC}


@frozen
class Box:
    """A dataset, a task, a consumer, or a number of them folded into one box.

    Attributes:
        name: As people say it: `raw.orders`.
        label: What it is labelled with in the picture.
        note: Platform and kind.
        path: Its page, relative to the site's root; an anchor of this page for a folded box.
        distance: Steps from the centre of the graph; negative is upstream.
        gone: It was dropped.
    """

    key: BoxKey
    name: str
    note: str
    shape: BoxShape
    path: str
    label: LabelParts
    full_name: str = ""
    distance: int = 0
    failed: bool = False
    gone: bool = False


@frozen
class Arrow:
    """Data flows from one box to another.

    Attributes:
        both: A task reads and writes the table, and makes nothing else of it.
    """

    source: BoxKey
    target: BoxKey
    both: bool = False
    failed: bool = False


@frozen
class Neighbourhood:
    """The boxes and arrows around one box, whose key is `centre`; None for the full graph."""

    centre: BoxKey | None
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def around_dataset(index: Index, dataset: DatasetId, limit: int = LIMIT) -> Neighbourhood:
    """A dataset, what is up to two datasets upstream and downstream, and the tasks between."""
    # One step to a task and one to its dataset: datasets are at even distances.
    places = {d: 2 * steps for d, steps in index.graph.downstream(dataset, _STEPS).items()}
    places |= {d: -2 * steps for d, steps in index.graph.upstream(dataset, _STEPS).items()}
    places[dataset] = 0
    open_down = [d for d, distance in places.items() if 0 <= distance < 2 * _STEPS]
    drawn = _draw(index, places, dataset, [dataset], open_down)
    return _fold(drawn, limit)


def around_task(index: Index, name: str, limit: int = LIMIT) -> Neighbourhood:
    """A task or consumer, what it reads and writes, and the next datasets on both sides."""
    task, consumer = index.tasks.get(name), index.consumers.get(name)
    usages = task.usages if task else ()
    outputs = [usage.dataset for usage in usages if usage.direction is Direction.WRITE]
    inputs = [usage.dataset for usage in usages if usage.direction is Direction.READ]
    inputs += consumer.reads if consumer else ()
    places = {d: -3 for dataset in inputs for d in index.graph.parents(dataset)}
    places |= {d: 3 for dataset in outputs for d in index.graph.children(dataset)}
    places |= dict.fromkeys(inputs, -1) | dict.fromkeys(outputs, 1)
    return _fold(_draw(index, places, name, inputs, outputs), limit)


def full_graph(index: Index) -> Neighbourhood:
    """All datasets, tasks and consumers."""
    return _draw(index, dict.fromkeys(index.datasets, 0), None, index.datasets, index.datasets)


def _draw(
    index: Index,
    places: Mapping[DatasetId, int],
    centre: BoxKey | None,
    open_up: Collection[DatasetId],
    open_down: Collection[DatasetId],
) -> Neighbourhood:
    """The datasets of `places` and the tasks between them; see `_connecting_tasks` for which."""
    tasks = _connecting_tasks(index, places, open_up, open_down)
    if isinstance(centre, str):
        tasks[centre] = 0
    arrows = [
        Arrow(flow.source, target)
        for target in places
        for flow in index.flows_to.get(target, ())
        if flow.source in places and flow.definition
    ]
    steps = group_by_key(
        ((flow.task, flow.source), target)
        for target in places
        for flow in index.flows_to.get(target, ())
        if flow.source in places and flow.source != target and not flow.definition
    )
    arrows += [
        arrow for name in sorted(tasks) for arrow in _task_arrows(index, name, places, steps)
    ]
    boxes = [dataset_box(index, dataset, distance) for dataset, distance in places.items()]
    boxes += [task_box(index, name, tasks[name]) for name in sorted(tasks)]
    return Neighbourhood(centre, tuple(boxes), tuple(dict.fromkeys(arrows)))


def _connecting_tasks(
    index: Index,
    places: Mapping[DatasetId, int],
    open_up: Collection[DatasetId],
    open_down: Collection[DatasetId],
) -> dict[str, int]:
    """The tasks that carry data between datasets, with their distance.

    Args:
        open_up: Datasets of which all writers are included, also those that read nothing.
        open_down: Datasets of which all readers are included, also those that write nothing.
    """
    tasks: dict[str, int] = {}

    def add_task(name: str, distance: int) -> None:
        tasks[name] = min(tasks.get(name, distance), distance, key=abs)

    for target, distance in places.items():
        for flow in index.flows_to.get(target, ()):
            if flow.source in places and flow.definition is None:
                add_task(flow.task, (distance + places[flow.source]) // 2)
    for dataset in open_up:
        for name in _movers(index, dataset, Direction.WRITE):
            add_task(name, places[dataset] - 1)
    for dataset in open_down:
        for name in _movers(index, dataset, Direction.READ):
            add_task(name, places[dataset] + 1)
        for consumer in index.reports.get(dataset, ()):
            add_task(consumer.name, places[dataset] + 1)
    return tasks


def _movers(index: Index, dataset: DatasetId, direction: Direction) -> list[str]:
    """The tasks that move data out of a dataset, or into it, or tried to."""
    usages = index.lineage.usages_of(dataset, direction)
    return [usage.task for usage in usages if usage.moves_data]


def _task_arrows(
    index: Index,
    name: str,
    places: Collection[DatasetId],
    steps: Mapping[tuple[str, DatasetId], Collection[DatasetId]],
) -> Iterator[Arrow]:
    """The arrows of a task; of a table that it writes and goes on with, those to what it makes of
    it, so that the steps of a long script are in their order.

    Args:
        steps: What each task makes of each dataset.
    """
    task, consumer = index.tasks.get(name), index.consumers.get(name)
    usages = task.usages if task else ()
    reads = _failures_by_dataset(u for u in usages if u.direction is Direction.READ)
    reads |= dict.fromkeys(consumer.reads if consumer else (), False)
    writes = _failures_by_dataset(u for u in usages if u.direction is Direction.WRITE)
    for dataset in sorted({*reads, *writes} & set(places)):
        if dataset in writes:
            read_again = not reads.get(dataset, True) and not writes[dataset]
            made = steps.get((name, dataset), ()) if read_again else ()
            yield Arrow(name, dataset, both=read_again and not made, failed=writes[dataset])
            yield from (Arrow(dataset, target) for target in made)
        else:
            yield Arrow(dataset, name)


def _failures_by_dataset(usages: Iterable[Usage]) -> dict[DatasetId, bool]:
    """The datasets that usages moved data of, or tried to; whether all of them failed."""
    failures: dict[DatasetId, bool] = {}
    for usage in usages:
        if usage.moves_data:
            failures[usage.dataset] = failures.get(usage.dataset, True) and usage.failed
    return failures


def dataset_box(index: Index, dataset: DatasetId, distance: int = 0) -> Box:
    """The box of a dataset."""
    kind, role = index.datasets[dataset].kind, index.role(dataset)
    sort = ROLE[role] if role and role is not Role.SOURCE else KIND[kind].lower()
    return Box(
        key=dataset,
        name=dataset.short,
        note=f"{platform(dataset)} · {sort}",
        shape=box_shape(index, dataset),
        path=f"{dataset_path(dataset)}index.html",
        label=_dataset_label(dataset, sort),
        full_name=str(dataset),
        distance=distance,
        gone=index.datasets[dataset].dropped_at is not None,
    )


def _dataset_label(dataset: DatasetId, sort: str) -> LabelParts:
    *schema, name = dataset.parts or (dataset.name,)
    location = ("/" if dataset.is_path else ".").join(schema)
    product = platform(dataset)
    notes = (location, product, "" if sort == product.lower() else sort)
    return LabelParts(name, tuple(filter(None, notes)), f"{dataset.name} · {dataset.namespace}")


def box_shape(index: Index, dataset: DatasetId) -> BoxShape:
    """The shape, and the icon beside its name, that show what sort of dataset it is."""
    if index.built_by_dbt(dataset):
        return BoxShape.DBT
    return _SHAPE.get(index.datasets[dataset].kind, BoxShape.TABLE)


def task_box(index: Index, name: str, distance: int = 0) -> Box:
    """The box of a task, or of a consumer that is no task."""
    task = index.tasks.get(name)
    note = _engines(task) if task else index.consumers[name].kind
    return Box(
        key=name,
        name=name,
        note=note,
        shape=BoxShape.TASK if task else BoxShape.CONSUMER,
        path=f"{task_path(name)}index.html",
        label=LabelParts(name, (note,), name),
        full_name=name,
        distance=distance,
        failed=bool(task and task.runs and task.runs[0].status is Status.FAILED),
    )


def _engines(task: Task) -> str:
    return f"{', '.join(map(engine, task.engines))} · task"


def _fold(graph: Neighbourhood, limit: int) -> Neighbourhood:
    """The nearest boxes, and at each distance one box for those beyond the limit."""
    if len(graph.boxes) <= limit:
        return graph
    nearest = sorted(
        graph.boxes,
        key=lambda box: (abs(box.distance), box.distance, isinstance(box.key, str), box.key),
    )
    shown = {box.key for box in nearest[:limit]}
    folded = group_by_key((box.distance, box) for box in nearest[limit:])
    drawn_as = {key: key for key in shown}
    drawn_as |= {box.key: distance for distance, boxes in folded.items() for box in boxes}
    sides = {distance: "upstream" if distance < 0 else "downstream" for distance in folded}
    rest = [
        Box(
            key=distance,
            name=f"+{len(boxes)} more",
            note=sides[distance],
            shape=BoxShape.MORE,
            path=f"#{sides[distance]}",
            label=LabelParts(
                f"+{len(boxes)} more",
                ("upstream" if distance < 0 else "downstream",),
                str(distance),
            ),
            full_name=f"{len(boxes)} more, listed below",
            distance=distance,
        )
        for distance, boxes in sorted(folded.items())
    ]
    arrows: dict[tuple[BoxKey, BoxKey], Arrow] = {}
    for arrow in graph.arrows:
        ends = drawn_as[arrow.source], drawn_as[arrow.target]
        if ends[0] != ends[1]:
            arrows.setdefault(ends, replace(arrow, source=ends[0], target=ends[1]))
    boxes = [box for box in graph.boxes if box.key in shown]
    return Neighbourhood(graph.centre, (*boxes, *rest), tuple(arrows.values()))
