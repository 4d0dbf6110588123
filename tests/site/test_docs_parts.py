"""Smaller docs pages beside the complete one, in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.site.conftest import Visit, served, watching

pytestmark = [pytest.mark.browser, pytest.mark.demo]

INSIDE, OUTSIDE = "model.shop.orders", "model.shop.stg_suppliers"


@pytest.fixture(scope="module")
def base(addressed_site: Path) -> Iterator[str]:
    with served(addressed_site) as address:
        yield address


@pytest.fixture
def visit(shared_tab: Page, base: str) -> Iterator[Visit]:
    with watching(shared_tab, base) as visit:
        yield visit


def test_a_smaller_page_shows_its_models_and_no_others(visit: Visit) -> None:
    page = visit.open(f"dbt/finance/index.html#!/model/{INSIDE}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("orders")
    assert page.evaluate("() => document.body.innerText.includes('stg_suppliers')") is False


def test_a_model_that_a_smaller_page_lacks_is_shown_by_the_complete_one(visit: Visit) -> None:
    page = visit.open(f"dbt/finance/index.html#!/model/{OUTSIDE}")
    page.wait_for_url(f"**/dbt/index.html#!/model/{OUTSIDE}*")
    expect(page.get_by_role("heading", level=1)).to_contain_text("stg_suppliers")


def test_a_header_leads_to_the_model_on_the_complete_page_and_to_the_catalog(
    visit: Visit,
) -> None:
    page = visit.open(f"dbt/finance/index.html#!/model/{INSIDE}")
    links = page.locator("#graft-links")
    expect(links.get_by_role("link", name="analytics.orders")).to_be_visible()
    links.locator("summary").focus()
    page.keyboard.press("Enter")
    links.get_by_role("link", name="Whole project").click()
    page.wait_for_url(f"**/dbt/index.html#!/model/{INSIDE}*")
    page.locator("#graft-links summary").click()
    page.get_by_role("link", name="marts", exact=True).last.click()
    page.wait_for_url("**/dbt/marts/index.html*")
    page.locator("#graft-links").get_by_role("link", name="Catalog").click()
    # The page gives up the file's name in its address as soon as its script runs.
    page.wait_for_url(re.compile(r"/here/(index\.html)?$"))
