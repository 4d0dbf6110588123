"""Logs of real jobs on real Spark come into the store exactly, once, and whatever lies beside."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dbt_graft.collectors.engines import spark as spark_engine
from dbt_graft.collectors.engines.engine import Engine
from dbt_graft.collectors.spark.collect import collect
from dbt_graft.collectors.spark.listing import new_logs
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.store.commit import commit
from dbt_graft.collectors.store.positions import positions
from dbt_graft.collectors.store.read import last_event_times, read
from dbt_graft.collectors.store.selected import run_origins
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.building.runs import runs_by_task
from dbt_graft.lineage.flow import flows
from dbt_graft.lineage.records import Access, Records, Status
from tests.collectors.spark.packed import lz4, snappy, zstd

pytestmark = pytest.mark.spark

# operation, direction, dataset, statements, rows
SHOP = {
    ("CREATE TABLE AS", "write", "spark/raw.orders", 1, 10),
    ("CREATE TABLE AS", "read", "file/landing/orders", 1, 10),
    ("CREATE TABLE AS", "write", "spark/raw.customers", 1, 3),
    ("CREATE TABLE AS", "read", "file/landing/customers.json", 1, 3),
    ("INSERT", "write", "spark/raw.orders", 1, 4),
    ("INSERT", "read", "file/landing/orders", 1, 4),
    ("CREATE TABLE AS", "write", "spark/ml.spend", 1, 3),
    ("CREATE TABLE AS", "read", "spark/raw.orders", 1, 14),
    ("CREATE TABLE AS", "read", "spark/raw.customers", 1, 3),
    ("CREATE TABLE", "write", "spark/ml.big", 1, None),
    ("INSERT OVERWRITE", "write", "spark/ml.big", 1, 11),
    ("INSERT OVERWRITE", "read", "spark/raw.orders", 1, 14),
    ("CREATE TABLE AS", "write", "spark/ml.big_copy", 1, 11),
    ("CREATE TABLE AS", "read", "spark/ml.big", 1, 11),
    ("CREATE TABLE", "write", "spark/ml.ids", 1, None),
    ("INSERT", "write", "spark/ml.ids", 1, 14),
    ("INSERT", "read", "spark/raw.orders", 1, 14),
    ("INSERT", "write", "spark/ml.big_copy", 1, 14),
    ("INSERT", "write", "spark/ml.ids", 1, 1),
    ("INSERT", "write", "file/out/orders", 1, 14),
    ("SELECT", "read", "file/out/orders", 1, 6),
    ("SELECT", "read", "spark/ml.spend", 2, 6),
    ("CREATE VIEW", "write", "spark/ml.cheap", 1, None),
    ("CREATE VIEW", "read", "spark/raw.orders", 1, None),
    ("CREATE TABLE AS", "write", "spark/ml.cheap_copy", 1, 2),
    ("CREATE TABLE AS", "read", "spark/raw.orders", 1, 5),
    ("SELECT", "read", "spark/raw.customers", 1, 3),
    ("CREATE TABLE AS", "write", "spark/ml.cached_a", 1, 2),
    ("CREATE TABLE AS", "write", "spark/ml.cached_b", 1, 2),
    ("CREATE TABLE AS", "read", "spark/raw.customers", 1, None),
    ("CREATE TABLE AS", "write", "spark/ml.scores", 1, 3),
    ("CREATE TABLE", "write", "spark/ml.scratch", 1, None),
    ("ALTER", "write", "spark/ml.scratch", 1, None),
    ("RENAME", "write", "spark/ml.scratch2", 1, None),
    ("RENAME", "read", "spark/ml.scratch", 1, None),
    ("TRUNCATE", "write", "spark/ml.scratch2", 1, None),
    ("DROP", "write", "spark/ml.scratch2", 1, None),
}
# target <- source, and whether the task carried the data through its memory
FLOWS = {
    ("raw.orders", "landing/orders", False),
    ("raw.customers", "landing/customers.json", False),
    ("ml.spend", "raw.orders", False),
    ("ml.spend", "raw.customers", False),
    ("ml.big", "raw.orders", False),
    ("ml.big_copy", "ml.big", False),
    ("ml.big_copy", "raw.orders", False),
    ("ml.ids", "raw.orders", False),
    ("out/orders", "raw.orders", False),
    ("ml.cheap", "raw.orders", False),
    ("ml.cheap_copy", "raw.orders", False),
    ("ml.cached_a", "raw.customers", False),
    ("ml.cached_b", "raw.customers", False),
    ("ml.scratch2", "ml.scratch", False),
    # Written from Python, so from all that was read into Python before.
    ("ml.scores", "ml.spend", True),
    ("ml.scores", "out/orders", True),
    ("ml.scores", "raw.customers", True),
}


def load(engine: Engine, path: Path, store: Path) -> Records:
    """Collect what is new below a path and read the store."""
    logs = SparkLogs(str(path), "events")
    until = partial(last_event_times, str(store))
    found = collect(engine, logs, positions(str(store)), partial(run_origins, str(store)), until)
    assert found
    assert commit(str(store), [found])
    return read(str(store))


@pytest.fixture(scope="module")
def shop(engine: Engine, shop_job: Path, tmp_path_factory: pytest.TempPathFactory) -> Records:
    """The store after the shop's job was collected."""
    return load(engine, shop_job / "events", tmp_path_factory.mktemp("store"))


def facts(access: Access, base: Path) -> tuple[str, str, str, int, int | None]:
    name = str(access.dataset).replace(f"file{base}", "file")
    return access.operation, str(access.direction), name, access.statements, access.rows


def test_every_access_is_there_with_its_rows_and_none_besides(
    shop: Records, shop_job: Path
) -> None:
    assert {facts(access, shop_job) for access in shop.accesses} == SHOP
    assert {access.status for access in shop.accesses} == {Status.OK}
    assert {access.task for access in shop.accesses} == {"load_shop"}
    assert shop.rejects == ()


def test_the_flows_that_follow_are_those_of_the_script(shop: Records) -> None:
    found = {(f.target.short, f.source.short, f.through_memory) for f in flows(shop.accesses)}
    assert found == FLOWS


def test_the_run_has_its_times_and_ended_well(shop: Records) -> None:
    [run] = shop.runs
    assert (run.task, run.engine, run.status, run.error) == ("load_shop", "spark", Status.OK, None)
    assert run.application_id == run.run_id
    times = [time for access in shop.accesses for time in (access.first_at, access.last_at) if time]
    assert run.started_at
    assert run.ended_at
    assert run.started_at < min(times) < max(times) <= run.ended_at


def test_datasets_have_columns_types_and_their_paths(shop: Records, shop_job: Path) -> None:
    datasets = {
        str(dataset.id).replace(f"file{shop_job}", "file"): dataset for dataset in shop.datasets
    }
    columns = {name: [(c.name, c.type) for c in d.columns] for name, d in datasets.items()}
    orders = [("order_id", "int"), ("customer_id", "int"), ("amount", "int")]
    assert columns["spark/raw.orders"] == columns["file/landing/orders"] == orders
    assert columns["spark/ml.spend"] == [("name", "string"), ("spent", "bigint")]
    assert columns["spark/ml.scores"] == [("name", ""), ("score", "")]
    assert [link.name for link in datasets["spark/ml.spend"].symlinks] == [
        f"{shop_job}/warehouse/ml.db/spend"
    ]
    assert datasets["spark/ml.cheap"].kind == "VIEW"
    assert datasets["spark/ml.scratch2"].dropped_at
    assert datasets["spark/ml.scratch"].dropped_at
    assert not datasets["spark/ml.spend"].dropped_at


def test_no_literal_of_the_script_or_its_data_reaches_the_store(
    shop: Records, engine: Engine, failing_job: Path, tmp_path: Path
) -> None:
    failed = load(engine, failing_job / "events", tmp_path)
    text = repr(shop) + repr(failed)
    assert "raw.orders" in text
    assert "default.return_risk" in text
    assert [word for word in ("secret_", "-77", "hunter2", "Jane") if word in text] == []


def test_a_run_that_dies_half_way_failed_and_what_it_did_before_counts(
    engine: Engine, failing_job: Path, tmp_path: Path
) -> None:
    records = load(engine, failing_job / "events", tmp_path)
    [run] = records.runs
    assert (run.task, run.status) == ("rebuild_returns", Status.FAILED)
    assert run.error == "USER_RAISED_EXCEPTION (SQLSTATE P0001)"
    done = {
        (a.operation, str(a.direction), a.dataset.short, str(a.status)) for a in records.accesses
    }
    assert done == {
        ("INSERT", "write", "out/returns", "ok"),
        ("CREATE TABLE AS", "read", "out/returns", "failed"),
        ("CREATE TABLE AS", "write", "default.return_risk", "failed"),
    }
    assert [dataset.id.short for dataset in records.datasets] == ["out/returns"]


def test_dbts_own_application_is_read_and_has_no_task(
    engine: Engine, jobs: Path, tmp_path: Path
) -> None:
    records = load(engine, jobs / "dbt_models/events", tmp_path / "store")
    lineage = build(records)
    assert (lineage.tasks, lineage.flows, records.shapes, records.rejects) == ({}, (), {}, ())
    edges = {(edge.to_dataset.name, edge.from_dataset.name) for edge in lineage.dbt.column_edges}
    assert edges == {("analytics.two", "analytics.one")}
    [(_, count)] = positions(str(tmp_path / "store")).values()
    assert count > 20


def test_collecting_twice_adds_nothing(engine: Engine, failing_job: Path, tmp_path: Path) -> None:
    load(engine, failing_job / "events", tmp_path)
    logs = SparkLogs(str(failing_job / "events"), "events")
    assert len(new_logs(logs, {})) == 1
    assert new_logs(logs, positions(str(tmp_path))) == []
    assert collect(engine, logs, positions(str(tmp_path))) is None


@pytest.mark.parametrize("small", [1 << 30, 0], ids=["in memory", "as many as stay with Spark"])
def test_a_growing_log_is_read_on_and_a_finished_one_replaces_what_was_known_of_it(
    small: int,
    engine: Engine,
    make_log: Any,
    node: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spark_engine, "_SMALL", small)
    folder = tmp_path / "events" / "eventlog_v2_app-a_task"
    folder.mkdir(parents=True)
    running = folder / "appstatus_app-a_task.inprogress"
    running.touch()
    first, second = (folder / f"events_{n}_app-a_task" for n in (1, 2))
    app, *lines = make_log(*[{"plan": node(f"Scan hive raw.{n}")} for n in "abcd"]).splitlines(True)

    def collected() -> tuple[dict[str, int], set[str]]:
        records = load(engine, tmp_path / "events", tmp_path / "store")
        [run] = runs_by_task(records.runs)["a_task"]
        assert run.status is (Status.UNKNOWN if running.exists() else Status.OK)
        assert records.rejects == ()
        names = Counter(access.dataset.name for access in records.accesses)
        return names, {access.origin.rpartition("/")[2] for access in records.accesses}

    log = folder.name
    first.write_bytes(app + b"".join(lines[:4]))
    assert collected() == ({"raw.a": 1}, {log})
    first.write_bytes(app + b"".join(lines[:6]))
    second.write_bytes(b"".join(lines[6:8]))
    assert collected() == ({"raw.a": 1, "raw.b": 1}, {log, f"{log}@4"})
    all_four = dict.fromkeys(("raw.a", "raw.b", "raw.c", "raw.d"), 1)
    second.write_bytes(b"".join(lines[6:-1]))
    assert collected() == (all_four, {log, f"{log}@4", f"{log}@7"})
    second.write_bytes(b"".join(lines[6:]))
    running.rename(folder / "appstatus_app-a_task")
    assert collected() == (all_four, {log})


def test_what_was_read_before_a_log_was_compacted_counts_once(
    engine: Engine, make_log: Any, node: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "events" / "eventlog_v2_app-a_task"
    folder.mkdir(parents=True)
    app, *rest = make_log(*[{"plan": node(f"Scan hive raw.{n}")} for n in "abcd"]).splitlines(True)
    collected = [b"".join(rest[at : at + 3]) for at in (0, 3, 6, 9)]
    (folder / "appstatus_app-a_task.inprogress").touch()

    def compact(last: int) -> None:
        """As the history server does: what is over is left out, and what came before."""
        for old in folder.glob("events_*"):
            if int(old.name.split("_")[1]) <= last:
                old.unlink()
        (folder / f"events_{last}_app-a_task.compact").write_bytes(app)

    def names() -> dict[str, int]:
        records = load(engine, tmp_path / "events", tmp_path / "store")
        assert len(runs_by_task(records.runs)["a_task"]) == 1
        return Counter(access.dataset.name for access in records.accesses)

    (folder / "events_1_app-a_task").write_bytes(app + collected[0])
    (folder / "events_2_app-a_task").write_bytes(collected[1])
    assert names() == {"raw.a": 1, "raw.b": 1}
    compact(1)
    (folder / "events_3_app-a_task").write_bytes(collected[2])
    assert names() == {"raw.a": 1, "raw.b": 1, "raw.c": 1}
    compact(2)
    (folder / "events_4_app-a_task").write_bytes(collected[3])
    assert names() == {"raw.a": 1, "raw.b": 1, "raw.c": 1, "raw.d": 1}


def test_damaged_and_foreign_files_are_rejects_and_the_others_count(
    engine: Engine, failing_job: Path, make_log: Any, node: Any, tmp_path: Path
) -> None:
    events = tmp_path / "events"
    shutil.copytree(failing_job / "events", events)
    [rolling] = events.glob("eventlog_v2_*")
    [part] = rolling.glob("events_1_*")
    # The driver died: for Spark the application runs for ever, and for us the log may still grow.
    for status in rolling.glob("appstatus_*"):
        status.rename(rolling / "appstatus_done")
    part.write_bytes(part.read_bytes()[:-300])
    (events / "eventlog_v2_empty").mkdir()
    (events / "eventlog_v2_empty" / "appstatus_empty").touch()
    (events / "garbage [1]{2}").write_bytes(b"\x00\x01\x02" * 100)
    (events / "foreign.json").write_text('{"user": "Jane"}\n')
    (events / "shell").write_bytes(make_log({"plan": node("Scan hive raw.a")}, app="pyspark-shell"))
    (events / "good").write_bytes(make_log({"plan": node("Scan hive raw.a")}))
    most = [{"plan": node("Scan hive raw.a", rows=n), "metrics": ((n, 2**62),)} for n in (1, 2)]
    (events / "huge").write_bytes(make_log(*most, app="huge"))

    records = load(engine, events, tmp_path / "store")
    rejects = {reject.origin.partition("/")[2]: reject for reject in records.rejects}
    foreign = "not a Spark event log: it does not start with an event"
    reasons = {
        name: re.sub(r" at [\w.]+:\d+", "", reject.reason) for name, reject in rejects.items()
    }
    assert " at dbt_graft.collectors." in rejects["huge"].reason
    assert reasons == {
        rolling.name: "the compressed data is truncated",
        "eventlog_v2_empty": "the folder holds no file with events",
        "garbage [1]{2}": foreign,
        "foreign.json": foreign,
        "huge": "the log cannot be stored (OverflowError)",
        "shell": "the application is called 'pyspark-shell', which names no task: "
        "set spark.app.name to the task's name, with `SparkSession.builder.appName(…)` "
        "in the script or `spark-submit --name …`",
    }
    assert rejects[rolling.name].position.startswith(f"{part.name}, line ")
    assert "Jane" not in repr(records)
    read_before = {
        run.task: [a for a in records.accesses if a.task == run.task] for run in records.runs
    }
    assert {task: bool(accesses) for task, accesses in read_before.items()} == {
        "rebuild_returns": True,
        "a_task": True,
    }
    assert len(positions(str(tmp_path / "store"))) == 7


def test_a_log_that_cannot_be_read_is_a_reject_and_stays_pending(
    engine: Engine, make_log: Any, node: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "events"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / name).write_bytes(make_log({"plan": node("Scan hive raw.a")}, app=name))
    logs = SparkLogs(str(folder), "events")
    place = str(tmp_path / "store")

    def run() -> tuple[list[str], list[str], list[tuple[str, str]]]:
        """Pending logs, tasks and rejects after a collect."""
        known = positions(place)
        found = collect(engine, logs, known, partial(run_origins, place))
        commit(place, [found] if found else [], known)
        records = read(place)
        return (
            [one.origin for one in found.pending] if found else [],
            sorted(run.task for run in records.runs),
            [(r.origin, r.reason) for r in records.rejects],
        )

    listed, hidden = new_logs(logs, {}), folder / ".one"
    (folder / "one").rename(hidden)
    with monkeypatch.context() as patch:
        patch.setattr("dbt_graft.collectors.spark.collect.new_logs", lambda *_: listed)
        for _ in range(2):
            rejects = [("events/one", "the file cannot be read")]
            assert run() == (["events/one"], ["two"], rejects)
    hidden.rename(folder / "one")
    assert run() == ([], ["one", "two"], [])

    grown = make_log(
        {"plan": node("Scan hive raw.a")}, {"plan": node("Scan hive raw.b")}, app="one"
    )
    (folder / "one").write_bytes(grown)
    listed = new_logs(logs, positions(place))
    (folder / "one").rename(hidden)
    with monkeypatch.context() as patch:
        patch.setattr("dbt_graft.collectors.spark.collect.new_logs", lambda *_: listed)
        assert run() == (["events/one"], ["one", "two"], []), "what was read before stays"
    hidden.rename(folder / "one")
    run()
    assert {access.dataset.short for access in read(place).accesses} == {"raw.a", "raw.b"}


def test_the_rule_and_the_namespace_are_the_sources_own(
    engine: Engine, make_log: Any, node: Any, tmp_path: Path
) -> None:
    (tmp_path / "log").write_bytes(make_log({"plan": node("Scan hive raw.a")}, app="etl::load::7"))
    logs = SparkLogs(
        str(tmp_path / "log"), "log", task="etl::(?P<task>[^:]+)", namespace="hive://m"
    )
    found = collect(engine, logs, {})
    assert found
    [access] = found.accesses.to_pylist()
    assert (access["task"], access["namespace"], access["name"]) == ("load", "hive://m", "raw.a")


def test_a_run_is_named_with_its_attempt(engine: Engine, make_log: Any, tmp_path: Path) -> None:
    log = make_log().replace(b'"App ID":"app-a_task"', b'"App ID":"app-1","App Attempt ID":"2"')
    (tmp_path / "log").write_bytes(log)
    [run] = load(engine, tmp_path / "log", tmp_path / "store").runs
    assert (run.run_id, run.application_id) == ("app-1_2", "app-1")


def test_a_log_counts_once_whatever_it_is_called_and_however_it_is_packed(
    engine: Engine, make_log: Any, node: Any, tmp_path: Path
) -> None:
    events, store = tmp_path / "events", tmp_path / "store"
    rolled = events / "eventlog_v2_app-a_task"
    rolled.mkdir(parents=True)
    log = make_log(*[{"plan": node("Scan hive raw.a")}] * 4)
    (events / "app-a_task.lz4").write_bytes(lz4(log))
    (events / "copy while it grew.inprogress").write_bytes(log[: len(log) // 2])

    def statements() -> list[int]:
        records = load(engine, events, store)
        assert (len(records.runs), records.rejects) == (1, ())
        return [access.statements for access in records.accesses]

    assert statements() == [4]
    (events / "app-a_task.lz4").rename(events / "old.snappy")
    (events / "old.snappy").write_bytes(snappy(log))
    assert statements() == [4]
    # As a rolling log, and with two more.
    more = make_log(*[{"plan": node("Scan hive raw.a")}] * 6)
    half = log.index(b"\n", len(log) // 2) + 1
    (rolled / "events_1_app-a_task.zstd").write_bytes(zstd(more[:half]))
    (rolled / "events_2_app-a_task.zstd").write_bytes(zstd(more[half:]))
    assert statements() == [6]
    (rolled / "events_2_app-a_task.zstd").touch()
    (events / "old.snappy").touch()
    assert statements() == [6]


def test_a_log_in_two_sources_of_a_collect_counts_once(
    engine: Engine, make_log: Any, node: Any, tmp_path: Path
) -> None:
    taken: set[str] = set()
    collected = []
    for name in ("here", "there"):
        (tmp_path / name).write_bytes(make_log({"plan": node("Scan hive raw.a")}))
        logs = SparkLogs(str(tmp_path / name), name)
        found = collect(engine, logs, {}, taken=taken)
        assert found
        collected.append([row["origin"] for row in found.accesses.to_pylist()])
    assert collected == [["here"], []]


def test_tasks_come_from_the_places_of_the_source(
    engine: Engine, make_log: Any, node: Any, tmp_path: Path
) -> None:
    executions = [
        {"plan": node(f"Scan hive raw.{name}"), "description": f"load {name}"} for name in "ab"
    ]
    (tmp_path / "log").write_bytes(make_log(*executions))
    logs = SparkLogs(str(tmp_path / "log"), "log", task_from=("job_description", "app_name"))
    found = collect(engine, logs, {})
    assert found
    accesses = {(row["task"], row["name"]) for row in found.accesses.to_pylist()}
    assert accesses == {("load a", "raw.a"), ("load b", "raw.b")}
    assert {(row["task"], row["run_id"]) for row in found.runs.to_pylist()} == {
        ("load a", "app-a_task"),
        ("load b", "app-a_task"),
    }
