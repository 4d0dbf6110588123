"""Metadata of datasets: of each field the newest, whatever the order, under today's name."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import permutations

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.building.metadata import metadata_by_dataset
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.names import NameRules
from dbt_graft.lineage.records import ColumnMetadata, DatasetMetadata, Records

DAY = datetime(2026, 11, 22, tzinfo=UTC)
RAW = DatasetId("spark", "raw.a")


def test_the_newest_of_each_field_counts() -> None:
    parts = [
        DatasetMetadata(RAW, DAY, "Old.", columns=(ColumnMetadata("id", "Key.", ("a",)),)),
        DatasetMetadata(
            DatasetId("spark", "RAW.A"),
            DAY + timedelta(1),
            owner="ann",
            tags=("b",),
            columns=(ColumnMetadata("ID", tags=("c",)), ColumnMetadata("x", "New.")),
        ),
        DatasetMetadata(RAW, DAY + timedelta(2), "New.", origin="log"),
    ]
    expected = DatasetMetadata(
        RAW,
        DAY + timedelta(2),
        "New.",
        "ann",
        ("b",),
        (ColumnMetadata("ID", "Key.", ("c",)), ColumnMetadata("x", "New.")),
    )
    for order in permutations(parts):
        assert metadata_by_dataset(order, NameRules()) == {RAW: expected}


def test_metadata_follow_the_rules_for_names() -> None:
    def rename(dataset: DatasetId) -> DatasetId:
        return DatasetId("prod", dataset.name)

    lineage = build(Records(dataset_metadata=(DatasetMetadata(RAW, DAY, "A."),)), rename)
    assert lineage.dataset_metadata[DatasetId("prod", "raw.a")].description == "A."
