"""Executions are settled while their log is read, and nothing is lost or changed by that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from typing import Any

import orjson
import pytest

from dbt_graft.collectors.spark.application import execution as history
from dbt_graft.collectors.spark.application import replay
from dbt_graft.collectors.spark.application.execution import Application, ExecutionGroup
from dbt_graft.collectors.spark.application.replay import SETTLE_AFTER
from dbt_graft.collectors.spark.log import decode
from dbt_graft.collectors.spark.log.events import READERS
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.store import collector
from dbt_graft.collectors.spark.store.read_log import CollectedLog, EventFile, assemble
from tests.cases import for_each
from tests.collectors.spark.stored import tables

Make = Callable[..., Any]
Event = dict[str, Any]
SQL = "org.apache.spark.sql.execution.ui.SparkListener"
NEVER = 1 << 60
RUN = "0c6f4b2e-1111-4222-8333-944455556666"
AT_ORDERS = "InMemoryFileIndex(1 paths)[file:/wh/raw.db/orders]"
INSERT = "Execute InsertIntoHadoopFsRelationCommand"


def events(log: bytes) -> list[Event]:
    return [orjson.loads(line) for line in log.splitlines()]


def read(log_events: Iterable[Event], settle_after: int = SETTLE_AFTER) -> CollectedLog:
    """Collect a log of these events."""
    log = b"".join(orjson.dumps(event) + b"\n" for event in log_events)
    logs = SparkLogs("log", "log", task_from=("job_group", "app_name"))
    return assemble("log", [EventFile("log", lambda: BytesIO(log))], logs, settle_after)


def bodies(log_events: Iterable[Event]) -> Iterator[tuple[str, Event]]:
    """The events as `replay` takes them."""
    for event in log_events:
        name = event["Event"].rpartition(".")[2]
        if body := READERS[name](event):
            yield name, body


def uses(collected: CollectedLog) -> set[tuple[str, str, int | None, int, str]]:
    """Accesses as tuples: direction, name, rows, statements, status."""
    return {
        (str(a["direction"]), a["name"], a["rows"], a["statements"], str(a["status"]))
        for a in tables(collected)["accesses"]
    }


def reasons(collected: CollectedLog) -> list[str]:
    return [reject["reason"] for reject in tables(collected)["rejects"]]


@pytest.fixture
def many(make_log: Make, node: Make) -> list[Event]:
    """Far more executions than wait to be settled: by path, by name, cached, nested, failed."""
    executions: list[dict[str, Any]] = []
    for n in range(0, 30 * SETTLE_AFTER, 6):
        by_path = node("Scan parquet", Location=AT_ORDERS, rows=n + 1)
        cached = node("InMemoryTableScan", node(f"Scan hive raw.t{n % 12}", rows=1))
        target = f"file:/out/x{n % 18}, false, Parquet, [path=/out/x{n % 18}], Append, [a]"
        executions += [
            {"plan": by_path, "metrics": ((n + 1, 2),)},
            {"plan": cached, "metrics": ((1, 30),)},
            {"plan": node("Execute SomeCommand"), "lasts": 3_000},
            {"plan": node(INSERT, by_path, args=target, rows=n + 2), "root": n + 2},
            {"plan": node("Scan hive raw.b"), "error": "[A_CLASS] text"},
            {"plan": node("Scan com.shop.Relation")},
        ]
    last = node("Scan parquet spark_catalog.sales.orders", Location=AT_ORDERS)
    return events(make_log(*executions, {"plan": last}))


def test_a_log_has_the_same_records_however_early_executions_are_settled(
    many: list[Event],
) -> None:
    early, late = read(many), read(many, NEVER)
    assert tables(early) == tables(late)
    # What lies in the folder was only called by its name in the end.
    names = {name for _, name, *_ in uses(early)}
    assert "sales.orders" in names
    assert "/wh/raw.db/orders" not in names


def test_public_logs_have_the_same_records_however_early_executions_are_settled(
    samples: Any,
) -> None:
    logs = SparkLogs("log", "log", unnamed_task="a_task")
    for path in sorted(samples.glob("*.zstd")):
        parts = [EventFile("log", partial(path.open, "rb"))]
        assert assemble("log", parts, logs).records == assemble("log", parts, logs, NEVER).records


def test_nested_executions_that_come_before_their_outermost_are_part_of_it(
    make_log: Make, node: Make
) -> None:
    insert = node(
        INSERT,
        node("Scan hive raw.a"),
        args="file:/wh/t, false, Parquet, [path=file:/wh/t], Overwrite, [a]",
    )
    create = "`spark_catalog`.`ml`.`t`, Append, [a]"
    outer = node("Execute CreateDataSourceTableAsSelectCommand", args=create)
    app, *rest = events(make_log({"plan": outer, "lasts": 5_000}, {"plan": insert, "root": 0}))
    collected = read([app, *rest[3:6], *rest[:3], *rest[6:]])
    assert uses(collected) == {("write", "ml.t", None, 1, "ok"), ("read", "raw.a", None, 1, "ok")}


def test_metrics_count_that_come_after_their_execution_ended(make_log: Make, node: Make) -> None:
    scans = [{"plan": node(f"Scan hive raw.t{n}", rows=n + 1)} for n in range(SETTLE_AFTER)]
    log = events(make_log(*scans, end=False))
    late = {"Event": f"{SQL}DriverAccumUpdates", "executionId": 0, "accumUpdates": [[1, 42]]}
    assert ("read", "raw.t0", 42, 1, "ok") in uses(read([*log, late]))


def test_an_accumulator_stays_its_first_executions_own_when_that_is_settled(
    make_log: Make, node: Make
) -> None:
    cached = node("InMemoryTableScan", node("Scan hive raw.a", rows=5))
    runs = [{"plan": cached, "metrics": ((5, 30),)}] * (SETTLE_AFTER + 5)
    assert uses(read(events(make_log(*runs)))) == {("read", "raw.a", 30, SETTLE_AFTER + 5, "ok")}


def test_an_execution_that_never_ends_does_not_delay_others(make_log: Make, node: Make) -> None:
    scans = [{"plan": node(f"Scan hive raw.t{n}")} for n in range(3 * SETTLE_AFTER)]
    log = [e for e in events(make_log(*scans)) if e.get("executionId") != 0 or "time" in e]
    [end] = [e for e in log if "ExecutionEnd" in e["Event"] and e["executionId"] == 0]
    log.remove(end)
    statuses = {name: status for _, name, _, _, status in uses(read(log))}
    assert statuses.pop("raw.t0") == "unknown"
    assert set(statuses.values()) == {"ok"}
    assert len(statuses) == 3 * SETTLE_AFTER - 1


def test_executions_that_never_end_are_settled_when_they_take_too_much_room(
    make_log: Make, node: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "_MOST_HELD", 10_000)
    scans = [{"plan": node("Scan hive raw.a"), "text": "x" * 2_000}] * 40
    log = [e for e in events(make_log(*scans)) if "ExecutionEnd" not in e["Event"]]
    given = replay.replay(bodies(log), Application(), lambda _: None)
    settled = [found.root for found, _ in zip(given, range(30), strict=False)]  # type: ignore[union-attr]
    assert settled == list(range(30))
    assert uses(read(log)) == {("read", "raw.a", None, 40, "unknown")}


def test_an_end_without_a_start_ends_what_is_nested_in_it(make_log: Make, node: Make) -> None:
    nested = [{"plan": node("Scan hive raw.a"), "root": 1_000 + n} for n in range(3)]
    log = events(make_log(*nested, end=False))
    end = {"Event": f"{SQL}SQLExecutionEnd", "executionId": 1_002, "time": 9_000}
    given = replay.replay(bodies([*log, end]), Application(), lambda _: None)
    assert [found.root for found in given if isinstance(found, ExecutionGroup)] == [
        1_002,
        1_000,
        1_001,
    ]


def stream(n: int, node: Make) -> dict[str, Any]:
    part = f"InMemoryFileIndex(1 paths)[file:/watched/part-{n}.csv]"
    description = f"load\nid = {RUN}\nrunId = {RUN}\nbatch = {n}"
    return {"plan": node("Scan csv", Location=part), "description": description}


def progress(n: int, sink: str) -> Event:
    return {
        "Event": "org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent",
        "progress": {
            "runId": RUN,
            "timestamp": f"2026-11-21T05:00:{n:02}.000Z",
            "sources": [{"description": "FileStreamSource[file:/watched]", "numInputRows": 2}],
            "sink": {"description": sink, "numOutputRows": 2},
        },
    }


@pytest.mark.parametrize(
    ("sink", "expected"),
    [
        (
            "FileSink[file:/out/s]",
            {("read", "/watched", 6, 3, "ok"), ("write", "/out/s", 6, 3, "ok")},
        ),
        ("org.apache.spark.sql.execution.ConsoleTable$", {("read", "/watched", None, 3, "ok")}),
    ],
)
@for_each("settle_after", [0, SETTLE_AFTER, NEVER])
def test_batches_of_a_stream_are_accesses_of_the_folder_it_watches(
    make_log: Make, node: Make, sink: str, expected: set[Any], settle_after: int
) -> None:
    log = events(make_log(*(stream(n, node) for n in range(3))))
    some = [log[0]]
    for n in range(3):
        some += [*log[1 + 3 * n : 4 + 3 * n], progress(n, sink)]
    found = read([*some, log[-1]], settle_after)
    assert uses(found) == expected
    assert {row["task"] for row in tables(found)["accesses"]} == {"a_task"}


@pytest.mark.parametrize(
    ("exception", "status", "error"),
    [(None, "ok", None), ("java.io.IOException: Jane", "failed", "InterruptedException")],
)
@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("settle_after", [0, SETTLE_AFTER, NEVER])
def test_a_stream_that_is_stopped_is_no_failed_run(
    make_log: Make,
    node: Make,
    exception: Any,
    status: str,
    error: Any,
    is_late: bool,
    settle_after: int,
) -> None:
    """The batch that runs meanwhile is interrupted, and no progress comes for it."""
    interrupted = {**stream(1, node), "error": "java.lang.InterruptedException\n\tat java.base/x"}
    *log, end = events(make_log(stream(0, node), interrupted))
    over = {
        "Event": "org.apache.spark.sql.streaming.StreamingQueryListener$QueryTerminatedEvent",
        "runId": RUN,
        "exception": exception,
    }
    log.insert(4, progress(0, "FileSink[file:/out/s]"))
    log.insert(len(log) - (not is_late), over)
    found = read([*log, end], settle_after)
    [run] = tables(found)["runs"]
    assert (str(run["status"]), run["error"]) == (status, error)
    assert {use for use in uses(found) if use[0] == "write"} == {("write", "/out/s", 2, 1, "ok")}


def test_a_checkpoint_that_is_still_used_is_known_after_many_other_rdds(
    make_log: Make, node: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "_MOST_RDDS", 50)
    text = (
        "== Physical Plan ==\n* Scan ExistingRDD (1)\n\n\n(1) Scan ExistingRDD\n"
        "Output [1]: [a#1]\nArguments: [a#1], MapPartitionsRDD[2] at checkpoint\n"
    )
    used = {"plan": node("Scan ExistingRDD"), "text": text}
    other = {"plan": node("LocalTableScan")}
    log = events(make_log(*[used, *[other] * 9] * 6))

    def job(number: int, rdds: list[tuple[int, str, list[int]]]) -> Event:
        infos = [{"RDD ID": id_, "Name": name, "Parent IDs": above} for id_, name, above in rdds]
        return {
            "Event": "SparkListenerJobStart",
            "Stage Infos": [{"Stage ID": number, "RDD Info": infos}],
            "Stage IDs": [number],
            "Properties": {"spark.sql.execution.id": str(number)},
        }

    some = [log[0], job(1_000, [(2, "MapPartitionsRDD", [1]), (1, "/landing/a", [])])]
    for n in range(60):
        rdds = [(1_000 + n * 10 + m, "/landing/b", []) for m in range(10)]
        # Cut from its parents, as checkpoints are.
        some += [*log[1 + 3 * n : 2 + 3 * n], job(n, [(2, "", [])] if n % 2 == 0 else rdds)]
        some += log[2 + 3 * n : 4 + 3 * n]
    assert uses(read([*some, log[-1]])) == {("read", "/landing/a", None, 6, "ok")}


def test_an_execution_that_starts_late_in_one_that_ended_still_counts(
    make_log: Make, node: Make
) -> None:
    late = {"plan": node("Scan hive raw.late"), "root": 0}
    scans = [{"plan": node(f"Scan hive raw.t{n}")} for n in range(1, 2 * SETTLE_AFTER)]
    app, *rest = events(make_log({"plan": node("Scan hive raw.t0")}, late, *scans))
    last = [
        event for event in rest if "ExecutionEnd" in event["Event"] and event["executionId"] == 1
    ]
    others = [event for event in rest if event not in last]
    log = read([app, *others[:-1], *last, others[-1]])
    statuses = {name: status for _, name, _, _, status in uses(log)}
    assert statuses == {f"raw.t{n}": "ok" for n in range(2 * SETTLE_AFTER)} | {"raw.late": "ok"}


def test_jobs_of_one_execution_may_list_a_stage_twice(make_log: Make, node: Make) -> None:
    job = {
        "Event": "SparkListenerJobStart",
        "Stage Infos": [],
        "Stage IDs": [7, 7],
        "Properties": {"spark.sql.execution.id": "0"},
    }
    app, start, *rest = events(make_log({"plan": node("Scan hive raw.a")}))
    assert uses(read([app, start, job, job, *rest])) == {("read", "raw.a", None, 1, "ok")}


def test_fields_of_another_type_cost_nothing_but_themselves(make_log: Make, node: Make) -> None:
    log = events(make_log(*[{"plan": node("Scan hive raw.a")}] * 3))
    log[1] |= {"description": 7, "details": ["x"], "physicalPlanDescription": {"a": 1}}
    log[4] |= {"executionId": "x"}
    log[8]["accumUpdates"] = [[1, "x"]]
    log[9] |= {"errorMessage": 7}
    end = {"Event": f"{SQL}SQLExecutionEnd", "time": 9_000}
    settings = {"spark.sql.warehouse.dir": 7, "spark.sql.catalog.a": None}
    environment = {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": settings}
    assert uses(read([environment, *log[:-1], end, log[-1]])) == {
        ("read", "raw.a", None, 1, "ok"),
        ("read", "raw.a", None, 1, "failed"),
    }


def test_what_had_started_by_a_time_is_learned_from_but_not_counted(
    make_log: Make, node: Make
) -> None:
    log = make_log(
        {"plan": node("Scan parquet spark_catalog.sales.orders", Location=AT_ORDERS)},
        {"plan": node("Scan hive raw.a"), "lasts": 60_000},
        {"plan": node("Scan parquet", Location=AT_ORDERS), "error": "[A_CLASS] text"},
    )
    logs, since = SparkLogs("log", "log"), datetime.fromtimestamp(3, UTC)
    collected = assemble("log", [EventFile("log", lambda: BytesIO(log))], logs, since=since)
    assert uses(collected) == {("read", "sales.orders", None, 1, "failed")}
    assert [run["status"] for run in tables(collected)["runs"]] == ["ok"]


def test_an_event_with_an_impossible_time_costs_itself(make_log: Make, node: Make) -> None:
    log = events(make_log(*[{"plan": node("Scan hive raw.a")}] * 3))
    log[1]["time"], log[6]["time"], log[9]["time"] = 2**62, "soon", 253_402_300_799_000
    found = read(log)
    assert uses(found) == {("read", "raw.a", None, 2, "unknown")}
    assert len(reasons(found)) == 3


def test_nothing_ends_before_it_began_where_a_clock_was_set_back(
    make_log: Make, node: Make
) -> None:
    log = events(make_log({"plan": node("Scan hive raw.a")}))
    for event in log:
        if event["Event"].endswith("End"):
            event["time" if "time" in event else "Timestamp"] = 0
    found = tables(read(log))
    for row, begin, end in ("runs", "started_at", "ended_at"), ("accesses", "first_at", "last_at"):
        assert [record[begin] for record in found[row]] == [record[end] for record in found[row]]


def test_the_first_rejects_of_a_log_are_listed_and_the_others_counted(
    make_log: Make, node: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decode, "_MOST_REJECTS", 3)
    log = make_log(*({"plan": node(f"Scan com.shop.Relation{n}")} for n in range(8)))
    found_reasons = reasons(read(events(log)))
    assert found_reasons[:3] == [
        f"there is no rule for Scan com.shop.Relation{n}" for n in range(3)
    ]
    assert found_reasons[3:] == ["5 more pieces could not be used"]


def test_the_first_distinct_statements_are_collected_and_the_others_counted(
    make_log: Make, node: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collector, "_MOST_STATEMENTS", 3)
    log = make_log(*({"plan": node(f"Scan hive raw.t{n % 5}")} for n in range(10)))
    found = read(events(log))
    assert {(name, times) for _, name, _, times, _ in uses(found)} == {
        (f"raw.t{n}", 2) for n in range(3)
    }
    assert reasons(found) == ["4 statements left out: too many distinct statements"]
