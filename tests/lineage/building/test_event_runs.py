"""Runs of events and of engines' logs: one execution, one edge, the better evidence."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.building.event_runs import EVENT_SHAPE, join_events
from dbt_graft.lineage.building.orchestration import OrchestratorTask, orchestrator_task
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.openlineage import airflow_task_run_id
from dbt_graft.lineage.records import (
    Access,
    ColumnEdge,
    Evidence,
    Records,
    Run,
    Status,
    Subtype,
)
from tests import notation
from tests.cases import for_each

NOW = datetime(2026, 11, 22, 8, tzinfo=UTC)
TRY = Run(
    "t1",
    "load_orders",
    "airflow",
    NOW,
    NOW + timedelta(minutes=5),
    Status.OK,
    application_id="shop/raw.load_orders/manual__1",
    parent_run_id="d1",
    job="etl/shop.raw.load_orders",
    url="https://airflow/log",
    attempt=2,
)
DAG = Run(
    "d1", "shop", "airflow", NOW, None, Status.OK, application_id="shop/manual__1", job="etl/shop"
)
LOGGED = Run(
    "app-1", "load_orders", "spark", NOW + timedelta(minutes=1), None, Status.OK, None, "app-1"
)


def accesses(run: Run, text: str, shape: str = "", **more: Evidence) -> list[Access]:
    """`a, b -> c`: a run reads a and b and writes c."""
    made = shape or (f"{EVENT_SHAPE}{text}" if run.job else text)
    rows = 100 if run.job else 7
    return notation.run_accesses(run, text, shape_id=made, rows=rows, **more)


def of(*runs: tuple[Run, str]) -> Lineage:
    """The lineage of runs that read and write."""
    return build(
        Records(
            runs=tuple(run for run, _ in runs),
            accesses=tuple(access for run, text in runs if text for access in accesses(run, text)),
        )
    )


def flows(lineage: Lineage) -> list[str]:
    return sorted(f"{f.task}: {f.source.short} -> {f.target.short}" for f in lineage.flows)


HANDED_OVER = {
    "by its id": replace(LOGGED, parent_run_id="T1"),
    "by DAG, task and run": replace(LOGGED, parent_run_id="shop/raw.load_orders/manual__1"),
    "as the run's own id": replace(LOGGED, run_id="t1", engine="sqlserver", application_id=None),
    "under another name": replace(LOGGED, task="LoadOrders", parent_run_id="t1"),
}


@pytest.mark.parametrize("way", HANDED_OVER)
def test_a_run_in_a_log_and_its_task_in_airflow_are_one(way: str) -> None:
    logged = HANDED_OVER[way]
    lineage = of((logged, "a -> b"), (TRY, "a -> b"), (DAG, ""))
    task = logged.task
    assert flows(lineage) == [f"{task}: raw.a -> raw.b"]
    assert [*lineage.tasks] == [task]
    [run] = lineage.tasks[task].runs
    assert run.engine == logged.engine
    # The log's counts, not the sum; both are the evidence.
    usages = lineage.tasks[task].usages
    assert [(usage.rows, usage.statements, len(usage.shapes)) for usage in usages] == [
        (7, 1, 2)
    ] * 2
    assert orchestrator_task(run, lineage.history.orchestrator_runs) == OrchestratorTask(
        "airflow", "shop", "raw.load_orders", 2, "https://airflow/log", Status.OK
    )


RUN_ID = str(airflow_task_run_id("etl", "shop", "raw.load_orders", 2, -1, NOW))


@for_each("name", [RUN_ID, f"etl/shop.raw.load_orders/{RUN_ID}", f"shop/raw.load_orders/2/{NOW}"])
@pytest.mark.parametrize("field", ["parent_run_id", "run_id"])
def test_each_name_of_airflow_s_run_joins_it(name: str, field: str) -> None:
    logged = replace(LOGGED, engine="sqlserver", **{field: name})
    lineage = of((logged, "a -> b"), (replace(TRY, run_id=RUN_ID), "a -> b"), (DAG, ""))
    assert flows(lineage) == ["load_orders: raw.a -> raw.b"]
    [run] = lineage.tasks["load_orders"].runs
    assert (run.engine, run.parent_run_id) == ("sqlserver", RUN_ID)


def test_another_try_is_another_run() -> None:
    logged = replace(LOGGED, parent_run_id=f"shop/raw.load_orders/1/{NOW}")
    records = join_events(Records(runs=(replace(TRY, run_id=RUN_ID), logged)))
    assert logged in records.runs


def test_without_the_try_it_is_the_last_that_had_begun() -> None:
    earlier = replace(TRY, run_id="t0", attempt=1, started_at=NOW - timedelta(hours=1))
    later = replace(TRY, run_id="t9", attempt=3, started_at=NOW + timedelta(hours=1))
    logged = replace(LOGGED, parent_run_id="shop/raw.load_orders/manual__1")
    records = join_events(Records(runs=(later, TRY, earlier, logged)))
    assert [run.parent_run_id for run in records.runs if run.engine == "spark"] == ["t1"]


LOGS_FIRST = {
    "what the log knows, it decides": (
        [(LOGGED, "a -> x"), (LOGGED, "b -> y"), (TRY, "a, b -> x, y")],
        ["raw.a -> raw.x", "raw.b -> raw.y"],
    ),
    "an inlet that no log shows is added": (
        [(LOGGED, "a -> x"), (TRY, "a, c -> x")],
        ["raw.a -> raw.x", "raw.c -> raw.x"],
    ),
    "an outlet too": (
        [(LOGGED, "a -> x"), (LOGGED, "b -> y"), (TRY, "a -> x, z")],
        ["raw.a -> raw.x", "raw.a -> raw.z", "raw.b -> raw.y"],
    ),
    "of a task whose run was not handed over the log decides too": (
        [(LOGGED, "a -> x"), (LOGGED, "b -> y"), (replace(TRY, run_id="t7"), "a, b -> x, y")],
        ["raw.a -> raw.x", "raw.b -> raw.y"],
    ),
    "what failed in the log does not": (
        [(replace(LOGGED, status=Status.FAILED), "a -> x"), (TRY, "a, b -> x")],
        ["raw.a -> raw.x", "raw.b -> raw.x"],
    ),
}


@for_each("claim", LOGS_FIRST)
@pytest.mark.parametrize("parent", ["t1", None])
def test_logs_come_before_events(claim: str, parent: str | None) -> None:
    runs, expected = LOGS_FIRST[claim]
    placed = [(run if run.job else replace(run, parent_run_id=parent), text) for run, text in runs]
    assert flows(of(*placed, (DAG, ""))) == [f"load_orders: {one}" for one in expected]


def _edge(shape: str, source: str, subtype: Subtype) -> ColumnEdge:
    datasets = DatasetId("spark", "raw.x"), "id", DatasetId("spark", f"raw.{source}"), "id"
    return ColumnEdge("load_orders", *datasets, subtype.type, subtype, False, shape)


def test_columns_of_logs_come_before_those_of_events() -> None:
    event_shape = f"{EVENT_SHAPE}1"
    lineage = build(
        Records(
            runs=(LOGGED, TRY),
            accesses=(
                *accesses(LOGGED, "a -> x", "s"),
                *accesses(TRY, "a, b -> x", event_shape),
            ),
            column_edges=(
                _edge("s", "a", Subtype.TRANSFORMATION),
                _edge(event_shape, "a", Subtype.IDENTITY),
                _edge(event_shape, "b", Subtype.IDENTITY),
            ),
        )
    )
    assert [(edge.from_dataset.short, edge.subtype) for edge in lineage.column_edges] == [
        ("raw.a", Subtype.TRANSFORMATION),
        ("raw.b", Subtype.IDENTITY),
    ]


PRECEDENCE = {
    "a log": ([(LOGGED, Evidence.OBSERVED), (TRY, Evidence.DECLARED)], Evidence.OBSERVED),
    "an extractor": ([(TRY, Evidence.OBSERVED), (TRY, Evidence.DECLARED)], Evidence.OBSERVED),
    "inlets and outlets alone": ([(TRY, Evidence.DECLARED)], Evidence.DECLARED),
}


@pytest.mark.parametrize("best", PRECEDENCE)
def test_the_best_evidence_of_an_edge_counts(best: str) -> None:
    seen_by, expected = PRECEDENCE[best]
    lineage = build(
        Records(
            runs=tuple(dict.fromkeys(run for run, _ in seen_by)),
            accesses=tuple(
                access
                for run, evidence in seen_by
                for access in accesses(run, "a -> b", evidence=evidence)
            ),
        )
    )
    assert [flow.evidence for flow in lineage.flows] == [expected]


def test_an_application_in_a_log_and_in_events_is_one_run() -> None:
    seen = replace(LOGGED, run_id="e1", started_at=NOW, job="etl/load_orders", parent_run_id="t1")
    action = replace(seen, run_id="e2", application_id=None, parent_run_id="e1")
    lineage = of((LOGGED, "a -> b"), (seen, ""), (action, "a -> b"), (TRY, ""), (DAG, ""))
    [run] = lineage.tasks["load_orders"].runs
    assert (run.run_id, run.parent_run_id) == ("app-1", "t1")
    assert [(usage.engine, usage.statements) for usage in lineage.tasks["load_orders"].usages] == [
        ("spark", 1)
    ] * 2


def test_tasks_of_an_orchestrator_without_lineage_are_none_of_ours() -> None:
    lineage = of((TRY, ""), (DAG, ""), (LOGGED, "a -> b"))
    assert [*lineage.tasks] == ["load_orders"]
    assert {*lineage.history.orchestrator_runs} == {"t1", "d1"}
    # Its run is not handed over, so both are shown.
    assert {run.engine for run in lineage.tasks["load_orders"].runs} == {"airflow", "spark"}
    assert [*of((TRY, ""), (DAG, "")).tasks] == []


@for_each(
    "runs, expected",
    [
        # The actions of an application are the application.
        ([("a", None, None, "x"), ("b", None, "a", "y"), ("c", None, "b", "")], {"a": ("x", "y")}),
        # Its own log shows all that it did.
        ([("app-1", "app-1", None, ""), ("b", "app-1", None, "y")], {"app-1": ()}),
    ],
)
def test_what_is_not_known_of_a_run_is_not_known_of_that_which_it_is(
    runs: list[tuple[str, str | None, str | None, str]], expected: dict[str, tuple[str, ...]]
) -> None:
    records = Records(
        runs=tuple(
            Run(
                *(run_id, "load", "spark"),
                application_id=application,
                parent_run_id=parent,
                job=None if run_id == application else "etl/load",
                gaps=(gap,) if gap else (),
            )
            for run_id, application, parent, gap in runs
        )
    )
    assert {run.run_id: run.gaps for run in join_events(records).runs} == expected


def test_records_without_events_stay_as_they_are() -> None:
    records = Records(runs=(LOGGED,), accesses=tuple(accesses(LOGGED, "a -> b")))
    assert join_events(records) is records
