"""Segments of one session in a row -> runs, texts of handles, what a rollback took back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dbt_graft.collectors.schema import column_names
from dbt_graft.collectors.schema import row as as_row
from dbt_graft.collectors.sqlserver.runs.segment import Segment
from dbt_graft.collectors.sqlserver.runs.segment import SegmentKind as Kind
from dbt_graft.collectors.sqlserver.runs.sessions import run_segments
from tests.cases import for_each

MINUTE = timedelta(minutes=1)
START = datetime(2026, 11, 20, 2, 0, tzinfo=UTC)
Row = dict[str, Any]


def row(kind: Kind, text: str | None = None, at: int = 0, **more: Any) -> Row:
    """A segment, `at` minutes from the start."""
    time = START + at * MINUTE
    times = dict.fromkeys(("started", "first_started", "first_ended", "last_ended"), time)
    known = {"task": "load", "run": "", "session": "51", "undone": False, "ok": True}
    known = {**known, "times": 1, "temporaries": ""}
    return {**known, **times, "kind": kind.value, "text": text, **more}


def statement(text: str, at: int = 0, **more: Any) -> Row:
    return row(Kind.STATEMENT, text, at, **more)


def followed(*rows: Row) -> list[Row]:
    """All segments that come out, those that earlier collects left among the ones that go in."""
    empty = dict.fromkeys([*column_names(Segment), "run_id"])
    complete = [{**empty, **one} for one in rows]
    return [as_row(segment) for segment in run_segments(complete, "mssql://sql01:1433", 3600)]


def runs(*rows: Row) -> list[set[str]]:
    found: dict[str, set[str]] = {}
    for one in followed(*rows):
        if one["kind"] == Kind.STATEMENT:
            found.setdefault(one["run_id"], set()).add(one["text"])
    return list(found.values())


@for_each(
    "rows, expected",
    [
        ([statement("a"), statement("b", 59), statement("c", 118)], [{"a", "b", "c"}]),
        ([statement("a"), statement("b", 61)], [{"a"}, {"b"}]),
        ([statement("a"), statement("b", 90, started=START + 50 * MINUTE)], [{"a", "b"}]),
        ([statement("a"), statement("b", session="52")], [{"a"}, {"b"}]),
        ([statement("a"), row(Kind.ENDED), statement("b", 1)], [{"a"}, {"b"}]),
        (
            [statement("a"), row(Kind.ENDED), statement("b"), statement("c", 1)],
            [{"a", "b", "c"}],
        ),
        ([statement("a"), row(Kind.RESET), statement("b", 1)], [{"a", "b"}]),
        ([statement("a", run="r1"), statement("b", 200, run="r1")], [{"a", "b"}]),
        ([statement("a", run="r1"), statement("b", run="r1", session="52")], [{"a", "b"}]),
        ([statement("a"), statement("b", 1), statement("c", 2, task="other")], [{"a", "b"}, {"c"}]),
    ],
)
def test_runs(rows: list[Row], expected: list[set[str]]) -> None:
    assert runs(*rows) == expected


@for_each(
    "before, expected",
    [
        ([row(Kind.PREPARED, "t", handle=3)], (Kind.STATEMENT, "t")),
        ([row(Kind.PREPARED, "t", handle=4)], (Kind.UNRESOLVED_HANDLE, None)),
        (
            [row(Kind.PREPARED, "t", handle=3), row(Kind.PREPARED, "u", handle=3)],
            (Kind.STATEMENT, "u"),
        ),
        (
            [row(Kind.PREPARED, "t", handle=3), row(Kind.UNPREPARED, handle=3)],
            (Kind.UNRESOLVED_HANDLE, None),
        ),
        (
            [row(Kind.PREPARED, "t", handle=3), row(Kind.RESET)],
            (Kind.UNRESOLVED_HANDLE, None),
        ),
        (
            [row(Kind.PREPARED, "t", handle=3, task="other")],
            (Kind.UNRESOLVED_HANDLE, None),
        ),
    ],
)
def test_a_handle_means_what_was_prepared_last(
    before: list[Row], expected: tuple[Kind, str | None]
) -> None:
    out = followed(*before, row(Kind.EXECUTED, at=5, handle=3))
    ran = [one for one in out if one["kind"] in (Kind.STATEMENT, Kind.UNRESOLVED_HANDLE)]
    assert (ran[-1]["kind"], ran[-1]["text"]) == expected


def test_a_handle_of_noise_is_left_out() -> None:
    out = followed(row(Kind.PREPARED, "", handle=3), row(Kind.EXECUTED, handle=3))
    assert Kind.STATEMENT not in [one["kind"] for one in out]


@pytest.mark.parametrize(
    ("after", "undone"),
    [
        ([row(Kind.ROLLED_BACK)], True),
        ([row(Kind.COMMITTED)], False),
        ([row(Kind.COMMITTED), row(Kind.ROLLED_BACK)], False),
        ([], False),
        ([row(Kind.ROLLED_BACK, session="52")], False),
    ],
)
def test_an_open_transaction_ends_in_a_later_part(after: list[Row], undone: bool) -> None:
    out = followed(statement("a", undone=None), *after)
    assert [one["undone"] for one in out if one["text"] == "a"] == [undone]


def test_a_session_goes_on_in_the_next_collect() -> None:
    first = followed(row(Kind.PREPARED, "t", handle=3), statement("a"))
    left = [one for one in first if one["kind"] != Kind.STATEMENT]
    second = followed(*left, row(Kind.EXECUTED, at=30, handle=3), statement("b", 200))
    run_ids = {
        one["text"]: one["run_id"] for one in (*first, *second) if one["kind"] == Kind.STATEMENT
    }
    assert run_ids["t"] == run_ids["a"] != run_ids["b"]


def test_what_is_left_of_a_session_changes_nothing_where_it_is_read_again() -> None:
    rows = [
        row(Kind.PREPARED, "t", handle=3),
        statement("a"),
        row(Kind.EXECUTED, at=30, handle=3),
    ]
    first = followed(*rows)
    left = [one for one in first if one["kind"] != Kind.STATEMENT]
    again = followed(*sorted([*rows, *left], key=lambda one: one["first_ended"]))
    columns = ("kind", "text", "run_id", "handle", "last_ended")
    assert [[one[key] for key in columns] for one in again] == [
        [one[key] for key in columns] for one in first
    ]
