"""`graft incident`: a bad run and all that came of it, on one page."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from dbt_graft.graft.commands.cli import main
from tests.graft.dated_project import dated_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    dated_project(tmp_path)
    return tmp_path


def incident(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["incident", "-c", str(folder / "graft.yml"), *arguments])


@pytest.mark.parametrize(
    "line",
    [
        "# Incident: run `load-2026-10-05` of `load`",
        "- status ok, 2026-10-06T04:00:00Z to 2026-10-06T04:00:00Z",
        "- code: `bad`",
        "- owner: Platform",
        "## Bad data: what must run again",
        "- last good run before: `load-2026-10-04` of `load` at 2026-10-05 04:00",
        "### Run again, in this order",
        "1. `load` (Platform): 5 Oct 2026",
        "### Let know",
    ],
)
def test_the_page_has_the_run_and_all_that_came_of_it(project: Path, line: str) -> None:
    assert line in incident(project, "load-2026-10-05").stdout.splitlines()


def test_the_plan_is_that_of_graft_taint(project: Path, root: Path) -> None:
    found = json.loads(incident(project, "load-2026-10-05", "--json").stdout)
    command = ["taint", "-c", str(project / "graft.yml"), "--run", "load-2026-10-05", "--json"]
    assert found["taint"] == json.loads(CliRunner().invoke(main, command).stdout)
    for part, name in (
        (found, "incident"),
        (found["run"], "run-manifest"),
        (found["taint"], "taint"),
    ):
        jsonschema.validate(part, json.loads((root / f"docs/{name}.schema.json").read_text()))


def test_a_run_that_only_read_has_nothing_to_run_again(project: Path) -> None:
    document = json.loads(incident(project, "last", "--task", "report", "--json").stdout)
    assert document["taint"] is None
    page = incident(project, "last", "--task", "report").stdout
    assert page.endswith("No log shows that this run wrote anything.\n")


def test_the_last_run_of_a_task_into_a_file(project: Path) -> None:
    out = project / "new" / "incident.md"
    assert incident(project, "last", "--task", "load", "--out", str(out)).exit_code == 0
    assert out.read_text().startswith("# Incident: run `load-2026-10-11` of `load`\n")


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (("gone",), 1, "there is no such run in the store"),
        (("last",), 2, "name the task"),
        (("last", "--task", "gone"), 1, "there is no such task"),
    ],
)
def test_an_error_says_what_to_do(
    project: Path, arguments: tuple[str, ...], code: int, problem: str
) -> None:
    found = incident(project, *arguments)
    assert (found.exit_code, problem in found.output) == (code, True)
