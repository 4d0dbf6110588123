"""The demo's three changes: dbt compiles both versions; the comment is that worked out by hand."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from dbt_graft.graft.commands.cli import main

pytestmark = pytest.mark.demo


@pytest.fixture(scope="module")
def changed(root: Path, demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's project with the three changes, compiled, and the base's artifacts beside it."""
    project = tmp_path_factory.mktemp("change") / "dbt_project"
    shutil.copytree(root / "dbt_project", project, ignore=shutil.ignore_patterns("history", "logs"))
    patch = ["git", "apply", "changes/three-changes.patch"]
    subprocess.run(patch, cwd=project, check=True)
    dbt = str(Path(sys.executable).with_name("dbt"))
    subprocess.run(
        [dbt, "compile", "--no-introspect", "--no-populate-cache", "--target-path", "target"],
        cwd=project,
        env={**os.environ, "SHOP_BUILD": str(demo), "DBT_PROFILES_DIR": "."},
        check=True,
        capture_output=True,
    )
    shutil.copytree(demo / "target", project / "base/target")
    config = yaml.safe_load((project / "graft.yml").read_text())
    config["dbt"]["target_dir"] = "target"
    config["store"] = str(demo / "store")
    (project / "graft.yml").write_text(yaml.safe_dump(config))
    return project


def review(project: Path, *arguments: str) -> str:
    before = Path.cwd()
    os.chdir(project)
    try:
        done = CliRunner().invoke(main, ["review", "--base", "base/target", *arguments])
    finally:
        os.chdir(before)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_comment_is_that_of_the_reviewer(changed: Path, root: Path) -> None:
    text = review(changed, "--format", "markdown")
    comment, _, notes = text.partition("\nNote: ")
    assert comment == (root / "dbt_project/changes/comment.md").read_text()
    assert "the project has no catalog.json" in notes


def test_each_change_is_marked_on_its_line(changed: Path) -> None:
    lines = review(changed, "--format", "github").splitlines()
    found = [line.split()[1].partition(",title")[0] for line in lines if "file=" in line]
    assert found == [
        "file=models/marts/customers.sql,line=1",
        "file=models/staging/stg_orders.sql,line=12",
        "file=models/marts/orders.sql,line=22",
    ]


def test_without_a_change_there_is_nothing_to_report(changed: Path) -> None:
    config = (changed / "graft.yml").read_text()
    (changed / "same.yml").write_text(
        config.replace("target_dir: target", "target_dir: base/target")
    )
    assert "no change" in review(changed, "-c", "same.yml").casefold()
