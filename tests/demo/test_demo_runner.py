"""The runner leaves alone what is not its own, and what is done."""

from __future__ import annotations

import os
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
        env={"PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_folder_that_holds_something_else_is_refused(root: Path, tmp_path: Path) -> None:
    thesis = tmp_path / "thesis.txt"
    thesis.write_text("five years")
    done = run(root, tmp_path)
    assert done.returncode == 2
    assert "holds something else" in done.stderr
    assert thesis.read_text() == "five years"


@pytest.mark.demo
def test_a_complete_run_is_not_repeated(root: Path, demo: Path) -> None:
    before = (demo / "target" / "manifest.json").stat().st_mtime_ns
    done = run(root, demo)
    assert (done.returncode, done.stdout) == (0, "demo: nothing changed since the last run\n")
    assert (demo / "target" / "manifest.json").stat().st_mtime_ns == before


def test_the_demo_imports_nothing_of_ours(root: Path) -> None:
    scripts = [*(root / "dbt_project").rglob("*.py")]
    assert len(scripts) > 5
    assert [path.name for path in scripts if "import dbt_graft" in path.read_text()] == []
    assert [path.name for path in scripts if "from dbt_graft" in path.read_text()] == []


def test_make_reads_the_logs_again_when_the_code_that_reads_them_changed(
    root: Path, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    for folder in ("collectors", "lineage"):
        (tree / folder).mkdir(parents=True)
        (tree / folder / "module.py").write_text("")
    (tree / "build/demo/store").mkdir(parents=True)
    graft = tree / ".venv/bin/graft"
    graft.parent.mkdir(parents=True)
    graft.write_text("#!/bin/sh\necho graft $@\n")
    graft.chmod(0o755)
    shutil.copy(root / "Makefile", tree)

    def make() -> str:
        command = ["make", "--silent", "--directory", str(tree), "build/demo/.read"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    again = "graft collect --again --quiet --config dbt_project/graft.yml\n"
    assert (make(), make()) == (again, "")
    after = (tree / "build/demo/.read").stat().st_mtime + 1
    os.utime(tree / "collectors/module.py", (after, after))
    assert make() == again
