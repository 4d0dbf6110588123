"""The report of a bad run: what is known of it, and the first bad run before it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from dbt_graft.analysis.dates.incident import Incident, bad_run_answer
from dbt_graft.analysis.dates.taint_plan import Rerun, RerunStep, TaintedOutput, TaintPlan
from dbt_graft.analysis.history.bad_streak import BadStreak
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import ALL_DATES
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.records import Run, TaskInfo
from tests.cases import for_each

RUN: dict[str, Any] = {
    "run_id": "app-1",
    "task": "load",
    "status": "ok",
    "error": None,
    "started_at": None,
    "finished_at": None,
    "attempt": None,
    "code": {"version": None, "repo": None, "path": None},
    "owner": None,
    "url": None,
    "quality": {"status": "unchecked", "checks": []},
    "superseded_by": [],
}
CHECK = {"dataset": "spark/dm.x", "test": "unique_id", "status": "failed", "failures": 3}
CHECKS = {"status": "failed", "checks": [CHECK, {**CHECK, "status": "ok"}]}


@for_each(
    "known, facts",
    [
        ({}, {}),
        (
            {"attempt": 2, "started_at": "2026-11-01T05:00:00Z"},
            {"status": "ok, try 2", "time": "2026-11-01 05:00:00"},
        ),
        ({"error": "no t", "url": "https://a.b"}, {"error": "no t", "log": "https://a.b"}),
        ({"code": {"version": "4f", "repo": None, "path": "a"}}, {"code": "4f, a"}),
        ({"owner": "Ann"}, {"owner": "Ann"}),
        ({"quality": CHECKS}, {"tests after it": "1 of 2 failed"}),
    ],
)
def test_the_report_has_what_is_known_of_the_run(
    known: dict[str, Any], facts: dict[str, str]
) -> None:
    answer = bad_run_answer({**RUN, **known}, None, None)
    assert answer.facts == {"status": "ok"} | facts


def test_failed_tests_and_later_runs_are_listed() -> None:
    again = {"task": "load", "run_id": "app-2", "at": "2026-11-02T05:00:00Z"}
    answer = bad_run_answer({**RUN, "quality": CHECKS, "superseded_by": [again]}, None, None)
    failed, later, *_ = answer.tables
    assert failed.rows == [("unique_id", "spark/dm.x", 3)]
    assert later.rows == [("app-2", "load", "2026-11-02 05:00:00")]


@pytest.mark.parametrize(
    ("run_id", "text"),
    [
        ("app-1", "this one"),
        ("app-0", "app-0 at 2026-11-01 05:00, 3 runs up to this one; report that one instead"),
    ],
)
def test_the_first_bad_run_is_named(run_id: str, text: str) -> None:
    first = BadStreak(Run(run_id, "load", "spark", datetime(2026, 11, 1, 5, tzinfo=UTC)), 3)
    answer = bad_run_answer(RUN, first, None)
    assert answer.facts["first bad run"] == text
    assert answer.data["first_bad"] == {"run_id": run_id, "at": "2026-11-01T05:00:00Z", "runs": 3}


OUTPUT = TaintedOutput(DatasetId("db", "a"), ALL_DATES, ALL_DATES, Grain.DAY, {}, ())
RERUN = RerunStep(Rerun("load", (OUTPUT,), ALL_DATES, Grain.DAY, TaskInfo()))


@pytest.mark.parametrize(
    ("is_tested_bad", "is_on_record", "verdict"),
    [
        (False, False, "nothing on record says that it is bad; if it is, 1 task must run again"),
        (True, False, "1 task must run again"),
        (False, True, "1 task must run again"),
    ],
)
def test_a_run_is_called_bad_where_something_says_so(
    is_tested_bad: bool, is_on_record: bool, verdict: str
) -> None:
    plan = TaintPlan((), None, (RERUN.rerun,), (), (), (), ())
    first = BadStreak(Run("app-1", "load", "spark"), 1) if is_tested_bad else None
    incident = Incident(plan, (RERUN,), ())
    assert bad_run_answer(RUN, first, incident, is_on_record=is_on_record).verdict == verdict
