"""A lease on a store that has no locks; a folder stands for the bucket."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dbt_graft.collectors.store import lock
from dbt_graft.lineage.errors import GraftError


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "PAUSE", 0.001)


def announcements(folder: Path) -> list[Path]:
    return [*folder.glob(".committing-*")]


def test_of_many_at_once_one_holds_the_store(tmp_path: Path) -> None:
    most: list[int] = []
    holding: set[int] = set()

    def commit(number: int) -> None:
        with lock.hold_lease(tmp_path.as_uri()):
            holding.add(number)
            most.append(len(holding))
            holding.discard(number)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(commit, range(40)))
    assert most == [1] * 40
    assert announcements(tmp_path) == []


def test_a_machine_that_died_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "LEASE", 0.2)
    (tmp_path / ".committing-dead").touch()
    with lock.hold_lease(tmp_path.as_uri()):
        assert [path.name for path in announcements(tmp_path)] != [".committing-dead"]
    assert announcements(tmp_path) == []


def _late(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "LEASE", 0)


def _given_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in announcements(folder):
        path.unlink()


@pytest.mark.parametrize("lose", [_late, _given_up])
def test_who_lost_the_store_is_refused_the_last_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lose: Callable[..., None]
) -> None:
    with lock.hold_lease(tmp_path.as_uri()) as ensure_held:
        ensure_held()
        lose(tmp_path, monkeypatch)
        with pytest.raises(GraftError, match="another machine may hold the store now"):
            ensure_held()
