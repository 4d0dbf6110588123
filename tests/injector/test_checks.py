"""Checks in events are results of the tests of dbt that they are."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import timedelta

import pytest

from dbt_graft.injector.graft import graft
from dbt_graft.injector.options import GraftOptions
from dbt_graft.lineage.building.checks import Check
from dbt_graft.lineage.building.runs import results_by_node
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import NodeResult, Status
from tests.injector.conftest import START, Log, Project

ORDERS = DatasetId("spark", "Analytics.orders")
RAW = DatasetId("spark", "raw.orders")
STAGED = DatasetId("spark", "analytics.stg_orders")
NOT_NULL = "test.shop.not_null_orders_id"


def result(node_id: str, invocation: str, day: int, word: str = "pass") -> NodeResult:
    status = Status.OK if word == "pass" else Status.FAILED
    at = START + timedelta(days=day)
    return NodeResult(node_id, invocation, word=word, status=status, started_at=at)


def grafted_results(project: Project, log: Log, *results: NodeResult) -> dict[str, list[str]]:
    """Node -> its results, newest first, as `invocation word`."""
    lineage: Lineage = replace(log.lineage(), dbt=DbtRuns(results_by_node(results)))
    grafted = graft(project.artifacts(), lineage, GraftOptions("spark", ""))
    return {
        key: [f"{one.invocation_id} {one.word}" for one in found]
        for key, found in grafted.lineage.dbt.node_results.items()
        if all(one.node_id == key for one in found)
    }


@pytest.mark.parametrize(
    ("check", "test"),
    [
        (Check(ORDERS, "not_null", "ID"), NOT_NULL),
        (Check(ORDERS, "", name="not_null_orders_id"), NOT_NULL),
        (Check(ORDERS, "NOT_NULL", "id", "an own name"), NOT_NULL),
        (Check(None, "custom_sql", name="Orders_add_up"), "test.shop.orders_add_up"),
        (Check(ORDERS, "test", name="orders_add_up"), "test.shop.orders_add_up"),
        (
            Check(RAW, "relationships", "customer_id"),
            "test.shop.source_relationships_raw_orders_customer",
        ),
        (Check(STAGED, "relationships", "id"), "test.shop.relationships_stg_orders_rate"),
    ],
)
def test_a_check_is_the_test_of_its_dataset_kind_and_column(
    project: Project, log: Log, check: Check, test: str
) -> None:
    assert grafted_results(project, log, result(check.id, "i-1", 1)) == {test: ["i-1 pass"]}


@pytest.mark.parametrize(
    "check",
    [
        Check(ORDERS, "unique", "id"),
        Check(ORDERS, "not_null", "amount"),
        Check(ORDERS, "not_null"),
        Check(DatasetId("spark", "other.orders"), "not_null", "id", "not_null_orders_id"),
        Check(DatasetId("spark", "raw.customers"), "relationships", "customer_id"),
    ],
)
def test_another_check_of_a_dataset_stays_one(project: Project, log: Log, check: Check) -> None:
    results = grafted_results(project, log, result(check.id, "i-1", 1))
    assert results == {check.id: ["i-1 pass"]}


def test_a_check_of_no_dataset_is_counted_by_name(
    project: Project, log: Log, caplog: pytest.LogCaptureFixture
) -> None:
    check = Check(None, "not_null", "id")
    with caplog.at_level(logging.DEBUG, "dbt_graft"):
        assert grafted_results(project, log, result(check.id, "i-1", 1)) == {}
    assert "no test of the dbt project: not_null 1" in caplog.text


def test_of_two_tests_alike_the_name_decides(project: Project, log: Log) -> None:
    mart = "model.shop.orders"
    for name in ("accepted_one", "accepted_two"):
        project.test(name, [mart], "accepted_values", "state", attached=mart)
    named = Check(ORDERS, "accepted_values", "state", "accepted_two")
    without = Check(ORDERS, "accepted_values", "state")
    results = grafted_results(
        project, log, result(named.id, "i-1", 1), result(without.id, "i-2", 2)
    )
    assert results == {"test.shop.accepted_two": ["i-1 pass"], without.id: ["i-2 pass"]}


def test_the_newest_counts_and_of_one_invocation_dbts(project: Project, log: Log) -> None:
    check = Check(ORDERS, "not_null", "id").id
    of_run = Check(None, "not_null", name="not_null_orders_id").id
    results = grafted_results(
        project,
        log,
        result(NOT_NULL, "i-2", 2, "fail"),
        result(check, "i-1", 1),
        result(check, "i-2", 9),
        result(of_run, "i-2", 9),
        result(of_run, "i-3", 3),
    )
    assert results == {NOT_NULL: ["i-3 pass", "i-2 fail", "i-1 pass"]}
