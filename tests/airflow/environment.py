"""Airflow of one version in an environment of its own, with a home and DAGs of its own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

# The versions in which DAGs are run. What is exported is loaded in both by `make test` as well.
RUN_IN = [
    pytest.param(3, id="Airflow 3"),
    pytest.param(2, id="Airflow 2", marks=pytest.mark.exhaustive),
]

# Prints what Airflow made of a loader's YAML, from within Airflow's Python.
_EDGES = """
import json, sys
from dagfactory import load_yaml_dags
found = {}
for path in sys.argv[1:]:
    dags = {}
    load_yaml_dags(globals_dict=dags, config_filepath=path)
    for name, dag in dags.items():
        if not hasattr(dag, "task_dict"):
            continue
        found[name] = {
            "tasks": {
                task.task_id: {
                    "upstream": sorted(task.upstream_task_ids),
                    "class": type(task).__module__ + "." + type(task).__name__,
                    "command": getattr(task, "bash_command", None),
                    "outlets": [getattr(one, "uri", None) or one.name for one in task.outlets],
                    "inlets": [one.name for one in task.inlets],
                }
                for task in dag.tasks
            },
            "timetable": type(dag.timetable).__name__,
            "tags": sorted(dag.tags),
        }
print("FOUND" + json.dumps(found))
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

    def migrate(self) -> None:
        """Make its database."""
        done = self.run("airflow", "db", "migrate")
        assert done.returncode == 0, done.stdout + done.stderr

    def load(self, *paths: Path) -> dict[str, Any]:
        """The DAGs that dag-factory makes of YAML files, by `config_filepath`: errors raise."""
        done = self.run("python", "-c", _EDGES, *map(str, paths))
        assert done.returncode == 0, done.stderr
        line = next(one for one in done.stdout.splitlines() if one.startswith("FOUND"))
        loaded: dict[str, Any] = json.loads(line.removeprefix("FOUND"))
        return loaded


def airflow_environment(version: int, home: Path, **variables: str) -> AirflowEnvironment:
    """The environment of a version; skips the test where it is not installed."""
    if not (ROOT / f"build/airflow-{version}/.ready").is_file():
        pytest.skip(f"Airflow {version} is not installed: `make airflow` installs it")
    dags = home / "dags"
    dags.mkdir(parents=True, exist_ok=True)
    # Of the tree only this one package: others have names that Airflow's may have.
    packages = home / "packages"
    packages.mkdir(exist_ok=True)
    if (ROOT / "graft_airflow").is_dir() and not (packages / "graft_airflow").exists():
        (packages / "graft_airflow").symlink_to(ROOT / "graft_airflow")
    return AirflowEnvironment(version, home, dags, {"PYTHONPATH": str(packages), **variables})
