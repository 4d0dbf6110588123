"""MB a second out of event logs, on one core, beside the least that any reader has to do.

Two logs of 100 MB are made first (`logs.py`). The limit is reading the bytes and splitting them
into lines in the quickest way that Python has; for a packed log it is unpacking it. Beside us:
`json` and `orjson` on every line, DuckDB's `read_json` and Spark's own `read.json`, both with the
schema of what is needed and all cores. Time is the processor's for what runs here on one core, the
clock's for the other two.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import orjson

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.spark.logs import plan_heavy, task_heavy, write
from collectors.session import session
from collectors.spark.codecs import uncompressed
from collectors.spark.decode import decode
from tests.collectors.spark.packed import lz4, snappy, zstd

SIZE = 100 << 20
BUILD = Path("build/bench-spark")
CHUNK = 1 << 18
PLAN = "sparkPlanInfo struct<nodeName string, simpleString string>"
SCHEMA = f"Event string, executionId bigint, physicalPlanDescription string, {PLAN}, time bigint"


def split(path: Path) -> None:
    """The limit."""
    with path.open("rb", CHUNK) as file:
        deque(file, maxlen=0)


def unpacked(path: Path) -> None:
    """The limit of a packed log."""
    with path.open("rb") as file:
        deque(uncompressed(file), maxlen=0)


def ours(path: Path) -> None:
    """The events that lineage needs."""
    with path.open("rb") as file:
        deque(decode(file), maxlen=0)


def every_line(loads: Callable[[bytes], object]) -> Callable[[Path], None]:
    """Each line parsed."""

    def work(path: Path) -> None:
        with path.open("rb") as file:
            deque(map(loads, file), maxlen=0)

    return work


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
    duckdb.sql(query).fetchall()


def measure(path: Path, work: Callable[[Path], None], clock: Callable[[], float]) -> float:
    """MB a second of the plain log, the best of three."""
    best = float("inf")
    for _ in range(3):
        start = clock()
        work(path)
        best = min(best, clock() - start)
    return SIZE / 2**20 / best


def show(name: str, speed: float, limit: float) -> None:
    """A line of the result."""
    print(f"    {name:<34} {speed:>9,.0f} MB/s   {speed / limit:>6.2f} x the limit", flush=True)


def packed(path: Path) -> None:
    """The same log in each codec."""
    text = path.read_bytes()
    pieces = [text[at : at + (1 << 20)] for at in range(0, len(text), 1 << 20)]
    for codec, pack in (
        ("zstd", lambda: zstd(*pieces)),
        ("lz4", lambda: lz4(text)),
        ("snappy", lambda: snappy(text)),
        ("gzip", lambda: gzip.compress(text, 6)),
    ):
        log = path.with_suffix(f".{codec}")
        log.write_bytes(pack())
        limit = measure(log, unpacked, time.process_time)
        show(f"{codec}: unpacked (limit)", limit, limit)
        show(f"{codec}: ours", measure(log, ours, time.process_time), limit)
        log.unlink()


def main() -> None:
    """Print the speeds; with `--ours` without those of others."""
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    logs = {"tasks": task_heavy(), "plans": plan_heavy()}
    limits = {}
    for kind, lines in logs.items():
        path = BUILD / f"{kind}.log"
        write(path, lines, SIZE)
        print(f"event log full of {kind}, {SIZE >> 20} MB")
        limits[kind] = measure(path, split, time.process_time)
        show("read and split lines (limit)", limits[kind], limits[kind])
        show("ours", measure(path, ours, time.process_time), limits[kind])
        if "--ours" not in sys.argv:
            for name, loads in (("orjson on every line", orjson.loads), ("json", json.loads)):
                speed = measure(path, every_line(loads), time.process_time)
                show(name, speed, limits[kind])
            speed = measure(path, duckdb_reads, time.monotonic)
            show("DuckDB read_json, all cores", speed, limits[kind])
        packed(path)
    if "--ours" in sys.argv:
        return
    with session({"spark.driver.memory": "2g"}) as spark:
        for kind in logs:

            def spark_reads(path: Path) -> None:
                """Spark's own reader, of the fields that are needed."""
                found = spark.read.schema(SCHEMA).json(str(path))
                found.write.format("noop").mode("overwrite").save()

            speed = measure(BUILD / f"{kind}.log", spark_reads, time.monotonic)
            show(f"Spark read.json, all cores: {kind}", speed, limits[kind])


if __name__ == "__main__":
    main()
