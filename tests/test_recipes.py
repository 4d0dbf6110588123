"""Recipes are valid for the systems that run them, and call graft as it is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest

from dbt_graft.graft.commands.cli import main
from tests.archives import unpack
from tests.cases import for_each

SCHEMAS = {
    "github-workflow.yml": "vendor.github-workflows",
    "github-check.yml": "vendor.github-workflows",
    "github-review.yml": "vendor.github-workflows",
    "gitlab-ci.yml": "vendor.gitlab-ci",
    "gitlab-review.yml": "vendor.gitlab-ci",
    "azure-pipelines.yml": "vendor.azure-pipelines",
    "azure-review.yml": "vendor.azure-pipelines",
}
# GitLab and Azure read YAML in ways of their own; Azure's schema has expressions of Python's kind.
_OPTIONS = {
    "vendor.gitlab-ci": ["--data-transform", "gitlab-ci"],
    "vendor.azure-pipelines": ["--data-transform", "azure-pipelines", "--regex-variant", "python"],
}
DOCS = Path(__file__).parents[1] / "docs"
RECIPES = sorted((DOCS / "recipes").iterdir())


@pytest.fixture
def recipes(root: Path) -> Path:
    return root / "docs/recipes"


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_pipeline_is_valid(recipes: Path, name: str) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", SCHEMAS[name]]
    command += _OPTIONS.get(SCHEMAS[name], [])
    done = subprocess.run([*command, str(recipes / name)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_pipeline_has_a_schema() -> None:
    assert {path.name for path in RECIPES if path.suffix == ".yml"} == set(SCHEMAS)


@for_each("path", [*RECIPES, *sorted(DOCS.glob("*.md")), *sorted(DOCS.parent.glob("*.md"))])
def test_commands_and_options_exist(path: Path) -> None:
    for line in path.read_text().splitlines():
        is_code = path.suffix != ".md" or line.startswith("$ ")
        code = _code(line) if is_code else " ".join(re.findall("`[^`]+`", line))
        for words in re.findall(r'(?<![\w./-])graft ([a-z-]+(?: [^\s`|&;"]+)*)', code):
            name, *rest = words.split()
            if name.startswith("-"):
                continue
            command = _command(main, name)
            if isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
                command = _command(command, rest.pop(0))
            assert command, line
            known = {o for p in command.params for o in [*p.opts, *p.secondary_opts]}
            assert {one for one in rest if one.startswith("-")} <= known, line


def _code(line: str) -> str:
    """A line without its comment; nothing of a line that is one."""
    return "" if line.strip().startswith(("#", '"""')) else line.partition(" # ")[0]


def _command(group: click.Group, name: str) -> click.Command | None:
    return group.get_command(click.Context(group), name)


@for_each("path", RECIPES)
def test_every_recipe_is_explained(path: Path, root: Path) -> None:
    assert f"](recipes/{path.name})" in (root / "docs/publishing.md").read_text()


@pytest.mark.parametrize("name", ["publish.sh", "backup-store.sh"])
def test_a_script_is_valid(recipes: Path, name: str) -> None:
    assert subprocess.run(["bash", "-n", str(recipes / name)]).returncode == 0


@pytest.mark.parametrize(
    ("target", "called"),
    [
        ("s3://shop/site", "aws s3 sync build/site s3://shop/site --delete"),
        ("gs://shop/site", "gcloud storage rsync build/site gs://shop/site --recursive"),
        ("az://shop/web", "az storage blob sync --account-name shop --container web --source"),
    ],
)
def test_publishing_calls_the_tool_of_the_store(
    recipes: Path, tmp_path: Path, target: str, called: str
) -> None:
    (tmp_path / "build/site").mkdir(parents=True)
    (tmp_path / "build/site/index.html").write_text("home")
    tool = tmp_path / called.split()[0]
    tool.write_text(f'#!/bin/sh\necho {tool.name} "$@"\n')
    tool.chmod(0o755)
    done = _script(recipes / "publish.sh", tmp_path, target)
    assert done.stdout.startswith(called)
    assert _script(recipes / "publish.sh", tmp_path, "ftp://x").returncode == 2
    (tmp_path / "build/site/index.html").unlink()
    assert "there is no site" in _script(recipes / "publish.sh", tmp_path, target).stderr


def test_a_backup_restores_the_store_and_old_ones_go(recipes: Path, tmp_path: Path) -> None:
    store, backups = tmp_path / ".graft/store", tmp_path / "backups"
    (store / "batches/batch_id=1").mkdir(parents=True)
    (store / "batches/batch_id=1/part.parquet").write_bytes(b"rows")
    backups.mkdir()
    for day in (1, 2, 3):
        (backups / f"store-2026010{day}T000000Z.tar.gz").write_text("old")
    done = _script(recipes / "backup-store.sh", tmp_path, str(store), str(backups), "2")
    assert done.returncode == 0, done.stderr
    kept = sorted(backups.iterdir())
    assert kept[0].name == "store-20260103T000000Z.tar.gz"
    assert str(kept[1]) == done.stdout.strip()
    unpack(kept[1], tmp_path / "restored")
    restored = tmp_path / "restored/store/batches/batch_id=1/part.parquet"
    assert restored.read_bytes() == b"rows"
    assert _script(recipes / "backup-store.sh", tmp_path, str(tmp_path), "b").returncode == 1


def _script(script: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", str(script), *arguments],
        cwd=folder,
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )


def test_the_dag_runs_its_commands_in_order(recipes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[tuple[str, str]] = []
    commands: dict[str, str] = {}

    class Node:
        def __init__(self, name: str) -> None:
            self.name = name

        def __rshift__(self, after: Any) -> Any:
            nodes = after if isinstance(after, list) else [after]
            order.extend((self.name, node.name) for node in nodes)
            return after

    def bash(**_: Any) -> Callable[[Callable[[], str]], Callable[[], Node]]:
        def decorate(function: Callable[[], str]) -> Callable[[], Node]:
            commands[function.__name__] = function()
            return lambda: Node(function.__name__)

        return decorate

    sdk = ModuleType("airflow.sdk")
    monkeypatch.setattr(sdk, "dag", lambda **_: lambda function: function, raising=False)
    monkeypatch.setattr(sdk, "task", type("task", (), {"bash": staticmethod(bash)}), raising=False)
    monkeypatch.setitem(sys.modules, "airflow", ModuleType("airflow"))
    monkeypatch.setitem(sys.modules, "airflow.sdk", sdk)
    exec(compile((recipes / "airflow_dag.py").read_text(), "airflow_dag.py", "exec"), {})  # noqa: S102
    after = ("publish", "airflow_lineage", "airflow_events", "freshness", "doctor")
    assert order == [("dbt_docs", "build"), *(("build", name) for name in after)]
    assert commands["doctor"] == "graft doctor"
