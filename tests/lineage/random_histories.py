"""Random histories: tasks that read and write dated tables in all ways that the rules know."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random

from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.declared_dates import DeclaredDates
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.history import History
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    ColumnEdge,
    Dataset,
    Direction,
    Run,
    Status,
    Subtype,
)

START = datetime(2026, 9, 21, tzinfo=UTC)
DAYS = 24


def table(name: str) -> DatasetId:
    return DatasetId("spark", f"raw.{name}")


def period(start: datetime, days: int = 1, grain: Grain = Grain.DAY) -> Period:
    return Period(start, start + timedelta(days), grain, PeriodEvidence.PARTITION, "ds")


def month(day: datetime) -> Period:
    start = day.replace(day=1)
    end = (start + timedelta(31)).replace(day=1)
    return Period(start, end, Grain.MONTH, PeriodEvidence.PARTITION, "month")


@dataclass(frozen=True)
class Habit:
    """The usual way of a task."""

    name: str
    sources: tuple[DatasetId, ...]
    target: DatasetId
    first: int
    monthly: bool
    undated_reads: bool
    undated_writes: bool
    operation: Operation


def random_history(random: Random) -> Lineage:
    """A lineage of a few tasks in a line, with branches, and some weeks of their runs."""
    names = [table(name) for name in "abcdef"[: random.randint(2, 6)]]
    habits = [_habit(random, names, place) for place in range(1, len(names))]
    if random.random() < 0.2:
        habits.append(_habit(random, names, len(names) - 1, "other"))
    if random.random() < 0.1:  # a cycle
        habits.append(
            Habit("back", (names[-1],), names[0], 0, False, False, False, Operation.INSERT)
        )
    loads = Habit("load", (), names[0], 0, False, False, False, Operation.INSERT_OVERWRITE)
    silent = {habits[-1].name} if random.random() < 0.15 else set()
    accesses: list[Access] = []
    for habit in (loads, *habits):
        if habit.name not in silent:
            accesses += _accesses(random, habit)
    random.shuffle(accesses)
    declared = {}
    if random.random() < 0.3:
        habit = random.choice(habits)
        first = random.choice([0, -1, -2])
        declared[habit.target] = DeclaredDates(
            Grain.MONTH if habit.monthly else Grain.DAY,
            {habit.sources[0]: (0, 0) if habit.monthly else (first, 0)},
        )
    runs: dict[str, dict[str, Run]] = {}
    for access in accesses:
        known = runs.setdefault(access.task, {})
        known[access.run_id] = Run(access.run_id, access.task, "spark", access.first_at)
    return Lineage(
        datasets={name: Dataset(name) for name in names},
        tasks={name: Task(name, runs=tuple(run.values())) for name, run in runs.items()},
        flows=tuple(Flow(source, h.target, h.name) for h in habits for source in h.sources),
        column_edges=tuple(edge for habit in habits for edge in _edges(random, habit)),
        history=History(accesses=tuple(accesses), declared_dates=declared),
    )


def _edges(random: Random, habit: Habit) -> Iterator[ColumnEdge]:
    """The columns that a habit is known to read: none, values, those that choose rows, too."""
    for source in habit.sources:
        subtypes = random.choice([[], [Subtype.IDENTITY], [Subtype.IDENTITY, Subtype.FILTER]])
        for subtype in subtypes:
            ends = (habit.target, "id", source, "id")
            yield ColumnEdge(habit.name, *ends, subtype.type, subtype, False, "shape")


def _habit(random: Random, names: list[DatasetId], place: int, name: str = "") -> Habit:
    upstream = names[:place]
    sources = {upstream[-1], *random.sample(upstream, random.randint(0, min(1, len(upstream))))}
    monthly = random.random() < 0.2
    return Habit(
        name or f"t{place}",
        tuple(sorted(sources)),
        names[place],
        0 if monthly else random.choice([0, 0, 0, -1, -2, -6]),
        monthly,
        random.random() < 0.15,
        random.random() < 0.15,
        random.choice(
            [
                Operation.INSERT_OVERWRITE,
                Operation.INSERT_OVERWRITE,
                Operation.INSERT,
                Operation.MERGE,
                Operation.CREATE_TABLE_AS,
            ]
        ),
    )


def _accesses(random: Random, habit: Habit) -> Iterator[Access]:
    delay = timedelta(hours=random.randint(1, 20), minutes=random.randint(0, 3))
    step = random.choice([1, 1, 1, 2])
    for n in range(0, DAYS, step if not habit.monthly else 6):
        if random.random() < 0.1:
            continue
        day = START + timedelta(n)
        tries = 1 + (random.random() < 0.15) + (random.random() < 0.05)
        for attempt in range(tries):
            late = timedelta(days=random.choice([0, 0, 1, 5])) if attempt else timedelta(0)
            at = day + timedelta(days=1) + delay + late
            yield from _run(random, habit, f"{habit.name}-{n}-{attempt}", day, at)


def _run(
    random: Random, habit: Habit, run_id: str, day: datetime, at: datetime
) -> Iterator[Access]:
    odd = random.random() < 0.1
    back = random.random() < 0.08
    days = random.randint(2, 5) if back else 1
    for source in habit.sources:
        if random.random() < 0.05:
            continue
        first = day + timedelta(habit.first - (odd and random.randint(0, 3)))
        length = (day - first).days + days
        read = month(day) if habit.monthly else period(first, length)
        dated = not habit.undated_reads and random.random() > 0.05
        yield _access(random, habit, run_id, source, Direction.READ, at, (read,) if dated else ())
    write = month(day) if habit.monthly else period(day, days)
    dated = not habit.undated_writes and random.random() > 0.05
    periods = (write,) if dated else ()
    at += timedelta(minutes=random.choice([0, 0, 1, 30]))
    operation = habit.operation
    if operation is Operation.INSERT and random.random() < 0.5:
        removal = random.choice([Operation.DELETE, Operation.DELETE, Operation.TRUNCATE])
        yield _access(random, habit, run_id, habit.target, Direction.WRITE, at, periods, removal)
    if random.random() < 0.02:
        removal = random.choice([Operation.DELETE, Operation.TRUNCATE, Operation.DROP])
        yield _access(random, habit, run_id, habit.target, Direction.WRITE, at, (), removal)
    yield _access(random, habit, run_id, habit.target, Direction.WRITE, at, periods, operation)


def _cut(random: Random, whole: Period) -> tuple[Period, ...]:
    """A period that begins or ends at a time of day, or of which other conditions take a part."""
    assert whole.start
    assert whole.end
    inner = whole.start + timedelta(1), whole.end - timedelta(1)
    if whole.grain is not Grain.DAY or inner[0] >= inner[1] or random.random() < 0.3:
        return (replace(whole, in_part=True),)
    first = replace(whole, end=inner[0], in_part=True)
    last = replace(whole, start=inner[1], in_part=True)
    return random.choice(
        [
            (first, replace(whole, start=inner[0])),
            (replace(whole, end=inner[1]), last),
            (first, replace(whole, start=inner[0], end=inner[1]), last),
        ]
    )


def _access(
    random: Random,
    habit: Habit,
    run_id: str,
    dataset: DatasetId,
    direction: Direction,
    at: datetime,
    periods: tuple[Period, ...],
    operation: Operation = Operation.SELECT,
) -> Access:
    many = random.random() < 0.1
    if periods and random.random() < 0.12:
        periods = _cut(random, periods[0])
    dynamic = direction is Direction.WRITE and not periods and random.random() < 0.5
    return Access(
        task=habit.name,
        run_id=run_id,
        dataset=dataset,
        kind=Kind.TABLE,
        direction=direction,
        operation=operation,
        shape_id=f"{habit.name}/{dataset.name}/{direction}/{operation}",
        statements=2 if many else 1,
        partitions=1 if dynamic else None,
        first_at=at - timedelta(minutes=random.choice([0, 5, 90])),
        last_at=at,
        status=Status.FAILED if random.random() < 0.05 else Status.OK,
        periods=periods,
    )
