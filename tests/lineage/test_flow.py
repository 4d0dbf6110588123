"""Flows: what flowed where within the runs of a task."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from dbt_graft.lineage.flow import Flow, flows
from dbt_graft.lineage.records import Access, Evidence, Status
from tests import notation
from tests.cases import for_each

START = datetime(2026, 11, 1, tzinfo=UTC)


def run(*statements: str, run_id: str = "r1", status: Status = Status.OK) -> list[Access]:
    """The accesses of a run's statements, a second apart; a name with `#` is a temporary table."""
    return [
        access
        for second, text in enumerate(statements)
        for access in notation.statement(
            text, at=START + timedelta(seconds=second), task="t", run_id=run_id, status=status
        )
    ]


def edges(found: list[Flow]) -> list[str]:
    return [f"{flow.source.name}->{flow.target.name}" for flow in found]


@for_each(
    "statements, expected",
    [
        pytest.param(["INSERT c <- a b"], ["a->c", "b->c"], id="a statement carries its data"),
        pytest.param(["INSERT c <- a", "INSERT d <- b"], ["a->c", "b->d"], id="each its own"),
        pytest.param(["UPDATE a <- a b"], ["b->a"], id="no edge to itself"),
        pytest.param(["SELECT INTO #t <- a", "MERGE b <- #t"], ["a->b"], id="through temporary"),
        pytest.param(
            ["SELECT INTO #t <- a", "INSERT #u <- #t b", "INSERT c <- #u"],
            ["a->c", "b->c"],
            id="through two temporaries",
        ),
        pytest.param(
            ["SELECT INTO #t <- a", "INSERT x <- #t", "SELECT INTO #t <- b", "INSERT y <- #t"],
            ["a->x", "b->y"],
            id="a temporary made anew holds only the new",
        ),
        pytest.param(["INSERT b <- #unseen"], [], id="a temporary nobody filled"),
        pytest.param(["SELECT _ <- a", "INSERT b <-"], ["a->b"], id="through memory"),
        pytest.param(["INSERT b <-", "SELECT _ <- a"], [], id="memory is filled before it is used"),
        pytest.param(["SELECT _ <- a", "INSERT c <- b"], ["b->c"], id="memory is not in a query"),
        pytest.param(["SELECT _ <- a", "DELETE b <-"], [], id="a delete brings no data"),
        pytest.param(["SELECT _ <- a", "TRUNCATE b <-", "DROP c <-"], [], id="nor do these"),
        pytest.param(["DELETE b <- a"], ["a->b"], id="a delete by another table depends on it"),
        pytest.param(["SELECT _ <- a"], [], id="reading alone makes no edge"),
        pytest.param(["CREATE VIEW v <- a", "INSERT b <- v"], ["v->b", "a->v"], id="views stand"),
    ],
)
def test_flows_of_a_run(statements: list[str], expected: list[str]) -> None:
    assert sorted(edges(flows(run(*statements)))) == sorted(expected)


def test_failed_work_makes_no_lineage() -> None:
    assert flows(run("INSERT b <- a", status=Status.FAILED)) == []


def test_memory_and_temporaries_end_with_the_run() -> None:
    first = run("SELECT _ <- a", "SELECT INTO #t <- a", run_id="r1")
    second = run("INSERT b <-", "INSERT c <- #t", run_id="r2")
    assert flows(first + second) == []


def test_hops_are_stored_with_the_flow() -> None:
    (through,) = flows(run("SELECT INTO #t <- a", "INSERT b <- #t"))
    assert [hop.name for hop in through.hops] == ["#t"]
    assert not through.through_memory
    (flow,) = flows(run("SELECT _ <- a", "INSERT b <-"))
    assert flow.through_memory


@for_each(
    "statements, on_the_way",
    [
        (["INSERT b <- a"], {"INSERT b <- a"}),
        (["SELECT INTO #t <- a", "INSERT b <- #t"], {"SELECT INTO #t <- a", "INSERT b <- #t"}),
        (
            ["SELECT INTO #t <- a", "INSERT #u <- #t", "INSERT b <- #u"],
            {"SELECT INTO #t <- a", "INSERT #u <- #t", "INSERT b <- #u"},
        ),
        (["SELECT INTO #t <- a", "INSERT b <- #t a"], {"SELECT INTO #t <- a", "INSERT b <- #t a"}),
        (
            ["INSERT #t <- a", "MERGE #t <- a", "INSERT b <- #t"],
            {"INSERT #t <- a", "MERGE #t <- a", "INSERT b <- #t"},
        ),
        (["SELECT _ <- a", "INSERT b <-"], {"INSERT b <-", ""}),
        (["SELECT _ <- a", "INSERT b <-", "MERGE b <- a"], {"INSERT b <-", "MERGE b <- a", ""}),
    ],
)
def test_a_flow_names_all_statements_on_its_way(
    statements: list[str], on_the_way: set[str]
) -> None:
    (flow,) = flows(run(*statements))
    assert set(flow.statements) == on_the_way


def test_runs_of_one_task_make_one_flow_by_the_more_direct_way() -> None:
    roundabout = run("SELECT _ <- a", "INSERT b <-", run_id="r1")
    direct = run("MERGE b <- a", run_id="r2")
    (flow,) = flows(roundabout + direct)
    assert not flow.through_memory
    assert flow.shapes == ("INSERT b <-", "MERGE b <- a")
    assert (flow.first_at, flow.last_at) == (START, START + timedelta(seconds=1))


def test_the_way_that_a_log_shows_wins_over_the_shorter_one_that_is_declared() -> None:
    seen = run("SELECT INTO #t <- a", "INSERT b <- #t", run_id="r1")
    declared = [
        replace(access, evidence=Evidence.DECLARED) for access in run("INSERT b <- a", run_id="r2")
    ]
    (flow,) = flows(seen + declared)
    assert (flow.evidence, len(flow.hops)) == (Evidence.OBSERVED, 1)
