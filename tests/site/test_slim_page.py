"""The slim docs page shows the same as dbt's own page with the whole artifacts: every page, tab,
tree, search and selection of the demo."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route

from injector import docs, stock

pytestmark = [pytest.mark.browser, pytest.mark.demo]

Tour = dict[str, str]

TOUR = Path(__file__).with_name("tour.js").read_text("utf-8")
OWN, SLIM = "dbt's own", "slim"


@pytest.fixture(scope="module")
def pages(root: Path, site: Path) -> dict[str, str]:
    """dbt's own page with the whole artifacts, and the published one."""
    published = (site / "dbt" / "index.html").read_text("utf-8")
    own = stock.read()
    for name, placeholder in (("manifest", docs._MANIFEST), ("catalog", docs._CATALOG)):
        text = (root / "build" / "graft" / f"{name}.json").read_text("utf-8")
        [inlined] = re.findall(f'id="graft-{name}">([^<]*)', published)
        assert len(inlined) < len(text), "the published page is not slim"
        own = own.replace(placeholder, text.replace("<", "\\u003c"))
    return {OWN: own, SLIM: published}


@pytest.fixture(scope="module")
def tours(browser: Browser, pages: dict[str, str]) -> dict[str, Tour]:
    """What a reader sees, place by place; the pages are walked through at the same time."""
    tabs = {}
    for name, content in pages.items():
        tabs[name] = browser.new_page(viewport={"width": 1400, "height": 900})
        _start(tabs[name], content)
    seen: dict[str, Tour] = {name: tab.evaluate("() => window.tour") for name, tab in tabs.items()}
    for tab in tabs.values():
        tab.close()
    return seen


def _start(page: Page, content: str) -> None:
    def answer(route: Route) -> None:
        if route.request.url.startswith("http://site.invalid/dbt/"):
            route.fulfill(body=content, content_type="text/html; charset=utf-8")
        else:
            route.abort()

    page.route("**/*", answer)
    page.goto("http://site.invalid/dbt/#!/overview", wait_until="load")
    page.evaluate(f"() => {{ window.tour = ({TOUR})() }}")


def test_the_slim_page_shows_the_same_as_dbts_own(tours: dict[str, Tour]) -> None:
    seen, own = tours[SLIM], tours[OWN]
    assert seen.keys() == own.keys()
    assert {place: (text, own[place]) for place, text in seen.items() if text != own[place]} == {}


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("dbt.model model.shop.orders", "The one place for revenue"),
        ("dbt.model model.shop.orders: Compiled", "analytics.stg_orders"),
        ("dbt.model model.shop.orders: Data Tests", "not_null_orders_order_id"),
        ("dbt.source source.shop.raw.exchange_rates", "Columns"),
        ("dbt.exposure exposure.shop.revenue_dashboard", "Depends On"),
        ("dbt.macro macro.shop.to_eur", "macro to_eur"),
        ("dbt.source_list raw", "exchange_rates"),
        ("tree Project", "marts"),
        ("tree Database", "analytics"),
        ("tree Group", "purchasing"),
        ("search order_id", "columns:"),
        ("options", '"python_task"'),
        ("graph tag:daily", "model.shop.orders"),
        ("graph 1+orders+1", "model.shop.stg_orders -> model.shop.orders"),
    ],
)
def test_the_comparison_looks_at(tours: dict[str, Tour], place: str, text: str) -> None:
    assert text in tours[SLIM][place]
