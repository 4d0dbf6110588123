"""Unwanted changes are found unless accepted; the report lists everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dbt_graft.injector.report import Grafted
from dbt_graft.injector.report_text import render_report
from dbt_graft.injector.unwanted import unwanted_changes

Run = Callable[..., Grafted]


@pytest.fixture
def messy(project: Any, log: Any, run: Run) -> Grafted:
    """A cycle, a second writer, a name that was taken, a task that reads what it writes."""
    project.model("raw_returns")
    project.model("orders_too", alias="orders")
    log.statement("write_back", ["spark/analytics.orders"], ["spark/raw.orders"])
    log.statement("patch", ["spark/analytics.orders"], ["spark/analytics.orders"])
    return run(project, log)


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        (
            "CYCLE_BROKEN",
            [
                "model.shop.orders: write_back closes model.python_tasks.raw_orders -> "
                "model.shop.stg_orders -> model.shop.orders -> model.python_tasks.raw_orders"
            ],
        ),
        ("SECOND_WRITER", ["spark/analytics.orders: patch writes it, as dbt does"]),
        (
            "UNKNOWN_DATASET",
            [
                "spark/raw.returns: dbt does not know it; it is used by rebuild_returns",
                "landing/customers: dbt does not know it; it is used by land_shop_files",
                "landing/orders: dbt does not know it; it is used by land_shop_files",
                "landing/returns: dbt does not know it; it is used by rebuild_returns",
                "mssql://sql01:1433/Crm.dbo.SupplierFeed: dbt does not know it; it is used by "
                "load_suppliers",
            ],
        ),
    ],
)
def test_what_may_be_unwanted_is_found(messy: Grafted, code: str, texts: list[str]) -> None:
    findings = [finding for finding in unwanted_changes(messy.report) if finding.code == code]
    assert [f"{finding.subject}: {finding.problem}" for finding in findings] == texts


@pytest.mark.parametrize(
    ("code", "accept", "left"),
    [
        ("CYCLE_BROKEN", ["WRITE_BACK"], 0),
        ("CYCLE_BROKEN", ["model.shop.orders"], 0),
        ("CYCLE_BROKEN", ["model.shop.stg_orders"], 1),
        ("UNKNOWN_DATASET", ["landing/*"], 2),
        ("UNKNOWN_DATASET", ["landing/*", "mssql://*", "spark/raw.returns"], 0),
    ],
)
def test_what_is_accepted_is_left_out(
    messy: Grafted, code: str, accept: list[str], left: int
) -> None:
    codes = [finding.code for finding in unwanted_changes(messy.report, accept)]
    assert codes.count(code) == left


def test_the_report_has_a_section_for_everything_that_happened(messy: Grafted) -> None:
    titles = [line for line in render_report(messy.report).splitlines() if line.startswith("#")]

    assert titles == [
        "# Graft report",
        "## Promoted sources (4)",
        "## New models (1)",
        "## New sources (4)",
        "## Exposures (1)",
        "## Second writers (1)",
        "## Several writers (1)",
        "## Self-reads (1)",
        "## Cycles (1)",
        "## Ambiguous names (1)",
        "## Name conflicts (1)",
    ]
    assert "- raw_returns -> spark_raw_returns" in render_report(messy.report)


def test_a_long_section_ends_with_a_count(empty_project: Any, empty_log: Any, run: Run) -> None:
    for n in range(230):
        empty_log.statement("load", [], [f"spark/x.t{n}"])
    assert "- and 30 more" in render_report(run(empty_project, empty_log).report)
