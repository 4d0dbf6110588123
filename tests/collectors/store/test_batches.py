"""Batches: their order, their files, and what is made of a damaged store. No Spark is needed."""

from __future__ import annotations

import os
import shutil
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbt_graft.collectors import schema
from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.batches import batches, damages, open_store
from dbt_graft.collectors.store.commit import (
    commit,
    record_batch,
    sweep,
)
from dbt_graft.collectors.store.errors import StoreError
from dbt_graft.collectors.store.tables import FORMAT, TABLES
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Access, Run
from tests import notation
from tests.account import nobody

FORMAT_1 = Path(__file__).with_name("format_1.zip")


def access(origin: str, table: str) -> Access:
    known = {"run_id": f"{origin}-run", "shape_id": "shape", "origin": origin}
    return notation.access("INSERT", DatasetId("db", table), **known)


def write(place: Path, origin: str, table: str, batch_id: str) -> None:
    """The data of a batch with one log in which a task writes a table, not committed."""
    rows = {
        "accesses": [access(origin, table)],
        "runs": [Run(f"{origin}-run", "load", "spark", origin=origin)],
    }
    for name, row in rows.items():
        folder = place / name / f"batch_id={batch_id}"
        folder.mkdir(parents=True)
        data = pa.Table.from_batches([schema.batch(TABLES[name], row)])
        pq.write_table(data, folder / "part-0.parquet")


def add(
    place: Path, origin: str, table: str, batch_id: str, *, without: tuple[str, ...] = ()
) -> None:
    """A batch with one log in which a task writes a table."""
    write(place, origin, table, batch_id)
    listed = [{"origin": origin, "position": table, "events": 1, "noise": 0}]
    record_batch(open_store(str(place), without), batch_id, listed, without)


def written(place: Path) -> list[str]:
    return sorted(access.dataset.name for access in store.read(str(place)).accesses)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A store of three batches; the names of the later ones sort before those of the earlier."""
    place = tmp_path / "store"
    for origin, table, batch_id in (("a", "x", "c"), ("b", "y", "b"), ("c", "z", "a")):
        add(place, origin, table, batch_id)
    return place


def test_the_sequence_orders_batches_and_no_clock_or_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Tomorrow(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Tomorrow:
            return cls.fromtimestamp(time.time() + 86_400 * 400, tz)

    with monkeypatch.context() as ahead:
        ahead.setattr(sys.modules[record_batch.__module__], "datetime", Tomorrow)
        add(tmp_path, "log", "old", "zzz")
    add(tmp_path, "log", "new", "aaa")
    assert written(tmp_path) == ["new"]
    assert store.positions(str(tmp_path)) == {"log": ("new", 1)}
    [first, second] = batches(str(tmp_path))
    assert first.committed_at > second.committed_at
    assert (first.sequence, second.sequence) == (1, 2)


def test_a_store_of_format_1_is_read_and_added_to(tmp_path: Path) -> None:
    zipfile.ZipFile(FORMAT_1).extractall(tmp_path)
    place = tmp_path / "store"
    before = store.read(str(place))
    assert len(store.positions(str(place))) == 6
    assert {run.engine for run in before.runs} == {"spark", "sqlserver"}
    # Later formats have these.
    of_orchestrators = attrgetter("job", "url", "attempt", "nominal_start", "nominal_end")
    assert {of_orchestrators(run) for run in before.runs} == {(None,) * 5}
    assert (before.task_metadata, before.dataset_metadata) == ((), ())
    assert store.open_sessions(str(place), "mssql://sql01:1433") != []
    assert store.collected_at(str(place)) == datetime(2026, 11, 22, 19, 1, 43, 879484, UTC)
    add(place, "events/app-a", "anew", "0")
    after = store.read(str(place))
    assert len(after.runs) == len(before.runs)
    assert {one.dataset.name for one in after.accesses if one.origin == "events/app-a"} == {"anew"}


def _gone(table: str) -> Callable[[Path], object]:
    return lambda place: shutil.rmtree(place / table)


def _cut(pattern: str) -> Callable[[Path], object]:
    def cut(place: Path) -> None:
        [*_, path] = sorted(place.glob(pattern))
        path.write_bytes(path.read_bytes()[:-40])

    return cut


def _flipped(pattern: str) -> Callable[[Path], object]:
    """Same size, other bytes."""

    def flip(place: Path) -> None:
        [*_, path] = sorted(place.glob(pattern))
        content = path.read_bytes()
        path.write_bytes(content[:4] + b"\xff" * (len(content) - 40) + content[-36:])

    return flip


def _without_record(place: Path) -> None:
    shutil.rmtree(place / "batches/batch_id=b")


def _nothing_but_data(place: Path) -> None:
    (place / "batches/batch_id=c/batch.parquet").write_bytes(b"")


DAMAGES: list[tuple[Callable[[Path], object], str]] = [
    (_gone("accesses"), "accesses/batch_id=c/part-0.parquet is missing"),
    (_gone("origins"), "origins/batch_id=c/part-0.parquet is missing"),
    (_gone("runs/batch_id=a"), "runs/batch_id=a/part-0.parquet is missing"),
    (_cut("accesses/*/*.parquet"), "accesses/batch_id=c/part-0.parquet has "),
    (_cut("origins/*/*.parquet"), "origins/batch_id=c/part-0.parquet has "),
    (_cut("batches/*/*.parquet"), "batch.parquet is not a complete Parquet file"),
    (_flipped("accesses/*/*.parquet"), "part-0.parquet"),
    (_without_record, "batch #2 is missing"),
    (_nothing_but_data, "batch.parquet is not a complete Parquet file"),
]


@pytest.mark.parametrize(("damage", "problem"), DAMAGES)
def test_a_damaged_store_is_an_error_that_offers_the_way_back(
    stored: Path, damage: Callable[[Path], object], problem: str
) -> None:
    damage(stored)
    with pytest.raises(StoreError) as caught:
        store.read(str(stored))
    assert problem in str(caught.value)
    assert "restore the store from a backup" in str(caught.value)
    assert "graft collect --again" in str(caught.value)

    damaged = damages(str(stored))
    assert damaged
    add(stored, "d", "anew", "d", without=tuple(damaged))
    assert "anew" in written(stored), "reading on without what is damaged"
    assert damages(str(stored)) == {}


@pytest.mark.parametrize(
    "stray",
    [
        "notes.txt",
        "accesses/notes.txt",
        "accesses/batch_id=a/notes.txt",
        "accesses/batch_id=a/._part-0.parquet",
        "accesses/batch_id=a/part-0 (copy).parquet",
        "accesses/batch_id=never/part-0.parquet",
        "batches/notes.parquet",
        "batches/batch_id=never/.batch.parquet.new",
        "own/batch_id=x/part-0.parquet",
    ],
)
def test_files_that_no_batch_lists_are_not_read(stored: Path, stray: str) -> None:
    path = stored / stray
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"PAR1 and no more")
    assert written(stored) == ["x", "y", "z"]


@pytest.mark.parametrize("table", ["accesses", "shapes", "batches"])
def test_of_format_1_damage_is_named_too(tmp_path: Path, table: str) -> None:
    zipfile.ZipFile(FORMAT_1).extractall(tmp_path)
    place = tmp_path / "store"
    [first, _] = sorted((place / table).iterdir())
    for path in first.glob("*.parquet"):
        path.unlink()
    with pytest.raises(StoreError, match=f"{table}/{first.name} is missing"):
        store.positions(str(place))
    assert [*damages(str(place))] == [first.name.removeprefix("batch_id=")]


def _rewritten(path: Path, **values: object) -> None:
    [row] = pq.read_table(path).to_pylist()
    pq.write_table(pa.Table.from_pylist([row | values]), path)


def test_what_a_newer_version_wrote_is_a_clear_error(stored: Path) -> None:
    record = stored / "batches/batch_id=a/batch.parquet"
    _rewritten(record, format=99, version="9.0.0", colour="red")
    with pytest.raises(StoreError) as caught:
        store.positions(str(stored))
    assert str(caught.value) == (
        f"{stored}: the lineage store was written by a newer dbt-graft (9.0.0): its format is 99, "
        f"and this version reads up to {FORMAT}\n"
        "  install the version of dbt-graft that wrote it, or a later one"
    )


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"colour": "red"}, "has columns that this version does not know: colour"),
        ({"operation": "TELEPORT"}, "a value that this version does not know: 'TELEPORT'"),
    ],
)
def test_an_unknown_column_or_value_is_a_clear_error(
    stored: Path, values: dict[str, str], problem: str
) -> None:
    shutil.rmtree(stored / "batches/batch_id=a")
    path = stored / "accesses/batch_id=a/part-0.parquet"
    _rewritten(path, **values)
    found = open_store(str(stored))
    record_batch(found, "a", [{"origin": "c", "position": "", "events": 0, "noise": 0}], ())
    with pytest.raises(StoreError, match=problem):
        store.read(str(stored))


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
@pytest.mark.parametrize("below", ["accesses", "accesses/batch_id=a/part-0.parquet", "."])
def test_a_store_that_may_not_be_read_says_so(stored: Path, below: str) -> None:
    store.read(str(stored))  # imports what another account may not
    for folder in (stored, *stored.parents[:3]):
        folder.chmod(0o755)
    (stored / below).chmod(0)
    with nobody(), pytest.raises(StoreError, match="cannot be read: Permission denied"):
        store.read(str(stored))
    (stored / below).chmod(0o755)


def test_leftovers_are_swept_unless_somebody_may_still_write_them(stored: Path) -> None:
    write(stored, "d", "w", "dead")
    leftover = stored / "accesses/batch_id=dead"
    (stored / "accesses/own").mkdir()
    listed = [{"origin": "e", "position": "1", "events": 0, "noise": 0}]
    sweep(open_store(str(stored)))
    assert leftover.exists()
    long_ago = time.time() - timedelta(days=3).total_seconds()
    for path in (leftover, *leftover.iterdir()):
        os.utime(path, (long_ago, long_ago))
    sweep(open_store(str(stored)))
    assert not leftover.exists()
    assert (stored / "runs/batch_id=dead").exists()
    assert (stored / "accesses/own").exists(), "somebody else's"
    record_batch(open_store(str(stored)), "e", listed, ())
    assert written(stored) == ["x", "y", "z"]


def test_a_name_of_the_store_is_not_its_place(stored: Path) -> None:
    moved = stored.rename(stored.with_name("moved"))
    assert written(moved) == ["x", "y", "z"]
    assert commit(str(moved), []) is None
    assert replace(open_store(str(moved)), place="").last_sequence == 3
