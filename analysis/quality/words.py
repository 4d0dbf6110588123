"""Faults and forecasts in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from dbt_graft.analysis.quality.deadlines import DeadlineForecast, DeadlineStatus
from dbt_graft.analysis.quality.faults import FaultKind, QualityFault
from dbt_graft.analysis.quality.times import length, time_of_day
from dbt_graft.analysis.render.phrases import ago, time_text
from dbt_graft.lineage.dataset import DatasetId

# The harm that a fault of a kind does to those who have the data.
HARM: Mapping[FaultKind, str] = {
    FaultKind.COMPLETENESS: "counts and totals are wrong",
    FaultKind.UNIQUENESS: "joins and counts are wrong",
    FaultKind.REFERENTIAL: "rows lack what is looked up",
    FaultKind.VALIDITY: "values mean something else, or nothing",
    FaultKind.DRIFT: "look at it before you trust it",
    FaultKind.OTHER: "look at the test",
    FaultKind.FRESHNESS: "data is old",
    FaultKind.WRITE: "data is old",
}


def fault_text(fault: QualityFault, now: datetime) -> str:
    """`not_null of raw.orders.id failed 2 hours ago`."""
    name = f"{fault.dataset.name}.{fault.column}" if fault.column else fault.dataset.name
    when = f" {ago(fault.failed_at, now)}" if fault.failed_at else ""
    match fault.kind:
        case FaultKind.WRITE:
            return f"the last write of {name} failed{when}"
        case FaultKind.FRESHNESS if not fault.name:
            return f"{name} had no new rows when it was checked{when}"
    return f"{fault.name} of {name} failed{when}"


def not_run_text(check: QualityFault, now: datetime) -> str:
    """`not_null of raw.orders.id could not run 2 hours ago`."""
    name = f"{check.dataset.name}.{check.column}" if check.column else check.dataset.name
    when = f" {ago(check.failed_at, now)}" if check.failed_at else ""
    test = f"{check.name} of {name}" if check.name else f"the freshness check of {name}"
    return f"{test} could not run{when}"


def forecast_text(forecast: DeadlineForecast, writers: Mapping[DatasetId, Sequence[str]]) -> str:
    """The forecast in a sentence: `will miss its deadline at 08:00: load has not written raw.a`."""
    if forecast.status is DeadlineStatus.UNKNOWN:
        return f"not known when it will be ready: {forecast.reason}"
    if forecast.deadline is None:
        old = "is older than" if forecast.status is DeadlineStatus.STALE else "is within"
        text = f"its data {old} {forecast.consumer.freshness_slo} ({forecast.dataset})"
        most = length(forecast.consumer.freshness_slo)
        if forecast.waits_for and forecast.expected and most:
            at = f"{time_text(forecast.expected - most)} UTC"
            return f"{text}: {forecast.waits_for}, from which it comes, is of {at}"
        return f"{text}; {forecast.reason}" if forecast.reason else text
    zone = (time_of_day(forecast.consumer.deadline) or (None, UTC))[1]
    deadline = forecast.deadline.astimezone(zone)
    at = f"{deadline:%H:%M} {zone}"
    cause = ""
    if forecast.waits_for:
        tasks = writers.get(forecast.waits_for, ())
        cause = f": {forecast.waits_for} is not written"
        if tasks:  # They may have run, and failed or brought nothing.
            have = "have" if len(tasks) > 1 else "has"
            cause = f": {' and '.join(tasks)} {have} not written {forecast.waits_for.name}"
    expected = (
        f", expected by {forecast.expected.astimezone(zone):%H:%M}" if forecast.expected else ""
    )
    match forecast.status:
        case DeadlineStatus.MET:
            return forecast.reason or f"its data is there for {at}"
        case DeadlineStatus.ON_TIME:
            return f"on time for {at}{expected}"
        case DeadlineStatus.LATE:
            return f"late, still in time for {at}{expected}{cause}"
        case DeadlineStatus.WILL_MISS:
            return f"will miss its deadline at {at}{expected}{cause}"
    return f"missed its deadline at {at} on {deadline:%Y-%m-%d}{cause}"
