"""The ends of commands: help, debug logging, unexpected errors, Ctrl-C and closed pipes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from dbt_graft.graft.commands.cli import main
from dbt_graft.graft.project.output_folder import OutputFolder
from tests.cases import for_each
from tests.graft.test_faults import HELD, project, wait_for

SECRET = "hunter2"
# A step of `graft collect` fails in a way that nothing foresees.
SABOTAGE = """
from dbt_graft.graft.steps import collecting

def collect(*_, **__):
    return {{}}["{secret}"[::-1]]  # Python 3.13 shows the source of `-c`

collect.__globals__["__name__"] = "dbt_graft.fictional"
collecting.collect = collect
from dbt_graft.__main__ import main
main()
"""


def commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The command and all below it, as arguments."""
    yield path
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            below = command.get_command(click.Context(command), name)
            assert below
            yield from commands(below, (*path, name))


def graft(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run(folder, "-m", "dbt_graft", *arguments, **environment)


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


@for_each("path", [*commands(main)])
def test_every_help_has_an_example_and_the_debug_option(path: tuple[str, ...]) -> None:
    done = CliRunner().invoke(main, [*path, "--help"])
    assert done.exit_code == 0
    assert "Example" in done.output
    assert " ".join(("graft", *path)) in done.output.split("Example")[1]
    assert "--debug" in done.output


def test_a_foreseen_error_is_printed_without_a_traceback(tmp_path: Path) -> None:
    done = graft(tmp_path, "build")
    assert done.returncode == 2
    assert done.stderr.startswith("error: graft.yml: there is no such file")
    assert "Traceback" not in done.stderr


def test_an_unexpected_error_is_one_line_that_names_a_file(tmp_path: Path) -> None:
    (tmp_path / "graft.yml").write_text("{}")
    done = run(tmp_path, "-c", SABOTAGE.format(secret=SECRET[::-1]), "collect")
    file = tmp_path / ".graft/artifacts/error.txt"
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error: unexpected KeyError at dbt_graft.fictional:5: "
        f"please report it with the file {file}\n"
    )
    report = file.read_text()
    assert "Traceback" in report
    assert "dbt-graft" in report
    assert SECRET not in report


def test_an_unexpected_error_is_written_elsewhere_if_it_must_be(tmp_path: Path) -> None:
    (tmp_path / "graft.yml").write_text("artifacts: artifacts")
    OutputFolder("artifacts", tmp_path / "artifacts").claim()
    (tmp_path / "artifacts/error.txt").mkdir()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    code = SABOTAGE.format(secret=SECRET[::-1])
    done = run(tmp_path, "-c", code, "collect", TMPDIR=str(temporary))
    (file,) = temporary.glob("graft-error-*.txt")
    assert done.returncode == 1
    assert done.stderr.endswith(f"please report it with the file {file}\n")


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (("--debug", "collect"), {}),
        (("collect", "--debug"), {}),
        (("collect",), {"GRAFT_DEBUG": "1"}),
    ],
)
def test_debug_logs_the_traceback_behind_a_reject(
    tmp_path: Path, arguments: tuple[str, ...], environment: dict[str, str]
) -> None:
    (tmp_path / "graft.yml").write_text(
        "collect:\n- spark: {path: missing}\n- declared: {path: lineage}\n"
    )
    (tmp_path / "lineage").mkdir()
    (tmp_path / "lineage/empty.yml").write_text("version: 1")
    (tmp_path / ".graft").mkdir()
    done = graft(tmp_path, *arguments, **environment)
    assert (
        " DEBUG dbt_graft.graft.steps.collecting: a source cannot be read\nTraceback" in done.stderr
    )
    assert "dbt_graft.lineage.errors.GraftError: missing: there is nothing" in done.stderr


def test_without_debug_nothing_is_logged(tmp_path: Path) -> None:
    (tmp_path / "graft.yml").write_text("collect: [{spark: {path: missing}}]")
    done = graft(tmp_path, "collect", GRAFT_DEBUG="0")
    assert done.returncode == 1
    assert "DEBUG" not in done.stderr


def test_a_reader_that_has_enough_ends_a_command_without_a_word(tmp_path: Path) -> None:
    command = f"{sys.executable} -m dbt_graft doctor --json | head -c 1"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("{", "")


@pytest.mark.exhaustive
@pytest.mark.spark
def test_debug_logs_of_spark_s_workers_are_in_spark_s_log(tmp_path: Path) -> None:
    folder = project(tmp_path)
    with (folder / "events/app-a").open("a") as events:
        events.write('{"Event":"SparkListenerJobStart","Properties":{')
        events.write(f'"spark.sql.execution.id":"3","password":"{SECRET}"}}}}\n')
    done = graft(folder, "collect", "--debug", "--engine", "spark")
    assert done.returncode == 0, done.stderr
    assert " DEBUG dbt_graft.collectors.engines.session: starting Spark with" in done.stderr
    log = (folder / ".graft/artifacts/spark.log").read_text(errors="replace")
    place = "KeyError at dbt_graft.collectors.spark.log.events:"
    assert f" DEBUG dbt_graft.collectors.spark.log.decode: a reject: {place}" in log
    assert "Traceback" in log
    assert SECRET not in log


@pytest.mark.parametrize(
    ("engine", "moment"),
    [
        ("local", "store/accesses"),
        # While Spark starts, and while it works.
        pytest.param("spark", ".graft/artifacts/spark.log", marks=pytest.mark.exhaustive),
        pytest.param("spark", "store/accesses", marks=pytest.mark.spark),
    ],
)
def test_ctrl_c_ends_collect_and_all_that_it_started(
    tmp_path: Path, engine: str, moment: str
) -> None:
    folder = project(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-c", HELD, "collect", "--quiet", "--engine", engine],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for(moment, folder, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    assert process.communicate(timeout=60) == ("", "interrupted\n")
    assert process.returncode == 130
    until = time.monotonic() + 30
    while group_is_alive(process.pid):
        assert time.monotonic() < until, "a process goes on"
        time.sleep(0.1)
    assert not (folder / "store/batches").exists()


def test_ctrl_c_in_a_callback_that_drops_it_ends_a_command_all_the_same(tmp_path: Path) -> None:
    # py4j has such a callback for each of its objects.
    code = HELD.replace("lambda *_: time.sleep(600)", "interrupted_in_a_callback")
    code = f"""
import os, signal, time, weakref

class Freed:
    pass

def interrupted_in_a_callback(*_):
    freed = Freed()
    reference = weakref.ref(freed, lambda _: os.kill(os.getpid(), signal.SIGINT))
    del freed
    time.sleep(600)
{code}"""
    done = run(project(tmp_path), "-c", code, "collect", "--quiet", "--engine", "local")
    assert (done.stdout, done.stderr, done.returncode) == ("", "interrupted\n", 130)


def group_is_alive(group: int) -> bool:
    """Whether a process group has members."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
