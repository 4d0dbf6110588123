"""A run of Airflow and the run in Spark's log are one, in real Airflow and real Spark.

The DAG, the sources and the commands are those of docs/airflow.md.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbt_graft.collectors.java import java_home
from dbt_graft.graft.project.config import load
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.project.view import LineageView
from dbt_graft.lineage.building.orchestration import orchestrator_task
from dbt_graft.lineage.model import Lineage
from tests.airflow.environment import AirflowEnvironment, airflow_environment, graft
from tests.catalog.html_reader import HtmlReader, text
from tests.exporters.openlineage.conformance import complaints
from tests.graft.small_project import small_project
from tests.java_options import java_options

pytestmark = [pytest.mark.airflow, pytest.mark.slow]

SCRIPTS = {
    "load_orders.py": """
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("load_orders").getOrCreate()
orders = spark.read.csv("landing/orders.csv", header=True)
orders = orders.selectExpr("id", "upper(customer) AS customer", "CAST(amount AS INT) AS amount")
orders.write.mode("overwrite").parquet("lake/orders")
spark.stop()
""",
    # The first try fails after Spark's work is done.
    "clean_orders.py": """
from pathlib import Path

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
orders = spark.read.parquet("lake/orders").where("amount > 5")
orders.write.mode("overwrite").parquet("lake/clean")
tried = Path("tried")
if not tried.exists():
    tried.touch()
    raise SystemExit("the second time will do")
""",
    "score_orders.py": """
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
clean = spark.read.parquet("lake/clean")
clean.groupBy("customer").count().write.mode("overwrite").parquet("lake/scores")
spark.stop()
""",
}
# With an event log, as a cluster's own settings are.
SPARK = {
    "spark.ui.enabled": "false",
    "spark.eventLog.enabled": "true",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "1",
}


def block(root: Path, language: str, start: str) -> str:
    """The block of code in docs/airflow.md that has a text."""
    blocks = re.findall(rf"```{language}\n(.*?)```", (root / "docs/airflow.md").read_text(), re.S)
    (found,) = [one for one in blocks if start in one]
    return found


def collecting(*arguments: str, folder: Path) -> None:
    """Run graft in a process of its own: the tests of a run share one Spark session."""
    done = subprocess.run(
        [sys.executable, "-m", "dbt_graft", *arguments, "--quiet"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def shop(root: Path, tmp_path_factory: pytest.TempPathFactory) -> AirflowEnvironment:
    """Airflow after a run of the DAG, in whose home `graft build` has run."""
    folder = tmp_path_factory.mktemp("shop")
    airflow_environment(3, folder)  # skips before any work
    for name in ("landing", "spark-events", "openlineage"):
        (folder / name).mkdir()
    for name, script in SCRIPTS.items():
        (folder / name).write_text(script)
    (folder / "landing/orders.csv").write_text("id,customer,amount\n1,ann,5\n2,bob,7\n")
    settings = {**SPARK, "spark.eventLog.dir": (folder / "spark-events").as_uri()}
    (folder / ".venv").symlink_to(sys.prefix)
    transport = {"type": "file", "log_file_path": str(folder / "openlineage/events.jsonl")}
    airflow = airflow_environment(
        3,
        folder,
        SHOP=str(folder),
        JAVA_HOME=java_home(),
        PYSPARK_PYTHON=sys.executable,
        SPARK_SUBMIT_OPTS=java_options(settings),
        MASTER="local[1]",
        SPARK_LOCAL_IP="127.0.0.1",
        AIRFLOW__OPENLINEAGE__TRANSPORT=json.dumps({**transport, "append": True}),
    )
    (airflow.dags / "shop.py").write_text(block(root, "python", 'DAG("shop"'))
    airflow.migrate()
    run, build = [
        line.removeprefix("$ ").split()
        for line in block(root, "console", "airflow dags test shop").splitlines()
    ]
    done = airflow.run(*run)
    assert done.returncode == 0, (done.stdout + done.stderr)[-5000:]
    small_project(folder)
    (folder / "graft.yml").write_text(block(root, "yaml", "spark-events/"))
    assert build[0] == "graft"
    collecting(*build[1:], folder=folder)
    return airflow


@pytest.fixture(scope="module")
def lineage(shop: AirflowEnvironment) -> Lineage:
    return Project(load(shop.home / "graft.yml")).grafted(LineageView(results=False)).lineage


@pytest.fixture(scope="module")
def emitted(shop: AirflowEnvironment) -> list[Any]:
    """The events that Airflow wrote."""
    lines = (shop.home / "openlineage/events.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def exported(shop: AirflowEnvironment) -> list[Any]:
    """The events after the fact."""
    out = graft(shop.home, "export", "openlineage", "--airflow")
    return [json.loads(line) for line in out.splitlines()]


def ends(emitted: list[Any]) -> dict[str, Any]:
    """The last event of each try, by the id of its run."""
    found = [one for one in emitted if one["eventType"] in ("COMPLETE", "FAIL")]
    return {one["run"]["runId"]: one for one in found if "." in one["job"]["name"]}


def test_a_task_has_each_try_once_with_airflow_s_name_of_it(
    lineage: Lineage, emitted: list[Any]
) -> None:
    assert [*lineage.tasks] == ["clean_orders", "load_orders", "score_orders"]
    runs = {
        (name, run.engine, by.dag, by.task, by.attempt, by.status, run.parent_run_id)
        for name, task in lineage.tasks.items()
        for run in task.runs
        if (by := orchestrator_task(run, lineage.history.orchestrator_runs))
    }
    ids = {
        (end["job"]["name"], end["run"]["facets"]["airflow"]["taskInstance"]["try_number"]): run_id
        for run_id, end in ends(emitted).items()
    }
    assert runs == {
        (task, "spark", "shop", name, attempt, status, ids[f"shop.{name}", attempt])
        for task, name, attempt, status in (
            ("load_orders", "raw.load_orders", 1, "ok"),
            ("clean_orders", "clean_orders", 1, "failed"),
            ("clean_orders", "clean_orders", 2, "ok"),
            ("score_orders", "score_orders", 1, "ok"),
        )
    }
    assert sum(len(task.runs) for task in lineage.tasks.values()) == len(runs)


def test_an_edge_that_both_have_is_one(lineage: Lineage) -> None:
    flows = sorted(
        (flow.task, str(flow.source), str(flow.target), flow.evidence) for flow in lineage.flows
    )
    assert flows == [
        ("clean_orders", "lake/orders", "lake/clean", "observed"),
        ("load_orders", "landing/orders.csv", "lake/orders", "observed"),
        # Only the DAG knows of it.
        ("load_orders", "sftp://crm//prices.csv", "lake/orders", "declared"),
        ("score_orders", "lake/clean", "lake/scores", "observed"),
    ]


def test_columns_are_those_of_the_log(lineage: Lineage) -> None:
    edges = {
        (edge.to_dataset.name, edge.to_column, edge.from_column, str(edge.subtype))
        for edge in lineage.column_edges
    }
    assert edges == {
        ("orders", "id", "id", "IDENTITY"),
        ("orders", "customer", "customer", "TRANSFORMATION"),
        ("orders", "amount", "amount", "TRANSFORMATION"),
        ("clean", "id", "id", "IDENTITY"),
        ("clean", "customer", "customer", "IDENTITY"),
        ("clean", "amount", "amount", "IDENTITY"),
        ("clean", "*", "amount", "FILTER"),
        ("scores", "customer", "customer", "IDENTITY"),
        ("scores", "*", "customer", "GROUP_BY"),
    }


def test_the_page_shows_both_tries_with_their_logs_in_airflow(
    shop: AirflowEnvironment, emitted: list[Any]
) -> None:
    path = shop.home / "build/site/tasks/clean_orders/index.html"
    page = path.read_text()
    assert re.findall(r"Airflow: shop / clean_orders, try \d(?: failed)?", text(page)) == [
        "Airflow: shop / clean_orders, try 2",
        "Airflow: shop / clean_orders, try 1 failed",
    ]
    logs = {
        end["run"]["facets"]["airflow"]["taskInstance"]["log_url"]
        for end in ends(emitted).values()
        if end["job"]["name"] == "shop.clean_orders"
    }
    links = {attributes.get("href") for tag, attributes in HtmlReader(page).tags if tag == "a"}
    assert len(logs) == 2
    assert logs <= links


def test_events_after_the_fact_are_of_airflow_s_own_runs(
    exported: list[Any], emitted: list[Any]
) -> None:
    runs = ends(emitted)
    found = {one["run"]["runId"]: one for one in exported}
    assert len(exported) == len(found) == 4
    assert {run_id: (one["job"]["name"], one["eventType"]) for run_id, one in found.items()} == {
        run_id: (run["job"]["name"], run["eventType"]) for run_id, run in runs.items()
    }
    assert {one["job"]["namespace"] for one in exported} == {"airflow"}
    for run_id, one in found.items():
        assert [why for why in complaints(one) if not why.startswith("graft: no schema")] == []
        assert one["eventTime"][:23] == runs[run_id]["eventTime"][:23]


def test_they_have_what_the_log_shows(exported: list[Any]) -> None:
    found = {
        one["job"]["name"]: (
            {dataset["name"] for dataset in one["inputs"]},
            [dataset["name"] for dataset in one["outputs"]],
            {*one["outputs"][0]["facets"]["columnLineage"]["fields"]},
            one["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"],
        )
        for one in exported
    }
    columns = {"id", "customer", "amount"}
    assert found == {
        "shop.raw.load_orders": ({"orders.csv", "/prices.csv"}, ["orders"], columns, 2),
        "shop.clean_orders": ({"orders"}, ["clean"], columns, 1),
        "shop.score_orders": ({"clean"}, ["scores"], {"customer"}, 1),
    }


def test_both_sources_are_fresh_up_to_the_end(shop: AirflowEnvironment) -> None:
    arguments = ("check", "--only", "freshness", "--max-age", "1d", "--json")
    freshness = json.loads(graft(shop.home, *arguments))["data"]["freshness"]
    assert [
        (source["kind"], source["logs"], source["waiting"], source["rejects"], source["late"])
        for source in freshness["sources"]
    ] == [("spark", 4, 0, 0, False), ("openlineage", 1, 0, 0, False)]


def test_reading_them_beside_the_log_adds_evidences_only(
    shop: AirflowEnvironment, exported: list[Any], lineage: Lineage
) -> None:
    """Events that were sent may come back with Airflow's own."""
    with (shop.home / "openlineage/again.jsonl").open("w") as file:
        file.writelines(f"{json.dumps(one)}{os.linesep}" for one in exported)
    collecting("collect", folder=shop.home)
    again = Project(load(shop.home / "graft.yml")).grafted(LineageView(results=False)).lineage
    assert [replace(flow, evidences=()) for flow in again.flows] == [
        replace(flow, evidences=()) for flow in lineage.flows
    ]
    sources = {evidence.source for flow in again.flows for evidence in flow.evidences}
    assert sources >= {"Spark log", "OpenLineage event"}
    assert {*again.column_edges} == {*lineage.column_edges}
    assert {name: len(task.runs) for name, task in again.tasks.items()} == {
        name: len(task.runs) for name, task in lineage.tasks.items()
    }
