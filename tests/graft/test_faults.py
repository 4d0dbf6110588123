"""Failures while logs are collected: nothing that was committed is lost or doubled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from dbt_graft.collectors.java import java_home
from dbt_graft.collectors.store import door as store
from tests.collectors.sqlserver.runs.test_fold import event
from tests.collectors.sqlserver.xel_writer import write_events
from tests.graft.conftest import Graft
from tests.graft.small_disk import small_disk

TABLES, EVENTS = 10, 300
PROJECT = """
collect:
  - sqlserver: {path: logs/, server: "mssql://sql01:1433"}
  - spark: {path: events/}
store: STORE
spark: {master: "local[2]", spark.sql.shuffle.partitions: 2}
"""
Reads = dict[str, int]


def project(folder: Path, store_: str = "store") -> Path:
    """A folder with two logs of each engine, and a `graft.yml`."""
    (folder / "logs").mkdir(parents=True)
    (folder / "events").mkdir()
    for log in "ab":
        (folder / "events" / f"app-{log}").write_bytes(spark_log(f"app-{log}", f"raw.{log}"))
        events = [
            event("batch", f"SELECT x FROM dbo.{log}{n % TABLES} WHERE x = {n}", n)
            for n in range(EVENTS)
        ]
        write_events(folder / "logs" / f"{log}.xel", events)
    (folder / "graft.yml").write_text(PROJECT.replace("STORE", store_))
    return folder


def spark_log(app: str, table: str) -> bytes:
    """An event log of an application that reads a table again and again."""
    sql = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecution"
    start = {"Event": "SparkListenerApplicationStart", "App Name": app, "App ID": app}
    events: list[dict[str, Any]] = [{**start, "Timestamp": 0}]
    for n in range(EVENTS):
        plan = {"nodeName": f"Scan hive {table}"}
        events.append({"Event": f"{sql}Start", "executionId": n, "sparkPlanInfo": plan, "time": n})
        events.append({"Event": f"{sql}End", "executionId": n, "time": n})
    return b"".join(orjson.dumps(event) + b"\n" for event in events)


EXPECTED = {f"dbo.{log}{n}": EVENTS // TABLES for log in "ab" for n in range(TABLES)}
EXPECTED |= {f"raw.{log}": EVENTS for log in "ab"}


# The command, but that it never gets beyond the rows of a batch to its record.
HELD = """
import time
from importlib import import_module
from dbt_graft.__main__ import main
import_module("dbt_graft.collectors.store.commit").record_batch = lambda *_: time.sleep(600)
main()
"""


def collect(folder: Path, *options: str, held: bool = False) -> subprocess.Popen[str]:
    command = ["-c", HELD] if held else ["-m", "dbt_graft"]
    command += ["collect", "-c", str(folder / "graft.yml"), "--quiet", *options]
    return subprocess.Popen(
        [sys.executable, *command],
        env={**os.environ, "JAVA_HOME": java_home()},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def reads(place: Path) -> Reads:
    """The number of statements that read each table, from the store."""
    found: Reads = {}
    for access in store.read(str(place)).accesses:
        short = access.dataset.short
        found[short] = found.get(short, 0) + access.statements
    return found


def wait_for(pattern: str, folder: Path, process: subprocess.Popen[str], count: int = 1) -> None:
    until = time.monotonic() + 120
    while len(list(folder.glob(pattern))) < count:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < until, f"no {pattern}"
        time.sleep(0.02)


SPARK = pytest.mark.spark
EXHAUSTIVE = pytest.mark.exhaustive


# Both engines have the same last step, in which it is killed.
@pytest.mark.parametrize("engine", ["local", pytest.param("spark", marks=(SPARK, EXHAUSTIVE))])
def test_a_killed_collect_leaves_nothing_and_the_next_reads_all(
    tmp_path: Path, engine: str
) -> None:
    folder = project(tmp_path)
    killed = collect(folder, "--engine", engine, held=True)
    wait_for("store/accesses/batch_id=*/*.parquet", folder, killed)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert not (folder / "store" / "batches").exists()
    assert reads(folder / "store") == {}

    again = collect(folder, "--engine", engine)
    assert again.wait() == 0, again.communicate()
    assert reads(folder / "store") == EXPECTED


@pytest.mark.parametrize("engine", ["local", pytest.param("spark", marks=[SPARK, EXHAUSTIVE])])
def test_of_two_collects_at_once_nothing_doubles(tmp_path: Path, engine: str) -> None:
    folder = project(tmp_path)
    both = [collect(folder, "--engine", engine) for _ in range(2)]
    outputs = [process.communicate()[0] for process in both]
    assert 0 in [process.returncode for process in both], outputs
    for process, output in zip(both, outputs, strict=True):
        assert process.returncode == 0 or "was read by another collect meanwhile" in output
    assert reads(folder / "store") == EXPECTED


def test_a_file_that_goes_away_while_it_is_read_costs_itself(tmp_path: Path) -> None:
    from dbt_graft.collectors.files import log_files
    from dbt_graft.collectors.sqlserver.event import EventFilter
    from dbt_graft.collectors.sqlserver.files.formats import file_splits
    from dbt_graft.collectors.sqlserver.files.readers import read_split

    folder = project(tmp_path)
    (first, _) = log_files(str(folder / "logs"), "logs")
    splits = file_splits(first)
    assert isinstance(splits, list)
    (folder / "logs" / "a.xel").unlink()
    chunks = [chunk for part in splits for chunk in read_split(part, EventFilter())]
    assert [damage.reason for chunk in chunks for damage in chunk.damages] != []
    assert sum(len(chunk.events) for chunk in chunks) == 0


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with next to no space."""
    place = tmp_path / "disk"
    with small_disk(place, "24k"):
        yield place


def test_a_full_disk_is_an_error_and_leaves_the_store_readable(
    tmp_path: Path, full_disk: Path, graft: Graft
) -> None:
    folder = project(tmp_path / "project", str(full_disk / "store"))
    command = ("collect", "-c", str(folder / "graft.yml"), "--quiet")
    full = graft(*command)
    assert full.code == 1
    assert "No space left on device" in full.err
    assert reads(full_disk / "store") == {}

    subprocess.run(["mount", "-o", "remount,size=32m", str(full_disk)], check=True)
    assert graft(*command).code == 0
    assert reads(full_disk / "store") == EXPECTED
