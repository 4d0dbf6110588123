"""States of dates by hand: what is there for certain, and what may lack something."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dbt_graft.analysis.dates.entity_states import EntityState, entity_states
from dbt_graft.lineage.dates.calendar import ALL_DATES
from dbt_graft.lineage.dates.date_text import dates_text, parse_dates
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.declared_dates import DeclaredDates
from tests.analysis.dates.histories import history, table
from tests.cases import for_each

LOADS = tuple(f"load: _ > INSERT_OVERWRITE a[{day}]" for day in (3, 4, 5))
DECLARED = DeclaredDates(Grain.DAY, reads={table("a"): (0, 0)})


def shown(lines: Sequence[str], declared: DeclaredDates | None = None) -> dict[str, str]:
    """State -> dates of table b."""
    found = history(*lines, declared={table("b"): declared} if declared else None)
    by_state = entity_states(found, table("b")).dates_by_state(ALL_DATES)
    states = (EntityState.PARTIAL, EntityState.UNSURE, EntityState.COMPLETED)
    return {state.value: dates_text(by_state[state]) for state in states if by_state[state]}


@pytest.mark.parametrize(
    ("lines", "declared", "expected"),
    [
        pytest.param(
            (*LOADS, "copy: a > INSERT_OVERWRITE b[3]"),
            None,
            {"unsure": "3 Oct 2026"},
            id="what reads all dates may lack some",
        ),
        pytest.param(
            (*LOADS, "copy: a > INSERT_OVERWRITE b[3]"),
            DECLARED,
            {"completed": "3 Oct 2026"},
            id="a declared mapping decides",
        ),
        pytest.param(
            (*LOADS, "copy: a[3..4] > INSERT_OVERWRITE b[4]"),
            None,
            {"completed": "4 Oct 2026"},
            id="so does what a run asked for",
        ),
        pytest.param(
            (*LOADS, "copy: a[5..6] > INSERT_OVERWRITE b[6]"),
            None,
            {"unsure": "6 Oct 2026"},
            id="if it was there",
        ),
        pytest.param(
            ("copy: x > INSERT_OVERWRITE b[3]",),
            None,
            {"completed": "3 Oct 2026"},
            id="an input without dates lacks none",
        ),
        pytest.param(
            ("copy: _ > INSERT_OVERWRITE b[3]", "copy: _ > INSERT_OVERWRITE b[4]?"),
            None,
            {"unsure": "4 Oct 2026", "completed": "3 Oct 2026"},
            id="a write without an end may lack all",
        ),
        pytest.param(
            ("copy: _ > INSERT_OVERWRITE b[3]", "copy: _ > INSERT_OVERWRITE b[3]?"),
            None,
            {"unsure": "3 Oct 2026"},
            id="and be in the middle of a completed one",
        ),
        pytest.param(
            ("copy: _ > INSERT_OVERWRITE b[3]?", "copy: _ > INSERT_OVERWRITE b[3]"),
            None,
            {"completed": "3 Oct 2026"},
            id="the next one with an end completes it",
        ),
        pytest.param(
            (*LOADS, "load: _ > INSERT_OVERWRITE a[6]?", "copy: a[6] > INSERT_OVERWRITE b[6]"),
            DECLARED,
            {"unsure": "6 Oct 2026"},
            id="so may what was made of it",
        ),
        pytest.param(
            ("copy: _ > INSERT b[3~,4]",),
            None,
            {"unsure": "3 Oct 2026", "completed": "4 Oct 2026"},
            id="a part of a day",
        ),
        pytest.param(
            ("copy: _ > INSERT b[3]", "copy: _ > INSERT b[3~]"),
            None,
            {"completed": "3 Oct 2026"},
            id="rows beside a completed day",
        ),
        pytest.param(
            ("load: _ > INSERT a[3~]", "load: _ > INSERT a[4]", "copy: a[3] > INSERT b[3]"),
            DECLARED,
            {"unsure": "3 Oct 2026"},
            id="what was made of a part of a day",
        ),
        pytest.param(
            ("copy: _ > INSERT b[3..4]", "clear: _ > DELETE b[4~]"),
            None,
            {"unsure": "4 Oct 2026", "completed": "3 Oct 2026"},
            id="rows were deleted",
        ),
        pytest.param(
            ("copy: _ > INSERT b[3]", "clear: _ > DELETE b[3]", "copy: _ > INSERT b[3]"),
            None,
            {"completed": "3 Oct 2026"},
            id="and written again",
        ),
        pytest.param(
            (*LOADS, "copy: a > INSERT_OVERWRITE b[3]", "other: c > INSERT_OVERWRITE b[4]"),
            None,
            {"unsure": "3 Oct 2026", "completed": "4 Oct 2026"},
            id="each task by its own inputs",
        ),
    ],
)
def test_dates_are_completed_where_all_that_they_need_is_known_to_be_there(
    lines: tuple[str, ...], declared: DeclaredDates | None, expected: dict[str, str]
) -> None:
    assert shown(lines, declared) == expected


@for_each(
    "writes, run",
    [
        (("INSERT b[3]", "INSERT b[4]"), "r0"),
        (("INSERT b[3]", "INSERT b[2..4]"), "r1"),
        (("INSERT b[3]", "INSERT b[3]!"), "r0"),
        (("INSERT_OVERWRITE b[3..4]", "INSERT_OVERWRITE b[3]", "INSERT_OVERWRITE b[4]"), "r1"),
        (("INSERT b[3]", "DELETE b[3~]"), "r0"),
    ],
)
def test_a_date_has_the_run_that_wrote_it_last(writes: tuple[str, ...], run: str) -> None:
    past = history(*(f"copy: _ > {write}" for write in writes))
    assert entity_states(past, table("b")).run_of(parse_dates("2026-10-03")) == ("copy", run)
