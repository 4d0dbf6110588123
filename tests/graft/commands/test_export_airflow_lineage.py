"""`graft export airflow-lineage`: to a file that is never there in part, or to standard output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from dbt_graft.graft.commands.cli import main
from graft_airflow.document import LineageDocument
from tests.graft.small_project import small_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    small_project(tmp_path)
    assert run(tmp_path, "collect", "--quiet").exit_code == 0
    return tmp_path


def run(folder: Path, *command: str) -> Result:
    group = command[:2] if command[0] == "export" else command[:1]
    rest = command[len(group) :]
    return CliRunner().invoke(main, [*group, "-c", str(folder / "graft.yml"), *rest])


def export(folder: Path, *options: str) -> Result:
    return run(folder, "export", "airflow-lineage", *options)


def test_the_file_is_what_graft_airflow_reads(project: Path, root: Path) -> None:
    out = project / "new/lineage.json"
    assert export(project, "--out", str(out)).exit_code == 0
    found: Any = json.loads(out.read_bytes())
    schema = json.loads((root / "docs/schemas/airflow-lineage.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(found)
    task = LineageDocument(out.read_bytes()).task("load")
    assert task == found["tasks"]["load"]
    assert task["outputs"][0]["name"] == "raw.orders"
    assert [*out.parent.iterdir()] == [out]


def test_without_a_file_it_is_printed_and_the_same_each_time(project: Path) -> None:
    printed = export(project).stdout_bytes
    export(project, "--out", str(project / "x.json"))
    assert (project / "x.json").read_bytes() == printed == export(project).stdout_bytes


def test_without_dbt_s_artifacts_there_is_the_lineage_of_logs(project: Path) -> None:
    with_dbt = export(project).stdout
    (project / "target/manifest.json").unlink()
    assert export(project).stdout == with_dbt


def test_before_the_first_collect_nothing_is_written_over(tmp_path: Path) -> None:
    small_project(tmp_path)
    out = tmp_path / "lineage.json"
    out.write_text("as it was")
    done = export(tmp_path, "--out", str(out))
    assert (done.exit_code, "run `graft collect`" in done.stderr) == (1, True)
    assert out.read_text() == "as it was"


def test_a_place_that_cannot_be_written_is_an_error_and_leaves_nothing(project: Path) -> None:
    (project / "file").write_text("x")
    done = export(project, "--out", str(project / "file/lineage.json"))
    assert done.exit_code == 1
    assert "name a file in a folder" in done.stderr
    folder = project / "folder"
    folder.mkdir()
    assert export(project, "--out", str(folder)).exit_code == 2


@pytest.mark.parametrize("task", ['a"},"tasks":{', "load\\", "été", "}"])
def test_hostile_names_stay_text(project: Path, task: str) -> None:
    flow = {"from": ["sftp/files"], "to": ['spark/raw."}}']}
    declared = {"version": 1, "tasks": {task: {"flows": [flow]}}}
    (project / "lineage.yml").write_text(json.dumps(declared))
    assert run(project, "collect", "--quiet").exit_code == 0
    printed = export(project).stdout_bytes
    document = LineageDocument(printed)
    assert document.task(task) == json.loads(printed)["tasks"][task]
    assert [*document.datasets()] == ["sftp/files", 'spark/raw."}}']
