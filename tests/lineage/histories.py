"""Random histories of tasks: what logs show of them, in batches as a store has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from random import Random

from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    EdgeType,
    Outcome,
    Records,
    Run,
    Shape,
    Status,
    Subtype,
)

START = datetime(2026, 1, 1, tzinfo=UTC)
TABLES = ("raw.a", "raw.b", "RAW.B", "stage.a", "stage.b", "dm.x", "dm.y", "dm.swap")
TEMPORARY = ("#t", "#u", "##shared")

# Operation, target, sources: what statements of a task do.
STATEMENTS = (
    ("INSERT", "dm.x", ("raw.a", "raw.b")),
    ("INSERT", "dm.y", ("raw.a",)),
    ("MERGE", "dm.y", ("dm.x", "RAW.B")),
    ("SELECT INTO", "#t", ("raw.a",)),
    ("INSERT", "#t", ("raw.b",)),
    ("SELECT INTO", "#u", ("#t", "raw.b")),
    ("INSERT", "dm.x", ("#t", "#u")),
    ("INSERT", "dm.y", ("#u",)),
    ("TRUNCATE", "dm.x", ()),
    ("DROP", "#t", ()),
    ("SELECT", None, ("raw.a",)),
    ("SELECT", None, ("raw.b", "dm.x")),
    ("INSERT", "dm.y", ()),
    ("BULK INSERT", "stage.a", ()),
    ("CREATE TABLE AS", "stage.b", ("stage.a",)),
    ("INSERT", "dm.x", ("stage.b",)),
    ("DROP", "stage.b", ()),
)
RARE = (
    ("SELECT INTO", "##shared", ("raw.a",)),
    ("INSERT", "dm.y", ("##shared",)),
    ("RENAME", "dm.swap", ("stage.b",)),
    ("INSERT", "dm.x", ("dm.swap",)),
    ("SWITCH", "dm.x", ("stage.a",)),
)


@frozen
class Script:
    """A task: the statements of a run, of which some may be left out by chance.

    Attributes:
        jitter: How often a statement takes another time than usual, or fails.
    """

    task: str
    engine: str
    statements: Sequence[int]
    orchestrated: bool
    chance: float
    jitter: float


@frozen
class History:
    """Batches of records by origin, in the order of their commits."""

    batches: Sequence[dict[str, Records]] = field(default_factory=list)


def chance(seed: int) -> Random:
    """Chance, the same for each seed."""
    return Random(seed)  # noqa: S311


def history(
    seed: int, *, runs: int = 200, rare: bool = False, events: bool = False, dated: bool = False
) -> History:
    """A history of a few tasks, each with many runs.

    Args:
        rare: Statements that rename and switch tables, and global temporary tables.
        events: Runs that orchestrators report.
        dated: Accesses have dates of data, some runs a data interval.
    """
    random = chance(seed)
    statements = (*STATEMENTS, *RARE) if rare else STATEMENTS
    scripts = [
        Script(
            f"task_{number}",
            random.choice(("spark", "sqlserver")),
            random.choices(range(len(statements)), k=random.randint(1, 6)),
            random.random() < 0.3,
            random.choice((0.0, 0.0, 0.1)),
            random.choice((0.0, 0.02, 0.2)),
        )
        for number in range(random.randint(1, 3))
    ]
    logs: list[tuple[str, Records]] = []
    at = START
    for number in range(random.randint(1, runs)):
        script = random.choice(scripts)
        at += timedelta(minutes=random.choice((1, 37, 600)))
        some = _run(random, script, number, at, statements, events=events)
        logs += [(origin, _dated(random, one)) for origin, one in some] if dated else some
    # A log that was read again, later and with another outcome; and logs that came late.
    for _ in range(random.randint(0, 2)):
        origin, content = random.choice(logs)
        logs.append((origin, content if random.random() < 0.5 else _failed(content)))
    late = [
        logs.pop(random.randrange(len(logs))) for _ in range(random.randint(0, 3)) if len(logs) > 1
    ]
    logs += late
    batches: list[dict[str, Records]] = []
    while logs:
        size = random.randint(1, 40)
        batch: dict[str, Records] = {}
        while logs and len(batch) < size and logs[0][0] not in batch:
            origin, content = logs.pop(0)
            batch[origin] = content
        batches.append(batch)
    return History(batches)


def _run(
    random: Random,
    script: Script,
    number: int,
    start: datetime,
    known: Sequence[tuple[str, str | None, Sequence[str]]],
    *,
    events: bool,
) -> list[tuple[str, Records]]:
    run_id = f"{script.task}-{number}"
    if script.orchestrated and number % 3 == 0:
        run_id = f"{script.task}-{number - 3}/again"
    accesses: list[Access] = []
    at = start
    origin = f"log/{number}"
    statements = [one for one in script.statements if random.random() >= script.chance]
    for statement in statements:
        odd = random.random() < script.jitter
        failed = odd and random.random() < 0.3
        ends = at + timedelta(seconds=random.choice((0, 1, 5)) if odd else statement % 3)
        count = 3 if statement % 5 == 4 or (odd and random.random() < 0.3) else 1
        if count > 1 and (statement % 2 or odd):
            ends += timedelta(minutes=1)
        accesses += _statement(
            *(random, script.task, run_id, known[statement], at, ends, count),
            status=Status.FAILED if failed else Status.OK,
        )
        at += timedelta(seconds=random.choice((0, 1, 1, 2)) if odd else statement % 2)
    if random.random() < 0.1:
        random.shuffle(accesses)
    is_event = events and random.random() < 0.2
    run = Run(
        run_id=run_id,
        task=script.task,
        engine="spark" if not is_event else script.engine,
        started_at=start if random.random() < 0.97 else None,
        ended_at=at,
        status=Status.FAILED if random.random() < script.jitter else Status.OK,
        parent_run_id=f"{script.task}-{number // 2}" if script.orchestrated else None,
        job="ns/job" if is_event else None,
        application_id=f"app-{number // 2}" if events else None,
        origin=origin,
        # Chance takes its course as without them.
        gaps=(f"gap {number % 3}",) if number % 7 == 0 else (),
    )
    if is_event:
        accesses = [replace(access, shape_id=f"event-{access.shape_id}") for access in accesses]
    records = _records(origin, run, accesses)
    if len(accesses) > 1 and random.random() < 0.04:
        # The run is in two logs.
        half = len(accesses) // 2
        first = replace(run, ended_at=None, status=Status.UNKNOWN)
        later = f"{origin}/b"
        return [
            (origin, _records(origin, first, accesses[:half])),
            (later, _records(later, replace(run, origin=later), accesses[half:])),
        ]
    return [(origin, records)]


def _records(origin: str, run: Run, accesses: Sequence[Access]) -> Records:
    accesses = [replace(one, origin=origin) for one in accesses]
    edges: dict[ColumnEdge, None] = {}
    for access in accesses:
        if access.direction is not Direction.WRITE:
            continue
        sources = [
            read.dataset
            for read in accesses
            if read.shape_id == access.shape_id and read.direction is Direction.READ
        ]
        for source in sources or [MEMORY]:
            edges[_edge(access, access.dataset, source, origin)] = None
    for access in accesses:
        pure = all(
            one.direction is Direction.READ for one in accesses if one.shape_id == access.shape_id
        )
        if pure and access.direction is Direction.READ:
            edges[_edge(access, MEMORY, access.dataset, origin)] = None
    datasets = {
        (one.dataset.namespace, one.dataset.name): Dataset(
            one.dataset,
            one.kind,
            (Column("id", "int" if len(accesses) % 2 else ""), Column("v")),
            first_seen=one.first_at,
            last_seen=one.last_at,
            origin=origin,
        )
        for one in accesses
        if one.kind is not Kind.TEMPORARY
    }
    return Records(
        accesses=tuple(accesses),
        runs=(run,),
        shapes={
            **{
                one.shape_id: Shape(one.shape_id, "tsql", one.shape_id, "1", Outcome.PARSED)
                for one in accesses
            },
            **{gap: Shape(gap, "tsql", gap, "1", Outcome.FAILED) for gap in run.gaps},
        },
        datasets=tuple(datasets.values()),
        column_edges=tuple(edges),
    )


def _edge(access: Access, to: DatasetId, source: DatasetId, origin: str) -> ColumnEdge:
    return ColumnEdge(
        access.task,
        to,
        "id",
        source,
        "id",
        EdgeType.DIRECT,
        Subtype.IDENTITY,
        masking=False,
        shape_id=access.shape_id,
        origin=origin,
    )


def _statement(
    random: Random,
    task: str,
    run_id: str,
    statement: tuple[str, str | None, Sequence[str]],
    at: datetime,
    ends: datetime,
    count: int,
    *,
    status: Status,
) -> list[Access]:
    operation, target, sources = statement
    names = [(Direction.READ, name) for name in sources]
    names += [(Direction.WRITE, target)] if target else []
    rows = None if len(operation) % 2 else random.choice((0, 7, 100))
    return [
        Access(
            task=task,
            run_id=run_id,
            dataset=DatasetId("mssql://db", name),
            kind=Kind.TEMPORARY if name.startswith("#") else Kind.TABLE,
            direction=direction,
            operation=Operation(operation),
            shape_id=f"{operation} {target} {' '.join(sources)}",
            statements=count,
            rows=rows,
            bytes=None if rows is None else rows * 10,
            first_at=at if random.random() < 0.998 else None,
            last_at=ends,
            status=status,
        )
        for direction, name in names
    ]


def _dated(random: Random, content: Records) -> Records:
    """Records of a run that is about the day before it, or about days long ago."""
    day = START + timedelta(days=random.randrange(40))
    if content.runs[0].started_at and random.random() < 0.9:
        day = content.runs[0].started_at.replace(hour=0, minute=0) - timedelta(days=1)

    def periods(access: Access) -> tuple[Period, ...]:
        if access.kind is Kind.TEMPORARY or random.random() < 0.1:
            return ()
        start = day - timedelta(days=random.choice((0, 0, 0, 6)))
        return (Period(start, day + timedelta(days=1), Grain.DAY, PeriodEvidence.PARTITION),)

    runs = content.runs
    if random.random() < 0.3:
        runs = tuple(
            replace(run, nominal_start=day, nominal_end=day + timedelta(days=1)) for run in runs
        )
    accesses = tuple(replace(access, periods=periods(access)) for access in content.accesses)
    return replace(content, runs=runs, accesses=accesses)


def _failed(content: Records) -> Records:
    return replace(
        content,
        accesses=tuple(replace(access, status=Status.FAILED) for access in content.accesses),
        runs=tuple(replace(run, status=Status.FAILED) for run in content.runs),
    )


def together(batches: Sequence[dict[str, Records]]) -> Records:
    """The records of batches: of each origin those of its newest batch."""
    newest = {origin: number for number, batch in enumerate(batches) for origin in batch}
    found = [
        content
        for number, batch in enumerate(batches)
        for origin, content in batch.items()
        if newest[origin] == number
    ]
    return joined_records(found)


def joined_records(records: Sequence[Records]) -> Records:
    """Records one after the other."""
    return Records(
        accesses=tuple(a for record in records for a in record.accesses),
        runs=tuple(r for record in records for r in record.runs),
        shapes={key: shape for record in records for key, shape in record.shapes.items()},
        datasets=tuple(d for record in records for d in record.datasets),
        column_edges=tuple(e for record in records for e in record.column_edges),
        run_repeats=tuple(r for record in records for r in record.run_repeats),
        usage_repeats=tuple(r for record in records for r in record.usage_repeats),
    )
