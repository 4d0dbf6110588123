"""Purging a store: what readers find but for single runs is what it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path
from random import Random

import pytest

from dbt_graft.collectors.store import compaction
from dbt_graft.collectors.store.backup import back_up
from dbt_graft.collectors.store.batches import open_store
from dbt_graft.collectors.store.compaction import compact
from dbt_graft.collectors.store.daily import daily_history
from dbt_graft.collectors.store.fold.write import fold_store
from dbt_graft.collectors.store.forget import forget
from dbt_graft.collectors.store.logs import is_closed, last_logs, values
from dbt_graft.collectors.store.positions import positions
from dbt_graft.collectors.store.purge import Purge, purge
from dbt_graft.collectors.store.read import read
from dbt_graft.collectors.store.selected import read_selected
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.names import NameRules
from dbt_graft.lineage.records import Records
from tests.cases import for_each
from tests.collectors.store.fold.test_write import commit_batch, hourly
from tests.lineage.fold.test_runs import NEWEST, counted
from tests.lineage.histories import START, chance, history, joined_records, together


def closed(store: Path) -> set[str]:
    rows = last_logs(open_store(str(store)))
    return set(values(rows.filter(is_closed(rows)), "origin"))


def last_time(batch: Mapping[str, Records]) -> datetime:
    return max(
        (
            access.last_at
            for record in batch.values()
            for access in record.accesses
            if access.last_at
        ),
        default=START,
    )


def grow(store: Path, random: Random, seed: int, variant: str) -> list[dict[str, Records]]:
    """Commit, fold, compact and purge; the batches, without logs that were closed before."""
    count: list[dict[str, Records]] = []
    for batch in history(seed, rare=variant == "rare", events=variant == "events").batches:
        done = closed(store) if count else set()
        count.append({origin: one for origin, one in batch.items() if origin not in done})
        commit_batch(store, batch)
        if random.random() < 0.3:
            fold_store(str(store), few=1, newest=NEWEST, before=last_time(batch))
        if random.random() < 0.4:
            purge(str(store), last_time(batch) - timedelta(days=random.randint(0, 9)))
        if random.random() < 0.2:
            compact(str(store), timedelta(seconds=-1))
    return count


@for_each("seed, variant", product(range(4), ["plain", "rare", "events"]), quick=3)
def test_a_purged_store_says_what_all_its_runs_said(
    tmp_path: Path, seed: int, variant: str
) -> None:
    batches = grow(tmp_path, chance(seed), 2000 + seed, variant)
    whole = build(together(batches))
    assert counted(build(read(str(tmp_path)))) == counted(whole)
    assert counted(build(read(str(tmp_path), folded=False))) == counted(whole)


def fill(store: Path, first: int = 0, count: int = 100) -> None:
    for batch in hourly(first, count).batches:
        commit_batch(store, batch)


def at(hours: int) -> datetime:
    return START + timedelta(hours=hours)


def days(store: Path) -> object:
    return daily_history(str(store), NameRules())


@pytest.mark.parametrize("folds", [False, True])
def test_figures_by_day_stay(tmp_path: Path, *, folds: bool) -> None:
    fill(tmp_path)
    if folds:
        fold_store(str(tmp_path), few=1, newest=NEWEST)
    before = days(tmp_path)
    done = purge(str(tmp_path), at(60))
    assert (done.logs, done.runs) == (60, 60)
    assert 0 < done.left < 10
    assert days(tmp_path) == before
    fold_store(str(tmp_path), few=0, newest=NEWEST, before=at(60))
    assert days(tmp_path) == before


def test_a_dry_run_counts_and_changes_nothing(tmp_path: Path) -> None:
    fill(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    counted = purge(str(tmp_path), at(60), dry_run=True)
    assert sorted(tmp_path.rglob("*")) == before
    assert purge(str(tmp_path), at(60)) == counted
    assert purge(str(tmp_path), at(60)) == Purge()


def test_a_closed_log_keeps_its_position_and_counts_once(tmp_path: Path) -> None:
    fill(tmp_path)
    known = positions(str(tmp_path))
    purge(str(tmp_path), at(60))
    assert positions(str(tmp_path)) == known
    before = counted(build(read(str(tmp_path))))
    committed = commit_batch(tmp_path, hourly(0, 10).batches[0])
    assert committed
    assert committed.closed == tuple(f"log/{number}" for number in range(10))
    assert counted(build(read(str(tmp_path)))) == before
    compact(str(tmp_path), timedelta(seconds=-1))
    assert counted(build(read(str(tmp_path)))) == before


def test_a_log_with_a_newer_run_stays_as_it_is(tmp_path: Path) -> None:
    [old, *others] = hourly(0, 20).batches
    joined = joined_records([*old.values(), *others[0].values()])
    one_log = replace(
        joined,
        runs=tuple(replace(run, origin="log") for run in joined.runs),
        accesses=tuple(replace(access, origin="log") for access in joined.accesses),
    )
    commit_batch(tmp_path, {"log": one_log})
    assert purge(str(tmp_path), at(15)) == Purge(open=1)


def test_a_run_that_a_later_batch_shows_too_keeps_its_log_open(tmp_path: Path) -> None:
    [first, *others] = hourly(0, 100).batches
    commit_batch(tmp_path, first)
    again = replace(
        first["log/3"],
        runs=tuple(replace(run, origin="other") for run in first["log/3"].runs),
        accesses=tuple(
            replace(access, origin="other", first_at=at(99), last_at=at(99))
            for access in first["log/3"].accesses
        ),
    )
    for batch in (*others, {"other": again}):
        commit_batch(tmp_path, batch)
    assert purge(str(tmp_path), at(10)).logs == 9
    assert "log/3" not in closed(tmp_path)


def test_nothing_is_left_of_a_forgotten_source_that_was_closed(tmp_path: Path) -> None:
    fill(tmp_path)
    purge(str(tmp_path), at(60))
    forget(str(tmp_path), {f"log/{number}" for number in range(100)})
    lineage = build(read(str(tmp_path)))
    assert not lineage.tasks
    assert not lineage.datasets


def test_a_purge_that_is_killed_has_changed_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path)
    before = read(str(tmp_path), folded=False)

    def killed(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(compaction, "put_record", killed)
    with pytest.raises(KeyboardInterrupt):
        purge(str(tmp_path), at(60))
    monkeypatch.undo()
    assert read(str(tmp_path), folded=False) == before
    purge(str(tmp_path), at(60))
    assert len(read(str(tmp_path), folded=False).runs) < len(before.runs) / 2


def test_tasks_that_are_read_with_each_run_have_what_was_purged_too(tmp_path: Path) -> None:
    fill(tmp_path)
    purge(str(tmp_path), at(60))
    fold_store(str(tmp_path), few=0, newest=NEWEST)
    [task] = {run.task for run in read(str(tmp_path)).runs}
    found = build(read_selected(str(tmp_path), [task])).tasks[task]
    assert found.count(found.runs) == 100


def test_a_purged_store_can_be_backed_up(tmp_path: Path) -> None:
    fill(tmp_path / "store")
    purge(str(tmp_path / "store"), at(60))
    back_up(str(tmp_path / "store"), str(tmp_path / "backup"))
    assert read(str(tmp_path / "backup")) == read(str(tmp_path / "store"))
