"""Names and ids of OpenLineage: equal to those that other producers make."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import pytest

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.openlineage import (
    JobId,
    airflow_task_run_id,
    dataset_id,
    dbt_job,
    dbt_node,
    is_view,
    static_uuid,
    task_job,
    view_job,
)
from tests.cases import for_each

ROOT = Path(__file__).parents[2]
EVENTS = Path(
    os.environ.get("OPENLINEAGE_EVENTS", ROOT.parent / "shared/samples/openlineage/events")
)
NOVEMBER = datetime(2026, 11, 1, tzinfo=UTC)


@for_each(
    "namespace, name, expected",
    [
        ("mssql://crm:1433", "Shop.dbo.Orders", "mssql://crm:1433/Shop.dbo.Orders"),
        ("MSSQL://crm:1433/", "Shop.dbo.Orders", "mssql://crm:1433/Shop.dbo.Orders"),
        ("postgres://me:secret@db:5432", "shop.public.o", "postgres://db:5432/shop.public.o"),
        ("file", "/landing/orders", "file/landing/orders"),
        ("file", "landing/orders", "file/landing/orders"),
        ("file:", "/landing/orders", "file/landing/orders"),
        ("file://", "/landing/orders", "file/landing/orders"),
        ("file://localhost", "/landing/orders", "file/landing/orders"),
        ("file://sql01", "C:/in/x.csv", "file://sql01/C:/in/x.csv"),
        ("postgresql://db:5432", "shop.public.o", "postgres://db:5432/shop.public.o"),
        ("snowflake://org-shop", "SHOP.RAW.O", "snowflake://org-shop/SHOP.RAW.O"),
        ("snowflake://xy12345.eu-west-1", "S.RAW.O", "snowflake://xy12345.eu-west-1.aws/S.RAW.O"),
        ("snowflake://xy1.eu-1.aws", "S.RAW.O", "snowflake://xy1.eu-1.aws/S.RAW.O"),
        ("sqlserver://CRM", "Shop.dbo.Orders", "mssql://crm:1433/Shop.dbo.Orders"),
        ("sqlserver://crm:1433;database=Shop;", "dbo.Orders", "mssql://crm:1433/Shop.dbo.Orders"),
        ("sqlserver://crm;databaseName=Shop", "Orders", "mssql://crm:1433/Shop.dbo.Orders"),
        ("sqlserver://crm;database=Shop", "Shop.dbo.Orders", "mssql://crm:1433/Shop.dbo.Orders"),
        ("sqlserver://crm:1433;encrypt=true", "S.dbo.Orders", "mssql://crm:1433/S.dbo.Orders"),
        ("sqlserver://crm:1444/SALES", "Shop.dbo.Orders", "mssql://crm:1444/Shop.dbo.Orders"),
        ("sqlserver://crm/SALES", "Shop.dbo.Orders", "mssql://crm\\SALES/Shop.dbo.Orders"),
        ("sqlserver://[fe80::1]", "Shop.dbo.Orders", "mssql://[fe80::1]:1433/Shop.dbo.Orders"),
        (
            "sqlserver://x.datawarehouse.fabric.microsoft.com:1433",
            "Shop.dbo.Orders",
            "fabric-warehouse://x.datawarehouse.fabric.microsoft.com/Shop.dbo.Orders",
        ),
        ("arn:aws:glue:eu-west-1:1", "table/raw/orders", "arn:aws:glue:eu-west-1:1/raw.orders"),
        ("arn:aws:glue:eu-west-1:1", "raw.orders", "arn:aws:glue:eu-west-1:1/raw.orders"),
        ("s3a://lake", "/raw/orders", "s3://lake/raw/orders"),
        ("s3://KEY:SECRET@lake", "raw/orders", "s3://lake/raw/orders"),
        ("hdfs://nn:8020", "/raw/orders", "hdfs://nn:8020/raw/orders"),
        ("abfss://raw@shop", "/orders", "abfss://raw@shop/orders"),
        ("bigquery", "shop.raw.orders", "bigquery/shop.raw.orders"),
        ("kafka://broker:9092", "orders", "kafka://broker:9092/orders"),
    ],
)
def test_a_dataset_has_one_spelling(namespace: str, name: str, expected: str) -> None:
    dataset = dataset_id(namespace, name)
    assert str(dataset) == expected
    again = dataset_id(dataset.namespace, dataset.name)
    assert (again.namespace, again.name) == (dataset.namespace, dataset.name)


@pytest.mark.parametrize(("namespace", "name"), [("", "x"), ("file", " "), ("/", "x")])
def test_a_dataset_without_both_parts_is_refused(namespace: str, name: str) -> None:
    with pytest.raises(ValueError, match="namespace and a name"):
        dataset_id(namespace, name)


def test_jobs_are_named_after_tasks_and_nodes() -> None:
    view = DatasetId("mssql://crm:1433", "Shop.dbo.Current")
    assert task_job("load_orders") == JobId("graft", "load_orders")
    assert task_job("load_orders", "shop") == JobId("shop", "load_orders")
    assert dbt_job("model.shop.orders") == JobId("graft", "dbt.model.shop.orders")
    assert dbt_node(dbt_job("model.shop.orders")) == "model.shop.orders"
    assert dbt_node(task_job("load_orders")) is None
    assert dbt_node(JobId("airflow", "dbt.model.shop.orders")) is None
    assert is_view(view_job(view))
    assert not is_view(task_job("load_orders"))


@pytest.mark.parametrize(
    ("instant", "data", "expected"),
    [
        (NOVEMBER, "x", "01a19467-e800-73d9-8f6e-f51d7b703cd3"),
        (datetime(1970, 1, 1, tzinfo=UTC), b"", "00000000-0000-77cd-9b50-381a2d2b8cfa"),
    ],
)
def test_an_id_is_made_of_time_and_data(
    instant: datetime, data: bytes | str, expected: str
) -> None:
    assert str(static_uuid(instant, data)) == expected


def test_an_id_is_a_uuid_of_version_7_with_its_time() -> None:
    instant = datetime(2026, 11, 1, 5, 30, 0, 123_999, tzinfo=UTC)
    found = static_uuid(instant, "shop")
    assert found.version == 7
    assert found.variant == "specified in RFC 4122"
    assert found.int >> 80 == int(instant.timestamp() * 1000)


def test_an_instant_has_one_id_in_all_time_zones() -> None:
    elsewhere = NOVEMBER.astimezone(timezone(timedelta(hours=5)))
    assert static_uuid(elsewhere, "x") == static_uuid(NOVEMBER, "x")


def test_a_task_instance_has_airflows_run_id() -> None:
    found = airflow_task_run_id("airflow-shop", "shop_lineage", "raw.load_orders", 1, -1, NOVEMBER)
    assert found == UUID("01a19467-e800-763a-bbc9-7f14e359d112")


def airflow_runs() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """The job's name, the run and Airflow's own facet of each event of the samples."""
    for path in sorted(EVENTS.glob("airflow-*.jsonl")):
        for line in path.read_bytes().splitlines():
            event = orjson.loads(line)
            facets = event["run"]["facets"]
            airflow = facets.get("airflow") or facets.get("airflowDagRun")
            if airflow and "dagRun" in airflow:
                yield event["job"], event["run"], airflow


@pytest.mark.skipif(not EVENTS.is_dir(), reason="no events of Airflow: set OPENLINEAGE_EVENTS")
def test_every_run_id_of_airflows_tasks_can_be_computed() -> None:
    tasks = set()
    for job, run, airflow in airflow_runs():
        dag = airflow["dagRun"]
        at = datetime.fromisoformat(dag.get("logical_date") or dag["run_after"])
        task = airflow.get("task")
        if not task:
            continue
        tasks.add(task["task_id"])
        instance = airflow["taskInstance"]
        expected = airflow_task_run_id(
            job["namespace"],
            dag["dag_id"],
            task["task_id"],
            instance["try_number"],
            instance.get("map_index", -1),
            at,
        )
        assert run["runId"] == str(expected)
    assert tasks
