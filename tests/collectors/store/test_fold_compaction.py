"""Folds beside compaction and forgotten logs: readers find what the batches say."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from dbt_graft.collectors.store import compaction
from dbt_graft.collectors.store.batches import open_store
from dbt_graft.collectors.store.compaction import compact
from dbt_graft.collectors.store.fold.read import read_folded
from dbt_graft.collectors.store.fold.tables import FOLDS
from dbt_graft.collectors.store.fold.write import fold_store
from dbt_graft.collectors.store.forget import forget, stored_origins
from dbt_graft.collectors.store.read import read
from dbt_graft.lineage.building.build import build
from tests.cases import for_each
from tests.collectors.store.fold.test_write import commit_batch
from tests.collectors.store.test_compaction import AT_ONCE
from tests.lineage.fold.test_runs import NEWEST, said
from tests.lineage.histories import chance, history


def _said_by_both(store: Path) -> None:
    place = str(store)
    assert said(build(read(place))) == said(build(read(place, folded=False)))


def _change(store: Path, random: Random) -> None:
    """Fold, compact, or forget a log."""
    what = random.random()
    if what < 0.4:
        fold_store(str(store), few=1, newest=NEWEST)
    elif what < 0.7:
        compact(str(store), AT_ONCE)
    elif what < 0.8:
        forget(str(store), [random.choice(stored_origins(str(store)))])


@for_each("seed", range(8), quick=2)
def test_compacted_and_forgotten_logs_are_read_as_without_a_fold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(compaction, "FAN_OUT", 2)
    random = chance(seed)
    for batch in history(2000 + seed, rare=seed % 2 == 1).batches:
        commit_batch(tmp_path, batch)
        _change(tmp_path, random)
        if random.random() < 0.3:
            _said_by_both(tmp_path)
    _said_by_both(tmp_path)


def test_compaction_leaves_the_newest_fold_of_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "FAN_OUT", 2)
    batches = history(40).batches
    for number, batch in enumerate(batches):
        commit_batch(tmp_path, batch)
        if number == 4:
            fold_store(str(tmp_path), few=0, newest=NEWEST)
    compact(str(tmp_path), AT_ONCE)
    store = open_store(str(tmp_path))
    assert len(store.batches) < len(batches)
    assert read_folded(store) is not None


def test_nothing_of_a_forgotten_log_is_left_in_a_fold(tmp_path: Path) -> None:
    commit_batch(tmp_path, history(3).batches[0])
    fold_store(str(tmp_path), few=0, newest=NEWEST)
    forget(str(tmp_path), stored_origins(str(tmp_path))[:1])
    assert not [*(tmp_path / FOLDS).iterdir()]
