"""Column edges between lasting datasets, composed over temporary tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from dbt_graft.lineage.dataset import DatasetId, Kind, is_global_temporary
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.records import (
    ANY_COLUMN,
    Access,
    ColumnEdge,
    Dataset,
    Direction,
    EdgeType,
    Status,
    Subtype,
)

_STRENGTH = {Subtype.IDENTITY: 0, Subtype.TRANSFORMATION: 1, Subtype.AGGREGATION: 2}

# For each temporary table and column, the edges from lasting columns that end in it.
_Held = dict[tuple[str, DatasetId], dict[str, set[ColumnEdge]]]


def compose(last: Subtype, first: Subtype) -> Subtype:
    """Return the subtype of two edges in a row: INDIRECT wins, then the greater change."""
    if last not in _STRENGTH:
        return last
    if first not in _STRENGTH:
        return first
    return max(first, last, key=_STRENGTH.__getitem__)


def column_edges(
    edges: Iterable[ColumnEdge],
    accesses: Iterable[Access],
    datasets: Iterable[Dataset],
    flows: Iterable[Flow],
) -> tuple[ColumnEdge, ...]:
    """The column edges between lasting datasets; see `resolve`.

    What a task's shape did is left out where all that it tried failed.

    Args:
        accesses, datasets, flows: What is known under the names that the edges have.
    """
    temporaries = set()
    done: dict[tuple[str, str], bool] = defaultdict(bool)
    for access in accesses:
        if access.kind is Kind.TEMPORARY:
            temporaries.add(access.dataset)
        done[access.task, access.shape_id] |= access.status is not Status.FAILED
    return resolve(
        (edge for edge in edges if done.get((edge.task, edge.shape_id), True)),
        temporaries,
        {dataset.id: [column.name for column in dataset.columns] for dataset in datasets},
        {(flow.task, flow.source, flow.target) for flow in flows},
    )


def table_edges(accesses: Iterable[Access]) -> Iterator[ColumnEdge]:
    """The edges of statements that move a table's rows as they are: `new.*` from `old.*`."""
    moves: dict[tuple[str, str, str], list[Access]] = defaultdict(list)
    for access in accesses:
        if access.operation.switches or access.operation.renames:
            moves[access.task, access.run_id, access.shape_id].append(access)
    for group in moves.values():
        for source in group:
            for target in group:
                if source.direction is Direction.READ and target.direction is Direction.WRITE:
                    yield ColumnEdge(
                        task=target.task,
                        to_dataset=target.dataset,
                        to_column=ANY_COLUMN,
                        from_dataset=source.dataset,
                        from_column=ANY_COLUMN,
                        type=EdgeType.DIRECT,
                        subtype=Subtype.IDENTITY,
                        masking=False,
                        shape_id=target.shape_id,
                        origin=target.origin,
                    )


def resolve(
    edges: Iterable[ColumnEdge],
    temporaries: Collection[DatasetId],
    columns: Mapping[DatasetId, Sequence[str]],
    flowed: Collection[tuple[str, DatasetId, DatasetId]],
) -> tuple[ColumnEdge, ...]:
    """The edges from lasting column to lasting column, sorted, each once.

    A temporary table stands for what its task filled it with, a global one for what any task did;
    but no column feeds another through one where no data flowed between their tables, because the
    temporary table held other content then. A column's edge to itself and what decides on rows of
    its own table are left out: no data comes from elsewhere.

    Args:
        temporaries: The datasets that live as long as a run.
        columns: What is known of datasets' columns; `*` of a table is spelled out by it.
        flowed: The task, source and target of each flow.
    """
    edges = list(edges)
    held = _held([edge for edge in edges if edge.to_dataset in temporaries], temporaries)
    found = {
        spelled
        for edge in edges
        if edge.to_dataset not in temporaries
        for seen in _seen_through(edge, held, temporaries)
        if seen is edge
        or seen.from_dataset == seen.to_dataset
        or (seen.task, seen.from_dataset, seen.to_dataset) in flowed
        for spelled in _spelled_out(seen, columns)
        if not _stays(spelled)
    }
    return tuple(sorted(found, key=_order))


def _held(edges: Sequence[ColumnEdge], temporaries: Collection[DatasetId]) -> _Held:
    """For each temporary table and each of its columns the lasting ones behind it."""
    held: _Held = defaultdict(lambda: defaultdict(set))
    grows = True
    while grows:  # temporary tables fill temporary tables; each round sees one step further
        grows = False
        for edge in edges:
            columns = held[_holder(edge.task, edge.to_dataset)]
            for seen in list(_seen_through(edge, held, temporaries)):
                if seen not in columns[seen.to_column]:
                    columns[seen.to_column].add(seen)
                    grows = True
    return held


def _holder(task: str, temporary: DatasetId) -> tuple[str, DatasetId]:
    """Whose table it is: a global one is nobody's."""
    return "" if is_global_temporary(temporary) else task, temporary


def _seen_through(
    edge: ColumnEdge, held: _Held, temporaries: Collection[DatasetId]
) -> Iterator[ColumnEdge]:
    if edge.from_dataset not in temporaries:
        yield edge
        return
    columns = held.get(_holder(edge.task, edge.from_dataset), {})
    folded = edge.from_column.casefold()
    for name, behind in list(columns.items()):
        unknown = name == ANY_COLUMN
        for first in list(behind):
            if unknown and first.type is EdgeType.INDIRECT:
                # What decided on the temporary table's rows decides on what they went to.
                yield _chained(edge, first, ANY_COLUMN, first.subtype)
            elif unknown:
                # It was filled with `*`: the column has the name that it had before.
                renamed = replace(first, from_column=edge.from_column)
                yield _chained(edge, renamed, edge.to_column, compose(edge.subtype, first.subtype))
            elif folded == name.casefold() or edge.from_column == ANY_COLUMN:
                to = name if edge.to_column == edge.from_column else edge.to_column
                yield _chained(edge, first, to, compose(edge.subtype, first.subtype))


def _chained(last: ColumnEdge, first: ColumnEdge, to: str, subtype: Subtype) -> ColumnEdge:
    return replace(
        last,
        to_column=to,
        from_dataset=first.from_dataset,
        from_column=first.from_column,
        type=subtype.type,
        subtype=subtype,
        masking=first.masking or last.masking,
    )


def _spelled_out(
    edge: ColumnEdge, columns: Mapping[DatasetId, Sequence[str]]
) -> Iterator[ColumnEdge]:
    """`t.*` -> `u.*` column by column where t's are known, of these the ones that u has."""
    names = columns.get(edge.from_dataset, ())
    both = edge.from_column == edge.to_column == ANY_COLUMN
    if not both or edge.type is EdgeType.INDIRECT or not names:
        yield edge
        return
    there = {name.casefold() for name in columns.get(edge.to_dataset, ())}
    for name in names:
        if not there or name.casefold() in there:
            yield replace(edge, from_column=name, to_column=name)


def _stays(edge: ColumnEdge) -> bool:
    same_column = edge.to_column.casefold() == edge.from_column.casefold()
    return edge.to_dataset == edge.from_dataset and (same_column or edge.type is EdgeType.INDIRECT)


def _order(edge: ColumnEdge) -> tuple[object, ...]:
    return (
        edge.to_dataset.key,
        edge.to_column,
        edge.from_dataset.key,
        edge.from_column,
        edge.task,
        edge.subtype,
        edge.shape_id,
        edge.masking,
        edge.origin,
        edge.evidence,
    )
