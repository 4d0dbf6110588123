"""The runner leaves alone what is not its own, and what is done."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def run(root: Path, build: Path) -> subprocess.CompletedProcess[str]:
    """Run demo.py as the Makefile does."""
    return subprocess.run(
        [sys.executable, "dbt_project/demo.py", "--build", build],
        cwd=root,
        env={"PYTHONPATH": str(root), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_folder_that_holds_something_else_is_refused(root: Path, tmp_path: Path) -> None:
    kept = tmp_path / "thesis.txt"
    kept.write_text("five years")
    done = run(root, tmp_path)
    assert done.returncode == 2
    assert "holds something else" in done.stderr
    assert kept.read_text() == "five years"


@pytest.mark.demo
def test_a_complete_run_is_not_repeated(root: Path, demo: Path) -> None:
    before = (demo / "target" / "manifest.json").stat().st_mtime_ns
    done = run(root, demo)
    assert (done.returncode, done.stdout) == (0, "demo: nothing changed since the last run\n")
    assert (demo / "target" / "manifest.json").stat().st_mtime_ns == before


@pytest.mark.demo
def test_what_other_code_made_of_the_logs_is_thrown_away_once(
    root: Path, demo: Path, tmp_path: Path
) -> None:
    shutil.copy(demo / "inputs.sha256", tmp_path)
    store = tmp_path / "store"
    store.mkdir()
    run(root, tmp_path)
    assert not store.exists()
    store.mkdir()
    run(root, tmp_path)
    assert store.exists()
