"""Renamed tables: what was loaded under a former name is loaded under the name of today."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    ANY_COLUMN,
    Access,
    Column,
    Dataset,
    Direction,
    Records,
    Status,
)
from tests import notation
from tests.cases import for_each
from tests.faces import differences

START = datetime(2026, 11, 1, tzinfo=UTC)
ROWS = 7


def records(statements: list[str]) -> Records:
    """Records of statements in order, `run OPERATION target <- source`; the run's letter is its
    task. Each statement writes seven rows and, where it brings data, passes column `n` on.
    """
    accesses, edges = [], []
    for position, statement in enumerate(statements):
        run, _, text = statement.partition(" ")
        task = run.rstrip("0123456789")
        for one in notation.statement(
            text, at=START + timedelta(minutes=position), task=task, run_id=run
        ):
            writes = one.direction is Direction.WRITE
            rows = ROWS if one.operation.brings_data and writes else None
            accesses.append(replace(one, rows=rows))
            if one.operation.brings_data and not one.operation.switches and not writes:
                to = f"{text.partition(' <-')[0].split()[-1]}.n"
                edges.append(notation.edge(f"{to} < {one.dataset.name}.n", task, shape_id=text))
    return Records(accesses=tuple(accesses), column_edges=tuple(edges))


def summary(lineage: Lineage) -> list[str]:
    """Each dataset with the tasks that write it, its sources by flow, and by column."""
    lines = []
    for dataset in lineage.datasets:
        writers = ",".join(dict.fromkeys(usage.task for usage in lineage.writers(dataset)))
        flows = ",".join(f.source.name for f in lineage.flows if f.target == dataset)
        columns = ",".join(
            dict.fromkeys(
                f"{edge.from_dataset.name}.{edge.from_column}"
                for edge in lineage.column_edges
                if edge.to_dataset == dataset
            )
        )
        former = ",".join(name.name for name in lineage.names.former.get(dataset, ()))
        lines.append(
            f"{dataset.name} by [{writers}] from [{flows}] columns [{columns}] was [{former}]"
        )
    return lines


SRC = "src by [] from [] columns [] was []"
FINAL = "final by [t] from [src] columns [src.n] was [stage]"
CASES = {
    "built, then renamed": (
        ["t1 SELECT INTO stage <- src", "t1 RENAME final <- stage"],
        [FINAL, SRC],
    ),
    "moved to another schema": (
        ["t1 SELECT INTO stage <- src", "t1 TRANSFER final <- stage"],
        [FINAL, SRC],
    ),
    "each night anew, the last table dropped first": (
        ["t1 DROP final <-", "t1 SELECT INTO stage <- src", "t1 RENAME final <- stage",
         "t2 DROP final <-", "t2 SELECT INTO stage <- src", "t2 RENAME final <- stage"],
        [FINAL, SRC],
    ),
    "a leftover of a run that failed is dropped first": (
        ["t1 SELECT INTO stage <- src",
         "t2 DROP stage <-", "t2 SELECT INTO stage <- src", "t2 RENAME final <- stage"],
        [FINAL, SRC],
    ),
    "renamed twice": (
        ["t1 SELECT INTO stage <- src", "t1 RENAME mid <- stage", "t1 RENAME final <- mid"],
        ["final by [t] from [src] columns [src.n] was [mid,stage]", SRC],
    ),
    "created, swapped and dropped in one run": (
        ["t1 CREATE TABLE AS stage <- src", "t1 RENAME old <- final", "t1 RENAME final <- stage",
         "t1 DROP old <-"],
        [FINAL, SRC],
    ),
    "created, swapped and dropped over several runs": (
        ["t1 CREATE TABLE AS stage <- src", "swap1 RENAME old <- final",
         "swap1 RENAME final <- stage", "clean1 DROP old <-",
         "t2 CREATE TABLE AS stage <- src", "swap2 RENAME old <- final",
         "swap2 RENAME final <- stage", "clean2 DROP old <-"],
        [FINAL, "old by [swap] from [final] columns [final.*] was []", SRC],
    ),
    "loaded into a table that exchanges its name with the published one": (
        ["t1 TRUNCATE stage <-", "t1 INSERT stage <- src", "t1 RENAME tmp <- final",
         "t1 RENAME final <- stage", "t1 RENAME stage <- tmp",
         "t2 TRUNCATE stage <-", "t2 INSERT stage <- src", "t2 RENAME tmp <- final",
         "t2 RENAME final <- stage", "t2 RENAME stage <- tmp"],
        [FINAL, SRC],
    ),
    "renamed for good by another task": (
        ["t1 INSERT stage <- src", "t2 INSERT stage <- src", "admin1 RENAME final <- stage"],
        [FINAL, SRC],
    ),
    "and loaded under its new name since": (
        ["t1 INSERT stage <- src", "admin1 RENAME final <- stage", "t2 INSERT final <- src"],
        [FINAL, SRC],
    ),
    "renamed and back": (
        ["t1 INSERT final <- src", "admin1 RENAME other <- final", "admin2 RENAME final <- other"],
        ["final by [t] from [src] columns [src.n] was [other]", SRC],
    ),
    "put aside for a new one": (
        ["t1 INSERT final <- src", "t2 RENAME archive <- final", "t2 CREATE TABLE final <-",
         "t2 INSERT final <- src"],
        ["archive by [t] from [final] columns [final.*] was []",
         "final by [t] from [src] columns [src.n] was []", SRC],
    ),
    "who read it under its former name reads it": (
        ["t1 INSERT stage <- src", "use1 INSERT out <- stage", "admin1 RENAME final <- stage"],
        [FINAL, "out by [use] from [final] columns [final.n] was []", SRC],
    ),
    "a name that is used again later is another table": (
        ["t1 INSERT stage <- src", "admin1 RENAME final <- stage",
         "other1 SELECT INTO stage <- final"],
        ["final by [t] from [src] columns [src.n] was []", SRC,
         "stage by [other] from [final] columns [final.n] was []"],
    ),
    "partitions switched from a table that stays": (
        ["t1 INSERT stage <- src", "t1 SWITCH final <- stage"],
        ["final by [t] from [stage] columns [stage.*] was []", SRC,
         "stage by [t] from [src] columns [src.n] was []"],
    ),
    "partitions switched from a table of the run": (
        ["t1 CREATE TABLE stage <-", "t1 INSERT stage <- src", "t1 SWITCH final <- stage",
         "t1 DROP stage <-"],
        ["final by [t] from [src] columns [src.n] was []", SRC],
    ),
    "a table made like another has none of its data": (
        ["t1 CREATE TABLE LIKE final <- src", "t1 INSERT final <- other"],
        ["final by [t] from [other] columns [other.n] was []",
         "other by [] from [] columns [] was []", SRC],
    ),
    "renamed by a statement whose table nobody loads": (
        ["t1 RENAME final <- stage", "use1 INSERT out <- final"],
        ["final by [] from [] columns [] was [stage]",
         "out by [use] from [final] columns [final.n] was []"],
    ),
}  # fmt: skip


@for_each("claim", CASES)
def test_renames(claim: str) -> None:
    statements, expected = CASES[claim]
    lineage = build(records(statements))
    assert summary(lineage) == expected
    assert differences(lineage) == []


BUILT = ["t1 SELECT INTO stage <- src", "t1 RENAME final <- stage"]
FINAL_ID, STAGE_ID = DatasetId("db", "final"), DatasetId("db", "stage")


def test_rows_and_statements_of_the_load_are_those_of_the_table() -> None:
    (writer,) = build(records(BUILT)).writers(FINAL_ID)
    assert writer.rows == ROWS
    assert writer.operations == (Operation.RENAME, Operation.SELECT_INTO)
    assert writer.shapes == ("RENAME final <- stage", "SELECT INTO stage <- src")


def test_columns_that_are_known_of_the_former_name_are_those_of_the_table() -> None:
    dataset = Dataset(STAGE_ID, columns=(Column("n", "int"),), dropped_at=START)
    lineage = build(replace(records(BUILT), datasets=(dataset,)))
    assert lineage.datasets[FINAL_ID].columns == (Column("n", "int"),)
    assert lineage.datasets[FINAL_ID].dropped_at is None


def test_a_rename_that_failed_renames_nothing() -> None:
    found = records(BUILT)
    failed = tuple(
        replace(access, status=Status.FAILED) if access.operation.renames else access
        for access in found.accesses
    )
    lineage = build(replace(found, accesses=failed))
    assert [usage.task for usage in lineage.writers(STAGE_ID)] == ["t"]
    assert lineage.writers(FINAL_ID) == ()


def test_one_shape_that_fills_two_tables_in_turn_fills_both() -> None:
    loop = records([*BUILT, "t1 SELECT INTO stage <- src", "t1 RENAME other <- stage"])
    by_key: dict[tuple[object, ...], Access] = {}
    for access in loop.accesses:  # a log's collector counts equal statements of a run
        key = (access.dataset, access.direction, access.shape_id)
        seen = by_key.get(key)
        by_key[key] = replace(seen, statements=2, last_at=access.last_at) if seen else access
    lineage = build(replace(loop, accesses=tuple(by_key.values())))
    assert [str(flow.target) for flow in lineage.flows] == ["db/final", "db/other"]
    assert {edge.to_dataset.name for edge in lineage.column_edges} == {"final", "other"}


def test_accesses_without_a_time_go_to_the_name_of_today() -> None:
    found = records([*BUILT, "use1 INSERT out <- stage"])
    timeless = tuple(
        replace(access, first_at=None, last_at=None) if access.task == "use" else access
        for access in found.accesses
    )
    lineage = build(replace(found, accesses=timeless, column_edges=()))
    assert ("db/final", "db/out") in {(str(f.source), str(f.target)) for f in lineage.flows}


def test_columns_of_a_table_put_aside_are_spelled_out() -> None:
    statements, _ = CASES["put aside for a new one"]
    dataset = Dataset(FINAL_ID, columns=(Column("n"), Column("m")))
    lineage = build(replace(records(statements), datasets=(dataset,)))
    aside = [e for e in lineage.column_edges if e.to_dataset.name == "archive"]
    assert [(e.from_column, e.to_column) for e in aside] == [("m", "m"), ("n", "n")]
    assert all(edge.from_column != ANY_COLUMN for edge in aside)
