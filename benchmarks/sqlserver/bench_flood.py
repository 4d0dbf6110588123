"""A flood of prepared inserts to committed accesses: .xel files on Spark with two cores.

Five million events (or as many as the first argument says) of 300 shapes, nine of ten of them
parameterised inserts, all of them tasks' own, are written first and are not part of the time. Then
the collector reads the files and the store commits. A tenth of it is read in the same run, so that
growth shows. The limit for five million is four minutes and 2 GB for Java.
"""

from __future__ import annotations

import random
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from dbt_graft.collectors.files import LogPath

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.report import Report
from benchmarks.sqlserver.memory import Memory
from benchmarks.xel.bench_decode import SHAPES, START, TASKS, template
from dbt_graft.collectors.engines.session import session
from dbt_graft.collectors.engines.spark import SparkEngine
from dbt_graft.collectors.sqlserver.collect import collect
from dbt_graft.collectors.sqlserver.listing import Server
from dbt_graft.collectors.store import door as store
from tests.collectors.sqlserver.xel_writer import write_records

EVENTS = 5_000_000
PER_FILE = 250_000
BUILD = Path("build/bench-flood")
VALUE = "########"
SETTINGS = {
    "spark.master": "local[2]",
    "spark.driver.memory": "2g",
    "spark.ui.showConsoleProgress": "false",
}


def records(first: int, last: int, events: int) -> Iterator[bytes]:
    """A part of the events of a busy day, 40 runs of each task."""
    templates = [
        [template(shape, f"python_task::load_{shape % TASKS}::{run:02}") for run in range(40)]
        for shape in range(SHAPES)
    ]
    values = random.Random(first)
    for number in range(first, last):
        shape = values.randrange(SHAPES)
        write = templates[shape][number * 40 // events]
        value = {VALUE: f"{values.randrange(10**8):08}"}
        yield write(START + number * 20_000, number, 51 + shape % TASKS, value)


def make(folder: Path, events: int) -> float:
    """Write the files; their size in MB."""
    folder.mkdir(parents=True)
    for first in range(0, events, PER_FILE):
        last = min(first + PER_FILE, events)
        write_records(folder / f"lineage_0_{first:012}.xel", records(first, last, events))
    return sum(file.stat().st_size for file in folder.iterdir()) / 2**20


def measure(report: Report, events: int) -> None:
    """Report size, time and memory."""
    folder = BUILD / str(events)
    size = make(folder / "xe", events)
    memory = Memory()
    with session(SETTINGS) as spark:
        memory.start()
        start = time.perf_counter()
        logs = LogPath(str(folder / "xe"), "xe")
        collected = collect(SparkEngine(spark), logs, Server("mssql://sql01:1433"), {})
        assert collected
        done = store.commit(str(folder / "store"), [collected])
        seconds = time.perf_counter() - start
        memory.done.set()
    assert done
    assert done.events == events
    found = store.read(str(folder / "store"))
    counted = sum(access.statements for access in found.accesses if access.direction == "write")
    report.row(
        f"{events:,}",
        *(f"{figure:,.0f}" for figure in (size, seconds, len(found.accesses), counted)),
        *(f"{memory.most(kind):,.0f}" for kind in ("java", "python")),
    )
    shutil.rmtree(folder)


if __name__ == "__main__":
    shutil.rmtree(BUILD, ignore_errors=True)
    flood = Report("A flood of inserts to the store", "benchmarks/sqlserver/bench_flood.py")
    flood.say(f".xel files of {SHAPES} shapes, on Spark with two cores; memory in MB.")
    flood.table("events", "MB", "s", "accesses", "writes", "Java", "workers")
    for share in (10, 1):
        measure(flood, (int(sys.argv[1]) if sys.argv[1:] else EVENTS) // share)
    flood.write()
