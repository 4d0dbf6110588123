"""Boxes of the explorer: what a record says of a dataset or task, and of its neighbours."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from dbt_graft.catalog.explorer.boxes import BoxFlag, BoxRecord, LinkFlag, Side, box_records
from dbt_graft.catalog.index import Index
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import EvidenceSource, Flow
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.names import DatasetNames, NameReason
from dbt_graft.lineage.records import ColumnEdge, Dataset, Direction, Evidence, Subtype
from dbt_graft.lineage.usage import Usage

A, B, C = (DatasetId("spark", f"shop.{name}") for name in "abc")
READ, WRITE = Direction.READ, Direction.WRITE


def _edge(source: DatasetId, target: DatasetId, task: str, kind: Subtype) -> ColumnEdge:
    return ColumnEdge(task, target, "x", source, "y", kind.type, kind, False, "s")


def _lineage() -> Lineage:
    """`load` brings a to b, deciding by c; dbt makes c from b."""
    usages = (
        Usage("load", A, READ, evidence=Evidence.DECLARED),
        Usage("load", C, READ),
        Usage("load", B, WRITE),
    )
    return Lineage(
        datasets={one: Dataset(one) for one in (A, B, C)},
        tasks={"load": Task("load", ("spark",), usages)},
        flows=(
            Flow(A, B, "load"),
            Flow(C, B, "load"),
            Flow(B, C, "model.c", evidence=Evidence.INFERRED, definition=DefinitionKind.DBT),
        ),
        column_edges=(
            _edge(A, B, "load", Subtype.IDENTITY),
            _edge(A, B, "load", Subtype.FILTER),
            _edge(C, B, "load", Subtype.FILTER),
        ),
    )


def _records(lineage: Lineage, *consumers: Consumer) -> dict[str, BoxRecord]:
    return {
        record.id: record for record in box_records(Index(DescribedLineage(lineage, {}, consumers)))
    }


def _flags(record: BoxRecord, side: Side, to: str) -> int:
    [flags] = [link.flags for link in record.links if (link.side, link.to) == (side, to)]
    return flags


def test_records_come_in_the_order_of_their_ids() -> None:
    ids = list(_records(_lineage()))
    assert ids == sorted(ids) == ["@load", "spark/shop/a", "spark/shop/b", "spark/shop/c"]


def test_a_dataset_names_its_neighbours_and_the_tasks_in_between() -> None:
    record = _records(_lineage())["spark/shop/b"]
    named = [(link.side, link.to, link.tasks) for link in record.links]
    assert named == [
        (Side.UP, "spark/shop/a", ("@load",)),
        (Side.UP, "spark/shop/c", ("@load",)),
        (Side.DOWN, "spark/shop/c", ()),
        (Side.UP, "@load", ()),
    ]


@pytest.mark.parametrize(("of", "side", "to"), [
    ("spark/shop/b", Side.UP, "spark/shop/c"),
    ("spark/shop/c", Side.DOWN, "spark/shop/b"),
    ("spark/shop/c", Side.DOWN, "@load"),
    ("@load", Side.UP, "spark/shop/c"),
])  # fmt: skip
def test_what_only_decides_on_rows_is_control_flow_at_both_ends(
    of: str, side: Side, to: str
) -> None:
    assert _flags(_records(_lineage())[of], side, to) & LinkFlag.CONTROL


@pytest.mark.parametrize(("of", "side", "to"), [
    ("spark/shop/b", Side.UP, "spark/shop/a"),
    ("@load", Side.UP, "spark/shop/a"),
    ("@load", Side.DOWN, "spark/shop/b"),
    ("spark/shop/c", Side.UP, "spark/shop/b"),
])  # fmt: skip
def test_what_brings_values_or_has_no_known_columns_is_data_flow(
    of: str, side: Side, to: str
) -> None:
    assert not _flags(_records(_lineage())[of], side, to) & LinkFlag.CONTROL


def test_what_several_sources_show_is_marked_beside_its_strongest_evidence() -> None:
    both = (
        EvidenceSource(Evidence.OBSERVED, "Spark log"),
        EvidenceSource(Evidence.DECLARED, "Airflow"),
    )
    plain = _lineage()
    first, *others = plain.flows
    of_b, *rest = plain.tasks["load"].usages
    lineage = replace(
        plain,
        flows=(replace(first, evidences=both), *others),
        tasks={"load": replace(plain.tasks["load"], usages=(replace(of_b, evidences=both), *rest))},
    )
    records = _records(lineage)
    for record, side, to in (
        (records["spark/shop/b"], Side.UP, "spark/shop/a"),
        (records["@load"], Side.UP, "spark/shop/a"),
    ):
        assert _flags(record, side, to) & LinkFlag.CONFIRMED
    assert not _flags(records["spark/shop/b"], Side.UP, "spark/shop/c") & LinkFlag.CONFIRMED


def test_evidence_is_in_the_lowest_bits() -> None:
    records = _records(_lineage())
    assert _flags(records["spark/shop/c"], Side.UP, "spark/shop/b") & 3 == 2
    assert _flags(records["@load"], Side.UP, "spark/shop/a") & 3 == 1
    assert _flags(records["@load"], Side.UP, "spark/shop/c") & 3 == 0


def test_a_dropped_dataset_is_marked_and_so_is_what_leads_to_it() -> None:
    lineage = _lineage()
    gone = Dataset(A, dropped_at=datetime(2026, 1, 2, tzinfo=UTC))
    records = _records(replace(lineage, datasets={**lineage.datasets, A: gone}))
    assert records["spark/shop/a"].head[-1] == BoxFlag.DELETED
    assert _flags(records["spark/shop/b"], Side.UP, "spark/shop/a") & LinkFlag.GONE
    assert _flags(records["@load"], Side.UP, "spark/shop/a") & LinkFlag.GONE
    assert not _flags(records["@load"], Side.DOWN, "spark/shop/b") & LinkFlag.GONE


def test_a_temporary_table_is_marked() -> None:
    lineage = _lineage()
    temporary = {**lineage.datasets, A: Dataset(A, Kind.TEMPORARY)}
    assert _records(replace(lineage, datasets=temporary))["spark/shop/a"].head[-1] == 2


def test_a_consumer_is_a_neighbour_of_what_it_reads() -> None:
    records = _records(_lineage(), Consumer("exposure.x.board", "board", "dashboard", (B,)))
    assert _flags(records["spark/shop/b"], Side.DOWN, "@board") == 1
    assert _flags(records["@board"], Side.UP, "spark/shop/b") == 1
    assert "consumer" in records["@board"].head


def test_views_that_only_pass_a_table_on_are_named_and_other_names_are_not() -> None:
    views = {DatasetId("spark", f"v.{n:02}"): NameReason.VIEW for n in range(30)}
    shard = DatasetId("spark", "shop.a_20260101")
    lineage = replace(
        _lineage(),
        names=DatasetNames(
            aliases={A: (*views, shard)},
            reasons={**views, shard: NameReason.DATE_SHARD},
        ),
    )
    records = _records(lineage)
    assert records["spark/shop/a"].head[-1] == [f"v.{n:02}" for n in range(20)]
    assert records["spark/shop/b"].head == _records(_lineage())["spark/shop/b"].head
