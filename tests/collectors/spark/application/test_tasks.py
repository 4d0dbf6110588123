"""The rule of graft.yml finds an application's tasks, its settings the run that started it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from dbt_graft.collectors.spark.application.execution import Application, Execution, ExecutionGroup
from dbt_graft.collectors.spark.application.tasks import parent_run, task_of
from dbt_graft.collectors.spark.log.decode import Rejects
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.store.collector import ApplicationCollector
from tests.cases import for_each

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ANY = r"(?P<task>.+)"
RUN = "01a2008d-7400-7462-bff7-4315a3a27104"
LONG = f"{'dag' * 80}/load/1/2026-11-22T00:00:00Z/7"
PARENT = "spark.openlineage.parentJobName"


def execution(number: int, **fields: str) -> Execution:
    """One that ended a second after the one before."""
    fields = {"description": "", "text": "", **fields}
    ended = NOON + timedelta(seconds=number)
    return Execution(number, number, started_at=NOON, ended_at=ended, **fields)  # type: ignore[arg-type]


def group(first: Execution, *nested: Execution) -> ExecutionGroup:
    return ExecutionGroup(first.id, {one.id: one for one in (first, *nested)}, ended=True)


def found(
    places: tuple[str, ...], *groups: ExecutionGroup, unnamed_task: str = ""
) -> tuple[dict[str, int], list[str]]:
    """The tasks, each with its last execution, and the reasons of rejects."""
    application, rejects = Application(name="shop", started_at=NOON), Rejects()
    collector = ApplicationCollector(
        application, SparkLogs("logs", "logs", task_from=places, unnamed_task=unnamed_task)
    )
    for one in groups:
        collector.add(one)
    tasks = {result.task: result.last.execution for result in collector.finish(rejects)}
    return tasks, [reason for _, reason, _ in rejects.entries]


@for_each(
    "place, fields, task",
    [
        ("app_name", {}, "shop"),
        ("job_group", {"group": "load_orders-2026-11-21"}, "load_orders"),
        ("job_group", {"group": "0c6f4b2e-1111-4222-8333-944455556666"}, None),
        ("job_group", {}, None),
        ("job_description", {"description": "load orders"}, "load orders"),
        ("job_description", {"description": "save at /opt/jobs/load.py:12"}, None),
        ("job_description", {"description": "SELECT 'Jane' " * 40}, None),
        ("call_site", {"description": "save at /opt/jobs/load.py:12"}, "load"),
        ("call_site", {"description": "save at C:\\my jobs\\load.py:12"}, "load"),
        ("call_site", {"description": "save at NativeMethodAccessorImpl.java:0"}, None),
        (
            "call_site",
            {
                "description": "save at Load.scala:7",
                "details": "org.apache.spark.sql.DataFrameWriter.save(DataFrameWriter.scala:240)\n"
                "com.shop.Load$.main(Load.scala:7)",
            },
            "Load",
        ),
        (
            "call_site",
            {
                "description": "my work",
                "details": "org.apache.spark.sql.DataFrameWriter.save(DataFrameWriter.scala:240)\n"
                "com.shop.Load$.main(Load.scala:7)",
            },
            "Load",
        ),
    ],
)
def test_each_place_has_its_name(place: str, fields: dict[str, str], task: str | None) -> None:
    application = Application(name="shop")
    assert task_of(application, execution(0, **fields), (place,), ANY) == task


def test_the_first_place_with_a_name_counts() -> None:
    application = Application(name="pyspark-shell", settings={PARENT: "shop_dag.load_orders"})
    for places in (("app_name", f"conf:{PARENT}"), (f"conf:{PARENT}", "app_name")):
        for root in (None, execution(0)):
            assert task_of(application, root, places, ANY) == "shop_dag.load_orders"


@pytest.mark.parametrize(
    ("name", "places", "task"),
    [
        ("pyspark-shell", ("app_name",), "load_orders.py"),
        ("pyspark-shell", ("app_name", "job_group"), "orders"),
        ("pyspark-shell", ("job_description",), None),
        ("shop", ("app_name",), "shop"),
        ("Thrift JDBC/ODBC Server", ("app_name",), None),
    ],
)
def test_a_script_without_a_name_is_the_task_of_its_file(
    name: str, places: tuple[str, ...], task: str | None
) -> None:
    application = Application(name=name, main_file="load_orders.py")
    assert task_of(application, execution(0, group="orders"), places, ANY) == task


def test_a_prompt_is_a_task_where_no_place_has_a_name() -> None:
    application = Application(name="Spark shell")
    for places, task in (
        (("app_name",), "spark-shell"),
        (("app_name", "job_group"), "load_orders"),
        (("job_description",), None),
    ):
        root = execution(0, group="load_orders")
        assert task_of(application, root, places, ANY) == task


def test_an_application_holds_as_many_tasks_as_it_has_job_groups() -> None:
    groups = [
        group(execution(0, group="load_orders"), execution(1)),
        group(execution(2, group="load_customers")),
        group(execution(3, group="load_orders")),
        group(execution(4)),
    ]
    tasks = {"load_customers": 2, "load_orders": 3, "shop": 4}
    assert found(("job_group", "app_name"), *groups) == (tasks, [])


def test_what_is_nested_has_the_task_of_what_it_is_nested_in() -> None:
    nested = group(execution(0, group="load_orders"), execution(1, group="another"))
    assert found(("job_group",), nested) == ({"load_orders": 1}, [])


def test_an_application_without_executions_ran_its_task() -> None:
    assert found(("job_group", "app_name")) == ({"shop": -1}, [])


@pytest.mark.parametrize(
    ("unnamed_task", "tasks", "reasons"),
    [
        ("", {"a": 0}, ["no data moves in 1 executions that name no task"]),
        ("(no name)", {"(no name)": 1, "a": 0}, []),
    ],
)
def test_executions_without_a_task_are_rejects_or_the_unnamed_task(
    unnamed_task: str, tasks: dict[str, int], reasons: list[str]
) -> None:
    groups = [group(execution(0, group="a")), group(execution(1))]
    assert found(("job_group",), *groups, unnamed_task=unnamed_task) == (tasks, reasons)


AIRFLOW = {
    "AIRFLOW_CTX_DAG_ID": "shop",
    "AIRFLOW_CTX_TASK_ID": "load",
    "AIRFLOW_CTX_DAG_RUN_ID": "scheduled__2026-11-21",
}


@for_each(
    "settings, parent",
    [
        ({}, None),
        ({"spark.openlineage.parentRunId": "0c6f4b2e"}, "0c6f4b2e"),
        (
            {f"spark.yarn.appMasterEnv.{key}": value for key, value in AIRFLOW.items()},
            "shop/load/scheduled__2026-11-21",
        ),
        (
            {f"spark.kubernetes.driverEnv.{key}": value for key, value in AIRFLOW.items()},
            "shop/load/scheduled__2026-11-21",
        ),
        (
            {
                "spark.kubernetes.driver.label.dag_id": "shop",
                "spark.kubernetes.driver.label.task_id": "load",
                "spark.kubernetes.driver.label.run_id": "manual-1",
            },
            "shop/load/manual-1",
        ),
        ({"spark.executorEnv.AIRFLOW_CTX_DAG_ID": "shop"}, None),
        (
            {"spark.yarn.appMasterEnv.OPENLINEAGE_PARENT_ID": f"etl/shop.load/{RUN}"},
            f"etl/shop.load/{RUN}",
        ),
    ],
)
def test_the_run_that_started_it_is_found(settings: dict[str, str], parent: str | None) -> None:
    assert parent_run(Application(name="shop", settings=settings)) == parent


@for_each(
    "name, task, run",
    [
        (f"load::{RUN}", "load", RUN),
        (f"etl::load::etl/shop.raw.load/{RUN}", "etl::load", f"etl/shop.raw.load/{RUN}"),
        ("load::shop/load/2/2026-11-22T00:00:00Z", "load", "shop/load/2/2026-11-22T00:00:00Z"),
        (f"load::{LONG}", "load", LONG),
        ("load::orders", "load::orders", None),
        ("load::shop/load/2/yesterday", "load::shop/load/2/yesterday", None),
        (f"::{RUN}", None, None),
    ],
)
def test_the_run_of_airflow_may_stand_behind_the_name(
    name: str, task: str | None, run: str | None
) -> None:
    application = Application(name=name)
    assert task_of(application, None, ("app_name",), ANY) == task
    assert parent_run(application) == run


def test_a_setting_comes_before_the_name() -> None:
    application = Application(name=f"load::{RUN}", settings={"spark.openlineage.parentRunId": "x"})
    assert parent_run(application) == "x"
