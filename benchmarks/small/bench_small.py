"""Collecting the demo's few logs, beside an empty Spark session with one job.

Both are commands of their own and take turns. Seconds depend on what else the machine does, the
processor's seconds hardly: those of all processes together, Java's and the workers' too. The limit
is 1.5 times the empty session. The demo's Spark logs are there once `make docs` has run.
"""

from __future__ import annotations

import ctypes
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report  # noqa: E402

ROUNDS, LIMIT = 3, 1.5
EMPTY = """
from dbt_graft.collectors.session import session
with session() as spark:
    spark.range(10).count()
"""
LOGS = {
    "the demo's SQL Server events": 'sqlserver: {{path: {root}/dbt_project/logs/, server: "mssql://a"}}',
    "the demo's Spark logs": "spark: {{path: {root}/build/demo/spark-events}}",
}
# Linux: processes whose parents are gone become ours, so that their times can be counted.
_PR_SET_CHILD_SUBREAPER = 36


def taken(command: list[str]) -> tuple[float, float]:
    """Seconds, and the processor's seconds, of a command and all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    seconds = time.perf_counter() - began
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, used


def main() -> int:
    """Report the figures; return 1 if a limit is exceeded."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if not (ROOT / "build/demo/spark-events").exists():
        sys.exit("run `make docs` first: it writes the demo's Spark logs")
    report = Report("Few logs", "benchmarks/small/bench_small.py")
    found: dict[str, list[tuple[float, float]]] = {"an empty session": []}
    for _ in range(ROUNDS):
        found["an empty session"].append(taken([sys.executable, "-c", EMPTY]))
        for name, entry in LOGS.items():
            with tempfile.TemporaryDirectory() as folder:
                config = Path(folder) / "graft.yml"
                config.write_text(f"collect:\n- {entry.format(root=ROOT)}\n")
                command = [sys.executable, "-m", "dbt_graft", "collect", "-q", "-c", str(config)]
                found.setdefault(name, []).append(taken(command))
    report.say("`graft collect` as a whole, and a session of Spark with one job; medians.")
    report.table("", "s", "CPU s", f"x CPU (limit {LIMIT})")
    medians = {
        name: tuple(statistics.median(figures) for figures in zip(*all_rounds, strict=True))
        for name, all_rounds in found.items()
    }
    _, empty = medians["an empty session"]
    for name, (seconds, used) in medians.items():
        report.row(name, f"{seconds:.1f}", f"{used:.1f}", f"{used / empty:.2f}")
    report.write()
    return int(any(used > LIMIT * empty for _, used in medians.values()))


if __name__ == "__main__":
    sys.exit(main())
