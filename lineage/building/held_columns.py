"""The columns of temporary tables and of tasks' memories, with the lasting columns behind them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from dbt_graft.lineage.building.memory import MEMORY, MemoryOrder
from dbt_graft.lineage.dataset import DatasetId, is_global_temporary
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.graphs.columns import chain_edges, compose, expand_stars, passes
from dbt_graft.lineage.records import ANY_COLUMN, ColumnEdge, EdgeType

# The rows that a read brings into a memory, and what is written with them: task, read shape, write
# shape, target.
_Carried = tuple[str, str, str, DatasetId]


@frozen
class _Content:
    """The edges from lasting columns into one temporary table, or memory.

    Attributes:
        named: Those into known columns, by the column's name, folded.
        unnamed: DIRECT ones into `*`.
        rows: What decided on its rows, by the shape that filled it.
    """

    named: dict[str, dict[ColumnEdge, None]] = field(default_factory=lambda: defaultdict(dict))
    unnamed: dict[ColumnEdge, None] = field(default_factory=dict)
    rows: dict[str, dict[ColumnEdge, None]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, edge: ColumnEdge) -> bool:
        """Take an edge; return whether it is new."""
        if edge.to_column != ANY_COLUMN:
            among = self.named[edge.to_column.casefold()]
        elif edge.type is EdgeType.DIRECT:
            among = self.unnamed
        else:
            among = self.rows[edge.shape_id]
        is_new = edge not in among
        among[edge] = None
        return is_new


class HeldColumns:
    """The columns that temporary tables hold, and tasks' memories.

    Args:
        columns: What is known of datasets' columns.
        order: Which shapes read into a memory before others wrote from it.
    """

    def __init__(self, columns: Mapping[DatasetId, Sequence[str]], order: MemoryOrder) -> None:
        self._columns = columns
        self._order = order
        self._contents: dict[tuple[str, DatasetId], _Content] = defaultdict(_Content)

    def fill(self, arriving: Iterable[ColumnEdge], between: Collection[ColumnEdge]) -> None:
        """Take the edges from lasting datasets into others, and those between others."""
        # Temporary tables fill temporary tables; each round sees one step further. All of a round
        # first: what it goes through grows with what it finds.
        while sum(self._hold_edge(edge) for edge in arriving):
            arriving = list(self.edges_behind(between))

    def edges_behind(self, edges: Iterable[ColumnEdge]) -> Iterator[ColumnEdge]:
        """The edges from lasting columns that edges from temporary tables and memories stand for,
        as far as these were filled.
        """
        carried: set[_Carried] = set()
        for edge in edges:
            if content := self._contents.get(_holder(edge.task, edge.from_dataset)):
                if edge.from_dataset == MEMORY:
                    yield from self._memory_edges(edge, content, carried)
                else:
                    yield from _table_edges(edge, content)

    def _hold_edge(self, edge: ColumnEdge) -> bool:
        content = self._contents[_holder(edge.task, edge.to_dataset)]
        if edge.to_dataset != MEMORY:
            return content.add(edge)
        # Names decide what goes on from a memory, and without its columns `*` has none.
        return (
            sum(content.add(column_edge) for column_edge in expand_stars(edge, self._columns)) > 0
        )

    def _memory_edges(
        self, edge: ColumnEdge, content: _Content, carried: set[_Carried]
    ) -> Iterator[ColumnEdge]:
        """The columns read before under the name of this one, and what chose their rows."""
        for first in content.named.get(edge.from_column.casefold(), ()):
            if not self._order.precedes(edge.task, first.shape_id, edge.shape_id):
                continue
            yield chain_edges(edge, first, edge.to_column, compose(edge.subtype, first.subtype))
            key = (edge.task, first.shape_id, edge.shape_id, edge.to_dataset)
            if edge.type is EdgeType.DIRECT and key not in carried:
                carried.add(key)
                for row in content.rows.get(first.shape_id, ()):
                    yield chain_edges(edge, row, ANY_COLUMN, row.subtype)


def _holder(task: str, temporary: DatasetId) -> tuple[str, DatasetId]:
    """Whose table it is: a global one is nobody's."""
    return "" if is_global_temporary(temporary) else task, temporary


def _table_edges(edge: ColumnEdge, content: _Content) -> Iterator[ColumnEdge]:
    if edge.from_column == ANY_COLUMN:
        named = [first for column in content.named.values() for first in column]
    else:
        named = list(content.named.get(edge.from_column.casefold(), ()))
    for first in named:
        if not passes(edge, first.to_column):
            continue
        to = first.to_column if edge.to_column == edge.from_column else edge.to_column
        yield chain_edges(edge, first, to, compose(edge.subtype, first.subtype))
    for first in content.unnamed:
        if not passes(first, edge.from_column):
            continue
        # It was filled with `*`: the column has the name that it had before.
        before = replace(first, from_column=edge.from_column)
        yield chain_edges(edge, before, edge.to_column, compose(edge.subtype, first.subtype))
    for rows in content.rows.values():
        for first in rows:
            # What decided on the temporary table's rows decides on what they went to.
            yield chain_edges(edge, first, ANY_COLUMN, first.subtype)
