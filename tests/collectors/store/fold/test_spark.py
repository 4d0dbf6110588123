"""Folding a store on Spark: the same lineage, and the same figures by day."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from dbt_graft.collectors.store.batches import open_store
from dbt_graft.collectors.store.fold.spark import folding_on
from dbt_graft.collectors.store.fold.tables import FOLD_TABLES, fold_tables, stored_folds
from dbt_graft.collectors.store.fold.write import fold_store
from dbt_graft.collectors.store.purge import purge
from dbt_graft.collectors.store.read import read
from dbt_graft.lineage.building.build import build
from tests.collectors.store.fold.test_write import commit_batch
from tests.collectors.store.test_purge import last_time
from tests.lineage.fold.test_runs import NEWEST, said
from tests.lineage.histories import chance, history

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

MORE = pytest.mark.exhaustive


def tables_of(place: str) -> dict[str, list[str]]:
    """The rows of the newest fold; their order is that of workers."""
    store = open_store(place)
    fold = stored_folds(store)[0]
    return {
        name: sorted({*map(repr, pa.concat_tables(fold_tables(store, fold, name)).to_pylist())})
        for name in FOLD_TABLES
    }


def fold_both_and_compare(here: Path, there: Path, spark: SparkSession) -> None:
    """Fold a store in this process, and a copy of it on Spark."""
    copytree(here, there)
    assert fold_store(str(here), few=1, newest=NEWEST)
    place = str(there)
    assert fold_store(place, few=1, many=0, on_spark=folding_on(spark, NEWEST))
    folded_here, folded_there = tables_of(str(here)), tables_of(place)
    for name in sorted(FOLD_TABLES):
        assert folded_there[name] == folded_here[name], name
    assert said(build(read(place))) == said(build(read(place, folded=False)))


@pytest.mark.exhaustive
@pytest.mark.parametrize("variant", ["plain", "rare", "events"])
def test_spark_folds_a_store_as_one_process_does(
    tmp_path: Path, spark: SparkSession, variant: str
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    found = history(12, rare=variant == "rare", events=variant == "events")
    for batch in found.batches:
        commit_batch(here, batch)
    fold_both_and_compare(here, there, spark)


@pytest.mark.parametrize(
    "variant", [pytest.param("plain", marks=MORE), pytest.param("rare", marks=MORE), "events"]
)
def test_spark_folds_a_purged_store_as_one_process_does(
    tmp_path: Path, spark: SparkSession, variant: str
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    random, found = chance(3), history(14, rare=variant == "rare", events=variant == "events")
    for batch in found.batches:
        commit_batch(here, batch)
        if random.random() < 0.4:
            purge(str(here), last_time(batch))
    fold_both_and_compare(here, there, spark)
