"""Backups of a store: whole, small the second time, and a store when they are restored."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from dbt_graft.collectors.store import backup, compaction
from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.backup import back_up
from dbt_graft.collectors.store.compaction import compact
from dbt_graft.lineage.errors import GraftError
from tests.collectors.store.histories import History, answers
from tests.collectors.store.test_compaction import AT_ONCE, logs, written


def test_a_restored_backup_is_the_store(tmp_path: Path) -> None:
    place, target = tmp_path / "store", tmp_path / "backup"
    history = History(place, random.Random(1))  # noqa: S311
    for _ in range(4):
        history.grow()
    store.write_addresses(str(place), [])
    (place / "builds").mkdir()
    (place / "builds/000001.json.zst").write_bytes(b"a build")
    (place / "taints").mkdir()
    (place / "taints/000001.json").write_bytes(b"{}")
    was = answers(place)
    done = back_up(str(place), str(target))
    assert done.batches == 4
    assert answers(target) == was

    shutil.rmtree(place)
    shutil.copytree(target, place)
    assert answers(place) == was
    assert (place / "builds/000001.json.zst").read_bytes() == b"a build"
    assert (place / "taints/000001.json").read_bytes() == b"{}"
    history.grow()
    assert store.damages(str(place)) == {}


def test_a_second_backup_copies_what_is_new_and_removes_what_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "FAN_OUT", 4)
    place, target = tmp_path / "store", tmp_path / "backup"
    logs(place, "a", "b", "c")
    first = back_up(str(place), str(target))
    assert back_up(str(place), str(target)).files == 0
    logs(place, "d")
    compact(str(place), AT_ONCE)
    second = back_up(str(place), str(target))
    assert 0 < second.files < first.files
    assert written(target) == ["a", "b", "c", "d"]
    assert len([*target.glob("*/batch_id=*")]) == 3
    assert not [*target.glob("**/.*.new")]


def test_a_backup_goes_on_where_compaction_deletes_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "FAN_OUT", 64)
    place, target = tmp_path / "store", tmp_path / "backup"
    logs(place, "a", "b")
    copy = backup._copy

    def after_a_compaction(*args: object, **named: object) -> list[int]:
        monkeypatch.setattr(backup, "_copy", copy)
        monkeypatch.setattr(compaction, "FAN_OUT", 2)
        compact(str(place), AT_ONCE)
        return copy(*args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(backup, "_copy", after_a_compaction)
    assert back_up(str(place), str(target)).batches == 1
    assert written(target) == ["a", "b"]


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("others", "has files that belong to no backup of graft's, such as notes.txt"),
        ("store/copies", "is the store, is in it or holds it"),
        (".", "is the store, is in it or holds it"),
        ("others/notes.txt", "is a file"),
    ],
)
def test_a_folder_of_others_is_refused(tmp_path: Path, target: str, problem: str) -> None:
    logs(tmp_path / "store", "a")
    (tmp_path / "others").mkdir()
    (tmp_path / "others/notes.txt").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(GraftError, match=problem):
        back_up(str(tmp_path / "store"), str(tmp_path / target))
    assert sorted(tmp_path.rglob("*")) == before


def test_an_empty_and_a_damaged_store_are_not_backed_up(tmp_path: Path) -> None:
    place, target = tmp_path / "store", tmp_path / "backup"
    with pytest.raises(GraftError, match="there is nothing to back up"):
        back_up(str(place), str(target))
    logs(place, "a")
    shutil.rmtree(place / "accesses")
    with pytest.raises(GraftError, match="is damaged"):
        back_up(str(place), str(target))
    assert not target.exists()
