"""Dates of the explorer: days of boxes and links, counted from the first."""

from __future__ import annotations

from datetime import datetime, timedelta

from dbt_graft.catalog.explorer.boxes import box_records
from dbt_graft.catalog.explorer.dates import ExplorerDates
from dbt_graft.catalog.index import Index
from dbt_graft.lineage.building.as_of import as_of
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Dataset
from tests.cases import for_each
from tests.lineage.past_histories import START, TABLES, history

A, B, *_ = TABLES
DAY = timedelta(days=1)


def _dated(first: float, last: float, dropped: float | None = None) -> Lineage:
    at = None if dropped is None else START + dropped * DAY
    return Lineage(
        datasets={
            A: Dataset(A, first_seen=START, last_seen=START + 9 * DAY),
            B: Dataset(
                B,
                first_seen=START + first * DAY,
                last_seen=START + last * DAY,
                dropped_at=at,
            ),
        },
        flows=(Flow(A, B, "load", first_at=START + first * DAY, last_at=START + last * DAY),),
    )


@for_each("first, dropped, days", [
    (0, None, ()), (0.9, None, ()), (1, None, (1,)), (0, 0, (0, 1)), (0, 4, (0, 5)), (2, 4, (2, 5)),
])  # fmt: skip
def test_days_are_left_out_where_they_say_nothing(
    first: float, dropped: float | None, days: tuple[int, ...]
) -> None:
    lineage = _dated(first, first, dropped)
    dates = ExplorerDates(lineage)
    assert dates.data() == ["2026-09-01", "2026-09-10"]
    assert dates.of_dataset(B) == dates.of_flows(lineage.flows) == days


def test_a_lineage_of_one_day_or_without_times_has_no_dates() -> None:
    lineage = Lineage(datasets={A: Dataset(A, first_seen=START, last_seen=START, dropped_at=START)})
    for dates in (ExplorerDates(lineage), ExplorerDates(Lineage())):
        assert dates.data() is None
        assert dates.of_dataset(A) == ()


def _there(days: tuple[int, ...], day: int) -> bool:
    since, until = (*days, 0, 0)[:2]
    return since <= day and not (until and until <= day + 1)


def _end_of(day: int) -> datetime:
    return START + (day + 1) * DAY - timedelta(microseconds=1)


@for_each("seed", range(15))
def test_the_datasets_of_a_day_are_those_of_the_lineage_as_of_it(seed: int) -> None:
    records = history(seed).records()
    lineage = build(records)
    dates = ExplorerDates(lineage)
    if not dates.data():
        return
    assert dates.first
    begin = (dates.first - START.date()).days
    for day in range(12):
        end = _end_of(day + begin)
        then = build(as_of(records, end)).datasets
        for one, facts in lineage.datasets.items():
            dropped_at = then[one].dropped_at if one in then else None
            # A drop that was undone since is not remembered, nor that a table was a run's own.
            was_own = one not in then and facts.first_seen and facts.first_seen <= end
            if dropped_at in (None, facts.dropped_at) and not was_own:
                expected = one in then and not dropped_at
                assert _there(dates.of_dataset(one), day) == expected


def test_links_have_days_before_their_tasks() -> None:
    records = box_records(Index(DescribedLineage(_dated(2, 2))))
    [link] = next(record for record in records if record.id == "spark/shop/b").links
    assert link.data() == [0, "spark/shop/a", 0, 2, "@load"]
