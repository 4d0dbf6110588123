"""`graft check --only drift` on the code of tasks: what runs, by logs and by commits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from dbt_graft.collectors.store.arrow_tables import tables
from dbt_graft.collectors.store.commit import commit
from dbt_graft.graft.commands.cli import main
from tests.graft.commands.answers import read_answer
from tests.graft.commands.test_review import git
from tests.graft.doctor.test_python_code import LOG, SCRIPT
from tests.lineage.building.test_task_code import log_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with a script that has run as it was committed."""
    (tmp_path / "graft.yml").write_text("tasks: {load: {code: tasks/load.py}}\nstore: store\n")
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks/load.py").write_text(SCRIPT)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "graft.yml", "tasks")
    git(tmp_path, "commit", "-qm", "first")
    version = git(tmp_path, "rev-parse", "HEAD").strip()
    records = log_of(*LOG)
    runs = tuple(replace(run, code_version=version) for run in records.runs)
    commit(str(tmp_path / "store"), [tables(replace(records, runs=runs), {"log": "1"})])
    return tmp_path


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("orders[[", "# In euros.\norders[[", ""),
        ("* 2", "* 3", "its last run had its code of {}, and that is another"),
        ('"total"', '"sum"', "runs write total, and this code does not"),
    ],
)
def test_the_code_that_ran_is_compared(folder: Path, old: str, new: str, problem: str) -> None:
    (folder / "tasks/load.py").write_text(SCRIPT.replace(old, new))
    command = ["check", "--only", "drift", "--json", "--config", str(folder / "graft.yml")]

    answer = read_answer(CliRunner().invoke(main, command).stdout)

    problems = [finding["problem"] for finding in answer["findings"]]
    version = git(folder, "rev-parse", "HEAD").strip()[:12]
    assert bool(problems) == bool(problem)
    assert not problem or any(text.endswith(problem.format(version)) for text in problems)
