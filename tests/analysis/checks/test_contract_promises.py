"""Promises beside columns are held or broken by what logs show, or they are not checked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from dbt_graft.analysis.checks.contract_promises import PromiseState, checked_promises
from dbt_graft.analysis.checks.contracts import (
    ContractMatches,
    ContractTable,
    DataContract,
    WrittenPromise,
)
from dbt_graft.analysis.quality.deadlines import DeadlineForecast, DeadlineStatus
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer

NOW = datetime(2026, 11, 10, 9, tzinfo=UTC)
ORDERS = DatasetId("spark", "raw.orders")
HELD, BROKEN, UNCHECKED = PromiseState.HELD, PromiseState.BROKEN, PromiseState.NOT_CHECKED


@pytest.mark.parametrize(
    ("name", "value", "hours", "state"),
    [
        ("frequency", "1d", 5, HELD),
        ("frequency", "1d", 47, HELD),  # it may be late once
        ("frequency", "1d", 49, BROKEN),
        ("frequency", "1d", None, UNCHECKED),
        ("frequency", "0 0 * * *", 5, UNCHECKED),
        ("retention", "1y", 5, UNCHECKED),
        ("bounds", "3", 5, UNCHECKED),
        ("quality rules", "2", 5, UNCHECKED),
        ("errorRate", "1%", 5, UNCHECKED),
        ("endOfLife", "2042-05-12T09:30:10-08:00", 5, HELD),
        ("endOfLife", "2026-05-12", 5, BROKEN),
        ("endOfSupport", "soon", 5, UNCHECKED),
    ],
)
def test_a_service_level(name: str, value: str, hours: int | None, state: PromiseState) -> None:
    table = ContractTable(("raw.orders",), promises=(WrittenPromise(name, value),))
    contract = DataContract("1", "c", "c.yaml", status="active", tables=(table,))
    written = {ORDERS: [NOW - timedelta(hours=hours)]} if hours is not None else {}
    matches = ContractMatches(((contract, table, ORDERS),))
    [promise] = checked_promises(matches, written, (), NOW)
    assert promise.state is state
    assert promise.reason


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (DeadlineStatus.MISSED, BROKEN),
        (DeadlineStatus.WILL_MISS, PromiseState.AT_RISK),
        (DeadlineStatus.UNKNOWN, UNCHECKED),
        (DeadlineStatus.ON_TIME, HELD),
    ],
)
def test_a_deadline_is_what_its_forecast_says(status: DeadlineStatus, state: PromiseState) -> None:
    table = ContractTable(("raw.orders",), deadline="08:00")
    contract = DataContract("1", "c", "c.yaml", tables=(table,))
    consumer = Consumer("contract:1", "c", "data contract", (ORDERS,), deadline="08:00")
    forecast = DeadlineForecast(consumer, status, ORDERS, NOW, reason="why")
    matches = ContractMatches(((contract, table, ORDERS),))
    [promise] = checked_promises(matches, {}, [forecast], NOW)
    assert (promise.property, promise.state) == ("deadline", state)


@pytest.mark.parametrize(("reason", "state"), [("", HELD), ("no write of x is known", UNCHECKED)])
def test_an_age_may_be_that_of_what_is_not_known(reason: str, state: PromiseState) -> None:
    table = ContractTable(("raw.orders",), freshness_slo="2h", deadline="08:00")
    contract = DataContract("1", "c", "c.yaml", tables=(table,))
    consumer = Consumer("contract:1", "c", "data contract", (ORDERS,))
    forecasts = [
        DeadlineForecast(consumer, DeadlineStatus.MET, ORDERS, reason=reason, is_age=True),
        DeadlineForecast(consumer, DeadlineStatus.UNKNOWN, ORDERS, reason="no history"),
    ]
    matches = ContractMatches(((contract, table, ORDERS),))
    promises = checked_promises(matches, {}, forecasts, NOW)
    assert [(promise.property, promise.state) for promise in promises] == [
        ("freshness", state),
        ("deadline", UNCHECKED),
    ]


def test_a_status_that_is_not_active_is_said() -> None:
    table = ContractTable(("raw.orders",))
    contract = DataContract("1", "c", "c.yaml", status="draft", tables=(table,))
    [promise] = checked_promises(ContractMatches(((contract, table, ORDERS),)), {}, (), NOW)
    assert (promise.property, promise.value, promise.state) == ("status", "draft", UNCHECKED)
