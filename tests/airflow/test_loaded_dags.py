"""Exported DAGs, as dag-factory loads them in Airflow 3 and in Airflow 2."""

from __future__ import annotations

import json
import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dbt_graft.exporters.dag_factory.document import documents, files
from dbt_graft.exporters.dag_factory.order import DemandedOrder
from dbt_graft.exporters.dag_factory.planner import plan_dags
from dbt_graft.exporters.dag_factory.settings import (
    DagGrouping,
    DagSettings,
    DbtTasks,
    TaskCommand,
    TaskGrouping,
    WaitBy,
)
from dbt_graft.lineage.records import TaskInfo
from tests.airflow.environment import ROOT, RUN_IN, AirflowEnvironment, airflow_environment
from tests.exporters.dag_factory.orders import SETTINGS, named, order_of

pytestmark = pytest.mark.airflow

SHOP = (
    "load: -> raw",
    "dbt orders: raw -> orders",
    "dbt customers: raw, orders -> customers",
    "report: orders, customers ->",
)
OWNERS = {"load": TaskInfo(owner="Data", tags=("daily",)), "report": TaskInfo(owner="Finance")}


@pytest.fixture(params=[3, 2])
def airflow(request: pytest.FixtureRequest, tmp_path: Path) -> AirflowEnvironment:
    """Each version of Airflow, with an empty home."""
    return airflow_environment(request.param, tmp_path / "airflow")


def load(
    airflow: AirflowEnvironment, order: DemandedOrder, settings: DagSettings
) -> dict[str, Any]:
    """The DAGs of an order, as Airflow has them."""
    settings = replace(settings, version=airflow.version)
    plan = plan_dags(order, settings)
    assert plan.problems == ()
    written = files(documents(plan.dags, settings), settings.name)
    for name, text in written.items():
        (airflow.dags / name).write_text(text)
    return airflow.load(*(airflow.dags / name for name in written if name.endswith(".yml")))


def upstream(dag: dict[str, Any]) -> dict[str, list[str]]:
    return {name: task["upstream"] for name, task in dag["tasks"].items()}


def test_groups_inlets_and_outlets(airflow: AirflowEnvironment) -> None:
    settings = replace(SETTINGS, task_groups=TaskGrouping.ENGINE, lineage=True, retry_delay=60)
    dag = load(airflow, order_of(*SHOP), settings)["shop"]
    assert upstream(dag) == {
        "spark.load": [],
        "dbt.dbt_orders": ["spark.load"],
        "dbt.dbt_customers": ["dbt.dbt_orders"],
        "spark.report": ["dbt.dbt_customers"],
    }
    tasks = dag["tasks"]
    assert tasks["dbt.dbt_customers"]["inlets"] == ["orders", "raw"]
    assert tasks["dbt.dbt_customers"]["outlets"] == ["customers"]
    assert dag["timetable"] == "NullTimetable"


def test_assets_between_dags(airflow: AirflowEnvironment) -> None:
    settings = replace(SETTINGS, dags=DagGrouping.OWNER, schedule="0 5 * * *")
    dags = load(airflow, order_of(*SHOP, **OWNERS), settings)
    kind = "Asset" if airflow.version == 3 else "Dataset"
    assert {name: dag["timetable"] for name, dag in dags.items()} == {
        "shop": f"{kind}TriggeredTimetable",
        "shop_Data": "CronTriggerTimetable"
        if airflow.version == 3
        else "CronDataIntervalTimetable",
        "shop_Finance": f"{kind}TriggeredTimetable",
    }
    assert dags["shop_Data"]["tasks"]["load"]["outlets"] == ["x-graft://spark/raw"]
    assert upstream(dags["shop"]) == {"dbt_orders": [], "dbt_customers": ["dbt_orders"]}


def test_sensors_between_dags(airflow: AirflowEnvironment) -> None:
    if not (ROOT / "graft_airflow").is_dir():
        pytest.skip("graft_airflow, which has the sensor, is not here")
    settings = replace(SETTINGS, dags=DagGrouping.OWNER, wait=WaitBy.SENSOR)
    dags = load(airflow, order_of(*SHOP, **OWNERS), settings)
    assert upstream(dags["shop"]) == {
        "wait_for_raw": [],
        "dbt_orders": ["wait_for_raw"],
        "dbt_customers": ["dbt_orders"],
    }
    assert dags["shop"]["tasks"]["wait_for_raw"]["class"].endswith(".LineageSensor")


def test_dbt_by_cosmos(airflow: AirflowEnvironment, tmp_path: Path) -> None:
    (tmp_path / "profiles.yml").write_text("shop: {}\n")
    (tmp_path / "dbt_project.yml").write_text("name: shop\n")
    profile = {
        "__type__": "cosmos.ProfileConfig",
        "profile_name": "shop",
        "target_name": "dev",
        "profiles_yml_filepath": str(tmp_path / "profiles.yml"),
    }
    cosmos = TaskCommand(
        engine="dbt", arguments={"project_dir": str(tmp_path), "profile_config": profile}
    )
    settings = replace(
        SETTINGS, dbt=DbtTasks.COSMOS, commands=(cosmos, TaskCommand(command="run {task}"))
    )
    dag = load(airflow, order_of(*SHOP), settings)["shop"]
    assert upstream(dag)["dbt_customers"] == ["dbt_orders"]
    assert dag["tasks"]["dbt_orders"]["class"].endswith(".DbtBuildLocalOperator")


PROFILE = """
shop:
  target: dev
  outputs: {dev: {type: duckdb, path: %s}}
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("airflow", [3], indirect=True)
def test_cosmos_builds_each_model_after_those_that_it_reads(
    airflow: AirflowEnvironment, tmp_path: Path
) -> None:
    project, database = tmp_path / "shop", tmp_path / "shop.duckdb"
    (project / "models").mkdir(parents=True)
    (project / "dbt_project.yml").write_text("name: shop\nprofile: shop\n")
    (project / "profiles.yml").write_text(PROFILE % database)
    (project / "models/stg.sql").write_text("{{ config(materialized='table') }} select 7 as id")
    (project / "models/orders.sql").write_text(
        "{{ config(materialized='table') }} select id from {{ ref('stg') }}"
    )
    arguments = {
        "project_dir": str(project),
        "dbt_executable_path": str(Path(sys.executable).with_name("dbt")),
        "install_deps": False,
        "profile_config": {
            "__type__": "cosmos.ProfileConfig",
            "profile_name": "shop",
            "target_name": "dev",
            "profiles_yml_filepath": str(project / "profiles.yml"),
        },
    }
    settings = replace(
        SETTINGS,
        dbt=DbtTasks.COSMOS,
        commands=(TaskCommand(engine="dbt", arguments=arguments),),
        lineage=True,
    )
    load(airflow, order_of("dbt orders: stg -> orders", "dbt stg: -> stg"), settings)
    airflow.migrate()
    done = airflow.run("airflow", "dags", "test", "shop", "2026-11-01")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    with duckdb.connect(str(database), read_only=True) as connection:
        assert connection.execute("select id from orders").fetchall() == [(7,)]


HOSTILE = ("$HOME", "x; touch pwned", "{{ 7 * 7 }}", "a'b\"c", "name.sh", "{% raw %}", "l\nm")


@pytest.mark.parametrize("airflow", RUN_IN, indirect=True)
def test_hostile_names_reach_the_command_as_they_are(airflow: AirflowEnvironment) -> None:
    """Airflow finds the loader, and runs the tasks in order, each with its own name."""
    data = [f"{{{{ 1 / 0 }}}} $HOME {number}" for number in range(len(HOSTILE) + 1)]
    order = order_of(*(f"t{n}: {data[n]} -> {data[n + 1]}" for n in range(len(HOSTILE))))
    for number, name in enumerate(HOSTILE):
        order = named(order, f"t{number}", name)
    log = airflow.home / "log"
    command = "cd \"$WHERE\" && printf '%s@{{ ds }}\\n' {task} >> log"
    settings = replace(
        SETTINGS, commands=(TaskCommand(command=command),), tags=("$HOME", "{{ 1 }}"), lineage=True
    )
    dag = load(airflow, order, settings)["shop"]
    assert [sorted(text) for text in upstream(dag).values()].count([]) == 1
    airflow = replace(airflow, variables={**airflow.variables, "WHERE": str(airflow.home)})
    airflow.migrate()
    done = airflow.run("airflow", "dags", "test", "shop", "2026-11-01")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert log.read_text() == "".join(f"{name}@2026-11-01\n" for name in HOSTILE)
    assert not (airflow.home / "pwned").exists()
    events = map(json.loads, airflow.events.read_text().splitlines())
    outputs = {output["name"] for event in events for output in event.get("outputs", ())}
    assert outputs == set(data[1:])


def test_a_task_that_runs_elsewhere_marks_its_place(airflow: AirflowEnvironment) -> None:
    external = TaskCommand(task="load", external=True)
    settings = replace(SETTINGS, commands=(external, *SETTINGS.commands))
    dag = load(airflow, order_of(*SHOP), settings)["shop"]
    assert dag["tasks"]["load"]["class"].endswith(".EmptyOperator")
    assert upstream(dag)["dbt_orders"] == ["load"]


def test_variables_are_not_filled_in_where_the_file_is_read(airflow: AirflowEnvironment) -> None:
    command = 'run "$HOME" {task}'
    dag = load(
        airflow,
        order_of("load: -> raw"),
        replace(SETTINGS, commands=(TaskCommand(command=command),)),
    )["shop"]
    assert dag["tasks"]["load"]["command"] == 'run "$HOME" load'
    assert shlex.quote(os.environ["HOME"]) not in dag["tasks"]["load"]["command"]
