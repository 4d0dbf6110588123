"""Executions become statements: nested ones are one, and one that cannot be read costs itself."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import orjson
import pytest
import zstandard

from dbt_graft.collectors.spark.application import segments
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.store.read_log import EventFile, assemble
from dbt_graft.lineage.records import Status
from tests.cases import for_each
from tests.collectors.spark.stored import tables

Make = Callable[..., Any]
ORDERS = "Scan parquet spark_catalog.raw.orders"
AT_ORDERS = "InMemoryFileIndex(1 paths)[file:/wh/raw.db/orders]"
INSERT = "Execute InsertIntoHadoopFsRelationCommand"


def collected(log: bytes) -> dict[str, Any]:
    """The statements of a log in one plain file."""
    logs = SparkLogs("logs/log", "logs/log")
    log_records = assemble("logs/log", [EventFile("log", lambda: BytesIO(log))], logs)
    return tables(log_records) | {"events": log_records.events}


def bare(command: str, arguments: str) -> str:
    """The text of a plan whose command has no details in `sparkPlanInfo`."""
    tree = f"Execute {command} (1)\n   +- {command} (2)\n"
    return f"{tree}\n\n(1) Execute {command}\nOutput: []\n\n(2) {command}\nArguments: {arguments}\n"


def accesses(row: dict[str, Any]) -> set[tuple[str, str, str, int | None, str]]:
    return {
        (a["operation"], str(a["direction"]), a["name"], a["rows"], str(a["status"]))
        for a in row["accesses"]
    }


def reasons(row: dict[str, Any]) -> list[str]:
    return [reject["reason"] for reject in row["rejects"]]


def test_a_save_of_three_nested_executions_is_one_statement(make_log: Make, node: Make) -> None:
    save = bare("SaveAsV1TableCommand", "`ml`.`t`, Append, Relation [a#1] csv")
    create = bare("CreateDataSourceTableAsSelectCommand", "`spark_catalog`.`ml`.`t`, Append, [a]")
    insert = node(
        INSERT,
        node(ORDERS, Location=AT_ORDERS, rows=8),
        args="file:/elsewhere/t, false, Parquet, [path=file:/elsewhere/t], Overwrite, [a]",
        rows=7,
    )
    log = make_log(
        {"plan": node("Execute SaveAsV1TableCommand"), "text": save, "lasts": 5_000},
        {
            "plan": node("Execute CreateDataSourceTableAsSelectCommand"),
            "text": create,
            "root": 0,
            "lasts": 3_500,
        },
        {"plan": insert, "root": 0, "metrics": ((7, 42), (8, 50))},
    )
    row = collected(log)
    assert accesses(row) == {
        ("INSERT", "write", "ml.t", 42, "ok"),
        ("INSERT", "read", "raw.orders", 50, "ok"),
    }
    assert [a["statements"] for a in row["accesses"]] == [1, 1]
    assert [shape["text"] for shape in row["shapes"]] == ["INSERT ml.t <- raw.orders"]
    symlinks = {d["name"]: [s["name"] for s in d["symlinks"]] for d in row["datasets"]}
    assert symlinks == {"ml.t": ["/elsewhere/t"], "raw.orders": ["/wh/raw.db/orders"]}


def test_a_table_read_by_its_path_is_the_table(make_log: Make, node: Make) -> None:
    by_path = node("Scan parquet", Location=AT_ORDERS.replace("orders]", "orders/dt=1]"))
    log = make_log({"plan": by_path}, {"plan": node(ORDERS, Location=AT_ORDERS)})
    row = collected(log)
    assert accesses(row) == {("SELECT", "read", "raw.orders", None, "ok")}
    assert row["accesses"][0]["statements"] == 2


def test_the_last_adaptive_plan_counts_and_nothing_it_optimised_away_is_lost(
    make_log: Make, node: Make
) -> None:
    target = "file:/out/x, false, Parquet, [path=/out/x], ErrorIfExists, [a]"
    lost = node("Scan csv", Location="InMemoryFileIndex(1 paths)[file:/in/empty.csv]")
    first = node("AdaptiveSparkPlan", node(INSERT, node(ORDERS, rows=2), lost, args=target, rows=1))
    last = node("AdaptiveSparkPlan", node(INSERT, node(ORDERS, rows=12), args=target, rows=11))
    update = {
        "Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate",
        "executionId": 0,
        "sparkPlanInfo": last,
    }
    lines = make_log({"plan": first, "metrics": ((11, 4), (12, 6))}).splitlines(keepends=True)
    row = collected(b"".join([*lines[:2], orjson.dumps(update), b"\n", *lines[2:]]))
    assert accesses(row) == {
        ("INSERT", "write", "/out/x", 4, "ok"),
        ("INSERT", "read", "raw.orders", 6, "ok"),
        ("INSERT", "read", "/in/empty.csv", None, "ok"),
    }


def test_files_and_partitions_are_counted_where_spark_counts_them(
    make_log: Make, node: Make
) -> None:
    scan = node(ORDERS, Location=AT_ORDERS)
    scan["metrics"] = [
        {"name": "number of files read", "accumulatorId": 1},
        {"name": "number of partitions read", "accumulatorId": 2},
    ]
    target = "file:/out/x, false, Parquet, [path=/out/x], Append, [a]"
    write = node(INSERT, scan, args=target)
    write["metrics"] = [
        {"name": "number of written files", "accumulatorId": 3},
        {"name": "number of dynamic part", "accumulatorId": 4},
    ]
    counted = ((1, 12), (2, 3), (3, 8), (4, 2))
    row = collected(make_log({"plan": write, "metrics": counted}, {"plan": write}))
    assert {
        (str(a["direction"]), a["statements"], a["files"], a["partitions"]) for a in row["accesses"]
    } == {("read", 2, 12, 3), ("write", 2, 8, 2)}


def stage(written: int, written_bytes: int) -> list[bytes]:
    """A job of the first execution, whose tasks put out rows and bytes."""
    job = {
        "Event": "SparkListenerJobStart",
        "Stage IDs": [0],
        "Properties": {"spark.sql.execution.id": "0"},
    }
    counted = {"recordsWritten": written, "bytesWritten": written_bytes}
    done = {
        "Event": "SparkListenerStageCompleted",
        "Stage Info": {
            "Stage ID": 0,
            "Accumulables": [
                {"ID": at, "Name": f"internal.metrics.output.{name}", "Value": value}
                for at, (name, value) in enumerate(counted.items())
            ],
        },
    }
    return [orjson.dumps(event) + b"\n" for event in (job, done)]


@pytest.mark.parametrize(
    ("metrics", "counted"), [((), (7, 440)), (((21, 8), (22, 450)), (8, 450))], ids=["tasks", "own"]
)
def test_a_table_as_select_without_metrics_has_what_its_tasks_put_out(
    make_log: Make, node: Make, metrics: Any, counted: tuple[int, int]
) -> None:
    create = "CreateDataSourceTableAsSelectCommand"
    text = bare(create, "`ml`.`t`, ErrorIfExists, [a]")
    plan = node(f"Execute {create}", node(ORDERS, Location=AT_ORDERS), rows=21)
    plan["metrics"].append({"name": "written output", "accumulatorId": 22})
    log = make_log({"plan": plan, "text": text, "metrics": metrics}).splitlines(keepends=True)
    row = collected(b"".join([*log[:2], *stage(7, 440), *log[2:]]))
    [write] = [a for a in row["accesses"] if a["direction"] == "write"]
    assert (write["name"], write["rows"], write["bytes"]) == ("ml.t", *counted)


@pytest.mark.parametrize(
    ("scanned", "columns", "reason"),
    [
        ("[a#1, b#2, c#3, d#4]", ["a", "b", "c", "d"], None),
        (
            "[a#1, b#2, ... 2 more fields]",
            ["a", "b"],
            "columns: the plan is truncated: raise spark.sql.debug.maxToStringFields",
        ),
    ],
)
def test_written_columns_are_whole_or_the_reason_says_what_is_missing(
    make_log: Make, node: Make, scanned: str, columns: list[str], reason: str | None
) -> None:
    shown = "[a, b, ... 2 more fields]"
    target = f"file:/out/x, false, Parquet, [path=file:/out/x], Append, {shown}"
    text = (
        f"== Physical Plan ==\n{INSERT} (2)\n+- Scan parquet raw.orders (1)\n\n\n"
        f"(1) Scan parquet raw.orders\nOutput [4]: {scanned}\n\n"
        f"(2) {INSERT}\nInput [4]: {scanned}\nArguments: {target}\n"
    )
    log = make_log({"plan": node(INSERT, node(ORDERS), args=target), "text": text})
    row = collected(log)
    [written] = [dataset for dataset in row["datasets"] if dataset["name"] == "/out/x"]
    assert [column["name"] for column in written["columns"]] == columns
    assert [shape["reason"] for shape in row["shapes"]] == [reason]


@pytest.mark.parametrize(
    ("scan", "location", "reason"),
    [
        ("Scan csv", "[file:/in/a..., file:/in/b]", None),
        (
            "Scan csv",
            "[file:/in/a, file:/in/b, ...]",
            "inputs: the list of paths is truncated: raise spark.sql.maxMetadataStringLength",
        ),
        (ORDERS, "[file:/wh/raw.db/orders/dt=1, ...]", None),
    ],
    ids=["complete", "cut", "table"],
)
def test_a_truncated_list_of_paths_is_a_gap(
    make_log: Make, node: Make, scan: str, location: str, reason: str | None
) -> None:
    read = node(scan, Location=f"InMemoryFileIndex(3 paths){location}")
    [shape] = collected(make_log({"plan": read}))["shapes"]
    assert (shape["reason"], str(shape["outcome"])) == (reason, "partial" if reason else "parsed")


def test_rows_below_a_cached_relation_are_counted_once(make_log: Make, node: Make) -> None:
    cached = node("InMemoryTableScan", node(ORDERS, rows=5))
    log = make_log({"plan": cached, "metrics": ((5, 30),)}, {"plan": cached})
    [access] = collected(log)["accesses"]
    assert (access["statements"], access["rows"]) == (2, 30)


def test_what_a_command_asks_for_itself_is_no_read(make_log: Make, node: Make) -> None:
    log = make_log(
        {"plan": node("Execute AnalyzeTableCommand"), "lasts": 3_000},
        {"plan": node("HashAggregate", node(ORDERS)), "root": 0},
    )
    assert collected(log)["accesses"] == []


def test_a_create_that_found_its_table_there_wrote_nothing(make_log: Make, node: Make) -> None:
    text = bare("SaveAsV1TableCommand", "`ml`.`t`, Ignore, Relation [a#1] csv")
    save = {"plan": node("Execute SaveAsV1TableCommand"), "text": text}
    assert collected(make_log(save))["accesses"] == []
    failed = collected(make_log({**save, "error": "[TABLE_OR_VIEW_ALREADY_EXISTS] `ml`.`t`"}))
    assert accesses(failed) == {("CREATE TABLE AS", "write", "ml.t", None, "failed")}
    assert failed["datasets"] == []


def test_a_plan_that_breaks_the_parser_costs_its_execution_only(
    make_log: Make, node: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(plan: Any) -> None:
        if plan.name == "Poison":
            raise RuntimeError("a literal: Jane")
        return original(plan)

    original = segments.read_scan
    monkeypatch.setattr(segments, "read_scan", broken)
    log = make_log({"plan": node("Poison")}, {"plan": node(ORDERS)}, {"plan": {"children": []}})
    row = collected(log)
    assert accesses(row) == {("SELECT", "read", "raw.orders", None, "ok")}
    module = "dbt_graft.collectors.spark"
    assert [reason.rpartition(":")[0] for reason in reasons(row)] == [
        f"SparkListenerSQLExecutionStart is not as expected (KeyError at {module}.plans.tree",
        f"the plan cannot be read (RuntimeError at {module}.application.segments",
    ]


def test_operators_without_a_rule_are_rejects(make_log: Make, node: Make) -> None:
    write = node("Execute SaveIntoDataSourceCommand", node(ORDERS))
    row = collected(make_log({"plan": write}, {"plan": node("Scan com.shop.Relation@1f")}))
    assert accesses(row) == {("SELECT", "read", "raw.orders", None, "ok")}
    assert reasons(row) == [
        "there is no rule for the target of SaveIntoDataSourceCommand",
        "there is no rule for Scan com.shop.Relation",
    ]


@pytest.mark.parametrize(
    ("errors", "end", "status", "error"),
    [
        (["", ""], True, Status.OK, None),
        (["[A_CLASS] text", ""], True, Status.OK, None),
        (["", "[A_CLASS] text"], True, Status.FAILED, "A_CLASS"),
        (["", "[A_CLASS] text"], False, Status.FAILED, "A_CLASS"),
        (["", ""], False, Status.UNKNOWN, None),
    ],
)
def test_a_run_failed_if_its_last_execution_did(
    make_log: Make, node: Make, errors: list[str], end: bool, status: Status, error: str | None
) -> None:
    executions = [{"plan": node(ORDERS), "error": text} for text in errors]
    [run] = collected(make_log(*executions, end=end))["runs"]
    assert (run["status"], run["error"], run["run_id"]) == (status, error, "app-a_task")


def test_a_log_without_its_beginning_is_a_reject(make_log: Make, node: Make) -> None:
    _, *rest = make_log({"plan": node(ORDERS)}).splitlines(keepends=True)
    row = collected(b"".join(rest))
    assert (row["accesses"], row["runs"]) == ([], [])
    assert reasons(row) == ["the event that starts the application is missing"]


def test_an_application_whose_start_is_missing_is_known_by_its_environment(
    make_log: Make, node: Make
) -> None:
    _, *rest = make_log({"plan": node(ORDERS)}).splitlines(keepends=True)
    settings = {"spark.app.name": "load_orders", "spark.app.id": "app-7"}
    environment = {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": settings}
    row = collected(orjson.dumps(environment) + b"\n" + b"".join(rest))
    assert accesses(row) == {("SELECT", "read", "raw.orders", None, "ok")}
    [run] = row["runs"]
    assert (run["task"], run["run_id"]) == ("load_orders", "app-7")
    assert run["started_at"] == row["accesses"][0]["first_at"]
    assert reasons(row) == ["the event that starts the application is missing"]


@pytest.mark.parametrize("app", ["pyspark-shell", "dbt"])
def test_only_an_application_without_a_name_is_a_reject_with_a_remedy(
    make_log: Make, node: Make, app: str
) -> None:
    row = collected(make_log({"plan": node(ORDERS)}, app=app))
    assert (row["accesses"], row["runs"], row["events"]) == ([], [], 5)
    expected = [] if app == "dbt" else ["spark.app.name"]
    assert [
        "spark.app.name" for reason in reasons(row) if "set spark.app.name" in reason
    ] == expected


def test_the_same_work_of_two_tasks_has_one_shape(make_log: Make, node: Make) -> None:
    execution = {"plan": node(ORDERS)}
    a, b = (collected(make_log(execution, app=app))["shapes"] for app in ("a", "b"))
    other = collected(make_log({"plan": node("Scan hive spark_catalog.raw.payments")}))["shapes"]
    assert a == b
    assert a[0]["shape_id"] != other[0]["shape_id"]


def test_public_logs_of_other_engines_are_read_to_their_end(samples: Any) -> None:
    logs = sorted(samples.glob("*.zstd"))
    assert logs
    for log in logs:
        row = collected(log.read_bytes())
        assert not [r for r in row["rejects"] if r["position"] != "whole log"], log.name
        assert row["events"] > 30, log.name


def test_rows_of_a_gpu_scan_are_counted(samples: Any) -> None:
    row = collected((samples / "gpu_q66_eventlog.zstd").read_bytes())
    rows = {access["name"].rpartition("/")[2]: access["rows"] for access in row["accesses"]}
    assert rows["web_sales"] == 429_574_188
    assert None not in rows.values()


LONG = "file:/landing/" + "long/" * 20 + "orders"
BATCH = "[a#1] ParquetScan DataFilters: [], Format: parquet, Location: InMemoryFileIndex"
CACHED_3 = f"""== Physical Plan ==
* Project (4)
+- InMemoryTableScan (1)
      +- InMemoryRelation (2)
            +- Scan parquet  (3)


(1) InMemoryTableScan
Output [1]: [a#1]
Arguments: [a#1]

(2) InMemoryRelation
Arguments: [a#1], StorageLevel(disk, memory, deserialized, 1 replicas)

(3) Scan parquet
Output [1]: [a#1]
Location: InMemoryFileIndex [{LONG}]
ReadSchema: struct<a:int>

(4) Project
Output [1]: [a#1]
"""
CACHED_2 = """== Physical Plan ==
*(1) Project [a#1]
+- InMemoryTableScan [a#1]
      +- InMemoryRelation [a#1], StorageLevel(disk, memory, deserialized, 1 replicas)
            +- Union
               :- *(1) FileScan parquet raw.orders[a#1] Batched: true, Format: Parquet, Location: \
InMemoryFileIndex[file:/wh/raw.db/or..., PartitionFilters: [], ReadSchema: struct<a:int>
               +- HiveTableScan [b#2], HiveTableRelation `raw`.`old`, org.serde2.Simple, [b#2]
"""
DESCRIBED = f"== Physical Plan ==\nBatchScan (1)\n\n\n(1) BatchScan\nOutput [1]: [a#1]\n\
DataFilters: []\nLocation: InMemoryFileIndex [{LONG}]\n"
SAVED_2 = """== Physical Plan ==
ExecutedCommand
   +- SaveIntoDataSourceCommand org.delta.DeltaDataSource@1f, Map(path -> /out/t), Append
         +- Relation[a#1] JDBCRelation(dbo.t) [numPartitions=1]
"""


ALIASED_2 = """== Physical Plan ==
Execute SaveIntoDataSourceCommand
   +- SaveIntoDataSourceCommand org.delta.DeltaDataSource@1f, Map(path -> /out/t), Append
         +- Project [a#1]
            +- SubqueryAlias spark_catalog.raw.orders
               +- Relation[a#1,b#2] parquet
"""


@for_each(
    "plan, text, expected",
    [
        (
            ("Execute SaveIntoDataSourceCommand", ""),
            ALIASED_2,
            {("INSERT", "write", "/out/t"), ("INSERT", "read", "raw.orders")},
        ),
        (
            ("BatchScan", f"{BATCH}(1 paths)[{LONG[:60]}..., PartitionFilters: []"),
            DESCRIBED,
            {("SELECT", "read", LONG.removeprefix("file:"))},
        ),
        (
            ("GpuBatchScan", "[a#1] GpuParquetScan(org.SparkSession@1f,StructType())"),
            DESCRIBED.replace("BatchScan", "GpuBatchScan"),
            {("SELECT", "read", LONG.removeprefix("file:"))},
        ),
        (
            ("GpuScan parquet", f"{BATCH}(2 paths)[{LONG[:60]}..., PartitionFilters: []"),
            "",
            {("SELECT", "read", LONG[len("file:") : 59].rpartition("/")[0])},
        ),
        (
            ("InMemoryTableScan", "[a#1]"),
            CACHED_3,
            {("SELECT", "read", LONG.removeprefix("file:"))},
        ),
        (
            ("InMemoryTableScan", "[a#1]"),
            CACHED_2,
            {("SELECT", "read", "raw.orders"), ("SELECT", "read", "raw.old")},
        ),
        (
            ("ExecutedCommand", ""),
            SAVED_2,
            {("INSERT", "write", "/out/t"), ("INSERT", "read", "dbo.t")},
        ),
    ],
    ids=[
        "alias",
        "V2 files",
        "on GPU",
        "GPU, cut",
        "cached",
        "cached, Spark 2",
        "a command of Spark 2",
    ],
)
def test_targets_that_only_the_text_has_are_read_from_it(
    make_log: Make,
    node: Make,
    plan: tuple[str, str],
    text: str,
    expected: set[tuple[str, str, str]],
) -> None:
    name, arguments = plan
    row = collected(make_log({"plan": node(name, args=arguments), "text": text}))
    assert {(a["operation"], str(a["direction"]), a["name"]) for a in row["accesses"]} == expected
    assert reasons(row) == []


@pytest.mark.parametrize(
    ("name", "reads", "writes"),
    [
        (
            "complex_dec",
            "arrayofarray.orc mapcomplex.orc smalldec.orc smalldec.parquet structcomplex.orc "
            "structcomplex.parquet",
            "",
        ),
        ("photon", "mapcomplex.parquet", "nestedType.parquet"),
        ("streaming", "mapcomplex.parquet test_dir", "nestedType.parquet"),
    ],
)
def test_public_logs_have_their_datasets(samples: Any, name: str, reads: str, writes: str) -> None:
    log = (samples / f"{name}_eventlog.zstd").read_bytes()
    row = collected_as("a_task", log)
    names: dict[str, set[str]] = {"read": set(), "write": set()}
    for access in row["accesses"]:
        names[access["direction"]].add(access["name"].rpartition("/")[2])
    assert names == {"read": set(reads.split()), "write": set(writes.split())}
    assert row["rejects"] == []


def collected_as(app: str, log: bytes) -> dict[str, Any]:
    """A log as if its application had a name."""
    text = zstandard.ZstdDecompressor().stream_reader(log, read_across_frames=True).read()
    return collected(text.replace(b'"App Name":"Spark shell"', f'"App Name":"{app}"'.encode()))


def with_events(log: bytes, *events: dict[str, Any], before: str = "SQLExecutionEnd") -> bytes:
    """A log with more events, before the first one of this name, or else before its end."""
    lines = log.splitlines(keepends=True)
    at = next((n for n, line in enumerate(lines) if before.encode() in line), len(lines))
    more = [orjson.dumps(event) + b"\n" for event in events]
    return b"".join([*lines[:at], *more, *lines[at:]])


def job(*rdds: tuple[str, str, list[int]], **properties: str) -> dict[str, Any]:
    """The start of a job with these RDDs: the name, the call, the parents."""
    infos = [
        {"RDD ID": n, "Name": name, "Parent IDs": parents}
        | ({"Scope": f'{{"id":"{n}","name":"{call}"}}'} if call else {})
        for n, (name, call, parents) in enumerate(rdds)
    ]
    return {
        "Event": "SparkListenerJobStart",
        "Job ID": 3,
        "Submission Time": 1_500,
        "Stage Infos": [{"Stage ID": 0, "RDD Info": infos}],
        "Stage IDs": [0],
        "Properties": properties,
    }


@for_each(
    "rdds, reads",
    [
        ([("MapPartitionsRDD", "textFile", [1]), ("hdfs://nn/in/a", "textFile", [])], {"/in/a"}),
        ([("README.md", "textFile", [])], {"/README.md"}),
        ([("/in/old.txt", "", [])], {"/in/old.txt"}),
        ([("FileScanRDD", "Scan parquet raw.orders", [])], {"raw.orders"}),
        ([("FileScanRDD", "Scan text ", [])], set()),
        ([("my/favourite", "map", [1]), ("ParallelCollectionRDD", "parallelize", [])], set()),
        ([("*(1) Scan csv file:/a", "InMemoryTableScan", [])], set()),
        ([("NewHadoopRDD", "newAPIHadoopRDD", [])], set()),
    ],
)
def test_jobs_outside_of_sql_read_what_their_rdds_name(
    make_log: Make, rdds: list[tuple[str, str, list[int]]], reads: set[str]
) -> None:
    row = collected(with_events(make_log(), job(*rdds), before="ApplicationEnd"))
    assert {(a["operation"], a["name"]) for a in row["accesses"]} == {("SELECT", r) for r in reads}
    assert reasons(row) == []


@pytest.mark.parametrize(
    ("version", "status"),
    [("2.4.8", "failed"), ("3.3.1-amzn-0", "failed"), ("3.4.0", "ok"), ("4.3.0", "ok")],
)
def test_before_spark_3_4_an_execution_fails_with_its_jobs(
    make_log: Make, node: Make, version: str, status: str
) -> None:
    failed = {
        "Event": "SparkListenerJobEnd",
        "Job ID": 3,
        "Job Result": {"Result": "JobFailed", "Exception": {"Message": "Job 3 cancelled"}},
    }
    properties = {"spark.sql.execution.id": "0"}
    log = with_events(make_log({"plan": node(ORDERS)}), job(**properties), failed)
    start = {"Event": "SparkListenerLogStart", "Spark Version": version}
    row = collected(orjson.dumps(start) + b"\n" + log.replace(b',"errorMessage":""', b""))
    assert accesses(row) == {("SELECT", "read", "raw.orders", None, status)}


@pytest.mark.parametrize(
    ("sink", "expected"),
    [
        ("ForeachBatchSink", {("SELECT", "read", "/landing", 5, "ok")}),
        (
            "FileSink[file:/out/t]",
            {("INSERT", "read", "/landing", 5, "ok"), ("INSERT", "write", "/out/t", None, "ok")},
        ),
    ],
)
def test_a_batch_without_an_execution_is_known_by_its_progress(
    make_log: Make, node: Make, sink: str, expected: set[tuple[str, str, str, int | None, str]]
) -> None:
    run = "00000000-0000-0000-0000-000000000001"
    # What a stream scans does not say where from.
    scan = {"plan": node("MicroBatchScan"), "description": f"runId = {run}\nbatch = 0"}
    progress = {
        "runId": run,
        "batchId": 0,
        "timestamp": "2026-11-21T05:00:00.000Z",
        "sources": [{"description": "FileStreamSource[file:/landing]", "numInputRows": 5}],
        "sink": {"description": sink, "numOutputRows": -1},
    }
    event = {"Event": "org.StreamingQueryListener$QueryProgressEvent", "progress": progress}
    for log in (make_log(), make_log(scan)):
        row = collected(with_events(log, event, before="ApplicationEnd"))
        assert accesses(row) == expected
        assert reasons(row) == []


def test_a_stream_of_topics_by_a_pattern_reads_those_that_its_offsets_name(make_log: Make) -> None:
    progress = {
        "runId": "00000000-0000-0000-0000-000000000001",
        "batchId": 0,
        "timestamp": "2026-11-21T05:00:00.000Z",
        "sources": [
            {
                "description": "KafkaV2[SubscribePattern[topic-\\d{2}]]",
                "startOffset": '{"topic-00":{"0":1}}',
                "endOffset": '{"topic-00":{"0":4}}',
                "numInputRows": 3,
            }
        ],
        "sink": {"description": "FileSink[file:/out/t]", "numOutputRows": -1},
    }
    event = {"Event": "org.StreamingQueryListener$QueryProgressEvent", "progress": progress}
    row = collected(with_events(make_log(), event, before="ApplicationEnd"))
    assert accesses(row) == {
        ("INSERT", "read", "topic-00", 3, "ok"),
        ("INSERT", "write", "/out/t", None, "ok"),
    }
    positions = [position for access in row["accesses"] for position in access["positions"]]
    assert [(position["kind"], position["end"]) for position in positions] == [
        ("kafka offsets", '{"topic-00":{"0":4}}')
    ]


PROVIDER = "org.apache.spark.sql.execution.datasources.jdbc.JdbcRelationProvider@1f"


def test_a_save_over_jdbc_writes_what_its_nested_query_reads(make_log: Make, node: Make) -> None:
    options = "[url=jdbc:sqlserver://crm;databaseName=Shop, dbtable=dbo.t, password=hunter2]"
    save = bare("SaveIntoDataSourceCommand", f"{PROVIDER}, {options}, Append")
    row = collected(
        make_log(
            {"plan": node("Execute SaveIntoDataSourceCommand"), "text": save, "lasts": 3_000},
            {
                "plan": node("DeserializeToObject", node(ORDERS, rows=1)),
                "root": 0,
                "metrics": ((1, 5),),
            },
        )
    )
    assert accesses(row) == {
        ("INSERT", "write", "Shop.dbo.t", None, "ok"),
        ("INSERT", "read", "raw.orders", 5, "ok"),
    }
    assert {a["namespace"] for a in row["accesses"]} == {"mssql://crm:1433", "spark"}
    assert "hunter2" not in repr(row)


@for_each(
    "plan, expected",
    [
        (
            ("AppendData", "IcebergWrite(table=lake.raw.t, format=PARQUET)"),
            {("INSERT", "write", "lake.raw.t"), ("INSERT", "read", "lake.raw.s")},
        ),
        (
            ("OverwriteByExpression", "org.Lambda@1f, org.spark.datasources.noop.NoopWrite$@2f"),
            {("SELECT", "read", "lake.raw.s")},
        ),
        (
            ("ReplaceData", "IcebergWrite(table=lake.raw.s, format=PARQUET)"),
            {("DELETE", "write", "lake.raw.s")},
        ),
        (
            ("AtomicCreateTableAsSelect", "org.apache.iceberg.spark.SparkCatalog@1f, raw.t, x"),
            {("CREATE TABLE AS", "write", "raw.t"), ("CREATE TABLE AS", "read", "lake.raw.s")},
        ),
        (
            (
                "Execute SaveIntoDataSourceCommand",
                "org.delta.DeltaDataSource@1f, [path=/t], Overwrite",
            ),
            {("INSERT OVERWRITE", "write", "/t"), ("INSERT OVERWRITE", "read", "lake.raw.s")},
        ),
        (
            ("Execute MergeIntoCommand", "SubqueryAlias s, Delta[version=1, file:/t], (a#1 = b#2)"),
            {("MERGE", "write", "/t"), ("MERGE", "read", "lake.raw.s")},
        ),
    ],
)
def test_a_connectors_write_is_one_statement(
    make_log: Make, node: Make, plan: tuple[str, str], expected: set[tuple[str, str, str]]
) -> None:
    name, arguments = plan
    below = node("BatchScan lake.raw.s", args="[a#1] lake.raw.s (branch=null) [filters=]")
    row = collected(make_log({"plan": node(name, below, args=arguments)}))
    assert {(a["operation"], str(a["direction"]), a["name"]) for a in row["accesses"]} == expected
    assert reasons(row) == []


def test_a_merge_that_does_not_name_its_table_changes_the_one_with_row_positions(
    make_log: Make, node: Make
) -> None:
    target = node("BatchScan", args="[a#1, _file#2, _pos#3L] lake.raw.t (branch=null) [filters=]")
    source = node("BatchScan", args="[b#4] lake.raw.s (branch=null) [filters=]")
    merge = node("MergeRows", node("SortMergeJoin", target, source))
    write = node("WriteDelta", merge, args="org.iceberg.SparkPositionDeltaWrite@1f")
    row = collected(make_log({"plan": write}))
    assert {(a["operation"], str(a["direction"]), a["name"]) for a in row["accesses"]} == {
        ("MERGE", "write", "lake.raw.t"),
        ("MERGE", "read", "lake.raw.s"),
    }


def test_the_columns_of_a_scan_whose_schema_is_cut_are_taken_from_the_text(
    make_log: Make, node: Make
) -> None:
    line = "[a#1,b#2] Location: InMemoryFileIndex[file:/in/t], ReadSchema: struct<a:array<int>,b..."
    text = (
        "== Physical Plan ==\nGpuScan parquet  (1)\n\n\n(1) GpuScan parquet \n"
        "Output [2]: [a#1, b#2]\nLocation: InMemoryFileIndex [file:/in/t]\n"
        "ReadSchema: struct<a:array<int>,b:bigint>\n"
    )
    row = collected(make_log({"plan": node("GpuScan parquet ", args=line), "text": text}))
    [dataset] = row["datasets"]
    assert dataset["columns"] == [
        {"name": "a", "type": "array<int>"},
        {"name": "b", "type": "bigint"},
    ]


def test_a_relation_that_is_scanned_once_for_two_has_its_columns_in_both(
    make_log: Make, node: Make
) -> None:
    insert = "InsertIntoHadoopFsRelationCommand"
    target = "file:/out, false, Parquet, Map(path -> /out), Append, [a, again]"
    text = (
        f"== Optimized Logical Plan ==\n{insert} {target}\n+- Join Inner, (a#1 = a#3)\n"
        "   :- Project [a#1]\n   :  +- Relation[a#1,b#2] parquet\n"
        "   +- Project [b#4 AS again#5]\n      +- Relation[a#3,b#4] parquet\n\n"
        f"== Physical Plan ==\nExecute {insert} {target}\n+- FileScan parquet raw.orders[a#1]\n"
    )
    scan = node(ORDERS, args="[a#1,b#2]")
    row = collected(make_log({"plan": node(f"Execute {insert}", scan, args=target), "text": text}))
    edges = {(e["to_column"], e["from_name"], e["from_column"]) for e in row["column_edges"]}
    assert edges == {
        ("a", "raw.orders", "a"),
        ("again", "raw.orders", "b"),
        ("*", "raw.orders", "a"),
    }


def test_before_spark_3_4_executions_of_delta_are_nested_by_their_call_stack(
    make_log: Make, node: Make
) -> None:
    merge = bare("MergeIntoCommand", "Project [a#2], Delta[version=3, file:/lake/t], (a#1 = a#2)")
    target = node("Scan parquet", Location="PreparedDeltaFileIndex(1 paths)[file:/lake/t]")
    log = make_log(
        {"plan": node("Execute MergeIntoCommand"), "text": merge, "lasts": 4_000},
        {"plan": node("SortMergeJoin", target, node(ORDERS))},
        {"plan": node("Scan hive raw.payments")},
    )
    stack = "org.apache.spark.sql.delta.commands.MergeIntoCommand.run(M.scala:1)"
    events = [orjson.loads(line) for line in log.splitlines()]
    for event in events:
        event.pop("rootExecutionId", None)
        if event.get("executionId") == 1 and "details" in event:
            event["details"] = stack
    events.insert(6, events.pop(3))  # the merge ends behind what is nested in it
    row = collected(b"".join(orjson.dumps(event) + b"\n" for event in events))
    assert accesses(row) == {
        ("MERGE", "write", "/lake/t", None, "ok"),
        ("MERGE", "read", "raw.orders", None, "ok"),
        ("SELECT", "read", "raw.payments", None, "ok"),
    }


def test_a_path_that_delta_shows_the_end_of_is_known_from_what_is_read(
    make_log: Make, node: Make
) -> None:
    path = "file:/lake/" + "long/" * 20 + "t"
    inner = f"Relation [a#1] parquet, Delta[version=3, ... {path[-100:]}], (a#1 = a#2), [], []"
    merge = bare("MergeIntoCommand", f"Project [a#2], {inner}")
    target = node("Scan parquet", Location=f"PreparedDeltaFileIndex(1 paths)[{path}]")
    row = collected(
        make_log(
            {"plan": node("Execute MergeIntoCommand"), "text": merge, "lasts": 4_000},
            {"plan": node("SortMergeJoin", target, node(ORDERS)), "root": 0},
        )
    )
    assert accesses(row) == {
        ("MERGE", "write", path.removeprefix("file:"), None, "ok"),
        ("MERGE", "read", "raw.orders", None, "ok"),
    }


def test_a_merge_has_the_columns_of_its_source_and_those_by_which_its_rows_are_found(
    make_log: Make, node: Make
) -> None:
    text = (
        "WriteDelta (4)\n+- MergeRows (3)\n   +- SortMergeJoin (5)\n"
        "      :- BatchScan lake.raw.t (1)\n      +- BatchScan lake.raw.s (2)\n\n\n"
        "(1) BatchScan lake.raw.t\nOutput [2]: [a#1, _pos#3L]\nlake.raw.t (branch=null) []\n\n"
        "(2) BatchScan lake.raw.s\nOutput [1]: [a#4]\nlake.raw.s (branch=null) []\n\n"
        "(5) SortMergeJoin\nLeft keys [1]: [a#1]\nRight keys [1]: [a#4]\n\n"
        "(3) MergeRows\nArguments: [keep(true, 5, (a#1 + a#4), _pos#3L)], false, "
        "[__row_operation#6, a#7, _pos#8L]\n\n(4) WriteDelta\nArguments: org.Write@1f\n"
    )
    target = node("BatchScan lake.raw.t", args="[a#1, _pos#3L] lake.raw.t (branch=null)")
    source = node("BatchScan lake.raw.s", args="[a#4] lake.raw.s (branch=null)")
    join = node("MergeRows", node("SortMergeJoin", target, source))
    write = node("WriteDelta", join, args="org.Write@1f")
    row = collected(make_log({"plan": write, "text": text}))
    assert {
        (e["to_column"], e["from_name"], e["from_column"], str(e["subtype"]))
        for e in row["column_edges"]
    } == {
        ("a", "lake.raw.s", "a", "TRANSFORMATION"),
        ("*", "lake.raw.s", "a", "JOIN"),
        ("*", "lake.raw.t", "a", "JOIN"),
    }


def test_a_merge_has_columns_between_underscores(make_log: Make, node: Make) -> None:
    text = (
        "WriteDelta (3)\n+- MergeRows (2)\n   +- BatchScan lake.raw.s (1)\n\n\n"
        "(1) BatchScan lake.raw.s\nOutput [2]: [a#1, b#2]\nlake.raw.s (branch=null) []\n\n"
        "(2) MergeRows\nArguments: [keep(true, a#1, b#2, false)], false, "
        "[_loaded_#3, __pk__#4, _row_dropped_#5]\n\n(3) WriteDelta\nArguments: org.Write@1f\n"
    )
    target = node("BatchScan lake.raw.t", args="[a#6, _pos#7L] lake.raw.t (branch=null)")
    source = node("BatchScan lake.raw.s", args="[a#1, b#2] lake.raw.s (branch=null)")
    write = node("WriteDelta", node("MergeRows", target, source), args="org.Write@1f")
    row = collected(make_log({"plan": write, "text": text}))
    assert {(e["to_column"], e["from_column"]) for e in row["column_edges"]} == {
        ("_loaded_", "a"),
        ("__pk__", "b"),
    }


def test_a_query_of_another_database_is_read_table_by_table(make_log: Make, node: Make) -> None:
    query = "(SELECT o.id FROM dbo.o JOIN Crm.dbo.c ON o.id = c.id WHERE c.name = 'Jane') q"
    scan = node(f"Scan JDBCRelation({query}) [numPartitions=1]", args="[id#1]")
    row = collected(make_log({"plan": scan}))
    assert {(a["namespace"], a["name"]) for a in row["accesses"]} == {
        ("jdbc", "dbo.o"),
        ("jdbc", "Crm.dbo.c"),
    }
    assert "Jane" not in repr(row)


def test_a_plan_that_spark_cut_marks_its_statement_in_the_store(make_log: Make, node: Make) -> None:
    many = ", ".join(f"c{n}#{n}" for n in range(1, 26)) + ", ... 3 more fields"
    text = (
        f"Execute InsertIntoHadoopFsRelationCommand (2)\n+- {ORDERS} (1)\n\n\n"
        f"(1) {ORDERS}\nOutput [28]: [{many}]\n\n"
        f"(2) Execute InsertIntoHadoopFsRelationCommand\nInput [28]: [{many}]\n"
        "Arguments: /t, false, Parquet, [path=/t], Append, [c1, ... 27 more fields]\n"
    )
    target = "/t, false, Parquet, [path=/t], Append, [c1, ... 27 more fields]"
    plan = node(INSERT, node(ORDERS, args=f"[{many}]"), args=target)
    [shape] = collected(make_log({"plan": plan, "text": text}))["shapes"]
    assert (shape["outcome"], shape["reason"]) == (
        "partial",
        "columns: the plan is truncated: raise spark.sql.debug.maxToStringFields",
    )


def test_the_columns_of_a_write_are_in_the_store(make_log: Make, node: Make) -> None:
    text = (
        "Execute InsertIntoHadoopFsRelationCommand (3)\n+- Project (2)\n   +- "
        f"{ORDERS} (1)\n\n\n(1) {ORDERS}\nOutput [1]: [a#1]\n\n"
        "(2) Project\nOutput [2]: [a#1, (a#1 = Jane) AS (a = Jane)#2]\nInput [1]: [a#1]\n\n"
        "(3) Execute InsertIntoHadoopFsRelationCommand\nInput [2]: [a#1, (a = Jane)#2]\n"
        "Arguments: /t, false, Parquet, [path=/t], Append, [a, (a = Jane)]\n"
    )
    target = "/t, false, Parquet, [path=/t], Append, [a, (a = Jane)]"
    plan = node(INSERT, node(ORDERS, args="[a#1]"), args=target)
    row = collected(make_log({"plan": plan, "text": text}))
    [edge] = row["column_edges"]
    assert (edge["to_name"], edge["to_column"], edge["from_name"], edge["from_column"]) == (
        *("/t", "a"),
        *("raw.orders", "a"),
    )
    assert (edge["type"], edge["subtype"], edge["masking"]) == ("DIRECT", "IDENTITY", False)
    assert [shape["reason"] for shape in row["shapes"]] == [
        "columns: a column's name may hold a value: give it another"
    ]
    assert "Jane" not in repr(row["column_edges"])
