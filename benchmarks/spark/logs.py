"""Event logs as Spark 4 writes them, made by hand: one full of tasks, one full of plans.

The proportions are those of public logs: in the first nine tenths of the bytes are TaskEnd events
of 4.5 KB; in the second nine executions of ten have plans of 30 operators that adaptive execution
revised four times, and few tasks. Tables have columns of their own, ids go on counting, and
revisions differ from what they revise, so that logs do not shrink better than public ones.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SQL = "org.apache.spark.sql.execution.ui."
Json = dict[str, Any]
CHANCE = random.Random(7)
METRICS = (
    "number of output rows",
    "scan time",
    "metadata time",
    "size of files read",
    "spill size",
)
FORMAT = "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat@4c2a1b"
WORDS = """
account amount batch branch category channel city code cost country currency customer date
delivery discount email external first flag gross id invoice item kind language last ledger
line market name net note number order origin partner payment period phone postal price
product quantity rate reason ref region return sales segment shipment site source status
stock store street supplier target tax tenant total type unit updated user value vendor
"""
TYPES = ("bigint", "string", "string", "double", "date", "timestamp", "decimal(18,2)")


def table(number: int) -> dict[str, str]:
    """The columns of a table and their types, always the same."""
    chance = random.Random(number)
    words = WORDS.split()
    names = {f"{chance.choice(words)}_{chance.choice(words)}" for _ in range(20)}
    return {name: chance.choice(TYPES) for name in sorted(names)}


TABLES = [table(number) for number in range(90)]


def line(event: Json) -> bytes:
    """An event as Spark writes it."""
    return json.dumps(event, separators=(",", ":")).encode() + b"\n"


def start(name: str) -> Iterator[bytes]:
    """The first events of every log."""
    settings = {f"spark.some.setting.number{n}": f"value {n} " * 4 for n in range(200)}
    yield line({"Event": "SparkListenerLogStart", "Spark Version": "4.3.0"})
    yield line({"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": settings})
    yield line(
        {
            "Event": "SparkListenerApplicationStart",
            "App Name": name,
            "App ID": f"app-20261121050000-{name}",
            "Timestamp": 1_795_237_200_000,
            "User": "airflow",
        }
    )


def end() -> Iterator[bytes]:
    """The last events of every log."""
    yield line({"Event": "SparkListenerApplicationEnd", "Timestamp": 1_795_240_800_000})


def plan(execution: int, revision: int) -> tuple[str, Json]:
    """A formatted plan and its `sparkPlanInfo`: 14 scans joined and written to a table.

    A revision knows the sizes of what ran, and counts some metrics anew.
    """
    ids = iter(range(execution * 600, (execution + 1) * 600))
    metric_ids = iter(range(execution * 800, (execution + 1) * 800))
    tree, sections, number = [], [], 0

    def operator(depth: int, name: str, fields: str) -> None:
        nonlocal number
        number += 1
        tree.append(f"{'   ' * depth}+- {name} ({number})")
        sections.append(f"({number}) {name}\n{fields}")

    def info(name: str, arguments: str, children: list[Json], metadata: Json) -> Json:
        anew = revision * 100_000_000 if next(metric_ids) % 3 == 0 else 0
        return {
            "nodeName": name,
            "simpleString": f"{name} {arguments}",
            "children": children,
            "metadata": metadata,
            "metrics": [
                {"name": metric, "accumulatorId": anew + next(metric_ids), "metricType": "sum"}
                for metric in METRICS
            ],
        }

    written = TABLES[execution % 50]
    target = f"file:/warehouse/ml.db/t{execution % 50}"
    command = f"{target}, false, Parquet, [path={target}], Overwrite, [{', '.join(written)}]"
    operator(0, "Execute InsertIntoHadoopFsRelationCommand", "Input: []\nArguments: " + command)
    output = ", ".join(f"{column}#{next(ids)}" for column in written)
    operator(1, "WriteFiles", f"Input [{len(written)}]: [{output}]")
    scans = []
    key = ""
    for n in range(14):
        read = (execution * 7 + n) % len(TABLES)
        columns = [f"{column}#{next(ids)}" for column in TABLES[read]]
        output = ", ".join(columns)
        location = f"InMemoryFileIndex [file:/warehouse/raw/t{read}]"
        fields = ",".join(f"{column}:{kind}" for column, kind in TABLES[read].items())
        schema = f"struct<{fields}>"
        size = f", Statistics(sizeInBytes={CHANCE.randrange(10**9)} B)" if revision > n // 4 else ""
        if n < 13:
            operator(2 + n, "SortMergeJoin Inner", f"Left keys [1]: [{columns[0]}]{size}")
        filters = f"[IsNotNull({columns[0]}), GreaterThan({columns[3]},{execution})]"
        name = f"Scan parquet spark_catalog.raw.t{read}"
        operator(
            3 + n,
            name,
            f"Output [{len(columns)}]: [{output}]\nBatched: true\nLocation: {location}\n"
            f"PushedFilters: {filters}\nReadSchema: {schema}",
        )
        metadata = {
            "Location": location,
            "ReadSchema": schema,
            "Format": "Parquet",
            "PushedFilters": filters,
        }
        scans.append(info(name, f"[{output}] Batched: true", [], metadata))
        key = columns[0]
    below = scans.pop()
    while scans:
        below = info("SortMergeJoin", f"[{key}]", [scans.pop(), below], {})
    write = info("WriteFiles", "", [below], {})
    root = info("Execute InsertIntoHadoopFsRelationCommand", command, [write], {})
    text = "== Physical Plan ==\n" + "\n".join(tree) + "\n\n\n" + "\n\n".join(sections) + "\n\n"
    return text, root


def execution(number: int, updates: int) -> Iterator[bytes]:
    """A statement from its start to its end."""
    text, info = plan(number, 0)
    now = 1_795_237_200_000 + number * 1_000
    yield line(
        {
            "Event": f"{SQL}SparkListenerSQLExecutionStart",
            "executionId": number,
            "rootExecutionId": number,
            "description": "save at NativeMethodAccessorImpl.java:0",
            "details": "org.apache.spark.sql.DataFrameWriter.save(DataFrameWriter.scala:240)\n" * 9,
            "physicalPlanDescription": text,
            "sparkPlanInfo": info,
            "time": now,
            "modifiedConfigs": {},
        }
    )
    for revision in range(1, updates + 1):
        text, info = plan(number, revision)
        yield line(
            {
                "Event": f"{SQL}SparkListenerSQLAdaptiveExecutionUpdate",
                "executionId": number,
                "physicalPlanDescription": text,
                "sparkPlanInfo": info,
            }
        )
    yield line(
        {
            "Event": f"{SQL}SparkListenerDriverAccumUpdates",
            "executionId": number,
            "accumUpdates": [[number * 800 + 1, 17]],
        }
    )


def execution_end(number: int) -> bytes:
    """The end of a statement."""
    return line(
        {
            "Event": f"{SQL}SparkListenerSQLExecutionEnd",
            "executionId": number,
            "time": 1_795_237_200_900 + number * 1_000,
            "errorMessage": "",
        }
    )


def stage(number: int, tasks: int) -> Iterator[bytes]:
    """A job of one stage of an execution, with its tasks."""
    accumulables = [
        {
            "ID": number * 1_000 + n,
            "Name": f"internal.metrics.some.metric{n}",
            "Update": CHANCE.randrange(10**7),
            "Value": CHANCE.randrange(10**9),
            "Internal": True,
            "Count Failed Values": True,
        }
        for n in range(28)
    ]
    about = {
        "Stage ID": number,
        "Stage Attempt ID": 0,
        "Stage Name": "save at NativeMethodAccessorImpl.java:0",
        "Number of Tasks": tasks,
        "RDD Info": [
            {
                "RDD ID": number * 9 + n,
                "Name": "MapPartitionsRDD",
                "Parent IDs": [number * 9 + n - 1],
            }
            for n in range(6)
        ],
    }
    properties = {"spark.sql.execution.id": str(number), "spark.rdd.scope.noOverride": "true"}
    yield line(
        {
            "Event": "SparkListenerJobStart",
            "Job ID": number,
            "Submission Time": 1_795_237_200_000,
            "Stage Infos": [about],
            "Stage IDs": [number],
            "Properties": properties,
        }
    )
    submitted = {
        "Event": "SparkListenerStageSubmitted",
        "Stage Info": about,
        "Properties": properties,
    }
    yield line(submitted)
    for task in range(tasks):
        info = {"Task ID": number * 1_000 + task, "Host": "10.0.0.7", "Accumulables": []}
        yield line({"Event": "SparkListenerTaskStart", "Stage ID": number, "Task Info": info})
        for one in accumulables:
            one["Update"] = CHANCE.randrange(10**7)
        metrics = {
            f"Some Metrics {n}": {"Remote Bytes Read": CHANCE.randrange(10**5), "Fetch Wait": 0}
            for n in range(12)
        }
        done = {**info, "Accumulables": accumulables}
        yield line(
            {
                "Event": "SparkListenerTaskEnd",
                "Stage ID": number,
                "Task Info": done,
                "Task Metrics": metrics,
            }
        )
    rows = {"ID": number * 800 + 1, "Value": "17", "Metadata": "sql", "Name": METRICS[0]}
    completed = {**about, "Accumulables": [*accumulables, rows]}
    yield line({"Event": "SparkListenerStageCompleted", "Stage Info": completed})


def task_heavy(name: str = "tasks") -> Iterator[bytes]:
    """A log without an end in sight; each statement has 500 tasks."""
    yield from start(name)
    number = 0
    while True:
        yield from execution(number, 1)
        yield from stage(number, 500)
        yield execution_end(number)
        number += 1


def plan_heavy(name: str = "plans") -> Iterator[bytes]:
    """A log without an end in sight; each statement has five plans and two tasks."""
    yield from start(name)
    number = 0
    while True:
        yield from execution(number, 4)
        yield from stage(number, 2)
        yield execution_end(number)
        number += 1


def write(path: Path, lines: Iterator[bytes], size: int) -> None:
    """Write so many bytes of a log, and its end."""
    with path.open("wb") as file:
        written = 0
        for one in lines:
            written += file.write(one)
            if written >= size:
                break
        file.writelines(end())
