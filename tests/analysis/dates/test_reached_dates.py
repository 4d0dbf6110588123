"""Dates downstream that are made of some dates of a table."""

from __future__ import annotations

import pytest

from dbt_graft.analysis.dates.reached_dates import reached_dates
from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.lineage.dates.date_text import parse_dates
from tests.analysis.dates.histories import history, table

ROWS, WRONG = ChangeType.ROWS, ChangeType.DATA_INCORRECT
LOAD, COPY = "load: _ > INSERT_OVERWRITE a[3]", "copy: a[3] > INSERT_OVERWRITE b[3]"
# Three days fit the mapping, a backfill of two does not, as it read a day more.
FITTING = tuple(
    line
    for day in (3, 4, 5)
    for line in (
        f"load: _ > INSERT_OVERWRITE a[{day}]",
        f"copy: a[{day}] > INSERT_OVERWRITE b[{day}]",
    )
)
BACKFILL = "copy: a[8..9] > INSERT_OVERWRITE b[9]"


@pytest.mark.parametrize(
    ("lines", "kind", "dates"),
    [
        pytest.param((LOAD, COPY), ROWS, "3 Oct 2026", id="what read them has them"),
        pytest.param((COPY, LOAD), ROWS, "none so far", id="what read before has none so far"),
        pytest.param(
            (*FITTING, BACKFILL), ROWS, "3 Oct 2026", id="a run that is no rule and read other days"
        ),
        pytest.param((LOAD, COPY, LOAD, COPY), ROWS, "3 Oct 2026", id="each version may change"),
        pytest.param((LOAD, COPY, LOAD, COPY), WRONG, "none so far", id="wrong data is mended"),
        pytest.param((LOAD, COPY, LOAD), WRONG, "3 Oct 2026", id="wrong data is mended in part"),
        pytest.param(("copy: a > INSERT b[3]",), WRONG, "3 Oct 2026", id="no log shows its dates"),
        pytest.param((LOAD, "snap: a > CREATE_TABLE_AS b"), ROWS, "all dates", id="without dates"),
    ],
)
def test_dates_downstream_are_those_that_were_made_of_them(
    lines: tuple[str, ...], kind: ChangeType, dates: str
) -> None:
    reached = reached_dates(history(*lines), table("a"), parse_dates("2026-10-03"), kind)
    assert reached.text(table("b")) == dates


def test_dates_that_are_not_written_yet_are_nowhere() -> None:
    built = history(LOAD, COPY, "snap: a > CREATE_TABLE_AS c")
    reached = reached_dates(built, table("a"), parse_dates("2026-10-04.."), ROWS)
    assert reached.text(table("b"), table("c")) == "none so far"


@pytest.mark.parametrize(
    ("dates", "notes"),
    [
        ("2026-10-03", ()),
        (
            "2026-09-30..2026-10-03",
            (
                "no run before 2026-10-01 is on record: what was made of older dates until then is "
                "not among these dates",
            ),
        ),
    ],
)
def test_what_was_before_the_first_run_is_not_known(dates: str, notes: tuple[str, ...]) -> None:
    reached = reached_dates(history(LOAD, COPY), table("a"), parse_dates(dates), ROWS)
    assert reached.notes == notes
