"""Jobs and streams that read or write what the log does not name: the run has a gap for each."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import orjson
import pytest

from dbt_graft.collectors.spark.application.streams import gap_of_sink
from dbt_graft.collectors.spark.gap_reasons import (
    RDD_FILES,
    RDD_READ,
    RDD_WRITTEN,
    ROWS_IN_CODE,
    SINK_NOT_NAMED,
)
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.store.read_log import EventFile, assemble
from dbt_graft.collectors.store.tables import LogRecords
from dbt_graft.lineage.gaps import may_touch_more
from dbt_graft.lineage.records import Direction
from tests.cases import for_each

Make = Callable[..., Any]
Event = dict[str, Any]
RUN = "7aa55c19-d4f3-4b0b-bc92-7a6c1f3f0e10"
OF_JVM = "org.apache.spark.rdd.RDD.$anonfun$foreachPartition$1(RDD.scala:1009)\n"
MAIN = "com.shop.Load$.main(Load.scala:7)"
INSERT = "Execute InsertIntoHadoopFsRelationCommand"
INTO = "file:/out/t, false, Parquet, [path=file:/out/t], Append, [a]"


def scope(call: str) -> dict[str, str]:
    return {"spark.rdd.scope": f'{{"id":"4","name":"{call}"}}'}


def at(call_site: str) -> dict[str, str]:
    return {"callSite.short": call_site, **scope("collect")}


def job(
    properties: dict[str, str],
    *rdds: tuple[str, str],
    details: str = "",
    called: str = "",
    error: bool = False,
    number: int = 0,
) -> list[Event]:
    """A job with RDDs without parents: the name and the call of each."""
    infos = [
        {"RDD ID": n, "Name": name, "Parent IDs": [], "Callsite": called}
        | ({"Scope": f'{{"id":"{n}","name":"{call}"}}'} if call else {})
        for n, (name, call) in enumerate(rdds or [("ParallelCollectionRDD", "parallelize")])
    ]
    stage = {"Stage ID": number, "Stage Name": "x at y", "Details": details, "RDD Info": infos}
    result: Event = {"Result": "JobSucceeded"}
    if error:
        result = {"Result": "JobFailed", "Exception": {"Message": "no"}}
    return [
        {
            "Event": "SparkListenerJobStart",
            "Job ID": number,
            "Submission Time": 1_500,
            "Stage Infos": [stage],
            "Stage IDs": [number],
            "Properties": properties,
        },
        {
            "Event": "SparkListenerJobEnd",
            "Job ID": number,
            "Completion Time": 1_700,
            "Job Result": result,
        },
    ]


def collect(log: bytes, *inside: Event, task_from: tuple[str, ...] = ("app_name",)) -> LogRecords:
    """The records of a log; the events come after the first execution's."""
    lines = log.splitlines(keepends=True)
    place = next((n for n, line in enumerate(lines) if b"SQLExecutionEnd" in line), 1)
    more = [orjson.dumps(event) + b"\n" for event in inside]
    text = b"".join([*lines[:place], *more, *lines[place:]])
    logs = SparkLogs("log", "log", task_from=task_from)
    return assemble("log", [EventFile("log", lambda: BytesIO(text))], logs).records


def gaps(log: bytes, *inside: Event, **more: Any) -> dict[str, set[str]]:
    """For each task the reasons of its run's gaps."""
    records = collect(log, *inside, **more)
    shapes = {shape.shape_id: shape for shape in records.shapes}
    return {run.task: {str(shapes[gap].reason) for gap in run.gaps} for run in records.runs}


@for_each(
    "events, expected",
    [
        (job(scope("saveAsTextFile")), {RDD_WRITTEN}),
        (job(scope("saveAsObjectFile")), {RDD_WRITTEN}),
        (job(scope("saveAsNewAPIHadoopDataset")), {RDD_WRITTEN}),
        (job(scope("saveAsTextFile"), error=True), set()),
        (job(scope("saveAsTextFile"))[:1], {RDD_WRITTEN}),
        (job(scope("collect")), set()),
        (job({}), set()),
        (job(at("foreach at /opt/jobs/load.py:7")), {ROWS_IN_CODE}),
        (job(at("foreachPartition at /opt/jobs/load.py:7")), {ROWS_IN_CODE}),
        (job(at("count at /opt/jobs/load.py:7")), set()),
        (job(scope("foreachPartition"), details=OF_JVM + MAIN), {ROWS_IN_CODE}),
        (
            job(
                scope("foreachPartition"),
                details=f"{OF_JVM}org.apache.spark.graphx.lib.PageRank$.run(PageRank.scala:9)\n"
                + MAIN,
            ),
            set(),
        ),
        # Within a stream of RDDs, the call site is the stream's.
        (job({**at("foreachRDD at Load.scala:7"), **scope("saveAsTextFile")}), {RDD_WRITTEN}),
        # Connectors: `saveToEs`, `saveToCassandra`.
        (
            job(
                {},
                details="org.apache.spark.SparkContext.runJob(SparkContext.scala:2)\n"
                "org.elasticsearch.spark.rdd.EsSpark$.doSaveToEs(EsSpark.scala:108)",
            ),
            {ROWS_IN_CODE},
        ),
        (
            job(
                {},
                details="org.apache.spark.SparkContext.runJob(SparkContext.scala:2)\n"
                "org.apache.spark.api.python.PythonRDD$.runJob(PythonRDD.scala:218)",
            ),
            set(),
        ),
        (job({}, ("NewHadoopRDD", "newAPIHadoopRDD")), {RDD_READ}),
        (job({}, ("HadoopRDD", "hadoopRDD")), {RDD_READ}),
        (job({}, ("JdbcRDD", "")), {RDD_READ}),
        (job({}, ("HadoopRDD", "Scan hive raw.orders")), set()),
        (job({}, ("/in/a", "newAPIHadoopFile")), set()),
        # `df.rdd` of files without a table; and Spark's own look at the columns of files.
        (job(scope("collect"), ("FileScanRDD", "Scan parquet "), details=OF_JVM), {RDD_FILES}),
        (
            job(
                scope("collect"),
                ("FileScanRDD", "Scan text "),
                details="org.apache.spark.sql.DataFrameReader.csv(DataFrameReader.scala:5)\n",
            ),
            set(),
        ),
        (job(scope("collect"), ("FileScanRDD", "Scan parquet raw.a"), details=OF_JVM), set()),
    ],
)
def test_a_job_outside_of_sql_that_touches_what_the_log_does_not_name(
    make_log: Make, events: list[Event], expected: set[str]
) -> None:
    assert gaps(make_log(), *events) == {"a_task": expected}


def test_a_job_without_stages_writes_too(make_log: Make) -> None:
    start, end = job(scope("saveAsTextFile"))
    assert gaps(make_log(), start | {"Stage Infos": [], "Stage IDs": []}, end) == {
        "a_task": {RDD_WRITTEN}
    }


@for_each(
    "call, plan, expected",
    [
        # `Dataset.foreachPartition` of Scala; and what JDBC's writer runs.
        ("foreachPartition", "Scan csv", {ROWS_IN_CODE}),
        ("foreachPartition", "Execute SaveIntoDataSourceCommand", set()),
        ("saveAsNewAPIHadoopDataset", INSERT, set()),
        ("saveAsTextFile", "Scan csv", {RDD_WRITTEN}),
    ],
)
def test_a_command_names_what_its_jobs_write(
    make_log: Make, node: Make, call: str, plan: str, expected: set[str]
) -> None:
    log = make_log({"plan": node(plan, args=INTO, Location="x[file:/in/a]")})
    assert gaps(log, *job(scope(call) | {"spark.sql.execution.id": "0"})) == {"a_task": expected}


NUMBERED = "(1) Scan ExistingRDD\nOutput [1]: [a#1]\nArguments: [a#1], MapPartitionsRDD[0] at x\n"


@for_each(
    "text, rdd, reads, is_open",
    [
        (NUMBERED, ("/in/a", "textFile"), {"/in/a"}, False),
        (NUMBERED, ("FileScanRDD", "Scan parquet "), set(), True),
        (NUMBERED, ("ParallelCollectionRDD", "parallelize"), set(), False),
        # The extended layout, and a text that is cut.
        ("Scan ExistingRDD[a#1]", ("/in/a", "textFile"), {"/in/a"}, False),
        ("", ("/in/a", "textFile"), {"/in/a"}, False),
        ("", ("FileScanRDD", "Scan parquet raw.a"), {"raw.a"}, False),
        ("", ("FileScanRDD", "Scan parquet "), set(), True),
        ("", ("ParallelCollectionRDD", "parallelize"), set(), False),
    ],
)
def test_a_statement_has_the_sources_of_its_rdd_or_may_read_more(
    make_log: Make,
    node: Make,
    text: str,
    rdd: tuple[str, str],
    reads: set[str],
    is_open: bool,
) -> None:
    plan = node(INSERT, node("Scan ExistingRDD"), args=INTO)
    tree = f"{INSERT} (2)\n+- Scan ExistingRDD (1)\n\n\n{text}" if text == NUMBERED else text
    log = make_log({"plan": plan, "text": tree})
    records = collect(log, *job({"spark.sql.execution.id": "0"}, rdd))
    read = {a.dataset.name for a in records.accesses if a.direction is Direction.READ}
    assert (read, any(map(may_touch_more, records.shapes))) == (reads, is_open)


@for_each("file, expected", [("ReadWrite.scala", set()), ("Main.scala", {RDD_WRITTEN})])
def test_the_description_of_a_model_lies_beside_its_data(
    make_log: Make, node: Make, file: str, expected: set[str]
) -> None:
    """Until Spark 3.5 an RDD writes it, before the data."""
    log = make_log({"plan": node(INSERT, args=INTO)})
    stack = (
        "org.apache.spark.sql.DataFrameWriter.parquet(DataFrameWriter.scala:802)\\n"
        "org.apache.spark.ml.util.MLWriter.save(ReadWrite.scala:168)"
    )
    log = log.replace(b'"details":""', f'"details":"{stack}"'.encode())
    called = f"saveAsTextFile at {file}:413"
    assert gaps(log, *job(scope("saveAsTextFile"), called=called)) == {"a_task": expected}


def test_a_job_outside_of_sql_is_of_its_own_task(make_log: Make, node: Make) -> None:
    jobs = [
        *job(scope("saveAsTextFile") | {"spark.jobGroup.id": "b"}, ("/in/a", "textFile")),
        *job(scope("collect") | {"spark.jobGroup.id": "a"}, number=1),
    ]
    log = make_log({"plan": node("Scan csv", Location="x[file:/in/a]")})
    log = log.replace(b'"details":""', b'"details":"","jobGroupId":"a"')
    assert gaps(log, *jobs, task_from=("job_group",)) == {"a": set(), "b": {RDD_WRITTEN}}


def grouped(log: bytes, *groups: str) -> bytes:
    """A log with the job groups of its executions."""
    lines, names = log.splitlines(keepends=True), iter(groups)
    for number, line in enumerate(lines):
        if b"SQLExecutionStart" in line:
            group = f'"details":"","jobGroupId":"{next(names)}"'.encode()
            lines[number] = line.replace(b'"details":""', group)
    return b"".join(lines)


def test_a_job_of_no_known_task_may_be_of_each(make_log: Make, node: Make) -> None:
    plan = {"plan": node("Scan csv", Location="x[file:/in/a]")}
    log = grouped(make_log(plan, plan), "a", "b")
    by_task = gaps(log, *job(scope("saveAsTextFile")), task_from=("job_group",))
    assert by_task == {"a": {RDD_WRITTEN}, "b": {RDD_WRITTEN}}


NO_RULE = "there is no rule for Scan com.shop.Relation"


@for_each(
    "plans, groups, jobs, expected",
    [
        (["Scan csv", "Scan com.shop.Relation"], "ab", [], [("execution 1", NO_RULE, "b")]),
        (
            ["Scan csv", "Scan csv"],
            ["a", ""],
            [],
            [("whole log", "1 executions name no task: `task_from` finds none", "")],
        ),
        # Nobody lacks `SHOW TABLES`.
        (
            ["Scan csv", "Execute ShowTablesCommand"],
            ["a", ""],
            [],
            [("whole log", "no data moves in 1 executions that name no task", "")],
        ),
        (
            ["Scan csv", "Scan com.shop.Relation"],
            ["a", ""],
            [],
            [
                ("whole log", "1 executions name no task: `task_from` finds none", ""),
                ("execution 1", NO_RULE, ""),
            ],
        ),
        (
            ["Scan csv", "Scan csv"],
            "ab",
            job({}, ("/in/b", "textFile")),
            [
                (
                    "whole log",
                    "1 kinds of jobs outside of SQL name no task: `task_from` finds none",
                    "",
                )
            ],
        ),
    ],
)
def test_a_reject_is_of_its_executions_task(
    make_log: Make,
    node: Make,
    plans: list[str],
    groups: list[str],
    jobs: list[Event],
    expected: list[tuple[str, str, str]],
) -> None:
    located = {"Location": "x[file:/in/a]"}
    executions = [{"plan": node(plan, **located if "csv" in plan else {})} for plan in plans]
    records = collect(grouped(make_log(*executions), *groups), *jobs, task_from=("job_group",))
    assert [(each.position, each.reason, each.task) for each in records.rejects] == expected


@for_each(
    "sink, expected",
    [
        ("ForeachBatchSink", ROWS_IN_CODE),
        ("ForeachWriterTable(org.apache.spark.sql.X@2c98,Right(org.Y@136a))", ROWS_IN_CODE),
        ("ForeachSink", ROWS_IN_CODE),
        ("org.apache.spark.sql.kafka010.KafkaSourceProvider$KafkaTable@1f", SINK_NOT_NAMED),
        ("com.shop.RestSink@77", SINK_NOT_NAMED),
        ("", SINK_NOT_NAMED),
        ("org.apache.spark.sql.execution.streaming.ConsoleTable$@284c", None),
        ("org.apache.spark.sql.execution.streaming.ConsoleSinkProvider@284c", None),
        ("MemorySink", None),
        ("NoopTable", None),
        ("org.apache.spark.sql.execution.datasources.noop.NoopTable$@726e", None),
    ],
)
def test_a_sink_that_the_log_does_not_name(sink: str, expected: str | None) -> None:
    assert gap_of_sink(sink) == expected


@pytest.mark.parametrize(
    ("sink", "inner", "error", "expected"),
    [
        ("ForeachBatchSink", None, "", {ROWS_IN_CODE}),
        ("ForeachBatchSink", None, "java.lang.RuntimeException", set()),
        ("ForeachBatchSink", "writes", "", set()),
        ("com.shop.RestSink@77", None, "", {SINK_NOT_NAMED}),
        ("FileSink[file:/out/s]", None, "", set()),
    ],
)
def test_a_stream_that_writes_what_no_statement_shows(
    make_log: Make, node: Make, sink: str, inner: str | None, error: str, expected: set[str]
) -> None:
    plan = node("Scan csv", Location="InMemoryFileIndex(1 paths)[file:/in/a]")
    batch = {"plan": plan, "description": f"id = {RUN}\nrunId = {RUN}\nbatch = 0", "error": error}
    nested = {"plan": node(INSERT, plan, args=INTO), "root": 0, "description": batch["description"]}
    log = make_log(batch | {"lasts": 5_000}, *([nested] if inner else []))
    progress = {
        "Event": "org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent",
        "progress": {
            "runId": RUN,
            "timestamp": "2026-11-21T05:00:00.000Z",
            "sources": [{"description": "FileStreamSource[file:/in]", "numInputRows": 2}],
            "sink": {"description": sink, "numOutputRows": -1},
        },
    }
    *lines, end = log.splitlines(keepends=True)
    log = b"".join([*lines, orjson.dumps(progress) + b"\n", end])
    assert gaps(log) == {"a_task": expected}


@for_each(
    "lost, expected",
    [
        ((), []),
        # The last one may not have begun.
        ((3,), []),
        ((1,), ["1 executions are not in the log"]),
        ((1, 2), ["2 executions are not in the log"]),
        # But its job has.
        (("job", 3), ["1 executions are not in the log"]),
        (("jobs",), ["2 jobs are not in the log"]),
    ],
)
def test_events_that_are_not_in_the_log_are_a_reject(
    make_log: Make, node: Make, lost: tuple[Any, ...], expected: list[str]
) -> None:
    """Spark counts its executions and jobs up."""
    log = make_log(*[{"plan": node("Scan csv", Location="x[file:/in/a]")}] * 4)
    of_lost = [f'"executionId":{number},'.encode() for number in lost if isinstance(number, int)]
    lines = log.splitlines(keepends=True)
    kept = [line for line in lines if not any(each in line for each in of_lost)]
    jobs: list[Event] = []
    if "job" in lost:
        jobs = job({"spark.sql.execution.id": "3"})
    if "jobs" in lost:
        jobs = [*job({}, number=1), *job({}, number=4)]
    rejects = collect(b"".join(kept), *jobs).rejects
    assert [reject.reason.partition(":")[0] for reject in rejects] == expected
