"""Closing logs: which of them hold old runs only."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dbt_graft.lineage.building.run_group import PlacedRun, RunGroup
from dbt_graft.lineage.fold.closing import ClosingLogs
from dbt_graft.lineage.fold.scope import FoldScope
from dbt_graft.lineage.records import Run, Status
from tests.cases import for_each

LIMIT = datetime(2026, 2, 1, tzinfo=UTC)


def run(key: str, day: int | None, origin: str, job: str | None = None) -> RunGroup:
    """A run in January, after it from day 32 on."""
    at = datetime(2026, 1 if day <= 31 else 2, (day - 1) % 31 + 1, tzinfo=UTC) if day else None
    found = Run(key, "load", "spark", at, at, Status.OK, job=job, origin=origin)
    return RunGroup("load", key, [PlacedRun(0, found)])


def both(*groups: RunGroup) -> RunGroup:
    return RunGroup("load", groups[0].key, [placed for group in groups for placed in group.runs])


@for_each(
    "groups, closing, open_logs",
    [
        pytest.param([run("1", 3, "a"), run("2", 4, "b")], {"a", "b"}, 0, id="all are old"),
        pytest.param([run("1", 3, "a"), run("2", 33, "a")], set(), 1, id="a newer run in the log"),
        pytest.param([run("1", 33, "a")], set(), 0, id="no old run"),
        pytest.param([run("1", None, "a")], set(), 0, id="a run without times"),
        pytest.param([run("1", 3, "a", "airflow/x")], set(), 1, id="a run that is never folded"),
        pytest.param(
            [both(run("1", 3, "a"), run("1", 4, "b")), run("2", 33, "b")],
            set(),
            2,
            id="it shares a run with a log that stays open",
        ),
        pytest.param(
            [
                *(
                    both(run(f"{n}", 3, f"log-{n}"), run(f"{n}", 3, f"log-{n + 1}"))
                    for n in range(50)
                ),
                run("last", 33, "log-50"),
                run("apart", 3, "apart"),
            ],
            {"apart"},
            51,
            id="a chain of logs that share runs",
        ),
    ],
)
def test_a_log_is_closed_with_all_that_it_shares_runs_with(
    groups: list[RunGroup], closing: set[str], open_logs: int
) -> None:
    logs = ClosingLogs(FoldScope(), LIMIT)
    for group in groups:
        logs.add(group)
    assert logs.closable_logs() == (closing, open_logs)
