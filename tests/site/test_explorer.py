"""The explorer in a browser: walking, columns, paths, filters, the address, keyboard and touch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Page, expect

from dbt_graft.catalog.build import build
from dbt_graft.catalog.settings import SiteSettings
from dbt_graft.lineage.building.build import build as build_lineage
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.names import DatasetNames, NameReason
from dbt_graft.lineage.records import Column, ColumnEdge, Dataset, Evidence, Records, Subtype
from dbt_graft.lineage.urls import dataset_path
from tests.catalog.test_hostile_text import HOSTILE, _hostile_lineage
from tests.notation import statement
from tests.site.conftest import Visit, served, watching

pytestmark = [pytest.mark.browser, pytest.mark.demo]

EXPLORER = "explore/index.html"
MART, RAW = "spark/analytics/orders", "spark/raw/orders"
# All boxes, also where they are too small to read.
ALL = "#fold=nothing"

Open = Callable[[str], Page]


def explored(visit: Visit, hash_: str = "") -> Page:
    """The explorer, when it has drawn what an address says."""
    page = visit.open(EXPLORER + hash_)
    idle(page)
    return page


def idle(page: Page) -> None:
    """Wait until all that was asked for is drawn and no longer glides into its place."""
    page.evaluate("graft.explore.running.idle()")
    page.evaluate(
        "new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))"
    )
    page.evaluate(
        """() => Promise.all(
            document.querySelector(".graft-sheet").getAnimations().map(one => one.finished))"""
    )


def box(page: Page, id_: str) -> Any:
    """The box of a dataset or task."""
    return page.locator(f'.graft-box[data-id="{id_}"]')


def ids(page: Page) -> set[str]:
    """The ids of all boxes."""
    found: list[str] = page.locator(".graft-box").evaluate_all("all => all.map(e => e.dataset.id)")
    return set(found)


def places(page: Page) -> dict[str, list[float]]:
    """The place of each box on the screen."""
    found: dict[str, list[float]] = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll(".graft-box")].map(one => {
            const {left, top} = one.querySelector(".graft-box__shape").getBoundingClientRect()
            return [one.dataset.id, [Math.round(left), Math.round(top)]]
        }))"""
    )
    return found


def step(page: Page, id_: str, side: str) -> None:
    """Open a box outward by its +."""
    page.locator(f'.graft-step[data-id="{id_}"][data-act="{side}"]').click()
    idle(page)


def cut(page: Page, ids_: set[str] | None = None) -> list[str]:
    """The boxes, of some ids or all, that are not completely in sight, or below the panel."""
    found: list[str] = page.evaluate(
        """ids => {
            const frame = document.querySelector(".graft-canvas").getBoundingClientRect()
            const panel = document.querySelector(".graft-panel").getBoundingClientRect()
            const right = panel.width && panel.width < frame.width / 2 ? panel.left : frame.right
            const bottom = panel.width >= frame.width / 2 ? panel.top : frame.bottom
            return [...document.querySelectorAll(".graft-box")].filter(one => {
                const at = one.querySelector(".graft-box__shape").getBoundingClientRect()
                return (!ids || ids.includes(one.dataset.id)) && (at.left < frame.left
                    || at.right > right || at.top < frame.top || at.bottom > bottom)
            }).map(one => one.dataset.id)
        }""",
        sorted(ids_) if ids_ is not None else None,
    )
    return found


def letters(page: Page) -> float:
    """The size of the names of boxes on the screen, in pixels."""
    size: float = page.locator(".graft-box__name").first.evaluate(
        "one => parseFloat(getComputedStyle(one).fontSize) * one.getCTM().a"
    )
    return size


def test_the_explorer_opens_so_that_names_can_be_read(visit: Visit) -> None:
    page = explored(visit)
    assert {MART, RAW, "landing/orders"} <= ids(page)
    assert letters(page) >= 10.99
    assert cut(page) == []
    expect(page.locator(".graft-say")).to_contain_text("32 boxes, without tasks")
    page.set_viewport_size({"width": 1024, "height": 768})
    page.reload()
    idle(page)
    assert {"spark/analytics/", RAW} <= ids(page)
    assert letters(page) >= 10.99
    assert cut(page) == []
    box(page, "spark/analytics/").dblclick()
    idle(page)
    assert {MART, RAW} <= ids(page)
    page.set_viewport_size({"width": 1400, "height": 900})
    page = explored(visit, ALL)
    assert {MART, RAW, "@land_shop_files"} <= ids(page)
    assert letters(page) >= 10.99
    page.get_by_role("button", name="All in sight").click()
    idle(page)
    assert cut(page) == []
    expect(page.locator(".graft-entries")).to_be_hidden()
    dashboard = "@revenue-dashboard-7b5f0e8b"
    box(page, dashboard).click()
    idle(page)
    expect(page.get_by_role("complementary")).to_be_visible()
    assert cut(page, {dashboard}) == []
    arrows = page.locator(".graft-arrow")
    assert arrows.count() > 20
    faults = """all => all.map(one => getComputedStyle(one)).filter(
        ({fill, stroke, strokeWidth}) => fill !== "none" || stroke === "none" || !strokeWidth)"""
    assert arrows.evaluate_all(faults) == []


def test_a_link_opens_a_dataset_with_its_steps(visit: Visit) -> None:
    page = explored(visit, f"#dataset={RAW}&up=1&down=1")
    assert ids(page) == {RAW, "landing/orders", "@land_shop_files", "spark/analytics/stg_orders"}
    expect(page.get_by_role("complementary").get_by_role("heading", level=2)).to_have_text("orders")
    for spelling in (
        "spark/raw.orders",
        "Raw.Orders",
        "datasets/spark/raw/orders/index.html",
        "file/srv/shop/build/warehouse/raw.db/orders",
    ):
        page = explored(visit, f"#dataset={spelling}&up=1&down=1")
        assert RAW in ids(page), spelling
        assert page.url.endswith(f"#dataset={RAW}&up=1&down=1")
    page = explored(visit, "#dataset=mssql://sql01:1433/CRM.dbo.PriceList&up=0&down=0")
    assert ids(page) == {"mssql-sql01-1433/crm/dbo/pricelist"}
    page = explored(visit, "#task=land_shop_files&up=0&down=1")
    assert {"@land_shop_files", RAW} <= ids(page)
    assert "landing/orders" not in ids(page)


def test_a_plus_opens_one_step_and_what_is_there_stays_where_it_is(visit: Visit) -> None:
    page = explored(visit, f"#dataset={RAW}&up=1&down=1")
    before = places(page)
    step(page, "spark/analytics/stg_orders", "down")
    after = places(page)
    assert set(after) - set(before) == {MART}
    assert {id_: after[id_] for id_ in before} == before
    assert after[MART][0] > before["spark/analytics/stg_orders"][0]
    assert "open=spark/analytics/stg_orders" in page.url
    expect(page.locator(".graft-say")).to_contain_text("1 new")
    again = page.url
    page.reload()
    idle(page)
    assert ids(page) == set(after)
    assert page.url == again


def test_a_step_upstream_opens_to_the_left(visit: Visit) -> None:
    page = explored(visit, f"#dataset={MART}&up=0&down=0")
    assert ids(page) == {MART}
    step(page, MART, "up")
    found = places(page)
    assert len(found) > 1
    assert all(x < found[MART][0] for id_, (x, _) in found.items() if id_ != MART)


def test_columns_unfold_inside_their_box_and_nothing_else_moves_but_what_is_below(
    visit: Visit,
) -> None:
    page = explored(visit, ALL)
    before = places(page)
    box(page, RAW).locator(".graft-unfold").click()
    idle(page)
    expect(box(page, RAW).locator(".graft-column")).to_have_count(8)
    after = places(page)
    x, y = before[RAW]
    moved = {id_ for id_ in before if after[id_] != before[id_]}
    assert all(before[id_][1] > y for id_ in moved)
    assert all(abs(before[id_][0] - x) < 200 for id_ in moved)
    box(page, RAW).locator(".graft-unfold").click()
    idle(page)
    assert places(page) == before


def test_the_way_of_a_column_lights_up_from_a_link(visit: Visit) -> None:
    page = explored(visit, f"#dataset={RAW}&up=2&down=2&columns=unit_price")
    expect(page.locator(".graft-column--lit")).to_have_text(re.compile("unit_price"))
    lit = page.locator(".graft-box--lit").evaluate_all("all => all.map(e => e.dataset.id)")
    assert {RAW, "landing/orders", "@land_shop_files", MART} <= set(lit)
    assert cut(page, {RAW}) == []
    assert letters(page) >= 10.99
    rows = page.locator(".graft-column text").all_text_contents()
    assert "customer_id" in rows
    assert not any("…" in row for row in rows)
    note = box(page, "spark/analytics/stg_orders").locator(".graft-box__note")
    expect(note).to_have_text("order_amount")
    assert page.locator(".graft-line").count() >= 3
    panel = page.get_by_role("complementary")
    expect(panel).to_contain_text("changed stg_orders.order_amount")
    page.keyboard.press("Escape")
    idle(page)
    expect(page.locator(".graft-line")).to_have_count(0)
    assert "columns" not in page.url


def test_pointing_at_a_column_lights_it_and_a_click_keeps_it_in_the_address(visit: Visit) -> None:
    page = explored(visit, f"#dataset={RAW}&up=1&down=1&unfold={RAW}")
    row = page.locator('[data-column="quantity"]')
    row.hover()
    expect(page.locator(".graft-line").first).to_be_attached()
    row.click()
    idle(page)
    assert "columns=quantity" in page.url


def test_two_chosen_boxes_show_the_paths_between_them(visit: Visit) -> None:
    page = explored(visit, "#dataset=landing/orders&up=0&down=0")
    box(page, "landing/orders").click()
    page.get_by_role("button", name="Paths to…").click()
    expect(page.locator(".graft-say")).to_contain_text("Choose the other box")
    page = explored(visit, f"#dataset=landing/orders&up=0&down=0&path=landing/orders,{MART}")
    expect(box(page, RAW)).to_be_visible()
    expect(box(page, MART)).to_have_class(re.compile("graft-box--lit"))
    assert page.locator(".graft-arrow--lit").count() >= 3
    page = explored(visit, ALL)
    box(page, "landing/orders").click()
    page.get_by_role("button", name="Paths to…").click()
    box(page, MART).click()
    idle(page)
    assert "path=landing/orders,spark/analytics/orders" in page.url
    dimmed = page.locator(".graft-box.graft-dim").evaluate_all("all => all.map(e => e.dataset.id)")
    assert "spark/ml/return_risk" in dimmed
    assert RAW not in dimmed


def test_tables_only_leaves_tasks_out_and_joins_what_they_connect(visit: Visit) -> None:
    page = explored(visit, f"#dataset={RAW}&up=1&down=1")
    page.get_by_text("View", exact=True).click()
    page.get_by_label("Tasks", exact=True).uncheck()
    idle(page)
    assert ids(page) == {RAW, "landing/orders", "spark/analytics/stg_orders"}
    expect(page.locator(".graft-arrow")).to_have_count(2)
    assert "tasks=0" in page.url


def test_control_flow_is_dotted_and_can_be_left_out(visit: Visit) -> None:
    page = explored(visit, "#task=load_products&up=1&down=1")
    assert "spark/raw/suppliers" in ids(page)
    expect(page.locator(".graft-arrow--control")).to_have_count(1)
    page = explored(visit, "#task=load_products&up=1&down=1&control=0")
    assert "spark/raw/suppliers" not in ids(page)


def test_filters_choose_boxes_and_count_what_there_is(visit: Visit) -> None:
    page = explored(visit, ALL)
    page.get_by_text("Filter", exact=True).click()
    choice = page.locator(".graft-filters label", has_text="SQL Server").first
    expect(choice.locator(".graft-count")).to_have_text("3")
    choice.locator("input").check()
    idle(page)
    datasets = {id_ for id_ in ids(page) if not id_.startswith("@")}
    assert datasets
    assert all(id_.startswith("mssql-") for id_ in datasets)
    assert "platform=SQL%20Server" in page.url
    expect(page.locator(".graft-menu summary", has_text="Filter (1)")).to_be_visible()


def test_the_steps_of_one_task_are_in_their_order(opened: Callable[[Lineage], Visit]) -> None:
    accesses = [*statement("INSERT staged <- raw"), *statement("INSERT mart <- staged mart")]
    page = explored(opened(build_lineage(Records(accesses=tuple(accesses)))), "#dataset=db/mart")
    at = places(page)
    left = {id_.rpartition("/")[2]: at[id_][0] for id_ in at}
    assert left["raw"] < left["@load"] < left["staged"] < left["mart"]
    # raw -> load -> staged -> mart, and load <-> mart
    expect(page.locator(".graft-arrow")).to_have_count(4)
    expect(page.locator(".graft-arrow[marker-start]")).to_have_count(1)


@pytest.mark.parametrize("by", ["schema", "owner"])
def test_boxes_fold_by_schema_and_owner_and_unfold_again(visit: Visit, by: str) -> None:
    page = explored(visit, ALL)
    all_ = ids(page)
    page.get_by_text("View", exact=True).click()
    page.get_by_label("Fold").select_option(by)
    idle(page)
    folded = [id_ for id_ in ids(page) if id_.startswith(f"{by}:")]
    assert len(folded) >= 3
    assert len(ids(page)) < len(all_)
    page.keyboard.press("Escape")
    box(page, folded[0]).dblclick()
    idle(page)
    assert folded[0] not in ids(page)
    assert ids(page) & all_


def test_a_hidden_box_is_gone_and_the_address_says_so(visit: Visit) -> None:
    page = explored(visit, f"#dataset={RAW}&up=1&down=2")
    box(page, MART).click()
    page.get_by_role("button", name="Hide").click()
    idle(page)
    assert MART not in ids(page)
    assert f"hide={MART}" in page.url


def test_depth_is_the_number_of_steps(visit: Visit) -> None:
    page = explored(visit, "#dataset=landing/orders&up=0&down=1")
    few = ids(page)
    page.get_by_text("View", exact=True).click()
    field = page.get_by_label("Steps downstream")
    field.fill("9")
    field.press("Enter")
    idle(page)
    assert few < ids(page)
    assert "@revenue-dashboard-7b5f0e8b" in ids(page)
    assert "down=9" in page.url


def test_search_starts_from_what_is_chosen_by_keyboard_only(visit: Visit) -> None:
    page = explored(visit, ALL)
    page.get_by_role("combobox", name="Start from").focus()
    page.keyboard.type("stg_sup")
    expect(page.get_by_role("option").first).to_contain_text("stg_suppliers")
    page.keyboard.press("Enter")
    idle(page)
    assert "dataset=spark/analytics/stg_suppliers" in page.url
    page.go_back()
    idle(page)
    assert "dataset=" not in page.url
    assert MART in ids(page)


def test_the_keyboard_walks_opens_and_closes(visit: Visit) -> None:
    page = explored(visit, f"#dataset={RAW}&up=1&down=1")
    box(page, RAW).focus()
    page.keyboard.press("ArrowRight")
    focused = "document.activeElement.dataset.id"
    assert page.evaluate(focused) == "spark/analytics/stg_orders"
    page.keyboard.press("d")
    idle(page)
    assert MART in ids(page)
    assert page.evaluate(focused) == "spark/analytics/stg_orders"
    page.keyboard.press("c")
    idle(page)
    assert box(page, "spark/analytics/stg_orders").locator(".graft-column").count() > 0
    page.keyboard.press("Enter")
    idle(page)
    expect(page.get_by_role("complementary").get_by_role("heading", level=2)).to_have_text(
        "stg_orders"
    )
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(focused) == RAW


def test_dragging_moves_the_wheel_zooms_and_neither_is_a_click(visit: Visit) -> None:
    page = explored(visit, f"#dataset={RAW}&up=1&down=1")
    before = places(page)
    x, y = before["landing/orders"]
    page.mouse.move(x + 60, y + 12)
    page.mouse.down()
    page.mouse.move(x + 100, y + 52, steps=5)
    page.mouse.up()
    idle(page)
    assert places(page) == {id_: [left + 40, top + 40] for id_, (left, top) in before.items()}
    expect(page.get_by_role("complementary").locator("code").first).to_have_text(RAW)
    page.mouse.wheel(0, 600)
    idle(page)
    now = places(page)
    assert now[RAW][0] - now["landing/orders"][0] < before[RAW][0] - before["landing/orders"][0]


def test_two_fingers_zoom_about_the_place_between_them(visit: Visit) -> None:
    page = explored(visit, f"#dataset={RAW}&up=1&down=1")
    before = places(page)
    page.evaluate(
        """() => {
            const frame = document.querySelector(".graft-canvas")
            frame.setPointerCapture = () => {}
            const at = (name, id, x) => frame.dispatchEvent(new PointerEvent(name, {
                pointerId: id, pointerType: "touch", button: 0, bubbles: true,
                clientX: x, clientY: 400}))
            at("pointerdown", 1, 480); at("pointerdown", 2, 520)
            for (let n = 1; n <= 20; n++) {
                at("pointermove", 1, 480 - n)
                at("pointermove", 2, 520 + n)
            }
            at("pointerup", 1, 460); at("pointerup", 2, 540)
        }"""
    )
    idle(page)
    after = places(page)
    wide = after[RAW][0] - after["landing/orders"][0]
    narrow = before[RAW][0] - before["landing/orders"][0]
    assert 1.7 < wide / narrow < 2.3
    assert after[RAW][0] - 500 == pytest.approx((before[RAW][0] - 500) * wide / narrow, abs=12)


def test_a_picture_is_saved_as_svg_that_needs_nothing_else(visit: Visit, tmp_path: Path) -> None:
    page = explored(visit, f"#dataset={RAW}&up=1&down=1")
    page.get_by_text("Save", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Picture as SVG").click()
    download.value.save_as(tmp_path / "picture.svg")
    assert download.value.suggested_filename == "spark_raw_orders.svg"
    picture = ElementTree.parse(tmp_path / "picture.svg").getroot()  # noqa: S314
    texts = {one.text for one in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert {"land_shop_files", "stg_orders"} <= texts
    text = (tmp_path / "picture.svg").read_text()
    assert "class=" not in text
    assert "var(" not in text


def test_a_picture_is_saved_as_png(visit: Visit, tmp_path: Path) -> None:
    page = explored(visit, f"#dataset={RAW}&up=1&down=1")
    page.get_by_text("Save", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Picture as PNG").click()
    download.value.save_as(tmp_path / "picture.png")
    content = (tmp_path / "picture.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20], "big") > 1000


@pytest.mark.parametrize(("path", "start"), [
    (f"datasets/{MART}/index.html", f"dataset={MART}"),
    ("tasks/land_shop_files/index.html", "task=land_shop_files"),
])  # fmt: skip
def test_pages_lead_to_the_explorer_and_back(visit: Visit, path: str, start: str) -> None:
    page = visit.open(path)
    page.get_by_role("link", name="Explore from here").click()
    page.wait_for_url(f"**/{EXPLORER}#{start}*")
    idle(page)
    page.get_by_role("link", name="Open page").click()
    page.wait_for_url(f"**/{path}")


def test_what_an_address_names_and_is_not_there_is_said_in_the_drawing(visit: Visit) -> None:
    nothing = visit.page.locator(".graft-nothing")
    explored(visit, f"#dataset={RAW}&up=1&down=1&columns=no_such_column")
    expect(nothing).to_contain_text("No box here has the column no_such_column.")
    expect(visit.page.locator(".graft-column--lit, .graft-box__note--lit")).to_have_count(0)
    explored(visit, "#dataset=landing/orders&up=0&down=1&path=landing/orders,landing/returns")
    expect(nothing).to_contain_text("no path")
    page = explored(visit, "#dataset=spark/analytics.ordrs&up=1")
    expect(nothing).to_contain_text("No table or task is called spark/analytics.ordrs.")
    frame, said = page.locator(".graft-canvas").bounding_box(), nothing.bounding_box()
    assert frame
    assert said
    assert abs(said["y"] + said["height"] / 2 - frame["y"] - frame["height"] / 2) < 2
    nothing.get_by_role("button", name="analytics.orders").click()
    idle(page)
    assert MART in ids(page)
    expect(nothing).to_be_hidden()


def test_a_page_opened_as_a_file_works(browser: Browser, site: Path) -> None:
    page = browser.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto((site / EXPLORER).as_uri() + f"#dataset={RAW}&up=1&down=1&columns=unit_price")
    expect(box(page, RAW)).to_be_visible()
    idle(page)
    step(page, "spark/analytics/stg_orders", "down")
    assert MART in ids(page)
    assert page.locator(".graft-line").count() > 1
    assert faults == []
    page.close()


def test_without_script_there_is_a_list_of_entry_points(browser: Browser, server: str) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(server + EXPLORER)
    expect(page.locator(".graft-explorer")).to_be_hidden()
    page.get_by_role("link", name="raw", exact=True).click()
    expect(page).to_have_url(f"{server}datasets/spark/raw/index.html")
    page.close()


def test_on_a_phone_nothing_is_cut_off(browser: Browser, server: str) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800}, has_touch=True)
    page.goto(f"{server}{EXPLORER}")
    idle(page)
    assert "spark/raw/" in ids(page)
    assert letters(page) >= 10.99
    page.goto(f"{server}{EXPLORER}#dataset={MART}&up=1&down=1")
    idle(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    box(page, MART).locator(".graft-box__name").tap()
    panel = page.get_by_role("complementary")
    expect(panel).to_be_visible()
    frame = panel.bounding_box()
    assert frame
    assert frame["x"] >= 0
    assert frame["x"] + frame["width"] <= 390
    page.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_names_that_are_found_lie_above_the_menus(
    browser: Browser, server: str, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(f"{server}{EXPLORER}")
    idle(page)
    page.get_by_role("combobox").fill("orders")
    first = page.get_by_role("option").first
    expect(first).to_be_visible()
    covered = """option => {
      const { left, right, top, bottom } = option.getBoundingClientRect(), y = (top + bottom) / 2
      return [.1, .3, .5, .7, .9].filter(part =>
        !option.contains(document.elementFromPoint(left + (right - left) * part, y)))
    }"""
    assert first.evaluate(covered) == []
    frame = page.get_by_role("listbox").bounding_box()
    assert frame
    assert 0 <= frame["x"] <= frame["x"] + frame["width"] <= width
    page.close()


@pytest.fixture
def opened(shared_tab: Page, tmp_path: Path) -> Iterator[Callable[[Lineage], Visit]]:
    """A tab on the site of a lineage."""
    with served(tmp_path / "site") as address, watching(shared_tab, address) as visit:

        def open_(lineage: Lineage) -> Visit:
            build(DescribedLineage(lineage), SiteSettings(), tmp_path / "site")
            return visit

        yield open_


def _chain(count: int, schemas: int = 1, **facts: Any) -> Lineage:
    """Each table is built from the one before."""
    named = [DatasetId("spark", f"s{n * schemas // count:02}.t{n:03}") for n in range(count)]
    columns = (Column("a"), Column("b"))
    return Lineage(
        datasets={one: Dataset(one, columns=columns) for one in named} | facts,
        flows=tuple(
            Flow(a, b, f"model.{b.name}", evidence=Evidence.DECLARED, definition=DefinitionKind.DBT)
            for a, b in pairwise(named)
        ),
        column_edges=tuple(
            ColumnEdge(f"model.{b.name}", b, "a", a, "a", Subtype.IDENTITY.type, Subtype.IDENTITY,
                       False, "")
            for a, b in pairwise(named)
        ),
    )  # fmt: skip


def test_a_large_graph_opens_with_its_schemas_which_open_to_their_datasets(
    opened: Callable[[Lineage], Visit],
) -> None:
    page = explored(opened(_chain(120, schemas=6)))
    assert ids(page) == {f"spark/s{n:02}/" for n in range(6)}
    before = places(page)
    box(page, "spark/s02/").dblclick()
    idle(page)
    after = places(page)
    assert "spark/s02/t040" in after
    assert "spark/s02/" not in after
    assert {id_: after[id_] for id_ in before if id_ != "spark/s02/"} == {
        id_: place for id_, place in before.items() if id_ != "spark/s02/"
    }
    page.reload()
    idle(page)
    assert "spark/s02/t040" in ids(page)


def test_what_was_dropped_is_shown_only_where_it_is_asked_for(
    opened: Callable[[Lineage], Visit],
) -> None:
    lineage = _chain(4)
    gone = DatasetId("spark", "s00.t003")
    dropped = Dataset(gone, dropped_at=datetime(2026, 1, 2, tzinfo=UTC))
    visit = opened(Lineage(datasets={**lineage.datasets, gone: dropped}, flows=lineage.flows))
    page = explored(visit, "#dataset=spark/s00/t000&down=9")
    assert ids(page) == {"spark/s00/t000", "spark/s00/t001", "spark/s00/t002"}
    expect(page.locator(".graft-step")).to_have_count(0)
    page = explored(visit, "#dataset=spark/s00/t000&down=9&deleted=1")
    expect(box(page, "spark/s00/t003")).to_have_class(re.compile("graft-box--gone"))


def test_views_that_pass_a_table_on_unfold_beside_it_and_fold_again(
    opened: Callable[[Lineage], Visit],
) -> None:
    lineage = _chain(3)
    table, names = DatasetId("spark", "s00.t001"), ("s00.latest", "s00.<b>all</b>")
    views = tuple(DatasetId("spark", name) for name in names)
    known = replace(
        lineage,
        names=DatasetNames(aliases={table: views}, reasons=dict.fromkeys(views, NameReason.VIEW)),
    )
    visit = opened(known)
    page = explored(visit, "#dataset=spark/s00/t001&down=9")
    before = places(page)
    page.get_by_role("button", name="Views (2)").click()
    idle(page)
    after = places(page)
    assert {id_: after[id_] for id_ in before} == before
    assert after.keys() - before.keys() == {"spark/s00/t001|0", "spark/s00/t001|1"}
    expect(box(page, "spark/s00/t001|1")).to_have_attribute("aria-label", re.compile(names[1]))
    page.reload()
    idle(page)
    box(page, "spark/s00/t001|0").focus()
    page.keyboard.press("Enter")
    idle(page)
    link = page.get_by_role("link", name="Open page")
    expect(link).to_have_attribute("href", "../datasets/spark/s00/t001/index.html#other-names")
    page.get_by_role("button", name="Fold views").click()
    idle(page)
    assert ids(page) == before.keys()
    box(page, "spark/s00/t001").focus()
    page.keyboard.press("v")
    idle(page)
    assert ids(page) == after.keys()


def test_a_walk_through_many_shards_finds_the_end_of_a_long_way(
    opened: Callable[[Lineage], Visit],
) -> None:
    visit = opened(_chain(400, schemas=8))
    first, last = "spark/s00/t000", "spark/s07/t399"
    page = explored(visit, f"#dataset={first}&up=0&down=0&path={first},{last}")
    assert len(ids(page)) == 400
    expect(page.locator(".graft-arrow--lit")).to_have_count(399)


def test_an_empty_site_says_what_to_do(opened: Callable[[Lineage], Visit]) -> None:
    page = opened(Lineage()).open(EXPLORER)
    expect(page.locator(".graft-explorer")).to_be_hidden()
    expect(page.locator(".graft-entries")).to_contain_text("Nothing to explore yet")


def test_hostile_names_are_shown_as_text(opened: Callable[[Lineage], Visit]) -> None:
    lineages = [_hostile_lineage(text)[0] for text in HOSTILE]
    visit = opened(
        Lineage(
            datasets={
                id_: dataset for lineage in lineages for id_, dataset in lineage.datasets.items()
            },
            tasks={name: task for lineage in lineages for name, task in lineage.tasks.items()},
            flows=tuple(flow for lineage in lineages for flow in lineage.flows),
            column_edges=tuple(edge for lineage in lineages for edge in lineage.column_edges),
        )
    )
    page = explored(visit, ALL)
    assert len(ids(page)) == 3 * len(HOSTILE)
    for lineage in lineages:
        start = dataset_path(next(iter(lineage.datasets))).removeprefix("datasets/").rstrip("/")
        page = explored(visit, f"#dataset={start}&up=1&down=1&unfold={start}")
        expect(page.locator(".graft-column")).to_have_count(1)
        page.locator(".graft-column").click()
        idle(page)
        for name in ("View", "Filter", "Save"):
            page.get_by_text(name, exact=True).click()
        assert page.locator(".graft-explorer :is(script, img, iframe)").count() == 0
