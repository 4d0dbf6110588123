"""The rule of graft.yml finds an application's tasks; what started it is told where it says so."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from collectors.spark.history import Application, Execution
from collectors.spark.tasks import parent_run, task_runs

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ANY = r"(?P<task>.+)"
PARENT = "spark.openlineage.parentJobName"


def execution(number: int, root: int | None = None, **told: str) -> Execution:
    told = {"description": "", "text": "", **told}
    return Execution(number, number if root is None else root, started_at=NOON, **told)  # type: ignore[arg-type]


def found(
    places: tuple[str, ...], *executions: Execution, name: str = "shop", **settings: str
) -> dict[str, list[int]]:
    application = Application(
        name=name, settings={k.replace("_", "."): v for k, v in settings.items()}
    )
    application.executions = {one.id: one for one in executions}
    runs, _ = task_runs(application, places, ANY)
    return {run.task: list(run.application.executions) for run in runs}


@pytest.mark.parametrize(
    ("place", "told", "task"),
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
def test_each_place_gives_its_name(place: str, told: dict[str, str], task: str | None) -> None:
    assert found((place,), execution(0, **told)) == ({task: [0]} if task else {})


def test_the_first_place_that_gives_a_name_counts() -> None:
    application = Application(name="pyspark-shell", settings={PARENT: "shop_dag.load_orders"})
    for places in (("app_name", f"conf:{PARENT}"), (f"conf:{PARENT}", "app_name")):
        runs, problems = task_runs(application, places, ANY)
        assert [run.task for run in runs] == ["shop_dag.load_orders"]
        assert problems == []


def test_an_application_holds_as_many_tasks_as_it_has_job_groups() -> None:
    executions = [
        execution(0, group="load_orders"),
        execution(1, root=0),
        execution(2, group="load_customers"),
        execution(3, group="load_orders"),
        execution(4),
    ]
    assert found(("job_group", "app_name"), *executions) == {
        "load_customers": [2],
        "load_orders": [0, 1, 3],
        "shop": [4],
    }


def test_what_has_no_task_is_told() -> None:
    application = Application(name="shop")
    application.executions = {0: execution(0, group="a"), 1: execution(1)}
    runs, problems = task_runs(application, ("job_group",), ANY)
    assert [run.task for run in runs] == ["a"]
    assert problems == ["1 executions name no task: `task_from` finds none"]


AIRFLOW = {
    "AIRFLOW_CTX_DAG_ID": "shop",
    "AIRFLOW_CTX_TASK_ID": "load",
    "AIRFLOW_CTX_DAG_RUN_ID": "scheduled__2026-11-21",
}


@pytest.mark.parametrize(
    ("settings", "parent"),
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
    ],
)
def test_the_run_that_started_it_is_found(settings: dict[str, str], parent: str | None) -> None:
    assert parent_run(settings) == parent
