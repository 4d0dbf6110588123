"""Random histories of runs, and a plain model of what was known of them at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random

from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
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

START = datetime(2026, 9, 1, tzinfo=UTC)
TABLES = tuple(DatasetId("spark", f"shop.{name}") for name in "abcdefg")


@dataclass(frozen=True)
class Statement:
    """One statement of a run; a drop writes what it drops."""

    task: str
    run_id: str
    at: datetime
    operation: Operation
    source: DatasetId | None
    target: DatasetId | None
    failed: bool = False

    @property
    def shape_id(self) -> str:
        """The same for the same statement in any run of any task."""
        return f"{self.operation}:{self.source}:{self.target}"


@dataclass(frozen=True)
class History:
    """Runs with their times, and what they did."""

    runs: Sequence[Run]
    statements: Sequence[Statement]

    def records(self, until: datetime | None = None) -> Records:
        """Records that the logs hold at a time: nothing later; without one all of them."""
        there = [
            statement for statement in self.statements if until is None or statement.at <= until
        ]
        runs = [run for run in self.runs if until is None or (run.started_at or START) <= until]
        done = [one for one in there if not one.failed]
        edges = {one.shape_id: one for one in there if one.source and one.target}
        tasks = {(one.task, one.shape_id) for one in there}
        return Records(
            accesses=tuple(_accesses(there)),
            runs=tuple(_known(run, until) for run in runs),
            shapes={
                **{
                    shape_id: Shape(shape_id, "spark", shape_id, "p", Outcome.PARSED)
                    for shape_id in (statement.shape_id for statement in there)
                },
                **{
                    gap: Shape(gap, "spark", gap, "p", Outcome.PARTIAL)
                    for run in runs
                    for gap in run.gaps
                },
            },
            datasets=tuple(_datasets(done)),
            column_edges=tuple(
                _edge(task, edges[shape]) for task, shape in sorted(tasks) if shape in edges
            ),
        )


def history(seed: int) -> History:
    """A history of about ten days."""
    chance = Random(seed)  # noqa: S311
    runs, statements = [], []
    for number in range(chance.randint(1, 12)):
        task = chance.choice(("load", "mart", "clean"))
        start = START + timedelta(minutes=chance.randrange(14_400))
        end = start + timedelta(minutes=chance.randint(1, 600))
        status = chance.choice((Status.OK, Status.OK, Status.FAILED))
        run = Run(f"r{number}", task, "spark", start, end, status, origin=f"log{number}")
        run = replace(run, gaps=(f"gap {number % 2}",) if number % 3 == 0 else ())
        runs.append(run)
        statements += _work(chance, run, int((end - start).total_seconds()) // 60)
    return History(runs, sorted(statements, key=lambda one: (one.at, one.run_id)))


def times(seed: int) -> list[datetime]:
    """Some times in a history, and one before and one after it, in order."""
    chance = Random(seed + 10_000)  # noqa: S311
    found = [START + timedelta(minutes=chance.randrange(15_000)) for _ in range(4)]
    return [START - timedelta(days=1), *sorted(found), START + timedelta(days=60)]


def _work(chance: Random, run: Run, minutes: int) -> Iterable[Statement]:
    assert run.started_at
    moments = [run.started_at + timedelta(minutes=n) for n in range(minutes + 1)]
    seen = set()
    for _ in range(chance.randint(0, 5)):
        source, target = chance.sample(TABLES, 2)
        operation, reads, writes = chance.choice((
            (Operation.INSERT, True, True),
            (Operation.CREATE_TABLE_AS, True, True),
            (Operation.SELECT, True, False),
            (Operation.INSERT, False, True),
            (Operation.DROP, False, True),
        ))  # fmt: skip
        failed = chance.random() < 0.15
        # Of a shape a run has two statements at most: more have times that no record keeps.
        if (key := (operation, source if reads else None, target if writes else None)) in seen:
            continue
        seen.add(key)
        for at in chance.sample(moments, min(len(moments), chance.randint(1, 2))):
            yield Statement(
                run.task,
                run.run_id,
                at,
                operation,
                source if reads else None,
                target if writes else None,
                failed,
            )


def _accesses(statements: Iterable[Statement]) -> Iterable[Access]:
    groups: dict[tuple[str, str, DatasetId, Direction], list[Statement]] = defaultdict(list)
    for statement in statements:
        for dataset, side in (
            (statement.source, Direction.READ),
            (statement.target, Direction.WRITE),
        ):
            if dataset:
                groups[statement.run_id, statement.shape_id, dataset, side].append(statement)
    for (run_id, shape, dataset, side), group in sorted(groups.items()):
        statement = group[0]
        yield Access(
            task=statement.task,
            run_id=run_id,
            dataset=dataset,
            kind=Kind.TABLE,
            direction=side,
            operation=statement.operation,
            shape_id=shape,
            statements=len(group),
            first_at=min(found.at for found in group),
            last_at=max(found.at for found in group),
            status=Status.FAILED if all(found.failed for found in group) else Status.OK,
            origin=f"log{run_id[1:]}",
        )


def _datasets(done: Sequence[Statement]) -> Iterable[Dataset]:
    seen: dict[tuple[str, DatasetId], list[Statement]] = defaultdict(list)
    for statement in done:
        for dataset in filter(None, (statement.source, statement.target)):
            seen[statement.run_id, dataset].append(statement)
    for (run_id, dataset), group in sorted(seen.items()):
        changes = [one for one in group if one.target == dataset]
        last = changes[-1] if changes else None
        yield Dataset(
            dataset,
            columns=(Column("x"),),
            first_seen=group[0].at,
            last_seen=group[-1].at,
            dropped_at=last.at if last and last.operation.removes else None,
            origin=f"log{run_id[1:]}",
        )


def _edge(task: str, statement: Statement) -> ColumnEdge:
    assert statement.source
    assert statement.target
    kind = Subtype.IDENTITY
    return ColumnEdge(
        task,
        statement.target,
        "x",
        statement.source,
        "x",
        kind.type,
        kind,
        False,
        statement.shape_id,
        "log",
    )


def _known(run: Run, until: datetime | None) -> Run:
    if until is None or run.ended_at is None or run.ended_at <= until:
        return run
    begun = Run(run.run_id, run.task, run.engine, run.started_at, origin=run.origin)
    return replace(begun, gaps=run.gaps)
