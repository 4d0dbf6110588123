"""Columns through a task's memory: what a run read before it wrote columns of equal name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.names import NameRule, NameRules
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    Evidence,
    Records,
    Run,
    Status,
    Subtype,
)
from dbt_graft.lineage.settings import LineageSettings
from tests.cases import for_each

START = datetime(2026, 11, 1, tzinfo=UTC)


def dataset(name: str) -> DatasetId:
    return MEMORY if name == "memory" else DatasetId("db", name)


def statement(text: str, position: int) -> tuple[list[Access], list[ColumnEdge]]:
    """`job/1 y.a < memory.a | y.* < memory.d FILTER`: a statement and its edges.

    Without a task it is `t/1`; `failed` before it; edges are IDENTITY where they do not say. What
    leaves the memory is inferred, as collectors store it.
    """
    failed = text.startswith("failed ")
    text = text.removeprefix("failed ")
    head = text.split()[0]
    task, _, run = (head if "/" in head else "t/1").partition("/")
    text = text.removeprefix(head) if "/" in head else text
    shape = f"{task}:{text.strip()}"
    edges = []
    for one in text.split("|"):
        to, _, source, *kind = one.split()
        (to_table, to_column), (table, column) = to.rsplit(".", 1), source.rsplit(".", 1)
        sent = table == "memory"
        subtype = Subtype(kind[0]) if kind else Subtype("TRANSFORMATION" if sent else "IDENTITY")
        edges.append(
            ColumnEdge(
                task=task,
                to_dataset=dataset(to_table),
                to_column=to_column,
                from_dataset=dataset(table),
                from_column=column,
                type=subtype.type,
                subtype=subtype,
                masking=False,
                shape_id=shape,
                evidence=Evidence.INFERRED if sent else Evidence.OBSERVED,
            )
        )
    at = START + timedelta(seconds=position)
    used = {(e.to_dataset, Direction.WRITE) for e in edges}
    used |= {(e.from_dataset, Direction.READ) for e in edges}
    writes = any(d is Direction.WRITE and one != MEMORY for one, d in used)
    found = [
        Access(
            task=task,
            run_id=run,
            dataset=one,
            kind=Kind.TEMPORARY if one.name.startswith("#") else Kind.TABLE,
            direction=direction,
            operation=Operation.INSERT if writes else Operation.SELECT,
            shape_id=shape,
            first_at=at,
            last_at=at,
            status=Status.FAILED if failed else Status.OK,
        )
        for one, direction in sorted(used)
        if one != MEMORY
    ]
    return found, edges


def lineage_records(statements: Sequence[str], columns: str = "", **parents: str) -> Records:
    """The records of statements in order, and of datasets with these columns: `x=a,b`."""
    found = [statement(text, position) for position, text in enumerate(statements)]
    accesses = [one for each, _ in found for one in each]
    named = [one.split("=") for one in columns.split()]
    return Records(
        accesses=tuple(accesses),
        runs=tuple(
            Run(run_id, task, "sqlserver", parent_run_id=parents.get(run_id))
            for task, run_id in sorted({(a.task, a.run_id) for a in accesses})
        ),
        datasets=tuple(
            Dataset(dataset(name), columns=tuple(map(Column, names.split(","))))
            for name, names in named
        ),
        column_edges=tuple(dict.fromkeys(edge for _, each in found for edge in each)),
    )


def inferred(records: Records, settings: LineageSettings | None = None) -> list[str]:
    """The inferred edges as the cases write them; observed ones with a `+` before."""
    lineage = build(records, settings=settings)
    return [
        f"{'' if e.evidence is Evidence.INFERRED else '+'}{e.to_dataset.name}.{e.to_column} < "
        f"{e.from_dataset.name}.{e.from_column}"
        + ("" if e.subtype is Subtype.TRANSFORMATION else f" {e.subtype}")
        for e in lineage.column_edges
    ]


READ, WRITE = "memory.a < x.a | memory.b < x.b", "y.a < memory.a | y.c < memory.c"

CASES: dict[str, tuple[list[str], list[str]]] = {
    "columns of equal name are connected, others not": ([READ, WRITE], ["y.a < x.a"]),
    "names are compared without case": (
        ["memory.Amount < x.amount", "y.AMOUNT < memory.AMOUNT"],
        ["y.AMOUNT < x.amount"],
    ),
    "the name is that of the query's result": (
        ["memory.a < x.price", "y.a < memory.a | y.price < memory.price"],
        ["y.a < x.price"],
    ),
    "what is written before the read is not fed by it": ([WRITE, READ], []),
    "nothing passes between tasks": (["one/1 " + READ, "two/2 " + WRITE], []),
    "nothing passes between runs": (["t/1 " + READ, "t/2 " + WRITE], []),
    "a column passes only where one run did both": (
        ["t/1 memory.a < x.a", "t/1 y.c < memory.c", "t/2 memory.c < x.c", "t/2 y.a < memory.a"],
        [],
    ),
    "a failed read feeds nothing": (["failed " + READ, WRITE], []),
    "several reads of one name all feed": (
        ["memory.a < x.a", "memory.a < z.a", "y.a < memory.a"],
        ["y.a < x.a", "y.a < z.a"],
    ),
    "what chose the rows goes on with them": (
        [READ + " | memory.* < x.day FILTER | memory.* < z.k JOIN", WRITE],
        ["y.* < x.day FILTER", "y.* < z.k JOIN", "y.a < x.a"],
    ),
    "without a column of equal name it does not": (
        ["memory.n < x.n | memory.* < x.day FILTER", WRITE],
        [],
    ),
    "an aggregate stays one": (["memory.a < x.b AGGREGATION", WRITE], ["y.a < x.b AGGREGATION"]),
    "a key by which rows are found decides": (
        ["memory.id < x.id", "y.* < memory.id FILTER"],
        ["y.* < x.id FILTER"],
    ),
    "a table does not feed itself under the same name": (
        ["memory.a < y.a | memory.b < y.c", "y.a < memory.a | y.b < memory.b"],
        ["y.b < y.c"],
    ),
    "a temporary table on the way in": (
        ["#t.a < x.a", "memory.a < #t.a", WRITE],
        ["y.a < x.a"],
    ),
    "a temporary table on the way out": (
        [READ, "#t.a < memory.a | #t.k < memory.k", "y.n < #t.a | y.k < #t.k"],
        ["y.n < x.a"],
    ),
    "a temporary table that was filled before the read": (
        ["#t.a < memory.a", READ, "y.n < #t.a"],
        [],
    ),
    "memory twice": (
        [READ, "#t.a < memory.a", "memory.n < #t.a", "y.n < memory.n"],
        ["y.n < x.a"],
    ),
    "a table in between is an end of its own": (
        [READ, "z.a < memory.a", "memory.k < z.a", "y.k < memory.k"],
        ["y.k < z.a", "z.a < x.a"],
    ),
    "an observed edge needs no inferred one": (
        [READ, WRITE, "y.a < x.a | y.* < x.d FILTER"],
        ["+y.* < x.d FILTER", "+y.a < x.a IDENTITY"],
    ),
    "one observed edge does not speak for another task": (
        ["a/1 " + READ, "a/1 " + WRITE, "b/1 y.a < x.a"],
        ["y.a < x.a", "+y.a < x.a IDENTITY"],
    ),
    "rows made of another table's keep `*` where no name is equal": (
        ["y.a < x.* TRANSFORMATION | y.n < x.* TRANSFORMATION"
         " | memory.a < x.a | y.a < memory.a | y.n < memory.n"],
        ["y.a < x.a", "+y.n < x.*"],
    ),
}  # fmt: skip


@for_each("claim", CASES)
def test_memory(claim: str) -> None:
    statements, expected = CASES[claim]
    assert inferred(lineage_records(statements)) == expected


def test_engines_in_one_run_of_an_orchestrator_share_a_memory() -> None:
    statements = ["t/sql " + READ, "t/spark " + WRITE]
    assert inferred(lineage_records(statements, sql="dag-1", spark="dag-1")) == ["y.a < x.a"]
    assert inferred(lineage_records(statements, sql="dag-1", spark="dag-2")) == []


@pytest.mark.parametrize(("columns", "expected"), [("", []), ("x=a,d", ["y.a < x.a"])])
def test_all_columns_feed_where_they_are_known(columns: str, expected: list[str]) -> None:
    assert inferred(lineage_records(["memory.* < x.*", WRITE], columns)) == expected


def test_inference_can_be_turned_off() -> None:
    records = lineage_records([READ, WRITE, "y.c < x.d"])
    assert inferred(records, LineageSettings(infer_columns=False)) == ["+y.c < x.d IDENTITY"]
    assert inferred(records) == ["y.a < x.a", "+y.c < x.d IDENTITY"]


def test_a_name_rule_does_not_rename_the_memory() -> None:
    rules = NameRules([NameRule("*/*", "dw/{2}")])
    (edge,) = build(lineage_records([READ, WRITE]), rules).column_edges
    assert (edge.from_dataset, edge.to_dataset) == (DatasetId("dw", "x"), DatasetId("dw", "y"))


def test_the_weakest_evidence_of_a_way_counts() -> None:
    records = lineage_records(["#t.a < x.a", "y.a < #t.a"])
    first, last = records.column_edges
    declared = replace(first, evidence=Evidence.DECLARED)
    (edge,) = build(replace(records, column_edges=(declared, last))).column_edges
    assert edge.evidence is Evidence.DECLARED


def test_what_a_log_shows_counts_where_a_procedures_text_says_it_too() -> None:
    (shown,) = lineage_records(["y.* < x.*"]).column_edges
    inferred_too = replace(shown, evidence=Evidence.INFERRED)
    records = lineage_records(["y.* < x.*"])
    edges = build(replace(records, column_edges=(inferred_too, shown))).column_edges
    assert edges == (shown,)


def test_a_wide_task_costs_what_its_equal_names_cost() -> None:
    reads = [
        " | ".join(f"memory.r{table}_{n} < x{table}.c{n}" for n in range(60)) for table in range(40)
    ]
    writes = [
        " | ".join(f"y{table}.w{table}_{n} < memory.w{table}_{n}" for n in range(60))
        + f" | y{table}.k < memory.r{table}_0"
        for table in range(40)
    ]
    records = lineage_records([*reads, *writes])
    assert len(records.column_edges) == 40 * 60 * 2 + 40
    assert inferred(records) == sorted(f"y{n}.k < x{n}.c0" for n in range(40))


@for_each(
    "statements, uses",
    [
        (["#d.id < x.id | #d.email < x.email", "y.id < #d.id"], ["x.email", "x.id"]),
        (["memory.email < x.email"], ["x.email"]),
        (["#d.* < x.*", "y.id < #d.id"], []),
        (["#d.id < x.id", "#e.id < #d.id"], ["x.id"]),
        (["failed #d.email < x.email"], []),
        (["y.email < x.email"], []),
        (["x.* < x.status FILTER", "x.* < y.k JOIN"], ["x.status"]),
        (["x.* < x.status SORT | x.a < x.b CONDITIONAL | x.c < x.c"], ["x.status"]),
        (["x.* < x.* GROUP_BY"], []),
    ],
)
def test_columns_are_used_that_go_into_what_lives_as_long_as_a_run_or_find_own_rows(
    statements: list[str], uses: list[str]
) -> None:
    lineage = build(lineage_records(statements), settings=LineageSettings(infer_columns=False))
    assert [f"{use.dataset.name}.{use.column}" for use in lineage.column_uses] == uses
