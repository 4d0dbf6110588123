"""The report of an incident: lines about the run, and nothing that breaks out of the page."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from dbt_graft.analysis.dates.incident import incident_json, incident_markdown
from dbt_graft.analysis.history.bad_streak import BadStreak
from dbt_graft.lineage.records import Run

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


@pytest.mark.parametrize(
    ("known", "lines"),
    [
        ({}, ["status ok"]),
        ({"attempt": 2, "started_at": "2026-11-01"}, ["status ok, try 2, 2026-11-01"]),
        ({"error": "no `t`"}, ["status ok", "error: `` no `t` ``"]),
        ({"code": {"version": "4f", "repo": None, "path": "a"}}, ["status ok", "code: `4f`, `a`"]),
        ({"owner": "Ann\n# x"}, ["status ok", "owner: Ann # x"]),
        (
            {"quality": {"status": "failed", "checks": [CHECK, {**CHECK, "status": "ok"}]}},
            [
                "status ok",
                "tests after it: 1 of 2 failed",
                "failed test: `unique_id` of `spark/dm.x`, 3 rows",
            ],
        ),
        (
            {"superseded_by": [{"task": "load", "run_id": "app-2", "at": "2026-11-02T05:00:00Z"}]},
            ["status ok", "run again as `app-2` of `load` at 2026-11-02T05:00:00Z"],
        ),
    ],
)  # fmt: skip
def test_the_report_says_what_is_known_of_the_run(known: dict[str, Any], lines: list[str]) -> None:
    found = list(incident_markdown({**RUN, **known}, None, ["## Plan"]))
    assert found[0] == "# Incident: run `app-1` of `load`"
    assert [line.removeprefix("- ") for line in found[2:-2]] == lines
    assert found[-1] == "## Plan"


@pytest.mark.parametrize(
    ("run_id", "line"),
    [
        ("app-1", "- first bad run: this one"),
        (
            "app`0",
            "- first bad run: `` app`0 `` at 2026-11-01 05:00, 3 runs up to this one; "
            "report that one instead",
        ),
    ],
)
def test_the_first_bad_run_is_named(run_id: str, line: str) -> None:
    first = BadStreak(Run(run_id, "load", "spark", datetime(2026, 11, 1, 5, tzinfo=UTC)), 3)
    assert line in list(incident_markdown(RUN, first, []))
    found = incident_json(RUN, first, None)["first_bad"]
    assert found == {"run_id": run_id, "at": "2026-11-01T05:00:00+00:00", "runs": 3}
