"""Forecasts in words."""

from __future__ import annotations

from datetime import UTC, datetime

from dbt_graft.analysis.quality.deadlines import DeadlineForecast, DeadlineStatus
from dbt_graft.analysis.quality.words import forecast_text
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from tests.cases import for_each

RAW = DatasetId("spark", "raw.orders")


@for_each(
    "writers, cause",
    [
        ((), "spark/raw.orders is not written"),
        # It may have run, and failed or only deleted.
        (("load",), "load has not written raw.orders"),
        (("load", "fix"), "load and fix have not written raw.orders"),
    ],
)
def test_a_cause_is_what_is_not_written_whether_or_not_it_ran(
    writers: tuple[str, ...], cause: str
) -> None:
    consumer = Consumer("exposure.shop.board", "board", "dashboard", (RAW,), deadline="08:00")
    at = datetime(2026, 11, 27, 8, tzinfo=UTC)
    missed = DeadlineForecast(consumer, DeadlineStatus.MISSED, RAW, at, waits_for=RAW)
    assert forecast_text(missed, {RAW: writers}) == (
        f"missed its deadline at 08:00 UTC on 2026-11-27: {cause}"
    )
