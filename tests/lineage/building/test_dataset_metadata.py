"""Metadata of datasets: of each facet the newest, whatever the order, under today's name."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice, permutations

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.building.metadata import metadata_by_dataset
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.names import NameRules
from dbt_graft.lineage.records import ColumnMetadata, DatasetMetadata, Records

DAY = datetime(2026, 11, 22, tzinfo=UTC)
RAW = DatasetId("spark", "raw.a")


def test_the_newest_of_each_facet_counts() -> None:
    parts = [
        DatasetMetadata(RAW, DAY, "Old.", facet="documentation"),
        DatasetMetadata(RAW, DAY, columns=(ColumnMetadata("id", tags=("a",)),), facet="tags"),
        DatasetMetadata(RAW, DAY, columns=(ColumnMetadata("id", "Key."),)),
        DatasetMetadata(
            DatasetId("spark", "RAW.A"),
            DAY + timedelta(1),
            tags=("b",),
            columns=(ColumnMetadata("ID", tags=("c",)), ColumnMetadata("x", tags=("d",))),
        ),
        DatasetMetadata(RAW, DAY, owner="ann"),
        DatasetMetadata(RAW, DAY + timedelta(2), "New.", origin="log"),
    ]
    expected = DatasetMetadata(
        RAW,
        DAY + timedelta(2),
        "New.",
        "ann",
        ("b",),
        (ColumnMetadata("ID", "Key.", ("c",)), ColumnMetadata("x", tags=("d",))),
    )
    for order in islice(permutations(parts), 0, None, 7):
        assert metadata_by_dataset(order, NameRules()) == {RAW: expected}


def test_an_empty_facet_takes_the_place_of_the_one_before_it() -> None:
    parts = [
        DatasetMetadata(RAW, DAY, owner="ann", facet="ownership"),
        DatasetMetadata(RAW, DAY + timedelta(1), facet="ownership"),
    ]
    assert metadata_by_dataset(parts, NameRules()) == {}
    # Of two at one time the one that says something.
    assert metadata_by_dataset([parts[0], replace(parts[1], at=DAY)], NameRules())[RAW].owner


def test_metadata_follow_the_rules_for_names() -> None:
    def rename(dataset: DatasetId) -> DatasetId:
        return DatasetId("prod", dataset.name)

    lineage = build(Records(dataset_metadata=(DatasetMetadata(RAW, DAY, "A."),)), rename)
    assert lineage.dataset_metadata[DatasetId("prod", "raw.a")].description == "A."
