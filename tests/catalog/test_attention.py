"""Findings that need attention, in lists and in numbers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dbt_graft.catalog.attention import attention_lists, first_items, health_ratios
from dbt_graft.catalog.badges import dataset_badges
from dbt_graft.catalog.build import build
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.settings import SiteSettings
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.describe import Description, NodeTest, Role
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.history import History
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import (
    Dataset,
    Direction,
    NodeResult,
    Outcome,
    Reject,
    Run,
    Shape,
    Status,
)
from dbt_graft.lineage.usage import Usage
from tests.catalog.html_reader import HtmlReader, section, text

AT = datetime(2026, 11, 21, tzinfo=UTC)
ORDERS = DatasetId("spark", "raw.orders")
ITEMS = DatasetId("spark", "raw.items")
PageHtml = Callable[[str], str]


def task(number: int, status: Status) -> Task:
    """A task with one run."""
    name = f"task_{number:03}"
    run = Run(f"r{number}", name, "spark", AT + timedelta(hours=number), None, status)
    return Task(name, ("spark",), (), (run,))


def failing(tasks: int) -> Lineage:
    """A lineage in which a number of tasks failed."""
    found = [task(number, Status.FAILED) for number in range(tasks)]
    return Lineage({ORDERS: Dataset(ORDERS)}, {one.name: one for one in found})


def test_the_newest_failures_come_first() -> None:
    index = Index(DescribedLineage(failing(5)))
    [found] = first_items(attention_lists(index), 3)
    assert [one.name for one in found.items] == ["task_004", "task_003", "task_002"]
    assert (found.total, found.hidden) == (5, 2)


def test_reasons_are_counted_and_the_most_frequent_comes_first() -> None:
    rejects = tuple(Reject("log", str(n), "late" if n % 3 else "cut") for n in range(9))
    index = Index(DescribedLineage(Lineage(rejects=rejects)))
    [found] = attention_lists(index)
    assert (found.kind, found.items, found.total) == ("rejects", [("late", 6), ("cut", 3)], 9)


def test_500_failures_leave_the_home_page_readable(tmp_path: Path) -> None:
    built = build(DescribedLineage(failing(500)), SiteSettings(), tmp_path / "site")
    home = built.index.read_text("utf-8")
    shown = section(home, "Needs attention")
    assert "Failed tasks500 task_499" in shown
    assert "497 more" in shown
    assert "470 more: all of them" in shown
    assert home.count('<a class="graft-name g-task"') == 30
    every = (tmp_path / "site/attention/index.html").read_text("utf-8")
    assert every.count('<a class="graft-name g-task"') == 500
    anchors = [tags["id"] for tag, tags in HtmlReader(every).tags if "id" in tags]
    assert "tasks" in anchors


def test_numbers_count_only_what_is_known() -> None:
    lineage = Lineage(
        {ORDERS: Dataset(ORDERS)},
        {
            one.name: one
            for one in (task(1, Status.OK), task(2, Status.FAILED), task(3, Status.UNKNOWN))
        },
        shapes={
            str(outcome): Shape(str(outcome), "tsql", "SELECT 1", "1", outcome)
            for outcome in Outcome
        },
        definitions={
            name: Definition(name, DefinitionKind.DBT, ORDERS, gap=gap)
            for name, gap in (("model.a", None), ("model.b", "no SQL"))
        }
        | {"seed.c": Definition("seed.c", DefinitionKind.DBT, ITEMS)},
        dbt=DbtRuns({"test.a": (NodeResult("test.a", "i", status=Status.OK, word="pass"),)}),
    )
    tests = (NodeTest("test.a", "unique"), NodeTest("test.b", "not_null"))
    described = Description(ORDERS, "model.a", "orders", Role.MODEL, tests=tests)
    seed = Description(ITEMS, "seed.c", "items", Role.SEED)
    ratios = health_ratios(Index(DescribedLineage(lineage, {ORDERS: described, ITEMS: seed})))
    assert {one.title: (one.well, one.of) for one in ratios} == {
        "Tasks whose last run succeeded": (1, 2),
        "Tests passed": (1, 1),
        "Statements parsed completely": (1, 3),
        "dbt models with all columns followed": (1, 2),
    }


def test_without_findings_the_page_says_so(tmp_path: Path) -> None:
    lineage = Lineage({ORDERS: Dataset(ORDERS)})
    build(DescribedLineage(lineage), SiteSettings(), tmp_path / "site")
    shown = text((tmp_path / "site/attention/index.html").read_text("utf-8"))
    assert "Nothing: no task, dbt model or test is known to have failed" in shown


@pytest.mark.parametrize(
    ("heading", "texts"),
    [
        (
            "Rejected log records",
            ["the event is cut off", "event 17", '<event name="rpc_comp'],
        ),
        (
            "Statements not parsed completely",
            ["EXEC sys.sp_something", "is in no log", "not parsed", "parsed in part"],
        ),
        (
            "Columns of dbt models",
            ["it is not compiled (run dbt compile)", "1", "analytics.customers"],
        ),
    ],
)
def test_a_section_lists(page: PageHtml, heading: str, texts: list[str]) -> None:
    shown = section(page("gaps/"), heading)
    assert [part for part in texts if part not in shown] == []


def test_a_gap_names_the_tasks_that_have_it_but_not_all_of_many(tmp_path: Path) -> None:
    shapes = {
        name: Shape(name, "spark-plan", "", "", Outcome.PARTIAL, reason)
        for name, reason in (("a", "no name"), ("b", "no name"), ("c", "no rule"))
    }
    tasks = []
    for number in range(12):
        [run] = task(number, Status.OK).runs
        tasks.append(Task(run.task, ("spark",), (), (run,), gaps=("c",) if number else ("a", "b")))
    lineage = Lineage({}, {entry.name: entry for entry in tasks}, shapes=shapes)
    build(DescribedLineage(lineage), SiteSettings(), tmp_path / "site")
    shown = section(
        (tmp_path / "site/gaps/index.html").read_text("utf-8"), "Statements not parsed completely"
    )
    assert "no nametask_000parsed in part2" in shown
    assert "task_010 and 1 more" in shown
    assert "task_011" not in shown


def test_a_failed_dag_and_what_it_did_not_write_are_shown(tmp_path: Path) -> None:
    """`build` comes after `load`, which fails on the second day."""
    runs: dict[str, Run] = {}
    for day, names in ((0, ("load", "build", "")), (24, ("load", ""))):
        for number, name in enumerate(names):
            at = AT + timedelta(hours=day, minutes=number)
            status = Status.FAILED if day else Status.OK
            name_of_run = "/".join(filter(None, ("shop", name, f"scheduled__{day}")))
            run_id = f"{name}{day}"
            runs[run_id] = Run(
                *(run_id, name or "shop", "airflow", at, at, status), application_id=name_of_run
            )
    usage = Usage("build", ORDERS, Direction.WRITE, engine="airflow", run_ids=("build0",))
    tasks = {"build": Task("build", ("airflow",), (usage,), (runs["build0"],))}
    lineage = Lineage({ORDERS: Dataset(ORDERS)}, tasks, history=History(orchestrator_runs=runs))
    built = build(DescribedLineage(lineage), SiteSettings(), tmp_path / "site")
    shown = section(built.index.read_text("utf-8"), "Needs attention")
    assert "Failed DAGs1 shop scheduled__24" in shown
    assert "load failed; it did not get to build. What is late" in shown
    assert "graft incident show shop/scheduled__24" in shown
    page = (tmp_path / "site/dags/shop/index.html").read_text("utf-8")
    assert "graft incident show shop/scheduled__24" in text(page)
    newest = section(page, "Tasks of the last run")
    assert "loadfailed2026-11-22 00:00" in newest
    assert "builddid not run" in newest
    runs = section(page, "Runs")
    assert "1 of 1 task failed, 1 did not run" in runs
    assert runs.endswith("succeeded2 tasks")
    [badge] = dataset_badges(Index(DescribedLineage(lineage)), ORDERS)
    assert badge.text == "not written: DAG shop failed"
