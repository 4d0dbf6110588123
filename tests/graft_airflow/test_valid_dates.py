"""The dates that a sensor waits for, against those that may be used."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from graft_airflow.valid_dates import missing_from, wanted_range
from tests.cases import for_each

VALID = [["2026-10-01", "2026-10-05"], ["2026-10-06T04:00", None]]


@for_each(
    "text, missing",
    [
        ("2026-10-01", None),
        ("2026-10-01..2026-10-04", None),
        ("2026-10-01..2026-10-05", "2026-10-05"),
        ("2026-10-05", "2026-10-05"),
        ("2026-10-06", "2026-10-06"),
        ("2026-10-06T04", None),
        ("2026-10-06T03", "2026-10-06T03:00"),
        ("2026-10-07", None),
        ("2026-11", None),
        ("2026-10", "2026-10-05"),
        ("2026-10-02T00:00:00", None),
    ],
)
def test_the_first_date_that_may_not_be_used_is_named(text: str, missing: str | None) -> None:
    wanted = datetime.fromisoformat(missing).replace(tzinfo=UTC) if missing else None

    assert missing_from(*wanted_range(text), VALID) == wanted


@pytest.mark.parametrize("text", ["", "soon", "2026-13", "2026-10-05..2026-10-01", "2026-10-1"])
def test_what_is_no_date_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"2026-10-03|not a date"):
        wanted_range(text)


@for_each("valid", [None, "x", [], [["2026-10-01"]], [[1, 2]], [["a", "b"]]])
def test_a_damaged_file_has_no_valid_dates(valid: object) -> None:
    start, end = wanted_range("2026-10-01")

    assert missing_from(start, end, valid) == start


def test_dates_that_may_be_partial_close_gaps_if_they_count() -> None:
    unsure = [["2026-10-05", "2026-10-06T04:00"]]

    assert missing_from(*wanted_range("2026-10"), VALID, unsure) is None
