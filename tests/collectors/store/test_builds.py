"""Names that the last builds published, in the store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dbt_graft.analysis.history.changes import (
    BUILDS,
    BuildHistory,
    PublishedDataset,
    PublishedNames,
    update_history,
)
from dbt_graft.collectors.store import door as store
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Column

AT = datetime(2026, 11, 20, 8, 30, tzinfo=UTC)
ORDERS, MART = DatasetId("spark", "raw.Orders"), DatasetId("file", "/über/\u202emart")
NAMES = PublishedNames(
    (
        PublishedDataset(MART),
        PublishedDataset(ORDERS, "promoted", (Column("id", "int"), Column("Größe"))),
    ),
    ("load", "report"),
    ((ORDERS, MART), (MART, "report")),
)


def test_a_history_is_read_as_it_was_written(tmp_path: Path) -> None:
    place = str(tmp_path / "store")
    assert store.build_history(place) == BuildHistory()
    first = update_history(BuildHistory(), NAMES, {}, AT)
    store.write_build_history(place, first)
    assert store.build_history(place) == first
    second = update_history(first, PublishedNames(tasks=("load",)), {}, AT + timedelta(days=1))
    store.write_build_history(place, second)
    assert store.build_history(place) == second
    assert len(second.builds[0].changes) == 5


def test_the_same_build_again_replaces_its_file(tmp_path: Path) -> None:
    history = update_history(BuildHistory(), NAMES, {}, AT)
    store.write_build_history(str(tmp_path), history)
    other = update_history(
        history, PublishedNames(NAMES.datasets, NAMES.tasks, NAMES.edges), {}, AT
    )
    store.write_build_history(str(tmp_path), other)
    assert [file.name for file in (tmp_path / "builds").iterdir()] == ["000001.json.zst"]


def test_old_builds_are_removed(tmp_path: Path) -> None:
    history = BuildHistory()
    for number in range(BUILDS + 3):
        names = PublishedNames(tasks=(f"task_{number}",))
        history = update_history(history, names, {}, AT + timedelta(hours=number))
        store.write_build_history(str(tmp_path), history)
    assert store.build_history(str(tmp_path)) == history
    there = sorted(file.name for file in (tmp_path / "builds").iterdir())
    assert (len(there), there[0]) == (BUILDS, "000004.json.zst")


def test_they_are_no_batch(tmp_path: Path) -> None:
    store.write_build_history(str(tmp_path), update_history(BuildHistory(), NAMES, {}, AT))
    assert store.batches(str(tmp_path)) == ()
    assert store.damages(str(tmp_path)) == store.damages(str(tmp_path / "none"))


@pytest.mark.parametrize("content", [b"", b"no zstd", b"\x28\xb5\x2f\xfd\x04\x00\x01\x00\x00"])
def test_a_damaged_file_is_a_clear_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "builds").mkdir()
    (tmp_path / "builds" / "000007.json.zst").write_bytes(content)
    with pytest.raises(store.StoreError) as caught:
        store.build_history(str(tmp_path))
    assert str(caught.value) == (
        f"{tmp_path}/builds/000007.json.zst: the names that a build published cannot be read\n"
        "  restore the file from a backup, or delete it: only what changed then is lost"
    )
