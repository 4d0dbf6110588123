"""Units of partitions that are named after their beginning."""

from __future__ import annotations

from datetime import UTC, datetime

from dbt_graft.lineage.building.spaced_periods import with_spaced_periods
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.date_columns import NO_RULES
from dbt_graft.lineage.dates.partition_dates import partition_periods
from dbt_graft.lineage.dates.period import PeriodEvidence
from dbt_graft.lineage.dates.period_union import union
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction
from tests.cases import for_each
from tests.lineage.shown_periods import shown

AT = datetime(2026, 11, 1, tzinfo=UTC)


def access(*partitions: str) -> Access:
    """A write of partitions: `month=2026-10-01`."""
    listed = [[tuple(pair.split("=")) for pair in partition.split("/")] for partition in partitions]
    periods = partition_periods(listed, NO_RULES, PeriodEvidence.PARTITION)  # type: ignore[arg-type]
    return Access(
        *("load", "r", DatasetId("db", "t"), Kind.TABLE, Direction.WRITE, Operation.INSERT, "s"),
        last_at=AT,
        periods=union(periods),
    )


def units(*partitions: str) -> list[str]:
    """The units of partitions, each written by a run of its own."""
    accesses = with_spaced_periods(map(access, partitions))
    return [line.rsplit(" ", 1)[0] for one in accesses for line in shown(one.periods)]


OCTOBER = "2026-10-01 2026-11-01 month"


@for_each(
    "partitions, expected",
    [
        (("month=2026-10-01",), [f"month {OCTOBER}"]),
        (("order_month=2026-10-01 00:00:00",), [f"order_month {OCTOBER}"]),
        (("week=2026-10-05",), ["week 2026-10-05 2026-10-12 week"]),
        (("quarter=2026-10-01",), ["quarter 2026-10-01 2027-01-01 quarter"]),
        (("year=2026-01-01",), ["year 2026-01-01 2027-01-01 year"]),
        # Days that are no beginnings are days, whatever the name says.
        (("period=2026-10-02",), ["period 2026-10-02 2026-10-03 day"]),
        (
            ("period=2026-10-01", "period=2026-10-02"),
            ["period 2026-10-01 2026-10-02 day", "period 2026-10-02 2026-10-03 day"],
        ),
        # Without a name that says it, it takes three.
        (
            ("ds=2026-08-01", "ds=2026-09-01"),
            ["ds 2026-08-01 2026-08-02 day", "ds 2026-09-01 2026-09-02 day"],
        ),
        (
            ("ds=2026-08-01", "ds=2026-09-01", "ds=2026-10-01"),
            [
                "ds 2026-08-01 2026-09-01 month",
                "ds 2026-09-01 2026-10-01 month",
                f"ds {OCTOBER}",
            ],
        ),
        (
            ("ds=2026-10-05", "ds=2026-10-12", "ds=2026-10-19"),
            [
                "ds 2026-10-05 2026-10-12 week",
                "ds 2026-10-12 2026-10-19 week",
                "ds 2026-10-19 2026-10-26 week",
            ],
        ),
        # Midnights are days, where no other hour is there.
        (("ds=2026-10-03 00:00:00",), ["ds 2026-10-03 2026-10-04 day"]),
        (("ts=2026-10-03 00:00:00",), ["ts 2026-10-03T00 2026-10-03T01 hour"]),
        (("event_hour=2026-10-03T00",), ["event_hour 2026-10-03T00 2026-10-03T01 hour"]),
        (
            ("dt=2026-10-03T00", "dt=2026-10-03T01"),
            ["dt 2026-10-03T00 2026-10-03T01 hour", "dt 2026-10-03T01 2026-10-03T02 hour"],
        ),
    ],
)
def test_the_values_of_a_column_decide_on_its_unit(
    partitions: tuple[str, ...], expected: list[str]
) -> None:
    assert units(*partitions) == expected


def test_days_that_follow_upon_each_other_are_days() -> None:
    days = access("month=2026-10-01", "month=2026-10-02")
    assert with_spaced_periods([days]) == [days]
