"""Column edges: how two in a row make one, and how temporary tables are seen through."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from lineage.dataset import DatasetId, Kind
from lineage.names import NameRules
from lineage.records import ANY_COLUMN, ColumnEdge, Dataset, EdgeType, Records, Subtype

_STRENGTH = {Subtype.IDENTITY: 0, Subtype.TRANSFORMATION: 1, Subtype.AGGREGATION: 2}

# What is known of a temporary table's column: the edges from lasting columns that lead to it.
_Held = dict[tuple[str, DatasetId], dict[str, set[ColumnEdge]]]


def compose(last: Subtype, first: Subtype) -> Subtype:
    """What two steps make: indirect wins, the last of two; else the greater change."""
    if last not in _STRENGTH:
        return last
    if first not in _STRENGTH:
        return first
    return max(first, last, key=_STRENGTH.__getitem__)


def column_edges(
    records: Records, datasets: Iterable[Dataset], rename: NameRules
) -> tuple[ColumnEdge, ...]:
    """The edges of records between lasting datasets, under the names that the rules give.

    Args:
        datasets: What is known of datasets, under these names.
    """
    temporaries = {a.dataset for a in records.accesses if a.kind is Kind.TEMPORARY}

    def named(dataset: DatasetId) -> DatasetId:
        return dataset if dataset in temporaries else rename(dataset)

    edges = (
        replace(edge, to_dataset=named(edge.to_dataset), from_dataset=named(edge.from_dataset))
        for edge in records.column_edges
    )
    columns = {dataset.id: [column.name for column in dataset.columns] for dataset in datasets}
    return resolve(edges, temporaries, columns)


def resolve(
    edges: Iterable[ColumnEdge],
    temporaries: Collection[DatasetId],
    columns: Mapping[DatasetId, Sequence[str]],
) -> tuple[ColumnEdge, ...]:
    """The edges from lasting column to lasting column, sorted, each once.

    Within a task a temporary table stands for what it was filled with. A column's edge to
    itself and what decides on rows of its own table are left out: no data comes from elsewhere.

    Args:
        temporaries: The datasets that live as long as a run.
        columns: What is known of datasets' columns; `*` of a table is spelled out by it.
    """
    edges = list(edges)
    held = _held([edge for edge in edges if edge.to_dataset in temporaries], temporaries)
    found = {
        spelled
        for edge in edges
        if edge.to_dataset not in temporaries
        for seen in _seen_through(edge, held, temporaries)
        for spelled in _spelled_out(seen, columns)
        if not _stays(spelled)
    }
    return tuple(sorted(found, key=_order))


def _held(edges: Sequence[ColumnEdge], temporaries: Collection[DatasetId]) -> _Held:
    """For each temporary table of a task and each of its columns the lasting ones behind it."""
    held: _Held = defaultdict(lambda: defaultdict(set))
    grows = True
    while grows:  # temporary tables fill temporary tables; each round sees one step further
        grows = False
        for edge in edges:
            columns = held[edge.task, edge.to_dataset]
            for seen in list(_seen_through(edge, held, temporaries)):
                if seen not in columns[seen.to_column]:
                    columns[seen.to_column].add(seen)
                    grows = True
    return held


def _seen_through(
    edge: ColumnEdge, held: _Held, temporaries: Collection[DatasetId]
) -> Iterator[ColumnEdge]:
    if edge.from_dataset not in temporaries:
        yield edge
        return
    columns = held.get((edge.task, edge.from_dataset), {})
    folded = edge.from_column.casefold()
    for name, behind in list(columns.items()):
        unknown = name == ANY_COLUMN
        for first in list(behind):
            if unknown and first.type is EdgeType.INDIRECT:
                # What decided on the temporary table's rows decides on what they went to.
                yield _chained(edge, first, ANY_COLUMN, first.subtype)
            elif unknown:
                # It was filled with `*`: the column has the name that it had before.
                kept = replace(first, from_column=edge.from_column)
                yield _chained(edge, kept, edge.to_column, compose(edge.subtype, first.subtype))
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
    )
