"""`graft doctor` on the code of tasks: what it explains, what it does not, what is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dbt_graft.collectors.store.arrow_tables import tables
from dbt_graft.collectors.store.commit import commit
from dbt_graft.graft.doctor.python_code import python_code
from dbt_graft.graft.project.config import load
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.project.task_codes import TaskCodes
from tests.cases import for_each
from tests.lineage.building.test_task_code import log_of

LOG = ["SELECT order_id, price FROM dbo.orders", "INSERT INTO dbo.totals (id, total) VALUES (?, ?)"]
SCRIPT = """\
import pandas as pd
orders = pd.read_sql("SELECT order_id, price FROM dbo.orders", connection)
orders = orders.rename(columns={"order_id": "id"})
orders["total"] = orders["price"] * 2
orders[["id", "total"]].to_sql("totals", connection, index=False)
"""


@pytest.mark.parametrize(
    ("script", "lines"),
    [
        (
            SCRIPT,
            [
                "1 task writes columns that no log explains; the code of 1 is known, and "
                "explains 2 of 2 columns"
            ],
        ),
        (None, ["1 task writes columns that no log explains; the code of 0 is known"]),
        (
            SCRIPT.replace('"price"] * 2', '"price"]').replace("orders[[", "exec(text)\norders[["),
            [
                "1 task writes columns that no log explains; the code of 1 is known, and "
                "explains 2 of 2 columns",
                "tasks/load.py:5",
            ],
        ),
    ],
)
def test_doctor_counts_what_code_explains(
    tmp_path: Path, script: str | None, lines: list[str]
) -> None:
    commit(str(tmp_path / ".graft/store"), [tables(log_of(*LOG), {"log": "1"})])
    entry = "  - python: {path: tasks/}\n" if script else ""
    (tmp_path / "graft.yml").write_text(f"collect:\n  - spark: {{path: logs/}}\n{entry}")
    if script:
        (tmp_path / "tasks").mkdir()
        (tmp_path / "tasks/load.py").write_text(script)

    findings = list(python_code(Project(load(tmp_path / "graft.yml"))))

    assert [finding.place or finding.problem for finding in findings] == lines


@for_each(
    "place, known",
    [
        ("tasks/load.py", True),
        ("tasks/a b/load.py", True),
        ("tasks/.venv/lib/load.py", False),
        ("tasks/venv/lib/site-packages/load.py", False),
        ("tasks/dbt_packages/p/load.py", False),
        (".hidden/tasks/load.py", True),  # where graft.yml names the folder below
    ],
)
def test_scripts_of_an_environment_are_no_tasks(tmp_path: Path, place: str, known: bool) -> None:
    entry = place.partition("tasks/")[0] + "tasks/"
    (tmp_path / "graft.yml").write_text(f"collect: [{{python: {{path: '{entry}'}}}}]\n")
    (tmp_path / place).parent.mkdir(parents=True)
    (tmp_path / place).write_text(SCRIPT)
    assert TaskCodes(load(tmp_path / "graft.yml")).files == ({"load": place} if known else {})


def test_a_write_of_which_the_log_shows_no_column_is_counted(tmp_path: Path) -> None:
    log = log_of("INSERT INTO dbo.totals SELECT * FROM dbo.items CROSS APPLY dbo.parts(items.id)")
    commit(str(tmp_path / ".graft/store"), [tables(replace(log, column_edges=()), {"log": "1"})])
    (tmp_path / "graft.yml").write_text("collect:\n  - spark: {path: logs/}\n")

    (finding,) = python_code(Project(load(tmp_path / "graft.yml")))

    assert finding.problem == "1 task writes columns that no log explains; the code of 0 is known"
    assert finding.remedy.startswith("name the script of load as `code`")


def test_a_date_that_a_statement_compares_is_no_data_in_memory(tmp_path: Path) -> None:
    log = log_of("DELETE FROM dbo.totals WHERE day = ?", "INSERT INTO totals SELECT * FROM orders")
    commit(str(tmp_path / ".graft/store"), [tables(log, {"log": "1"})])
    (tmp_path / "graft.yml").write_text("collect:\n  - spark: {path: logs/}\n")

    assert list(python_code(Project(load(tmp_path / "graft.yml")))) == []


def test_a_script_outside_the_checkout_is_not_read_and_doctor_says_why(tmp_path: Path) -> None:
    project = tmp_path / "project"
    commit(str(project / ".graft/store"), [tables(log_of(*LOG), {"log": "1"})])
    (tmp_path / "load.py").write_text(SCRIPT)
    (project / "graft.yml").write_text(
        "collect:\n  - spark: {path: logs/}\ntasks:\n  load: {code: ../load.py}\n"
    )

    *_, finding = python_code(Project(load(project / "graft.yml")))

    reason = "there is no such file in the checkout of graft.yml"
    assert (finding.place, finding.problem) == ("../load.py:1", reason)
