"""The page of a task or a consumer, and the list of all of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dbt_graft.catalog.build import design_folder
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import environment, render
from dbt_graft.catalog.task_pages import task_page
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.history import History
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Direction, Outcome, Reject, Run, Shape, Status, TaskInfo
from dbt_graft.lineage.usage import Usage
from tests.catalog.html_reader import HtmlReader, section, text

PageHtml = Callable[[str], str]
DAY = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.mark.parametrize(
    ("path", "heading", "texts"),
    [
        ("tasks/load_products/", "Reads", ["dbo.PriceList", "raw.suppliers"]),
        ("tasks/load_products/", "Writes", ["raw.products", "INSERT", "UPDATE"]),
        ("tasks/load_products/", "Other tasks", ["load_suppliers"]),
        ("tasks/export_finance_report/", "Writes", ["No writes found"]),
        ("tasks/revenue_dashboard/", "Reads", ["analytics.supplier_margins"]),
    ],
)
def test_a_section_lists(page: PageHtml, path: str, heading: str, texts: list[str]) -> None:
    shown = section(page(path), heading)
    assert [part for part in texts if part not in shown] == []


@pytest.mark.parametrize(
    ("path", "texts"),
    [
        (
            "tasks/rebuild_returns/",
            [
                "ml.return_risk has been late since",
                "2 runs of rebuild_returns failed",
                "ArithmeticException",
            ],
        ),
        ("tasks/land_shop_files/", ["0 2 * * *", "data-platform", "succeeded", "Spark 4.0.12"]),
    ],
)
def test_the_head_shows(page: PageHtml, path: str, texts: list[str]) -> None:
    shown = text(page(path).split("<h2")[0] + "</article>")
    assert [part for part in texts if part not in shown] == []


def test_buttons_link_to_runbook_and_repository(page: PageHtml) -> None:
    html = page("tasks/land_shop_files/")
    assert 'href="https://wiki.example.com/runbooks/land"' in html
    assert 'href="https://git.example.com/shop/tasks"' in html


def test_a_task_that_dbt_knows_as_an_exposure_has_one_page_with_both(page: PageHtml) -> None:
    html = page("tasks/export_finance_report/")
    assert "read-only" in html
    assert "#!/exposure/exposure.python_tasks.export_finance_report" in html


def test_a_consumer_links_to_its_exposure_in_dbt_docs(page: PageHtml) -> None:
    tags = HtmlReader(page("tasks/revenue_dashboard/")).tags
    assert (
        "../../dbt/index.html#!/exposure/exposure.shop.revenue_dashboard"
        "?g_v=1&g_i=1%2Bexposure%3Arevenue_dashboard%2B1"
    ) in [attributes["href"] for tag, attributes in tags if tag == "a"]


@pytest.mark.parametrize(
    ("rerun", "shown", "link"),
    [
        ("airflow tasks clear load -y", "To run it againairflow tasks clear load -y", ""),
        ("https://airflow.example/dags/load", "Run again", "https://airflow.example/dags/load"),
        ("javascript:alert(1)", "To run it againjavascript:alert(1)", ""),
        ("load {start}", "again; graft incident fills in what is in bracesload {start}", ""),
        ("https://a.example/?from={start}", "braceshttps://a.example/?from={start}", ""),
        ("", "", ""),
    ],
)
def test_the_head_shows_how_to_run_it_again(rerun: str, shown: str, link: str) -> None:
    html = rendered(Task("load", ("spark",), info=TaskInfo(rerun=rerun)))
    head = html.split("<h2")[0]
    assert shown in text(head + "</article>")
    assert ("again" in head) is bool(rerun)
    links = [attributes.get("href", "") for tag, attributes in HtmlReader(head).tags if tag == "a"]
    assert ([one for one in links if one.startswith("http")] or [""]) == [link]
    copied = [a["data-clipboard-text"] for tag, a in HtmlReader(head).tags if tag == "button"]
    assert copied == ([rerun] if rerun and not link else [])


def test_gaps_are_those_of_its_statements_and_what_its_logs_may_lack_of_it() -> None:
    usage = Usage("load", DatasetId("spark", "a"), Direction.READ, shapes=("s1", "s2"))
    runs = (Run("r", "load", "spark", origin="log/1"), Run("q", "load", "spark", origin="log/2"))
    other = Task("other", ("spark",), runs=(Run("o", "other", "spark", origin="log/2"),))
    html = rendered(
        Task("load", ("spark",), (usage,), runs),
        other,
        shapes={
            "s1": Shape("s1", "spark", "SELECT 1", "", Outcome.PARTIAL, "the plan is truncated"),
            "s2": Shape("s2", "spark", "SELECT 2", "", Outcome.PARSED),
        },
        rejects=(
            Reject("log/1", "3", "the event is cut off"),
            Reject("log/2", "3", "the event has no end"),
            Reject("log/2", "4", "there is no rule", task="other"),
        ),
    )
    gaps = section(html, "Gaps")
    assert "the plan is truncated parsed in part1 statement" in gaps
    assert "the event is cut off1 log record" in gaps
    assert "the event has no end1 log record" in gaps
    assert "there is no rule" not in gaps
    assert 'id="gaps"' not in rendered(other)


@pytest.mark.parametrize(
    ("url", "links"),
    [
        ("https://airflow.example.org/log?try_number=2", 1),
        ("javascript:alert(1)", 0),
        ("", 0),
    ],
)
def test_a_run_shows_the_task_of_airflow_that_started_it(url: str, links: int) -> None:
    runs = (
        Run("r", "load", "spark", DAY, parent_run_id="t"),
        Run("s", "load", "spark", DAY - timedelta(days=1)),
    )
    started_by = Run(
        *("t", "load_orders", "airflow"),
        application_id="shop_lineage/raw.load_orders/manual__1",
        url=url or None,
        attempt=2,
    )
    html = rendered(Task("load", ("spark",), (), runs), started_by=started_by)
    assert "Airflow: shop_lineage / raw.load_orders, try 2" in " ".join(
        section(html, "Runs").split()
    )
    tags = [attributes.get("href", "") for tag, attributes in HtmlReader(html).tags if tag == "a"]
    assert [tag for tag in tags if tag == url and url] == [url] * links
    assert "javascript" not in html
    alone = rendered(Task("load", ("spark",), (), runs[1:]))
    assert "Run by" not in alone


@pytest.mark.parametrize(
    ("run", "tried", "shown"),
    [
        (Status.OK, Status.FAILED, "try 1 failed"),
        (Status.FAILED, Status.FAILED, "try 1"),
        (Status.OK, Status.OK, "try 1"),
    ],
)
def test_a_try_that_failed_after_the_run_says_so(run: Status, tried: Status, shown: str) -> None:
    runs = (Run("r", "load", "spark", DAY, status=run, parent_run_id="t"),)
    started_by = Run("t", "load", "airflow", status=tried, application_id="s/load/m", attempt=1)
    html = rendered(Task("load", ("spark",), (), runs), started_by=started_by)
    [match] = re.findall(r"Airflow: s / load, (try 1(?: failed)?)", section(html, "Runs"))
    assert match == shown


def test_long_lists_are_folded_and_complete() -> None:
    usages = tuple(
        Usage("load", DatasetId("spark", f"raw.t{n:03}"), Direction.WRITE, (Operation.INSERT,))
        for n in range(60)
    )
    html = rendered(Task("load", ("spark",), usages))
    assert section(html, "Writes").count("raw.t") == 60
    folded = html.partition('id="downstream"')[2].partition("<details")[2]
    assert "10 more" in folded
    assert "raw.t050" in folded


def rendered(*tasks: Task, started_by: Run | None = None, **found: Any) -> str:
    """The content of the first task's page."""
    history = History(orchestrator_runs={started_by.run_id: started_by} if started_by else {})
    index = Index(
        DescribedLineage(
            Lineage(tasks={task.name: task for task in tasks}, history=history, **found)
        )
    )
    page = task_page(index, tasks[0].name, index.lineage.task_graph())
    html = render(page, environment(design_folder() / "templates"))
    return f"<article>{html}</article>"


def test_the_list_has_every_task_and_consumer(page: PageHtml) -> None:
    shown = text(page("tasks/"))
    assert "7 tasks and consumers" in shown
    assert "land_shop_files" in shown
    assert "revenue_dashboard" in shown
