"""Column edges between lasting datasets: temporary tables and tasks' memories seen through."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from typing import NamedTuple

from dbt_graft.lineage.building.held_columns import HeldColumns
from dbt_graft.lineage.building.memory import MEMORY, MemoryOrder, memory_order
from dbt_graft.lineage.column_edges import ColumnEdges
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.graphs.columns import expand_stars, unique_edges
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

EdgesByEnds = Mapping[tuple[bool, bool], ColumnEdges]
_ENDS = ("from_dataset", "to_dataset")
# A task and a dataset.
Output = tuple[str, DatasetId]


class LastingColumns(NamedTuple):
    """Columns between lasting datasets.

    Attributes:
        edges: From lasting column to lasting column, sorted, each once.
        uses: The columns that are only used.
        fed_again: The tasks that put values of a dataset into it again: the next day's rows.
        known_reads: Task and dataset, where all columns that are read are known.
    """

    edges: ColumnEdges
    uses: tuple[ColumnUse, ...]
    fed_again: tuple[Output, ...]
    known_reads: tuple[Output, ...]


def lasting_columns(
    edges: ColumnEdges,
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
    edges = _without_shapes(edges, {shape for shape, is_done in done.items() if not is_done})
    by_ends = edges_by_ends(edges, temporaries)
    # By these a task finds the rows of a table that it changes.
    of_own_rows = (
        edge
        for edge in _loops(by_ends[False, False])
        if edge.type is EdgeType.INDIRECT and _stays(edge)
    )
    uses = {
        ColumnUse(edge.task, edge.from_dataset, edge.from_column)
        for edge in chain(by_ends[False, True], of_own_rows)
        if edge.from_column != ANY_COLUMN
    }
    if not infer:
        by_ends = edges_by_ends(_without_memory(edges), temporaries)
    all_edges = by_ends[False, False]
    if any(_of_short(by_ends)) or ANY_COLUMN in all_edges.distinct("from_column"):
        all_edges = _spelled_edges(
            by_ends,
            {dataset.id: [column.name for column in dataset.columns] for dataset in datasets},
            {(flow.task, flow.source, flow.target) for flow in flows},
            memory_order(_of_short(by_ends), accesses, parents),
        )
    ordered_uses = sorted(uses, key=lambda use: (use.task, use.dataset.key, use.column))
    return LastingColumns(
        _moving_edges(all_edges),
        tuple(ordered_uses),
        _fed_again(all_edges, accesses),
        _known_reads((by_ends[False, False], by_ends[False, True]), accesses, followed),
    )


def _without_shapes(edges: ColumnEdges, failed: Collection[tuple[str, str]]) -> ColumnEdges:
    """The edges but those of shapes of tasks of which every statement failed."""
    if not failed:
        return edges
    shapes = zip(edges.values("task"), edges.values("shape_id"), strict=False)
    return edges.select([shape not in failed for shape in shapes])


def _without_memory(edges: ColumnEdges) -> ColumnEdges:
    for end in _ENDS:
        edges = edges.where(end, lambda dataset: dataset != MEMORY)
    return edges


def _spelled_edges(
    edges: EdgesByEnds,
    columns: Mapping[DatasetId, Sequence[str]],
    flowed: Collection[tuple[str, DatasetId, DatasetId]],
    order: MemoryOrder,
) -> ColumnEdges:
    """The edges from lasting column to lasting column, those of `*` column by column.

    A temporary table stands for what its task filled it with, a global one for what any task did;
    but no column feeds another through one where no data flowed between their tables, because the
    temporary table held other content then.

    Args:
        columns: What is known of datasets' columns; `*` of a table is spelled out by it.
        flowed: The task, source and target of each flow.
        order: Which shapes read into a memory before others wrote from it.
    """
    held = HeldColumns(columns, order)
    held.fill(edges[False, True], edges[True, True])
    through = (
        edge
        for edge in held.edges_behind(edges[True, False])
        if edge.from_dataset.key == edge.to_dataset.key
        or (edge.task, edge.from_dataset, edge.to_dataset) in flowed
    )
    direct = edges[False, False]
    of_all_columns = direct.where("from_column", ANY_COLUMN.__eq__)
    spelled = (
        column_edge
        for edge in chain(of_all_columns, through)
        for column_edge in expand_stars(edge, columns)
    )
    named = direct.where("from_column", ANY_COLUMN.__ne__)
    return ColumnEdges.join((named, ColumnEdges.of(spelled)))


def edges_by_ends(edges: ColumnEdges, temporaries: Collection[DatasetId] = ()) -> EdgesByEnds:
    """Edges by whether they begin, and end, in what is short-lived; of those that do each once.

    Args:
        temporaries: The datasets that live as long as a run.
    """
    short = {MEMORY, *temporaries}
    ways = dict.fromkeys(product((False, True), (False, True)), ColumnEdges(0, {}))
    if short.isdisjoint(chain.from_iterable(map(edges.distinct, _ENDS))):
        return {**ways, (False, False): edges}
    begins, stops = (edges.numbers(end, lambda dataset: dataset in short) for end in _ENDS)
    groups = {
        way: edges.select([*map(way.__eq__, zip(begins, stops, strict=True))]) for way in ways
    }
    # Only what goes on from one to the other gets more with each copy.
    return {
        way: ColumnEdges.of(unique_edges(group)) if any(way) else group
        for way, group in groups.items()
    }


def _of_short(by_ends: EdgesByEnds) -> Iterator[ColumnEdge]:
    return chain.from_iterable(group for ends, group in by_ends.items() if any(ends))


def _loops(edges: ColumnEdges) -> Iterator[ColumnEdge]:
    """The edges from a dataset to itself."""
    return map(edges.__getitem__, edges.loops())


def _moving_edges(edges: ColumnEdges) -> ColumnEdges:
    """The edges that bring data from elsewhere, sorted, each once.

    A column's edge to itself and what decides on rows of its own table are left out. An inferred
    edge is left out where its task has a better one.
    """
    staying = [place for place in edges.loops() if _stays(edges[place])]
    return _best_edges(edges.without(staying)).in_order()


def _best_edges(edges: ColumnEdges) -> ColumnEdges:
    """The edges without inferred ones that an observed one says too.

    Nor do unknown columns stay where the same shape has an inferred one: rows that Python code made
    from a data frame's come from any of its columns, then from that of equal name.
    """
    if Evidence.INFERRED not in edges.distinct("evidence"):
        return edges
    listed = [*edges]
    inferred = [edge for edge in listed if edge.evidence is Evidence.INFERRED]
    named = {_shape_way(edge) for edge in inferred if edge.from_column != ANY_COLUMN}
    observed_ways = {_task_way(e) for e in listed if e.evidence is not Evidence.INFERRED}
    return edges.select(
        [
            _task_way(edge) not in observed_ways
            if edge.evidence is Evidence.INFERRED
            else edge.from_column != ANY_COLUMN or _shape_way(edge) not in named
            for edge in listed
        ]
    )


def _task_way(edge: ColumnEdge) -> tuple[object, ...]:
    """An edge as two that say the same have it: the columns, and whether values go into one."""
    names = (edge.to_column.casefold(), edge.from_column.casefold())
    return edge.task, edge.to_dataset, edge.from_dataset, *names, edge.type


def _shape_way(edge: ColumnEdge) -> tuple[object, ...]:
    return edge.task, edge.shape_id, edge.to_dataset, edge.to_column, edge.from_dataset, edge.type


def _fed_again(edges: ColumnEdges, accesses: Sequence[Access]) -> tuple[Output, ...]:
    """The tasks that make rows of a dataset of other rows of it, which names alone do not show.

    An UPDATE changes rows where they are, unless it reads the table beside that.
    """
    own = [
        edge
        for edge in _loops(edges)
        if edge.type is EdgeType.DIRECT and edge.evidence is not Evidence.INFERRED
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
    groups: Iterable[ColumnEdges], accesses: Iterable[Access], followed: Collection[str]
) -> tuple[Output, ...]:
    """Each task and dataset that it reads by statements alone that name all columns they take.

    Of a statement that gives no column, as `SELECT COUNT(*) … WHERE x = 1`, no edge shows which
    ones decide on its rows.
    """
    named: set[tuple[str, str, DatasetId]] = set()
    starred: set[tuple[str, str, DatasetId]] = set()
    for edges in groups:
        of_followed = edges.where("shape_id", followed.__contains__)
        named.update(_reads(of_followed))
        starred.update(_reads(of_followed.where("from_column", ANY_COLUMN.__eq__)))
    if not named:
        return ()
    are_known: dict[Output, bool] = {}
    for access in accesses:
        if access.direction is Direction.READ and access.status is not Status.FAILED:
            way, shape = (access.task, access.dataset), access.shape_id
            key = access.task, shape, access.dataset
            is_named = key in named and key not in starred
            are_known[way] = are_known.get(way, True) and is_named
    return tuple(sorted(way for way, is_known in are_known.items() if is_known))


def _reads(edges: ColumnEdges) -> Iterable[tuple[str, str, DatasetId]]:
    return zip(*map(edges.values, ("task", "shape_id", "from_dataset")), strict=False)


def _stays(edge: ColumnEdge) -> bool:
    if edge.to_dataset.key != edge.from_dataset.key:
        return False
    same_column = edge.to_column.casefold() == edge.from_column.casefold()
    of_rows = edge.to_column == ANY_COLUMN or not edge.subtype.is_of_one_value
    return same_column or (edge.type is EdgeType.INDIRECT and of_rows)
