"""Usages: how tasks use datasets, engine by engine."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Records, Run, Status
from dbt_graft.lineage.usage import _usage, _usage_of_one
from tests import notation
from tests.cases import for_each

DAY = datetime(2026, 11, 1, tzinfo=UTC)
A, B, TEMPORARY = (DatasetId("db", name) for name in ("a", "b", "##t"))
READ, WRITE = Direction.READ, Direction.WRITE


def access(
    run_id: str,
    direction: Direction,
    dataset: DatasetId,
    hour: int,
    operation: Operation = Operation.INSERT,
    **fields: Any,
) -> Access:
    at, shape = DAY + timedelta(hours=hour), f"{operation} {dataset} {direction}"
    known = {"run_id": run_id, "direction": direction, "shape_id": shape, **fields}
    return notation.access(operation, dataset, at=at, **known)


def run(run_id: str, engine: str, hour: int, status: Status = Status.OK, parent: str = "") -> Run:
    return Run(
        run_id, "load", engine, DAY + timedelta(hours=hour), status=status, parent_run_id=parent
    )


def test_a_task_on_two_engines_is_one_task_and_each_usage_keeps_its_engine() -> None:
    records = Records(
        accesses=(access("s1", WRITE, A, 1), access("p1", WRITE, A, 2), access("p1", WRITE, B, 2)),
        runs=(run("s1", "sqlserver", 1), run("p1", "spark", 2)),
    )
    task = build(records).tasks["load"]
    assert task.engines == ("spark", "sqlserver")
    assert [(str(u.dataset), u.engine) for u in task.usages] == [
        ("db/a", "spark"),
        ("db/a", "sqlserver"),
        ("db/b", "spark"),
    ]


def test_the_last_run_of_a_write_is_not_that_of_a_later_run_on_another_engine() -> None:
    failed, later = run("s1", "sqlserver", 1, Status.FAILED), run("p1", "spark", 2)
    records = Records(
        accesses=(access("s1", WRITE, A, 1, status=Status.FAILED), access("p1", WRITE, B, 2)),
        runs=(failed, later),
    )
    lineage = build(records)
    (usage,) = lineage.usages_of(A, WRITE)
    assert (usage.engine, usage.failed) == ("sqlserver", True)
    assert lineage.tasks["load"].runs_of(usage) == (failed,)
    assert lineage.writers(A) == ()


def test_a_failed_run_counts_for_all_that_the_task_does_on_its_engine() -> None:
    failed = run("s2", "sqlserver", 2, Status.FAILED)
    records = Records((access("s1", WRITE, A, 1),), (run("s1", "sqlserver", 1), failed))
    lineage = build(records)
    (usage,) = lineage.writers(A)
    assert lineage.tasks["load"].runs_of(usage)[0] == failed


@for_each(
    "operations, idle",
    [
        ("INSERT", False),
        ("DELETE", True),
        ("TRUNCATE", True),
        ("TRUNCATE INSERT", False),
        ("DELETE MERGE", False),
        ("DELETE !INSERT", True),
        ("!DELETE !INSERT", False),
        ("UPDATE", False),
        ("ALTER", True),
    ],
)
def test_a_run_that_brings_no_data_is_idle(operations: str, idle: bool) -> None:
    second = [
        access(
            *("r2", WRITE, A, 2, Operation(operation.strip("!"))),
            status=Status.FAILED if operation[0] == "!" else Status.OK,
        )
        for operation in operations.split()
    ]
    (usage,) = build(Records((access("r1", WRITE, A, 1), *second))).writers(A)
    assert usage.idle_runs == (("r2",) if idle else ())


def test_the_last_write_is_the_last_that_succeeded_and_else_the_last_attempt() -> None:
    attempt = access("r2", WRITE, A, 2, status=Status.FAILED)
    (usage,) = build(Records((access("r1", WRITE, A, 1), attempt))).usages_of(A, WRITE)
    assert (usage.last_at, usage.failed) == (DAY + timedelta(hours=1), False)
    (usage,) = build(Records((attempt,))).usages_of(A, WRITE)
    assert (usage.last_at, usage.failed) == (DAY + timedelta(hours=2), True)


def test_engines_share_a_memory_within_a_run_of_their_orchestrator() -> None:
    accesses = (access("s1", READ, A, 1, Operation.SELECT), access("p1", WRITE, B, 2))
    alone = (run("s1", "sqlserver", 1), run("p1", "spark", 2))
    together = tuple(run(r.run_id, r.engine, 1, parent="airflow-1") for r in alone)
    assert build(Records(accesses, alone)).flows == ()
    (flow,) = build(Records(accesses, together)).flows
    assert (flow.source, flow.target, flow.through_memory) == (A, B, True)


def test_who_takes_data_out_of_a_global_temporary_table_reads_what_filled_it() -> None:
    records = Records(
        accesses=(
            access("f1", WRITE, TEMPORARY, 1, Operation.SELECT_INTO, task="fill"),
            access("f1", READ, A, 1, Operation.SELECT_INTO, task="fill"),
            access("u1", READ, TEMPORARY, 2, task="use"),
            access("u1", WRITE, B, 2, task="use"),
        )
    )
    same_shape = tuple(
        Access(**{**{f: getattr(a, f) for f in a.__slots__}, "shape_id": a.task})
        for a in records.accesses
    )
    lineage = build(Records(same_shape))
    assert [usage.task for usage in lineage.readers(A)] == ["fill", "use"]
    assert lineage.tasks["use"].reads == [A]
    assert [usage.task for usage in lineage.writers(B)] == ["use"]


def test_what_decides_which_rows_go_makes_its_task_a_writer() -> None:
    records = Records(
        accesses=tuple(
            Access("clean", "c1", dataset, Kind.TABLE, direction, Operation.DELETE, "s")
            for dataset, direction in ((A, WRITE), (B, READ))
        )
    )
    assert [usage.task for usage in build(records).writers(A)] == ["clean"]


def test_each_run_has_the_rows_that_its_log_counts() -> None:
    def wrote(run_id: str, hour: int, rows: int | None, status: Status = Status.OK) -> Access:
        return replace(access(run_id, WRITE, A, hour, status=status), rows=rows)

    accesses = (
        *(wrote("r1", 1, 10), wrote("r1", 2, 5), wrote("r1", 3, 7, Status.FAILED)),
        *(wrote("r2", 4, None), wrote("r3", 5, 0)),
    )
    [usage] = build(Records(accesses=accesses)).tasks["load"].usages
    assert dict(zip(usage.run_ids, usage.run_rows, strict=True)) == {"r1": 15, "r2": None, "r3": 0}
    assert usage.rows == 0


def test_where_no_log_counts_rows_no_run_has_any() -> None:
    [usage] = build(Records(accesses=(access("r1", WRITE, A, 1),))).tasks["load"].usages
    assert (usage.run_ids, usage.run_rows) == (("r1",), ())


def test_a_use_by_one_access_is_made_as_that_by_several() -> None:
    for operation, status, moved in product(Operation, Status, (False, True)):
        for direction, fields in product(
            Direction, ({}, {"rows": 3, "bytes": 5, "procedure": "p"})
        ):
            group = [access("1", direction, A, 1, operation, status=status, **fields)]
            made = _usage_of_one(group, "spark", moved=moved)
            assert made == _usage(group, "spark", moved=moved), group
