"""Column edges as rows of `dbt.column_lineage`: in numbers and arrays, since there are millions."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import ANY_COLUMN, ColumnEdge, EdgeType, Subtype

# A node and a column.
_End = tuple[str, str]
# dbt's page: passthrough, transform, indirect; the first counts where an edge has several.
_KINDS, _INDIRECT = ("copy", "mod", "scan"), 2


class NodeColumns(dict[str, int]):
    """The columns of a node by name, in their order; a name may be written in any case."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        super().__init__((name, number) for number, name in enumerate(names))
        self._by_key: dict[str, str] | None = None

    def spelling(self, column: str) -> str | None:
        """A column as it is listed; None if it is not."""
        if column in self:
            return column
        if self._by_key is None:
            self._by_key = {name.casefold(): name for name in self}
        return self._by_key.get(column.casefold())

    def add(self, column: str) -> bool:
        """List a column, and return whether it is new."""
        if self.spelling(column) is not None:
            return False
        assert self._by_key is not None
        self[column] = len(self)
        self._by_key[column.casefold()] = column
        return True


@frozen
class EdgeRows:
    """New rows of `dbt.column_lineage`.

    Attributes:
        columns: The table's columns, by name.
        unlisted: The columns at ends of edges that were not listed: node, column, and its position
            in the node.
    """

    columns: Mapping[str, Any]
    unlisted: list[tuple[str, str, int]]


def edge_rows(
    edges: Iterable[ColumnEdge],
    nodes: Mapping[DatasetId, str],
    listed: Mapping[str, NodeColumns],
    answered: Iterable[_End],
) -> EdgeRows:
    """The rows of column edges, each once, in the order of their ends.

    Args:
        nodes: Dataset -> its node.
        listed: Node -> its columns; others are added.
        answered: Ends of which dbt itself says where they come from.
    """
    ends: list[_End] = []
    numbers = {node_id: _Numbers(node_id, columns, ends) for node_id, columns in listed.items()}
    by_key = {
        dataset.key: numbers[node_id] for dataset, node_id in nodes.items() if node_id in numbers
    }
    known = {numbers[node_id][column] for node_id, column in answered if node_id in numbers}
    from_ends, to_ends, kinds = array("i"), array("i"), array("b")
    deciding: list[tuple[int, _Numbers]] = []
    for edge in edges:
        sources, targets = by_key.get(edge.from_dataset.key), by_key.get(edge.to_dataset.key)
        from_column, to_column = edge.from_column, edge.to_column
        if sources is None or targets is None or sources is targets or from_column == ANY_COLUMN:
            continue
        if edge.type is EdgeType.INDIRECT:
            kind = _INDIRECT
        else:
            kind = 0 if edge.subtype is Subtype.IDENTITY else 1
        source = sources[from_column]
        if to_column != ANY_COLUMN:
            from_ends.append(source)
            to_ends.append(targets[to_column])
            kinds.append(kind)
        elif kind == _INDIRECT:
            deciding.append((source, targets))
    # What decides on rows decides on every column; unknown columns are no edge.
    for source, targets in deciding:
        columns = list(targets.columns)
        from_ends.extend([source] * len(columns))
        to_ends.extend(map(targets.__getitem__, columns))
        kinds.extend([_INDIRECT] * len(columns))
    unlisted = [
        (node.node_id, column, node.columns[column])
        for node in numbers.values()
        for column in node.unlisted
    ]
    rows = _columns(from_ends, to_ends, kinds, ends, known)
    return EdgeRows(rows, unlisted)


class _Numbers(dict[str, int]):
    """The columns of a node -> their numbers among all ends of edges, in any spelling."""

    def __init__(self, node_id: str, columns: NodeColumns, ends: list[_End]) -> None:
        super().__init__(zip(columns, count(len(ends)), strict=False))
        self.node_id, self.columns, self._ends = node_id, columns, ends
        self.unlisted: list[str] = []
        ends += [(node_id, column) for column in columns]

    def __missing__(self, column: str) -> int:
        if self.columns.add(column):
            self.unlisted.append(column)
            number = len(self._ends)
            self._ends.append((self.node_id, column))
        else:
            number = self[str(self.columns.spelling(column))]
        self[column] = number
        return number


def _columns(
    sources: array[int], targets: array[int], kinds: array[int], ends: list[_End], known: set[int]
) -> dict[str, Any]:
    """The columns of the table, sorted by their ends; of an edge with several kinds the first."""
    order = sorted(range(len(ends)), key=ends.__getitem__)
    ranks = pc.array_sort_indices(pa.array(order, pa.int64()))  # number of an end -> its rank
    edges = pa.table(
        {
            "source": _numbers(sources, pa.int32()),
            "target": _numbers(targets, pa.int32()),
            "kind": _numbers(kinds, pa.int8()),
        }
    )
    if known:
        answered = pa.array(sorted(known), pa.int32())
        edges = edges.filter(pc.invert(pc.is_in(edges["target"], answered)))
    edges = edges.group_by(["source", "target"]).aggregate([("kind", "min")])
    edges = pa.table(
        {
            "source": ranks.take(edges["source"]),
            "target": ranks.take(edges["target"]),
            "kind": edges["kind_min"],
        }
    ).sort_by([("source", "ascending"), ("target", "ascending")])
    node_ids, columns = (pa.array([ends[n][at] for n in order], pa.string()) for at in (0, 1))
    return {
        "from_node_unique_id": node_ids.take(edges["source"]),
        "from_column_name": columns.take(edges["source"]),
        "to_node_unique_id": node_ids.take(edges["target"]),
        "to_column_name": columns.take(edges["target"]),
        "lineage_kind": pa.array(_KINDS, pa.string()).take(edges["kind"]),
    }


def _numbers(values: array[int], kind: pa.DataType) -> Any:
    """Numbers as Arrow has them, without a copy."""
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])
