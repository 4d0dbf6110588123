"""A lineage in layers: each table has its columns from two tables of the layer before."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.arrow_tables import tables
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    Records,
    Run,
    Status,
    Subtype,
)

LAYERS, PARENTS, COLUMNS = 20, 2, 5
_FILTERED = 3  # of so many tables one has a filter on its parents
_START = datetime(2026, 11, 1, tzinfo=UTC)


def table(number: int) -> DatasetId:
    """A table, by its number."""
    return DatasetId("spark", f"db.table_{number}")


def write_layers(place: Path, count: int) -> None:
    """Write a store of so many tables: each but the first ones has a task, which ran once."""
    accesses, runs, edges = list[Access](), list[Run](), list[ColumnEdge]()
    for number, parents in _parents(count):
        task, run = f"task_{number}", f"run_{number}"
        at = _START + timedelta(seconds=number)
        origin = f"bench:{number % 100}"
        runs.append(Run(run, task, "spark", at, at, Status.OK, origin=origin))
        for one, direction in (*((p, Direction.READ) for p in parents), (number, Direction.WRITE)):
            operation = Operation.SELECT if direction is Direction.READ else Operation.INSERT
            accesses.append(
                Access(
                    *(task, run, table(one), Kind.TABLE, direction, operation, ""),
                    first_at=at,
                    last_at=at,
                    origin=origin,
                )
            )
        for parent in parents:
            edges += _edges(table(parent), table(number), number, origin)
    columns = tuple(Column(f"column_{number}", "bigint") for number in range(COLUMNS))
    records = Records(
        *(tuple(accesses), tuple(runs)),
        datasets=tuple(Dataset(table(n), columns=columns, origin="bench:0") for n in range(count)),
        column_edges=tuple(edges),
    )
    store.commit(str(place), [tables(records, {f"bench:{n}": "read" for n in range(100)})])


def _parents(count: int) -> Iterator[tuple[int, list[int]]]:
    chance, size = random.Random(1), count // LAYERS
    for number in range(size, count):
        layer = number // size
        yield number, chance.sample(range((layer - 1) * size, layer * size), PARENTS)


def _edges(
    parent: DatasetId, child: DatasetId, number: int, origin: str = ""
) -> Iterator[ColumnEdge]:
    for column in range(COLUMNS):
        yield _edge(parent, child, number, origin, column, Subtype.IDENTITY)
    if number % _FILTERED == 0:
        yield _edge(parent, child, number, origin, COLUMNS - 1, Subtype.FILTER)


def _edge(
    parent: DatasetId, child: DatasetId, number: int, origin: str, column: int, kind: Subtype
) -> ColumnEdge:
    return ColumnEdge(
        task=f"task_{number}",
        to_dataset=child,
        to_column="*" if kind is Subtype.FILTER else f"column_{column}",
        from_dataset=parent,
        from_column=f"column_{column}",
        type=kind.type,
        subtype=kind,
        masking=False,
        shape_id="",
        origin=origin,
    )
