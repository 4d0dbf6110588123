"""Airflow of one version in an environment of its own, with a home and DAGs of its own."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from click.testing import CliRunner
from filelock import FileLock

from dbt_graft.graft.commands.cli import main

ROOT = Path(__file__).resolve().parents[2]

# The versions in which DAGs are run. What is exported is loaded in both by `make test` as well.
RUN_IN = [
    pytest.param(3, id="Airflow 3"),
    pytest.param(2, id="Airflow 2", marks=pytest.mark.exhaustive),
]

# Answers from within Airflow's Python with what it makes of loaders' YAML: lists of paths in,
# DAGs or an error out, a line each. To import Airflow takes seconds, so one process answers all.
_LOADER = """
import json, sys, traceback
answers, sys.stdout = sys.stdout, sys.stderr  # imports print, too
from dagfactory import load_yaml_dags

def load(paths):
    dags = {}
    for path in paths:
        load_yaml_dags(globals_dict=dags, config_filepath=path)
    return {
        name: {
            "tasks": {
                task.task_id: {
                    "upstream": sorted(task.upstream_task_ids),
                    "class": type(task).__module__ + "." + type(task).__name__,
                    "command": getattr(task, "bash_command", None),
                    "outlets": [getattr(data, "uri", None) or data.name for data in task.outlets],
                    "inlets": [data.name for data in task.inlets],
                }
                for task in dag.tasks
            },
            "timetable": type(dag.timetable).__name__,
            "tags": sorted(dag.tags),
        }
        for name, dag in dags.items()
        if hasattr(dag, "task_dict")
    }

for line in sys.stdin:
    try:
        answer = {"dags": load(json.loads(line))}
    except Exception:
        answer = {"error": traceback.format_exc()}
    print(json.dumps(answer), file=answers, flush=True)
"""
# Runs lines of Airflow's own command line in one process: its start takes longer than they do.
_LINES = """
import json, sys
from airflow.cli.cli_parser import get_parser

for line in json.loads(sys.argv[1]):
    arguments = get_parser().parse_args(line)
    try:
        arguments.func(arguments)
    except SystemExit:  # a task failed
        pass
"""


@dataclass(frozen=True)
class AirflowEnvironment:
    """Airflow's programs, and the variables they run with."""

    version: int
    home: Path
    dags: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def bin(self) -> Path:
        return ROOT / f"build/airflow-{self.version}/bin"

    def environment(self) -> dict[str, str]:
        own = {key: value for key, value in os.environ.items() if not key.startswith("AIRFLOW")}
        return {
            **own,
            "PATH": f"{self.bin}:{own.get('PATH', '')}",
            "AIRFLOW_HOME": str(self.home),
            "AIRFLOW__CORE__DAGS_FOLDER": str(self.dags),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__UNIT_TEST_MODE": "False",
            "AIRFLOW__OPENLINEAGE__NAMESPACE": "airflow",
            "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(
                {"type": "file", "log_file_path": str(self.events), "append": True}
            ),
            "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
            "DO_NOT_TRACK": "1",
            **self.variables,
        }

    @property
    def events(self) -> Path:
        """The OpenLineage events of its runs, a line each."""
        return self.home / "events.ndjson"

    def run(self, *command: str, timeout: int = 900) -> subprocess.CompletedProcess[str]:
        """Run one of the environment's programs to its end."""
        return subprocess.run(
            [str(self.bin / command[0]), *command[1:]],
            env=self.environment(),
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
        )

    def run_lines(self, *lines: str) -> str:
        """The output of lines of Airflow's command line, `dags test shop 2026-10-01`."""
        done = self.run(*process_of(*lines))
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
        return done.stdout + done.stderr

    def migrate(self) -> None:
        """Give it a database: Airflow makes one for all homes, when it is first asked."""
        made = self.bin.parent / "airflow.db"
        with FileLock(f"{made}.lock"):
            if not made.exists() or made.stat().st_mtime < _ready(self.version).stat().st_mtime:
                done = self.run("airflow", "db", "migrate")
                assert done.returncode == 0, done.stdout + done.stderr
                shutil.copy(self.home / "airflow.db", f"{made}.new")
                Path(f"{made}.new").rename(made)
        shutil.copy(made, self.home / "airflow.db")

    def load(self, *paths: Path) -> dict[str, Any]:
        """The DAGs that dag-factory makes of YAML files, by `config_filepath`: errors raise."""
        loader = _loader(self.version)
        assert loader.stdin
        assert loader.stdout
        print(json.dumps([*map(str, paths)]), file=loader.stdin, flush=True)
        answer: dict[str, Any] = json.loads(loader.stdout.readline())
        assert "error" not in answer, answer["error"]
        loaded: dict[str, Any] = answer["dags"]
        return loaded


def process_of(*lines: str) -> list[str]:
    """The command that runs lines of Airflow's command line in one process."""
    return ["python", "-c", _LINES, json.dumps([line.split() for line in lines])]


def _ready(version: int) -> Path:
    """The file that says that a version is installed."""
    return ROOT / f"build/airflow-{version}/.ready"


def airflow_environment(version: int, home: Path, **variables: str) -> AirflowEnvironment:
    """The environment of a version; skips the test where it is not installed."""
    if not _ready(version).is_file():
        pytest.skip(f"Airflow {version} is not installed: `make airflow` installs it")
    dags = home / "dags"
    dags.mkdir(parents=True, exist_ok=True)
    # Of the tree only this one package: others have names that Airflow's may have.
    packages = home / "packages"
    packages.mkdir(exist_ok=True)
    if (ROOT / "graft_airflow").is_dir() and not (packages / "graft_airflow").exists():
        (packages / "graft_airflow").symlink_to(ROOT / "graft_airflow")
    return AirflowEnvironment(version, home, dags, {"PYTHONPATH": str(packages), **variables})


@cache
def _loader(version: int) -> subprocess.Popen[str]:
    """The process that loads DAGs; its home is its own, for those of tests end with them."""
    home = TemporaryDirectory(prefix="airflow-", ignore_cleanup_errors=True)
    atexit.register(home.cleanup)
    environment = airflow_environment(version, Path(home.name))
    return subprocess.Popen(
        [str(environment.bin / "python"), "-c", _LOADER],
        env=environment.environment(),
        cwd=home.name,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def graft(home: Path, *arguments: str) -> str:
    """The output of our command, run in this process on the project beside an Airflow."""
    done = CliRunner().invoke(main, [*arguments, "-c", str(home / "graft.yml")])
    assert done.exit_code == 0, done.output
    return done.stdout
