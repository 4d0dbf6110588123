"""Periods and positions of several accesses as those of one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from dbt_graft.lineage.dates.period import DataPosition, Grain, Period, PeriodEvidence
from dbt_graft.lineage.dates.period_union import (
    OFFSETS,
    PARTITIONS,
    SNAPSHOTS,
    join_positions,
    known_positions,
    known_union,
    union,
)
from tests.cases import for_each
from tests.lineage.shown_periods import shown

BEGIN = datetime(2026, 11, 1, tzinfo=UTC)


def days(first: int | None, last: int | None, **more: object) -> Period:
    start, end = (None if n is None else BEGIN + timedelta(days=n) for n in (first, last))
    settings = {"grain": Grain.DAY, "evidence": PeriodEvidence.PREDICATE, "column": "ds", **more}
    return Period(start, end, **settings)  # type: ignore[arg-type]


@for_each(
    "periods, expected",
    [
        pytest.param([days(0, 1), days(1, 2)], [days(0, 2)], id="neighbours"),
        pytest.param([days(3, 4), days(0, 1)], [days(0, 1), days(3, 4)], id="apart"),
        pytest.param([days(0, 5), days(1, 2)], [days(0, 5)], id="inside"),
        pytest.param([days(2, None), days(0, 4)], [days(0, None)], id="open"),
        pytest.param([days(None, 2), days(1, None)], [], id="all dates"),
        pytest.param([days(None, None)], [], id="no condition"),
        pytest.param(
            [days(0, 1, in_part=True), days(0, 1, in_part=True), days(1, 2)],
            [days(0, 1, in_part=True), days(1, 2)],
            id="parts beside others",
        ),
        pytest.param(
            [days(0, 2), days(1, 3, evidence=PeriodEvidence.PATH)],
            [days(0, 3, evidence=PeriodEvidence.PATH)],
            id="weaker evidence",
        ),
    ],
)
def test_dates_of_all(periods: list[Period], expected: list[Period]) -> None:
    assert list(union(periods)) == expected
    assert list(union(reversed(periods))) == expected


def test_an_access_without_dates_leaves_all_open() -> None:
    assert known_union((days(0, 1),), ()) == ()
    assert known_union((days(0, 1),), (days(1, 2),)) == (days(0, 2),)


def test_too_many_gaps_are_one_period() -> None:
    periods = union(days(2 * n, 2 * n + 1) for n in range(500))
    assert shown(periods) == ["ds 2026-11-01 2029-07-27 day predicate ~"]


def test_positions_run_from_the_first_start_to_the_last_end() -> None:
    batches = [
        (DataPosition(OFFSETS, '{"orders":{"0":5,"1":7}}', '{"orders":{"0":9,"1":7}}'),),
        (DataPosition(OFFSETS, '{"orders":{"0":9,"1":7}}', '{"orders":{"0":12,"1":70}}'),),
    ]
    expected = (DataPosition(OFFSETS, '{"orders":{"0":5,"1":7}}', '{"orders":{"0":12,"1":70}}'),)
    assert join_positions(*batches) == expected
    assert join_positions(*reversed(batches)) == expected
    first, last = DataPosition("files", "", "3"), DataPosition("files", "3", "12")
    assert join_positions((first,), (last,)) == (DataPosition("files", "", "12"),)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (["2-2"], ["4-6"], ["2-2", "4-6"]),
        (["2-2", "9-9"], ["3-5"], ["2-5", "9-9"]),
        (["2-8"], ["10-10", "4-5"], ["2-8", "10-10"]),
        (["2-2"], ["-"], ["-"]),
        (["2-2"], [], []),
    ],
    ids=["gap", "neighbours", "inside", "not known", "the table"],
)
def test_partitions_keep_their_gaps(a: list[str], b: list[str], expected: list[str]) -> None:
    one, two, both = (
        tuple(DataPosition(PARTITIONS, *text.split("-")) for text in each)
        for each in (a, b, expected)
    )
    assert known_positions(one, two) == both
    assert known_positions(two, one) == both


def test_snapshots_run_from_that_of_the_first_access_to_that_of_the_last() -> None:
    batches = [(DataPosition(SNAPSHOTS, *ends),) for ends in (("9001", "412"), ("412", "777"))]
    assert join_positions(*batches) == (DataPosition(SNAPSHOTS, "9001", "777"),)
