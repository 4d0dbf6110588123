"""Months of history: what a build reads of them, and what one more hour costs.

`--tasks` tasks run each hour for `--days` days; each run reads two tables and writes a third, and
its log names their columns. Spark makes the store below `build/bench/history`, batch by batch:
what was stopped goes on. A year (`--days 365`) folds for most of an hour. Measured are, each in a
process of its own:

- folding all batches from nothing;
- `graft inject` with the history, folded, and with one day of it alone, folded too;
- committing one more hour of all tasks, with folding it.

Memory is the peak of the process, and of the largest that it starts; Spark's own is not in it.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.report import Report

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BUILD = Path("build/bench/history")
START = datetime(2025, 11, 1, tzinfo=UTC)
DAYS_AT_ONCE = 10
READ_SECONDS, READ_MEGABYTES, COMMIT_SECONDS, STEEPEST = 8.0, 600.0, 60.0, 1.3
_ORIGIN = "format_string('bench:logs/task_%04d/application_%08d', task_number, hour)"


def main() -> int:
    """Measure a history and report what was found; 1 where a bar is missed."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--tasks", type=int, default=1_000)
    asked.add_argument("--days", type=int, default=60)
    asked.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = asked.parse_args()
    if options.measure:
        what, place = options.measure
        measure(what, place, options.tasks, options.days)
        return 0
    tasks, days = options.tasks, options.days
    store = BUILD / f"{tasks}-tasks-{days}-days" / "store"
    day = BUILD / f"{tasks}-tasks-1-day" / "store"
    runs = tasks * days * 24
    report = Report(f"History of {days} days", "benchmarks/history/bench_history.py")
    report.say(f"{tasks:,} tasks, hourly for {days} days: {runs:,} runs, {runs * 3:,} accesses.")
    report.say()
    report.table("", "s", "bar", "memory MB", "bar")
    _run("make", day, tasks, 1)
    _run("make", store, tasks, days)
    folding, folding_memory = _folded(store, tasks, days)
    report.row("folding all from nothing", f"{folding:.1f}", "", f"{folding_memory:,.0f}", "")
    _run("fold", day, tasks, 1)
    one_day, day_memory = _best("inject", day, tasks, 1)
    report.row("graft inject, one day", f"{one_day:.2f}", "", f"{day_memory:,.0f}", "")
    seconds, memory = _best("inject", store, tasks, days)
    report.row(
        *("graft inject, all", f"{seconds:.2f}", f"{READ_SECONDS}"),
        *(f"{memory:,.0f}", f"{READ_MEGABYTES:,.0f}"),
    )
    hour, hour_memory = _run("commit", store, tasks, days)
    report.row(
        *(
            "one more hour, folded",
            f"{hour:.1f}",
            f"{COMMIT_SECONDS:.0f}",
            f"{hour_memory:,.0f}",
            "",
        )
    )
    steep = seconds / one_day
    report.say()
    report.say(f"All days in {steep:.2f} times the time of one (bar {STEEPEST}).")
    report.write()
    return int(
        seconds > READ_SECONDS
        or memory > READ_MEGABYTES
        or hour > COMMIT_SECONDS
        or steep > STEEPEST
    )


def _folded(store: Path, tasks: int, days: int) -> tuple[float, float]:
    """Seconds and megabytes of folding, which is done once: what it took is kept beside it."""
    path = store.parent / "folded.json"
    if not path.exists():
        found = _run("fold", store, tasks, days)
        path.write_bytes(orjson.dumps(found))
    seconds, memory = orjson.loads(path.read_bytes())
    return seconds, memory


def _best(what: str, store: Path, tasks: int, days: int) -> tuple[float, float]:
    found = [_run(what, store, tasks, days) for _ in range(3)]
    return min(seconds for seconds, _ in found), min(memory for _, memory in found)


def _run(what: str, store: Path, tasks: int, days: int) -> tuple[float, float]:
    """Seconds and megabytes of a process that does one thing."""
    options = ["--tasks", str(tasks), "--days", str(days), "--measure", what, str(store)]
    command = [sys.executable, __file__, *options]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    seconds, memory = orjson.loads(done.stdout.splitlines()[-1])
    print(f"{what} {store.parent.name}: {seconds:.1f} s, {memory:,.0f} MB", file=sys.stderr)
    return seconds, memory


def measure(what: str, store: str, tasks: int, days: int) -> None:
    """Do one thing in this process and print what it took."""
    work: dict[str, Callable[[], Callable[[], Any]]] = {
        "make": lambda: lambda: _make(store, tasks, days),
        "fold": lambda: lambda: _fold(store),
        "inject": lambda: _injecting(Path(store).parent),
        "commit": lambda: _committing(store, tasks, days),
    }
    ready = work[what]()
    started = time.perf_counter()
    ready()
    seconds = time.perf_counter() - started
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    peak = sum(resource.getrusage(one).ru_maxrss for one in both) * 1024 / 1e6
    print(orjson.dumps([seconds, peak]).decode())


def _fold(store: str) -> None:
    from dbt_graft.collectors.engines.session import session
    from dbt_graft.collectors.store.fold.spark import folding_on
    from dbt_graft.collectors.store.fold.write import fold_store

    settings = {"spark.master": "local[2]", "spark.driver.memory": "4g"}
    with session(settings, much_work=True) as spark:
        fold_store(store, few=1, many=0, on_spark=folding_on(spark))


def _injecting(folder: Path) -> Callable[[], None]:
    """A dbt project of a hundred models with the history's store."""
    from dbt_graft.graft.project.config import load
    from dbt_graft.graft.project.progress import Progress
    from dbt_graft.graft.steps.inject import graft

    if not (folder / "graft.yml").exists():
        sys.path.insert(0, str(Path(__file__).parent.parent / "docs"))
        from project import artifacts

        (folder / "target").mkdir(exist_ok=True)
        for name, document in zip(("manifest", "catalog"), artifacts(100), strict=True):
            (folder / "target" / f"{name}.json").write_bytes(orjson.dumps(document))
        (folder / "graft.yml").write_text("store: store\n")

    def work() -> None:
        graft(load(folder / "graft.yml"), Progress(quiet=True))

    return work


def _committing(store: str, tasks: int, days: int) -> Callable[[], None]:
    """One more hour of all tasks, read as a collector gives it."""
    from dbt_graft.collectors.engines.session import session
    from dbt_graft.collectors.store.batches import open_store
    from dbt_graft.collectors.store.commit import commit
    from dbt_graft.collectors.store.fold.write import fold_store
    from dbt_graft.collectors.store.tables import Collected

    # Each time one more: that of the days is the last of their batches.
    later = open_store(store).batches[-1].sequence - -(-days // DAYS_AT_ONCE)
    hour = days * 24 + later
    with session({"spark.master": "local[2]"}) as spark:
        frames = {name: frame.toArrow() for name, frame in _frames(spark, tasks, hour, 1).items()}

    def work() -> None:
        commit(store, [Collected(**frames)], {})
        fold_store(store, few=1)

    return work


def _make(store: str, tasks: int, days: int) -> None:
    """Commit the batches that are not there yet."""
    from dbt_graft.collectors.engines.session import session
    from dbt_graft.collectors.store.batches import open_store
    from dbt_graft.collectors.store.commit import commit
    from dbt_graft.collectors.store.tables import Collected

    done = len(open_store(store).batches)
    if done * DAYS_AT_ONCE >= days:
        return
    settings = {"spark.master": "local[2]", "spark.driver.memory": "4g"}
    with session(settings, much_work=True) as spark:
        for first in range(done * DAYS_AT_ONCE, days, DAYS_AT_ONCE):
            count = min(DAYS_AT_ONCE, days - first)
            commit(store, [Collected(**_frames(spark, tasks, first * 24, count * 24))])


def _frames(spark: SparkSession, tasks: int, first_hour: int, hours: int) -> dict[str, DataFrame]:
    """The rows of some hours of all tasks."""
    from dbt_graft.collectors.store.tables import SCHEMAS

    numbers = spark.range(tasks * hours).selectExpr(
        f"cast(id % {tasks} as int) as task_number",
        f"cast(id div {tasks} as int) + {first_hour} as hour",
    )
    seconds = int(START.timestamp())
    runs = numbers.selectExpr(
        "*",
        "format_string('task_%04d', task_number) as task",
        "format_string('application_%04d_%08d', task_number, hour) as run_id",
        f"{_ORIGIN} as origin",
        f"timestamp_seconds({seconds} + hour * 3600L + task_number) as started_at",
        "hash(task_number, hour) % 97 = 0 as failed",
        "abs(hash(hour, task_number)) % 1000 as chance",
    )
    runs.createOrReplaceTempView("runs")
    table = "format_string('dm.{}_%04d', task_number) as name"
    ways = [("raw", "read"), ("stage", "read"), ("mart", "write")]
    accesses = " union all ".join(
        f"""select task, run_id, 'spark' as namespace, {table.format(schema)}, 'TABLE' as kind,
        '{direction}' as direction, 'INSERT' as operation,
        format_string('shape-%04d', task_number) as shape_id, 1L as statements,
        if(failed, null, 100000L + chance) as rows, if(failed, null, 8000000L + chance) as bytes,
        started_at + interval 5 seconds as first_at,
        started_at + make_interval(0, 0, 0, 0, 0, 0, 30 + chance % 60) as last_at,
        if(failed, 'failed', 'ok') as status, 'observed' as evidence, origin from runs"""
        for schema, direction in ways
    )
    columns = ", ".join(f"named_struct('name', 'column_{n}', 'type', 'bigint')" for n in range(5))
    datasets = " union all ".join(
        f"""select 'spark' as namespace, {table.format(schema)}, 'TABLE' as kind,
        array({columns}) as columns, origin, started_at as first_seen, started_at as last_seen
        from runs"""
        for schema, _ in ways
    )
    edges = " union all ".join(
        f"""select task, 'spark' as to_namespace,
        format_string('dm.mart_%04d', task_number) as to_name, 'column_{n}' as to_column,
        'spark' as from_namespace, format_string('dm.raw_%04d', task_number) as from_name,
        'column_{n}' as from_column, 'DIRECT' as type, 'IDENTITY' as subtype, false as masking,
        format_string('shape-%04d', task_number) as shape_id, origin, 'observed' as evidence
        from runs"""
        for n in range(2)
    )
    found = {
        "accesses": spark.sql(accesses),
        "runs": spark.sql(
            """select run_id, task, 'spark' as engine, started_at,
            started_at + make_interval(0, 0, 0, 0, 0, 0, 40 + chance % 60) as ended_at,
            if(failed, 'failed', 'ok') as status, run_id as application_id, origin from runs"""
        ),
        "shapes": spark.sql(
            """select distinct format_string('shape-%04d', task_number) as shape_id,
            'spark' as dialect, format_string('INSERT INTO dm.mart_%04d', task_number) as text,
            '1' as parser, 'parsed' as outcome from runs"""
        ),
        "datasets": spark.sql(datasets),
        "column_edges": spark.sql(edges),
        "rejects": spark.createDataFrame([], SCHEMAS["rejects"]),
        "origins": spark.sql(
            "select origin, '{}' as position, 1L as events, 0L as noise, '' as settings from runs"
        ),
    }
    return {name: _complete(frame, SCHEMAS[name]) for name, frame in found.items()}


def _complete(frame: DataFrame, schema: str) -> DataFrame:
    """A frame with all columns of a table, null where it has none."""
    from pyspark.sql.types import StructType

    return frame.selectExpr(
        *(
            f"`{one.name}`"
            if one.name in frame.columns
            else f"cast(null as {one.dataType.simpleString()}) as `{one.name}`"
            for one in StructType.fromDDL(schema)
        )
    )


if __name__ == "__main__":
    sys.exit(main())
