"""Applications on Databricks: their tasks, version, status and end."""

from __future__ import annotations

from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pytest

from dbt_graft.collectors.spark.application.identity import cluster_job, notebook_or_job
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.store.read_log import CollectedLog, EventFile, assemble
from tests.cases import for_each
from tests.collectors.spark.stored import tables

Event = dict[str, Any]
TAGS = "spark.databricks.clusterUsageTags."
JOB, NOTEBOOK = "spark.databricks.job.id", "spark.databricks.notebook.path"
META = {"Event": "DBCEventLoggingListenerMetadata", "Spark Version": "3.1.2"}
SHELL = "Databricks Shell"
JOB_CLUSTER = {f"{TAGS}clusterName": "job-313-run-18"}
NAMED = {
    **JOB_CLUSTER,
    f"{TAGS}clusterAllTags": '[{"key":"JobId","value":"313"},'
    '{"key":"RunName","value":"load orders"}]',
}
RDD = {"RDD ID": 1, "Name": "/landing/a", "Scope": '{"id":"0","name":"textFile"}', "Parent IDs": []}


@for_each(
    "settings, job",
    [
        (NAMED, "load orders"),
        (JOB_CLUSTER, "job-313"),
        ({f"{TAGS}clusterName": "job-313-run-18-main_cluster"}, "job-313"),
        ({**JOB_CLUSTER, f"{TAGS}clusterAllTags": "*********(redacted)"}, "job-313"),
        ({**JOB_CLUSTER, f"{TAGS}clusterAllTags": '["x", 1]'}, "job-313"),
        ({**JOB_CLUSTER, f"{TAGS}clusterAllTags": "17"}, "job-313"),
        ({f"{TAGS}clusterName": "team cluster"}, ""),
        ({}, ""),
    ],
)
def test_the_cluster_of_a_job_names_it_without_the_run(settings: dict[str, str], job: str) -> None:
    assert cluster_job(settings) == job


@for_each(
    "properties, name",
    [
        ({NOTEBOOK: "/Users/jane@shop.com/etl/load", JOB: "7"}, "etl/load"),
        ({NOTEBOOK: "/Workspace/Users/jane@shop.com/load"}, "load"),
        ({NOTEBOOK: "/Repos/jane@shop.com/shop/etl/load"}, "shop/etl/load"),
        ({NOTEBOOK: "/Shared/etl/load"}, "Shared/etl/load"),
        ({NOTEBOOK: f"/Repos/.internal/f82fad67e9_commits/{'0ac35f4d' * 5}/etl/load"}, "etl/load"),
        ({NOTEBOOK: f"/Workspace/Repos/.internal/{'0ac35f4d' * 5}/etl/load"}, "etl/load"),
        ({JOB: "7"}, "job-7"),
        ({JOB: "*********(redacted)"}, ""),
        ({}, ""),
    ],
)
def test_the_jobs_of_spark_name_their_notebook_or_job(
    properties: dict[str, str], name: str
) -> None:
    assert notebook_or_job(properties) == name


def job(number: int, execution: int | None = None, error: str = "", **work: str) -> list[Event]:
    """A job of Spark that took a second."""
    properties = {**work, "spark.sql.execution.id": "" if execution is None else str(execution)}
    result: Event = {"Result": "JobSucceeded"}
    if error:
        result = {"Result": "JobFailed", "Exception": {"Message": error}}
    return [
        {
            "Event": "SparkListenerJobStart",
            "Job ID": number,
            "Submission Time": 50_000 + 1_000 * number,
            "Stage Infos": [{"RDD Info": [RDD] if execution is None else []}],
            "Stage IDs": [],
            "Properties": properties,
        },
        {
            "Event": "SparkListenerJobEnd",
            "Job ID": number,
            "Completion Time": 51_000 + 1_000 * number,
            "Job Result": result,
        },
    ]


def read(log: bytes, *more: Event, settings: dict[str, str], head: Event = META) -> CollectedLog:
    environment = {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": settings}
    lines = [head, environment, *map(orjson.loads, log.splitlines()), *more]
    text = b"\n".join(orjson.dumps(line) for line in lines)
    return assemble("log", [EventFile("log", lambda: BytesIO(text))], SparkLogs("log", "log"))


def runs(collected: CollectedLog) -> dict[str, tuple[str, int]]:
    """The status and the last second of each task."""
    return {
        run["task"]: (str(run["status"]), int(run["ended_at"].timestamp()))
        for run in tables(collected)["runs"]
    }


@pytest.fixture
def two_reads(make_log: Any, node: Any) -> bytes:
    """Two executions, without jobs, in an application without an end."""
    reads = [{"plan": node(f"Scan hive raw.{table}")} for table in "ab"]
    return make_log(*reads, app=SHELL, end=False)


def test_a_job_on_its_own_cluster_is_one_task_that_ends_with_its_last_job(two_reads: bytes) -> None:
    log = read(two_reads, *job(0), settings=NAMED)
    assert runs(log) == {"load orders": ("ok", 51)}
    assert log.application.spark_version == "3.1.2"
    names = {access["name"] for access in tables(log)["accesses"]}
    assert names == {"raw.a", "raw.b", "/landing/a"}
    assert tables(log)["rejects"] == []


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ([*job(0, error="java.io.IOException: Jane"), *job(1)], "ok"),
        ([*job(0), *job(1, error="java.io.IOException: Jane")], "failed"),
        ([*job(0), *job(1, error="Job 1 cancelled because SparkContext was shut down")], "ok"),
        ([*job(0), job(1)[0]], "unknown"),
    ],
    ids=["mended", "failed", "cancelled", "still runs"],
)
def test_the_last_job_decides_where_a_log_has_no_end(
    more: list[Event], status: str, two_reads: bytes
) -> None:
    assert runs(read(two_reads, *more, settings=NAMED))["load orders"][0] == status


def test_a_log_of_another_platform_without_an_end_stays_open(two_reads: bytes) -> None:
    spark = {"Event": "SparkListenerLogStart", "Spark Version": "3.1.2"}
    log = read(two_reads, *job(0), settings=NAMED, head=spark)
    assert runs(log) == {"load orders": ("unknown", 51)}


def test_a_cluster_of_many_has_a_task_for_each_notebook_and_job(make_log: Any, node: Any) -> None:
    reads = [{"plan": node(f"Scan hive raw.{table}")} for table in "abc"]
    works = [{NOTEBOOK: "/Users/jane@shop.com/etl/load"}, {JOB: "7"}, {}]
    lines = make_log(*reads, app=SHELL, end=False).splitlines()
    at = iter(range(3))
    log: list[Event] = []
    for text in lines:
        log.append(orjson.loads(text))
        if b"SQLExecutionStart" in text:
            number = next(at)
            log += job(number, number, **works[number])
    found = read(b"", *log, settings={f"{TAGS}clusterName": "team"})
    used = {(access["task"], access["name"]) for access in tables(found)["accesses"]}
    assert used == {("etl/load", "raw.a"), ("job-7", "raw.b")}
    [reject] = tables(found)["rejects"]
    assert reject["reason"] == "1 executions name no task: `task_from` finds none"
    assert "jane" not in repr(tables(found))


def test_jobs_of_rdds_alone_have_the_task_of_their_notebook(make_log: Any) -> None:
    log = make_log(app=SHELL, end=False)
    found = read(log, *job(0, **{NOTEBOOK: "/Shared/load"}), settings={})
    assert runs(found) == {"Shared/load": ("ok", 51)}
    assert [access["name"] for access in tables(found)["accesses"]] == ["/landing/a"]


def test_a_shell_without_notebook_and_job_is_a_reject_that_does_not_name_a_setting(
    two_reads: bytes,
) -> None:
    [reject] = tables(read(two_reads, settings={}))["rejects"]
    assert reject["reason"] == (
        "the application is called 'Databricks Shell', which names no task: "
        "no job of Spark in it is of a notebook or job of Databricks"
    )


def test_a_public_log_is_its_job(samples: Path) -> None:
    path = samples / "databricks_airline_eventlog.gz"
    log = assemble("log", [EventFile(path.name, partial(path.open, "rb"))], SparkLogs("l", "l"))
    [run] = tables(log)["runs"]
    assert (run["task"], str(run["status"])) == ("AirlineDelayLR_gz", "ok")
    assert run["engine_version"] == "3.1.2"
    # Jobs of RDDs go on for minutes after the last query.
    assert (run["ended_at"] - run["started_at"]).total_seconds() > 300
