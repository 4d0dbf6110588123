"""Periods and positions as facets, which our own reader reads again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dbt_graft.collectors.openlineage.event import NamedDataset
from dbt_graft.collectors.openlineage.periods import event_periods, event_positions
from dbt_graft.exporters.openlineage.run_facets import subset, version_facets
from dbt_graft.exporters.openlineage.run_work import AccessCounts
from dbt_graft.lineage.dates.period import DataPosition, Grain, Period, PeriodEvidence
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Direction
from tests.exporters.openlineage import shop
from tests.exporters.openlineage.conformance import validator
from tests.lineage.shown_periods import shown


def day(number: int) -> datetime:
    return datetime(2026, 11, number, tzinfo=UTC)


def period(start: int | None, end: int | None, column: str = "ds") -> Period:
    sides = (None if at is None else day(at) for at in (start, end))
    return Period(*sides, Grain.DAY, PeriodEvidence.PARTITION, column)


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize(
    ("periods", "expected"),
    [
        ((period(1, 3),), ["ds 2026-11-01 2026-11-03 day predicate"]),
        (
            (period(1, 2), period(4, None)),
            ["ds 2026-11-01 2026-11-02 day predicate", "ds 2026-11-04 - day predicate"],
        ),
    ],
    ids=["one", "two"],
)
def test_periods_are_read_again(
    periods: tuple[Period, ...], expected: list[str], direction: Direction
) -> None:
    facet = subset(periods, direction)
    assert facet is not None
    assert list(validator(facet["_schemaURL"]).iter_errors(facet)) == []
    dataset = NamedDataset("spark", "raw.orders", {}, {"subset": facet})
    found = event_periods(dataset, is_output=direction is Direction.WRITE)
    assert shown(found) == expected


def test_dates_without_a_column_are_no_condition() -> None:
    assert subset((period(1, 2, column=""),), Direction.READ) is None
    assert subset((), Direction.READ) is None


def test_versions_are_read_again() -> None:
    facets = version_facets((DataPosition("delta version", "3", "7"),))
    for facet in facets.values():
        assert list(validator(facet["_schemaURL"]).iter_errors(facet)) == []
    assert event_positions(NamedDataset("spark", "t", facets, {})) == (
        DataPosition("delta version", "7", "7"),
    )
    assert version_facets((DataPosition("files", "3", "7"),)) == {}


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (Operation.CREATE_TABLE, ["ds 2026-11-01 2026-11-03 day partition"]),
        (Operation.INSERT, []),  # of dates that are not known
    ],
)
def test_an_empty_table_that_is_made_before_its_rows_is_of_no_date(
    before: Operation, expected: list[str]
) -> None:
    counts = AccessCounts()
    counts.add(shop.access("run", shop.ORDERS, before, "shape"))
    counts.add(shop.access("run", shop.ORDERS, Operation.INSERT, "shape", periods=(period(1, 3),)))
    assert shown(counts.periods or ()) == expected
