"""The search dialog in a browser: over http and from files, by keyboard, on a phone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from playwright.sync_api import Locator, Page, expect

from dbt_graft.catalog.build import build
from dbt_graft.catalog.dbt_docs import DbtDocs
from dbt_graft.catalog.markup import printable
from dbt_graft.catalog.settings import SiteExtras, SiteSettings
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description, DocsNode, Role
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Column, Dataset
from tests.cases import for_each
from tests.site.conftest import Visit, served, watching

pytestmark = [pytest.mark.browser]

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    '"])\nalert(1)//',
    "</script><script>alert(1)</script>",
    "{{constructor.constructor('alert(1)')()}}",
    "javascript:alert(1)",
    "__proto__",
    "نام_جدول",
    "顧客_注文",
    "🎉🎉",
    "x" * 500,
    "a" + "_b" * 300,
]
# Descriptions that differ from the others.
TEXTS = {
    3: "The **refund policy** of the shop.",
    4: f"Surrogate keys. {'Nothing else. ' * 30} Lịch sử lỗi theo ngày.",
}


def _lineage() -> tuple[Lineage, dict[DatasetId, Description]]:
    """20 schemas of tables, each with two owners, and hostile names."""
    names = [f"layer{n:02}.fct_{word}" for n in range(20) for word in ("orders", "customerReturns")]
    tables = [DatasetId("spark", name) for name in (*names, "raw.orders", "raw.order_lines")]
    others = [
        DatasetId("mssql://crm:1433", "Crm.dbo.PriceList"),
        DatasetId("s3://lake", "in/orders"),
    ]
    hostile = [DatasetId("spark", f"raw.{name}") for name in HOSTILE]
    columns = ("order_id", "amountEur")
    datasets = {
        **{
            table: Dataset(table, columns=tuple(map(Column, columns)))
            for table in (*tables, *others)
        },
        **{
            one: Dataset(one, columns=(Column(name), Column(f"c_{name}")))
            for one, name in zip(hostile, HOSTILE, strict=True)
        },
    }
    described = {
        table: Description(
            table,
            f"model.shop.m{n}",
            f"m{n}",
            Role.MODEL,
            text=TEXTS.get(n, "Loaded each night."),
            owner=f"team {n % 2}",
            tags=("nightly",),
        )
        for n, table in enumerate(tables)
    }
    described |= {
        one: Description(one, f"model.shop.h{n}", name, Role.MODEL, text=f"{name} hostility")
        for n, (one, name) in enumerate(zip(hostile, HOSTILE, strict=True))
    }
    return Lineage(datasets), described


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of its own, with pages of dbt docs."""
    lineage, described = _lineage()
    out = tmp_path_factory.mktemp("search") / "site"
    nodes = [
        DocsNode("macro.shop.cents_to_euros", "cents_to_euros", "macro", "Rounds half to even."),
        DocsNode("test.shop.unique_m1", "unique_m1_order_id", "test", is_generic_test=True),
    ]
    board = Consumer("exposure.shop.board", "board", "dashboard", (), owner="team 1")
    page = {"dbt/index.html": b"<!doctype html><title>dbt docs</title>"}
    docs = DbtDocs.DBT_1
    build(
        DescribedLineage(lineage, described, [board]),
        SiteSettings(),
        out,
        extras=SiteExtras(dbt_docs=docs, files=page, docs_nodes=nodes),
    )
    return out


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with served(folder) as address:
        yield address


@pytest.fixture
def tab(shared_tab: Page, address: str) -> Iterator[Visit]:
    """A visit of that site."""
    with watching(shared_tab, address) as visit:
        yield visit


@pytest.fixture
def file_tab(shared_tab: Page, folder: Path) -> Iterator[Page]:
    """A visit of that site's tasks, opened as files."""
    with watching(shared_tab, f"{folder.as_uri()}/") as visit:
        yield visit.open("tasks/index.html")


def results(page: Page, group: str = "") -> Locator:
    """The results of a search, of all groups or of one."""
    box = page.get_by_role("listbox", name="Search results")
    return (box.get_by_role("group", name=group) if group else box).get_by_role("option")


def search(page: Page, words: str, group: str = "") -> Locator:
    """The results of a search by keyboard."""
    field = page.get_by_role("combobox", name="Search")
    if not field.is_visible():
        page.keyboard.press("Control+k")
    field.fill(words)
    return results(page, group)


def finished(page: Page) -> None:
    """Wait until all results are there, those in descriptions too."""
    expect(page.get_by_role("status")).to_have_text(re.compile("result"))


@pytest.fixture
def home(tab: Visit) -> Page:
    """The home page, open."""
    return tab.open("")


@pytest.fixture(params=["tab", "file_tab"])
def tasks_page(request: pytest.FixtureRequest) -> Page:
    """The list of tasks, on the server and opened as a file."""
    opened: Any = request.getfixturevalue(request.param)
    page: Page = opened if request.param == "file_tab" else opened.open("tasks/index.html")
    return page


@for_each("words, group, name", [
    ("orders", "Datasets", "raw.orders"),
    ("raw.ord", "Datasets", "raw.orders"),
    ("RAW orders", "Datasets", "raw.orders"),
    ("order lines", "Datasets", "raw.order_lines"),
    ("orderLines", "Datasets", "raw.order_lines"),
    ("returns", "Datasets", "layer00.fct_customerReturns"),
    ("fct_customer_ret", "Datasets", "layer00.fct_customerReturns"),
    ("pricelist", "Datasets", "Crm.dbo.PriceList"),
    ("crm.dbo.pri", "Datasets", "Crm.dbo.PriceList"),
    ("amount", "Columns", "amountEur"),
    ("order_id", "Columns", "order_id"),
    ("boa", "Tasks", "board"),
    ("night", "Tags", "nightly"),
    ("team 1", "Owners", "team 1"),
    ("cents", "Only in dbt docs", "cents_to_euros"),
    ("unique_m1", "Only in dbt docs", "unique_m1_order_id"),
    ("🎉", "Datasets", "raw.🎉🎉"),
    ("注文", "Datasets", "raw.顧客_注文"),
    ("جدول", "Datasets", "raw.نام_جدول"),
])  # fmt: skip
def test_a_name_is_found(tasks_page: Page, words: str, group: str, name: str) -> None:
    expect(search(tasks_page, "")).to_have_count(0)
    names = search(tasks_page, words, group).locator(".graft-result__name", has_text=name)
    expect(names.first).to_be_visible()


def test_what_is_called_like_the_query_comes_first(tab: Any) -> None:
    page = tab.open("")
    expect(search(page, "orders").first).to_have_text(re.compile("^(in/orders|raw.orders)"))
    expect(search(page, "amountEur").first).to_have_text(re.compile("^amountEur"))
    expect(page.get_by_role("listbox").locator("> *").first).to_have_attribute(
        "aria-labelledby", "graft-results-column"
    )


def test_words_inside_the_name_of_a_generic_test_find_nothing(tab: Any) -> None:
    page = tab.open("")
    search(page, "order_id")
    finished(page)
    expect(results(page, "Only in dbt docs")).to_have_count(0)


def test_a_description_is_found_once_with_its_words(tab: Any) -> None:
    page = tab.open("datasets/spark/raw/orders/index.html")
    match = search(page, "refund policies", "In descriptions")
    expect(match).to_have_count(1)
    expect(match.locator(".graft-result__text")).to_have_text("The refund policy of the shop.")
    expect(match.locator("mark").first).to_have_text("refund")
    search(page, "cents rounds")
    expect(results(page, "In descriptions")).to_have_count(1)
    search(page, "cents_to_euros")
    finished(page)
    expect(page.locator('.graft-result[href*="cents_to_euros"]')).to_have_count(1)


def test_words_without_accents_are_marked_where_most_of_them_stand(tab: Any) -> None:
    match = search(tab.open(""), "lich su loi", "In descriptions")
    expect(match.locator("mark")).to_have_text(["Lịch", "sử", "lỗi"])
    expect(match.locator(".graft-result__text")).to_contain_text("Lịch sử lỗi theo ngày.")


def test_words_that_no_description_has_find_none(tab: Any) -> None:
    page = tab.open("")
    search(page, "refund zebra")
    expect(page.get_by_text("Nothing found for “refund zebra”.")).to_be_visible()


@for_each(
    "words, name",
    [
        ("raw.ordres", "raw.orders"),  # changed over
        ("fct_custmerReturns", "layer00.fct_customerReturns"),  # too few
        ("prixelist", "Crm.dbo.PriceList"),  # another
        ("mount_eur", "amountEur"),  # the first letter
        ("nightlly", "nightly"),  # too many
    ],
)
def test_a_typing_error_is_forgiven(words: str, name: str, home: Page) -> None:
    expect(search(home, words, "Did you mean").first).to_contain_text(name)


@for_each("words", ["ord3rz", "zzzz", "pxyxelist"])
def test_a_text_far_from_all_names_finds_none(words: str, home: Page) -> None:
    search(home, words)
    expect(home.get_by_text(f"Nothing found for “{words}”.")).to_be_visible()


def test_a_missing_address_leads_to_names_like_its_own(tab: Any, folder: Path) -> None:
    missing = folder / "datasets/spark/raw/order_line/index.html"
    missing.parent.mkdir(exist_ok=True)
    missing.write_bytes((folder / "404.html").read_bytes())
    opened = tab.open("datasets/spark/raw/order_line/index.html")
    opened.get_by_role("link", name="raw.order_lines").click()
    expect(opened).to_have_url(f"{tab.base}datasets/spark/raw/order_lines/index.html")
    missing.unlink()


def test_a_file_finds_names_and_says_why_no_descriptions(file_tab: Page) -> None:
    search(file_tab, "refund")
    expect(file_tab.get_by_text("Nothing found for “refund”.")).to_be_visible()
    expect(
        file_tab.get_by_text("Descriptions are searched when the site is on a server.")
    ).to_be_visible()


def test_all_works_by_keyboard(tab: Any) -> None:
    page = tab.open("tasks/index.html")
    link = page.get_by_role("link", name="Datasets", exact=True).first
    link.focus()
    page.keyboard.press("/")
    field = page.get_by_role("combobox", name="Search")
    expect(field).to_be_focused()
    page.keyboard.type("orders")
    finished(page)
    first, second = results(page).nth(0), results(page).nth(1)
    expect(first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    expect(second).to_have_attribute("aria-selected", "true")
    expect(field).to_have_attribute("aria-activedescendant", second.get_attribute("id") or "")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(results(page).last).to_have_attribute("aria-selected", "true")
    expect(results(page).last).to_be_in_viewport()
    for _ in range(8):
        page.keyboard.press("Tab")
        inside = page.evaluate(
            "() => !document.hasFocus() || document.activeElement === document.body"
            " || Boolean(document.activeElement.closest('dialog'))"
        )
        assert inside
    field.focus()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(link).to_be_focused()
    page.keyboard.press("Control+k")
    page.keyboard.type("raw.order_lines")
    expect(results(page).first).to_have_text(re.compile("raw.order_lines"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/datasets/spark/raw/order_lines/index.html")


def test_a_column_is_opened_in_its_row_and_on_the_page_that_is_open(tab: Any) -> None:
    page = tab.open("columns/or/index.html")
    expect(search(page, "order_id", "Columns")).to_have_count(1)
    page.keyboard.press("Enter")
    page.wait_for_url("**/columns/or/index.html#column-order_id")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_slash_that_is_typed_opens_nothing(tab: Any) -> None:
    page = tab.open("")
    search(page, "in")
    page.keyboard.type("/ord")
    expect(page.get_by_role("combobox", name="Search")).to_have_value("in/ord")
    expect(results(page).first).to_have_text(re.compile("in/orders"))


def test_filters_hold_for_names_and_descriptions(tab: Any) -> None:
    page = tab.open("")
    search(page, "loaded night", "In descriptions")
    finished(page)
    page.get_by_label("Owner").select_option("team 1")
    finished(page)
    notes = results(page).locator(".graft-result__note")
    expect(notes.first).to_have_text(re.compile("team 1"))
    # Names come before descriptions, which are asked for anew.
    expect(notes.filter(has_not_text="team 1")).to_have_count(0)
    search(page, "orders", "Datasets")
    page.get_by_label("Platform").select_option("Amazon S3")
    expect(page.get_by_text("Nothing found for “orders” with")).to_be_visible()
    page.get_by_role("button", name="Search everything").click()
    expect(results(page, "Datasets").first).to_be_visible()
    page.get_by_label("Platform").select_option("Amazon S3")
    expect(results(page, "Datasets")).to_have_text([re.compile("in/orders")])


def test_a_search_has_an_address(tab: Any) -> None:
    page = tab.open("tasks/index.html#search=orders&platform=SQL+Server")
    expect(page.get_by_text("Nothing found for “orders” with platform SQL Server.")).to_be_visible()
    search(page, "price & list")
    expect(results(page, "Datasets")).to_have_text([re.compile("Crm.dbo.PriceList")])
    assert unquote(page.url).endswith("#search=price+&+list&platform=SQL+Server")
    page.keyboard.press("Escape")
    page.wait_for_url(f"{tab.base}tasks/index.html")
    page.evaluate("() => { location.hash = '#search=orders&owner=nobody' }")
    expect(results(page, "Datasets").first).to_be_visible()


def test_back_from_a_result_leads_to_the_results(tab: Any) -> None:
    page = tab.open("tasks/index.html")
    search(page, "raw.orders")
    finished(page)
    page.keyboard.press("Enter")
    page.wait_for_url("**/datasets/spark/raw/orders/index.html")
    page.go_back()
    expect(results(page).first).to_have_text(re.compile("raw.orders"))


def test_more_results_are_shown_when_asked(tab: Any) -> None:
    page = tab.open("")
    search(page, "fct", "Datasets")
    finished(page)
    expect(results(page, "Datasets")).to_have_count(9)
    expect(page.get_by_role("status")).to_have_text(re.compile(r"^the first \d+ results$"))
    page.get_by_text("More…").first.click()
    expect(results(page, "Datasets")).to_have_count(40)


def test_an_empty_query_shows_examples(tab: Any) -> None:
    page = tab.open("")
    page.get_by_role("button", name="Search datasets, columns and tasks").click()
    expect(page.get_by_text("Search what the site knows.")).to_be_visible()
    expect(results(page)).to_have_count(0)


def test_hostile_names_and_texts_are_text(tasks_page: Page) -> None:
    page = tasks_page
    for name in HOSTILE:
        shown = " ".join(printable(name).split())
        search(page, shown[:60])
        expect(results(page, "Datasets").first).to_be_visible()
        texts = page.locator(".graft-result__name").all_text_contents()
        assert any(printable(name) in text for text in texts), name
    assert page.locator("dialog :is(img, script, svg)").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_works_on_a_phone(browser: Any, address: str, scheme: Any) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, color_scheme=scheme, has_touch=True
    )
    page = context.new_page()
    page.goto(f"{address}tasks/index.html")
    page.get_by_role("button", name="Search").tap()
    page.get_by_role("combobox", name="Search").fill("x")
    expect(results(page).first).to_be_visible()
    wide = page.evaluate("() => document.querySelector('dialog').scrollWidth - innerWidth")
    assert wide <= 0
    page.get_by_role("combobox", name="Search").fill("raw.order_l")
    results(page).first.tap()
    page.wait_for_url("**/raw/order_lines/index.html")
    page.get_by_role("button", name="Search").tap()
    page.get_by_role("button", name="Close search").tap()
    expect(page.get_by_role("dialog")).to_have_count(0)
    context.close()


def test_without_script_no_button_is_shown(browser: Any, folder: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "index.html").as_uri())
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("[data-graft-search]:visible")).to_have_count(0)
    context.close()


def test_a_missing_index_is_said(browser: Any, address: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.route("**/search/names/**", lambda route: route.abort())
    page.goto(f"{address}tasks/index.html")
    search(page, "orders")
    expect(page.get_by_text("The index of the search cannot be loaded.")).to_be_visible()
    page.unroute("**/search/names/**")
    page.keyboard.press("Escape")
    expect(search(page, "orders").first).to_be_visible()
    context.close()


def test_without_the_full_text_names_are_found(browser: Any, address: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.route("**/search/text/**", lambda route: route.abort())
    page.goto(f"{address}tasks/index.html")
    expect(search(page, "orders").first).to_be_visible()
    expect(page.get_by_text("Descriptions cannot be searched in this browser.")).to_be_visible()
    context.close()
