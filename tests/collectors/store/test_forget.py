"""Logs that are taken out of a store."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from dbt_graft.collectors.store import compaction
from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.batches import open_store
from dbt_graft.collectors.store.compaction import compact
from dbt_graft.collectors.store.forget import count_forgotten, forget, stored_origins
from dbt_graft.collectors.store.origins import origin_states
from tests.cases import for_each
from tests.collectors.store.histories import SERVER, History, answers
from tests.collectors.store.test_compaction import AT_ONCE, logs, written


@for_each("seed", range(4), quick=1)
def test_nothing_is_left_of_a_forgotten_log_and_all_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(compaction, "FAN_OUT", 3)
    history = History(tmp_path, random.Random(seed))  # noqa: S311
    for _ in range(8):
        history.grow()
    before = answers(tmp_path)
    found = count_forgotten(str(tmp_path), ["a"])
    forget(str(tmp_path), ["a"])
    after = answers(tmp_path)
    for name, rows in before["records"].items():
        assert after["records"][name] == tuple(row for row in rows if row.origin != "a")
    for kind in ("positions", "settings", "times"):
        before[kind].pop("a", None)
        assert after[kind] == before[kind]
    assert "a" not in after["runs"].values()
    sessions = store.open_sessions(str(tmp_path), SERVER)
    assert not [row for row in sessions if row["origin"] == "a"]
    assert "a" not in origin_states(open_store(str(tmp_path)))
    assert "a" not in stored_origins(str(tmp_path))
    assert bool(found.rows["runs"]) == bool(found.batches)
    assert not count_forgotten(str(tmp_path), ["a"]).rows

    compact(str(tmp_path), AT_ONCE)
    assert answers(tmp_path) == after
    for path in tmp_path.glob("*/*/*.parquet"):
        assert b"a-0" not in path.read_bytes(), "a run of it"


def test_a_forgotten_log_can_be_read_again(tmp_path: Path) -> None:
    logs(tmp_path, "a", "b")
    forget(str(tmp_path), ["a"])
    assert written(tmp_path) == ["b"]
    assert store.positions(str(tmp_path)) == {"b": ("b", 0)}
    logs(tmp_path, "a")
    assert written(tmp_path) == ["a", "b"]
    forget(str(tmp_path), ["a", "b"])
    assert written(tmp_path) == []
    assert store.damages(str(tmp_path)) == {}


def test_a_compaction_from_the_start_leaves_no_name_of_a_forgotten_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "FAN_OUT", 2)
    logs(tmp_path, "a", "secret", "b")
    forget(str(tmp_path), ["secret"])
    compact(str(tmp_path), AT_ONCE)
    assert len(store.batches(str(tmp_path))) == 1
    assert not [path for path in tmp_path.glob("*/*/*") if b"secret" in path.read_bytes()]
