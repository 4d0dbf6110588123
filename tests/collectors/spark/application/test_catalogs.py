"""Catalogs that plans show as objects: what names them, and what is said where nothing does."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import orjson
import pytest

from dbt_graft.collectors.spark.application.execution import Execution
from dbt_graft.collectors.spark.application.segments import PlanSegment
from dbt_graft.collectors.spark.application.unnamed import name_catalogs
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.sources.connectors import Target
from dbt_graft.collectors.spark.sources.datasets import DatasetResolver
from dbt_graft.collectors.spark.store.read_log import EventFile, assemble
from tests.collectors.spark.stored import tables

Make = Callable[..., Any]
CLASS = "org.apache.iceberg.spark.SparkCatalog"
LAKE = {"spark.sql.catalog.lake": CLASS}
BOTH = {**LAKE, "spark.sql.catalog.sea": CLASS}
ADDED = {**LAKE, "spark.sql.catalog.default_iceberg": CLASS}
SAVE = "org.apache.spark.sql.DataFrameWriter.save(DataFrameWriter.scala:240)"
SCAN = "BatchScan lake.raw.orders"
# The plan of the write that `CREATE TABLE AS` runs, as text.
APPEND = """AppendData (3)
+- HashAggregate (2)
   +- BatchScan lake.raw.orders (1)


(1) BatchScan lake.raw.orders
Output [2]: [cust_id#1L, amount#2]
lake.raw.orders (branch=null) [filters=, groupedBy=]

(2) HashAggregate
Input [2]: [cust_id#1L, amount#2]
Keys [1]: [cust_id#1L]
Functions [1]: [sum(amount#2)]
Aggregate Attributes [1]: [sum(amount#2)#3]
Results [2]: [cust_id#1L, sum(amount#2)#3 AS total#4]

(3) AppendData
Input [2]: [cust_id#1L, total#4]
Arguments: org.Lambda@1f, IcebergWrite(table=raw.totals, format=PARQUET)
"""


def collected(log: bytes, settings: dict[str, str], details: str = "") -> dict[str, Any]:
    """A log whose application has these settings, and its executions this call stack."""
    environment = {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": settings}
    events = [environment, *map(orjson.loads, log.splitlines())]
    for event in events:
        if "details" in event:
            event["details"] = details
    text = b"\n".join(orjson.dumps(event) for event in events)
    return tables(
        assemble("log", [EventFile("log", lambda: BytesIO(text))], SparkLogs("log", "log"))
    )


def nested(node: Make, *, written: str = "raw.totals") -> list[dict[str, Any]]:
    """The executions of `CREATE TABLE lake.raw.totals AS` since Spark 3.5."""
    target = f"org.Lambda@1f, IcebergWrite(table={written}, format=PARQUET)"
    scan = node(SCAN, args="[cust_id#1L, amount#2] lake.raw.orders (branch=null) [filters=]")
    create = f"{CLASS}@1bd39ee8, raw.totals, Aggregate [cust_id#1L], TableSpec(Map(),None)"
    return [
        {"plan": node("AtomicCreateTableAsSelect", args=create), "lasts": 5_000},
        {
            "plan": node("AppendData", node("HashAggregate", scan), args=target),
            "text": APPEND,
            "root": 0,
        },
    ]


def names(row: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {(a["operation"], str(a["direction"]), a["name"]) for a in row["accesses"]}


READ = ("CREATE TABLE AS", "read", "lake.raw.orders")


@pytest.mark.parametrize(
    ("settings", "details", "written", "table"),
    [
        (LAKE, "", "raw.totals", "lake.raw.totals"),
        # `format("iceberg")` adds catalogs of the same class.
        (ADDED, "", "raw.totals", "lake.raw.totals"),
        (BOTH, "", "sea.raw.totals", "sea.raw.totals"),
        (ADDED, SAVE, "default_iceberg.raw.totals", "raw.totals"),
        ({}, "", "raw.totals", "raw.totals"),
    ],
)
def test_the_catalog_of_a_created_table_is_named_by_its_write_or_alone_of_its_class(
    make_log: Make, node: Make, settings: dict[str, str], details: str, written: str, table: str
) -> None:
    row = collected(make_log(*nested(node, written=written)), settings, details)
    assert names(row) == {("CREATE TABLE AS", "write", table), READ}
    assert row["rejects"] == []


@pytest.mark.parametrize(
    ("settings", "details", "catalogs"),
    [(BOTH, "", "lake or sea"), (ADDED, SAVE, "default_iceberg or lake")],
)
def test_a_table_of_one_of_several_catalogs_is_no_table_but_a_reject(
    make_log: Make, node: Make, settings: dict[str, str], details: str, catalogs: str
) -> None:
    row = collected(make_log(*nested(node)), settings, details)
    assert names(row) == {READ}
    assert [reject["reason"] for reject in row["rejects"]] == [
        f"raw.totals is in the catalog {catalogs}, and the log does not tell in which"
    ]


def test_a_catalog_that_was_named_once_is_known_by_its_object(make_log: Make, node: Make) -> None:
    drop = {"plan": node("DropTable", args=f"{CLASS}@1bd39ee8, raw.old, false, false")}
    row = collected(make_log(*nested(node, written="sea.raw.totals"), drop), BOTH)
    assert ("DROP", "write", "sea.raw.old") in names(row)
    assert row["rejects"] == []


def test_a_created_table_has_the_columns_that_its_write_takes(make_log: Make, node: Make) -> None:
    row = collected(make_log(*nested(node)), LAKE)
    assert {
        (e["to_name"], e["to_column"], e["from_name"], e["from_column"], str(e["subtype"]))
        for e in row["column_edges"]
    } == {
        ("lake.raw.totals", "cust_id", "lake.raw.orders", "cust_id", "IDENTITY"),
        ("lake.raw.totals", "total", "lake.raw.orders", "amount", "AGGREGATION"),
        ("lake.raw.totals", "*", "lake.raw.orders", "cust_id", "GROUP_BY"),
    }


@pytest.mark.parametrize("kind", ["type", "catalog-impl"])
@pytest.mark.parametrize("first", ["name", "path"])
def test_a_table_of_a_hadoop_catalog_is_its_folder(
    make_log: Make, node: Make, kind: str, first: str
) -> None:
    value = "hadoop" if kind == "type" else "org.apache.iceberg.hadoop.HadoopCatalog"
    settings = {
        **LAKE,
        f"spark.sql.catalog.lake.{kind}": value,
        "spark.sql.catalog.lake.warehouse": "s3://b/lake/",
    }
    by_path = "s3://b/lake/raw/orders"
    about = "(branch=null) [filters=, groupedBy=]"
    reads = [
        {"plan": node(SCAN, args=f"[a#1] lake.raw.orders {about}")},
        {"plan": node(f"BatchScan {by_path}", args=f"[a#1] {by_path} {about}")},
    ]
    row = collected(make_log(*(reads if first == "name" else reads[::-1])), settings)
    assert names(row) == {("SELECT", "read", "lake.raw.orders")}
    [dataset] = row["datasets"]
    assert [(s["namespace"], s["name"]) for s in dataset["symlinks"]] == [
        ("s3://b", "lake/raw/orders")
    ]


def test_the_folder_of_a_table_about_a_table_is_not_known(make_log: Make, node: Make) -> None:
    settings = {
        **LAKE,
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": "/lake",
    }
    row = collected(
        make_log({"plan": node("BatchScan lake.raw.orders.files", args="[file_path#1]")}), settings
    )
    [dataset] = row["datasets"]
    assert (dataset["name"], dataset["symlinks"]) == ("lake.raw.orders.files", [])


def test_a_location_in_the_statement_is_the_tables_folder(make_log: Make, node: Make) -> None:
    spec = "TableSpec(Map(),Some(iceberg),Map(),Some(s3://b/elsewhere),None,None,false)"
    create = node("CreateTable", args=f"{CLASS}@1f, raw.t, [], [], {spec}, false")
    row = collected(make_log({"plan": create}), LAKE)
    [dataset] = row["datasets"]
    assert (dataset["name"], [s["name"] for s in dataset["symlinks"]]) == (
        "lake.raw.t",
        ["elsewhere"],
    )


def test_a_table_that_delta_creates_is_named_by_the_command_around_its_write(
    make_log: Make, node: Make
) -> None:
    delta = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
    staged = f"{delta}$StagedDeltaTableV2@3dee60f, Project [id#1L], org.Lambda@1a7945a4"
    create = f"{delta}@70e14c40, db.t, Project [id#1L], TableSpec(Map(),Some(delta),Map(),None)"
    log = make_log(
        {"plan": node("AtomicCreateTableAsSelect", args=create), "lasts": 5_000},
        {"plan": node("AppendDataExecV1", args=staged), "root": 0, "lasts": 2_000},
        {"plan": node("Scan hive raw.orders"), "root": 0},
    )
    row = collected(log, {})
    assert names(row) == {
        ("CREATE TABLE AS", "write", "db.t"),
        ("CREATE TABLE AS", "read", "raw.orders"),
    }
    assert row["rejects"] == []


@pytest.mark.parametrize(
    ("description", "details"),
    [
        ("MERGE operation - scanning files for matches", ""),
        ("", "io.delta.tables.DeltaMergeBuilder.$anonfun$execute$1(DeltaMergeBuilder.scala:277)"),
    ],
)
def test_a_merge_by_deltas_api_is_a_gap(
    make_log: Make, node: Make, description: str, details: str
) -> None:
    log = make_log({"plan": node("Scan hive raw.orders"), "description": description})
    row = collected(log, {}, details)
    assert [reject["reason"] for reject in row["rejects"]] == [
        "a MERGE of Delta's API does not name its target"
    ]


def test_a_batch_whose_progress_is_missing_goes_into_the_table_that_its_plan_names(
    make_log: Make, node: Make
) -> None:
    written = "MicroBatchWrite[epoch: 0, writer: IcebergStreamingWrite(table=lake.raw.t, format=X)]"
    text = (
        f"WriteToDataSourceV2 (2)\n+- Scan parquet  (1)\n\n\n"
        "(1) Scan parquet \nOutput [1]: [a#1]\nLocation: InMemoryFileIndex [file:/in]\n\n"
        f"(2) WriteToDataSourceV2\nInput [1]: [a#1]\nArguments: {written}, org.Lambda@1f\n"
    )
    scan = node("Scan parquet ", args="[a#1]", Location="InMemoryFileIndex(1 paths)[file:/in]")
    run = "runId = 00000000-0000-0000-0000-000000000001\nbatch = 0"
    batch = {
        "plan": node("WriteToDataSourceV2", scan, args=f"{written}, org.Lambda@1f"),
        "text": text,
        "description": run,
    }
    row = collected(make_log({**batch, "lasts": 3_000}, {**batch, "root": 0}), {})
    assert names(row) == {("INSERT", "write", "lake.raw.t"), ("INSERT", "read", "/in")}
    assert [(e["to_column"], e["from_column"]) for e in row["column_edges"]] == [("a", "a")]


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("CREATE TABLE sea.raw.totals AS SELECT * FROM lake.raw.orders", "sea"),
        ("CREATE TABLE `lake`.`raw`.`totals` AS SELECT * FROM sea.raw.orders", "lake"),
        ("CREATE TABLE raw.totals AS SELECT * FROM sea.raw.totals_2", None),
        ("INSERT INTO lake.raw.totals SELECT * FROM sea.raw.totals", None),
    ],
)
def test_the_text_of_a_statement_names_the_catalog_of_its_target(
    sql: str, named: str | None
) -> None:
    at = datetime(2026, 11, 21, tzinfo=UTC)
    segment = PlanSegment(Execution(0, 0, "", "", at, sql=sql))
    segment.target = Target(("raw", "totals"), catalog=f"{CLASS}@1f")
    resolver = DatasetResolver("spark", settings=BOTH)
    problems = name_catalogs([segment], resolver)
    assert resolver.catalogs == ({f"{CLASS}@1f": named} if named else {})
    assert len(problems) == (named is None)


def test_a_merge_of_a_streaming_batch_reads_the_source_of_the_stream(
    make_log: Make, node: Make
) -> None:
    batch = (
        "Scan parquet  (1)\n\n\n(1) Scan parquet \nOutput [1]: [id#1L]\n"
        "Location: InMemoryFileIndex [file:/in]\n"
    )
    merge = (
        "ReplaceData (4)\n+- MergeRows (3)\n   +- SortMergeJoin (5)\n"
        "      :- BatchScan lake.raw.t (1)\n      +- Scan ExistingRDD (2)\n\n\n"
        "(1) BatchScan lake.raw.t\nOutput [1]: [a#7L]\nlake.raw.t (branch=null) [filters=]\n\n"
        "(2) Scan ExistingRDD\nOutput [1]: [id#2L]\n"
        "Arguments: [id#2L], SQLExecutionRDD[39] at start at X.java:0, ExistingRDD\n\n"
        "(5) SortMergeJoin\nLeft keys [1]: [a#7L]\nRight keys [1]: [id#2L]\n\n"
        "(3) MergeRows\nArguments: [keep(true, id#2L)], [a#8L]\n\n"
        "(4) ReplaceData\nArguments: IcebergWrite(table=lake.raw.t, format=PARQUET)\n"
    )
    target = node("BatchScan lake.raw.t", args="[a#7L] lake.raw.t (branch=null) [filters=]")
    join = node("SortMergeJoin", target, node("Scan ExistingRDD", args="[id#2L]"))
    run = "runId = 00000000-0000-0000-0000-000000000001\nbatch = 0"
    log = make_log(
        {
            "plan": node(
                "Scan parquet ", args="[id#1L]", Location="InMemoryFileIndex(1 paths)[file:/in]"
            ),
            "text": batch,
            "description": run,
            "lasts": 5_000,
        },
        {
            "plan": node(
                "ReplaceData",
                node("MergeRows", join),
                args="IcebergWrite(table=lake.raw.t, format=PARQUET)",
            ),
            "text": merge,
            "description": run,
            "root": 0,
        },
    )
    row = collected(log, {})
    assert {("MERGE", "write", "lake.raw.t"), ("MERGE", "read", "/in")} <= names(row)
    assert ("a", "/in", "id") in {
        (e["to_column"], e["from_name"], e["from_column"]) for e in row["column_edges"]
    }


def test_a_table_of_sparks_own_catalog_may_lie_elsewhere(make_log: Make, node: Make) -> None:
    session = "spark.sql.catalog.spark_catalog"
    settings = {
        session: "org.apache.iceberg.spark.SparkSessionCatalog",
        f"{session}.type": "hadoop",
        f"{session}.warehouse": "/wh",
    }
    row = collected(make_log({"plan": node("Scan hive spark_catalog.db.t")}), settings)
    [dataset] = row["datasets"]
    assert (dataset["name"], dataset["symlinks"]) == ("db.t", [])
