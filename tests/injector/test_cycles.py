"""Cycles are broken by rule and reported with their path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dbt_graft.injector import integrity
from dbt_graft.injector.report import Grafted

Run = Callable[..., Grafted]
A, B, C = (f"model.python_tasks.x_{name}" for name in "abc")


def test_of_two_edges_from_logs_the_newer_goes(
    empty_project: Any, empty_log: Any, run: Run
) -> None:
    empty_log.statement("first", ["spark/x.a"], ["spark/x.b"])
    empty_log.statement("second", ["spark/x.b"], ["spark/x.a"])

    grafted = run(empty_project, empty_log)

    assert grafted.manifest["parent_map"][B] == [A]
    assert grafted.manifest["parent_map"][A] == []
    (cycle,) = grafted.report.cycles
    assert [(step.source, step.target, step.tasks) for step in cycle.edges] == [
        (A, B, ("first",)),
        (B, A, ("second",)),
    ]
    assert (cycle.left_out.tasks, cycle.left_out.evidence) == (("second",), "observed")


def test_dbts_own_edges_stay(project: Any, log: Any, run: Run) -> None:
    # stg_orders reads raw.orders, orders reads stg_orders; a task writes it all back.
    log.statement("write_back", ["spark/analytics.orders"], ["spark/raw.orders"])

    grafted = run(project, log)

    (cycle,) = grafted.report.cycles
    assert [(step.source, step.target, step.tasks) for step in cycle.edges] == [
        ("model.python_tasks.raw_orders", "model.shop.stg_orders", ()),
        ("model.shop.stg_orders", "model.shop.orders", ()),
        ("model.shop.orders", "model.python_tasks.raw_orders", ("write_back",)),
    ]
    assert integrity.check(grafted.manifest, grafted.catalog) == []


def test_the_lineage_for_other_faces_keeps_the_edge(
    empty_project: Any, empty_log: Any, run: Run
) -> None:
    empty_log.statement("first", ["spark/x.a"], ["spark/x.b"])
    empty_log.statement("second", ["spark/x.b"], ["spark/x.a"])

    assert len(run(empty_project, empty_log).lineage.flows) == 2


def test_edges_beside_a_cycle_stay(empty_project: Any, empty_log: Any, run: Run) -> None:
    empty_log.statement("first", ["spark/x.a"], ["spark/x.b"])
    empty_log.statement("second", ["spark/x.b"], ["spark/x.c"])
    empty_log.statement("third", ["spark/x.c"], ["spark/x.a"])
    empty_log.statement("fourth", ["spark/x.c"], ["spark/x.d"])
    empty_log.statement("fifth", ["spark/x.a"], ["spark/x.c"])

    grafted = run(empty_project, empty_log)

    assert [cycle.left_out.tasks for cycle in grafted.report.cycles] == [("third",)]
    assert grafted.manifest["parent_map"][C] == [A, B]
    assert grafted.manifest["parent_map"]["model.python_tasks.x_d"] == [C]


def test_a_cycle_of_dbts_own_is_left_and_reported(project: Any, log: Any, run: Run) -> None:
    for node, parent in (("stg_orders", "orders"),):
        depends = project.manifest["nodes"][f"model.shop.{node}"]["depends_on"]["nodes"]
        depends.append(f"model.shop.{parent}")
        project.manifest["parent_map"][f"model.shop.{node}"].append(f"model.shop.{parent}")
        project.manifest["child_map"][f"model.shop.{parent}"].append(f"model.shop.{node}")

    grafted = run(project, log)

    assert grafted.report.cycles == ()
    assert [finding.rule for finding in grafted.report.defects] == ["cycle"]
