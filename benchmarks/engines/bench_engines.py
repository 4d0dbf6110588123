"""`graft collect` in processes of this machine, on Spark, and on a cluster of two executors here.

.xel files of 300 shapes, made first and no part of the time, and the demo's logs where `make docs`
has run. Each measure is a command of its own, the engines in turns. Seconds depend on what else
the machine does, the processor's hardly: those of all processes together, Java's and the workers'
too, as the system counts them ten times a second. Sizes in MB are the arguments: 1 10 100 1000.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Thread

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report  # noqa: E402
from benchmarks.sqlserver.bench_flood import make  # noqa: E402

BUILD = Path("build/bench-engines")
# What graft.yml says of each, beside the logs.
ENGINES = {
    "local": "engine: local\n",
    "spark": "engine: spark\n",
    "local cluster": 'engine: spark\nspark: {master: "local-cluster[2,1,1024]"}\n',
}
# Of an event in .xel files of `bench_flood`.
BYTES = 770
TICKS = os.sysconf("SC_CLK_TCK")
DEMO = "the demo's logs"


class Processor(Thread):
    """The processor's seconds of a process and all below it."""

    def __init__(self, top: int) -> None:
        super().__init__(daemon=True)
        self.top = top
        self.used: dict[tuple[int, str], float] = {}
        self.done = Event()

    def run(self) -> None:
        """Look ten times a second until `done` is set."""
        while not self.done.wait(0.1):
            self.look()

    def look(self) -> None:
        """Note what each process took so far; a process that ended keeps its last."""
        stats = [stat for path in Path("/proc").glob("[0-9]*/stat") if (stat := _stat(path))]
        ours = {self.top}
        for _ in range(7):  # Python, its pool, Java, an executor, its daemon, a worker, a parser
            ours |= {pid for pid, parent, *_ in stats if parent in ours}
        for pid, _, began, seconds in stats:
            if pid in ours:
                self.used[pid, began] = seconds


def _stat(path: Path) -> tuple[int, int, str, float] | None:
    try:
        text = path.read_text()
    except OSError:
        return None
    fields = text[text.rindex(")") + 2 :].split()
    return int(path.parent.name), int(fields[1]), fields[19], sum(map(int, fields[11:13])) / TICKS


def taken(folder: Path, engine: str, collect: str) -> tuple[float, float]:
    """Seconds, and the processor's seconds, of a collect."""
    folder.mkdir(parents=True)
    (folder / "graft.yml").write_text(f"{ENGINES[engine]}collect:\n{collect}")
    command = [sys.executable, "-m", "dbt_graft", "collect", "-q"]
    began = time.perf_counter()
    with subprocess.Popen([*command, "-c", str(folder / "graft.yml")]) as process:
        processor = Processor(process.pid)
        processor.start()
        assert process.wait() == 0
    processor.done.set()
    return time.perf_counter() - began, sum(processor.used.values())


def main(sizes: list[int]) -> None:
    """Report the figures."""
    shutil.rmtree(BUILD, ignore_errors=True)
    report = Report("With and without Spark", "benchmarks/engines/bench_engines.py")
    report.say("`graft collect` as a whole; .xel files of 300 shapes, on two cores.")
    report.table("logs", *(f"{engine}: {unit}" for engine in ENGINES for unit in ("s", "CPU s")))
    logs = {DEMO: _demo()} if (ROOT / "build/demo/spark-events").exists() else {}
    for size in sizes:
        events = size * 2**20 // BYTES
        make(BUILD / f"xe-{size}", events)
        place = (BUILD / f"xe-{size}").resolve()
        logs[f"{size:,} MB, {events:,} events"] = (
            f'- sqlserver: {{path: {place}, server: "mssql://a"}}\n'
        )
    for number, (name, collect) in enumerate(logs.items()):
        figures = [
            taken(BUILD / f"{number}-{engine.replace(' ', '-')}", engine, collect)
            for engine in ENGINES
        ]
        report.row(name, *(f"{figure:.1f}" for pair in figures for figure in pair))
    report.write()
    shutil.rmtree(BUILD)


def _demo() -> str:
    return "".join(
        (
            f'- sqlserver: {{path: {ROOT}/dbt_project/logs/, server: "mssql://a"}}\n',
            f"- spark: {{path: {ROOT}/build/demo/spark-events}}\n",
            f"- spark: {{path: {ROOT}/dbt_project/history/spark}}\n",
        )
    )


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [1, 10, 100, 1000])
