"""`graft review` of the code of tasks: the script of the base, and that of now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbt_graft.lineage.records import Status
from tests.graft.commands.test_review import review_project
from tests.graft.questions.review.test_tasks import (
    SCORE,
    as_artifacts,
    as_directory,
    as_revision,
    at,
    ran,
    reviewed,
    with_runs,
)

CODE = """\
import pandas as pd

from source import connection

orders = pd.read_sql("SELECT id, note, n FROM db.orders WHERE n > 0", connection)
orders["total"] = orders["n"] * 2
orders[["id", "total"]].to_sql("scores", connection, schema="ml", index=False)
"""


def may_be(files: str, table: str = "spark/ml.scores") -> str:
    """The line on a task of which these files changed."""
    return f"UNKNOWN its code changed ({files}): values and rows of {table} may be others"


MAY_BE = may_be("jobs/score.py")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the script of `score`, which read db.orders and wrote ml.scores."""
    folder = review_project(tmp_path)
    config = folder / "graft.yml"
    config.write_text(f"{config.read_text()}tasks: {{score: {{code: jobs/score.py}}}}\n")
    (folder / "jobs").mkdir()
    (folder / "jobs/score.py").write_text(CODE)
    with_runs(folder, ran(-1, SCORE, status=Status.OK))
    return folder


@pytest.mark.parametrize("base", [as_directory, as_revision])
@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("orders[", "# In euros.\norders[", []),
        ("* 2", "* 3", ["VALUES total another expression in jobs/score.py"]),
        (
            'orders[["id"',
            'orders = orders[orders["n"] > 5]\norders[["id"',
            [MAY_BE],
        ),
        (
            'orders["n"] * 2',
            'orders["n"] * 2 if orders["n"].max() > 9 else orders["n"]',
            ["VALUES total comes from spark/db.orders.n now"],
        ),
        ("n > 0", "n > 1", [MAY_BE]),  # what SQL does, its own parser must say
        (
            '["id", "total"]',
            '["id", "n"]',
            [
                MAY_BE,
                "VALUES total no longer comes from spark/db.orders.n",
                "ADDITIVE n added",
            ],
        ),
        (
            'orders["n"] * 2',
            'orders["id"] * 2',
            [
                "VALUES total comes from spark/db.orders.id now; no longer comes from "
                "spark/db.orders.n",
            ],
        ),
        (
            "WHERE n > 0",
            "WHERE note > 0",
            [MAY_BE, "ROWS other filters of spark/ml.scores"],
        ),
    ],
)
def test_the_scripts_of_both_versions_are_read(
    project: Path, base: Any, old: str, new: str, changes: list[str]
) -> None:
    name = base(project)
    script = project / "jobs/score.py"
    assert old in CODE
    script.write_text(CODE.replace(old, new, 1))

    assert at(reviewed(project, "--base", name), "score") == changes


def test_a_module_of_the_script_is_a_part_of_it(project: Path) -> None:
    (project / "jobs/source.py").write_text("connection = open_database('a')\n")
    name = as_revision(project)
    (project / "jobs/source.py").write_text("connection = open_database('b')\n")

    assert at(reviewed(project, "--base", name), "score") == [may_be("jobs/source.py")]


def test_an_expression_of_a_module_changes_what_it_reaches(project: Path) -> None:
    (project / "jobs/source.py").write_text("connection = open_database('a')\nrate = 2\n")
    script = CODE.replace("import connection", "import connection, rate").replace("* 2", "* rate")
    (project / "jobs/score.py").write_text(script)
    name = as_revision(project)
    (project / "jobs/source.py").write_text("connection = open_database('a')\nrate = 3\n")

    assert at(reviewed(project, "--base", name), "score") == [
        "VALUES total another expression in jobs/source.py"
    ]


def test_a_script_that_is_new_here_is_said(project: Path) -> None:
    (project / "jobs/score.py").unlink()
    name = as_revision(project)
    (project / "jobs/score.py").write_text(CODE)

    assert at(reviewed(project, "--base", name), "score") == [
        "METADATA its code is here now: jobs/score.py"
    ]


def test_a_base_without_files_is_a_notice(project: Path) -> None:
    notes = reviewed(project, "--base", as_artifacts(project))["notes"]

    assert "the code of tasks is not compared: the base has no files of it" in notes


_DAG = """\
from airflow import DAG
from airflow.operators.bash import BashOperator
from airflow.operators.python import PythonOperator
from airflow.providers.common.sql.operators.sql import SQLExecuteQueryOperator

def send():
    post(1)

with DAG("shop", template_searchpath=["/opt/airflow/sql"]):
    SQLExecuteQueryOperator(task_id="load", sql="load.sql")
    SQLExecuteQueryOperator(task_id="ONCE", sql="INSERT INTO dw.b (n) SELECT n FROM dw.a")
    BashOperator(task_id="ONCE_count", bash_command="python3 /opt/airflow/etl/ONCE_count.py")
    PythonOperator(task_id="ONCE_send", python_callable=send)
"""
_COUNT = "import pandas as pd\npd.read_csv('a.csv')[['a']].to_csv('out/b.csv')\n"
_FILES = {
    "dags/shop.py": _DAG.replace("ONCE", "shop"),
    "dags/more.py": _DAG.replace("ONCE", "more"),
    "dags/sql/load.sql": "INSERT INTO dw.a (n) SELECT n FROM stg.a",
    "etl/shop_count.py": _COUNT,
    "etl/more_count.py": f"{_COUNT}settings = load_settings('size.json')\n",
    "config/size.json": "{}",
    "etl/unused.py": "a = 1",
    "etl/tests/test_shop.py": "a = 1",
}


@pytest.fixture
def dags(project: Path) -> Path:
    """The project with two DAGs and the files that they run."""
    for file, text in _FILES.items():
        (project / file).parent.mkdir(parents=True, exist_ok=True)
        (project / file).write_text(text)
    config = (project / "graft.yml").read_text()
    collect = "collect: [{declared: {path: lineage.yml}}, {python: {path: dags/}}]\n"
    (project / "graft.yml").write_text(collect + config.partition("\n")[2])
    return project


def of_no_task(document: Any) -> list[str]:
    """The notes on files that are no task's."""
    return [note for note in document["notes"] if "of no task" in note]


def lines_of(document: Any) -> set[str]:
    """A line for each task and change of it."""
    return {
        f"{node['node_id']} {line}"
        for node in document["nodes"]
        for line in at(document, node["node_id"])
    }


@pytest.mark.parametrize("base", [as_directory, as_revision])
@pytest.mark.parametrize(
    ("file", "old", "new", "lines"),
    [
        (
            "etl/shop_count.py",
            "'a.csv'",
            "'x.csv'",
            {f"shop_count {may_be('etl/shop_count.py', 'out/b.csv')}"},
        ),
        ("etl/shop_count.py", "\npd.", "\n# Rows.\npd.", set()),
        # Two files have a task of this id.
        (
            "dags/sql/load.sql",
            "SELECT n",
            "SELECT n + 1",
            {f"{dag}.load {may_be('dags/sql/load.sql', 'dw.a')}" for dag in ("shop", "more")},
        ),
        # No write of it is seen.
        (
            "dags/shop.py",
            "post(1)",
            "post(2)",
            {f"shop.shop_send {may_be('dags/shop.py', 'what it writes')}"},
        ),
        (
            "dags/sql/load.sql",
            "INSERT INTO dw.a",
            "SELECT n INTO dw.aa FROM dw.a; INSERT INTO a",
            {
                f"{dag}.load {may_be('dags/sql/load.sql', 'dw.a, dw.aa, a')}"
                for dag in ("shop", "more")
            },
        ),
        # A task names it, to a function that is not here.
        (
            "config/size.json",
            "{}",
            "{1: 2}",
            {f"more_count {may_be('config/size.json', 'out/b.csv')}"},
        ),
        (
            "dags/more.py",
            "",
            "",
            {
                f"{task} UNKNOWN its code is gone: dags/more.py"
                for task in ("more.load", "more", "more_count", "more.more_send")
            },
        ),
    ],
)
def test_the_files_that_a_dag_runs_are_of_its_tasks(
    dags: Path, base: Any, file: str, old: str, new: str, lines: set[str]
) -> None:
    name = base(dags)
    if old:
        assert old in (dags / file).read_text()
        (dags / file).write_text((dags / file).read_text().replace(old, new))
    else:
        (dags / file).unlink()

    review = reviewed(dags, "--base", name)

    assert (lines_of(review), of_no_task(review)) == (lines, [])


@pytest.mark.parametrize("base", [as_directory, as_revision])
def test_files_with_code_that_no_task_is_known_to_use_are_named(dags: Path, base: Any) -> None:
    name = base(dags)
    for file in ("etl/unused.py", "etl/tests/test_shop.py", "models/a.sql", "notes.txt"):
        (dags / file).parent.mkdir(parents=True, exist_ok=True)
        (dags / file).write_text("a = 2")
    (dags / "etl/new.sql").write_text("SELECT 1")

    review = reviewed(dags, "--base", name)

    assert review["nodes"] == []
    assert of_no_task(review) == [
        "etl/new.sql, etl/unused.py changed and are of no task: what that does to data is not known"
    ]
