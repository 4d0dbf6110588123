"""A source that is polled every minute: commits, and what a year of them leaves in the store.

A year has 525,600 minutes. Here are 6,000 commits, or as many as the first argument says, each of
one new log with the records of a minute, through the same `commit` as a collect's. Merged batches
stay for an hour, which is 60 commits of a year and so 60 commits here. Beside it stands a store
that is not compacted, and one with the same records in one batch.

Limits: a commit at the end takes no more than 1.5 times one after the first 1,000, and so does
opening; no more than 15 batches a level count; the files are those of these batches and of an hour;
reading takes no more than 1.5 times that of one batch.
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

import pyarrow as pa

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report  # noqa: E402
from dbt_graft.collectors.store import arrow_tables, compaction  # noqa: E402
from dbt_graft.collectors.store import door as store  # noqa: E402
from dbt_graft.collectors.store.tables import Collected, LogRecords, ReadLog  # noqa: E402
from dbt_graft.lineage.dataset import DatasetId, Kind  # noqa: E402
from dbt_graft.lineage.operations import Operation  # noqa: E402
from dbt_graft.lineage.records import (  # noqa: E402
    Access,
    ColumnEdge,
    Dataset,
    Direction,
    Outcome,
    Records,
    Run,
    Shape,
    Status,
    Subtype,
)

COMMITS, FIRST, PLAIN = 6_000, 1_000, 1_000
# Commits for which merged batches stay.
HOUR = 60
SLOWER = 1.5
TASKS, TABLES_EACH, COLUMNS = 200, 4, 5
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def minute(number: int) -> tuple[Records, ReadLog]:
    """The records of a minute: a run of one of the tasks."""
    at, task = BEGIN + timedelta(minutes=number), f"task_{number % TASKS}"
    origin, shape = f"mssql://crm:1433/graft@{number}", f"{number % TASKS:064x}"
    tables = [DatasetId("mssql://crm:1433", f"Shop.dbo.t{n}") for n in range(TABLES_EACH)]
    accesses = tuple(
        Access(
            *(task, f"run-{number}", table, Kind.TABLE, direction, Operation.INSERT, shape),
            *(7, 1200, 90_000, None, None, at, at, Status.OK),
            origin=origin,
        )
        for table in tables
        for direction in Direction
    )
    run = Run(f"run-{number}", task, "sqlserver", at, at, Status.OK, origin=origin)
    edges = tuple(
        ColumnEdge(
            *(task, tables[0], f"c{n}", tables[1], f"c{n}"),
            *(Subtype.IDENTITY.type, Subtype.IDENTITY, False, shape, origin),
        )
        for n in range(COLUMNS)
    )
    text = "INSERT INTO dbo.t0 SELECT " + ", ".join(f"c{n}" for n in range(90)) + " FROM dbo.t1"
    shapes = {shape: Shape(shape, "tsql", text, "1", Outcome.PARSED)}
    datasets = tuple(Dataset(table, first_seen=at, last_seen=at, origin=origin) for table in tables)
    return Records(accesses, (run,), shapes, datasets, (), edges), ReadLog(origin, f"{number}", 9)


def collected(number: int) -> Collected:
    """The rows of a minute."""
    records, log = minute(number)
    return arrow_tables.tables(records, {}, origins=arrow_tables.table(ReadLog, [log]))


def commits(place: Path, numbers: range) -> Iterator[float]:
    """Commit minute after minute; the seconds of each."""
    for number in numbers:
        rows = collected(number)
        began = time.perf_counter()
        store.commit(str(place), [rows], {})
        yield time.perf_counter() - began


def seconds_of(read: Callable[[str], object], place: Path) -> float:
    """The seconds that a function takes to read a store, the best of some tries."""
    found = []
    for _ in range(3):
        began = time.perf_counter()
        read(str(place))
        found.append(time.perf_counter() - began)
    return min(found)


def as_one(place: Path, number: int) -> None:
    """Commit all minutes as one batch."""
    parts = [collected(n) for n in range(number)]
    names = [field.name for field in fields(LogRecords)] + ["origins"]
    tables = {name: pa.concat_tables([getattr(part, name) for part in parts]) for name in names}
    store.commit(str(place), [Collected(**tables)])


@dataclass(frozen=True)
class Stage:
    """The store after some commits: the newest of them, in seconds, and what there is to open."""

    commit: float
    longest: float
    opening: float
    batches: int
    files: int


def stages(place: Path, number: int) -> Iterator[tuple[int, Stage]]:
    """Commit minute after minute; the store on the way."""
    taken: list[float] = []
    shown = {FIRST, number // 4, number // 2, number}
    for seconds in commits(place, range(number)):
        taken.append(seconds)
        compaction.DELAY = timedelta(seconds=HOUR * median(taken[-HOUR:]))
        if len(taken) in shown:
            recent = taken[-FIRST:]
            yield (
                len(taken),
                Stage(
                    median(recent),
                    max(recent),
                    seconds_of(store.open_store, place),
                    len(store.batches(str(place))),
                    sum(1 for _ in place.rglob("*.parquet")),
                ),
            )


def main() -> int:
    """Report the figures; return 1 if a limit is exceeded."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else COMMITS
    report = Report("A source polled every minute", "benchmarks/store/bench_minutes.py")
    with tempfile.TemporaryDirectory() as name:
        place, plain, one = (Path(name) / part for part in ("store", "plain", "one"))
        report.say(
            f"{number:,} commits of a minute each, with {2 * TABLES_EACH} accesses of one run; "
            f"merged batches stay for {HOUR} commits."
        )
        report.table("commits", "a commit, ms", "longest, s", "opening, ms", "batches", "files")
        found: list[Stage] = []
        for done, stage in stages(place, number):
            found.append(stage)
            report.row(
                *(f"{done:,}", f"{stage.commit * 1000:.0f}", f"{stage.longest:.1f}"),
                *(f"{stage.opening * 1000:.0f}", f"{stage.batches:,}", f"{stage.files:,}"),
            )
        compacted, positions = seconds_of(store.read, place), seconds_of(store.positions, place)
        fan_out, compaction.FAN_OUT = compaction.FAN_OUT, 10**9
        without = median([*commits(plain, range(PLAIN))][-100:])
        as_one(one, number)
        best = seconds_of(store.read, one)
        report.table("beside it", "")
        report.row(f"a commit after {PLAIN:,} without compaction, ms", f"{without * 1000:.0f}")
        report.row("all records read, s", f"{compacted:.2f}")
        report.row("the same records in one batch, s", f"{best:.2f}")
        report.row("the positions of all logs, s", f"{positions:.2f}")
    if number >= COMMITS:
        report.write()
    first, last = found[0], found[-1]
    most = (fan_out - 1) * math.ceil(math.log(number, fan_out))
    return int(
        last.commit > SLOWER * first.commit
        or last.opening > SLOWER * first.opening
        or last.batches > most
        # Eight files a batch; beside those that count an hour of merged ones.
        or last.files > 8 * (most + HOUR + 3 * fan_out)
        or compacted > SLOWER * best
    )


if __name__ == "__main__":
    sys.exit(main())
