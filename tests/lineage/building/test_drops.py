"""Drops: a dataset that was made again is there, whichever log says so."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Dataset, Direction, Records, Status
from tests import notation
from tests.cases import for_each
from tests.lineage.past_histories import START, TABLES

A, *_ = TABLES
DAY = timedelta(days=1)


def _access(day: float, operation: Operation, **other: Any) -> Access:
    return notation.access(operation, A, at=START + day * DAY, run_id=f"r{day}", **other)


DROPPED = Dataset(A, first_seen=START, last_seen=START + DAY, dropped_at=START + DAY, origin="log1")


@for_each("later, is_there", [
    ([], False),
    ([_access(2, Operation.CREATE_TABLE_AS)], True),
    ([_access(2, Operation.INSERT)], True),
    ([_access(0.5, Operation.INSERT)], False),
    ([_access(2, Operation.INSERT, status=Status.FAILED)], False),
    ([_access(2, Operation.SELECT, direction=Direction.READ)], False),
    ([_access(2, Operation.INSERT), _access(3, Operation.DROP)], False),
])  # fmt: skip
def test_a_dataset_is_dropped_until_it_is_written_again(
    later: list[Access], is_there: bool
) -> None:
    accesses = (_access(0, Operation.INSERT), _access(1, Operation.DROP), *later)
    [dataset] = build(Records(accesses, datasets=(DROPPED,))).datasets.values()
    assert (dataset.dropped_at is None) == is_there


def test_the_last_write_is_not_the_drop() -> None:
    accesses = tuple(
        Access(
            *("load", "r", A, Kind.TABLE, Direction.WRITE, operation, operation),
            first_at=at,
            last_at=at,
        )
        for operation, at in (
            (Operation.INSERT, START),
            (Operation.DROP, START + DAY),
        )
    )
    [usage] = build(Records(accesses, datasets=(DROPPED,))).writers(A)
    assert usage.last_at == START
