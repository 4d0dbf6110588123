"""The plan behind a taint as a DAG: what its tasks run in each version of Airflow."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from typing import Any

import pytest
import yaml

from dbt_graft.analysis.dates.taint_plan import Rerun, RerunStep, TaintPlan
from dbt_graft.exporters.reprocessing.commands import RerunSettings, rerun_steps
from dbt_graft.exporters.reprocessing.dag import reprocessing_dag
from dbt_graft.lineage.dates.calendar import ALL_DATES
from dbt_graft.lineage.dates.date_text import parse_dates
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.records import TaskInfo
from tests.exporters.dag_factory.orders import SETTINGS

DATES = parse_dates("2026-10-03")
CLEAR = "airflow tasks clear 'a b' -s 2026-10-03T00:00Z -e 2026-10-03T23:59:59Z -t load -y"


def task_of(version: int, *commands: str, is_clearing: bool = False) -> dict[str, Any]:
    rerun = Rerun("load", (), DATES, Grain.DAY, TaskInfo())
    plan = TaintPlan((), None, (rerun,), (), (), (), ())
    step = RerunStep(rerun, commands, is_clearing=is_clearing)
    files = reprocessing_dag(plan, [step], replace(SETTINGS, version=version))
    (dag,) = yaml.safe_load(
        next(text for name, text in files.items() if name.endswith(".yml"))
    ).values()
    (task,) = dag["tasks"]
    found: dict[str, Any] = task
    return found


@pytest.mark.parametrize(
    ("version", "commands", "is_clearing", "expected"),
    [
        (3, ("make load", "make test"), False, "make load && make test"),
        (3, ("./load.sh",), False, "./load.sh{{ '' }}"),
        (2, (CLEAR,), True, CLEAR),
        (3, ("make a # b", "make c"), False, "(\nmake a # b\n) && (\nmake c\n)"),
    ],
)
def test_a_task_runs_its_commands(
    version: int, commands: tuple[str, ...], is_clearing: bool, expected: str
) -> None:
    assert task_of(version, *commands, is_clearing=is_clearing)["bash_command"] == expected


def test_a_command_without_its_dates_asks_people() -> None:
    rerun = Rerun("load", (), ALL_DATES, Grain.DAY, TaskInfo(rerun="./load {start}"))
    plan = TaintPlan((), None, (rerun,), (), (), (), ())
    files = reprocessing_dag(plan, rerun_steps(plan, RerunSettings()), SETTINGS)
    assert any("then mark this task as success" in text for text in files.values())


def test_without_a_command_it_is_a_mark() -> None:
    assert task_of(3)["operator"].endswith("EmptyOperator")


def test_a_task_of_airflow_3_asks_people_to_clear_others() -> None:
    task = task_of(3, CLEAR, is_clearing=True)

    done = subprocess.run(["bash", "-c", task["bash_command"]], capture_output=True, text=True)
    assert (done.returncode, task["retries"]) == (1, 0)
    asked, *commands = done.stdout.splitlines()
    assert asked.endswith("then mark this task as success:")
    assert commands == [CLEAR]
