"""`graft export run-manifest`: which run it takes, and how it ends."""

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


def run(folder: Path, *arguments: str) -> Result:
    command = ["export", "run-manifest", "-c", str(folder / "graft.yml"), *arguments]
    return CliRunner().invoke(main, command)


def test_a_run_is_found_by_its_id(project: Path, root: Path) -> None:
    document = json.loads(run(project, "load-2026-10-05").stdout)
    assert (document["task"], document["run_id"]) == ("load", "load-2026-10-05")
    assert [output["dataset"] for output in document["outputs"]] == ["spark/raw.orders"]
    schema = json.loads((root / "docs/schemas/run-manifest.schema.json").read_text())
    jsonschema.validate(document, schema)


def test_last_is_the_newest_run_of_a_task(project: Path) -> None:
    out = project / "new" / "run.json"
    assert run(project, "last", "--task", "load", "--out", str(out)).exit_code == 0
    assert json.loads(out.read_text())["run_id"] == "load-2026-10-11"


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (("gone",), 1, "there is no such run in the store"),
        (("last",), 2, "name the task"),
        (("last", "--task", "gone"), 1, "there is no such task"),
        (("load-2026-10-05", "--task", "week"), 1, "there is no such run in the store"),
    ],
)
def test_an_error_says_what_to_do(
    project: Path, arguments: tuple[str, ...], code: int, problem: str
) -> None:
    result = run(project, *arguments)
    assert result.exit_code == code
    assert problem in result.output
