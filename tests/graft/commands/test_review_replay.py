"""`graft review replay --compile`: dbt compiles the last commits in a worktree, which then goes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dbt_graft.graft.commands.cli import main
from tests.graft.commands.test_review import git

pytestmark = pytest.mark.slow

PROJECT = "name: shop\nprofile: shop\nmodel-paths: [models]\n"
PROFILE = "shop: {target: dev, outputs: {dev: {type: duckdb, path: ':memory:'}}}\n"
ORDERS = "select 1 as id, 'x' as note"


def save(folder: Path, sql: str) -> None:
    (folder / "shop/models/orders.sql").write_text(sql)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "change")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a dbt project, with a package that only the working tree has."""
    for name in ("DBT_PROFILES_DIR", "DBT_PROJECT_DIR", "DBT_TARGET_PATH"):
        monkeypatch.delenv(name, raising=False)
    shop = tmp_path / "shop"
    package = shop / "dbt_packages/names"
    (package / "macros").mkdir(parents=True)
    (package / "dbt_project.yml").write_text("name: names\n")
    (package / "macros/id.sql").write_text("{% macro key() %}id{% endmacro %}")
    (shop / "models").mkdir()
    (shop / "dbt_project.yml").write_text(PROJECT)
    (shop / "packages.yml").write_text("packages: [{local: dbt_packages/names}]\n")
    (shop / "profiles.yml").write_text(PROFILE)
    (shop / "graft.yml").write_text("{}\n")
    (tmp_path / ".gitignore").write_text("dbt_packages/\ntarget/\nlogs/\n")
    git(tmp_path, "init", "-q")
    save(tmp_path, ORDERS)
    return tmp_path


def replay(repository: Path, *arguments: str) -> Result:
    config = str(repository / "shop/graft.yml")
    return CliRunner().invoke(main, ["review", "replay", "--compile", "-c", config, *arguments])


def worktrees(repository: Path) -> int:
    listed = subprocess.run(
        ["git", "worktree", "list"], cwd=repository, capture_output=True, check=True, text=True
    )
    return len(listed.stdout.splitlines())


def test_each_commit_is_compiled_and_one_that_fails_is_left_out(repository: Path) -> None:
    save(repository, "select 1 as id from {{ ref('gone') }}")
    save(repository, "select 1 as {{ names.key() }}")
    done = replay(repository, "--fail-on", "breaking")
    assert done.exit_code == 0, done.output
    title, _, _, _, gone, removed = done.stdout.splitlines()
    assert "left out: dbt does not compile it:" in gone
    assert "gone" in gone
    assert removed.endswith("  fails")
    counts = "1 change compared, 1 would fail (--fail-on breaking), 1 left out"
    assert title == f"changes of shop: {counts}"
    assert worktrees(repository) == 1
    status = subprocess.run(
        ["git", "status", "--short"], cwd=repository, capture_output=True, check=True
    )
    assert status.stdout == b""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_the_worktree_goes_when_it_is_interrupted(
    repository: Path, sent: signal.Signals, tmp_path_factory: pytest.TempPathFactory
) -> None:
    save(repository, ORDERS + " where 1 = 2")
    temporary = tmp_path_factory.mktemp("temporary")
    graft = str(Path(sys.executable).with_name("graft"))
    with subprocess.Popen(
        [graft, "review", "replay", "--compile"],
        cwd=repository / "shop",
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as command:
        assert command.stderr
        assert b", 1 of 2" in command.stderr.readline()
        deadline = time.monotonic() + 60
        while worktrees(repository) == 1 and time.monotonic() < deadline:
            time.sleep(0.05)
        command.send_signal(sent)
        command.stderr.read()
        assert command.wait(60) == 128 + sent
    assert worktrees(repository) == 1
    assert [path.name for path in temporary.iterdir() if "graft-replay" in path.name] == []


def test_one_commit_cannot_be_compared(repository: Path) -> None:
    done = replay(repository)
    assert done.exit_code == 1
    assert "git has 1 commit(s) of it: two are needed" in done.output


def test_nothing_to_compare_is_an_error(repository: Path) -> None:
    save(repository, ORDERS + " where 1 = 2")
    (repository / "shop/graft.yml").write_text("dbt: {command: 'false'}\n")
    done = replay(repository)
    assert done.exit_code == 1
    assert "nothing can be compared" in done.output


def test_a_folder_outside_of_git_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "graft.yml").write_text("{}\n")
    config = str(tmp_path / "graft.yml")
    done = CliRunner().invoke(main, ["review", "replay", "--compile", "-c", config])
    assert (done.exit_code, "git has no history of it" in done.output) == (1, True)
