"""dbt's own runs in a log: nobody's task, and of each model the last one counts."""

from __future__ import annotations

from datetime import UTC, datetime

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    ColumnEdge,
    Direction,
    EdgeType,
    Records,
    Run,
    Status,
    Subtype,
)

RAW, MART = DatasetId("spark", "raw.orders"), DatasetId("spark", "dw.mart")


def run(
    day: int, column: str, engine: str = "dbt", status: Status = Status.OK, into: DatasetId = MART
) -> Records:
    """A run that fills a table from one column, in a log of its own."""
    origin, at = f"log {day}", datetime(2026, 11, day, tzinfo=UTC)
    task = "dbt" if engine == "dbt" else "load"
    accesses = (
        Access(
            *(task, origin, dataset, Kind.TABLE, direction, Operation.CREATE_TABLE_AS, "shape"),
            first_at=at,
            last_at=at,
            status=status,
            origin=origin,
        )
        for dataset, direction in ((RAW, Direction.READ), (into, Direction.WRITE))
    )
    edge = ColumnEdge(
        *(task, into, "id", RAW, column, EdgeType.DIRECT, Subtype.IDENTITY, False, "shape"),
        origin=origin,
    )
    return Records(
        accesses=tuple(accesses),
        runs=(Run(origin, task, engine, at, at, status, origin=origin),),
        column_edges=(edge,) if status is Status.OK else (),
    )


def together(*parts: Records) -> Records:
    return Records(
        accesses=tuple(access for part in parts for access in part.accesses),
        runs=tuple(one for part in parts for one in part.runs),
        column_edges=tuple(edge for part in parts for edge in part.column_edges),
    )


def test_a_run_of_dbt_is_no_task_and_no_flow() -> None:
    lineage = build(together(run(1, "id"), run(2, "key", engine="spark")))

    assert list(lineage.tasks) == ["load"]
    assert {flow.task for flow in lineage.flows} == {"load"}
    assert [edge.from_column for edge in lineage.column_edges] == ["key"]
    assert [edge.from_column for edge in lineage.dbt.column_edges] == ["id"]


def test_a_dataset_that_only_dbt_touches_is_not_of_the_logs() -> None:
    assert build(run(1, "id")).datasets == {}


def test_of_several_runs_the_last_that_wrote_the_table_counts() -> None:
    old, new = run(1, "old"), run(3, "new")
    elsewhere = run(4, "id", into=DatasetId("spark", "dw.other"))
    failed = run(5, "wrong", status=Status.FAILED)

    lineage = build(together(new, old, elsewhere, failed))

    assert {(e.to_dataset.name, e.from_column) for e in lineage.dbt.column_edges} == {
        ("dw.mart", "new"),
        ("dw.other", "id"),
    }


def test_names_follow_the_rules() -> None:
    def rename(dataset: DatasetId) -> DatasetId:
        return DatasetId("spark", dataset.name.replace("dw.", "analytics."))

    [edge] = build(run(1, "id"), rename).dbt.column_edges

    assert edge.to_dataset.name == "analytics.mart"
