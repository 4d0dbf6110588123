"""An access -> the dates whose rows it takes out."""

from __future__ import annotations

from datetime import UTC, datetime

from dbt_graft.analysis.dates.access_effects import removed_dates
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.calendar import ALL_DATES, NO_DATES, Dates
from dbt_graft.lineage.dates.period import DataPosition
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction
from tests.cases import for_each

SOME = (DataPosition("partitions", "4", "6"),)


@for_each(
    "operation, positions, expected",
    [
        (Operation.TRUNCATE, (), ALL_DATES),
        (Operation.TRUNCATE, SOME, NO_DATES),
        (Operation.TRUNCATE, (DataPosition("partitions", "", ""),), NO_DATES),
        (Operation.TRUNCATE, (DataPosition("delta version", "4", "4"),), ALL_DATES),
        (Operation.DROP, (), ALL_DATES),
        (Operation.DELETE, (), NO_DATES),
    ],
)
def test_without_dates_only_the_end_of_all_rows_has_known_ones(
    operation: Operation, positions: tuple[DataPosition, ...], expected: Dates
) -> None:
    at = datetime(2026, 11, 1, tzinfo=UTC)
    access = Access(
        "load",
        "run",
        DatasetId("db", "orders"),
        Kind.TABLE,
        Direction.WRITE,
        operation,
        "shape",
        last_at=at,
        positions=positions,
    )
    assert removed_dates(access) == expected
