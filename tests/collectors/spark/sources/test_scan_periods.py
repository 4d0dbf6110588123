"""Operators of plans, as Spark writes them -> the dates that they read."""

from __future__ import annotations

import pytest

from dbt_graft.collectors.spark.plans.date_filters import is_only_about
from dbt_graft.collectors.spark.plans.tree import PlanNode
from dbt_graft.collectors.spark.sources.periods import (
    mapped_partitions,
    scan_periods,
    scan_positions,
    static_partition,
)
from dbt_graft.lineage.dates.date_columns import DateColumns
from dbt_graft.lineage.dates.period import DataPosition
from tests.cases import for_each
from tests.lineage.shown_periods import shown

WINDOW = "[isnotnull(ds#32), (cast(ds#32 as date) > 2026-10-03), (ds#32 <= 2026-10-10)]"
TYPES = {"placed": "timestamp", "day": "date", "birth_date": "date", "note": "string"}


def read(location: str = "", text: str = "", **metadata: str) -> list[str]:
    node = PlanNode("Scan parquet", text, metadata)
    return shown(scan_periods(node, location, TYPES, DateColumns()))


@for_each(
    "location, filters, expected",
    [
        pytest.param(
            "InMemoryFileIndex(2 paths)[file:/o/ds=2026-10-05/hr=1, file:/o/ds=2026-10-04/hr=1]",
            "[isnotnull(ds#3), (ds#3 > 2026-10-03), (hr#33 = 1)]",
            [
                "ds 2026-10-04T01 2026-10-04T02 hour location",
                "ds 2026-10-05T01 2026-10-05T02 hour location",
            ],
            id="pruned",
        ),
        pytest.param(
            "InMemoryFileIndex(7 paths)[file:/o/ds=2026-10-04/hr=1, file:/o/ds=2026-10-05, ...",
            WINDOW,
            ["ds 2026-10-04 2026-10-11 day predicate"],
            id="truncated",
        ),
        pytest.param(
            "InMemoryFileIndex(1 paths)[file:/o]",
            "[((ds#3 = 2026-10-03) OR (ds#3 = 2026-10-05))]",
            [
                "ds 2026-10-03 2026-10-04 day predicate",
                "ds 2026-10-05 2026-10-06 day predicate",
            ],
            id="either",
        ),
        pytest.param(
            "InMemoryFileIndex(1 paths)[file:/o]",
            "[ds#3 IN (2026-10-03,2026-10-04)]",
            ["ds 2026-10-03 2026-10-05 day predicate"],
            id="in",
        ),
        pytest.param(
            "InMemoryFileIndex(10 paths)[file:/o/ds=2026-10-04, file:/o/ds=2026-10-05]",
            "[isnotnull(ds#32), dynamicpruningexpression(ds#32 IN dynamicpruning#44)]",
            [],
            id="pruned by a join",
        ),
        pytest.param("InMemoryFileIndex(1 paths)[file:/o]", "", [], id="no filter"),
        pytest.param("", "[(birth_date#3 = 1990-05-17)]", [], id="about people"),
        pytest.param("", "[NOT (ds#3 = 2026-10-03)]", [], id="not"),
    ],
)
def test_partitions_that_are_read(location: str, filters: str, expected: list[str]) -> None:
    assert read(location, PartitionFilters=filters) == expected


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (
            "[(placed#3 > 2026-10-01 00:00:00)]",
            ["placed 2026-10-01 2026-10-02 day predicate ~", "placed 2026-10-02 - day predicate"],
        ),
        ("[(placed#3 >= 2026-10-01 00:00:00)]", ["placed 2026-10-01 - day predicate"]),
        (
            "[(placed#3 < 2026-10-02 12:30:00)]",
            ["placed - 2026-10-02 day predicate", "placed 2026-10-02 2026-10-03 day predicate ~"],
        ),
        (
            "[(unknown_ts#3 <= 2026-10-02 00:00:00)]",
            [],
        ),
        (
            "[(event_date#3 <= 2026-10-02 00:00:00)]",
            [
                "event_date - 2026-10-02 day predicate",
                "event_date 2026-10-02 2026-10-03 day predicate ~",
            ],
        ),
        (
            "[(day#3 > 2026-10-01), (day#3 < 2026-10-04)]",
            ["day 2026-10-02 2026-10-04 day predicate"],
        ),
        ("[(birth_date#3 = 1990-05-17)]", []),
        ("[(note#3 = 2026-10-01)]", []),
    ],
)
def test_filters_on_date_columns(filters: str, expected: list[str]) -> None:
    assert read(DataFilters=filters) == expected


@pytest.mark.parametrize(
    "text",
    [
        "HiveTableScan [a#1], HiveTableRelation [`db`.`t`, org.apache.Lazy, Data Cols: [a#1],"
        " Partition Cols: [dt#3]], [isnotnull(dt#3), (dt#3 = 2026-01-01)]",
        "BatchScan cat.db.t[a#1] cat.db.t (branch=null) [filters=dt IS NOT NULL,"
        " dt = '2026-01-01', groupedBy=]",
        "Scan JDBCRelation(dbo.t) [a#1] PushedFilters: [*IsNotNull(dt), *EqualTo(dt,2026-01-01)],"
        " ReadSchema: struct<a:int>",
    ],
    ids=["hive", "iceberg", "jdbc"],
)
def test_other_sources(text: str) -> None:
    assert read(text=text) == ["dt 2026-01-01 2026-01-02 day predicate"]


@for_each(
    "filters, expected",
    [
        ("[(ds#3 = 2026-10-04)]", True),
        ("[isnotnull(ds#3), (ds#3 >= 2026-10-04), (ds#3 < 2026-10-06)]", True),
        ("[((ds#3 = 2026-10-04) OR (ds#3 = 2026-10-05))]", True),
        ("[ds#3 IN (2026-10-04,2026-10-05)]", True),
        ("[ds IS NOT NULL, ds = '2026-10-04']", True),
        ("[(ds#3 = 2026-10-04), (country#4 = DE)]", False),
        ("[((ds#3 = 2026-10-04) AND (country#4 = DE))]", False),
        ("[(ds#3 = 2026-10-04), (hour(ts#5) > 5)]", False),
        ("[(ds#3 = 2026-10-04), NOT (ds#3 = 2026-10-05)]", False),
    ],
)
def test_conditions_that_leave_out_rows_by_dates_alone(filters: str, expected: bool) -> None:
    assert is_only_about(filters, "ds") is expected


def test_a_scan_of_delta_has_a_version() -> None:
    text = "Scan parquet [a#1] Delta[version=12, file:/lake/orders]"
    assert scan_positions(PlanNode("Scan", text)) == (DataPosition("delta version", "12", "12"),)


def test_static_partitions_of_writes() -> None:
    assert static_partition("[ds=2026-10-10]") == (("ds", "2026-10-10"),)
    assert static_partition("[dt=Some(2026-10-10), hr=None]") == (("dt", "2026-10-10"),)
    assert static_partition("[ds#38]") == ()
    assert mapped_partitions("`c`.`d`.`t`, [Map(ds -> 2026-10-31), Map(ds -> 2026-11-01)]") == (
        (("ds", "2026-10-31"),),
        (("ds", "2026-11-01"),),
    )


@pytest.mark.parametrize(
    ("described", "expected"),
    [
        ("lake.raw.t [fromSnapshotId=5, toSnapshotId=91, filters=]", ("5", "91")),
        ("lake.raw.t [fromSnapshotId=null, toSnapshotId=3, filters=id = 1]", ("", "3")),
        (
            "IcebergChangelogScan(table=lake.raw.t, fromSnapshotId=5, toSnapshotId=91, filters=)",
            ("5", "91"),
        ),
        ("lake.raw.t [fromSnapshotId=null, toSnapshotId=null, filters=]", None),
        ("lake.raw.t (branch=null) [filters=, groupedBy=]", None),
    ],
)
def test_a_scan_of_icebergs_changelog_has_its_snapshots(
    described: str, expected: tuple[str, str] | None
) -> None:
    text = f"BatchScan lake.raw.t.changes[a#1] {described}"
    positions = scan_positions(PlanNode("BatchScan lake.raw.t.changes", text))
    assert positions == ((DataPosition("iceberg snapshot", *expected),) if expected else ())
