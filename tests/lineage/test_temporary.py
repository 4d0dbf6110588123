"""Temporary tables of every sort are seen through: statements in order -> flows."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, is_global_temporary
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.names import NameRule, NameRules
from dbt_graft.lineage.records import (
    Access,
    ColumnEdge,
    Dataset,
    Records,
    Status,
    Subtype,
)
from tests import notation
from tests.cases import for_each

START = datetime(2026, 11, 1, tzinfo=UTC)


def accesses(statements: list[str]) -> tuple[Access, ...]:
    """The accesses of statements in order, `task/run OPERATION target <- source source`.

    Without a task it is `t/1`, `_` is no target, `#` and `@` begin temporary tables. Statements
    that are equal (with other `~n`) are one shape.
    """
    found: dict[tuple[object, ...], Access] = {}
    for position, text in enumerate(statements):
        at = START + timedelta(seconds=position)
        head, _, rest = text.partition(" ")
        named, text = (head, rest) if "/" in head else ("t/1", text)
        task, _, run = named.partition("/")
        shape = re.sub(r"~\d+", "", text)
        for one in notation.statement(text, at=at, task=task, run_id=run, shape_id=shape):
            key = (task, run, one.dataset, one.direction, shape)
            seen = found.get(key)
            again = seen and replace(seen, last_at=at, statements=seen.statements + 1)
            found[key] = again or one
    return tuple(found.values())


def written(flow: Flow) -> str:
    """`load: a -> b through #t`, the task left out where it is `t`."""
    hops = ", ".join(hop.short for hop in flow.hops)
    task = "" if flow.task == "t" else f"{flow.task}: "
    memory = " in memory" if flow.through_memory else ""
    return (
        f"{task}{flow.source.name} -> {flow.target.name}{f' through {hops}' * bool(hops)}{memory}"
    )


FLOWS = {
    # local ones, and table variables
    "through a temporary table": (
        ["SELECT INTO #t <- a", "INSERT b <- #t"],
        ["a -> b through #t"],
    ),
    "through a table variable": (["INSERT @t <- a", "INSERT b <- @t"], ["a -> b through @t"]),
    "through two in a row": (
        ["SELECT INTO #t <- a", "SELECT INTO #u <- #t", "INSERT b <- #u"],
        ["a -> b through #t, #u"],
    ),
    "what is changed in place keeps its way": (
        ["SELECT INTO #t <- a", "UPDATE #t <- #t c", "INSERT b <- #t"],
        ["a -> b through #t", "c -> b through #t"],
    ),
    "what decides what is deleted has a part": (
        ["SELECT INTO #t <- a", "DELETE #t <- #t c", "INSERT b <- #t"],
        ["a -> b through #t", "c -> b through #t"],
    ),
    "from memory and back into it": (
        ["SELECT _ <- a", "INSERT #t <-", "SELECT _ <- #t", "INSERT b <-"],
        ["a -> b through #t in memory"],
    ),
    "a second of one name holds its own": (
        ["SELECT INTO #t <- a", "INSERT x <- #t", "SELECT INTO #t~2 <- b", "INSERT y <- #t~2"],
        ["a -> x through #t", "b -> y through #t"],
    ),
    "one shape reads both": (
        ["SELECT INTO #t <- a", "INSERT x <- #t", "SELECT INTO #t~2 <- b", "INSERT x <- #t~2"],
        ["a -> x through #t", "b -> x through #t"],
    ),
    "one shape fills both in other sessions": (
        ["SELECT INTO #t <- a", "SELECT INTO #t~2 <- a", "INSERT x <- #t~2", "INSERT y <- #t"],
        ["a -> x through #t", "a -> y through #t"],
    ),
    "emptied and filled again in a loop": (
        ["INSERT #t <- a", "INSERT x <- #t", "TRUNCATE #t <-", "INSERT #t <- b", "INSERT x <- #t"],
        ["a -> x through #t", "b -> x through #t"],
    ),
    "emptied before it is read": (
        ["INSERT #t <- a", "TRUNCATE #t <-", "INSERT #t <- b", "INSERT x <- #t"],
        ["b -> x through #t"],
    ),
    "a local one ends with its run": (["t/1 INSERT #t <- a", "t/2 INSERT b <- #t"], []),
    # global ones
    "a global one outlives its run": (
        ["t/1 SELECT INTO ##t <- a", "t/2 INSERT b <- ##t"],
        ["a -> b through ##t"],
    ),
    "and hands data to another task, whose edge it is": (
        ["fill/1 SELECT INTO ##t <- a", "use/1 INSERT b <- ##t"],
        ["use: a -> b through ##t"],
    ),
    "but not to who read it before": (["use/1 INSERT b <- ##t", "fill/1 INSERT ##t <- a"], []),
    "nor what it held before it was dropped": (
        ["fill/1 INSERT ##t <- a", "fill/1 DROP ##t <-", "fill/2 INSERT ##t <- c",
         "use/1 INSERT b <- ##t"],
        ["use: c -> b through ##t"],
    ),
    "on through a local one": (
        ["fill/1 SELECT INTO ##t <- a", "use/1 SELECT INTO #t <- ##t", "use/1 INSERT b <- #t"],
        ["use: a -> b through ##t, #t"],
    ),
    # lasting ones that last as long as a run
    "made and dropped by the run": (
        ["SELECT INTO stage <- a", "INSERT b <- stage", "DROP stage <-"],
        ["a -> b through stage"],
    ),
    "by each run": (
        ["t/1 CREATE TABLE stage <-", "t/1 INSERT stage <- a", "t/1 INSERT b <- stage",
         "t/1 DROP stage <-", "t/2 CREATE TABLE stage <-", "t/2 INSERT stage <- a",
         "t/2 INSERT b <- stage", "t/2 DROP stage <-"],
        ["a -> b through stage"],
    ),
    "a leftover dropped first": (
        ["DROP stage <-", "CREATE TABLE AS stage <- a", "INSERT b <- stage", "DROP stage <-"],
        ["a -> b through stage"],
    ),
    "all of it again and again": (
        ["SELECT INTO stage <- a", "INSERT b <- stage", "DROP stage <-"] * 2,
        ["a -> b through stage"],
    ),
    "made and renamed to what lasts": (
        ["SELECT INTO stage <- a", "RENAME b_old <- b", "RENAME b <- stage", "DROP b_old <-"],
        ["a -> b"],
    ),
    "the old one is not dropped": (
        ["SELECT INTO stage <- a", "RENAME b_old <- b", "RENAME b <- stage"],
        ["a -> b", "b -> b_old"],
    ),
    "dropped first and made anew, it lasts": (
        ["DROP stage <-", "SELECT INTO stage <- a", "INSERT b <- stage"],
        ["a -> stage", "stage -> b"],
    ),
    "so it does where this is done again": (
        ["DROP stage <-", "SELECT INTO stage <- a", "INSERT b <- stage"] * 2,
        ["a -> stage", "stage -> b"],
    ),
    "one that was there before lasts": (
        ["INSERT b <- stage", "SELECT INTO stage <- a", "DROP stage <-"],
        ["a -> stage", "stage -> b"],
    ),
    "one that a run leaves behind lasts": (
        ["t/1 SELECT INTO stage <- a", "t/1 INSERT b <- stage", "t/1 DROP stage <-",
         "t/2 SELECT INTO stage <- a"],
        ["a -> stage", "stage -> b"],
    ),
    "one that another task reads lasts": (
        ["SELECT INTO stage <- a", "INSERT b <- stage", "other/1 SELECT _ <- stage",
         "DROP stage <-"],
        ["a -> stage", "stage -> b"],
    ),
    "one that is used after its drop lasts": (
        ["SELECT INTO stage <- a", "DROP stage <-", "INSERT b <- stage"],
        ["a -> stage", "stage -> b"],
    ),
}  # fmt: skip


@for_each("claim", FLOWS)
def test_flows(claim: str) -> None:
    statements, expected = FLOWS[claim]
    assert sorted(map(written, build(Records(accesses(statements))).flows)) == sorted(expected)


STAGED = ["SELECT INTO stage <- a", "INSERT b <- stage", "DROP stage <-"]


def test_a_table_that_lasts_as_long_as_a_run_is_no_dataset_and_nobody_uses_it() -> None:
    records = Records(accesses(STAGED), datasets=(Dataset(DatasetId("db", "STAGE")),))
    lineage = build(records)
    assert [dataset.name for dataset in lineage.datasets] == ["a", "b"]
    assert [usage.dataset.name for usage in lineage.tasks["t"].usages] == ["a", "b"]


def test_its_columns_are_seen_through_under_its_new_name() -> None:
    def edge(target: str, source: str, shape: str) -> ColumnEdge:
        return ColumnEdge(
            *("t", DatasetId("db", target), "n", DatasetId("db", source), "n"),
            *(Subtype.IDENTITY.type, Subtype.IDENTITY, False, shape),
        )

    edges = (
        edge("stage", "a", "SELECT INTO stage <- a"),
        edge("b", "stage", "INSERT b <- stage"),
    )
    rules = NameRules([NameRule("db/*", "dw/*")])
    (found,) = build(Records(accesses(STAGED), column_edges=edges), rules).column_edges
    assert (str(found.from_dataset), str(found.to_dataset)) == ("dw/a", "dw/b")


def test_without_times_a_table_lasts() -> None:
    timeless = [replace(access, first_at=None) for access in accesses(STAGED)]
    assert DatasetId("db", "stage") in build(Records(tuple(timeless))).datasets


def test_a_failed_use_does_not_make_it_last() -> None:
    (failed,) = accesses(["SELECT _ <- stage"])
    late = START + timedelta(days=1)
    failed = replace(failed, status=Status.FAILED, first_at=late, last_at=late)
    assert DatasetId("db", "stage") not in build(Records((*accesses(STAGED), failed))).datasets


@for_each(
    "name, shown, is_global",
    [
        ("#t", "#t", False),
        ("#t~2", "#t", False),
        ("@t~12", "@t", False),
        ("##t~3", "##t", True),
        ("#t~x", "#t~x", False),
        ("Shop.dbo.t~2", "dbo.t~2", False),
    ],
)
def test_the_name_that_is_shown(name: str, shown: str, is_global: bool) -> None:
    dataset = DatasetId("mssql://s:1433", name)
    assert (dataset.short, is_global_temporary(dataset)) == (shown, is_global)
