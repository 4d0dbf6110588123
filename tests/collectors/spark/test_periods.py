"""Partitioned tables as real Spark writes and reads them -> the dates of each access.

From the log of the job that is checked in, as `logs/generate.py` makes it; `make test-all` runs the
job, too.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.store.read_log import CollectedLog, EventFile, assemble
from dbt_graft.lineage.dates.period import DataPosition
from dbt_graft.lineage.records import Access, Direction, Status
from tests.cases import for_each
from tests.lineage.shown_periods import shown

EXHAUSTIVE = pytest.mark.exhaustive
CHECKED_IN = Path(__file__).parent / "logs/dated-4.3"
# A streaming query puts the description of its batch behind the task's.
LOGS = SparkLogs("dated", "dated", task=r"(?P<task>\w+)", task_from=("job_description",))


@pytest.fixture(
    scope="module",
    params=["checked in", pytest.param("of a run", marks=[pytest.mark.spark, EXHAUSTIVE])],
)
def collected(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    run_jobs: Callable[..., Path],
) -> CollectedLog:
    """The log of `jobs/dated_job.py`, collected."""
    events = CHECKED_IN
    if request.param == "of a run":
        events = run_jobs(tmp_path_factory.mktemp("dated"), "dated_job") / "dated_job/events"
    files = sorted(path for path in events.rglob("*") if path.is_file())
    parts = [EventFile(file.name, lambda file=file: file.open("rb")) for file in files]
    return assemble("dated", parts, LOGS)


def of_task(log: CollectedLog, task: str) -> list[Access]:
    return [access for access in log.records.accesses if access.task == task]


def dates(log: CollectedLog, task: str) -> dict[str, list[str]]:
    """For each access of a task that has dates, `read raw.orders`, its dates."""
    return {
        f"{access.direction} {access.dataset.name.rpartition('/')[2]}": shown(access.periods)
        for access in of_task(log, task)
        if access.periods
    }


@for_each(
    "task, expected",
    [
        (
            "static",
            {
                "read raw.orders": ["ds 2026-10-05T00 2026-10-05T01 hour location"],
                "write raw.daily": ["ds 2026-10-05 2026-10-06 day partition"],
            },
        ),
        ("hive", {"write raw.hive": ["dt 2026-10-02 2026-10-03 day partition"]}),
        ("read_hive", {"read raw.hive": ["dt 2026-10-02 2026-10-03 day predicate"]}),
        ("filtered", {"read raw.plain": ["placed 2026-10-03 - day predicate"]}),
        ("personal", {}),
        ("everything", {}),
        ("dropped", {"write raw.daily": ["ds 2026-10-07 2026-10-08 day partition"]}),
        (
            "paths",
            {
                "write j": ["2026-11-02 2026-11-03 day path"],
                "write out": ["month 2026-10-01 2026-11-01 month path"],
            },
        ),
    ],
)
def test_dates_of_accesses(
    collected: CollectedLog, task: str, expected: dict[str, list[str]]
) -> None:
    assert dates(collected, task) == expected


def test_partitions_that_the_rows_decide_on(collected: CollectedLog) -> None:
    writes = {task: dates(collected, task) for task in ("dynamic", "again", "month")}
    # New in the catalog, and the same once more: by the column that is copied.
    assert writes["dynamic"]["write raw.daily"] == ["ds 2026-10-07 2026-10-09 day partition"]
    assert writes["again"]["write raw.daily"] == ["ds 2026-10-07 2026-10-09 day predicate"]
    assert writes["month"]["write raw.monthly"] == ["month 2026-10-01 2026-11-01 month partition"]


def test_a_window_of_partitions_that_is_read(collected: CollectedLog) -> None:
    found = dates(collected, "window")["read raw.orders"]
    assert [one.split()[1][:10] for one in found] == [f"2026-10-{day:02}" for day in range(4, 11)]
    assert {one.split(maxsplit=3)[3] for one in found} == {"hour location"}


def test_a_stopped_stream_has_not_failed(collected: CollectedLog) -> None:
    [run] = [one for one in collected.records.runs if one.task == "stream"]
    assert (run.status, run.error) == (Status.OK, None)
    statuses = {access.status for access in of_task(collected, "stream")}
    assert Status.FAILED not in statuses


def test_positions_of_a_stream_of_files(collected: CollectedLog) -> None:
    [read] = [
        access for access in of_task(collected, "files") if access.direction is Direction.READ
    ]
    assert read.positions == (DataPosition("files", "", "0"),)
