"""Segments of one session in a row -> runs, texts of handles, what a rollback took back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from dbt_graft.collectors.sqlserver.runs.segment import SCHEMA, SegmentKind
from dbt_graft.collectors.sqlserver.runs.sessions import follow

MINUTE = timedelta(minutes=1)
START = datetime(2026, 11, 20, 2, 0, tzinfo=UTC)
Row = dict[str, Any]


def row(act: SegmentKind, text: str | None = None, at: int = 0, **more: Any) -> Row:
    """A segment, `at` minutes from the start."""
    time = START + at * MINUTE
    times = dict.fromkeys(("started", "first_started", "first_ended", "last_ended"), time)
    known = {"task": "load", "run": "", "session": "51", "undone": False, "ok": True}
    known = {**known, "times": 1, "temporaries": ""}
    return {**known, **times, "act": act.value, "text": text, **more}


def said(text: str, at: int = 0, **more: Any) -> Row:
    return row(SegmentKind.SAID, text, at, **more)


def followed(*rows: Row) -> list[Row]:
    """All rows that come out, those that earlier collects left among the ones that go in."""
    schema = pa.schema([*SCHEMA, pa.field("run_id", pa.string())])
    batches = [pa.RecordBatch.from_pylist([one], schema=schema) for one in rows]
    out = follow("mssql://sql01:1433", 3600)(iter(batches))
    return [one for batch in out for one in batch.to_pylist()]


def runs(*rows: Row) -> list[set[str]]:
    found: dict[str, set[str]] = {}
    for one in followed(*rows):
        if one["act"] == SegmentKind.SAID:
            found.setdefault(one["run_id"], set()).add(one["text"])
    return list(found.values())


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([said("a"), said("b", 59), said("c", 118)], [{"a", "b", "c"}]),
        ([said("a"), said("b", 61)], [{"a"}, {"b"}]),
        ([said("a"), said("b", 90, started=START + 50 * MINUTE)], [{"a", "b"}]),
        ([said("a"), said("b", session="52")], [{"a"}, {"b"}]),
        ([said("a"), row(SegmentKind.ENDED), said("b", 1)], [{"a"}, {"b"}]),
        ([said("a"), row(SegmentKind.ENDED), said("b"), said("c", 1)], [{"a", "b", "c"}]),
        ([said("a"), row(SegmentKind.RESET), said("b", 1)], [{"a", "b"}]),
        ([said("a", run="r1"), said("b", 200, run="r1")], [{"a", "b"}]),
        ([said("a", run="r1"), said("b", run="r1", session="52")], [{"a", "b"}]),
        ([said("a"), said("b", 1), said("c", 2, task="other")], [{"a", "b"}, {"c"}]),
    ],
)
def test_runs(rows: list[Row], expected: list[set[str]]) -> None:
    assert runs(*rows) == expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ([row(SegmentKind.PREPARED, "t", handle=3)], (SegmentKind.SAID, "t")),
        ([row(SegmentKind.PREPARED, "t", handle=4)], (SegmentKind.LOST, None)),
        (
            [row(SegmentKind.PREPARED, "t", handle=3), row(SegmentKind.PREPARED, "u", handle=3)],
            (SegmentKind.SAID, "u"),
        ),
        (
            [row(SegmentKind.PREPARED, "t", handle=3), row(SegmentKind.UNPREPARED, handle=3)],
            (SegmentKind.LOST, None),
        ),
        (
            [row(SegmentKind.PREPARED, "t", handle=3), row(SegmentKind.RESET)],
            (SegmentKind.LOST, None),
        ),
        ([row(SegmentKind.PREPARED, "t", handle=3, task="other")], (SegmentKind.LOST, None)),
    ],
)
def test_a_handle_means_what_was_prepared_last(
    before: list[Row], expected: tuple[SegmentKind, str | None]
) -> None:
    out = followed(*before, row(SegmentKind.EXECUTED, at=5, handle=3))
    ran = [one for one in out if one["act"] in (SegmentKind.SAID, SegmentKind.LOST)]
    assert (ran[-1]["act"], ran[-1]["text"]) == expected


def test_a_handle_of_noise_says_nothing() -> None:
    out = followed(row(SegmentKind.PREPARED, "", handle=3), row(SegmentKind.EXECUTED, handle=3))
    assert SegmentKind.SAID not in [one["act"] for one in out]


@pytest.mark.parametrize(
    ("after", "undone"),
    [
        ([row(SegmentKind.ROLLED_BACK)], True),
        ([row(SegmentKind.COMMITTED)], False),
        ([row(SegmentKind.COMMITTED), row(SegmentKind.ROLLED_BACK)], False),
        ([], False),
        ([row(SegmentKind.ROLLED_BACK, session="52")], False),
    ],
)
def test_an_open_transaction_ends_in_a_later_part(after: list[Row], undone: bool) -> None:
    out = followed(said("a", undone=None), *after)
    assert [one["undone"] for one in out if one["text"] == "a"] == [undone]


def test_a_session_goes_on_in_the_next_collect() -> None:
    first = followed(row(SegmentKind.PREPARED, "t", handle=3), said("a"))
    left = [one for one in first if one["act"] != SegmentKind.SAID]
    second = followed(*left, row(SegmentKind.EXECUTED, at=30, handle=3), said("b", 200))
    run_ids = {
        one["text"]: one["run_id"] for one in (*first, *second) if one["act"] == SegmentKind.SAID
    }
    assert run_ids["t"] == run_ids["a"] != run_ids["b"]


def test_what_is_left_of_a_session_changes_nothing_where_it_is_read_again() -> None:
    rows = [
        row(SegmentKind.PREPARED, "t", handle=3),
        said("a"),
        row(SegmentKind.EXECUTED, at=30, handle=3),
    ]
    first = followed(*rows)
    left = [one for one in first if one["act"] != SegmentKind.SAID]
    again = followed(*sorted([*rows, *left], key=lambda one: one["first_ended"]))
    told = ("act", "text", "run_id", "handle", "last_ended")
    assert [[one[key] for key in told] for one in again] == [
        [one[key] for key in told] for one in first
    ]
