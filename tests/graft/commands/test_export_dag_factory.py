"""The command `graft export dag-factory`, on declared lineage: no log and no Spark is needed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
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
    document = json.loads(run("--json", "--out", "elsewhere").output)
    assert [(task["task_id"], task["dependencies"]) for task in document["dags"][0]["tasks"]] == [
        ("load", []),
        ("clean", ["load"]),
        ("report", ["clean"]),
    ]
    assert document["files"]["written"] == ["shop_dag.py", "shop_dag.yml"]
    assert (shop / "elsewhere/shop_dag.yml").is_file()


def test_a_cycle_is_named_and_the_rest_is_written(shop: Path) -> None:
    run()
    cycle = "  a: {flows: [{from: [x/1], to: [x/2]}]}\n  b: {flows: [{from: [x/2], to: [x/1]}]}\n"
    (shop / "lineage.yml").write_text(LINEAGE + cycle)
    CliRunner().invoke(main, ["collect", "--quiet"])
    done = run()
    assert done.exit_code == 1
    assert done.stdout == (
        "shop: 3 tasks, 2 dependencies\n2 tasks left out: is in a cycle\n"
        f"{shop / 'dags'}: files 2 unchanged\n"
    )
    assert "add {writer: b, reader: a} to `airflow.ignore`" in done.stderr
    answer = json.loads(run("--json").stdout)
    assert (answer["exit_code"], answer["left_out"]["a"]) == (1, "is in a cycle")
    assert [finding["code"] for finding in answer["findings"]] == ["TASK_CYCLE"]


def test_a_file_that_was_edited_is_replaced_by_force_only(shop: Path) -> None:
    run()
    path = shop / "dags/shop_dag.yml"
    path.write_text(path.read_text().replace("catchup: false", "catchup: true"))
    refused = run()
    assert (refused.exit_code, "-  catchup: true" in refused.output) == (1, True), refused.output
    assert "catchup: true" in path.read_text()
    assert run("--force").exit_code == 0
    assert "catchup: false" in path.read_text()


def test_overrides_are_merged_and_stay(shop: Path) -> None:
    (shop / "overrides.yml").write_text(
        "shop:\n  tasks:\n"
        "    - {task_id: load, pool: erp}\n"
        "    - {task_id: notify, operator: my.Notify, dependencies: [report]}\n"
    )
    configure(shop, AIRFLOW.replace("name: shop", "name: shop\n  overrides: overrides.yml"))
    assert run().stdout.startswith("shop: 4 tasks, 3 dependencies\n")
    tasks = {
        task["task_id"]: task
        for task in yaml.safe_load((shop / "dags/shop_dag.yml").read_text())["shop"]["tasks"]
    }
    assert tasks["load"]["pool"] == "erp"
    assert tasks["notify"]["dependencies"] == ["report"]
    checked = CliRunner().invoke(main, ["check", "--only", "dags", "--fail-on", "note"])
    assert checked.exit_code == 0, checked.output


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("shop: {tasks: [{pool: x}]}", "overrides.yml:1: `shop.tasks.0.task_id` is missing"),
        ("- shop", "must hold DAGs"),
        ("shop: [", "is not valid YAML"),
        (None, "there is no such file"),
    ],
)
def test_wrong_overrides_are_errors_with_their_line(
    shop: Path, text: str | None, expected: str
) -> None:
    if text is not None:
        (shop / "overrides.yml").write_text(text)
    configure(shop, AIRFLOW.replace("name: shop", "name: shop\n  overrides: overrides.yml"))
    done = run()
    assert (done.exit_code, expected in done.output) == (1, True), done.output
    assert not (shop / "dags").exists()


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
        ("out: s3://dags", "write a place on this machine"),
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
