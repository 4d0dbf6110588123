"""Measures of collecting and committing in this process, with Spark on two cores."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.sqlserver.memory import Memory
from dbt_graft.collectors.engines.session import session
from dbt_graft.collectors.engines.spark import SparkEngine
from dbt_graft.collectors.store import door as store

SETTINGS = {
    "spark.master": "local[2]",
    "spark.driver.memory": "1g",
    "spark.ui.showConsoleProgress": "false",
}


def collected(folder: Path, collect: Callable[[Any], Any]) -> tuple[Any, dict[str, float]]:
    """The committed batch, and what it took: seconds, and MB of memory.

    Args:
        folder: The store is made in it.
        collect: Reads the logs with an engine.
    """
    memory = Memory()
    with session(SETTINGS, log=folder / "spark.log") as spark:
        spark.range(2).count()  # Spark has started
        memory.start()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began = time.perf_counter()
        found = collect(SparkEngine(spark))
        assert found
        done = store.commit(str(folder / "store"), [found])
        seconds = time.perf_counter() - began
        driver = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        memory.done.set()
    assert done
    return done, {
        "seconds": seconds,
        "java": memory.most("java"),
        "python": memory.most("python"),
        "driver": driver / 2**10,
    }
