"""On clusters, from a folder or a History Server: the same store that one machine makes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dbt_graft.collectors.engines.spark import SparkEngine
from dbt_graft.collectors.spark.collect import collect
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.store.commit import commit
from dbt_graft.collectors.store.read import read
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.records import Records
from tests.collectors.spark.daemons import daemon
from tests.collectors.spark.packed import zstd
from tests.lineage.fold.test_runs import said

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCRIPT = Path(__file__).parent / "cluster_collect.py"


@pytest.fixture(scope="module")
def events(make_log: Any, node: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of logs: packed, rolling, of a second attempt that still runs, and a broken one."""

    def log(app: str, **more: Any) -> bytes:
        table = "".join(char for char in app if char.isalpha())
        text: bytes = make_log({"plan": node(f"Scan hive raw.{table}")}, app=app, **more)
        # The server lists nothing from before 2010.
        return re.sub(
            rb'"Timestamp":(\d+)',
            lambda at: b'"Timestamp":%d' % (1_795_000_000_000 + int(at[1])),
            text,
        )

    folder = tmp_path_factory.mktemp("events")
    (folder / "app-packed.zstd").write_bytes(zstd(log("packed")))
    rolling = folder / "eventlog_v2_app-rolling"
    rolling.mkdir()
    (rolling / "appstatus_app-rolling").touch()
    text = log("rolling")
    half = text.index(b"\n") + 1
    (rolling / "events_1_app-rolling.zstd").write_bytes(zstd(text[:half]))
    (rolling / "events_2_app-rolling.zstd").write_bytes(zstd(text[half:]))
    for attempt in (1, 2):
        text = log("again", end=attempt == 1)
        (folder / f"app-again_{attempt}{'.inprogress' * (attempt == 2)}").write_bytes(
            text.replace(b'"App ID"', b'"App Attempt ID":"%d","App ID"' % attempt)
        )
    (folder / "app-broken").write_bytes(log("broken") + b"no event\n")
    return folder


def collect_on(master: str, root: Path, *places: str) -> list[tuple[str, str]]:
    """Folders of executors, and files that they imported."""
    command = [sys.executable, str(SCRIPT), master, *places]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    return [(folder, file) for folder, file in json.loads(done.stdout.splitlines()[-1])]


def everything(records: Records) -> dict[str, list[str]]:
    """All rows, in one order."""
    values = {field.name: getattr(records, field.name) for field in fields(records)}
    return {
        name: sorted(map(repr, rows.values() if isinstance(rows, dict) else rows))
        for name, rows in values.items()
    }


def as_listed(row: str) -> str:
    """A row with its origin as the server names the log."""
    for file, attempt in (
        ("app-packed.zstd", "app-packed"),
        ("eventlog_v2_app-rolling", "app-rolling"),
        ("app-again_1", "app-again/1"),
        ("app-again_2", "app-again/2"),
    ):
        row = row.replace(f"'events/{file}'", f"'events/{attempt}'")
    return row


@pytest.fixture(scope="module")
def embedded(
    spark: SparkSession, events: Path, tmp_path_factory: pytest.TempPathFactory
) -> Records:
    """The store that a collect on this machine makes."""
    store = str(tmp_path_factory.mktemp("store"))
    found = collect(SparkEngine(spark), SparkLogs(str(events), "events"), {})
    assert found
    assert commit(store, [found])
    return read(store)


@pytest.fixture
def history_server(events: Path, tmp_path: Path) -> Iterator[str]:
    settings = tmp_path / "history.conf"
    settings.write_text(
        f"spark.history.fs.logDirectory {events.as_uri()}\nspark.history.ui.port 0\n"
    )
    ready = r"(?s)started at (http://\S+).*(?:Finished parsing.*){5}"
    with daemon(
        "history.HistoryServer",
        *("--properties-file", str(settings)),
        log=tmp_path / "history.log",
        ready=ready,
    ) as address:
        yield address


@pytest.fixture
def standalone(tmp_path: Path) -> Iterator[str]:
    """A master with two workers."""
    here = ("--host", "127.0.0.1", "--webui-port", "0")
    with ExitStack() as running:
        master = running.enter_context(
            daemon(
                "master.Master",
                *(*here, "--port", "0"),
                log=tmp_path / "master.log",
                ready=r"Starting Spark master at (spark://\S+)",
            )
        )
        for number in (1, 2):
            work = str(tmp_path / f"work{number}")
            running.enter_context(
                daemon(
                    "worker.Worker",
                    *(*here, "--cores", "1", "--memory", "1g", "--work-dir", work, master),
                    log=tmp_path / f"worker{number}.log",
                    ready="(Successfully registered) with master",
                )
            )
        yield master


@pytest.mark.exhaustive
def test_two_executors_of_a_local_cluster_write_the_same_store(
    embedded: Records, events: Path, root: Path, tmp_path: Path
) -> None:
    found = collect_on("local-cluster[2,1,1024]", root, str(events), str(tmp_path / "store"))
    assert len({folder for folder, _ in found}) == 2
    assert_shipped(found)
    assert_same(tmp_path / "store", embedded)


@pytest.mark.exhaustive
def test_two_workers_write_the_same_store_from_a_folder_and_from_a_history_server(
    embedded: Records,
    events: Path,
    standalone: str,
    history_server: str,
    root: Path,
    tmp_path: Path,
) -> None:
    stores = [str(tmp_path / name) for name in ("folder", "server")]
    found = collect_on(standalone, root, str(events), stores[0], history_server, stores[1])
    assert {Path(folder).parts[-3] for folder, _ in found} == {"work1", "work2"}
    assert_shipped(found)
    assert_same(tmp_path / "folder", embedded)
    assert everything(read(stores[1], folded=False)) == {
        table: sorted(map(as_listed, rows)) for table, rows in everything(embedded).items()
    }


def assert_shipped(imported: list[tuple[str, str]]) -> None:
    """Executors import what was shipped to them."""
    assert [file for _, file in imported if "graft_collectors.zip/" not in file] == []
    assert len(imported) > 40


def assert_same(store: Path, embedded: Records) -> None:
    """A store has what the embedded one has."""
    assert everything(read(str(store), folded=False)) == everything(embedded)
    assert said(build(read(str(store)))) == said(build(embedded))
    assert len(embedded.runs) == 5
    assert [reject.position for reject in embedded.rejects] == ["app-broken, line 6"]
