"""The memory for a log does not grow with its length."""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from dbt_graft.collectors.spark.application import execution as history
from dbt_graft.collectors.spark.application import statements
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.store.read_log import CollectedLog, EventFile, assemble
from tests.collectors.spark.stored import tables

TASKS = b'{"Event":"SparkListenerTaskEnd","Stage ID":0,"x":"%s"}\n' % (b"x" * 4_000) * 250
SQL = "org.apache.spark.sql.execution.ui.SparkListener"
COLUMNS = 40
# Tasks do the same again and again.
TABLES = 5


class Made:
    """A log that is made while it is read."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces = pieces

    def __enter__(self) -> Made:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def read(self, _: int) -> bytes:
        return next(self.pieces, b"")


def of_tasks(head: bytes, megabytes: int) -> Iterator[bytes]:
    """A head, and a megabyte of tasks again and again."""
    yield head
    for _ in range(megabytes):
        yield TASKS


def line(event: dict[str, Any]) -> bytes:
    return json.dumps(event, separators=(",", ":")).encode() + b"\n"


def of_plans(head: bytes, executions: int) -> Iterator[bytes]:
    """Executions, each with plans, column ids, RDDs, stages and accumulators of its own."""
    yield head
    for number in range(1, executions + 1):
        table, first = number % TABLES, number * 1_000
        output = ", ".join(f"c{n}#{first + n}" for n in range(COLUMNS))
        struct = ",".join(f"c{n}:bigint" for n in range(COLUMNS))
        location = f"InMemoryFileIndex(1 paths)[file:/wh/raw.db/t{table}]"
        metric = {"name": "number of output rows", "accumulatorId": first + 1}
        scan = {
            "nodeName": f"Scan parquet spark_catalog.raw.t{table}",
            "simpleString": f"FileScan parquet [{output}]",
            "metadata": {"Location": location, "ReadSchema": f"struct<{struct}>"},
            "metrics": [metric, *({**metric, "accumulatorId": first + n} for n in range(2, 50))],
            "children": [],
        }
        target = f"file:/out/x{table}, false, Parquet, [path=/out/x{table}], Append, [c0]"
        write = {
            "nodeName": "Execute InsertIntoHadoopFsRelationCommand",
            "simpleString": f"Execute InsertIntoHadoopFsRelationCommand {target}",
            "metrics": [{**metric, "accumulatorId": first}],
            "children": [scan],
        }
        tree = f"Execute InsertIntoHadoopFsRelationCommand (2)\n+- {scan['nodeName']} (1)\n"
        text = (
            f"{tree}\n\n(1) {scan['nodeName']}\nOutput [{COLUMNS}]: [{output}]\n"
            f"Location: {location}\nReadSchema: struct<{struct}>\n\n"
            f"(2) Execute InsertIntoHadoopFsRelationCommand\nInput [1]: [c0#{first}]\n"
            f"Arguments: {target}\n"
        )
        started = 2_000 + number * 1_000
        plan = {"physicalPlanDescription": text, "sparkPlanInfo": write}
        about = {"executionId": number, "time": started, "description": "save", "details": ""}
        rdds = [
            {"RDD ID": first + n, "Name": "/landing/a" if n == 0 else "", "Parent IDs": [first]}
            for n in range(20)
        ]
        done = [{"ID": first + n, "Value": "7", "Metadata": "sql", "Name": "n"} for n in range(50)]
        stage = {"Stage ID": number, "RDD Info": rdds}
        properties = {"spark.sql.execution.id": str(number)}
        yield (
            line({"Event": f"{SQL}SQLExecutionStart", **about, **plan})
            + line({"Event": f"{SQL}SQLAdaptiveExecutionUpdate", "executionId": number, **plan})
            + line(
                {
                    "Event": "SparkListenerJobStart",
                    "Stage Infos": [stage],
                    "Stage IDs": [number],
                    "Properties": properties,
                }
            )
            + line(
                {
                    "Event": "SparkListenerStageCompleted",
                    "Stage Info": {**stage, "Accumulables": done},
                }
            )
            + line({"Event": f"{SQL}SQLExecutionEnd", **about, "time": started + 500})
        )


def read(pieces: Iterator[bytes]) -> CollectedLog:
    return assemble("log", [EventFile("log", lambda: Made(pieces))], SparkLogs("log", "log"))


def peak(pieces: Iterator[bytes]) -> tuple[int, CollectedLog]:
    """The peak of memory in bytes while a log is read, and its records."""
    tracemalloc.start()
    collected = read(pieces)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most, collected


def held(pieces: Iterator[bytes]) -> tuple[int, CollectedLog]:
    """The number of objects that reading holds just before the end of a log, and its records."""
    counts = []

    def counted() -> Iterator[bytes]:
        yield from pieces
        gc.collect()
        counts.append(len(gc.get_objects()))

    gc.collect()
    gc.freeze()  # Those of other tests are not counted, and none of them goes meanwhile.
    try:
        collected = read(counted())
    finally:
        gc.unfreeze()
    return counts[0], collected


def test_a_log_of_many_tasks_takes_no_more_than_a_short_one(make_log: Any, node: Any) -> None:
    head = make_log({"plan": node("Scan hive raw.a")}, end=False)
    peak(of_tasks(head, 1))  # what is imported and compiled at the first time
    short, _ = peak(of_tasks(head, 5))
    long, collected = peak(of_tasks(head, 60))
    assert collected.run
    assert collected.events == 4 + 250 * 60
    assert long < 1.5 * short


def test_a_log_of_many_plans_holds_no_more_than_a_short_one(
    make_log: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, bound in (
        (history, "_MOST_RDDS"),
        (statements, "_MOST_COLUMNS"),
    ):
        monkeypatch.setattr(module, bound, 1_000)
    head = make_log(end=False)
    held(of_plans(head, 10))  # what is imported and cached at the first time
    short, _ = held(of_plans(head, 100))
    long, collected = held(of_plans(head, 1_000))
    assert sum(row["statements"] for row in tables(collected)["accesses"]) == 2 * 1_000
    assert {row["rows"] for row in tables(collected)["accesses"]} == {7 * 1_000 // TABLES}
    assert len(tables(collected)["column_edges"]) == TABLES
    assert tables(collected)["rejects"] == []
    # One object kept of each execution would be 900 more.
    assert long < short + 100, (short, long)
