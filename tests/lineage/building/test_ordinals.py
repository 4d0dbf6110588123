"""An INSERT without a list of columns fills those that a log defines; else names are a guess."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.records import Column, Dataset, Evidence, Outcome, Records, Shape
from tests.notation import access, column_edge, table

SOURCE, COPY = table("source"), table("copy")
START = datetime(2026, 3, 1, tzinfo=UTC)
GUESS = "columns not resolved: the target's columns are matched by name"
STAR = f"{GUESS}, * of a table whose columns are not known"
# The columns of a table as its CREATE TABLE, in another log, has them: `pk:int_identity total`.
Tables = dict[str, str]


def _records(tables: Tables, edges: str, reason: str) -> Records:
    """An INSERT from `source` into `copy`, and what other logs define.

    Args:
        edges: `id<id 1/3`: a column of the target, one of the source, and the ordinal.
    """
    return Records(
        accesses=(
            access("INSERT", COPY, at=START, origin="log"),
            access("SELECT", SOURCE, at=START, origin="log"),
            *(access("CREATE TABLE", table(name), task="ddl", origin="ddl") for name in tables),
        ),
        shapes={"s": Shape("s", "tsql", "INSERT copy …", "1", Outcome.PARTIAL, reason)},
        datasets=tuple(
            Dataset(
                table(name),
                columns=tuple(
                    Column(column, kind.replace("_", " "))
                    for part in columns.split()
                    for column, _, kind in [part.partition(":")]
                ),
                origin="ddl",
                has_all_columns=True,
            )
            for name, columns in tables.items()
        ),
        column_edges=tuple(
            column_edge(COPY, to, SOURCE, source, shape_id="s", origin="log", ordinal=ordinal)
            for edge in edges.split(", ")
            for ends, _, ordinal in [edge.partition(" ")]
            for to, _, source in [ends.partition("<")]
        ),
    )


@pytest.mark.parametrize(("tables", "edges", "expected"), [
    ({"copy": "k total d"}, "id<id 1/3, *<amount 2/3", {"k<id", "total<amount"}),
    # A name that the table has not is no guess.
    ({"copy": "k total"}, "id<id 1/3, *<amount 2/3", {"*<id inferred", "*<amount inferred"}),
    ({"copy": "id total"}, "id<id 1/3", {"id<id inferred"}),
    ({"copy": "pk:int_identity k c:computed"}, "id<id 1/1", {"k<id"}),
    ({}, "id<id 1/2", {"id<id inferred"}),
    ({}, "id<id", {"id<id"}),
    ({"copy": "a b", "source": "id x"}, "*<* *", {"a<id", "b<x"}),
    ({"copy": "a b c", "source": "id b"}, "*<* *", {"*<id inferred", "b<b inferred"}),
])  # fmt: skip
def test_columns_are_placed_where_as_many_are_defined(
    tables: Tables, edges: str, expected: set[str]
) -> None:
    assert _edges(_records(tables, edges, GUESS)) == expected


def _edges(records: Records) -> set[str]:
    """`k<id`, `k<id inferred` for each edge."""
    marks = {Evidence.OBSERVED: "", Evidence.INFERRED: " inferred"}
    return {
        f"{edge.to_column}<{edge.from_column}{marks[edge.evidence]}"
        for edge in build(records).column_edges
    }


@pytest.mark.parametrize(("operation", "text", "hours", "expected"), [
    ("ALTER", "ALTER TABLE copy ADD d int", -1, {"id<id inferred"}),
    ("ALTER", "ALTER TABLE copy DROP COLUMN a", -1, {"id<id inferred"}),
    ("ALTER", "ALTER TABLE copy DROP CONSTRAINT c, COLUMN a", -1, {"id<id inferred"}),
    ("ALTER", "ALTER TABLE copy RENAME COLUMN k TO b", -1, {"id<id inferred"}),
    ("ALTER", "ALTER TABLE copy REPLACE COLUMNS (b int)", -1, {"id<id inferred"}),
    ("ALTER", "EXEC sp_rename ?, ?, ?", -1, {"id<id inferred"}),
    ("ALTER", "", -1, {"id<id inferred"}),
    ("RENAME", "EXEC sp_rename copy_next, copy", -1, {"id<id inferred"}),
    # The INSERT found what was defined.
    ("ALTER", "ALTER TABLE copy ADD d int", 1, {"k<id"}),
    ("ALTER", "ALTER TABLE copy ADD d int", -3, {"k<id"}),
    # Names and order stay.
    ("ALTER", "ALTER TABLE copy WITH CHECK ADD CONSTRAINT c CHECK (k > ?)", -1, {"k<id"}),
    ("ALTER", "ALTER TABLE copy NOCHECK CONSTRAINT ALL", -1, {"k<id"}),
    ("ALTER", "ALTER TABLE copy DROP CONSTRAINT c", -1, {"k<id"}),
    ("ALTER", "ALTER TABLE copy ALTER COLUMN k bigint", -1, {"k<id"}),
    ("ALTER", "ALTER TABLE copy REBUILD PARTITION = ALL", -1, {"k<id"}),
    ("ALTER", "ALTER TABLE copy ADD PARTITION (d = ?)", -1, {"k<id"}),
    ("DELETE", "DELETE FROM copy", -1, {"k<id"}),
])  # fmt: skip
def test_columns_are_a_guess_where_others_may_have_come_since(
    operation: str, text: str, hours: int, expected: set[str]
) -> None:
    records = _records({"copy": "k"}, "id<id 1/1", GUESS)
    created, others = START - timedelta(hours=2), records.accesses[:2]
    altered = START + timedelta(hours=hours)
    records = replace(
        records,
        accesses=(
            *others,
            access("CREATE TABLE", COPY, at=created, task="ddl", origin="ddl"),
            access(operation, COPY, at=altered, task="ddl", origin="ddl", shape_id="alter"),
        ),
        shapes={**records.shapes, "alter": Shape("alter", "tsql", text, "1", Outcome.PARSED)},
    )
    assert _edges(records) == expected


@pytest.mark.parametrize(("tables", "edges", "reason", "expected"), [
    ({"copy": "k"}, "id<id 1/1", GUESS, None),
    ({}, "id<id 1/1", GUESS, GUESS),
    ({"copy": "k", "source": "id"}, "*<* *", STAR, None),
    ({"copy": "k"}, "*<* *", STAR, STAR),
    ({"copy": "k"}, "id<id 1/1", f"{GUESS}, other", "columns not resolved: other"),
])  # fmt: skip
def test_a_statement_whose_columns_are_placed_is_no_gap(
    tables: Tables, edges: str, reason: str, expected: str | None
) -> None:
    shape = build(_records(tables, edges, reason)).shapes["s"]
    assert (shape.reason, shape.outcome is Outcome.PARSED) == (expected, expected is None)
