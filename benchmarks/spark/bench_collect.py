"""Event logs to committed accesses: many small logs, one large one, and a folder mostly known.

Made first, and no part of the time: small logs as Spark 4 writes them (a folder each, zstd), one
plain log full of tasks and one full of plans in two sizes, ten times apart, and a folder of which
only ten logs are new. Each measure is a process of its own with Spark on two cores. Bar: a log of
ten times the size takes no more memory. Java takes what heap it is given before it tidies up, so of
it the bar is that the same small heap does.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.collecting import SETTINGS, collected
from benchmarks.report import Report
from benchmarks.spark.logs import (
    end,
    execution,
    execution_end,
    plan_heavy,
    stage,
    start,
    task_heavy,
    write,
)
from dbt_graft.collectors.spark.collect import collect
from dbt_graft.collectors.spark.listing import new_logs
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.store import door as store
from tests.collectors.spark.packed import zstd

BUILD = Path("build/bench-spark-collect")
NEW = 10
# How much more a peak may be before it is more: heaps are never twice the same.
MORE = 1.15
KINDS = {"tasks": task_heavy, "plans": plan_heavy}


def small(name: str, number: int) -> Iterator[bytes]:
    """The log of an application of two statements."""
    yield from start(name)
    for one in (2 * number, 2 * number + 1):
        yield from execution(one, 1)
        yield from stage(one, 8)
        yield execution_end(one)
    yield from end()


def make_small(folder: Path, count: int) -> int:
    """Write so many logs; how many bytes of text they have. A hundred of them differ."""
    size = 0
    texts = [b"".join(small("some_task", n)) for n in range(min(count, 100))]
    for n in range(count):
        text = texts[n % 100].replace(b"some_task", b"task_%05d" % n)
        log = folder / f"eventlog_v2_app-{n:05}"
        log.mkdir(parents=True)
        (log / f"appstatus_app-{n:05}").touch()
        (log / f"events_1_app-{n:05}.zstd").write_bytes(zstd(text))
        size += len(text)
    return size


def measure(folder: Path) -> None:
    """Collect and commit in this process, and print what it took."""
    logs = SparkLogs(str(folder / "logs"), "logs")
    done, took = collected(folder, lambda engine: collect(engine, logs, {}))
    records = store.read(str(folder / "store"))
    assert not records.rejects
    print(json.dumps({"logs": done.origins, "accesses": len(records.accesses), **took}))


def measured(report: Report, name: str, folder: Path, size: int) -> dict[str, float]:
    """The results of a process of its own; `size` is that of the text, in bytes."""
    done = subprocess.run(
        [sys.executable, __file__, "--measure", str(folder)], stdout=subprocess.PIPE, check=True
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    shutil.rmtree(folder)
    report.row(
        name,
        f"{size / 2**20:,.0f}",
        f"{found['seconds']:,.1f}",
        f"{size / 2**20 / found['seconds']:,.0f}",
        f"{found['accesses']:,.0f}",
        *(f"{found[kind]:,.0f}" for kind in ("java", "python", "driver")),
    )
    return found


def listed(report: Report, count: int) -> None:
    """Of a folder of logs only ten are new."""
    folder = BUILD / "listed"
    folder.mkdir(parents=True)
    for n in range(count):
        (folder / f"app-{n:06}").touch()
    began = time.perf_counter()
    with os.scandir(folder) as files:
        sum(file.stat().st_size for file in files)
    least = time.perf_counter() - began
    logs = SparkLogs(str(folder), "logs")
    known = {log.log.origin: (log.log.position, 0) for log in new_logs(logs, {})}
    for n in range(NEW):
        (folder / f"app-{n:06}").write_bytes(b"{}")
    began = time.perf_counter()
    new = new_logs(logs, known)
    seconds = time.perf_counter() - began
    assert len(new) == NEW
    report.say()
    report.say(
        f"Which {NEW} of {count:,} logs in a folder are new: {seconds:.2f} s "
        f"(asking the file system for the size of each: {least:.2f} s)."
    )
    shutil.rmtree(folder)


def main() -> int:
    """Measure all and write the report; 1 where the bar is missed."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--logs", type=int, default=10_000, help="small logs")
    options.add_argument("--size", type=int, default=2_048, help="MB of the large log")
    options.add_argument("--listed", type=int, default=100_000, help="logs of the known folder")
    options.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.measure:
        measure(chosen.measure)
        return 0
    shutil.rmtree(BUILD, ignore_errors=True)
    report = Report("Spark event logs to the store", "benchmarks/spark/bench_collect.py")
    report.say(
        f"On Spark with two cores and {SETTINGS['spark.driver.memory']} of heap: {chosen.logs:,} "
        "small logs (zstd, two statements each), and single plain logs. MB are those of the text; "
        "memory in MB: Java, the Python workers together, and what the driver's Python adds."
    )
    report.table("", "MB", "s", "MB/s", "accesses", "Java", "workers", "driver")
    folder = BUILD / "small"
    size = make_small(folder / "logs", chosen.logs)
    measured(report, f"{chosen.logs:,} small logs", folder, size)
    missed = []
    for kind, lines in KINDS.items():
        peaks = []
        for megabytes in (chosen.size // 10, chosen.size):
            folder = BUILD / f"{kind}-{megabytes}"
            (folder / "logs").mkdir(parents=True)
            write(folder / "logs/app-1", lines(), megabytes << 20)
            peaks.append(measured(report, f"one log full of {kind}", folder, megabytes << 20))
        missed += [
            f"{what} on a log full of {kind}"
            for what in ("python", "driver")
            if peaks[1][what] > peaks[0][what] * MORE + 16
        ]
    listed(report, chosen.listed)
    report.say()
    report.say(f"A log of ten times the size takes more memory: {', '.join(missed) or 'nowhere'}.")
    report.write()
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
