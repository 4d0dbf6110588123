"""MB a second out of event logs, on one core, beside the least that any reader has to do.

Two logs of 100 MB are made first (`logs.py`). The limit is reading the bytes and splitting them
into lines in the quickest way that Python has; for a packed log it is unpacking it. No reader in
Python can do without parsing the events that are needed: limit and orjson on those lines alone are
the floor. Beside us: `json` and `orjson` on every line, DuckDB's `read_json` and Spark's own
`read.json`, both with the schema of what is needed and all cores. Time is the processor's for what
runs here on one core, the clock's for the other two.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path

import orjson

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.report import Report
from benchmarks.spark.logs import plan_heavy, task_heavy, write
from dbt_graft.collectors.codecs import decompress
from dbt_graft.collectors.engines.session import session
from dbt_graft.collectors.spark.log.decode import SparkEvent, decode
from tests.collectors.spark.packed import lz4, snappy, zstd

SIZE = 100 << 20
BUILD = Path("build/bench-spark")
CHUNK = 1 << 18
CODECS = {
    "plain": lambda text: text,
    "zstd": lambda text: zstd(*(text[at : at + CHUNK] for at in range(0, len(text), CHUNK))),
    "lz4": lz4,
    "snappy": snappy,
    "gzip": partial(gzip.compress, compresslevel=6),
}
# What Spark and DuckDB can read: of lz4 and snappy as Spark writes them they find no line.
THEIRS = {"plain": ".json", "zstd": ".json.zst", "gzip": ".json.gz"}
LOGS = {"tasks": (task_heavy, 0.35), "plans": (plan_heavy, 0.1)}
PACKED_BAR = 0.6
PLAN = "sparkPlanInfo struct<nodeName string, simpleString string>"
SCHEMA = f"Event string, executionId bigint, physicalPlanDescription string, {PLAN}, time bigint"

# Our own session is one for short work; this one is to be as fast as Spark is.
SETTINGS = {
    "spark.driver.memory": "2g",
    "spark.sql.codegen.wholeStage": "true",
    "spark.driver.extraJavaOptions": "",
    "spark.ui.showConsoleProgress": "false",
}

Seconds = dict[str, float]


def limit(path: Path) -> None:
    """The least that every reader does."""
    if path.suffix == ".plain":
        with path.open("rb", CHUNK) as file:
            deque(file, maxlen=0)
    else:
        with path.open("rb") as file:
            deque(decompress(file), maxlen=0)


def ours(path: Path) -> None:
    """The events that lineage needs."""
    with path.open("rb") as file:
        deque(decode(file), maxlen=0)


def every_line(loads: Callable[[bytes], object], path: Path) -> None:
    """Each line parsed."""
    with path.open("rb") as file:
        lines = file if path.suffix == ".plain" else BytesIO(b"".join(decompress(file)))
        deque(map(loads, lines), maxlen=0)


def needed(path: Path) -> list[bytes]:
    """The lines of the events that lineage needs."""
    with path.open("rb") as file:
        numbers = {event.line for event in decode(file) if isinstance(event, SparkEvent)}
    with path.open("rb") as file:
        return [line for number, line in enumerate(file, 1) if number in numbers]


def duckdb_reads(path: Path) -> None:
    """DuckDB's own reader, of the fields that are needed."""
    import duckdb

    columns = {
        "Event": "VARCHAR",
        "executionId": "BIGINT",
        "physicalPlanDescription": "VARCHAR",
        "sparkPlanInfo": "STRUCT(nodeName VARCHAR, simpleString VARCHAR)",
    }
    query = (
        f"SELECT count(physicalPlanDescription), count(sparkPlanInfo.nodeName) FROM read_json("
        f"'{path}', format='newline_delimited', columns={columns}, maximum_object_size=100000000)"
    )
    [(texts, plans)] = duckdb.sql(query).fetchall()
    assert texts
    assert plans


def best(work: Callable[[Path], None], path: Path, clock: Callable[[], float]) -> float:
    """Seconds, the best of three."""
    taken = []
    for _ in range(3):
        start = clock()
        work(path)
        taken.append(clock() - start)
    return min(taken)


def on_one_core(kind: str) -> dict[str, Seconds]:
    """Seconds by reader and codec."""
    work = {
        "limit": limit,
        "**dbt-graft**": ours,
        "orjson on every line": partial(every_line, orjson.loads),
        "json on every line": partial(every_line, json.loads),
    }
    found = {
        name: {
            codec: best(reader, BUILD / f"{kind}.{codec}", time.process_time) for codec in CODECS
        }
        for name, reader in work.items()
    }
    lines = needed(BUILD / f"{kind}.plain")
    parsed = best(lambda _: deque(map(orjson.loads, lines), maxlen=0), BUILD, time.process_time)
    floor = {codec: seconds + parsed for codec, seconds in found["limit"].items()}
    return {"limit": found.pop("limit"), "floor": floor, **found}


def on_all_cores(kind: str, work: Callable[[Path], None]) -> Seconds:
    """Seconds by codec, of those that others can read."""
    found = {}
    for codec, ending in THEIRS.items():
        path = BUILD / f"{kind}.{codec}"
        theirs = path.rename(path.with_suffix(ending))
        found[codec] = best(work, theirs, time.monotonic)
        theirs.rename(path)
    return found


def spark_reads(path: Path) -> None:
    """Spark's own reader, of the fields that are needed."""
    from pyspark.sql import SparkSession

    spark = SparkSession.active()
    found = spark.read.schema(SCHEMA).json(str(path)).where("Event IS NOT NULL")
    found.write.format("noop").mode("overwrite").save()


def show(report: Report, kind: str, seconds: dict[str, Seconds]) -> None:
    """The table of a log."""
    report.table(f"log full of {kind}, MB/s", *CODECS)
    for name, taken in seconds.items():
        report.row(
            name,
            *(f"{SIZE / 2**20 / taken[codec]:,.0f}" if codec in taken else "–" for codec in CODECS),
        )
    mine = seconds["**dbt-graft**"]
    for other in ("limit", "floor"):
        shares = (seconds[other][codec] / mine[codec] for codec in CODECS)
        report.row(f"dbt-graft / {other}", *(f"{share:.2f}" for share in shares))
    bars = (LOGS[kind][1] if codec == "plain" else PACKED_BAR for codec in CODECS)
    report.row("asked of dbt-graft / limit", *(f"{bar:.2f}" for bar in bars))


def main() -> None:
    """Report the speeds; with `--ours` only show them, without those of DuckDB and Spark."""
    report = Report("Spark event logs", "benchmarks/spark/bench_decode.py")
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    report.say(
        f"Logs of {SIZE >> 20} MB (of text), one core; DuckDB and Spark have all. The limit is "
        "reading and splitting lines, or unpacking; the floor is that and orjson on the needed "
        "lines alone: where it is below what is asked, nobody who uses orjson gets there. lz4 and "
        "snappy as Spark writes them are nothing that DuckDB or Spark's text readers read."
    )
    for kind, (lines, _) in LOGS.items():
        plain = BUILD / f"{kind}.plain"
        write(plain, lines(), SIZE)
        text = plain.read_bytes()
        for codec, pack in CODECS.items():
            plain.with_suffix(f".{codec}").write_bytes(pack(text))
    logs = {kind: on_one_core(kind) for kind in LOGS}
    if "--ours" not in sys.argv:
        for kind in LOGS:
            logs[kind]["DuckDB read_json"] = on_all_cores(kind, duckdb_reads)
        with session(SETTINGS, log=BUILD / "spark.log"):
            for kind in LOGS:
                logs[kind]["Spark read.json"] = on_all_cores(kind, spark_reads)
    for kind in LOGS:
        show(report, kind, logs[kind])
    if "--ours" not in sys.argv:
        report.write()


if __name__ == "__main__":
    main()
