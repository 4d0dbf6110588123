"""Events that Airflow 2 and 3, cosmos and dbt-ol wrote; expectations by hand, from reading them.

The samples are not part of this repository: `OPENLINEAGE_EVENTS` names their folder.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.building.checks import Check, check_of
from dbt_graft.lineage.building.orchestration import orchestrator_task
from dbt_graft.lineage.dataset import DatasetId
from tests.cases import for_each
from tests.collectors.openlineage.events import columns, flows, node_results, records, results_of
from tests.conftest import ROOT

SAMPLES = Path(
    os.environ.get("OPENLINEAGE_EVENTS", ROOT.parent / "shared/samples/openlineage/events")
)

_ORDERS = "load_orders: mssql://crm:1433/Shop.dbo.Orders -> spark/raw.orders"
_CLEAN = (
    "clean_orders: mssql://crm:1433/Shop.dbo.Orders -> mssql://crm:1433/Shop.dbo.OrdersClean"
    " (declared)"
)
_EXTRACTED = [
    _CLEAN,
    # No input of the event, but what the column of its output comes from.
    "clean_orders: mssql://crm:1433/Shop.dbo.Orders -> spark/raw.orders_clean",
    "clean_orders: spark/raw.orders -> spark/raw.orders_clean",
    _ORDERS,
]
_COLUMNS = [
    "raw.orders.id <- Shop.dbo.Orders.OrderId IDENTITY",
    "raw.orders_clean.id <- Shop.dbo.Orders.OrderId IDENTITY",
]
_DBT_COLUMNS = [
    "shop.main.orders_x.id <- shop.main.orders.id TRANSFORMATION",
    "shop.main.orders_x.note <- shop.main.orders.note TRANSFORMATION",
]
_TASKS = [
    f"shop_lineage.{one}" for one in ("marts.dbt_orders", "raw.clean_orders", "raw.load_orders")
]

# File -> its events, jobs, flows, columns, and results of dbt's nodes.
EXPECTED: dict[str, tuple[int, list[str], list[str], list[str], list[str]]] = {
    "airflow-2.11-dagfactory": (7, ["shop_lineage", *_TASKS], _EXTRACTED, _COLUMNS, []),
    "airflow-3.3-custom-extractor": (7, ["shop_lineage", *_TASKS], _EXTRACTED, _COLUMNS, []),
    "airflow-3.3-dagfactory": (
        12,
        ["sensor_dag", "sensor_dag.go", "sensor_dag.wait", "shop_lineage", *_TASKS],
        [_CLEAN],
        [],
        [],
    ),
    "airflow-3.3-standalone-backfill-assets": (
        46,
        ["consumer", "consumer.report", "shop_lineage", *_TASKS],
        _EXTRACTED,
        _COLUMNS,
        [],
    ),
    "airflow-3.3-task-policy": (
        7,
        ["shop_lineage", *_TASKS],
        [_CLEAN, f"{_ORDERS} (declared)"],
        [],
        [],
    ),
    "airflow-3.3-cosmos": (
        7,
        [
            "cosmos_shop",
            "cosmos_shop.orders.run",
            "cosmos_shop.orders.test",
            "cosmos_shop.orders_x_run",
        ],
        [],
        _DBT_COLUMNS,
        ["model.shop.orders success", "model.shop.orders_x success"],
    ),
    "dbt-ol-1.54": (
        8,
        [
            "dbt-run-shop",
            "shop.main.shop.orders.build.run",
            "shop.main.shop.orders.build.test",
            "shop.main.shop.orders_x.build.run",
        ],
        [],
        _DBT_COLUMNS,
        ["model.shop.orders success", "model.shop.orders_x success"],
    ),
}


def sample(name: str) -> Path:
    path = SAMPLES / f"{name}.jsonl"
    if not path.exists():
        pytest.skip("the samples of OpenLineage's events are not here: OPENLINEAGE_EVENTS")
    return path


@for_each("name", EXPECTED)
def test_a_sample_has_these_jobs_flows_and_columns(name: str) -> None:
    events, jobs, expected, edges, nodes = EXPECTED[name]
    results = results_of(sample(name))
    found = records(results)
    assert (sum(result.events for result in results), found.rejects) == (events, ())
    assert sorted({(run.job or "").partition("/")[2] for run in found.runs}) == jobs
    lineage = build(found)
    assert flows(lineage) == expected
    assert columns(lineage) == edges
    of_dbt = [result for result in node_results(results) if not check_of(result.node_id)]
    assert sorted(f"{one.node_id} {one.word}" for one in of_dbt) == nodes


@pytest.mark.parametrize("name", ["dbt-ol-1.54", "airflow-3.3-cosmos"])
def test_a_sample_of_dbt_has_the_results_of_its_tests(name: str) -> None:
    results = node_results(results_of(sample(name)))
    orders = DatasetId("duckdb:///opt/data/shop.duckdb", "shop.main.orders")
    found = {check: result.word for result in results if (check := check_of(result.node_id))}
    assert found == {
        Check(orders, "not_null", "id", "not_null_orders_id"): "pass",
        Check(orders, "unique", "id", "unique_orders_id"): "pass",
    }


def test_parents_and_tries_of_a_backfill() -> None:
    found = records(results_of(sample("airflow-3.3-standalone-backfill-assets")))
    lineage = build(found)
    dags = {run.run_id: run for run in found.runs if run.task in ("shop_lineage", "consumer")}
    tries = [run for run in found.runs if run.run_id not in dags]
    assert (len(dags), len(tries)) == (7, 17)
    assert {run.parent_run_id for run in tries} == dags.keys()
    loads = lineage.tasks["load_orders"].runs
    # Two tries never started; the executor reported it.
    assert sorted((run.attempt, run.status.value) for run in loads) == [
        (1, "failed"),
        (1, "failed"),
        (1, "ok"),
        (2, "ok"),
        (2, "ok"),
        (2, "ok"),
    ]
    by = orchestrator_task(loads[0], lineage.history.orchestrator_runs)
    assert by is not None
    assert (by.engine, by.dag, by.task) == ("airflow", "shop_lineage", "raw.load_orders")
    assert (by.url or "").startswith("http://localhost:8080/dags/shop_lineage/runs/")


def test_nothing_of_a_sample_that_must_not_be_published() -> None:
    found = records(results_of(sample("airflow-3.3-standalone-backfill-assets")))
    errors = {run.error for run in found.runs if run.error}
    assert errors == {"failed"}
    assert "main.py" not in str(found)
