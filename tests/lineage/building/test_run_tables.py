"""Tables with the id or time of a run in their names -> one dataset."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.building.run_tables import pattern
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.names import NameReason
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Records
from dbt_graft.lineage.settings import LineageSettings, OneNameRules
from tests import notation
from tests.cases import for_each

AT = datetime(2026, 11, 20, tzinfo=UTC)
A, B = "tmp_orders_8f3a91c2", "tmp_orders_77b0ce41"


def dataset(name: str) -> DatasetId:
    return DatasetId("spark", f"raw.{name}")


def access(run: str, name: str, operation: Operation = Operation.CREATE_TABLE_AS) -> Access:
    """By a run: `load 1`."""
    task, run_id = run.split()
    at = AT.replace(hour={"SELECT": 1, "DROP": 2}.get(operation, 0))
    return notation.access(operation, dataset(name), at=at, task=task, run_id=run_id, shape_id=name)


@for_each(
    "name, expected",
    [
        ("tmp_orders_8f3a91c2", "tmp_orders_*"),
        ("tmp_8F3A91C2_orders", "tmp_*_orders"),
        ("stage_20261101_142233", "stage_*"),
        ("stage_20261101T142233Z", "stage_*"),
        ("stage_202611011422", "stage_*"),
        ("x_1795461960578", "x_*"),
        ("x_123e4567-e89b-12d3-a456-426614174000", "x_*"),
        ("x_123e4567_e89b_12d3_a456_426614174000", "x_*"),
        ("orders", ""),
        ("orders_20261101", ""),
        ("orders_2026", ""),
        ("dim_1", ""),
        ("facade_accede", ""),
        ("decade", ""),
        ("20261101142233", ""),
    ],
)
def test_names(name: str, expected: str) -> None:
    assert pattern(dataset(name)) == (dataset(expected) if expected else None)


def test_tables_of_two_runs_are_one_dataset() -> None:
    used = [access("load 1", A), access("load 1", A, Operation.SELECT), access("load 2", B)]
    lineage = build(Records(tuple(used)))
    assert list(lineage.datasets) == [dataset("tmp_orders_*")]
    assert set(lineage.names.aliases[dataset("tmp_orders_*")]) == {dataset(A), dataset(B)}
    assert set(lineage.names.reasons.values()) == {NameReason.RUN_TABLE}


@pytest.mark.parametrize(
    "more",
    [
        [access("load 2", A, Operation.SELECT)],
        [access("report 9", A, Operation.SELECT)],
        [access("load 2", A)],
        [access("other 1", "tmp_orders_0c0c0c0c")],
    ],
    ids=["read by a later run", "read by another task", "written twice", "of two tasks"],
)
def test_tables_that_runs_share_stay(more: list[Access]) -> None:
    lineage = build(Records((access("load 1", A), access("load 2", B), *more)))
    assert {dataset(A), dataset(B)} <= set(lineage.datasets)


def test_one_table_alone_stays() -> None:
    assert list(build(Records((access("load 1", A),))).datasets) == [dataset(A)]


def test_it_can_be_turned_off() -> None:
    records = Records((access("load 1", A), access("load 2", B)))
    assert (
        len(
            build(
                records, settings=LineageSettings(one_name=OneNameRules(run_tables=False))
            ).datasets
        )
        == 2
    )


def test_a_later_run_may_drop_them() -> None:
    used = [access("load 1", A), access("load 2", B), access("clean 1", A, Operation.DROP)]
    lineage = build(Records(tuple(used)))
    assert list(lineage.datasets) == [dataset("tmp_orders_*")]
    assert lineage.datasets[dataset("tmp_orders_*")].dropped_at is None


def test_tables_that_their_runs_drop_are_seen_through() -> None:
    used = [
        access(run, name, operation)
        for run, name in (("load 1", A), ("load 2", B))
        for operation in (Operation.CREATE_TABLE_AS, Operation.SELECT, Operation.DROP)
    ]
    assert not build(Records(tuple(used))).datasets
