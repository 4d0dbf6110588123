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
from tests.collectors.spark.suite import SAMPLE

ROOT = Path(__file__).resolve().parents[3]
RUNNER = Path(__file__).parent / "jobs/run.py"
SAMPLES = ROOT.parent / "shared" / "samples" / "spark-events"

Json = dict[str, Any]


@pytest.fixture(scope="session")
def run_jobs() -> Callable[..., Path]:
    """Runs scripts of `jobs/` in a folder, as teams would: `run_jobs(folder, "shop_job")`."""

    def run(folder: Path, *jobs: str, code: int = 0) -> Path:
        python = {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, str(RUNNER), str(folder), *jobs],
            env={**os.environ, "JAVA_HOME": java_home(), **python},
            capture_output=True,
            text=True,
            timeout=1_800,
        )
        assert done.returncode == code, (done.stdout + done.stderr)[-3000:]
        return folder

    return run


@pytest.fixture(scope="session")
def jobs(run_jobs: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with those of jobs that ran in one JVM; the last of them died."""
    folder = tmp_path_factory.mktemp("jobs")
    sample = " ".join(("suite", *SAMPLE))
    return run_jobs(folder, "shop_job", "dbt_models", sample, "failing_job", code=1)


@pytest.fixture(scope="session")
def shop_job(jobs: Path) -> Path:
    """The folder in which `jobs/shop_job.py` ran."""
    return jobs / "shop_job"


@pytest.fixture(scope="session")
def failing_job(jobs: Path) -> Path:
    """The folder in which `jobs/failing_job.py` ran."""
    return jobs / "failing_job"


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
