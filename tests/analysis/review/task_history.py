"""Runs of tasks before and since a base, in few words, and what a review says of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from dbt_graft.analysis.review.node_change import NodeReview
from dbt_graft.analysis.review.task_runs import RunsAround, runs_since
from dbt_graft.analysis.review.tasks import TaskSurroundings, run_reviews
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    Masking,
    Outcome,
    Records,
    Run,
    Shape,
    Status,
    Subtype,
)

BASE = datetime(2026, 10, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def table(name: str) -> DatasetId:
    """The table of a name."""
    return DatasetId("spark", name)


@dataclass(frozen=True)
class Did:
    """A statement.

    Attributes:
        text: What is another in statements that do the same.
        columns: Output column -> `table.column`, with several spaces between.
        rows: What decides on rows: subtype -> `table.column`.
        masked: Output columns that are hashed.
    """

    target: str
    sources: str = ""
    text: str = ""
    how: Operation = Operation.INSERT
    columns: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[Subtype, str] = field(default_factory=dict)
    masked: Collection[str] = ()
    dialect: str = "spark"
    outcome: Outcome = Outcome.PARSED

    @property
    def shape_id(self) -> str:
        """That of its text; plans have no text."""
        columns = f"{sorted(self.columns.items())}{sorted(self.rows.items())}"
        text = f"{self.text}{columns}" if self.dialect == "spark" else ""
        return f"{self.how}|{self.target}|{self.sources}|{text}"


@dataclass(frozen=True)
class Ran:
    """A run on a day after the base, or before."""

    day: int
    statements: Sequence[Did]
    status: Status = Status.OK
    task: str = "load"
    engine: str = "spark"
    is_over: bool = True


def records(*runs: Ran, schemas: Mapping[str, str] | None = None) -> Records:
    """The records of runs; each has a log of its own."""
    accesses, edges, shapes, ran = [], [], {}, []
    for number, run in enumerate(runs):
        run_id, at = f"{run.task}-{number}", BASE + run.day * DAY
        end = at + DAY / 24 if run.is_over else None
        ran.append(Run(run_id, run.task, run.engine, at, end, run.status, origin=run_id))
        for did in run.statements:
            shape = did.shape_id
            shapes[shape] = Shape(shape, did.dialect, did.text, "test", did.outcome)
            ends = [(source, Direction.READ) for source in did.sources.split()]
            ends += [(did.target, Direction.WRITE)] if did.target else []
            for name, direction in ends:
                accesses.append(
                    Access(
                        *(run.task, run_id, table(name), Kind.TABLE, direction, did.how, shape),
                        first_at=at,
                        last_at=at,
                        origin=run_id,
                    )
                )
            for column, sources in did.columns.items():
                masked = Masking.HASH if column in did.masked else Masking.NONE
                edges += [_edge(run.task, run_id, did, column, s, masked) for s in sources.split()]
            for subtype, source in did.rows.items():
                edges.append(_edge(run.task, run_id, did, "*", source, Masking.NONE, subtype))
    datasets = tuple(
        Dataset(table(name), columns=tuple(map(Column, columns.split())))
        for name, columns in (schemas or {}).items()
    )
    return Records(tuple(accesses), tuple(ran), shapes, datasets, column_edges=tuple(edges))


def _edge(
    task: str,
    run_id: str,
    did: Did,
    column: str,
    source: str,
    masked: Masking,
    subtype: Subtype = Subtype.IDENTITY,
) -> ColumnEdge:
    name, _, source_column = source.rpartition(".")
    return ColumnEdge(
        *(task, table(did.target), column, table(name), source_column, subtype.type, subtype),
        masking=bool(masked),
        shape_id=did.shape_id,
        origin=run_id,
        masked_by=masked,
    )


def reviews(
    around: RunsAround, writers: Mapping[DatasetId, Collection[str]] | None = None
) -> tuple[NodeReview, ...]:
    """The tasks that changed."""
    before, since, *last = (build(one) for one in (around.before, around.since, *around.last))
    surroundings = TaskSurroundings(writers or {}, around.known)
    return run_reviews(before, last, since, surroundings, around.changed, lambda shape: None)


def said(*runs: Ran, **more: str) -> list[str]:
    """The changes of the task `load`, in words."""
    found = reviews(runs_since(records(*runs, schemas=more), BASE))
    return [
        " ".join(filter(None, [change.verdict.name, change.column, change.text]))
        for review in found
        if review.node_id == "load"
        for change in review.changes
    ]
