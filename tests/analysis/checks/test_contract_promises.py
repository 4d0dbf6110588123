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
from dbt_graft.analysis.history.data_age import WriteHistory
from dbt_graft.lineage.dataset import DatasetId

NOW = datetime(2026, 11, 10, 9, tzinfo=UTC)
ORDERS, LINES = DatasetId("spark", "raw.orders"), DatasetId("spark", "raw.lines")
HELD, BROKEN, UNCHECKED = PromiseState.HELD, PromiseState.BROKEN, PromiseState.NOT_CHECKED


def history(finished: dict[DatasetId, list[datetime]]) -> WriteHistory:
    return WriteHistory(finished, lambda _: ())


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
        ("endOfLife", "9999-12-31", 5, HELD),
        ("endOfLife", "2026-05-12", 5, BROKEN),
        ("endOfLife", "2026-11-10", 5, HELD),  # it is this day
        ("endOfLife", "2026-11-09", 5, BROKEN),
        ("endOfSupport", "2026-11-10T08:59:00Z", 5, BROKEN),
        ("endOfSupport", "soon", 5, UNCHECKED),
    ],
)
def test_a_service_level(name: str, value: str, hours: int | None, state: PromiseState) -> None:
    table = ContractTable(("raw.orders",), promises=(WrittenPromise(name, value),))
    contract = DataContract("1", "c", "c.yaml", status="active", tables=(table,))
    written = {ORDERS: [NOW - timedelta(hours=hours)]} if hours is not None else {}
    matches = ContractMatches(((contract, table, ORDERS),))
    [promise] = checked_promises(matches, history(written), NOW)
    assert promise.state is state
    assert promise.reason


@pytest.mark.parametrize(
    ("slo", "deadline", "hours", "states"),
    [
        ("2h", "", 1, [HELD]),
        ("2h", "", 3, [BROKEN]),
        ("2h", "", None, [UNCHECKED]),
        ("soon", "", 1, [UNCHECKED]),
        ("", "08:00", 1, [HELD]),
        ("", "08:00", 25, [BROKEN]),  # it is 09:00
        ("", "12:00", 25, [PromiseState.AT_RISK]),
        ("", "08:00", None, [UNCHECKED]),
        ("2h", "08:00", 3, [BROKEN, HELD]),
    ],
)
def test_ages_and_deadlines_are_those_of_one_table(
    slo: str, deadline: str, hours: int | None, states: list[PromiseState]
) -> None:
    table = ContractTable(("raw.orders",), freshness_slo=slo, deadline=deadline)
    other = ContractTable(("raw.lines",), freshness_slo=slo, deadline=deadline)
    contract = DataContract("1", "c", "c.yaml", tables=(table, other))
    last = hours if hours is not None else 10_000
    written = {ORDERS: [NOW - timedelta(hours=last, days=day) for day in range(20, -1, -1)]}
    matches = ContractMatches(((contract, table, ORDERS), (contract, other, LINES)))
    known = history(written if hours is not None else {})
    promises = checked_promises(matches, known, NOW)
    assert {p.property: p.state for p in promises if p.dataset == ORDERS} == dict(
        zip([*["freshness"] * bool(slo), *["deadline"] * bool(deadline)], states, strict=True)
    )
    assert {promise.state for promise in promises if promise.dataset == LINES} == {UNCHECKED}


def test_two_versions_promise_two_ages() -> None:
    tables = [ContractTable(("raw.orders",), freshness_slo=slo) for slo in ("1h", "30d")]
    contracts = [DataContract("1", "c", "c.yaml", str(version)) for version in (1, 2)]
    pairs = zip(contracts, tables, (ORDERS, ORDERS), strict=True)
    written = history({ORDERS: [NOW - timedelta(days=2)]})
    promises = checked_promises(ContractMatches((*pairs,)), written, NOW)
    assert [(promise.value, promise.state) for promise in promises] == [
        ("1h", BROKEN),
        ("30d", HELD),
    ]


def test_an_age_may_be_that_of_what_is_not_known() -> None:
    table = ContractTable(("raw.orders",), freshness_slo="2h")
    contract = DataContract("1", "c", "c.yaml", tables=(table,))
    known = WriteHistory({ORDERS: [NOW]}, lambda dataset: [LINES] if dataset == ORDERS else [])
    [promise] = checked_promises(ContractMatches(((contract, table, ORDERS),)), known, NOW)
    assert promise.state is UNCHECKED


def test_a_status_that_is_not_active_is_said() -> None:
    table = ContractTable(("raw.orders",))
    contract = DataContract("1", "c", "c.yaml", status="draft", tables=(table,))
    [promise] = checked_promises(ContractMatches(((contract, table, ORDERS),)), history({}), NOW)
    assert (promise.property, promise.value, promise.state) == ("status", "draft", UNCHECKED)
