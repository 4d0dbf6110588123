"""Statements of a whole application, added up when its log has been read."""

from __future__ import annotations

from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.store.read_log import CollectedLog, EventFile, assemble
from tests.collectors.spark.stored import tables

LOGS = SparkLogs("log", "log")
ORDERS = "/landing/orders"


def reads(collected: CollectedLog) -> list[tuple[str, int, int | None]]:
    """The datasets read: name, statements, rows."""
    accesses = tables(collected)["accesses"]
    return [(access["name"], access["statements"], access["rows"]) for access in accesses]


def at(path: str) -> str:
    return f"InMemoryFileIndex(1 paths)[file:{path}]"


def read(make_log: Any, *plans: Any) -> CollectedLog:
    """Read a log of executions with these plans, each of which counts seven rows."""
    metrics = (((number, 7),) for number in range(1, 100))
    executions = [{"plan": plan, "metrics": next(metrics)} for plan in plans]
    log = make_log(*executions)
    return assemble("log", [EventFile("log", lambda: BytesIO(log))], LOGS)


@pytest.fixture
def inference(node: Any) -> Any:
    """Spark's own read of the first line of a file, as one makes it of a path."""

    def make(path: str) -> Any:
        scan = node("Scan text", args="[value#0]", Location=at(path), rows=1)
        return node(
            "CollectLimit",
            node("Filter", scan, args="(length(trim(value#0, None)) > 0)"),
            args="1",
        )

    return make


@pytest.mark.parametrize(
    ("scan", "found"),
    [
        (None, [(ORDERS, 1, None)]),
        (("Scan csv", ORDERS), [(ORDERS, 1, 7)]),
        (("Scan csv", "/landing"), [("/landing", 1, 7)]),
        (("Scan csv spark_catalog.raw.orders", ORDERS), [("raw.orders", 1, 7)]),
        (("Scan csv", "/landing/other"), [(ORDERS, 1, None), ("/landing/other", 1, 7)]),
    ],
)
def test_an_inference_of_a_schema_counts_where_nothing_else_reads_the_files(
    make_log: Any, node: Any, inference: Any, scan: Any, found: Any
) -> None:
    plans = [inference(ORDERS)]
    if scan:
        plans.append(node(scan[0], Location=at(scan[1]), rows=2))
    assert reads(read(make_log, *plans)) == found


def test_a_public_log_of_an_inference_and_jobs_of_rdds_has_its_input(samples: Path) -> None:
    path = samples / "emr_textsim_eventlog.gz"
    log = assemble("log", [EventFile(path.name, partial(path.open, "rb"))], LOGS)
    assert reads(log) == [("ml-rec/input-data/text-similarity-train3", 1, None)]
