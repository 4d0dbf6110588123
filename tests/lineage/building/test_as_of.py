"""As of a time: records of then, as if nothing had happened since."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dbt_graft.lineage.building.as_of import as_of, oldest
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    DatasetMetadata,
    Direction,
    Evidence,
    NodeResult,
    Outcome,
    Records,
    Reject,
    Run,
    Shape,
    Status,
    Subtype,
    TaskMetadata,
)
from tests import notation
from tests.cases import for_each
from tests.lineage.past_histories import START, TABLES, history, times

A, B, C, *_ = TABLES
DAY = timedelta(days=1)
EDGE = ColumnEdge("load", B, "x", A, "x", Subtype.IDENTITY.type, Subtype.IDENTITY, False, "", "log")
READ, WRITE = Direction.READ, Direction.WRITE


def _access(dataset: DatasetId, side: Direction, day: float, **other: Any) -> Access:
    values = {"operation": Operation.INSERT, "direction": side, "run_id": "r1", **other}
    return notation.access(dataset=dataset, at=START + day * DAY, **values)


def _facts(lineage: Lineage) -> object:
    """All of a lineage."""
    return replace(
        lineage,
        datasets={key: replace(dataset, origin="") for key, dataset in lineage.datasets.items()},
    )


@for_each("seed", range(300), quick=20)
def test_the_lineage_as_of_a_time_is_that_of_the_records_of_then(seed: int) -> None:
    past = history(seed)
    records = past.records()
    for at in times(seed):
        assert _facts(build(as_of(records, at))) == _facts(build(past.records(at)))


@for_each("seed", range(20))
def test_as_of_an_earlier_time_of_a_later_one_is_as_of_the_earlier(seed: int) -> None:
    records = history(seed).records()
    first, *_, last = times(seed)
    for at in times(seed):
        assert _facts(build(as_of(as_of(records, last), at))) == _facts(build(as_of(records, at)))
    assert not as_of(records, first).accesses
    assert build(as_of(records, last)) == build(records)


def test_a_statement_that_goes_on_is_cut_and_its_counts_are_not_known() -> None:
    long = _access(A, WRITE, 0, last_at=START + 2 * DAY, rows=7, bytes=9, files=1, partitions=1)
    [cut] = as_of(Records((long,)), START + DAY).accesses
    assert cut.last_at == START + DAY
    assert (cut.rows, cut.bytes, cut.files, cut.partitions) == (None, None, None, None)


def test_a_run_that_goes_on_has_no_end_yet() -> None:
    run = Run("r1", "load", "spark", START, START + 2 * DAY, Status.FAILED, "no space")
    [running] = as_of(Records(runs=(run,)), START + DAY).runs
    assert (running.ended_at, running.status, running.error) == (None, Status.UNKNOWN, None)


@pytest.mark.parametrize(("day", "dropped"), [
    (0.5, None), (1.5, START + DAY), (2.5, None), (3.5, START + 3 * DAY), (4.5, None),
])  # fmt: skip
def test_a_table_was_dropped_at_the_times_at_which_it_was(
    day: float, dropped: datetime | None
) -> None:
    made = {"operation": Operation.CREATE_TABLE_AS}
    drop = {"operation": Operation.DROP, "last_at": START + 3 * DAY, "statements": 2}
    records = Records(
        (
            _access(A, WRITE, 0, shape_id="s0", **made),
            _access(A, WRITE, 1, shape_id="s1", **drop),
            _access(A, WRITE, 2, shape_id="s2", **made),
            _access(A, WRITE, 4, shape_id="s3", **made),
        ),
        datasets=(Dataset(A, first_seen=START, last_seen=START + 4 * DAY),),
    )
    assert as_of(records, START + day * DAY).datasets[0].dropped_at == dropped


def test_a_failed_drop_drops_nothing() -> None:
    failed = _access(A, WRITE, 1, operation=Operation.DROP, status=Status.FAILED)
    records = Records((_access(A, WRITE, 0, shape_id="s0"), failed), datasets=(Dataset(A),))
    assert as_of(records, START + 2 * DAY).datasets[0].dropped_at is None


def test_what_has_no_time_is_as_old_as_its_log() -> None:
    timed = _access(A, WRITE, 1, origin="log")
    records = Records(
        (timed, _access(B, WRITE, 1, first_at=None, last_at=None, evidence=Evidence.DECLARED)),
        rejects=(Reject("log", "9", "cut"), Reject("lineage.yml", "1", "no task")),
    )
    before = as_of(records, START)
    assert [access.dataset for access in before.accesses] == [B]
    assert [reject.origin for reject in before.rejects] == ["lineage.yml"]
    assert as_of(records, START + DAY) == records


def test_a_column_edge_is_as_old_as_the_first_statement_of_its_shape() -> None:
    edge = replace(EDGE, shape_id="s")
    shape = Shape("s", "spark", "INSERT", "plan", Outcome.PARSED)
    unparsed = replace(shape, shape_id="t", outcome=Outcome.FAILED)
    records = Records(
        (_access(B, WRITE, 2),), column_edges=(edge,), shapes={"s": shape, "t": unparsed}
    )
    before, after = (as_of(records, START + day * DAY) for day in (1, 2))
    assert not before.column_edges
    assert set(before.shapes) == {"t"}
    assert after == records


def test_a_column_edge_of_what_a_later_run_made_is_not_there() -> None:
    # The same statement ran before: temporary tables have names of their own in each run.
    edges = tuple(replace(EDGE, to_dataset=target, shape_id="s") for target in (B, C))
    records = Records(
        tuple(
            _access(dataset, side, day, shape_id="s")
            for dataset, side, day in ((A, READ, 0), (B, WRITE, 0), (A, READ, 2), (C, WRITE, 2))
        ),
        column_edges=edges,
    )
    before = as_of(records, START + DAY)
    assert [edge.to_dataset for edge in before.column_edges] == [B]
    assert as_of(records, START + 3 * DAY).column_edges == edges


def test_results_and_metadata_are_those_of_then() -> None:
    records = Records(
        node_results=tuple(
            NodeResult(f"model.m{day}", "i", started_at=START + day * DAY, ended_at=None)
            for day in range(3)
        ),
        task_metadata=tuple(
            TaskMetadata("load", START + day * DAY, owner=f"o{day}") for day in range(3)
        ),
        dataset_metadata=tuple(
            DatasetMetadata(A, START + day * DAY, owner=f"o{day}") for day in range(3)
        ),
    )
    found = as_of(records, START + DAY)
    assert len(found.node_results) == len(found.task_metadata) == len(found.dataset_metadata) == 2


def test_a_dataset_that_was_seen_later_only_is_not_there() -> None:
    records = Records(
        datasets=(
            Dataset(A, columns=(Column("old"),), first_seen=START, last_seen=START + DAY),
            Dataset(A, columns=(Column("new"),), first_seen=START + 2 * DAY),
            Dataset(B, first_seen=START + 2 * DAY),
        )
    )
    [dataset] = as_of(records, START + DAY).datasets
    assert (dataset.id, dataset.columns) == (A, (Column("old"),))


@for_each(
    "day, last",
    [(0, 0), (1, 0), (2, 2), (2.5, 2.5), (3, 3), (9, 9)],
)
def test_a_dataset_was_seen_last_when_it_was_used_last(day: float, last: float) -> None:
    records = Records(
        (
            _access(A, WRITE, 0, shape_id="s0"),
            # It goes on for a day.
            _access(A, WRITE, 2, shape_id="s1", last_at=START + 3 * DAY),
        ),
        datasets=(Dataset(A, first_seen=START, last_seen=START + 9 * DAY),),
    )
    [dataset] = as_of(records, START + day * DAY).datasets
    assert dataset.last_seen == START + last * DAY


def test_the_oldest_time_is_that_of_the_first_record() -> None:
    run = Run("r1", "load", "spark", datetime(2026, 8, 1, tzinfo=UTC))
    assert oldest(Records((_access(A, WRITE, 0),), (run,))) == run.started_at
    assert oldest(Records()) is None
