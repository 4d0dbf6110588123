"""A dataset has the columns that its newest definition names, and those that are used since."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Column, Dataset, Records, Status
from tests.notation import access, column_edge, table

SOURCE, ORDERS = table("source"), table("orders")
START = datetime(2026, 3, 1, tzinfo=UTC)


def _log(day: int, text: str) -> Records:
    """The log of a day: statements of one table, and the columns that they write from another.

    Args:
        text: `DROP, CREATE TABLE: id x`; `!` after a statement that failed.
    """
    at, origin = START + timedelta(days=day), f"log{day}"
    operations, _, names = text.partition(": ")
    is_defined = any(Operation(name.rstrip("!")).defines for name in operations.split(", "))
    return Records(
        accesses=tuple(
            access(
                operation.rstrip("!"),
                ORDERS,
                at=at,
                run_id=f"run-{day}",
                origin=origin,
                status=Status.FAILED if operation.endswith("!") else Status.OK,
            )
            for operation in operations.split(", ")
        ),
        datasets=(
            Dataset(
                ORDERS,
                columns=tuple(Column(name, f"type {day}") for name in names.split()),
                last_seen=at,
                origin=origin,
                has_all_columns=is_defined and "!" not in operations,
            ),
        ),
        column_edges=tuple(
            column_edge(ORDERS, name, SOURCE, name, shape_id="s", origin=origin)
            for name in names.split()
        ),
    )


def _dataset(logs: Sequence[Records]) -> Dataset:
    records = Records(
        accesses=tuple(access for log in logs for access in log.accesses),
        datasets=tuple(dataset for log in logs for dataset in log.datasets),
        column_edges=tuple(edge for log in logs for edge in log.column_edges),
    )
    return build(records).datasets[ORDERS]


@pytest.mark.parametrize(("logs", "columns", "has_all"), [
    (["CREATE TABLE AS: id x", "CREATE TABLE AS: id y"], "id y", True),
    (["CREATE TABLE AS: id x", "CREATE TABLE AS!: id y"], "id x y", True),
    (["CREATE TABLE AS: id x", "INSERT: id y"], "id x y", True),
    (["INSERT: id x", "INSERT: id y"], "id x y", False),
    (["INSERT: id x", "CREATE VIEW: id y"], "id y", True),
    (["INSERT: id x", "SELECT INTO: id y"], "id y", True),
    (["INSERT: id x", "INSERT OVERWRITE: id y"], "id y", True),
    # `CREATE TABLE IF NOT EXISTS` of a table that is there does nothing.
    (["CREATE TABLE: id x", "INSERT: id y"], "id x y", True),
    (["CREATE TABLE: id x", "CREATE TABLE: id y"], "id x y", True),
    (["INSERT: id x", "CREATE TABLE: id y"], "id x y", False),
    (["INSERT: id x", "DROP, CREATE TABLE: id y"], "id y", True),
])  # fmt: skip
def test_columns_are_those_of_the_newest_definition(
    logs: Sequence[str], columns: str, has_all: bool
) -> None:
    dataset = _dataset([_log(day, text) for day, text in enumerate(logs)])
    assert ([c.name for c in dataset.columns], dataset.has_all_columns) == (
        columns.split(),
        has_all,
    )


def test_logs_count_by_their_time_whatever_they_are_called() -> None:
    logs = [_log(day, "CREATE TABLE AS: id") for day in (10, 9)]
    assert _dataset(logs).columns == (Column("id", "type 10"),)


@pytest.mark.parametrize(("day", "expected"), [(0, "id"), (2, "id note")])
def test_a_column_that_only_edges_name_is_there_where_it_was_used_since(
    day: int, expected: str
) -> None:
    used = _log(day, "UPDATE: note")
    without_schema = Records(accesses=used.accesses, column_edges=used.column_edges)
    dataset = _dataset([without_schema, _log(1, "CREATE TABLE AS: id")])
    assert [column.name for column in dataset.columns] == expected.split()
