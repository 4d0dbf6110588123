"""The first bad run of those that end with the last one of `load`, run each day at noon."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from dbt_graft.analysis.history.bad_streak import first_bad_run
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import NodeResult, Run, Status
from tests.cases import for_each

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
TEST = "test.shop.unique"


def days(text: str, after: timedelta) -> list[tuple[datetime, Status]]:
    """`+-` as a good and a bad outcome, a day apart; a blank is a day without any."""
    return [
        (NOON + timedelta(days=day) + after, Status.OK if sign == "+" else Status.FAILED)
        for day, sign in enumerate(text)
        if sign != " "
    ]


@for_each(
    "runs, results, first, count",
    [
        ("++--", "", 2, 2),
        ("---", "", 0, 3),
        ("-+-", "", 2, 1),
        ("+++", "", None, 0),
        # By the results of a test, an hour after each run.
        ("++++", "++--", 2, 2),
        ("++++", "+ --", 1, 3),  # the run of the day without a result may be bad
        ("++++", "  --", 2, 2),  # it never was good
        ("++++", "---+", None, 0),  # good after the last run
        ("++--", "+---", 1, 3),  # the earlier of both
    ],
)
def test_the_first_bad_run(runs: str, results: str, first: int | None, count: int) -> None:
    listed = tuple(
        Run(f"run-{number}", "load", "spark", at, at, status)
        for number, (at, status) in enumerate(days(runs, timedelta()))
    )
    found = [
        NodeResult(TEST, f"{at:%d}", "test", "", status, at, at)
        for at, status in days(results, timedelta(hours=1))
    ]
    failed = [TEST] if found and found[-1].status is Status.FAILED else []
    task = Task("load", ("spark",), runs=listed[::-1])
    lineage = Lineage(tasks={"load": task}, dbt=DbtRuns({TEST: tuple(found[::-1])}))
    streak = first_bad_run(lineage, task, listed[-1], failed)
    assert (streak.run.run_id if streak else None) == (None if first is None else f"run-{first}")
    assert (streak.runs if streak else 0) == count
