"""dbt's own column lineage beside ours: a signed-in dbt 2 writes it into its index."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from dbt_graft.injector.index.tables import DbtIndex
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import ANY_COLUMN, ColumnEdge, EdgeType

# A node and a column, in lower case.
_Column = tuple[str, str]


@frozen
class IndexAgreement:
    """The columns of dbt's models whose values both know the origin of.

    Attributes:
        same: How many of them have it from the same columns.
        differences: The others: `model.shop.mart.total: a.x by dbt, a.y by us`.
    """

    same: int
    differences: tuple[str, ...]


def index_agreement(
    index: DbtIndex, edges: Mapping[str, Iterable[ColumnEdge]], nodes: Mapping[DatasetId, str]
) -> IndexAgreement:
    """Compare the columns that values come from; what decides on rows is not compared.

    Args:
        edges: Model -> the column edges that we find in its SQL.
        nodes: Dataset -> its node in the manifest.
    """
    theirs, ours = _of_dbt(index), dict(_of_us(edges, nodes))
    differences = tuple(
        f"{node_id}.{column}: {_text(theirs[node_id, column])} by dbt, "
        f"{_text(ours[node_id, column])} by us"
        for node_id, column in sorted(theirs.keys() & ours.keys())
        if theirs[node_id, column] != ours[node_id, column]
    )
    return IndexAgreement(len(theirs.keys() & ours.keys()) - len(differences), differences)


def _of_dbt(index: DbtIndex) -> dict[_Column, set[_Column]]:
    sources: dict[_Column, set[_Column]] = defaultdict(set)
    for row in index.rows("dbt.column_lineage"):
        if row["lineage_kind"] != "scan":
            target = row["to_node_unique_id"], str(row["to_column_name"]).casefold()
            source = row["from_node_unique_id"], str(row["from_column_name"]).casefold()
            sources[target].add(source)
    return sources


def _of_us(
    edges: Mapping[str, Iterable[ColumnEdge]], nodes: Mapping[DatasetId, str]
) -> Iterator[tuple[_Column, set[_Column]]]:
    for node_id, all_edges in edges.items():
        direct = [edge for edge in all_edges if edge.type is EdgeType.DIRECT]
        # Where not all columns are known, nothing can be said of one.
        if any(ANY_COLUMN in (edge.from_column, edge.to_column) for edge in direct):
            continue
        sources: dict[str, set[_Column]] = defaultdict(set)
        for edge in direct:
            source = nodes.get(edge.from_dataset, str(edge.from_dataset))
            sources[edge.to_column.casefold()].add((source, edge.from_column.casefold()))
        yield from (((node_id, column), origins) for column, origins in sources.items())


def _text(columns: Iterable[_Column]) -> str:
    return ", ".join(f"{node_id}.{column}" for node_id, column in sorted(columns))
