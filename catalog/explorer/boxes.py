"""The boxes of the explorer as records: each dataset, task and consumer with its neighbours.

A record names its neighbours by id: `spark/raw/orders` is the address of a dataset's page without
`datasets/`, and `@load_orders` a task or consumer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum, IntFlag
from math import ceil

from dbt_graft.catalog.explorer.dates import Days, ExplorerDates
from dbt_graft.catalog.formatting import platform
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.label import wanted_width
from dbt_graft.catalog.markup import printable
from dbt_graft.catalog.neighbourhood import Box, dataset_box, task_box
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.names import NameReason
from dbt_graft.lineage.records import Direction, EdgeType, Evidence
from dbt_graft.lineage.urls import dataset_path, task_path
from dbt_graft.lineage.usage import Usage

# Longer names are cut, and further tags left out: a record must fit a shard.
_LONGEST, _MOST_TAGS, _MOST_VIEWS = 200, 40, 20
# What stands in the code alone was seen as little as what is declared.
_EVIDENCE = {Evidence.OBSERVED: 0, Evidence.CODE: 1, Evidence.DECLARED: 1, Evidence.INFERRED: 2}


class Side(IntEnum):
    """The side of a box on which a neighbour is."""

    UP = 0
    DOWN = 1


class LinkFlag(IntFlag):
    """Facts of a link, above the two bits of its evidence.

    CONTROL: it decides on rows only, by a join or a filter. FAILED: no attempt moved data.
    DEFINITION: no task carries the data: dbt or a view. GONE: it leads to what is deleted.
    CONFIRMED: several sources show it: a log, and an event or YAML.
    """

    CONTROL = 4
    FAILED = 8
    DEFINITION = 16
    GONE = 32
    CONFIRMED = 64


class BoxFlag(IntFlag):
    """Facts of a box. DELETED: dropped. TEMPORARY: gone when its run ended."""

    DELETED = 1
    TEMPORARY = 2
    FAILED = 4


@frozen
class BoxLink:
    """A neighbour of a box; between two datasets with the tasks that carry the data."""

    side: Side
    to: str
    flags: int
    tasks: tuple[str, ...] = ()
    days: Days = ()

    def data(self) -> list[object]:
        """The link as JSON."""
        return [int(self.side), self.to, self.flags, *self.days, *self.tasks]


@frozen
class BoxRecord:
    """A box of the explorer; `head` is all but its links, as JSON."""

    id: str
    head: list[object]
    links: list[BoxLink]


def dataset_id(dataset: DatasetId) -> str:
    """The id of a dataset: `spark/raw/orders`."""
    return dataset_path(dataset).removeprefix("datasets/").rstrip("/")


def task_id(name: str) -> str:
    """The id of a task or consumer: `@load_orders`."""
    return f"@{task_path(name).removeprefix('tasks/').rstrip('/')}"


def box_records(index: Index, dates: ExplorerDates | None = None) -> Iterator[BoxRecord]:
    """The records of all boxes, by id."""
    controlling, dates = _controlling_flows(index), dates or ExplorerDates(index.lineage)
    entities: dict[str, DatasetId | str] = {
        dataset_id(dataset): dataset for dataset in index.datasets
    }
    entities |= {task_id(name): name for name in index.task_names()}
    for id_, entity in sorted(entities.items()):
        if isinstance(entity, DatasetId):
            yield _dataset_record(index, id_, entity, controlling, dates)
        else:
            yield _task_record(index, id_, entity, controlling, dates)


_FlowKey = tuple[DatasetId, DatasetId, str]


def _controlling_flows(index: Index) -> set[_FlowKey]:
    """The flows of which column edges are known, and all of these decide on rows only."""
    flow_keys: set[_FlowKey] = set()
    for (source, target), edges in index.columns_between.items():
        carrying = {edge.task for edge in edges if edge.type is EdgeType.DIRECT}
        flow_keys.update((source, target, edge.task) for edge in edges if edge.task not in carrying)
    return flow_keys


def _dataset_record(
    index: Index,
    id_: str,
    dataset: DatasetId,
    controlling: set[_FlowKey],
    dates: ExplorerDates,
) -> BoxRecord:
    facts, description = index.datasets[dataset], index.descriptions.get(dataset)
    flags = BoxFlag.DELETED if facts.dropped_at else BoxFlag(0)
    flags |= BoxFlag.TEMPORARY if facts.kind is Kind.TEMPORARY else BoxFlag(0)
    flows_to, flows_from = index.flows_to.get(dataset, ()), index.flows_from.get(dataset, ())
    to_tasks = _flows_of_tasks(flows_from, controlling)
    links = [
        *_flow_links(
            index, Side.UP, ((flow.source, flow) for flow in flows_to), controlling, dates
        ),
        *_flow_links(
            index, Side.DOWN, ((flow.target, flow) for flow in flows_from), controlling, dates
        ),
        *(
            BoxLink(Side.UP, task_id(name), _usage_flags(usages), days=dates.of_usages(usages))
            for name, usages in _group_by_task(index.lineage.usages_of(dataset, Direction.WRITE))
        ),
        *(
            BoxLink(
                Side.DOWN,
                task_id(name),
                _usage_flags(usages) | (LinkFlag.CONTROL if to_tasks.get(name) else 0),
                days=dates.of_usages(usages),
            )
            for name, usages in _group_by_task(index.lineage.usages_of(dataset, Direction.READ))
        ),
        *_consumer_links(index, dataset),
    ]
    box = dataset_box(index, dataset)
    owner, tags = (description.owner, description.tags) if description else ("", ())
    head = _head(id_, box, platform(dataset), owner, tags, flags)
    head += dates.of_dataset(dataset)
    if views := _views(index, dataset):
        head.append(views)
    return BoxRecord(id_, head, links)


def _views(index: Index, dataset: DatasetId) -> list[str]:
    """The views that only pass a table on, by name."""
    reasons = index.lineage.names.reasons
    names = index.lineage.names.aliases.get(dataset, ())
    views = [name.name for name in names if reasons.get(name) is NameReason.VIEW]
    return [_shorten(name) for name in views[:_MOST_VIEWS]]


def _consumer_links(index: Index, dataset: DatasetId) -> Iterator[BoxLink]:
    readers = index.lineage.usages_of(dataset, Direction.READ)
    seen = {usage.task for usage in readers if usage.moves_data}
    for consumer in index.reports.get(dataset, ()):
        if consumer.name not in seen:
            yield BoxLink(Side.DOWN, task_id(consumer.name), _EVIDENCE[Evidence.DECLARED])


def _task_record(
    index: Index, id_: str, name: str, controlling: set[_FlowKey], dates: ExplorerDates
) -> BoxRecord:
    task, consumer = index.tasks.get(name), index.consumers.get(name)
    usages_by_end: dict[tuple[Side, DatasetId], list[Usage]] = defaultdict(list)
    for usage in task.usages if task else ():
        if usage.moves_data:
            side = Side.UP if usage.direction is Direction.READ else Side.DOWN
            usages_by_end[side, usage.dataset].append(usage)
    links = []
    for (side, dataset), usages in sorted(usages_by_end.items()):
        flags = _usage_flags(usages) | _deleted_flag(index, dataset)
        if side is Side.UP:
            decides = _flows_of_tasks(index.flows_from.get(dataset, ()), controlling).get(name)
            flags |= LinkFlag.CONTROL if decides else 0
        links.append(BoxLink(side, dataset_id(dataset), flags, days=dates.of_usages(usages)))
    links += [
        BoxLink(
            Side.UP,
            dataset_id(dataset),
            _EVIDENCE[Evidence.DECLARED] | _deleted_flag(index, dataset),
            days=dates.of_dataset(dataset),
        )
        for dataset in (consumer.reads if consumer else ())
        if (Side.UP, dataset) not in usages_by_end
    ]
    box = task_box(index, name)
    flags_of_box = BoxFlag.FAILED if box.failed else BoxFlag(0)
    owner, tags = index.task_owner(name), index.task_tags(name)
    head = _head(id_, box, box.note, owner, tags, flags_of_box)
    return BoxRecord(id_, [*head, *dates.of_task(name)], links)


def _head(
    id_: str, box: Box, product: str, owner: str, tags: Iterable[str], flags: BoxFlag
) -> list[object]:
    is_task = id_.startswith("@")
    location = "" if is_task or len(box.label.notes) < 2 else box.label.notes[0]
    sort = box.note.rpartition(" · ")[2] if not is_task else box.shape
    return [
        id_,
        _shorten(box.label.name),
        _shorten("" if location == product else location),
        _shorten(product),
        _shorten(sort),
        str(box.shape),
        ceil(wanted_width(box.label)),
        _shorten(owner),
        [_shorten(tag) for tag in list(tags)[:_MOST_TAGS]],
        int(flags),
    ]


def _shorten(name: str) -> str:
    return printable(name)[:_LONGEST]


def _flow_links(
    index: Index,
    side: Side,
    flows: Iterable[tuple[DatasetId, Flow]],
    controlling: set[_FlowKey],
    dates: ExplorerDates,
) -> Iterator[BoxLink]:
    """The datasets next to one, each once, with all tasks in between."""
    by_end = group_by_key(flows)
    for end in sorted(by_end):
        end_flows = by_end[end]
        flags = min(_EVIDENCE[flow.evidence] for flow in end_flows) | _deleted_flag(index, end)
        if any(flow.evidences for flow in end_flows):
            flags |= LinkFlag.CONFIRMED
        if all((flow.source, flow.target, flow.task) in controlling for flow in end_flows):
            flags |= LinkFlag.CONTROL
        if any(flow.definition for flow in end_flows):
            flags |= LinkFlag.DEFINITION
        tasks = sorted({task_id(flow.task) for flow in end_flows if not flow.definition})
        yield BoxLink(side, dataset_id(end), int(flags), tuple(tasks), dates.of_flows(end_flows))


def _deleted_flag(index: Index, dataset: DatasetId) -> int:
    facts = index.datasets[dataset]
    is_gone = facts.dropped_at or facts.kind is Kind.TEMPORARY
    return LinkFlag.GONE if is_gone else 0


def _flows_of_tasks(flows: Iterable[Flow], controlling: set[_FlowKey]) -> Mapping[str, bool]:
    """For each task that carries data of one dataset on: whether that decides on rows only."""
    control_by_task: dict[str, bool] = {}
    for flow in flows:
        decides = (flow.source, flow.target, flow.task) in controlling
        control_by_task[flow.task] = control_by_task.get(flow.task, True) and decides
    return control_by_task


def _group_by_task(usages: Iterable[Usage]) -> list[tuple[str, list[Usage]]]:
    usages_by_task = group_by_key((usage.task, usage) for usage in usages if usage.moves_data)
    return sorted(usages_by_task.items())


def _usage_flags(usages: Iterable[Usage]) -> int:
    all_usages = list(usages)
    failed = LinkFlag.FAILED if all(usage.failed for usage in all_usages) else 0
    confirmed = LinkFlag.CONFIRMED if any(usage.evidences for usage in all_usages) else 0
    return min(_EVIDENCE[usage.evidence] for usage in all_usages) | failed | confirmed
