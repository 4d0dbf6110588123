"""dbt's own application: no task, but the columns of what it built."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest

from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.store.read_log import CollectedLog, EventFile, assemble

Make = Callable[..., Any]
ORDERS = "Scan parquet spark_catalog.raw.orders"
INSERT = "Execute InsertIntoHadoopFsRelationCommand"
SESSION = "collect at /venv/site-packages/dbt/adapters/spark/session.py:142"


def built(node: Make, table: str) -> dict[str, Any]:
    """An execution that fills a table with a column of raw.orders."""
    target = f"file:/wh/{table}, false, Parquet, [path=file:/wh/{table}], Overwrite, [id]"
    text = (
        f"== Physical Plan ==\n{INSERT} (2)\n+- Scan parquet raw.orders (1)\n\n\n"
        f"(1) Scan parquet raw.orders\nOutput [1]: [id#1]\n\n"
        f"(2) {INSERT}\nInput [1]: [id#1]\nArguments: {target}\n"
    )
    return {"plan": node(INSERT, node(ORDERS), args=target), "text": text}


def collected(log: bytes) -> CollectedLog:
    logs = SparkLogs("logs/log", "logs/log")
    return assemble("logs/log", [EventFile("log", lambda: BytesIO(log))], logs)


@pytest.mark.parametrize("app", ["dbt", "shop_models", "pyspark-shell"])
def test_its_columns_are_dbt_s_by_whatever_name_it_goes(
    make_log: Make, node: Make, app: str
) -> None:
    asked = {"plan": node("CollectLimit", node(ORDERS)), "description": SESSION}

    records = collected(make_log(asked, built(node, "mart"), asked, app=app)).records

    assert [(run.task, run.engine) for run in records.runs] == [("dbt", "dbt")]
    assert [
        (e.to_dataset.name, e.to_column, e.from_dataset.name) for e in records.column_edges
    ] == [("/wh/mart", "id", "raw.orders")]
    assert {access.operation for access in records.accesses} == {"INSERT OVERWRITE"}
    assert records.shapes == records.rejects == ()


def test_what_it_did_before_its_first_sign_of_dbt_is_dbt_s_too(make_log: Make, node: Make) -> None:
    asked = {"plan": node("CollectLimit", node(ORDERS)), "description": SESSION}

    records = collected(make_log(built(node, "seed"), asked, built(node, "mart"))).records

    assert [(run.task, run.engine) for run in records.runs] == [("dbt", "dbt")]
    assert {edge.to_dataset.name for edge in records.column_edges} == {"/wh/seed", "/wh/mart"}


def test_tests_alone_leave_nothing(make_log: Make, node: Make) -> None:
    asked = {"plan": node("CollectLimit", node(ORDERS)), "description": SESSION}

    records = collected(make_log(asked, app="dbt")).records

    assert (records.runs, records.accesses, records.rejects) == ((), (), ())
