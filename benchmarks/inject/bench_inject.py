"""`graft inject` against reading and writing the same files with orjson, in one run.

Two projects of 3 tests and 15 columns a model: 3,000 models with 200 tasks, and 30,000 models with
2,000. Each task reads a model and a table that dbt does not know, and writes one: a source of the
project, or a new table, in turns. The models' columns are known from the inject before. Bars: at
most twice the time, at most three times the memory of the parsed documents, and ten times the
project in less than 13 times the time.

Each measure is a process of its own, and those that are compared take turns. Time is the
processor's for the work, after imports, the best of them: of seven, since orjson has slow runs, of
three where they are long; that by the clock has other work on the machine in it. Memory is the
peak of the process less what it takes after imports. The command is measured from its start to its
end beside that, imports included.
"""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.report import Report

SIZES = {3_000: 200, 30_000: 2_000}
ROUNDS = {3_000: 7, 30_000: 3}
BUILD = Path("build/bench/inject")
START = datetime(2026, 11, 20, 2, 0, tzinfo=UTC)
SLOWEST, LARGEST, STEEPEST = 2.0, 3.0, 13.0
NAMES = ("manifest.json", "catalog.json")


def main() -> int:
    """Measure both sizes and report what was found; 1 where a bar is missed."""
    report = Report("Injecting into dbt's artifacts", "benchmarks/inject/bench_inject.py")
    report.say("The same files read and written with orjson beside it; memory in MB.")
    report.table(
        "",
        "MB",
        "s",
        "CPU s",
        "orjson CPU s",
        f"x (bar {SLOWEST})",
        "command, CPU s",
        "x",
        "memory",
        "parsed",
        f"x (bar {LARGEST})",
    )
    missed, times = False, []
    for models, tasks in SIZES.items():
        folder = BUILD / str(models)
        if not (folder / "graft.yml").exists():
            _make(folder, models, tasks)
        size = sum((folder / "target" / name).stat().st_size for name in NAMES)
        best = _measure_in_turns(("orjson", "inject", "command"), folder, ROUNDS[models])
        (_, plain, parsed), (seconds, grafted, peak), (_, command, _) = best
        times.append(grafted)
        missed = missed or grafted > SLOWEST * plain or peak > LARGEST * parsed
        report.row(
            f"{models:,} models, {tasks:,} tasks",
            f"{size / 1e6:,.0f}",
            *(f"{figure:.2f}" for figure in (seconds, grafted, plain)),
            *(f"{figure:.2f}" for figure in (grafted / plain, command, command / plain)),
            *(f"{memory / 1e6:,.0f}" for memory in (peak, parsed)),
            f"{peak / parsed:.2f}",
        )
    steep = times[1] / times[0]
    report.say()
    report.say(f"Ten times the project: {steep:.1f} times the processor's time (bar {STEEPEST}).")
    report.write()
    return int(missed or steep >= STEEPEST)


def _measure_in_turns(
    names: tuple[str, ...], folder: Path, rounds: int
) -> list[tuple[float, float, float]]:
    """Of each measure the least seconds, seconds of the processor, and bytes."""
    measures: dict[str, list[tuple[float, float, float]]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            command = [sys.executable, __file__, name, str(folder)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            measures[name].append(orjson.loads(done.stdout.splitlines()[-1]))
    return [
        (min(seconds), min(busy), min(memory))
        for seconds, busy, memory in (zip(*runs, strict=True) for runs in measures.values())
    ]


def measure(what: str, folder: Path) -> None:
    """Run one of the two in this process and print what it took."""
    work = {"orjson": _orjson, "inject": _inject, "command": _command}[what](folder)
    clock = _children if what == "command" else time.process_time
    gc.collect()
    before = _memory()
    started, ran = time.perf_counter(), clock()
    took = work()
    seconds, busy = time.perf_counter() - started, clock() - ran
    print(orjson.dumps([seconds, busy, (took or _peak()) - before]).decode())


def _orjson(folder: Path) -> Callable[[], int]:
    def work() -> int:
        documents = []
        for name in NAMES:
            content = (folder / "target" / name).read_bytes()
            documents.append(orjson.loads(content))
            del content
        parsed = _memory()
        for name, document in zip(NAMES, documents, strict=True):
            (folder / f"copy-of-{name}").write_bytes(orjson.dumps(document))
        return parsed

    return work


def _command(folder: Path) -> Callable[[], None]:
    def work() -> None:
        command = [sys.executable, "-m", "dbt_graft", "inject"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)

    return work


def _inject(folder: Path) -> Callable[[], None]:
    # They are imported when they are needed.
    import dbt_graft.collectors.dbt.columns
    import dbt_graft.graft.project.contracts
    import dbt_graft.graft.project.dbt_labels
    import dbt_graft.injector.graft  # noqa: F401
    from dbt_graft.graft.project.config import load
    from dbt_graft.graft.project.progress import Progress
    from dbt_graft.graft.steps.inject import graft

    def work() -> None:
        graft(load(folder / "graft.yml"), Progress(quiet=True))

    return work


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _memory() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _make(folder: Path, models: int, tasks: int) -> None:
    sys.path.insert(0, str(Path(__file__).parent.parent / "docs"))
    from project import artifacts

    (folder / "target").mkdir(parents=True, exist_ok=True)
    for name, document in zip(NAMES, artifacts(models), strict=True):
        (folder / "target" / name).write_bytes(orjson.dumps(document))
    _store(folder / ".graft/store", models, tasks)
    (folder / "graft.yml").write_text("site: {name: Benchmark}\n")


def _store(store: Path, models: int, tasks: int) -> None:
    """A lineage store as collectors leave it, written without Spark."""
    accesses, runs, shapes = [], [], []
    for n in range(tasks):
        task, at = f"task_{n:04}", START + timedelta(seconds=n)
        origin = {"origin": "log"}
        run = {"run_id": f"{task}-1", "task": task}
        runs.append(
            {**run, "engine": "spark", "started_at": at, "ended_at": at, "status": "ok"}
            | dict.fromkeys(("error", "application_id", "code_version", "parent_run_id"), "")
            | origin
        )
        shape = {"shape_id": f"shape_{n}"}
        shapes.append(
            {**shape, "dialect": "spark", "text": f"INSERT INTO new.t_{n} SELECT ? FROM x"}
            | {"parser": "sqlglot", "outcome": "parsed", "reason": ""}
        )
        written = f"raw.exported_table_{n:05}" if n % 2 else f"new.t_{n:05}"
        read = f"analytics.orders_by_customer_{n * 13 % (models // 2):05}"
        for name, direction in ((read, "read"), (f"new.in_{n // 2}", "read"), (written, "write")):
            accesses.append(
                {**run, **shape, "namespace": "spark", "name": name, "kind": "TABLE"}
                | {"direction": direction, "statements": 1, "rows": 5, "bytes": 1 << 20}
                | {"operation": "SELECT" if direction == "read" else "INSERT", "status": "ok"}
                | {"first_at": at, "last_at": at, "evidence": "observed", "procedure": ""}
                | origin
            )
    batch = {"origin": "log", "position": "1", "events": tasks, "noise": 0, "committed_at": START}
    tables: dict[str, list[dict[str, Any]]] = {
        "accesses": accesses,
        "runs": runs,
        "shapes": shapes,
        "batches": [batch],
    }
    for name, rows in tables.items():
        folder = store / name / "batch_id=1"
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows), folder / "part.parquet")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1], Path(sys.argv[2]))
    else:
        sys.exit(main())
