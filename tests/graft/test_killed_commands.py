"""A command that is killed while it writes leaves nothing behind for good."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.graft.small_project import small_project

# `graft inject`, which dies when the files of the artifacts are written and not yet in place.
_DYING = """
import os
from pathlib import Path
from dbt_graft.__main__ import main
replace = Path.replace
Path.replace = lambda self, target: (
    os.kill(os.getpid(), 9) if "manifest" in self.name else replace(self, target)
)
main()
"""
_ARTIFACTS = Path(".graft/artifacts")


def inject(folder: Path, *program: str) -> int:
    done = subprocess.run(
        [sys.executable, *program, "inject", "--quiet"], cwd=folder, capture_output=True, text=True
    )
    return done.returncode


@pytest.fixture
def project(tmp_path: Path) -> Path:
    small_project(tmp_path)
    collect = [sys.executable, "-m", "dbt_graft", "collect", "--quiet"]
    subprocess.run(collect, cwd=tmp_path, check=True, capture_output=True)
    # The second time keeps the checked graft.yml beside the artifacts that the first made.
    assert [inject(tmp_path, "-m", "dbt_graft") for _ in range(2)] == [0, 0]
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / _ARTIFACTS).iterdir())


def test_what_a_killed_inject_left_is_removed_by_the_next(project: Path) -> None:
    before = names(project)
    assert inject(project, "-c", _DYING) == -signal.SIGKILL
    assert [name for name in names(project) if name.startswith(".manifest.json.")]
    assert inject(project, "-m", "dbt_graft") == 0
    assert names(project) == before


def test_what_a_live_process_writes_there_stays(project: Path) -> None:
    live = project / _ARTIFACTS / f".manifest.json.{os.getpid()}"
    live.write_text("half")
    assert inject(project, "-m", "dbt_graft") == 0
    assert live.read_text() == "half"
