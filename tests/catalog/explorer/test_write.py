"""Columns of the explorer's boxes."""

from __future__ import annotations

from dbt_graft.catalog.explorer.shards import Record
from dbt_graft.catalog.explorer.write import column_records
from dbt_graft.catalog.index import Index
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import Column, ColumnEdge, Dataset, Evidence, Subtype

A, B = (DatasetId("spark", f"shop.{name}") for name in "ab")


def _record(*edges: tuple[str, str, Subtype, Evidence]) -> Record:
    """The record of b, whose columns come from a in a task."""
    lineage = Lineage(
        datasets={
            A: Dataset(A, columns=(Column("id"), Column("Net amount"))),
            B: Dataset(B, columns=(Column("id"), Column("Amount"), Column("Net amount"))),
        },
        tasks={"load": Task("load")},
        column_edges=tuple(
            ColumnEdge("load", B, to, A, source, kind.type, kind, False, "s", evidence=evidence)
            for to, source, kind, evidence in edges
        ),
    )
    [found] = [one for one in column_records(Index(lineage)) if one.id == "spark/shop/b"]
    return found


def test_a_column_with_a_plain_name_is_that_name_and_others_have_the_slug_of_their_anchor() -> None:
    names = _record().items
    assert names[:2] == ["id", "Amount"]
    assert isinstance(names[2], list)
    assert names[2][0] == "Net amount"
    assert names[2][1].startswith("net-amount-")


def test_edges_name_their_source_column_unless_it_is_the_same() -> None:
    observed, inferred = Evidence.OBSERVED, Evidence.INFERRED
    record = _record(
        ("id", "ID", Subtype.IDENTITY, observed),
        ("amount", "id", Subtype.AGGREGATION, inferred),
    )
    assert record.items[3:] == [[0, "spark/shop/a", "@load", 0, 0, 0, 1, "id", 2 + 16]]


def test_an_edge_to_all_rows_has_no_column_and_one_between_all_columns_is_left_out() -> None:
    observed = Evidence.OBSERVED
    record = _record(("*", "id", Subtype.FILTER, observed), ("*", "*", Subtype.IDENTITY, observed))
    assert record.items[3:] == [[0, "spark/shop/a", "@load", -1, "id", 4]]


def test_many_edges_are_several_items_so_that_a_record_can_be_divided() -> None:
    kinds = [(f"c{n}", "id", Subtype.IDENTITY, Evidence.OBSERVED) for n in range(250)]
    edges = [item for item in _record(*kinds).items if isinstance(item, list) and item[0] == 0]
    assert [len(item[3:]) // 3 for item in edges] == [100, 100, 50]
