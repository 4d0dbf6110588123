"""A project with a month of partitioned runs in its store: no Spark is needed to ask about them.

`load` writes a day of raw.orders each morning, `clean` the same day of clean.orders, `week` sums
the last seven days, `month` rolls days up, `snap` replaces a table that has no dates, and `report`
only reads. The run of `load` for 5 October wrote bad data.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from dbt_graft.collectors.store.arrow_tables import tables
from dbt_graft.collectors.store.commit import commit
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Records, Run, Status

FIRST = datetime(2026, 9, 20, tzinfo=UTC)
DAYS = 22  # up to 11 October
CONFIG = """
collect: [{declared: {path: lineage.yml}}]
store: store
tasks:
  load: {owner: Platform, rerun: "python load.py --from {start} --to {end}"}
  report: {owner: Finance, type: dashboard}
"""
LINEAGE = "version: 1\n"


def table(name: str) -> DatasetId:
    return DatasetId("spark", name)


def days(start: datetime, number: int = 1, grain: Grain = Grain.DAY) -> tuple[Period, ...]:
    end = start + timedelta(number)
    return (Period(start, end, grain, PeriodEvidence.PARTITION, "ds"),)


def month(day: datetime) -> tuple[Period, ...]:
    start = day.replace(day=1)
    end = (start + timedelta(31)).replace(day=1)
    return (Period(start, end, Grain.MONTH, PeriodEvidence.PARTITION, "month"),)


def dated_project(folder: Path, *more: Access, lineage: str = LINEAGE) -> None:
    """Write the project.

    Args:
        more: Accesses of further runs, a log each.
    """
    (folder / "graft.yml").write_text(CONFIG)
    (folder / "lineage.yml").write_text(lineage)
    accesses = (*_month(), *more)
    ids = {(access.task, access.run_id): access for access in accesses}
    runs = tuple(
        Run(
            run_id,
            task,
            "spark",
            one.first_at,
            one.last_at,
            one.status,
            code_version="bad" if run_id == "load-2026-10-05" else "good",
            origin="log",
        )
        for (task, run_id), one in ids.items()
    )
    commit(str(folder / "store"), [tables(Records(accesses=accesses, runs=runs), {"log": "1"})])


def _month() -> Iterator[Access]:
    for n in range(DAYS):
        day = FIRST + timedelta(n)
        at = day + timedelta(days=1, hours=4)
        overwrite = Operation.INSERT_OVERWRITE
        yield from step("load", day, at, (), ("raw.orders", days(day)), overwrite)
        at += timedelta(hours=1)
        source = ("raw.orders", days(day))
        yield from step("clean", day, at, (source,), ("clean.orders", days(day)), overwrite)
        at += timedelta(hours=1)
        source = ("clean.orders", days(day - timedelta(6), 7))
        yield from step("week", day, at, (source,), ("mart.weekly", days(day)), overwrite)
        # A roll-up of the month so far.
        source = ("clean.orders", days(day.replace(day=1), day.day))
        yield from step("month", day, at, (source,), ("mart.monthly", month(day)), overwrite)
        source = ("clean.orders", ())
        target = ("mart.snapshot", ())
        yield from step("snap", day, at, (source,), target, Operation.CREATE_TABLE_AS)
        at += timedelta(hours=1)
        yield from step("report", day, at, (("mart.weekly", days(day)),), None, overwrite)


def step(
    task: str,
    day: datetime,
    at: datetime,
    reads: tuple[tuple[str, tuple[Period, ...]], ...],
    write: tuple[str, tuple[Period, ...]] | None,
    operation: Operation,
    status: Status = Status.OK,
    run_id: str = "",
) -> Iterator[Access]:
    """The accesses of a statement, in a run of its own."""
    ends = [(name, periods, Direction.READ, Operation.SELECT) for name, periods in reads]
    if write:
        ends.append((*write, Direction.WRITE, operation))
    for name, periods, direction, done in ends:
        yield Access(
            task=task,
            run_id=run_id or f"{task}-{day:%Y-%m-%d}",
            dataset=table(name),
            kind=Kind.TABLE,
            direction=direction,
            operation=done,
            shape_id=f"{task}/{write[0] if write else ''}",
            first_at=at,
            last_at=at,
            status=status,
            origin="log",
            periods=periods,
        )
