"""Two commands on one store: the second waits or leaves, and a killed one blocks nobody."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

from dbt_graft.graft.project.config import load
from dbt_graft.graft.steps.turn import BusyError, turn
from tests.graft.small_project import declare, small_project

# The command, but that its collect waits in its midst until a file is there.
HELD = """
import pathlib, time
from dbt_graft.__main__ import main
from dbt_graft.graft.steps import collecting
done = collecting.collect
def held(*arguments, **options):
    pathlib.Path("held").touch()
    while not pathlib.Path("go").exists():
        time.sleep(0.01)
    return done(*arguments, **options)
collecting.collect = held
main()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    small_project(tmp_path)
    return tmp_path


def start(folder: Path, *command: str, held: bool = False) -> subprocess.Popen[str]:
    program = ["-c", HELD] if held else ["-m", "dbt_graft"]
    return subprocess.Popen(
        [sys.executable, *program, *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def hold(folder: Path, *command: str) -> subprocess.Popen[str]:
    """A command that holds the store until `go` is there."""
    process = start(folder, *command, held=True)
    until = time.monotonic() + 60
    while not (folder / "held").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)
    return process


@pytest.mark.parametrize("command", ["build", "collect"])
def test_the_second_leaves_if_it_shall_not_wait(project: Path, command: str) -> None:
    first = hold(project, "collect")
    second = start(project, command, "--no-wait", "--json")
    out, err = second.communicate(timeout=60)
    assert second.returncode == 5, err
    assert f"another graft (process {first.pid}, since" in err
    assert "wait longer with --wait" in err
    assert json.loads(out)["exit_code"] == 5
    third = start(project, "site", "--wait", "0.2s")
    assert third.communicate(timeout=60)[1].count("another graft (process") == 2
    assert third.returncode == 5
    (project / "go").touch()
    assert first.wait(60) == 0


def test_the_second_waits_for_the_first_and_then_does_its_work(project: Path) -> None:
    first = hold(project, "collect")
    second = start(project, "build", "--wait", "2m")
    assert second.stderr
    assert "waiting for another graft" in second.stderr.readline()
    declare(project, "raw.orders", "raw.customers")
    (project / "go").touch()
    assert first.wait(60) == 0
    _, err = second.communicate(timeout=120)
    assert second.returncode == 0, err
    assert '"customers"' in (project / "build/site/task_metadata.json").read_text()


def test_a_killed_one_blocks_nobody(project: Path) -> None:
    first = hold(project, "build")
    first.send_signal(signal.SIGKILL)
    first.wait(60)
    first.communicate()
    second = start(project, "build", "--no-wait")
    _, err = second.communicate(timeout=120)
    assert second.returncode == 0, err
    assert "another graft" not in err


def test_a_store_elsewhere_is_held_by_the_artifacts_folder(project: Path) -> None:
    (project / "graft.yml").write_text("store: s3://bucket/store\n")
    config = load(project / "graft.yml")
    none = timedelta(0)
    with (
        turn(config, none, print),
        pytest.raises(BusyError, match="another graft"),
        turn(config, none, print),
    ):
        pass
    with turn(config, none, print):
        assert (project / ".graft/artifacts/.turn.lock").stat().st_size


def test_a_store_that_is_read_only_holds_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load(project / "graft.yml")

    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.open", refuse)
    with turn(config, timedelta(0), print):
        pass
