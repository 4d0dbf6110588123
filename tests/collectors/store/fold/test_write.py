"""Folding a store: readers get the lineage of all batches, whatever comes later."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dbt_graft.collectors.store.arrow_tables import tables
from dbt_graft.collectors.store.batches import open_store
from dbt_graft.collectors.store.commit import (
    CommittedBatch,
    commit,
)
from dbt_graft.collectors.store.fold import files
from dbt_graft.collectors.store.fold.read import read_folded
from dbt_graft.collectors.store.fold.tables import FOLDS
from dbt_graft.collectors.store.fold.write import fold_store
from dbt_graft.collectors.store.read import read
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Records, Run, Status
from tests.cases import for_each
from tests.lineage.fold.test_runs import NEWEST, counted, said
from tests.lineage.histories import START, History, chance, history, joined_records


def commit_batch(store: Path, batch: dict[str, Records]) -> CommittedBatch | None:
    records = joined_records(list(batch.values()))
    return commit(str(store), [tables(records, dict.fromkeys(batch, "end"))])


def fill(store: Path, found: History, random: Random) -> int:
    """Commit the batches of a history, and fold them now and then; how often it was folded."""
    folds = 0
    for batch in found.batches:
        commit_batch(store, batch)
        if random.random() < 0.4:
            folds += fold_store(str(store), few=1, newest=NEWEST)
    return folds


@pytest.mark.parametrize("variant", ["plain", "rare", "events"])
@for_each("seed", range(4), quick=1)
def test_a_folded_store_says_what_its_batches_say(tmp_path: Path, variant: str, seed: int) -> None:
    found = history(1000 + seed, rare=variant == "rare", events=variant == "events")
    fill(tmp_path, found, chance(seed))
    folded = build(read(str(tmp_path)))
    assert said(folded) == said(build(read(str(tmp_path), folded=False)))


@pytest.mark.parametrize("variant", ["plain", "rare", "events", "dated"])
@for_each("seed", range(3), quick=1)
def test_without_the_newest_runs_all_is_said_but_older_runs(
    tmp_path: Path, variant: str, seed: int
) -> None:
    found = history(
        4000 + seed,
        rare=variant == "rare",
        events=variant == "events",
        dated=variant == "dated",
    )
    fill(tmp_path, found, chance(seed))
    short = build(read(str(tmp_path), newest=False))
    whole = build(read(str(tmp_path), folded=False))
    assert counted(short) == counted(whole)
    assert last_runs(short) == last_runs(whole)


def last_runs(lineage: Lineage) -> dict[str, Any]:
    """The newest run of each task and usage."""
    return {
        name: [repr(runs[:1]) for runs in (task.runs, *map(task.runs_of, task.usages))]
        for name, task in lineage.tasks.items()
    }


def test_without_the_newest_runs_few_are_read(tmp_path: Path) -> None:
    for batch in hourly(0, 50).batches:
        commit_batch(tmp_path, batch)
    fold_store(str(tmp_path), few=1)
    assert len(read(str(tmp_path)).runs) == 32
    assert len(read(str(tmp_path), newest=False).runs) == 3
    commit_batch(tmp_path, hourly(50, 10).batches[0])
    assert len(read(str(tmp_path), newest=False).runs) == 13


def test_a_fold_without_short_tables_is_read_and_the_next_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for batch in hourly(0, 50).batches:
        commit_batch(tmp_path, batch)
    monkeypatch.setattr(files, "FOLD_FORMAT", 1)
    fold_store(str(tmp_path), few=1)
    monkeypatch.undo()
    assert len(read(str(tmp_path), newest=False).runs) == 32
    commit_batch(tmp_path, hourly(50, 10).batches[0])
    fold_store(str(tmp_path), few=1)
    assert len(read(str(tmp_path), newest=False).runs) == 3


def test_a_run_that_the_short_tables_are_without_is_read_where_it_goes_on(tmp_path: Path) -> None:
    for batch in hourly(0, 50).batches:
        commit_batch(tmp_path, batch)
    fold_store(str(tmp_path), few=1)
    commit_batch(tmp_path, {"log/45": _hour(45, tables=("raw.a", "raw.b"))})
    short, whole = read(str(tmp_path), newest=False), read(str(tmp_path), folded=False)
    assert counted(build(short)) == counted(build(whole))


def test_runs_that_did_the_same_are_read_once(tmp_path: Path) -> None:
    found = history(3)
    assert fill(tmp_path, found, chance(1)) > 0
    fold_store(str(tmp_path), few=0, newest=NEWEST)
    assert read_folded(open_store(str(tmp_path))) is not None
    assert len(read(str(tmp_path)).runs) < len(read(str(tmp_path), folded=False).runs) / 2


def test_a_fold_that_is_not_complete_is_not_read(tmp_path: Path) -> None:
    found = history(3)
    fill(tmp_path, found, chance(1))
    before = read(str(tmp_path), folded=False)
    for path in (tmp_path / FOLDS).glob("*/accesses.parquet"):
        path.write_bytes(path.read_bytes()[:-1])
    assert read(str(tmp_path)) == before


def test_few_new_rows_are_not_folded(tmp_path: Path) -> None:
    commit_batch(tmp_path, history(3).batches[0])
    assert not fold_store(str(tmp_path))
    assert not (tmp_path / FOLDS).exists()


def hourly(first: int, count: int) -> History:
    """Runs of one task, hour by hour, each in a log of its own; ten in a batch."""
    return History(
        [
            {f"log/{number}": _hour(number) for number in range(begin, begin + 10)}
            for begin in range(first, first + count, 10)
        ]
    )


def _hour(number: int, *, log: str = "", tables: tuple[str, ...] = ("raw.a",)) -> Records:
    at = START + timedelta(hours=number)
    origin = log or f"log/{number}"
    run = Run("hour-" + str(number), "load", "spark", at, at, Status.OK, origin=origin)
    accesses = [
        Access(
            *("load", run.run_id, DatasetId("spark", name), Kind.TABLE),
            *(Direction.WRITE, Operation.INSERT, f"insert {name}"),
            rows=number,
            first_at=at,
            last_at=at,
            origin=origin,
        )
        for name in tables
    ]
    return Records(accesses=tuple(accesses), runs=(run,))


@pytest.fixture
def folded(tmp_path: Path) -> Path:
    """A store with fifty runs, folded."""
    for batch in hourly(0, 50).batches:
        commit_batch(tmp_path, batch)
    assert fold_store(str(tmp_path), few=1, newest=NEWEST)
    return tmp_path


def test_of_fifty_equal_runs_the_first_the_last_and_the_newest_stay(folded: Path) -> None:
    records = read(str(folded))
    hours = {run.run_id for run in records.runs}
    assert hours == {"hour-0", "hour-45", "hour-46", "hour-47", "hour-48", "hour-49"}
    [task] = build(records).tasks.values()
    assert (task.run_count, task.usages[0].statements, task.usages[0].rows) == (50, 50, 49)


@pytest.mark.parametrize(
    ("origin", "records", "is_read"),
    [
        pytest.param("log/50", _hour(50), True, id="a new run"),
        pytest.param("log/49", _hour(49, tables=("raw.b",)), True, id="a new run read again"),
        pytest.param("log/7", _hour(7), False, id="an old log read again"),
        pytest.param("late", _hour(7, log="late"), False, id="more of an old run"),
        pytest.param("old", _hour(-5, log="old"), True, id="an old run that comes late"),
    ],
)
def test_a_fold_is_read_unless_a_later_batch_changes_it(
    folded: Path, origin: str, records: Records, *, is_read: bool
) -> None:
    commit_batch(folded, {origin: records})
    assert (read_folded(open_store(str(folded))) is not None) == is_read
    assert said(build(read(str(folded)))) == said(build(read(str(folded), folded=False)))


def test_an_older_fold_is_read_where_the_newest_is_of_no_use(folded: Path) -> None:
    for batch in hourly(50, 50).batches:
        commit_batch(folded, batch)
    assert fold_store(str(folded), few=1, newest=NEWEST)
    commit_batch(folded, {"log/60": _hour(60)})
    batches = read_folded(open_store(str(folded)))
    assert batches is not None
    assert batches.fold is not None
    assert batches.fold.sequence == 5


def test_old_folds_are_removed_but_for_some(tmp_path: Path) -> None:
    for batch in hourly(0, 160).batches:
        commit_batch(tmp_path, batch)
        fold_store(str(tmp_path), few=1, newest=NEWEST)
    assert 3 <= len([*(tmp_path / FOLDS).iterdir()]) <= 8


def test_a_fold_that_goes_while_it_is_read_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for batch in hourly(0, 9).batches:
        commit_batch(tmp_path, batch)
    assert fold_store(str(tmp_path), few=1, newest=NEWEST)
    before = said(build(read(str(tmp_path))))

    def gone(*arguments: object) -> object:
        raise FileNotFoundError

    monkeypatch.setattr(import_module(read_folded.__module__), "fold_tables", gone)
    assert said(build(read(str(tmp_path)))) == before
