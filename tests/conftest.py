"""The Spark session of a test run, the tree, and how tests are shared out to processes."""

from __future__ import annotations

import atexit
import gc
import os
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

from dbt_graft.collectors.engines.local import LocalEngine
from dbt_graft.collectors.engines.session import session
from dbt_graft.collectors.engines.spark import SparkEngine
from tests.java_options import java_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt_graft.collectors.engines.engine import Engine

ROOT = Path(__file__).resolve().parent.parent
gc.disable()  # until all tests are collected: little of that is garbage

# `nohup` and some CI runners start us with Ctrl-C ignored, and programs inherit that: those that
# tests interrupt would never end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.setdefault("SPARK_SUBMIT_OPTS", java_options())
# Commands read logs without Spark, which takes 20 s to start and end, where a test asks not for it.
os.environ.setdefault("GRAFT_ENGINE", "local")

# The tests run side by side, so one example may wait for a processor.
settings.register_profile("dbt-graft", deadline=None)
settings.load_profile("dbt-graft")


# Thing that takes seconds, and is made once in a process -> the texts of tests that ask for it.
_SHARED = {
    "distributions": ("distributions: Distributions",),
    "spark": ("spark: SparkSession", "engine: Engine", "jobs: Path"),
    "addressed_site": ("addressed_site: Path",),
    "dbt's classes": ("tests.dbt_artifacts", "tests.audience.canary_", "integrity import faults"),
}


class FileScheduling(LoadFileScheduling):  # type: ignore[misc]
    """`--dist loadfile`, where all files that use the Spark session count as one, and so on."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::")[0]
        return _shared(ROOT / file) or file


@cache
def _shared(file: Path) -> str:
    """The thing that a file has with others; who shares out tests has only names of tests."""
    text = file.read_text("utf-8")
    return next(
        (name for name, words in _SHARED.items() if any(word in text for word in words)), ""
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than processors: Airflow, browsers, servers and time-outs are waited for."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> FileScheduling:
    """Give each process of `pytest -n` a file at a time."""
    return FileScheduling(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the long files, so that no process waits for another at the end."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()) and _shared(item.path) != "spark":
            raise pytest.UsageError(
                f"{item.path}: annotate the fixture, `spark: SparkSession` or `engine: Engine`"
            )
    marks: dict[Path, set[str]] = {}
    for item in items:
        marks.setdefault(item.path, set()).update(mark.name for mark in item.iter_markers())
    long = ("spark", "airflow", "slow", "browser")
    items.sort(key=lambda item: [name not in marks[item.path] for name in long])


def pytest_collection_finish() -> None:
    """Leave what the collection made out of each later search for garbage: it stays to the end.

    Garbage is searched for seldom: by Python's own threshold that took a fifth of a run.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    gc.enable()
    atexit.register(gc.unfreeze)  # or DuckDB reports what it thinks is lost


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The one Spark session of the test run, on two cores."""
    folder = tmp_path_factory.mktemp("spark")
    settings = {
        "spark.master": "local[2]",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    with session(settings) as spark:
        yield spark


@pytest.fixture(
    scope="session",
    params=[
        "this process",
        pytest.param("processes", marks=pytest.mark.exhaustive),
        pytest.param("spark", marks=pytest.mark.spark),
    ],
)
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine."""
    if request.param == "spark":
        return SparkEngine(request.getfixturevalue("spark"))
    return LocalEngine(2, small=0) if request.param == "processes" else LocalEngine()


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the source tree."""
    return ROOT
