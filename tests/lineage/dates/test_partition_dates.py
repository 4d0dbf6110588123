"""Partitions and paths -> the dates in them."""

from __future__ import annotations

from dbt_graft.lineage.dates.date_columns import DateColumns
from dbt_graft.lineage.dates.partition_dates import partition_periods, path_period
from dbt_graft.lineage.dates.period import PeriodEvidence
from tests.cases import for_each
from tests.lineage.shown_periods import shown

DATE_COLUMNS = DateColumns()


@for_each(
    "path, expected",
    [
        ("file:/t/ds=2026-10-04", "ds 2026-10-04 2026-10-05 day location"),
        ("file:/t/ds=2026-10-04/hr=1", "ds 2026-10-04T01 2026-10-04T02 hour location"),
        ("/t/hour=2026-10-04-05", "hour 2026-10-04T05 2026-10-04T06 hour location"),
        ("s3://b/t/year=2026/month=10/day=3", "day 2026-10-03 2026-10-04 day location"),
        ("/t/year=2026/month=02", "month 2026-02-01 2026-03-01 month location"),
        ("/t/year=2026", "year 2026-01-01 2027-01-01 year location"),
        ("/t/region=eu/dt=20261231", "dt 2026-12-31 2027-01-01 day location"),
        ("/t/month=2026-12", "month 2026-12-01 2027-01-01 month location"),
        ("/t/week=2026-W53", "week 2026-12-28 2027-01-04 week location"),
        ("/t/snapshot=2026-10-04", "snapshot 2026-10-04 2026-10-05 day location"),
        ("/t/event_hour=2026-10-01T02", "event_hour 2026-10-01T02 2026-10-01T03 hour location"),
        ("/t/event_hour=2026-10-01 02", "event_hour 2026-10-01T02 2026-10-01T03 hour location"),
        ("/t/event_hour=20261001T02", "event_hour 2026-10-01T02 2026-10-01T03 hour location"),
        ("/t/event_hour=2026100102", "event_hour 2026-10-01T02 2026-10-01T03 hour location"),
        (
            "/t/event_hour=2026-10-01 02%3A00%3A00",
            "event_hour 2026-10-01T02 2026-10-01T03 hour location",
        ),
        ("/t/event_hour=2026-10-01T02Z", "event_hour 2026-10-01T02 2026-10-01T03 hour location"),
        # Two hours have one name when clocks go back, and an offset tells them apart.
        ("/t/hour=2026-10-25T02+02:00", "hour 2026-10-25T00 2026-10-25T01 hour location"),
        ("/t/hour=2026-10-25T02+0100", "hour 2026-10-25T01 2026-10-25T02 hour location"),
        ("/t/ts=2026-10-01T02:00:00", "ts 2026-10-01T02 2026-10-01T03 hour location"),
        ("/t/dt=2026-10-01T00", "dt 2026-10-01T00 2026-10-01T01 hour location"),
        (
            "/t/ds=2026-10-01/event_hour=2026-10-01T05",
            "event_hour 2026-10-01T05 2026-10-01T06 hour location",
        ),
        ("/t/year=2026/week=41", "week 2026-10-05 2026-10-12 week location"),
        ("/t/year=2026/week=1", "week 2025-12-29 2026-01-05 week location"),
        ("/t/year=2026/month=10/week=41", "week 2026-10-05 2026-10-12 week location"),
        ("/t/year=2026/quarter=4", "quarter 2026-10-01 2027-01-01 quarter location"),
        ("/t/year=2026/quarter=4/month=11", "month 2026-11-01 2026-12-01 month location"),
        ("/t/yearweek=202641", "yearweek 2026-10-05 2026-10-12 week location"),
        ("/out/j/2026/11/02", "2026-11-02 2026-11-03 day path"),
        ("/out/j/2026/11", "2026-11-01 2026-12-01 month path"),
        ("/out/daily_20261005", "2026-10-05 2026-10-06 day path"),
        ("/landing/orders/orders_2026-10.csv", "2026-10-01 2026-11-01 month path"),
        ("/landing/orders/20261101T0500/x.csv", "2026-11-01 2026-11-02 day path"),
        # No dates of data.
        ("/t/ds=2026-02-30", None),
        ("/t/event_hour=2026-10-01T24", None),
        ("/t/year=2026/week=54", None),
        ("/t/birth_date=1990-05-17", None),
        ("/t/id=20261001", None),
        ("/t/ds=__HIVE_DEFAULT_PARTITION__", None),
        ("/scale/2000", None),
        ("/backup_20260101/wh/orders", None),
        ("/t/part-00000-20261101.parquet", None),
        ("/t", None),
    ],
)
def test_dates_in_paths(path: str, expected: str | None) -> None:
    period = path_period(path, DATE_COLUMNS, PeriodEvidence.LOCATION)
    assert shown([period] if period else []) == ([expected] if expected else [])


@for_each(
    "partition, evidence, expected",
    [
        ("ds=2026-10-04/country=DE", PeriodEvidence.PARTITION, True),
        ("ds=2026-10-04/country=DE", PeriodEvidence.PATH, True),
        ("ds=2026-10-04/hr=1", PeriodEvidence.PARTITION, False),
        ("year=2026/month=10/day=4", PeriodEvidence.PARTITION, False),
        ("ds=2026-10-04/snapshot=2026-10-04", PeriodEvidence.PARTITION, False),
        # All countries of a day are locations of a scan, each by itself.
        ("ds=2026-10-04/country=DE", PeriodEvidence.LOCATION, False),
    ],
)
def test_a_partition_by_other_columns_is_a_part_of_its_dates(
    partition: str, evidence: PeriodEvidence, expected: bool
) -> None:
    period = path_period(f"/t/{partition}", DATE_COLUMNS, evidence)
    assert period
    assert period.in_part is expected


def test_one_partition_without_dates_leaves_all_open() -> None:
    partitions = [[("ds", "2026-10-04")], [("ds", "unknown")]]
    assert partition_periods(partitions, DATE_COLUMNS, PeriodEvidence.PARTITION) == ()


def test_columns_are_included_and_excluded_by_configuration() -> None:
    [period] = partition_periods(
        [[("batch", "20261004")]], DateColumns(("batch",)), PeriodEvidence.PARTITION
    )
    assert shown([period]) == ["batch 2026-10-04 2026-10-05 day partition"]
    excluded = DateColumns((), ("ds",))
    assert partition_periods([[("ds", "20261004")]], excluded, PeriodEvidence.PARTITION) == ()


def test_the_partition_column_of_a_contract_has_dates() -> None:
    path, columns = "/t/cob=20261104/part-0", DateColumns(contracted=("COB",))
    assert path_period(path, DATE_COLUMNS, PeriodEvidence.LOCATION) is None
    period = path_period(path, columns, PeriodEvidence.LOCATION)
    assert shown([period] if period else []) == ["cob 2026-11-04 2026-11-05 day location"]
