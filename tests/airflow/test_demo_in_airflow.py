"""The demo's night as a DAG: loaded in both Airflows, and, by `make test-all`, run in both.

The lineage collected from these runs is the demo's.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib import util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from dbt_graft.collectors.store import door as store
from dbt_graft.exporters.dag_factory.document import documents, files
from dbt_graft.exporters.dag_factory.order import demanded_order
from dbt_graft.exporters.dag_factory.planner import plan_dags
from dbt_graft.exporters.dag_factory.settings import DbtTasks
from dbt_graft.graft.commands.cli import main
from dbt_graft.graft.project.config import load
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.project.view import LineageView
from dbt_graft.injector.report import Grafted
from tests.airflow.environment import AirflowEnvironment, airflow_environment

pytestmark = [pytest.mark.airflow, pytest.mark.demo]

CONFIG = "dbt_project/graft.yml"
# Variables that the demo's tasks run with, of those that demo.py gives to its steps.
VARIABLES = (
    *("JAVA_HOME", "PYSPARK_PYTHON", "PYSPARK_SUBMIT_ARGS", "SPARK_LOCAL_IP", "SHOP_BUILD"),
    *("DBT_PROJECT_DIR", "DBT_PROFILES_DIR", "DBT_TARGET_PATH", "DBT_LOG_PATH"),
)


@pytest.fixture(scope="module")
def expected(root: Path) -> dict[str, Any]:
    """EXPECTED.yml; the DAGs with the tasks of another team, whose places they mark."""
    loaded: dict[str, Any] = yaml.safe_load((root / "dbt_project/EXPECTED.yml").read_text())
    marked = loaded["month"]["airflow"]
    loaded["airflow"] = {name: {**dag, **marked} for name, dag in loaded["airflow"].items()}
    return loaded


@pytest.fixture(scope="module", autouse=True)
def collected(root: Path) -> None:
    """Skips without the demo's lineage."""
    config = load(root / CONFIG)
    if (
        not Path(config.path(config.store)).is_dir()
        or not store.read(config.path(config.store)).accesses
    ):
        pytest.skip("the demo's store is empty: run `make docs` first")


def export(root: Path, folder: Path, version: int, dbt: DbtTasks) -> Path:
    """Write the demo's DAG; the path of its YAML."""
    config = load(root / CONFIG)
    settings = replace(config.airflow, version=version, dbt=dbt)
    described = Project(config).described(LineageView(results=False))
    plan = plan_dags(
        demanded_order(described.lineage, described.descriptions), settings, config.site.url
    )
    for name, text in files(documents(plan.dags, settings), settings.name).items():
        (folder / name).write_text(text)
    return folder / "shop_lineage_dag.yml"


@pytest.mark.parametrize("version", [3, 2])
@pytest.mark.parametrize("dbt", [DbtTasks.MODELS, DbtTasks.LEVELS])
def test_airflow_has_exactly_the_expected_edges(
    root: Path, tmp_path: Path, expected: dict[str, Any], version: int, dbt: DbtTasks
) -> None:
    airflow = airflow_environment(version, tmp_path)
    dags = airflow.load(export(root, airflow.dags, version, dbt))
    assert list(dags) == ["shop_lineage"]
    tasks = dags["shop_lineage"]["tasks"]
    assert {name: task["upstream"] for name, task in tasks.items()} == expected["airflow"][dbt]


@pytest.fixture(scope="module", params=[3, 2])
def night(
    root: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> AirflowEnvironment:
    """Each Airflow after a night in the shop: the replication tool, then the DAG."""
    version = request.param
    home = tmp_path_factory.mktemp("night")
    airflow_environment(version, home)  # skips before any work
    demo, build = _demo(root), home / "demo"
    java = subprocess.run(
        [sys.executable, "-m", "dbt_graft", "doctor", "--java"], capture_output=True, text=True
    )
    assert java.returncode == 0, java.stderr
    demo.start_clean(build)
    variables = demo.step_environment(build, java.stdout.strip())
    airflow = airflow_environment(version, home, **{name: variables[name] for name in VARIABLES})
    export(root, airflow.dags, version, DbtTasks.LEVELS)
    assert demo.run(demo.steps(build)[0], build / "logs/replicate.log", variables)
    airflow.migrate()
    done = airflow.run("airflow", "dags", "test", "shop_lineage", "2026-11-01")
    (home / "night.log").write_text(done.stdout + done.stderr)
    return airflow


def _demo(root: Path) -> ModuleType:
    spec = util.spec_from_file_location("demo", root / "dbt_project/demo.py")
    assert spec
    assert spec.loader
    module = util.module_from_spec(spec)
    sys.modules["demo"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def times(airflow: AirflowEnvironment) -> dict[str, tuple[str, str, str]]:
    """Task -> start and end of its run, and how it ended, by Airflow's own events."""
    started, ended = {}, {}
    for line in airflow.events.read_text().splitlines():
        event = json.loads(line)
        task = event["job"]["name"].partition(".")[2]
        if event["eventType"] == "START":
            started[task] = event["eventTime"]
        elif task:
            ended[task] = (event["eventTime"], event["eventType"])
    return {task: (start, *ended[task]) for task, start in started.items() if task}


@pytest.mark.exhaustive
def test_the_tasks_and_dbt_s_builds_ran_in_that_order(
    night: AirflowEnvironment, expected: dict[str, Any]
) -> None:
    ran = times(night)
    # The last one fails in the demo, too, and is meant to.
    failed = {task for task, (_, _, how) in ran.items() if how != "COMPLETE"}
    assert failed == {"rebuild_returns"}, (night.home / "night.log").read_text()[-3000:]
    assert set(ran) == set(expected["airflow"]["levels"])
    for task, waits_for in expected["airflow"]["levels"].items():
        for other in waits_for:
            assert ran[other][1] <= ran[task][0], f"{task} did not wait for {other}"


@pytest.mark.exhaustive
def test_airflow_reports_the_data_of_what_it_ran_and_of_nothing_else(
    night: AirflowEnvironment, expected: dict[str, Any]
) -> None:
    found: dict[str, set[str]] = {}
    for line in night.events.read_text().splitlines():
        event = json.loads(line)
        task = event["job"]["name"].partition(".")[2]
        names = {f"{output['namespace']}/{output['name']}" for output in event.get("outputs", ())}
        found.setdefault(task, set()).update(names)
    for name, task in expected["tasks"].items():
        if name in found:  # SQL Server's tasks run elsewhere
            writes = task["writes"] if task["engine"] == "spark" else []
            assert found[name] == set(writes), name


@pytest.fixture(scope="module")
def grafted(root: Path, night: AirflowEnvironment) -> Grafted:
    """The lineage in the logs of that night, on the demo's artifacts."""
    demo = load(root / CONFIG)
    described = yaml.safe_load((root / CONFIG).read_text())
    logs = root / "dbt_project/logs"
    # Scripts are read below the folder of graft.yml, and nowhere else.
    shutil.copytree(root / "dbt_project/tasks", night.home / "tasks")
    config = night.home / "graft.yml"
    config.write_text(
        yaml.safe_dump(
            {
                "dbt": {"project_dir": str(demo.project_dir), "target_dir": str(demo.target_dir)},
                "collect": [
                    {"sqlserver": {"path": str(logs), "server": "mssql://sql01:1433"}},
                    {"spark": {"path": str(night.home / "demo/spark-events")}},
                    {"declared": {"path": str(root / "dbt_project/lineage/*.yml")}},
                ],
                "names": described["names"],
                "tasks": described["tasks"],
            }
        )
    )
    # A process of its own: the tests of a run share one Spark session.
    done = subprocess.run(
        [sys.executable, "-m", "dbt_graft", "collect", "--quiet", "--config", str(config)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return Project(load(config)).grafted(LineageView(results=False))


@pytest.mark.exhaustive
def test_the_lineage_of_that_night_is_the_demo_s(
    grafted: Grafted, expected: dict[str, Any]
) -> None:
    flows = {(str(flow.source), str(flow.target), flow.task) for flow in grafted.lineage.flows}
    edges = {(edge["from"], edge["to"], edge["by"]) for edge in expected["edges"]}
    # rebuild_returns fails before it gets there: known from nights long ago.
    assert edges - flows == {edge for edge in edges if edge[1] == "spark/ml.return_risk"}
    assert flows <= edges


@pytest.mark.exhaustive
def test_the_columns_of_that_night_are_the_demo_s(
    grafted: Grafted, expected: dict[str, Any]
) -> None:
    edges = {
        (str(e.from_dataset), str(e.to_dataset), e.task, e.to_column, e.from_column, str(e.subtype))
        for e in grafted.lineage.column_edges
    }
    assert edges == {
        (edge["from"], edge["to"], edge["by"], column, source, how)
        for edge in expected["columns"]
        if edge["to"] != "spark/ml.return_risk"
        for column, sources in edge["columns"].items()
        for source, ways in sources.items()
        for how in ways.split()
    }


def check(root: Path, events: Path) -> Result:
    arguments = ["check", "--config", str(root / CONFIG), "--only", "dags", "--fail-on", "note"]
    return CliRunner().invoke(main, [*arguments, "--dags", str(events)])


@pytest.mark.exhaustive
def test_the_check_finds_that_order_in_airflow_s_own_events(
    root: Path, night: AirflowEnvironment
) -> None:
    done = check(root, night.events)
    assert done.exit_code == 0
    assert done.output.startswith("the order of DAGs: 1 DAG with 13 tasks\n")


@pytest.mark.exhaustive
def test_the_check_finds_a_task_that_does_not_wait_in_airflow_s_own_events(
    root: Path, night: AirflowEnvironment, tmp_path: Path
) -> None:
    text = night.events.read_text().replace("\"['score_customers']\"", '"[]"')
    (tmp_path / "events.ndjson").write_text(text)
    done = check(root, tmp_path / "events.ndjson")
    assert done.exit_code == 3
    assert "dbt_build_2: does not wait for score_customers, its writer" in done.output
