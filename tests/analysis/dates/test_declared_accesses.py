"""Tasks whose runs an orchestrator shows, and whose lineage people declare, are one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.bad_writes import bad_runs, runs_of_version
from dbt_graft.analysis.dates.declared_accesses import declared_accesses
from dbt_graft.analysis.dates.taint import spread
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.date_text import dates_text
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import Dataset, Direction, Evidence, Run, Status
from dbt_graft.lineage.usage import Usage
from tests.lineage.shown_periods import shown

START = datetime(2026, 10, 2, 5, tzinfo=UTC)
ORDERS, MART, REPORT = (DatasetId("db", name) for name in ("orders", "mart", "report"))


def run(task: str, day: int, status: Status = Status.OK, parent: str | None = None) -> Run:
    """A run for a day of October, on the day after."""
    begin = START + timedelta(days=day - 1)
    return Run(
        *(f"{task}-{day}", task, "airflow", begin, begin + timedelta(minutes=9), status),
        parent_run_id=parent,
        nominal_start=begin.replace(hour=0) - timedelta(days=1),
        nominal_end=begin.replace(hour=0),
    )


def usage(
    task: str, dataset: DatasetId, direction: Direction, last_at: datetime | None = None
) -> Usage:
    evidence = Evidence.OBSERVED if last_at else Evidence.DECLARED
    engine = "spark" if last_at else "declared"
    return Usage(*(task, dataset, direction), last_at=last_at, evidence=evidence, engine=engine)


def task(name: str, source: DatasetId, target: DatasetId, *runs: Run) -> Task:
    usages = (usage(name, source, Direction.READ), usage(name, target, Direction.WRITE))
    return Task(name, usages=usages, runs=runs)


def lineage(*tasks: Task) -> Lineage:
    return Lineage(
        datasets={dataset: Dataset(dataset) for dataset in (MART, ORDERS, REPORT)},
        tasks={one.name: one for one in tasks},
        flows=(
            Flow(ORDERS, MART, "build", evidence=Evidence.DECLARED),
            Flow(MART, REPORT, "report", evidence=Evidence.DECLARED),
        ),
    )


def test_a_run_reads_at_first_and_writes_the_dates_of_its_interval_at_its_end() -> None:
    reads, writes = declared_accesses(lineage(task("build", ORDERS, MART, run("build", 3))))
    assert (reads.dataset, reads.periods) == (ORDERS, ())
    assert (writes.dataset, shown(writes.periods)) == (MART, ["2026-10-03 2026-10-04 day interval"])
    assert writes.last_at == START + timedelta(days=2, minutes=9)


@pytest.mark.parametrize(
    "runs",
    [
        pytest.param([run("build", 3, Status.FAILED)], id="failed"),
        pytest.param([run("build", 3, Status.UNKNOWN)], id="going on"),
    ],
)
def test_what_did_not_end_well_wrote_nothing(runs: list[Run]) -> None:
    assert [*declared_accesses(lineage(task("build", ORDERS, MART, *runs)))] == []


def test_of_a_run_whose_outlets_are_known_nothing_is_added() -> None:
    runs = (run("build", 3), run("build", 4))
    made = lineage(task("build", ORDERS, MART, *runs))
    accesses = (*declared_accesses(made),)
    of_day_4 = [access for access in accesses if access.run_id == "build-4"]
    known = replace(made, history=replace(made.history, accesses=tuple(of_day_4)))
    assert [access for access in accesses if access.run_id == "build-3"] == [
        *declared_accesses(known)
    ]


def test_what_a_run_started_is_a_part_of_it() -> None:
    runs = (run("build", 3), run("build", 4, parent="build-3"))
    accesses = declared_accesses(lineage(task("build", ORDERS, MART, *runs)))
    assert {access.run_id for access in accesses} == {"build-3"}


def test_what_a_log_shows_is_there_already() -> None:
    seen = usage("build", MART, Direction.WRITE, START)
    declared = task("build", ORDERS, MART, run("build", 3))
    both = Task("build", usages=(*declared.usages, seen), runs=declared.runs)
    assert [access.dataset for access in declared_accesses(lineage(both))] == [ORDERS]


def test_bad_runs_of_a_declared_task_are_followed() -> None:
    build = task("build", ORDERS, MART, run("build", 3))
    report = task("report", MART, REPORT, run("report", 4))
    history = AccessHistory(lineage(build, report))
    bad = bad_runs(history, runs_of_version(history, "build"))
    tainted = spread(history, bad).tainted
    assert {name: dates_text(dates) for (name, _), dates in tainted.items()} == {
        "build": "3 Oct 2026",
        "report": "4 Oct 2026",
    }
