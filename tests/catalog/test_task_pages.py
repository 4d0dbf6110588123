"""The page of a task or a consumer, and the list of all of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.catalog.html_reader import HtmlReader, section, text

PageHtml = Callable[[str], str]


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
        ("tasks/rebuild_returns/", ["The last run failed", "ArithmeticException"]),
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


def test_the_list_has_every_task_and_consumer(page: PageHtml) -> None:
    shown = text(page("tasks/"))
    assert "7 tasks and consumers" in shown
    assert "land_shop_files" in shown
    assert "revenue_dashboard" in shown
