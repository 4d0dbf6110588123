"""The newest results of each node are read and stay, however many batches there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pytest

from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.arrow_tables import table, tables
from dbt_graft.collectors.store.errors import StoreError
from dbt_graft.collectors.store.tables import ReadLog
from dbt_graft.lineage.records import NodeResult, Records, Status

START = datetime(2026, 1, 1, tzinfo=UTC)
MODEL, RARE, TEST = "model.shop.orders", "model.shop.rare", "test.shop.unique.1"


def invocation(
    number: int, *nodes: str, at: int | None = None, status: Status = Status.OK
) -> store.Collected:
    """An hour's results of some nodes, and the file that they were in."""
    origin = f"dbt:target#i{number}"
    results = [
        NodeResult(
            node_id=node,
            invocation_id=f"i{number}",
            status=status,
            started_at=START + timedelta(hours=number if at is None else at),
            origin=origin,
        )
        for node in nodes
    ]
    logs = [
        ReadLog(origin, "p", len(results)),
        ReadLog("dbt:target/run_results.json", str(number)),
    ]
    return tables(
        Records(), {}, node_results=table(NodeResult, results), origins=table(ReadLog, logs)
    )


@pytest.fixture
def folds_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten batches are few, not forty."""
    monkeypatch.setattr(import_module(store.fold_results.__module__), "_MOST_BATCHES", 10)


def commit(place: str, numbers: Sequence[int], *nodes: str, rare: int | None = None) -> None:
    """Commit the invocations with these numbers, three in a batch; one has a node more."""
    for first in range(0, len(numbers), 3):
        batch = numbers[first : first + 3]
        store.commit(place, [invocation(n, *nodes, *([RARE] if n == rare else [])) for n in batch])


def shown(place: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for result in store.read(place, results=True).node_results:
        found.setdefault(result.node_id, []).append(result.invocation_id)
    return found


def files(place: str) -> int:
    last = store.batches(place)[-1]
    return sum(file.table == "node_results" for file in last.files)


def test_the_newest_of_a_node_are_read_and_of_a_test_only_the_last(tmp_path: Path) -> None:
    place = str(tmp_path / "store")
    commit(place, range(35), MODEL, TEST, rare=3)
    assert shown(place) == {
        MODEL: [f"i{number}" for number in range(34, 4, -1)],
        RARE: ["i3"],
        TEST: ["i34"],
    }


def test_of_a_test_that_dbt_skipped_the_result_before_is_read(tmp_path: Path) -> None:
    place = str(tmp_path / "store")
    store.commit(place, [invocation(1, MODEL, TEST)])
    store.commit(place, [invocation(2, MODEL, TEST, RARE, status=Status.UNKNOWN)])
    assert shown(place) == {MODEL: ["i2", "i1"], RARE: ["i2"], TEST: ["i1"]}


def test_results_are_read_only_on_request(tmp_path: Path) -> None:
    place = str(tmp_path / "store")
    store.commit(place, [invocation(1, MODEL)])
    assert store.read(place).node_results == ()


def test_old_invocations_that_are_collected_late_are_not_the_newest(tmp_path: Path) -> None:
    place = str(tmp_path / "store")
    for number, at in ((1, 9), (2, 3), (3, 6)):
        store.commit(place, [invocation(number, MODEL, at=at)])
    assert shown(place) == {MODEL: ["i1", "i3", "i2"]}


@pytest.mark.usefixtures("folds_early")
def test_folding_changes_nothing_that_is_read(tmp_path: Path) -> None:
    place = str(tmp_path / "store")
    assert not store.fold_results(place)
    commit(place, range(45), MODEL, TEST, rare=3)
    before, positions = shown(place), store.positions(place)
    assert store.fold_results(place)
    assert not store.fold_results(place), "there is one file now"
    assert shown(place) == before
    assert {key: position[0] for key, position in store.positions(place).items()} == {
        key: position[0] for key, position in positions.items()
    }, "nothing is read again"
    assert files(place) == 1

    commit(place, range(45, 90), MODEL)
    assert store.fold_results(place)
    assert shown(place) == {
        MODEL: [f"i{number}" for number in range(89, 59, -1)],
        RARE: ["i3"],
        TEST: ["i44"],
    }


@pytest.mark.usefixtures("folds_early")
def test_an_invocation_that_is_read_again_replaces_what_was_folded(tmp_path: Path) -> None:
    place = str(tmp_path / "store")
    commit(place, range(45), MODEL)
    assert store.fold_results(place)
    store.commit(place, [invocation(44, RARE)])
    assert shown(place)[MODEL][0] == "i43"
    assert shown(place)[RARE] == ["i44"]


def test_a_batch_has_no_files_without_rows(tmp_path: Path) -> None:
    place = str(tmp_path / "store")
    store.commit(place, [invocation(1, MODEL)])
    [batch] = store.batches(place)
    assert {file.table for file in batch.files} == {"node_results", "origins"}


def test_a_status_of_a_later_version_is_an_error(tmp_path: Path) -> None:
    place = str(tmp_path / "store")
    part = invocation(1, MODEL)
    assert isinstance(part.node_results, pa.Table)
    rows = part.node_results
    at = rows.column_names.index("status")
    later = rows.set_column(at, "status", pa.array(["reborn"]))
    store.commit(place, [replace(part, node_results=later)])
    with pytest.raises(StoreError, match="does not know"):
        store.read(place, results=True)
