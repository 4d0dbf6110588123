"""Figures by day: the same for a store that is folded and one that is not."""

from __future__ import annotations

from pathlib import Path

from dbt_graft.collectors.store.daily import daily_history
from dbt_graft.collectors.store.fold.write import fold_store
from dbt_graft.lineage.dataset import DatasetId
from tests.collectors.store.fold.test_write import commit_batch
from tests.lineage.fold.test_runs import NEWEST
from tests.lineage.histories import history


def same(dataset: DatasetId) -> DatasetId:
    return dataset


def test_a_folded_store_has_the_figures_of_its_batches(tmp_path: Path) -> None:
    for batch in history(12).batches:
        commit_batch(tmp_path, batch)
    before = daily_history(str(tmp_path), same)
    assert fold_store(str(tmp_path), few=1, newest=NEWEST)
    assert daily_history(str(tmp_path), same) == before
    assert sum(day.runs for days in before.tasks.values() for day in days) > 50


def test_datasets_with_one_name_are_one(tmp_path: Path) -> None:
    for batch in history(12).batches:
        commit_batch(tmp_path, batch)
    one = DatasetId("spark", "all")
    apart = daily_history(str(tmp_path), same).datasets
    together = daily_history(str(tmp_path), lambda dataset: one).datasets
    assert sum(day.rows for days in apart.values() for day in days) == sum(
        day.rows for day in together[one]
    )
