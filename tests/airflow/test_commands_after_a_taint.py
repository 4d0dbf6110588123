"""The commands and the DAG that `graft incident open` prints, run in real Airflow.

A day of Airflow's own zone begins the day before in UTC: midnight in Berlin is 22:00.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import pytest

from tests.airflow.environment import RUN_IN, AirflowEnvironment, airflow_environment, graft

pytestmark = pytest.mark.airflow

DAG = """
from datetime import datetime

from airflow import DAG
from airflow.providers.common.compat.openlineage.facet import Dataset
from airflow.providers.standard.operators.bash import BashOperator
from airflow.utils.task_group import TaskGroup

RAW = Dataset(namespace="spark", name="raw.orders")
CLEAN = Dataset(namespace="spark", name="clean.orders")

with DAG("shop", schedule="@daily", start_date=datetime(2026, 10, 1), catchup=False):
    with TaskGroup("raw"):
        load = BashOperator(task_id="load", bash_command="true", outlets=[RAW])
        prices = BashOperator(task_id="load_prices", bash_command="true")
    clean = BashOperator(task_id="clean", bash_command="true", inlets=[RAW], outlets=[CLEAN])
    load >> prices >> clean
"""
CONFIG = """
collect: [{{openlineage: {{path: events.ndjson}}}}]
store: store
airflow: {{version: {version}}}
"""
DAYS = ("2026-10-02", "2026-10-03", "2026-10-04")
BAD = "2026-10-02T22:00:00+00:00"  # the logical date of 3 October
# Each task's logical date and state: a second Airflow would take seconds to ask its own.
STATES = """
SELECT task_id, {date}, task_instance.state
FROM task_instance JOIN dag_run USING (dag_id, run_id)
WHERE dag_id = 'shop'
ORDER BY 1, 2
"""


@pytest.fixture(scope="module", params=RUN_IN)
def airflow(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AirflowEnvironment:
    """Airflow after three days of the DAG, whose events are collected."""
    home = tmp_path_factory.mktemp(f"airflow-{request.param}")
    environment = airflow_environment(
        request.param, home, AIRFLOW__CORE__DEFAULT_TIMEZONE="Europe/Berlin"
    )
    (environment.dags / "shop.py").write_text(DAG)
    environment.migrate()
    environment.run_lines(*(f"dags test shop {day}" for day in DAYS))
    (home / "graft.yml").write_text(CONFIG.format(version=request.param))
    graft(home, "collect", "--quiet")
    return environment


@pytest.fixture(scope="module")
def bad_run(airflow: AirflowEnvironment) -> str:
    """The id of the run of 3 October in Airflow's events."""
    (found,) = {
        event["run"]["runId"]
        for event in map(json.loads, airflow.events.read_text().splitlines())
        if event["job"]["name"] == "shop.raw.load"
        and event["run"]["facets"]["airflow"]["dagRun"]["logical_date"] == BAD
    }
    return str(found)


@pytest.fixture(scope="module")
def plan(airflow: AirflowEnvironment, bad_run: str) -> Any:
    options = ("--run", bad_run, "--dry-run", "--json")
    return json.loads(graft(airflow.home, "incident", "open", *options))["data"]["plan"]


def in_shell(airflow: AirflowEnvironment, line: str) -> str:
    """The output of a command in a shell with Airflow's environment."""
    done = subprocess.run(
        ["sh", "-c", line],
        env=airflow.environment(),
        cwd=airflow.home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, (line, (done.stdout + done.stderr)[-3000:])
    return done.stdout + done.stderr


def cleared(airflow: AirflowEnvironment) -> list[Sequence[str]]:
    """The tasks and logical dates that wait to run again."""
    date = "logical_date" if airflow.version == 3 else "execution_date"
    with closing(sqlite3.connect(airflow.home / "airflow.db")) as database:
        states = database.execute(STATES.format(date=date)).fetchall()
    assert len(states) == 3 * len(DAYS)
    return [
        (task, at.replace(" ", "T").replace(".000000", "+00:00"))
        for task, at, state in states
        if state != "success"
    ]


def test_the_backfill_takes_the_days_of_the_bad_runs(
    airflow: AirflowEnvironment, plan: Any
) -> None:
    (line,) = plan["backfills"]
    printed = in_shell(airflow, f"{line} --dry-run")
    if airflow.version == 3:
        assert [day for day in DAYS if f"{day} 22:00" in printed] == ["2026-10-02", "2026-10-03"]
    else:  # it names the tasks of each day
        assert printed.count("Task raw.load located in DAG shop") == 2


def test_clearing_takes_the_tasks_and_days_of_the_bad_runs(
    airflow: AirflowEnvironment, plan: Any
) -> None:
    assert cleared(airflow) == []
    load, clean = plan["rerun"]

    for line in load["commands"]:
        in_shell(airflow, line)
    # The trap of which the plan tells.
    also = [("raw.load_prices", BAD)] if airflow.version == 3 else []
    assert cleared(airflow) == [("raw.load", BAD), *also]

    for line in clean["commands"]:
        in_shell(airflow, line)
    after = "2026-10-03T22:00:00+00:00"
    assert cleared(airflow) == [("clean", BAD), ("clean", after), ("raw.load", BAD), *also]


def test_the_dag_is_loaded_and_runs_what_airflow_lets_it_run(
    airflow: AirflowEnvironment, plan: Any, bad_run: str
) -> None:
    options = ("--run", bad_run, "--dry-run", "--dag", str(airflow.dags))
    graft(airflow.home, "incident", "open", *options)
    name = "lineage_reprocess_raw_orders"
    dag = airflow.load(airflow.dags / f"{name}_dag.yml")[name]
    assert {task: one["upstream"] for task, one in dag["tasks"].items()} == {
        "load": [],
        "clean": ["load"],
    }
    printed = airflow.run_lines("dags list-import-errors", f"dags test {name} 2026-11-01")
    assert "No data found" in printed, printed[-3000:]
    lines = [line for step in plan["rerun"] for line in step["commands"]]
    if airflow.version == 3:  # its tasks must not reach its database
        assert "then mark this task as success:" in printed
        assert [line for line in lines if line in printed] == lines[:1]
    else:
        assert [line for line in lines if repr(line) in printed] == lines
        assert "Command exited with return code 0" in printed
        assert "Command exited with return code 1" not in printed
