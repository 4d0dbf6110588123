"""Compaction: readers find the same before and after, and nothing is lost however it ends."""

from __future__ import annotations

import os
import random
import shutil
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dbt_graft.collectors.store import arrow_tables, compaction, lock
from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.batches import OpenStore, open_store
from dbt_graft.collectors.store.commit import record_batch
from dbt_graft.collectors.store.compaction import compact, due_blocks
from dbt_graft.collectors.store.errors import StoreError
from dbt_graft.file_lock import Hold
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Records
from tests.cases import for_each
from tests.collectors.store.histories import History, answers, shapes_in_use

AT_ONCE = timedelta(seconds=-1)


@pytest.fixture
def by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commits do not compact by themselves."""
    monkeypatch.setattr(sys.modules[store.commit.__module__], "is_due", lambda found: False)


@pytest.mark.usefixtures("by_hand")
@for_each("seed", range(10), quick=2)
def test_readers_find_the_same_as_in_a_store_that_was_never_compacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311
    monkeypatch.setattr(compaction, "FAN_OUT", chance.choice([2, 3, 4]))
    plain, compacted = tmp_path / "plain", tmp_path / "compacted"
    history = History(compacted, chance)
    for _ in range(chance.randrange(4, 10)):
        history.grow()
        if chance.random() < 0.1:
            history.damage()
        _follow(compacted, plain)
        if chance.random() < 0.4:
            compact(str(compacted), chance.choice([AT_ONCE, timedelta(hours=1)]))
            assert answers(compacted) == answers(plain)
    compact(str(compacted), AT_ONCE)
    assert answers(compacted) == answers(plain)
    assert shapes_in_use(compacted) == shapes_in_use(plain)
    assert not due_blocks(store.open_store(str(compacted)))
    assert store.damages(str(compacted)) == {}


def _follow(source: Path, plain: Path) -> None:
    """Copy the batches that are new and were not merged of others; lose what was lost."""
    found = store.open_store(str(source))
    merged = {batch.batch_id for batch in (*found.batches, *found.superseded) if batch.replaces}
    for folder in source.glob("*/batch_id=*"):
        if folder.name.removeprefix("batch_id=") not in merged:
            shutil.copytree(folder, plain / folder.relative_to(source), dirs_exist_ok=True)
    for folder in plain.glob("batches/batch_id=*"):
        if not (source / folder.relative_to(plain)).exists():
            continue
        for table in plain.glob(f"*/{folder.name}"):
            if not (source / table.relative_to(plain)).exists():
                shutil.rmtree(table)


def logs(place: Path, *names: str) -> None:
    """Commit a batch for each log, in which a task writes a table of its name."""
    for name in names:
        access = Access(
            *("load", f"{name}-run", DatasetId("db", name), Kind.TABLE),
            *(Direction.WRITE, Operation.INSERT, "shape"),
            origin=name,
        )
        store.commit(str(place), [arrow_tables.tables(Records((access,)), {name: name})])


def written(place: Path) -> list[str]:
    return sorted(access.dataset.name for access in store.read(str(place)).accesses)


NAMES = [f"log-{n:03}" for n in range(300)]


def test_many_commits_leave_few_batches_and_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "FAN_OUT", 3)
    monkeypatch.setattr(compaction, "DELAY", AT_ONCE)
    most = 0
    for name in NAMES[:32]:
        logs(tmp_path, name)
        most = max(most, len(store.batches(str(tmp_path))))
    assert most <= 3 * 3
    assert [(batch.first, batch.sequence) for batch in store.batches(str(tmp_path))] == [
        (1, 27),
        (28, 30),
        (31, 31),
        (32, 32),
    ]
    assert len([*tmp_path.glob("*/batch_id=*")]) <= 3 * (most + 3)
    assert written(tmp_path) == NAMES[:32]


@pytest.mark.usefixtures("by_hand")
def test_a_first_compaction_of_many_batches_writes_each_row_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "FAN_OUT", 2)
    logs(tmp_path, *NAMES[:11])
    done = compact(str(tmp_path))
    assert (done.merged, done.made, done.waiting, done.counting) == (10, 2, 10, 3)
    assert compact(str(tmp_path)).merged == 0


@pytest.mark.usefixtures("by_hand")
def test_a_block_that_is_large_stays_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "FAN_OUT", 4)
    logs(tmp_path, *NAMES[:8])
    monkeypatch.setattr(compaction, "MOST_BYTES", 10)
    assert compact(str(tmp_path)).made == 0


@pytest.mark.usefixtures("by_hand")
def test_what_was_merged_is_deleted_an_hour_later_by_the_stores_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "FAN_OUT", 2)
    logs(tmp_path, "a", "b")
    assert compact(str(tmp_path)).waiting == 2
    assert compact(str(tmp_path)).deleted == 0
    [record] = [path for path in tmp_path.glob("batches/*/*.parquet") if _is_merged(path)]
    ago = record.stat().st_mtime - 3601
    os.utime(record, (ago, ago))
    done = compact(str(tmp_path))
    assert (done.deleted, done.waiting) == (2, 0)
    assert len([*tmp_path.glob("*/batch_id=*")]) == 3
    assert written(tmp_path) == ["a", "b"]


def _is_merged(record: Path) -> bool:
    [row] = pq.read_table(record).to_pylist()
    return bool(row["replaces"])


@pytest.mark.usefixtures("by_hand")
def test_a_reader_that_began_before_opens_the_store_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "FAN_OUT", 2)
    logs(tmp_path, "a", "b")
    opened = store.open_store(str(tmp_path))
    compact(str(tmp_path), AT_ONCE)
    module = sys.modules[store.read.__module__]
    stores = [opened]

    def first_the_old(place: str, without: tuple[str, ...] = ()) -> OpenStore:
        return stores.pop() if stores else open_store(place, without)

    monkeypatch.setattr(module, "open_store", first_the_old)
    assert written(tmp_path) == ["a", "b"]
    assert not stores


@pytest.mark.usefixtures("by_hand")
def test_two_compactions_at_once_change_nothing_for_readers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "FAN_OUT", 2)
    logs(tmp_path, *NAMES[:4])
    found = store.open_store(str(tmp_path))
    [block] = compaction.due_blocks(found)
    for _ in range(2):  # as where no lock is: both found the same
        compaction.replace_batches(found, block, hold=Hold.HELD)
    assert len(store.batches(str(tmp_path))) == 2
    assert written(tmp_path) == NAMES[:4]
    _, was_done = compaction.replace_batches(found, block, hold=Hold.NONE)
    assert not was_done, "the third one notices"
    assert not store.open_store(str(tmp_path)).uncommitted
    compact(str(tmp_path), AT_ONCE)
    assert len(store.batches(str(tmp_path))) == 1
    assert written(tmp_path) == NAMES[:4]


@pytest.mark.usefixtures("by_hand")
def test_a_batch_that_a_merged_one_does_not_list_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without locks two collects may take the same place, and one of them come late."""
    monkeypatch.setattr(compaction, "FAN_OUT", 2)
    logs(tmp_path, "a", "b")
    before = store.open_store(str(tmp_path))
    compact(str(tmp_path), AT_ONCE)
    late = [{"origin": "late", "position": "1", "events": 0, "noise": 0}]
    record_batch(replace(before, last_sequence=1), "0late", late, ())
    assert sorted(store.positions(str(tmp_path))) == ["a", "b", "late"]
    compact(str(tmp_path), AT_ONCE)
    assert len(store.batches(str(tmp_path))) == 1
    assert sorted(store.positions(str(tmp_path))) == ["a", "b", "late"]


@pytest.mark.usefixtures("by_hand")
def test_a_damaged_batch_stops_compaction_and_costs_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "FAN_OUT", 2)
    logs(tmp_path, "a", "b")
    [first, _] = store.batches(str(tmp_path))
    [path] = (tmp_path / "accesses" / f"batch_id={first.batch_id}").iterdir()
    content = path.read_bytes()
    path.write_bytes(content[:4] + b"\xff" * (len(content) - 40) + content[-36:])
    with pytest.raises(StoreError):
        compact(str(tmp_path))
    assert len(store.batches(str(tmp_path))) == 2
    assert sorted(store.positions(str(tmp_path))) == ["a", "b"]


@pytest.mark.usefixtures("by_hand")
def test_a_missing_merged_batch_is_one_range_of_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "FAN_OUT", 4)
    logs(tmp_path, *NAMES[:10])
    compact(str(tmp_path), AT_ONCE)
    [first, *_] = store.batches(str(tmp_path))
    shutil.rmtree(tmp_path / f"batches/batch_id={first.batch_id}")
    assert [*store.damages(str(tmp_path))] == ["#1-4"]
    with pytest.raises(StoreError, match="batches #1-4 are missing"):
        store.positions(str(tmp_path))
    record_batch(open_store(str(tmp_path), ["#1-4"]), "0anew", [], ["#1-4"])
    assert written(tmp_path) == NAMES[4:10]


@pytest.mark.usefixtures("by_hand")
def test_while_the_merged_are_there_a_damaged_batch_in_their_place_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "FAN_OUT", 4)
    logs(tmp_path, *NAMES[:4])
    compact(str(tmp_path))
    [merged] = store.batches(str(tmp_path))
    shutil.rmtree(tmp_path / f"accesses/batch_id={merged.batch_id}")
    damaged = store.damages(str(tmp_path))
    assert [*damaged] == [merged.batch_id]
    found = store.read(str(tmp_path), without=tuple(damaged))
    assert len(found.accesses) == 4


def test_a_commit_does_not_wait_for_a_compaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "FAN_OUT", 2)
    with lock.compacting(str(tmp_path), wait=False) as mine:
        assert mine is Hold.HELD
        logs(tmp_path, "a", "b")
        assert len(store.batches(str(tmp_path))) == 2
        with lock.compacting(str(tmp_path), wait=False) as other:
            assert other is Hold.BUSY
    logs(tmp_path, "c")
    assert len(store.batches(str(tmp_path))) == 2
    with lock.compacting("s3a://bucket/store", wait=True) as nobody:
        assert nobody is Hold.NONE
