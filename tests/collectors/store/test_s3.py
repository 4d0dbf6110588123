"""A store in a bucket, on a server with S3's API. No Spark is needed."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from importlib import import_module

import pytest
from pyarrow import fs

from dbt_graft.collectors import store
from dbt_graft.collectors.store import StoreError, arrow_tables
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Records

pytestmark = pytest.mark.slow
STORE = "s3a://lineage/team/store"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A server that speaks as S3 does; its address."""
    from moto.moto_server.threaded_moto_server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    host, port = moto.get_host_and_port()
    yield f"http://{host}:{port}"
    moto.stop()


@pytest.fixture
def bucket(server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[fs.FileSystem]:
    """An empty bucket `lineage`, for which the environment holds the keys."""
    for name, value in {
        "AWS_ENDPOINT_URL": server,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "hunter2",
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": "127.0.0.1",
    }.items():
        monkeypatch.setenv(name, value)
    files = fs.S3FileSystem(
        endpoint_override=server, allow_bucket_creation=True, allow_bucket_deletion=True
    )
    files.create_dir("lineage")
    yield files
    files.delete_dir("lineage")


def add(origin: str, *tables: str, known: store.Positions | None = None) -> None:
    """Commit a log in which a task writes tables."""
    accesses = [
        Access(
            *("load", f"{origin}-run", DatasetId("db", table), Kind.TABLE),
            *(Direction.WRITE, Operation.INSERT, "shape"),
            origin=origin,
        )
        for table in tables
    ]
    records = arrow_tables.tables(Records(tuple(accesses)), {origin: tables[-1]})
    damaged = tuple(store.damages(STORE))
    store.commit(STORE, [records], known, give_up=damaged)


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
    known = store.positions(STORE)
    add("a", "x", known=known)
    add("a", "y", known=store.positions(STORE))
    with pytest.raises(GraftError, match="a: was read by another collect meanwhile"):
        add("a", "z", known={"a": ("x", 0)})
    assert store.open_store(STORE).uncommitted, "no lock tells that nobody writes"
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
        (_overwritten, "is no complete Parquet file"),
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
    add("b", "z")
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
            "  let `store` in graft.yml name a folder or bucket that this account can read"
        )
    assert written() == ["x"]


def test_a_bucket_that_does_not_exist_is_an_error(server: str, bucket: fs.FileSystem) -> None:
    records = arrow_tables.tables(Records(), {"a": "1"})
    with pytest.raises(GraftError) as caught:
        store.commit("s3a://nowhere/store", [records])
    assert caught.value.place == "s3a://nowhere/store"
    assert caught.value.problem.startswith("cannot be written: ")
