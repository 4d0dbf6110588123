"""The catalog's pages in a browser."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.cases import for_each
from tests.site.conftest import visiting, watching

pytestmark = [pytest.mark.browser, pytest.mark.demo]

PAGES = [
    "",
    "datasets/",
    "datasets/spark/ml/customer_scores/",
    "datasets/mssql-sql01-1433/crm/dbo/vw_active_suppliers/",
    "datasets/landing/orders/",
    "datasets/spark/analytics/orders/",
    "tasks/",
    "tasks/load_products/",
    "tasks/rebuild_returns/",
    "tasks/export_finance_report/",
    "tags/python_task/",
    "gaps/",
]
WIDTHS = (360, 390, 480, 768, 970, 1100, 1240, 2560, 1440)


def boxes(page: Page) -> list[str]:
    """The pages that the boxes of the page's picture link to, as paths from the site's root."""
    links: list[str] = page.evaluate(
        "() => [...document.querySelectorAll('article svg a')].map(a => "
        "new URL(a.getAttribute('href'), location.href).pathname)"
    )
    return [link.removesuffix("index.html").split("/here/")[1] for link in links]


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.exhaustive)])
@for_each("number, path", enumerate(PAGES))
def test_a_page_opens_from_its_permanent_address_and_fits_every_width(
    visit: Any, number: int, path: str, step: int
) -> None:
    page = visit.open(path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    for width in WIDTHS[number % step :: step]:
        page.set_viewport_size({"width": width, "height": 900})
        beyond = page.evaluate(
            """() => {
                const article = document.querySelector("article").getBoundingClientRect()
                const scrolls = one => one.matches("article") ? false :
                    getComputedStyle(one).overflowX !== "visible" || scrolls(one.parentElement)
                const parts = "article :is(table, dl, pre, p, svg, ul, h1, a)"
                return [...document.querySelectorAll(parts)]
                    .filter(one => one.getBoundingClientRect().right > article.right + 1)
                    .filter(one => !scrolls(one))
                    .map(one => `${one.tagName} ${one.className}`)
            }"""
        )
        assert (width, beyond) == (width, [])
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_dataset_page_shows_producer_consumers_and_neighbours(visit: Any) -> None:
    page = visit.open("datasets/spark/ml/customer_scores/")
    article = page.locator("article")
    written = article.locator("h2#written-by + *")
    read = article.locator("h2#read-by + *")
    expect(written.get_by_role("link", name="score_customers")).to_be_visible()
    expect(read.get_by_role("link", name="analytics.customer_segments")).to_be_visible()
    shown = boxes(page)
    assert "tasks/score_customers/" in shown, "upstream, one step"
    assert "datasets/spark/analytics/customers/" in shown, "upstream, two steps"
    assert "datasets/spark/analytics/customer_segments/" in shown, "downstream"
    page.get_by_role("link", name="Open in dbt docs").click()
    page.wait_for_url("**/dbt/index.html#!/model/model.python_tasks.ml_customer_scores*")
    page.wait_for_selector(".__________cytoscape_container canvas")


def test_a_box_of_a_picture_links_to_its_page_whose_charts_are_read_out(visit: Any) -> None:
    page = visit.open("datasets/spark/raw/suppliers/")
    page.locator("article svg a", has_text="load_suppliers").first.click()
    page.wait_for_url("**/tasks/load_suppliers/**")
    assert "datasets/mssql-sql01-1433/crm/dbo/supplierfeed/" in boxes(page)
    chart = page.get_by_role("slider", name="Duration of the last")
    reading = page.locator(".graft-bars__reading").first
    chart.focus()
    page.keyboard.press("Home")
    expect(reading).to_have_text(re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d UTC, [\d.]+ s"))
    first = reading.inner_text()
    expect(chart).to_have_attribute("aria-valuetext", first)
    place = chart.bounding_box()
    page.mouse.move(place["x"] + place["width"] - 2, place["y"] + 20)
    expect(reading).not_to_have_text(first)


def test_from_the_home_page_two_clicks_lead_to_writer_failure_and_what_breaks(visit: Any) -> None:
    page = visit.open("")
    article = page.locator("article")
    article.locator("#needs-attention + *").get_by_role("link", name="rebuild_returns").click()
    expect(article.locator(".graft-fresh").first).to_contain_text("failed")
    expect(article.locator(".graft-incident").first).to_contain_text("has been late since")
    page.go_back()
    article.locator("svg a", has_text="raw · Spark").filter(has_text="customers").click()
    expect(article.locator(".graft-fresh").first).to_contain_text("by land_shop_files")
    page.get_by_role("navigation", name="Table of contents").get_by_role(
        "link", name="If this changes"
    ).click()
    row = article.locator(".graft-impact tr", has=page.get_by_role("link", name="country"))
    expect(row).to_contain_text("breaks")
    expect(row).to_be_in_viewport()


def test_search_finds_a_table_by_its_name(visit: Any) -> None:
    page = visit.open("")
    page.keyboard.press("Control+k")
    page.keyboard.type("customer_scores")
    found = page.locator(".graft-result", has_text="customer_scores")
    expect(found.first).to_be_visible()
    found.first.click()
    page.wait_for_url("**/datasets/spark/ml/customer_scores/**")


@pytest.mark.parametrize("path", ["", "datasets/spark/raw/orders/", "tasks/land_shop_files/"])
def test_a_page_is_complete_without_script(browser: Any, server: str, path: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server + path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.locator("article svg").count() > 0
    assert page.locator("article svg a").count() > 1
    context.close()


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.exhaustive)])
def test_pages_open_from_disk(shared_tab: Page, site: Path, step: int) -> None:
    with watching(shared_tab, f"{site.as_uri()}/") as visit:
        for path in PAGES[::step]:
            page = visit.open(f"{path}index.html")
            expect(page.get_by_role("heading", level=1)).to_be_visible()


@pytest.mark.parametrize("missing", ["tasks/gone/", "datasets/spark/raw/gone/index.html", "gone"])
def test_links_of_the_page_for_missing_addresses_work_below_a_subpath(
    visit: Any, missing: str, site: Path
) -> None:
    body = (site / "404.html").read_text(encoding="utf-8")
    page = visit.page
    page.route(
        visit.base + missing, lambda route: route.fulfill(body=body, content_type="text/html")
    )
    page.goto(visit.base + missing)
    page.get_by_role("article").get_by_role("link", name="Tasks").click()
    page.wait_for_url(visit.base + "tasks/index.html")
    assert page.get_by_role("heading", level=1).inner_text() == "Tasks"


@pytest.mark.parametrize("width", [1400, 390])
def test_the_complete_picture_is_shown_or_scrolls_inside_its_frame(visit: Any, width: int) -> None:
    page = visit.page
    page.set_viewport_size({"width": width, "height": 900})
    visit.open("index.html")
    frame = page.locator(".graft-picture")
    ends = frame.evaluate(
        """frame => {
            frame.scrollLeft = frame.scrollWidth
            const right = Math.max(...[...frame.querySelectorAll("a")].map(
                box => box.getBoundingClientRect().right))
            return [right, frame.getBoundingClientRect().right, document.body.scrollWidth]
        }"""
    )
    assert ends[0] < ends[1] <= width
    assert ends[2] <= width
    if width == 1400:
        assert frame.evaluate("frame => frame.scrollWidth <= frame.clientWidth")


def test_no_label_runs_out_of_its_box(visit: Any) -> None:
    visit.open("index.html")
    beyond = visit.page.locator(".graft-box").evaluate_all(
        """boxes => boxes.filter(box => {
            const shape = box.querySelector("use").getBBox()
            return [...box.querySelectorAll("text")].some(line => {
                const at = line.getBBox()
                return at.x + at.width > shape.x + shape.width - 4
            })
        }).length"""
    )
    assert beyond == 0


def test_runs_have_dates_once_they_are_a_week_old(visit: Any) -> None:
    times = visit.open("datasets/spark/raw/orders/").locator(".graft-runs time")
    old, recent = times.evaluate_all(
        """all => {
            const old = one => Date.now() - Date.parse(one.dateTime) > 7 * 86400e3
            return [all.filter(old), all.filter(one => !old(one))].map(some =>
                some.map(one => one.textContent))
        }"""
    )
    assert old
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", text) for text in old)
    assert not any(text.endswith("UTC") for text in recent)


def test_the_dates_of_a_run_stand_on_one_line_where_there_is_room(visit: Any) -> None:
    page = visit.open("datasets/spark/web/weekly_visitors/")
    for width in (1000, 1280, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        lines = page.locator(".graft-runs td:last-child").evaluate_all(
            """cells => cells.filter(cell => cell.checkVisibility()).map(cell => {
                const range = document.createRange()
                range.selectNodeContents(cell)
                return range.getClientRects().length
            })"""
        )
        assert (width, set(lines)) == (width, {1})


def test_an_age_counts_what_is_past_and_names_no_day_of_the_calendar(
    browser: Browser, server: str
) -> None:
    """`yesterday` of what was 33 hours ago may have been the day before."""
    with visiting(browser, server) as visit:
        visit.page.clock.install(time=datetime(2026, 11, 27, 3, tzinfo=UTC))
        page = visit.open("")
        ages = page.evaluate(
            """() => ["2026-11-25T18:00:00Z", "2026-10-20T18:00:00Z", "2025-07-01T00:00:00Z"].map(
                at => {
                    const time = document.createElement("time")
                    time.dateTime = at
                    document.querySelector("article").append(time)
                    showRelativeTimes()
                    return time.textContent
                })"""
        )
        assert ages == ["1 day ago", "1 month ago", "1 year ago"]


@for_each("width", (390, 768, 1280, 1920))
def test_where_the_columns_of_a_task_come_from_stays_inside_of_their_table(
    visit: Any, width: int
) -> None:
    page = visit.open("tasks/score_customers/")
    page.set_viewport_size({"width": width, "height": 900})
    table = page.locator("h2#columns + section table")
    edges = table.evaluate(
        """table => [table, ...table.querySelectorAll("a")].map(
            one => one.getBoundingClientRect().right)"""
    )
    assert len(edges) > 4
    assert max(edges) == edges[0]
