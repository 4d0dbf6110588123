"""Taking the texts of old statements out of a store."""

from __future__ import annotations

import os
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest

from dbt_graft.collectors.store.batches import open_store
from dbt_graft.collectors.store.compaction import compact
from dbt_graft.collectors.store.fold.write import fold_store
from dbt_graft.collectors.store.read import read
from dbt_graft.collectors.store.retention import drop_statements, old_statements
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Direction,
    Outcome,
    Records,
    Run,
    Shape,
    Status,
)
from tests.collectors.store.fold.test_write import commit_batch
from tests.lineage.histories import START

SECRET = "select 'of 2024'"


def used(shape: str, day: int, operation: Operation = Operation.INSERT) -> dict[str, Records]:
    """A run that uses a statement, in a log of its own."""
    at, run_id = START + timedelta(days=day), f"{shape}-{day}"
    access = Access(
        *("load", run_id, DatasetId("spark", "dm.x"), Kind.TABLE, Direction.WRITE, operation),
        *(shape,),
        first_at=at,
        last_at=at,
        origin=run_id,
    )
    run = Run(run_id, "load", "spark", at, at, Status.OK, origin=run_id)
    text = Shape(shape, "spark", f"{SECRET} {shape}", "1", Outcome.PARSED)
    return {run_id: Records(accesses=(access,), runs=(run,), shapes={shape: text})}


def texts(store: Path, *, folded: bool = True) -> dict[str, str]:
    return {one: shape.text for one, shape in read(str(store), folded=folded).shapes.items()}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Statements `old`, `new`, and `both`, used on days 0 and 99, and a view."""
    for batch in (
        *(used("old", 0), used("both", 1), used("view", 0, Operation.CREATE_VIEW)),
        *(used("both", 99), used("new", 99)),
    ):
        commit_batch(tmp_path, batch)
    return tmp_path


@pytest.mark.parametrize("folds", [False, True])
@pytest.mark.parametrize("merges", [False, True])
def test_texts_of_statements_go_that_no_run_used_since(
    store: Path, *, folds: bool, merges: bool
) -> None:
    if merges:
        for day in range(11):
            commit_batch(store, used("new", 100 + day))
        compact(str(store))
    if folds:
        fold_store(str(store), few=1, newest=1)
    assert drop_statements(str(store), START + timedelta(days=50)) == 1
    for folded in (False, True):
        assert texts(store, folded=folded) == {
            "old": "",
            **{one: f"{SECRET} {one}" for one in ("both", "new", "view")},
        }
    assert drop_statements(str(store), START + timedelta(days=50)) == 0


def test_no_file_of_the_store_has_a_text_that_went(store: Path) -> None:
    fold_store(str(store), few=1, newest=1)
    drop_statements(str(store), START + timedelta(days=50))
    compact(str(store), timedelta(seconds=-1))
    files = [
        path for path in store.rglob("*.parquet") if f"{SECRET} old".encode() in path.read_bytes()
    ]
    assert not files


def test_a_statement_that_is_used_again_has_its_text_again(store: Path) -> None:
    drop_statements(str(store), START + timedelta(days=50))
    commit_batch(store, used("old", 120))
    assert texts(store)["old"] == f"{SECRET} old"


def test_a_statement_that_no_access_names_is_as_old_as_its_batch(store: Path) -> None:
    failed = Shape("failed", "tsql", "selct 1", "1", Outcome.FAILED)
    commit_batch(store, {"log": Records(shapes={"failed": failed})})
    assert old_statements(open_store(str(store)), START + timedelta(days=50)) == {"old"}
    assert "failed" in old_statements(
        open_store(str(store)), open_store(str(store)).batches[-1].committed_at + timedelta(1)
    )


def test_a_copy_of_before_an_upgrade_goes_when_all_in_it_is_older(tmp_path: Path) -> None:
    with zipfile.ZipFile(Path(__file__).parent / "format_1.zip") as archive:
        archive.extractall(tmp_path)
    store = tmp_path / "store"
    commit_batch(store, used("new", 99))
    [copy] = (store / "copies").iterdir()
    drop_statements(str(store), START - timedelta(days=9999))
    assert copy.exists()
    for path in copy.rglob("*"):
        os.utime(path, (0, 0))
    drop_statements(str(store), START - timedelta(days=9999))
    assert not copy.exists()
