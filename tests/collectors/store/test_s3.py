"""A store in a bucket, on a server with S3's API. No Spark is needed."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from importlib import import_module
from pathlib import Path

import pytest
from pyarrow import fs

from dbt_graft.collectors.store import arrow_tables, compaction
from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.backup import back_up
from dbt_graft.collectors.store.errors import StoreError
from dbt_graft.collectors.store.forget import forget
from dbt_graft.collectors.store.tables import FORMAT
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import Records
from tests.collectors.store.s3_server import FaultyServer, faulty_server
from tests.collectors.store.test_batches import FORMAT_1
from tests.notation import access

pytestmark = pytest.mark.slow
STORE = "s3a://lineage/team/store"


@pytest.fixture(scope="module")
def server() -> Iterator[FaultyServer]:
    """A server that speaks as S3 does."""
    with faulty_server() as server:
        yield server


@pytest.fixture
def bucket(server: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[fs.FileSystem]:
    """An empty bucket `lineage`, for which the environment holds the keys."""
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    files = fs.S3FileSystem(
        endpoint_override=server.address, allow_bucket_creation=True, allow_bucket_deletion=True
    )
    files.create_dir("lineage")
    yield files
    files.delete_dir("lineage")


def add(
    origin: str,
    *tables: str,
    known: store.Positions | None = None,
    give_up: Collection[str] = (),
) -> None:
    """Commit a log in which a task writes tables."""
    accesses = tuple(
        access("INSERT", DatasetId("db", table), run_id=f"{origin}-run", origin=origin)
        for table in tables
    )
    records = arrow_tables.tables(Records(accesses), {origin: tables[-1]})
    store.commit(STORE, [records], known, give_up=tuple(give_up))


def written() -> list[str]:
    return sorted(access.dataset.name for access in store.read(STORE).accesses)


def test_batches_in_a_bucket_are_committed_read_and_replaced(bucket: fs.FileSystem) -> None:
    assert store.positions(STORE) == {}
    add("a", "x", "y")
    add("b", "z")
    add("a", "w", known=store.positions(STORE))
    assert written() == ["w", "z"]
    assert store.positions(STORE) == {"a": ("w", 0), "b": ("z", 0)}
    assert [batch.sequence for batch in store.batches(STORE)] == [1, 2, 3]


def test_of_two_collects_at_once_the_later_fails_and_is_swept(
    bucket: fs.FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    positions = store.positions(STORE)
    add("a", "x", known=positions)
    add("a", "y", known=store.positions(STORE))
    with pytest.raises(GraftError, match="a: was read by another collect meanwhile"):
        add("a", "z", known={"a": ("x", 0)})
    assert store.open_store(STORE).uncommitted, "another may still write it"
    assert written() == ["y"]
    monkeypatch.setattr(import_module(store.commit.__module__), "_LEFT_BEHIND", -(10**12))
    add("b", "v")
    assert not store.open_store(STORE).uncommitted
    assert written() == ["v", "y"]


def _cut(files: fs.FileSystem, path: str) -> None:
    with files.open_output_stream(path) as file:
        file.write(b"PAR1")


def _overwritten(files: fs.FileSystem, path: str) -> None:
    size = files.get_file_info(path).size
    with files.open_output_stream(path) as file:
        file.write(b"x" * size)


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (_cut, "has 4 of "),
        (_overwritten, "is not a complete Parquet file"),
        (lambda files, path: files.delete_file(path), "is missing"),
    ],
)
def test_a_damaged_batch_is_an_error_and_can_be_read_again(
    bucket: fs.FileSystem, damage: Callable[[fs.FileSystem, str], None], problem: str
) -> None:
    add("a", "x")
    add("b", "y")
    newest = store.batches(STORE)[-1]
    [path] = [file.path for file in newest.files if file.table == "accesses"]
    damage(bucket, f"lineage/team/store/{path}")
    with pytest.raises(StoreError, match=re.escape(problem)) as caught:
        store.read(STORE)
    assert "graft collect --again" in str(caught.value)
    add("b", "z", give_up=store.damages(STORE))
    assert written() == ["x", "z"]


def test_a_server_out_of_reach_is_no_damage(
    bucket: fs.FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    add("a", "x")
    found = store.open_store(STORE)
    files = fs.S3FileSystem(
        endpoint_override="http://127.0.0.1:9",
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=1),
    )
    for read in (store.damages, store.read, store.positions):
        with monkeypatch.context() as gone:
            module = import_module(store.open_store.__module__)
            gone.setattr(module, "filesystem", lambda _: (files, found.root))
            with pytest.raises(StoreError) as caught:
                read(STORE)
        assert str(caught.value) == (
            f"{STORE}: cannot be read: AWS Error NETWORK_CONNECTION\n"
            "  check the network, the bucket of `store` in graft.yml, and this account's rights"
        )
    assert written() == ["x"]


def test_a_bucket_that_does_not_exist_is_an_error(
    server: FaultyServer, bucket: fs.FileSystem
) -> None:
    records = arrow_tables.tables(Records(), {"a": "1"})
    with pytest.raises(GraftError) as caught:
        store.commit("s3a://nowhere/store", [records])
    assert caught.value.place == "s3a://nowhere/store"
    assert caught.value.problem.startswith("cannot be written: ")


def test_batches_in_a_bucket_are_merged_and_deleted(
    bucket: fs.FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "FAN_OUT", 3)
    monkeypatch.setattr(compaction, "DELAY", timedelta(hours=-1))
    for name in "abcd":
        add(name, name)
    assert [(batch.first, batch.sequence) for batch in store.batches(STORE)] == [(1, 3), (4, 4)]
    found = store.open_store(STORE)
    assert (found.superseded, dict(found.uncommitted)) == ((), {})
    assert written() == [*"abcd"]
    assert store.positions(STORE) == {name: (name, 0) for name in "abcd"}


def test_without_locks_two_compactions_do_the_same(
    bucket: fs.FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module(store.commit.__module__), "is_due", lambda found: False)
    monkeypatch.setattr(compaction, "FAN_OUT", 2)
    for name in "abcd":
        add(name, name)
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(compaction.compact, STORE) for _ in range(2)]
        assert max(one.result().made for one in both) == 1
    assert written() == [*"abcd"]
    compaction.compact(STORE, timedelta(hours=-1))
    assert len(store.batches(STORE)) == 1
    assert written() == [*"abcd"]


def test_a_log_in_a_bucket_is_forgotten(bucket: fs.FileSystem) -> None:
    for name in "abc":
        add(name, name)
    forget(STORE, ["b"])
    assert written() == ["a", "c"]
    assert sorted(store.positions(STORE)) == ["a", "c"]


def test_a_backup_goes_to_a_bucket_and_comes_back(bucket: fs.FileSystem, tmp_path: Path) -> None:
    add("a", "x", "y")
    local, again = str(tmp_path / "backup"), "s3a://lineage/backup"
    assert back_up(STORE, local).batches == 1
    assert back_up(local, again).files > 0
    assert back_up(STORE, again).files == 0
    assert store.read(again) == store.read(local) == store.read(STORE)
    with pytest.raises(GraftError, match="is the store, is in it or holds it"):
        back_up(STORE, "s3a://lineage/team")


def test_a_bucket_of_an_earlier_format_keeps_a_copy(bucket: fs.FileSystem, tmp_path: Path) -> None:
    zipfile.ZipFile(FORMAT_1).extractall(tmp_path)
    fs.copy_files(str(tmp_path / "store"), "lineage/team/store", destination_filesystem=bucket)
    before = store.read(STORE)
    add("anew", "anew")
    assert {batch.format for batch in store.batches(STORE)} == {FORMAT}
    after = store.read(STORE)
    assert {*after.accesses} >= {*before.accesses}
    assert store.read(f"{STORE}/copies/format-1") == before
