"""Failed runs: what they should have written, and did not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.late_outputs import LateOutput, late_outputs
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.date_text import dates_text
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.history import History
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Dataset, Direction, Evidence, Run, Status
from dbt_graft.lineage.usage import Usage
from tests.cases import for_each

START = datetime(2026, 10, 1, 6, tzinfo=UTC)
ANEW, ADD = Operation.CREATE_TABLE_AS, Operation.INSERT


def table(name: str) -> DatasetId:
    return DatasetId("db", name)


def at(day: int) -> datetime:
    return START + timedelta(days=day)


def write(
    day: int, name: str, operation: Operation = ANEW, *, failed: bool = False, date: int = 0
) -> Access:
    """A write by the run of a day, of a date of October if one is given."""
    begin = datetime(2026, 10, date or 1, tzinfo=UTC)
    period = Period(begin, begin + timedelta(1), Grain.DAY, PeriodEvidence.PARTITION, "ds")
    return Access(
        *("build", f"r{day}", table(name), Kind.TABLE, Direction.WRITE, operation, "s"),
        last_at=at(day),
        status=Status.FAILED if failed else Status.OK,
        periods=(period,) if date else (),
    )


def late(
    accesses: list[Access], failed: tuple[int, ...], declared: tuple[str, ...] = ()
) -> list[LateOutput]:
    """The late outputs of the last of the failed runs."""
    days = sorted({int(access.run_id[1:]) for access in accesses} | {*failed}, reverse=True)
    runs = tuple(
        Run(
            *(f"r{day}", "build", "spark", at(day) - timedelta(hours=1), at(day)),
            Status.FAILED if day in failed else Status.OK,
        )
        for day in days
    )
    usages = tuple(
        Usage("build", table(name), Direction.WRITE, evidence=Evidence.DECLARED)
        for name in declared
    )
    task = Task("build", usages=usages, runs=runs)
    names = {access.dataset for access in accesses} | {usage.dataset for usage in usages}
    past = AccessHistory(
        Lineage(
            datasets={name: Dataset(name) for name in sorted(names)},
            tasks={"build": task},
            history=History(tuple(accesses)),
        )
    )
    run = next(run for run in runs if run.run_id == f"r{max(failed)}")
    return late_outputs(past, task, run, at(min(failed)) - timedelta(hours=1))


def named(outputs: list[LateOutput]) -> dict[str, str]:
    return {
        output.dataset.name: dates_text(output.dates) + (" may be" if output.is_doubtful else "")
        for output in outputs
    }


GOOD = [write(1, "a"), write(1, "b")]


@for_each(
    "accesses, failed, expected",
    [
        pytest.param([*GOOD, write(2, "a"), write(2, "b", failed=True)], (2,), {"b": "all dates"},
                     id="what it tried and did not"),
        pytest.param([*GOOD, write(2, "a")], (2,), {"b": "all dates"}, id="what it did not get to"),
        pytest.param(GOOD, (2,), {"a": "all dates", "b": "all dates"}, id="all of it"),
        pytest.param([*GOOD, write(2, "a"), write(2, "b")], (2,), {}, id="nothing"),
        pytest.param([write(2, "a")], (2,), {}, id="no run before it"),
        pytest.param(
            [*GOOD, write(2, "b", failed=True), write(3, "b"), write(3, "a")], (2,), {},
            id="written again since",
        ),
        pytest.param(
            [write(1, "a", ADD, date=1), write(2, "a", ADD, failed=True, date=2),
             write(3, "a", ADD, date=3)],
            (2,), {"a": "2 Oct 2026"}, id="other dates were written since",
        ),
        pytest.param(
            [write(1, "a", ADD, date=1), write(2, "a", ADD, failed=True, date=2),
             write(3, "a", ADD, date=2)],
            (2,), {}, id="its dates were written since",
        ),
        pytest.param(
            [write(1, "a", ADD), write(2, "a", ADD, failed=True), write(3, "a", ADD)],
            (2,), {"a": "all dates may be"}, id="rows were added since",
        ),
    ],
)  # fmt: skip
def test_what_a_failed_run_did_not_write_is_late(
    accesses: list[Access], failed: tuple[int, ...], expected: dict[str, str]
) -> None:
    assert named(late(accesses, failed)) == expected


def test_what_may_have_been_written_before_the_run_failed_may_be_late() -> None:
    begun = replace(write(2, "a", failed=True), status=Status.UNKNOWN)
    assert named(late([*GOOD, begun], (2,))) == {"a": "all dates may be", "b": "all dates"}


def test_it_is_late_since_the_first_of_the_failed_runs() -> None:
    [output] = late([write(1, "a"), write(2, "a", failed=True)], (2, 3))
    assert output.since == at(2) - timedelta(hours=1)
    assert output.last_write
    assert output.last_write.run_id == "r1"


def test_what_is_declared_is_late_too() -> None:
    assert named(late([write(1, "a"), write(2, "a")], (2,), ("c",))) == {"c": "all dates"}
