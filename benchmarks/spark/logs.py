"""Event logs as Spark 4 writes them, made by hand: one full of tasks, one full of plans.

The proportions are those of public logs: in the first 87 % of the bytes are TaskEnd events of
4.5 KB; in the second nine executions of ten have plans of 30 operators that adaptive execution
revised four times, and few tasks.
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
COLUMNS = [f"column_{n}" for n in range(20)]


def line(event: Json) -> bytes:
    """An event as Spark writes it."""
    return json.dumps(event, separators=(",", ":")).encode() + b"\n"


def start(name: str) -> Iterator[bytes]:
    """How every log starts."""
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
    """How every log ends."""
    yield line({"Event": "SparkListenerApplicationEnd", "Timestamp": 1_795_240_800_000})


def plan(execution: int) -> tuple[str, Json]:
    """A formatted plan and its `sparkPlanInfo`: 14 scans joined and written to a table."""
    base = execution * 1_000
    ids = [f"{column}#{CHANCE.randrange(10**6)}" for column in COLUMNS]
    output = ", ".join(ids)
    tree, sections, number = [], [], 0

    def operator(depth: int, name: str, fields: str) -> None:
        nonlocal number
        number += 1
        tree.append(f"{'   ' * depth}+- {name} ({number})")
        sections.append(f"({number}) {name}\n{fields}")

    def info(name: str, arguments: str, children: list[Json], metadata: Json) -> Json:
        return {
            "nodeName": name,
            "simpleString": f"{name} {arguments}",
            "children": children,
            "metadata": metadata,
            "metrics": [
                {"name": metric, "accumulatorId": CHANCE.randrange(10**6), "metricType": "sum"}
                for metric in METRICS
            ],
        }

    target = f"file:/warehouse/ml.db/t{execution % 50}"
    command = f"{target}, false, Parquet, [path={target}], Overwrite, [{', '.join(COLUMNS)}]"
    operator(0, "Execute InsertIntoHadoopFsRelationCommand", "Input: []\nArguments: " + command)
    operator(1, "WriteFiles", f"Input [20]: [{output}]")
    tables = [f"spark_catalog.raw.t{(execution + n) % 90}" for n in range(14)]
    scans = []
    for n, table in enumerate(tables):
        output = ", ".join(f"{column}#{CHANCE.randrange(10**6)}" for column in COLUMNS)
        location = f"InMemoryFileIndex [file:/warehouse/{table.partition('.')[2]}]"
        schema = f"struct<{','.join(f'{column}:bigint' for column in COLUMNS)}>"
        name = f"Scan parquet {table}"
        if n + 1 < len(tables):
            operator(2 + n, "SortMergeJoin Inner", f"Left keys [1]: [column_0#{base}]")
        operator(
            3 + n,
            name,
            f"Output [20]: [{output}]\nBatched: true\nLocation: {location}\nReadSchema: {schema}",
        )
        metadata = {"Location": location, "ReadSchema": schema, "Format": "Parquet"}
        scans.append(info(name, f"[{output}] Batched: true", [], metadata))
    below = scans.pop()
    while scans:
        below = info("SortMergeJoin", f"[column_0#{base}]", [scans.pop(), below], {})
    write = info("WriteFiles", "", [below], {})
    root = info("Execute InsertIntoHadoopFsRelationCommand", command, [write], {})
    text = "== Physical Plan ==\n" + "\n".join(tree) + "\n\n\n" + "\n\n".join(sections) + "\n\n"
    return text, root


def execution(number: int, updates: int) -> Iterator[bytes]:
    """A statement from its start to its end."""
    text, info = plan(number)
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
    for _ in range(updates):
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
            "accumUpdates": [[number * 1_000 + 40, 17]],
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
    rows = {"ID": number * 1_000 + 40, "Value": "17", "Metadata": "sql", "Name": METRICS[0]}
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
