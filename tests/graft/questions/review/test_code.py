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
MAY_BE = (
    "UNKNOWN its code changed (jobs/score.py): values and rows of spark/ml.scores may be others"
)


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

    assert at(reviewed(project, "--base", name), "score") == [MAY_BE]


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
