"""Positions of logs that are to be read again, and why."""

from __future__ import annotations

from dbt_graft.collectors.files import is_named
from dbt_graft.collectors.source import (
    LogSource,
    changed_settings,
    is_below,
    is_stale,
    position_before,
    settings_digest,
    settings_of,
    to_read_again,
)
from tests.cases import for_each


def source(label: str, settings: str) -> LogSource:
    return LogSource(lambda known, *_: [], lambda spark, known, reading: None, label, settings)


@for_each(
    "origin, label, below",
    [
        ("logs/a", "logs", True),
        ("logs/a", "logs/", True),
        ("logs", "logs", True),
        ("logs2/a", "logs", False),
        ("declared:lineage#a.yml", "declared:lineage", True),
        ("mssql://crm/s@12", "mssql://crm/s", True),
    ],
)
def test_an_origin_is_below_the_label_of_its_source(origin: str, label: str, below: bool) -> None:
    assert is_below(origin, label) is below


@for_each(
    "stored, sources, changed",
    [
        ({"a/1": "x"}, [source("a", "x")], set()),
        ({"a/1": "x", "a/2": "y", "b/1": "x"}, [source("a", "y"), source("b", "x")], {"a/1"}),
        # Format 1 did not note them, and declared lineage has none.
        ({"a/1": ""}, [source("a", "x")], set()),
        # Nobody reads it any more: it stays as it is.
        ({"gone/1": "x"}, [source("a", "y")], set()),
        # Two sources over one folder: another one beside it changes nothing.
        ({"a/1": "x"}, [source("a", "x"), source("a", "y")], set()),
        ({"a/1": "x,y"}, [source("a", "x")], {"a/1"}),
        ({"a/b/1": "x,y"}, [source("a", "x"), source("a/b", "y")], set()),
    ],
)
def test_logs_read_with_other_settings_are_known(
    stored: dict[str, str], sources: list[LogSource], changed: set[str]
) -> None:
    assert changed_settings(stored, sources) == changed
    now = {origin: settings_of(origin, sources) for origin in stored}
    assert changed_settings(now, sources) == set(), "once they are read again, nothing is left"


def test_a_log_to_read_again_has_another_position_than_any_log() -> None:
    known = {"a/1": ("7@8", 3), "b/1": ("9@9", 1)}
    again = to_read_again(known, {"a/1"}.__contains__)
    assert again["b/1"] == ("9@9", 1)
    assert is_stale(again["a/1"][0])
    assert not is_stale("7@8")
    assert position_before(again["a/1"][0]) == "7@8"


def test_a_digest_differs_with_each_setting_and_shows_none() -> None:
    digests = {
        settings_digest({"task": task, "noise": noise})
        for task in ("etl::(?P<task>.+)", "(?P<task>.+)")
        for noise in ((), ("secret",))
    }
    assert len(digests) == 4
    assert "secret" not in repr(digests)


@for_each(
    "origin, path, expected",
    [
        ("logs/a.xel", "logs", True),
        ("logs/a.xel", "logs/", True),
        ("logs/2026/a.xel", "logs/", True),
        ("logs/a.xel", "logs/a.xel", True),
        ("logs/a.jsonl@1048576#dbt", "logs/a.jsonl", True),
        ("logs2/a.xel", "logs", False),
        ("logs/xe/a.xel", "logs/ol", False),
        ("logs/a.xel", "logs/*.xel", True),
        ("logs/a.jsonl@1048576#dbt", "logs/*.jsonl", True),
        ("logs/a.json", "logs/*.xel", False),
        ("logs/x/a.json", "logs/*.json", False),
        ("logs/x/a.json", "logs/*/", True),
        ("logs/x/y/a.json", "logs/**/*.json", True),
        ("mssql://sql01:1433#lineage", "mssql://sql01:1433", True),
        ("mssql://sql01:1433", "mssql://sql01:1433", True),
        ("mssql://sql02:1433", "mssql://sql01:1433", False),
        ("s3://bucket/logs/app-1", "s3://bucket/logs/app-*", True),
        ("s3://bucket/other/app-1", "s3://bucket/logs", False),
    ],
)
def test_a_path_names_the_logs_that_it_means(origin: str, path: str, expected: bool) -> None:
    assert is_named(origin, path) is expected
