"""The command `graft export dag-factory`, on declared lineage: no log and no Spark is needed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dbt_graft.graft.commands.cli import main
from dbt_graft.graft.project.config import load
from tests.graft.small_project import small_project

LINEAGE = """
version: 1
tasks:
  load:
    flows: [{from: [sftp/files], to: [spark/raw.orders]}]
  clean:
    flows: [{from: [spark/raw.orders], to: [spark/raw.clean]}]
  report:
    flows: [{from: [spark/raw.clean], to: [spark/report]}]
"""
AIRFLOW = """
airflow:
  name: shop
  commands: [{command: "python {path}"}]
tasks:
  load: {path: tasks/load.py, owner: Data}
  clean: {path: tasks/clean.py}
  report: {path: tasks/report.py}
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with three declared tasks, collected."""
    small_project(tmp_path)
    (tmp_path / "lineage.yml").write_text(LINEAGE)
    configure(tmp_path, AIRFLOW)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["collect", "--quiet"])
    assert done.exit_code == 0, done.output
    return tmp_path


def configure(folder: Path, airflow: str) -> None:
    (folder / "graft.yml").write_text(f"collect: [{{declared: {{path: lineage.yml}}}}]\n{airflow}")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["export", "dag-factory", *arguments])


def test_dags_are_written_and_the_same_again_the_second_time(shop: Path) -> None:
    done = run()
    assert (done.exit_code, done.output) == (
        0,
        f"shop: 3 tasks, 2 dependencies\n{shop / 'dags'}: files 2 written\n",
    )
    before = {path.name: path.read_bytes() for path in (shop / "dags").iterdir()}
    assert set(before) == {"shop_dag.py", "shop_dag.yml"}
    assert run().output.endswith("files 2 unchanged\n")
    assert {path.name: path.read_bytes() for path in (shop / "dags").iterdir()} == before


def test_the_answer_as_json(shop: Path) -> None:
    found = json.loads(run("--json", "--out", "elsewhere").output)
    assert [(task["task_id"], task["dependencies"]) for task in found["dags"][0]["tasks"]] == [
        ("load", []),
        ("clean", ["load"]),
        ("report", ["clean"]),
    ]
    assert found["files"]["written"] == ["shop_dag.py", "shop_dag.yml"]
    assert (shop / "elsewhere/shop_dag.yml").is_file()


def test_tasks_without_a_command_are_listed_and_nothing_is_written(shop: Path) -> None:
    configure(
        shop,
        AIRFLOW.replace('{command: "python {path}"}', '{task: load, command: "x {owner} {repo}"}'),
    )
    done = run()
    assert done.exit_code == 1
    assert done.output == (
        "no DAG can be written\n"
        "\n"
        "error: UNKNOWN_COMMAND (2)\n"
        "  clean: nothing in graft.yml says how it runs\n"
        "  report: nothing in graft.yml says how it runs\n"
        "  do: add an entry below `airflow.commands`: a `command`, or `external: true`\n"
        "\n"
        "error: WRONG_COMMAND (1)\n"
        "  load: its command needs {repo}, which is not known\n"
        "  do: add `repo` to its entry below `tasks` in graft.yml, or an entry of its own below "
        "`airflow.commands`\n"
        "\n"
        "3 errors\n"
    )
    assert not (shop / "dags").exists()
    findings = json.loads(run("--json").output)["findings"]
    assert [finding["subject"] for finding in findings] == ["clean", "report", "load"]


@pytest.mark.parametrize(
    ("airflow", "text"),
    [
        ("version: 4", "graft.yml:2: `airflow.version` must be 2 or 3"),
        ("name: a b", "write up to 80 of A-Z"),
        ("commands: [{command: 'x {modle}'}]", "there is no {modle}"),
        ("commands: [{arguments: {a: ['{modle}']}}]", "there is no {modle}"),
        ("commands: [{external: true, command: x}]", "a task that is `external` has no `command`"),
        ("commands: [{operator: BashOperator}]", "package.module.Class"),
        ("commands: [{arguments: {task_id: x}}]", "`task_id` is written by graft itself"),
        ("out: s3://dags", "write a folder of this machine"),
        ("schedule: nightly", "write a cron expression, or a preset such as @daily"),
        ("sensor: {task_id: x}", "`task_id` is written by graft itself"),
        ("retries: -1", "must be at least 0"),
        ("schedul: x", "did you mean `schedule`?"),
    ],
)
def test_wrong_settings_are_errors_with_their_line(shop: Path, airflow: str, text: str) -> None:
    configure(shop, f"airflow: {{{airflow}}}")
    done = run()
    assert (done.exit_code, text in done.output) == (2, True), done.output


def test_the_examples_of_the_documentation_are_valid(root: Path, tmp_path: Path) -> None:
    text = (root / "docs/airflow.md").read_text()
    examples = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert len(examples) > 1
    for example in examples:
        (tmp_path / "graft.yml").write_text(example)
        load(tmp_path / "graft.yml")
