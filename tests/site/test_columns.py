"""Columns in a browser: anchors, lists, boxes that unfold, lit paths, search."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from dbt_graft.catalog.build import build
from dbt_graft.catalog.markup import printable
from dbt_graft.catalog.settings import SiteSettings
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Column, ColumnEdge, Dataset, EdgeType, Subtype
from dbt_graft.lineage.urls import dataset_path
from tests.catalog.test_hostile_text import HOSTILE

pytestmark = [pytest.mark.browser, pytest.mark.demo]

MART = "datasets/spark/analytics/orders/index.html"
RAW = "datasets/spark/raw/orders/index.html"
# The way of a price through the demo, as its boxes and columns.
WAY = {
    "landing/orders": "unit_price",
    "raw.orders": "unit_price",
    "analytics.stg_orders": "order_amount",
    "analytics.orders": "order_amount_eur",
}


def unfold(page: Page, dataset: str) -> None:
    """Unfold the box of a dataset by its name's end."""
    page.locator(f'.graft-unfold[aria-label$="{dataset}"]').click()


def column(page: Page, dataset: str, name: str) -> Locator:
    """A column in the unfolded box of a dataset."""
    ends = ", ".join(
        f'.graft-unfold[aria-label$="{one}"]' for one in (dataset, dataset.replace(".", "/"))
    )
    unfolded = page.locator(f".graft-unfolded:has(+ :is({ends}))")
    return unfolded.locator(f'.graft-column[href$="#column-{name}"]').first


def lit(page: Page) -> list[str]:
    """The names of lit boxes, sorted."""
    names: list[str] = page.locator(".graft-box--lit text:first-of-type").all_text_contents()
    return sorted(names)


def overlaps(page: Page) -> int:
    """The number of pairs of boxes that overlap, with what they unfolded."""
    found: int = page.evaluate(
        """() => {
            const parts = [...document.querySelectorAll(".graft-box")].map(box => {
                const list = box.nextElementSibling?.matches(".graft-unfolded") &&
                    box.nextElementSibling.getAttribute("visibility") === "visible"
                    ? [box.nextElementSibling] : []
                const all = [box.querySelector("use"), ...list].map(
                    part => part.getBoundingClientRect())
                return {left: all[0].left, right: all[0].right, top: all[0].top,
                        bottom: Math.max(...all.map(one => one.bottom))}
            })
            return parts.flatMap((a, at) => parts.slice(at + 1).filter(b =>
                a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
            )).length
        }"""
    )
    return found


def test_the_address_of_a_column_leads_to_its_row_and_boxes_unfold_without_overlapping(
    visit: Any,
) -> None:
    page = visit.open(MART + "#column-order_amount_eur")
    row = page.locator("tr:target")
    expect(row).to_contain_text("order_amount_eur")
    expect(row).to_be_in_viewport()
    top = row.evaluate("row => row.getBoundingClientRect().top")
    header = page.locator(".md-header").evaluate("one => one.getBoundingClientRect().bottom")
    assert top >= header - 1
    before = page.locator(".graft-picture svg").evaluate(
        "svg => svg.getBoundingClientRect().height"
    )
    assert overlaps(page) == 0
    unfold(page, "analytics.stg_orders")
    expect(column(page, "analytics.stg_orders", "order_amount")).to_be_visible()
    assert overlaps(page) == 0
    page.get_by_role("button", name="Fold columns").click()
    page.get_by_role("button", name="Unfold columns").click()
    assert page.locator('.graft-unfold[aria-expanded="false"]').count() == 0
    assert overlaps(page) == 0
    page.get_by_role("button", name="Fold columns").click()
    after = page.locator(".graft-picture svg").evaluate("svg => svg.getBoundingClientRect().height")
    assert after == pytest.approx(before, abs=20)


def test_a_column_names_what_it_comes_from_and_what_it_feeds_with_links(visit: Any) -> None:
    page = visit.open("datasets/spark/raw/products/index.html")
    line = page.locator("#column-purchase_price").get_by_role("link", name="load_products.py, line")
    address = r"https://git\.example\.com/shop/erp-tasks/blob/HEAD/load_products\.py#L\d+"
    expect(line).to_have_attribute("href", re.compile(address))
    page = visit.open(RAW)
    row = page.locator("#column-unit_price")
    expect(row.locator("td:nth-child(3) .graft-inferred")).to_have_count(0)
    expect(row).to_contain_text("copied")
    feeds = row.locator("details")
    expect(feeds.locator("summary")).to_contain_text("columns")
    expect(feeds.locator("summary")).to_contain_text("1 dashboard")
    expect(feeds.get_by_role("link").first).to_be_hidden()
    feeds.locator("summary").click()
    expect(feeds.get_by_role("link", name="analytics.stg_orders.order_amount")).to_be_visible()
    expect(feeds.get_by_role("link", name="Revenue dashboard")).to_be_visible()
    further = feeds.get_by_role("link", name="further on").get_attribute("href") or ""
    assert re.search(
        r"explore/index\.html#dataset=spark/raw/orders&up=0&down=.*columns=unit_price$", further
    )
    row.get_by_role("link", name="orders", exact=True).click()
    page.wait_for_url("**/datasets/landing/orders/index.html#column-unit_price")
    expect(page.locator("tr:target")).to_contain_text("unit_price")


def test_a_column_lights_its_way_by_pointer_and_keyboard_and_leads_to_its_row(visit: Any) -> None:
    page = visit.open(RAW)
    button = page.locator('.graft-unfold[aria-label$="raw.orders"]')
    button.focus()
    page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "true")
    column(page, "raw.orders", "unit_price").hover()
    notes = page.locator(".graft-box__note--lit").all_text_contents()
    assert "unit_price" in notes
    assert "order_amount" in notes
    words = page.locator("[aria-live]")
    expect(words).to_contain_text("from landing/orders.unit_price")
    page.mouse.move(0, 0)
    expect(page.locator(".graft-lines path")).to_have_count(0)
    expect(words).to_have_text("")
    assert page.locator(".graft-box__note--lit").count() == 0
    column(page, "raw.orders", "unit_price").focus()
    expect(page.locator(".graft-lines path").first).to_be_attached()
    page.keyboard.press("Escape")
    expect(page.locator(".graft-lines path")).to_have_count(0)
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert page.locator('.graft-unfold[aria-expanded="true"]').count() == 0
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert page.locator('.graft-unfold[aria-expanded="true"]').count() == 1
    page.emulate_media(media="print")
    expect(page.locator(".graft-unfold").first).to_be_hidden()
    expect(page.locator(".graft-picture-foot")).to_be_hidden()
    page.emulate_media(media="screen")
    button.focus()
    page.keyboard.press("Space")
    expect(button).to_have_attribute("aria-expanded", "false")
    expect(column(page, "raw.orders", "unit_price")).to_be_hidden()
    page.get_by_role("button", name="Unfold columns").click()
    column(page, "landing.orders", "unit_price").hover()
    for dataset, name in WAY.items():
        expect(column(page, dataset.replace("/", "."), name)).to_have_class(re.compile("--lit"))
    assert "land_shop_files" in lit(page)
    assert page.locator(".graft-lines .graft-line--direct").count() >= 3
    expect(column(page, "raw.orders", "quantity")).not_to_have_class(re.compile("--lit"))
    column(page, "analytics.stg_orders", "order_amount").click()
    page.wait_for_url("**/analytics/stg_orders/index.html#column-order_amount")


def test_a_task_maps_its_columns(visit: Any) -> None:
    page = visit.open("tasks/load_suppliers/index.html")
    fold = page.locator("details", has_text="raw.suppliers").first
    fold.locator("summary").click()
    row = fold.locator("tr", has_text="supplier_id").first
    expect(row).to_be_visible()
    row.get_by_role("link").first.click()
    page.wait_for_url("**/raw/suppliers/index.html#column-*")


@pytest.mark.parametrize(("scheme", "motion"), [("light", "reduce"), ("dark", "no-preference")])
def test_on_a_phone_unfolded_boxes_scroll_in_their_frame(
    browser: Any, server: str, scheme: Any, motion: Any
) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844},
        color_scheme=scheme,
        reduced_motion=motion,
        has_touch=True,
    )
    page = context.new_page()
    page.goto(server + RAW)
    page.get_by_role("button", name="Unfold columns").tap()
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    moves = page.locator(".graft-box").first.evaluate(
        "box => getComputedStyle(box).transitionDuration"
    )
    assert (moves == "0s") == (motion == "reduce")
    chosen = column(page, "raw.orders", "unit_price")
    chosen.tap()
    expect(chosen).to_have_class(re.compile("--lit"))
    assert "#" not in page.url, "the first tap lights, the second follows the link"
    chosen.tap()
    page.wait_for_url("**#column-unit_price")
    context.close()


def test_without_script_the_lists_say_the_same(browser: Any, server: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server + RAW)
    assert page.locator(".graft-unfold").count() == 0
    feeds = page.locator("#column-unit_price details")
    feeds.locator("summary").click()
    expect(feeds.get_by_role("link", name="analytics.stg_orders.order_amount")).to_be_visible()
    expect(feeds).to_contain_text("further on")
    context.close()


def test_the_data_of_a_picture_would_pass_a_strict_policy(visit: Any) -> None:
    policy = "script-src 'self' 'sha256-none'"

    def strict(route: Any) -> None:
        response = route.fetch()
        headers = {**response.headers, "content-security-policy": policy}
        # The theme's own inline scripts do not run then, but the picture's script does.
        route.fulfill(response=response, headers=headers)

    context = visit.page.context.browser.new_context()
    page = context.new_page()
    page.route("**/*.html", strict)
    page.goto(visit.base + RAW)
    expect(page.locator(".graft-unfold").first).to_be_visible()
    context.close()


def search(page: Page, words: str) -> Locator:
    """The columns that a search finds."""
    page.keyboard.press("Control+k")
    page.keyboard.type(words)
    return page.get_by_role("group", name="Columns").get_by_role("option")


def test_search_finds_a_column_of_many_tables_once_and_one_of_one_table_in_its_row(
    visit: Any,
) -> None:
    page = visit.open("")
    shared = search(page, "customer_id")
    expect(shared.first).to_have_attribute("href", re.compile("columns/cu/.*#column-customer_id$"))
    expect(shared.first).to_contain_text("datasets")
    shared.first.click()
    page.wait_for_url("**/columns/cu/index.html#column-customer_id")
    page.get_by_role("link", name="raw.orders").first.click()
    page.wait_for_url("**/raw/orders/index.html#column-*")
    only = search(page, "model_version").first
    expect(only).to_have_attribute(
        "href", re.compile("ml/customer_scores/.*#column-model_version$")
    )
    only.click()
    page.wait_for_url("**/ml/customer_scores/index.html#column-model_version")
    expect(page.locator("#column-model_version")).to_be_in_viewport()


def test_names_of_any_characters_unfold_as_text(browser: Any, tmp_path: Path) -> None:
    source, target = DatasetId("spark", "a.source"), DatasetId("spark", "a.target")
    names = [*HOSTILE, *(f"column_{n}" for n in range(400))]
    columns = tuple(map(Column, names))
    edges = tuple(
        ColumnEdge("m", target, n, source, n, EdgeType.DIRECT, Subtype.IDENTITY, False, "")
        for n in names
    )
    lineage = Lineage(
        {one: Dataset(one, columns=columns) for one in (source, target)},
        flows=(Flow(source, target, "m", definition=DefinitionKind.DBT),),
        column_edges=edges,
    )
    build(DescribedLineage(lineage), SiteSettings(), tmp_path / "site")
    page = browser.new_page()
    faults: list[str] = []
    page.on("dialog", lambda dialog: faults.append(dialog.message) or dialog.dismiss())
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: message.type == "error" and faults.append(message.text))
    page.goto((tmp_path / "site" / dataset_path(target) / "index.html").as_uri())
    page.get_by_role("button", name="Unfold columns").click()
    titles = page.locator(".graft-column title").all_text_contents()
    assert titles[: len(HOSTILE)] == list(map(printable, HOSTILE))
    assert overlaps(page) == 0
    expect(page.locator(".graft-column--more")).to_have_text(["+368 more", "+368 more"])
    page.locator(".graft-column").nth(3).hover()
    expect(page.locator(".graft-lines path")).to_have_count(1)
    for at in range(len(HOSTILE)):
        page.locator(".graft-columns td:first-child a").nth(at).click()
        expect(page.locator("tr:target")).to_have_count(1)
    page.close()
    assert faults == []
