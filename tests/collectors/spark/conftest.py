"""Fixtures of the Spark collector's tests: real jobs that are run once, and logs made by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dbt_graft.collectors.java import java_home

JOBS = Path(__file__).parent / "jobs"
SAMPLES = Path(__file__).resolve().parents[4] / "shared" / "samples" / "spark-events"

Json = dict[str, Any]


def _run_job(script: str, folder: Path, *, fails: bool = False) -> Path:
    """Run a job as a team would, and give the folder of its event log."""
    env = {**os.environ, "JAVA_HOME": java_home(), "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, str(JOBS / script), str(folder)],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert bool(done.returncode) == fails, (done.stdout + done.stderr)[-3000:]
    return folder / "events"


@pytest.fixture(scope="session")
def run_job() -> Callable[..., Path]:
    """Runs a script of `jobs/` in a folder: `run_job("shop_job.py", folder)`."""
    return _run_job


@pytest.fixture(scope="session")
def shop_job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which `jobs/shop_job.py` ran."""
    folder = tmp_path_factory.mktemp("shop")
    _run_job("shop_job.py", folder)
    return folder


@pytest.fixture(scope="session")
def failing_job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which `jobs/failing_job.py` ran."""
    folder = tmp_path_factory.mktemp("failing")
    _run_job("failing_job.py", folder, fails=True)
    return folder


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of public logs beside the repository."""
    if not SAMPLES.is_dir():
        pytest.skip("the public sample logs are not beside the repository")
    return SAMPLES


@pytest.fixture(scope="session")
def make_log() -> Callable[..., bytes]:
    """A plain log of an application with these executions (see `_execution`)."""

    def make(*executions: Json, app: str = "a_task", end: bool = True) -> bytes:
        events: list[Json] = [
            {
                "Event": "SparkListenerApplicationStart",
                "App Name": app,
                "App ID": f"app-{app}",
                "Timestamp": 1_000,
                "User": "someone",
            }
        ]
        for number, execution in enumerate(executions):
            events += _execution(number, **execution)
        if end:
            events.append({"Event": "SparkListenerApplicationEnd", "Timestamp": 90_000})
        return b"".join(
            json.dumps(event, separators=(",", ":")).encode() + b"\n" for event in events
        )

    return make


def _execution(
    number: int,
    plan: Json,
    *,
    text: str = "",
    root: int | None = None,
    error: str = "",
    metrics: tuple[tuple[int, int], ...] = (),
    description: str = "",
    lasts: int = 500,
) -> list[Json]:
    """The events of one SQL execution; a second passes between the starts of two."""
    sql = "org.apache.spark.sql.execution.ui.SparkListener"
    started = 2_000 + number * 1_000
    return [
        {
            "Event": f"{sql}SQLExecutionStart",
            "executionId": number,
            "rootExecutionId": number if root is None else root,
            "description": description,
            "details": "",
            "physicalPlanDescription": text,
            "sparkPlanInfo": plan,
            "time": started,
        },
        {
            "Event": f"{sql}DriverAccumUpdates",
            "executionId": number,
            "accumUpdates": [list(metric) for metric in metrics],
        },
        {
            "Event": f"{sql}SQLExecutionEnd",
            "executionId": number,
            "time": started + lasts,
            "errorMessage": error,
        },
    ]


@pytest.fixture(scope="session")
def node() -> Callable[..., Json]:
    """A node of `sparkPlanInfo`: `node("Scan csv", *children, Location="…")`."""

    def make(name: str, *children: Json, args: str = "", rows: int = 0, **metadata: str) -> Json:
        metrics = [{"name": "number of output rows", "accumulatorId": rows}] if rows else []
        return {
            "nodeName": name,
            "simpleString": f"{name} {args}".strip(),
            "children": list(children),
            "metadata": metadata,
            "metrics": metrics,
        }

    return make
