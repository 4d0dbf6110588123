"""Events of OpenLineage to the store: a million of 1.5 kB, and a tenth of that.

Made first, and no part of the time: JSON lines in eight files, a START and a COMPLETE for each run
of two thousand tasks, with a DAG run above, data intervals, statistics and columns. Each measure is
a process of its own with Spark on two cores. Bars: 120 s for a million, and no more memory for ten
times the events, of Java that the same small heap does.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

import orjson
import pyarrow.compute as pc

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.collecting import SETTINGS, collected
from benchmarks.report import Report
from dbt_graft.collectors.openlineage.collect import collect
from dbt_graft.collectors.openlineage.files import EventFiles
from dbt_graft.collectors.store.batches import open_store

BUILD = Path("build/bench-openlineage")
SIZE, TASKS, FILES = 1_500, 2_000, 8
LIMIT = 120.0
# How much more a peak may be before it is more.
MORE = 1.25


def run_id(kind: int, number: int) -> str:
    """A run id."""
    return f"01a20261-2a3a-7{kind:03}-94f2-{number:012x}"


def event(number: int, state: str) -> bytes:
    """An event of 1.5 kB."""
    task, dag = number % TASKS, number % TASKS // 20
    tables = [
        {"namespace": "spark", "name": f"raw.table_{(task + n) % 5_000:04}"} for n in range(3)
    ]
    outputs = []
    if state == "COMPLETE":
        fields = {
            f"column_{n}": {
                "inputFields": [
                    {
                        **tables[0],
                        "field": f"column_{n}",
                        "transformations": [{"type": "DIRECT", "subtype": "IDENTITY"}],
                    }
                ]
            }
            for n in range(2)
        }
        outputs = [
            {
                **tables[2],
                "facets": {"columnLineage": {"fields": fields}},
                "outputFacets": {"outputStatistics": {"rowCount": number}},
            }
        ]
    minute = number // 3600 % 60
    found = {
        "eventType": state,
        "eventTime": f"2026-11-{number % 28 + 1:02}T{number % 24:02}:{minute:02}:{len(state):02}Z",
        "producer": "https://github.com/apache/airflow/tree/providers-openlineage/2.20.3",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {
            "runId": run_id(1, number),
            "facets": {
                "parent": {
                    "run": {"runId": run_id(2, number // 20)},
                    "job": {"namespace": "airflow", "name": f"dag_{dag:03}"},
                },
                "nominalTime": {"nominalStartTime": "2026-11-22T00:00:00Z"},
                "airflow": {
                    "dag": {"dag_id": f"dag_{dag:03}"},
                    "task": {"task_id": f"task_{task:04}"},
                    "taskInstance": {"try_number": 1},
                },
            },
        },
        "job": {"namespace": "airflow", "name": f"dag_{dag:03}.task_{task:04}", "facets": {}},
        "inputs": tables[:2] if state == "START" or number % 2 else [],
        "outputs": outputs,
    }
    text = orjson.dumps(found)
    rest = SIZE - 1 - len(text) - len(b',"documentation":{"description":""}') + 1
    found["job"]["facets"] = {"documentation": {"description": "x" * max(rest, 0)}}  # type: ignore[index]
    return orjson.dumps(found) + b"\n"


def make(folder: Path, count: int) -> int:
    """Write so many events; their size."""
    folder.mkdir(parents=True)
    size = 0
    each = count // 2 // FILES
    for file in range(FILES):
        with (folder / f"events-{file}.jsonl").open("wb") as out:
            for number in range(file * each, (file + 1) * each):
                for state in ("START", "COMPLETE"):
                    size += out.write(event(number, state))
    return size


def measure(folder: Path) -> None:
    """Collect and commit in this process, and print what it took."""
    events = EventFiles(str(folder / "events"), "events")
    done, took = collected(folder, lambda engine: collect(engine, events, {}))
    opened = open_store(str(folder / "store"))
    counts = {}
    for batch in opened.batches:
        for file in batch.files:
            counts[file.table] = counts.get(file.table, 0) + (file.rows or 0)
            if file.table == "runs":
                status = opened.table(batch, file)["status"]
                ended = pc.sum(pc.equal(status, "ok")).as_py()
    assert not counts.get("rejects")
    print(json.dumps({"events": done.events, **counts, "ended": ended, **took}))


def measured(report: Report, count: int) -> dict[str, float]:
    """The results of a process of its own."""
    folder = BUILD / f"{count}"
    size = make(folder / "events", count)
    done = subprocess.run(
        [sys.executable, __file__, "--measure", str(folder)], stdout=subprocess.PIPE, check=True
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    shutil.rmtree(folder)
    assert found["events"] == count
    assert found["ended"] == count // 2
    report.row(
        f"{count:,}",
        f"{size / 2**20:,.0f}",
        f"{found['seconds']:,.1f}",
        f"{count / found['seconds']:,.0f}",
        *(f"{found[table]:,.0f}" for table in ("runs", "accesses", "column_edges")),
        *(f"{found[kind]:,.0f}" for kind in ("java", "python", "driver")),
    )
    return found


def main() -> int:
    """Measure all and write the report; 1 where a bar is missed."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--events", type=int, default=1_000_000)
    options.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options.add_argument("--dry", action="store_true", help="do not write the report")
    chosen = options.parse_args()
    if chosen.measure:
        measure(chosen.measure)
        return 0
    shutil.rmtree(BUILD, ignore_errors=True)
    report = Report("Events of OpenLineage to the store", "benchmarks/openlineage/bench_read.py")
    report.say(
        f"On Spark with two cores and {SETTINGS['spark.driver.memory']} of heap: JSON lines of "
        f"{SIZE:,} bytes, START and COMPLETE of runs of {TASKS:,} tasks, with columns and "
        "statistics. MB are those of the text; memory in MB: Java, the Python workers together, "
        "and what the driver's Python adds."
    )
    heads = ("runs", "accesses", "edges", "Java", "workers", "driver")
    report.table("events", "MB", "s", "events/s", *heads)
    few = measured(report, chosen.events // 10)
    many = measured(report, chosen.events)
    shutil.rmtree(BUILD)
    flat = all(many[kind] <= max(few[kind], 50) * MORE for kind in ("python", "driver"))
    limit = LIMIT * chosen.events / 1_000_000
    report.say()
    report.say(
        f"Bar: {limit:,.0f} s, {'met' if many['seconds'] <= limit else 'missed'}; memory "
        f"{'does not grow' if flat else 'grows'} with ten times the events."
    )
    if not chosen.dry:
        report.write()
    return 0 if flat and many["seconds"] <= limit else 1


if __name__ == "__main__":
    sys.exit(main())
