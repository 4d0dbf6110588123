"""The positions of those logs that a source lists."""

from __future__ import annotations

from pathlib import Path

from dbt_graft.collectors.store import arrow_tables
from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.positions import StoredPositions, of_logs, other_settings
from dbt_graft.lineage.records import Records
from tests.cases import for_each

LOGS = {
    "logs/a.xel": "1",
    "logs/a.xel@512": "2",
    "logs/a.xel@512#dbt": "3",
    "logs/ab.xel": "4",
    "logs/me@home#1/b.xel": "5",
    "logs/me@home#1/b.xel@9": "6",
    "sql01/lineage@": "7",
    "sql01/lineage@/var/opt/mssql/log/x_0.xel:512": "8",
    "https://server/app/1": "9",
    "https://server/app/1/events.compact": "10",
    "dbt:target#4f1c/sources": "11",
}


def committed(place: Path, logs: dict[str, str], settings: str = "") -> str:
    tables = arrow_tables.tables(Records(), logs)
    assert store.commit(str(place), [tables], settings=lambda origin: settings)
    return str(place)


@for_each(
    "log, found",
    [
        ("logs/a.xel", {"1", "2", "3"}),
        ("logs/ab.xel", {"4"}),
        ("logs/me@home#1/b.xel", {"5", "6"}),
        ("sql01/lineage", {"7", "8"}),
        ("https://server/app/1", {"9", "10"}),
        ("dbt:target", {"11"}),
        ("logs/c.xel", set()),
    ],
)
def test_a_log_comes_with_its_parts(tmp_path: Path, log: str, found: set[str]) -> None:
    positions = StoredPositions(committed(tmp_path / "store", LOGS))
    assert {position for position, _ in positions.of([log]).values()} == found


def test_as_a_mapping_it_has_all_of_them(tmp_path: Path) -> None:
    positions = StoredPositions(committed(tmp_path / "store", LOGS))
    assert dict(positions) == store.positions(str(tmp_path / "store"))
    assert len(positions) == len(LOGS)
    assert "logs/c.xel" not in positions


def test_what_was_asked_for_stays_as_it_was(tmp_path: Path) -> None:
    place = committed(tmp_path / "store", {"a": "1"})
    positions = StoredPositions(place)
    assert positions["a"][0] == "1"
    committed(Path(place), {"a": "2", "b": "1"})
    assert (positions["a"][0], positions["b"][0]) == ("1", "1")


def test_a_mapping_in_memory_is_taken_as_it_is() -> None:
    assert of_logs({"a": ("1", 1)}, ["b"]) == {"a": ("1", 1)}


@for_each(
    "settings, found",
    [
        ([("logs", "x")], {}),
        ([("logs", "y")], {"logs/1": "x", "logs#1": "x", "logs@1": "x"}),
        ([("log", "y")], {}),
        ([("logs", "x"), ("logs", "y")], {"logs/1": "x", "logs#1": "x", "logs@1": "x"}),
        ([("other", "y")], {"other": "x"}),
        ([], {}),
    ],
)
def test_logs_with_other_settings_than_their_source(
    tmp_path: Path, settings: list[tuple[str, str]], found: dict[str, str]
) -> None:
    logs = dict.fromkeys(["logs/1", "logs#1", "logs@1", "other"], "1")
    place = committed(tmp_path / "store", logs, "x")
    committed(tmp_path / "store", {"logs/none": "1"})
    assert other_settings(place, settings) == found


def test_only_the_last_settings_count(tmp_path: Path) -> None:
    place = committed(tmp_path / "store", {"logs/1": "1"}, "x")
    committed(tmp_path / "store", {"logs/1": "1"}, "y")
    assert other_settings(place, [("logs", "y")]) == {}
