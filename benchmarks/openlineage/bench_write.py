"""OpenLineage events of 2,000 tasks with 50 runs each, beside the serialisation alone.

A task reads two tables and writes one of ten columns, each from one column, with a filter. All
events are made, and made bytes of; then the same events are made bytes of once more, which is the
least that writing them can take.
"""

from __future__ import annotations

import gc
import resource
import sys
import time
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import orjson

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report  # noqa: E402
from dbt_graft.exporters.openlineage.events import events  # noqa: E402
from dbt_graft.exporters.openlineage.snapshot import LineageSnapshot  # noqa: E402
from dbt_graft.lineage.building.build import build  # noqa: E402
from dbt_graft.lineage.dataset import DatasetId, Kind  # noqa: E402
from dbt_graft.lineage.operations import Operation  # noqa: E402
from dbt_graft.lineage.records import (  # noqa: E402
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    Outcome,
    Records,
    Run,
    Shape,
    Status,
    Subtype,
)

TASKS, RUNS, COLUMNS, SAMPLE = 2_000, 50, 10, 20_000
NIGHT = datetime(2026, 11, 22, 2, tzinfo=UTC)


def table(number: int) -> DatasetId:
    return DatasetId("mssql://crm:1433", f"Shop.dbo.t{number:05}")


def records() -> Records:
    """The records of a store with these runs."""
    schema = tuple(Column(f"column_{n}", "int") for n in range(COLUMNS))
    accesses, runs, edges, shapes = [], [], [], {}
    for n in range(TASKS):
        task, shape = f"load_{n:05}", f"s{n}"
        text = f"INSERT INTO t{n:05} SELECT * FROM t{n + 1:05} JOIN t{n + 2:05} ON a = b"
        shapes[shape] = Shape(shape, "tsql", text, "sqlglot", Outcome.PARSED)
        ends = [(n, Operation.INSERT, Direction.WRITE)]
        ends += [(n + m, Operation.INSERT, Direction.READ) for m in (1, 2)]
        for day in range(RUNS):
            at = NIGHT + timedelta(days=day)
            run = f"{task}-{day}"
            runs.append(Run(run, task, "sqlserver", at, at + timedelta(minutes=1), Status.OK))
            accesses += [
                Access(
                    *(task, run, table(one), Kind.TABLE, direction, operation, shape),
                    rows=100,
                    first_at=at,
                    last_at=at,
                )
                for one, operation, direction in ends
            ]
        kinds = [Subtype.IDENTITY] * COLUMNS + [Subtype.FILTER]
        for column, kind in enumerate(kinds):
            to = "*" if kind is Subtype.FILTER else f"column_{column}"
            source = f"column_{column % COLUMNS}"
            edges.append(
                ColumnEdge(
                    *(task, table(n), to, table(n + 1), source, kind.type, kind),
                    masking=False,
                    shape_id=shape,
                )
            )
    datasets = tuple(Dataset(table(n), columns=schema) for n in range(TASKS + 2))
    return Records(tuple(accesses), tuple(runs), shapes, datasets, (), tuple(edges))


def main() -> None:
    """Report the figures."""
    report = Report("OpenLineage events", "benchmarks/openlineage/bench_write.py")
    found = records()
    snapshot = LineageSnapshot(build(found), NIGHT, accesses=found.accesses)
    gc.collect()
    gc.freeze()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    number = size = 0
    for one in events(snapshot):
        size += len(orjson.dumps(one.event))
        number += 1
    seconds = time.process_time() - began
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    some = [one.event for one in islice(events(snapshot), SAMPLE)]
    began = time.process_time()
    for event in some:
        orjson.dumps(event)
    least = time.process_time() - began
    report.say(
        f"{number:,} events of {TASKS:,} tasks with {RUNS} runs each, {size / number:,.0f} bytes "
        f"on average, in {seconds:.1f} s of the processor and {memory:,.0f} MB beside the lineage."
    )
    report.table("step", "events a second", "MB a second")
    report.row("events and their bytes", f"{number / seconds:,.0f}", f"{size / seconds / 1e6:,.0f}")
    ready = sum(len(orjson.dumps(event)) for event in some)
    report.row(
        "bytes of ready events (the limit)",
        f"{len(some) / least:,.0f}",
        f"{ready / least / 1e6:,.0f}",
    )
    report.write()


if __name__ == "__main__":
    main()
