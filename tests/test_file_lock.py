"""One process at a time holds a file, and a killed one blocks nobody."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dbt_graft.file_lock import Hold, file_lock

HOLDS = """
import sys
from pathlib import Path
from dbt_graft.file_lock import file_lock
with file_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_process_holds_it_until_it_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    command = [sys.executable, "-c", HOLDS, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline()
        with file_lock(file, 0.1) as hold:
            assert hold is Hold.BUSY
        assert file.exists()
        process.kill()
    with file_lock(file) as hold:
        assert hold is Hold.HELD
    assert not file.exists()


def test_where_nothing_can_be_locked_nothing_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", refuse)
    with file_lock(tmp_path / "lock") as hold:
        assert hold is Hold.NONE


def test_an_error_inside_is_not_swallowed(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError, match="slow"), file_lock(tmp_path / "lock"):
        raise TimeoutError("slow")
