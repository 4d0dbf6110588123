"""The state of a store changes with what its readers see, and with nothing else."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.arrow_tables import tables
from dbt_graft.collectors.store.state import store_state
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import ALL_DATES
from dbt_graft.lineage.recorded_taint import RecordedTaint
from dbt_graft.lineage.records import Dataset, Records
from tests.cases import for_each

NOW = datetime(2026, 11, 1, tzinfo=UTC)
ORDERS = DatasetId("spark", "raw.orders")


def commit(place: Path, origin: str) -> None:
    records = Records(datasets=(Dataset(ORDERS, origin=origin),))
    store.commit(str(place), [tables(records, {origin: "read"})])


def taint(place: Path) -> None:
    one = RecordedTaint(1, NOW, NOW, ORDERS, ALL_DATES, "load", "", "wrong", "", {}, ())
    store.write_taint(str(place), one)


def other_time(place: Path) -> None:
    [file] = (place / "datasets").rglob("*.parquet")
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(content)


@for_each(
    "change, is_other",
    [
        (lambda place: commit(place, "b"), True),
        (lambda place: store.fold_store(str(place), few=0), True),
        (taint, True),
        (other_time, True),
        (lambda place: store.write_addresses(str(place), ()), False),
        (lambda place: (place / "datasets/batch_id=unfinished").mkdir(), False),
        (lambda place: (place / ".writing.lock").write_text("1"), False),
        (lambda _: None, False),
    ],
)
def test_the_state_changes(
    tmp_path: Path, change: Callable[[Path], object], *, is_other: bool
) -> None:
    commit(tmp_path, "a")
    before = store_state(str(tmp_path))
    change(tmp_path)
    assert (store_state(str(tmp_path)) != before) is is_other


def test_a_store_that_is_not_there_has_a_state(tmp_path: Path) -> None:
    assert store_state(str(tmp_path / "none")) == store_state(str(tmp_path / "none"))


def test_a_damaged_store_has_another(tmp_path: Path) -> None:
    commit(tmp_path, "a")
    before = store_state(str(tmp_path))
    [file] = (tmp_path / "datasets").rglob("*.parquet")
    file.unlink()
    assert store_state(str(tmp_path)) != before
