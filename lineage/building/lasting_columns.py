"""Column edges between lasting datasets: temporary tables and tasks' memories seen through."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

from dbt_graft.lineage.building.held_columns import HeldColumns
from dbt_graft.lineage.building.memory import MEMORY, MemoryOrder, memory_order, uses_memory
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.graphs.columns import expand_stars, unique_edges
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.model import ColumnUse
from dbt_graft.lineage.records import (
    ANY_COLUMN,
    Access,
    ColumnEdge,
    Dataset,
    Direction,
    EdgeType,
    Evidence,
    Status,
)

EdgesByEnds = Mapping[tuple[bool, bool], Sequence[ColumnEdge]]
# A task and a dataset.
Output = tuple[str, DatasetId]

_FROM_DATASET, _TO_DATASET = attrgetter("from_dataset"), attrgetter("to_dataset")
# The order of a target's edges.
_ORDER: Callable[[ColumnEdge], tuple[Any, ...]] = attrgetter(
    *("to_column", "from_dataset.key", "from_column", "task", "subtype", "shape_id"),
    *("masking", "masked_by", "evidence"),
)


class LastingColumns(NamedTuple):
    """Columns between lasting datasets.

    Attributes:
        edges: See `resolve`.
        uses: The columns that are only used.
        fed_again: The tasks that put values of a dataset into it again: the next day's rows.
        known_reads: Task and dataset, where all columns that are read are known.
    """

    edges: tuple[ColumnEdge, ...]
    uses: tuple[ColumnUse, ...]
    fed_again: tuple[Output, ...]
    known_reads: tuple[Output, ...]


def lasting_columns(
    edges: Iterable[ColumnEdge],
    accesses: Iterable[Access],
    datasets: Iterable[Dataset],
    flows: Iterable[Flow],
    parents: Mapping[tuple[str, str], str],
    *,
    infer: bool = True,
    followed: Collection[str] = frozenset(),
) -> LastingColumns:
    """The columns between lasting datasets.

    What a task's shape did is left out where all that it tried failed.

    Args:
        accesses, datasets, flows: What is known under the names that the edges have.
        parents: The run of an orchestrator that started a run, by task and run id.
        infer: See through tasks' memories too.
        followed: The shapes of which all columns are known.
    """
    accesses = list(accesses)
    temporaries = set()
    done: dict[tuple[str, str], bool] = defaultdict(bool)
    for access in accesses:
        if access.kind is Kind.TEMPORARY:
            temporaries.add(access.dataset)
        done[access.task, access.shape_id] |= access.status is not Status.FAILED
    failed = {shape for shape, is_done in done.items() if not is_done}
    edges = [edge for edge in edges if not failed or (edge.task, edge.shape_id) not in failed]
    by_ends = edges_by_ends(edges, temporaries)
    # By these a task finds the rows of a table that it changes.
    of_own_rows = (
        edge for edge in by_ends[False, False] if edge.type is EdgeType.INDIRECT and _stays(edge)
    )
    uses = {
        ColumnUse(edge.task, edge.from_dataset, edge.from_column)
        for edge in chain(by_ends[False, True], of_own_rows)
        if edge.from_column != ANY_COLUMN
    }
    if not infer:
        by_ends = edges_by_ends([edge for edge in edges if not uses_memory(edge)], temporaries)
    of_short = chain.from_iterable(group for ends, group in by_ends.items() if any(ends))
    all_edges = _spelled_edges(
        by_ends,
        {dataset.id: [column.name for column in dataset.columns] for dataset in datasets},
        {(flow.task, flow.source, flow.target) for flow in flows},
        memory_order(of_short, accesses, parents),
    )
    ordered_uses = sorted(uses, key=lambda use: (use.task, use.dataset.key, use.column))
    return LastingColumns(
        _moving_edges(all_edges),
        tuple(ordered_uses),
        _fed_again(all_edges, accesses),
        _known_reads(chain(by_ends[False, False], by_ends[False, True]), accesses, followed),
    )


def resolve(
    edges: EdgesByEnds,
    columns: Mapping[DatasetId, Sequence[str]],
    flowed: Collection[tuple[str, DatasetId, DatasetId]],
    order: MemoryOrder | None = None,
) -> tuple[ColumnEdge, ...]:
    """The edges from lasting column to lasting column, sorted, each once.

    A temporary table stands for what its task filled it with, a global one for what any task did;
    but no column feeds another through one where no data flowed between their tables, because the
    temporary table held other content then. A column's edge to itself and what decides on rows of
    its own table are left out: no data comes from elsewhere. An inferred edge is left out where
    its task has a better one.

    Args:
        edges: As `edges_by_ends` groups them.
        columns: What is known of datasets' columns; `*` of a table is spelled out by it.
        flowed: The task, source and target of each flow.
        order: Which shapes read into a memory before others wrote from it.
    """
    return _moving_edges(_spelled_edges(edges, columns, flowed, order or MemoryOrder()))


def _moving_edges(edges: Iterable[ColumnEdge]) -> tuple[ColumnEdge, ...]:
    moving = [edge for edge in edges if not _stays(edge)]
    return tuple(_sorted_once(_best_edges(moving)))


def _spelled_edges(
    edges: EdgesByEnds,
    columns: Mapping[DatasetId, Sequence[str]],
    flowed: Collection[tuple[str, DatasetId, DatasetId]],
    order: MemoryOrder,
) -> list[ColumnEdge]:
    held = HeldColumns(columns, order)
    held.fill(edges[False, True], edges[True, True])
    through = (
        edge
        for edge in held.edges_behind(edges[True, False])
        if edge.from_dataset.key == edge.to_dataset.key
        or (edge.task, edge.from_dataset, edge.to_dataset) in flowed
    )
    return [
        spelled
        for edge in chain(edges[False, False], through)
        for spelled in (expand_stars(edge, columns) if edge.from_column == ANY_COLUMN else (edge,))
    ]


def edges_by_ends(
    edges: Sequence[ColumnEdge], temporaries: Collection[DatasetId] = ()
) -> EdgesByEnds:
    """Edges by whether they begin, and end, in what is short-lived; of those that do each once.

    Args:
        temporaries: The datasets that live as long as a run.
    """
    ends = [[*map(get, edges)] for get in (_FROM_DATASET, _TO_DATASET)]
    # Of a million edges most ids are the same objects.
    datasets = dict(chain(*(zip(map(id, end), end, strict=True) for end in ends)))
    short = {MEMORY, *temporaries}
    are_short = {key: dataset in short for key, dataset in datasets.items()}
    if True not in are_short.values():
        return defaultdict(list, {(False, False): edges})
    ways = zip(*(map(are_short.__getitem__, map(id, end)) for end in ends), strict=True)
    groups = group_by_key(zip(ways, edges, strict=True)).items()
    # Only what goes on from one to the other gets more with each copy.
    once = {way: unique_edges(group) if any(way) else group for way, group in groups}
    return defaultdict(list, once)


def _sorted_once(edges: Iterable[ColumnEdge]) -> Iterator[ColumnEdge]:
    """The edges, sorted, each once. Those of each target are sorted alone, as these are few."""
    edges_by_target = group_by_key((edge.to_dataset.key, edge) for edge in edges)
    for target in sorted(edges_by_target):
        group = edges_by_target[target]
        orders = [*map(_ORDER, group)]
        ordered = [group[at] for at in sorted(range(len(group)), key=orders.__getitem__)]
        # Equal ones have one place, and to compare all fields takes longer.
        yield from unique_edges(ordered) if len({*orders}) < len(orders) else ordered


def _best_edges(edges: Collection[ColumnEdge]) -> Collection[ColumnEdge]:
    """The edges without inferred ones that an observed one says too.

    Nor do unknown columns stay where the same shape has an inferred one: rows that Python code made
    from a data frame's come from any of its columns, then from that of equal name.
    """
    inferred = [edge for edge in edges if edge.evidence is Evidence.INFERRED]
    if not inferred:
        return edges
    named = {_shape_way(edge) for edge in inferred if edge.from_column != ANY_COLUMN}
    others = [edge for edge in edges if edge.evidence is not Evidence.INFERRED]
    observed_ways = set(map(_task_way, others))
    return [
        *(edge for edge in inferred if _task_way(edge) not in observed_ways),
        *(e for e in others if e.from_column != ANY_COLUMN or _shape_way(e) not in named),
    ]


def _task_way(edge: ColumnEdge) -> tuple[object, ...]:
    """An edge as two that say the same have it: the columns, and whether values go into one."""
    names = (edge.to_column.casefold(), edge.from_column.casefold())
    return edge.task, edge.to_dataset, edge.from_dataset, *names, edge.type


def _shape_way(edge: ColumnEdge) -> tuple[object, ...]:
    return edge.task, edge.shape_id, edge.to_dataset, edge.to_column, edge.from_dataset, edge.type


def _fed_again(edges: Iterable[ColumnEdge], accesses: Sequence[Access]) -> tuple[Output, ...]:
    """The tasks that make rows of a dataset of other rows of it, which names alone do not show.

    An UPDATE changes rows where they are, unless it reads the table beside that.
    """
    own = [
        edge
        for edge in edges
        if edge.type is EdgeType.DIRECT
        and edge.evidence is not Evidence.INFERRED
        and edge.to_dataset.key == edge.from_dataset.key
    ]
    shapes = {(edge.task, edge.shape_id) for edge in own}
    of_shapes = [a for a in accesses if shapes and (a.task, a.shape_id) in shapes]
    in_place = {(a.task, a.shape_id) for a in of_shapes if a.operation.is_in_place}
    reads = {(a.task, a.shape_id, a.dataset) for a in of_shapes if a.direction is Direction.READ}
    outputs = {
        (edge.task, edge.to_dataset)
        for edge in own
        if (edge.task, edge.shape_id) not in in_place
        or (edge.task, edge.shape_id, edge.to_dataset) in reads
    }
    return tuple(sorted(outputs))


def _known_reads(
    edges: Iterable[ColumnEdge], accesses: Iterable[Access], followed: Collection[str]
) -> tuple[Output, ...]:
    """Each task and dataset that it reads by statements alone that name all columns they take.

    Of a statement that gives no column, as `SELECT COUNT(*) … WHERE x = 1`, no edge shows which
    ones decide on its rows.
    """
    ends = [
        ((edge.task, edge.shape_id, edge.from_dataset), edge.from_column)
        for edge in edges
        if edge.shape_id in followed
    ]
    named = {key for key, _ in ends} - {key for key, column in ends if column == ANY_COLUMN}
    are_known: dict[Output, bool] = {}
    for access in accesses:
        if access.direction is Direction.READ and access.status is not Status.FAILED:
            way, shape = (access.task, access.dataset), access.shape_id
            is_named = (access.task, shape, access.dataset) in named
            are_known[way] = are_known.get(way, True) and is_named
    return tuple(sorted(way for way, is_known in are_known.items() if is_known))


def _stays(edge: ColumnEdge) -> bool:
    if edge.to_dataset.key != edge.from_dataset.key:
        return False
    same_column = edge.to_column.casefold() == edge.from_column.casefold()
    of_rows = edge.to_column == ANY_COLUMN or not edge.subtype.is_of_one_value
    return same_column or (edge.type is EdgeType.INDIRECT and of_rows)
