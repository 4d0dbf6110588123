"""Everybody can use the site: axe-core, the keyboard alone, dark mode, less motion, paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page
from pypdf import PdfReader

from tests.site.conftest import GONE, kinds, served

pytestmark = [pytest.mark.browser, pytest.mark.demo]

DOCS = "dbt/"
DATASET = "datasets/spark/analytics/orders/index.html"
RAW = "datasets/spark/raw/"
# What they look like in the dark, on a phone and on paper is the same on all others.
MAIN = ("index.html", DATASET, "tasks/land_shop_files/index.html", "explore/index.html", DOCS)
WIDE, PHONE = (1400, 900), (390, 844)
PHONE_SIZE = {"width": PHONE[0], "height": PHONE[1]}
PAPER = {"width": 718, "height": 1047}
# Options of axe-core. Dark is a matter of colours, a phone of all but them.
Rules = dict[str, Any]
ALL_RULES: Rules = {}
COLOURS: Rules = {"runOnly": ["color-contrast"]}
ALL_BUT_COLOURS: Rules = {"rules": {"color-contrast": {"enabled": False}}}
# What is folded is looked at too.
UNFOLD = """() => {
  for (const details of document.querySelectorAll("details")) details.open = true
  document.querySelector(".graft-unfold-all")?.click()
}"""
# WCAG's contrast of the text in boxes and of their outlines: axe-core does not know SVG.
CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true })
  const light = (...colours) => {
    canvas.fillStyle = "#fff"
    for (const colour of colours) {
      canvas.fillStyle = colour
      canvas.fillRect(0, 0, 1, 1)
    }
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)
      .map(one => one / 255).map(one => one <= .04045 ? one / 12.92 : ((one + .055) / 1.055) ** 2.4)
    return .2126 * r + .7152 * g + .0722 * b
  }
  const ground = getComputedStyle(document.body).backgroundColor
  return [...document.querySelectorAll(".graft-box text, .graft-column text")].map(text => {
    const group = text.closest(".graft-box") ?? text.closest(".graft-unfolded")
    // Boxes share outlines by reference: one of its own shows the colour that such a box has.
    const shape = document.createElementNS("http://www.w3.org/2000/svg", "path")
    const kind = group.matches(".graft-box") ? "box" : "unfolded"
    shape.setAttribute("class", `graft-${kind}__shape`)
    group.append(shape)
    const back = [ground, getComputedStyle(shape).fill]
    shape.remove()
    const pair = [light(...back), light(...back, getComputedStyle(text).fill)].sort()
    return [text.textContent, (pair[1] + .05) / (pair[0] + .05)]
  })
}"""
# Everything that Tab should reach, and how each looks without focus.
TABBED = """() => {
  window.look = element => [element, ...element.querySelectorAll("*"),
    ...(element.labels ?? []), ...(element.nextElementSibling?.matches("label")
      ? [element.nextElementSibling] : [])].map(one => {
    const style = getComputedStyle(one)
    return [style.outlineStyle, style.outlineWidth, style.boxShadow, style.stroke,
      style.strokeWidth, style.getPropertyValue("--graft-stroke"), style.backgroundColor,
      style.borderColor, style.color, style.opacity, style.transform].join()
  }).join(";")
  window.before = new Map()
  for (const one of document.querySelectorAll(
    "a[href], button, summary, input, select, textarea, [tabindex='0']")) {
    if (one.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true })
        && !one.closest("[inert]")) {
      before.set(one, look(one))
    }
  }
  window.reached = new Map()
  const article = document.querySelector("article")
  return [...before.keys()].filter(one => article.contains(one)).length
}"""
FOCUSED = """() => {
  const one = document.activeElement
  if (one === document.body || reached.has(one)) return false
  const box = one.getBoundingClientRect()
  reached.set(one, { seen: look(one) !== before.get(one), at: [box.x, box.y], html: one.outerHTML })
  return true
}"""
MISSED = """() => {
  const article = document.querySelector("article")
  const short = html => html.slice(0, 120)
  return {
    missed: [...before.keys()].filter(one => article.contains(one) && !reached.has(one))
      .map(one => short(one.outerHTML)),
    unseen: [...reached.values()].filter(({ seen }) => !seen).map(({ html }) => short(html)),
  }
}"""


@pytest.fixture(scope="module")
def base(addressed_site: Path) -> Iterator[str]:
    with served(addressed_site) as address:
        yield address


@pytest.fixture
def tab(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A tab with the settings that a test is parametrized with."""
    settings: dict[str, Any] = {"viewport": {"width": WIDE[0], "height": WIDE[1]}}
    context = browser.new_context(**(settings | getattr(request, "param", {})))
    yield context.new_page()
    context.close()


@pytest.mark.parametrize(
    ("tab", "rules", "main_only"),
    [
        ({"color_scheme": "light"}, ALL_RULES, False),
        ({"color_scheme": "dark"}, COLOURS, True),
        ({"viewport": PHONE_SIZE}, ALL_BUT_COLOURS, True),
        *(
            pytest.param(settings, rules, False, marks=pytest.mark.exhaustive)
            for settings, rules in (
                ({"color_scheme": "dark"}, COLOURS),
                ({"viewport": PHONE_SIZE}, ALL_BUT_COLOURS),
                ({"color_scheme": "dark", "viewport": PHONE_SIZE}, ALL_RULES),
            )
        ),
    ],
    indirect=["tab"],
    ids=["light", "dark", "phone", "all in the dark", "all on a phone", "dark phone"],
)
def test_axe_finds_no_serious_fault_on_any_kind_of_page(
    tab: Page, base: str, addressed_site: Path, rules: Rules, main_only: bool
) -> None:
    faults = []
    for path in MAIN if main_only else [*kinds(addressed_site), f"{GONE}index.html"]:
        tab.goto(base + path)
        tab.evaluate(UNFOLD)
        faults += [f"{path}: {fault}" for fault in serious_faults(tab, rules)]
    assert faults == []


def serious_faults(page: Page, rules: Rules = ALL_RULES) -> list[str]:
    """The serious and critical findings of axe-core; of dbt's page only in what is ours."""
    ours = {"include": ["#graft-links"]} if page.locator("#graft-links").count() else None
    return [
        f"{violation['id']}: {node['target']} {node['any'] or node['all'] or node['none']}"
        for violation in violations(page, rules, ours)
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


def violations(page: Page, rules: Rules, context: Rules | None = None) -> list[dict[str, Any]]:
    """All findings of axe-core; it would describe each element without one, too."""
    options = {"resultTypes": ["violations"], **rules}
    found: list[dict[str, Any]] = Axe().run(page, context, options).response["violations"]
    return found


def test_axe_finds_a_serious_fault_where_there_is_one(tab: Page, base: str) -> None:
    tab.goto(base)
    tab.evaluate("() => document.querySelector('article').append(new Image())")
    assert any(fault.startswith("image-alt") for fault in serious_faults(tab))


@pytest.mark.parametrize(
    "tab", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True, ids=str
)
def test_text_in_pictures_has_the_contrast_of_other_text(tab: Page, base: str) -> None:
    for path in ("index.html", DATASET, "datasets/landing/orders/index.html"):
        tab.goto(base + path)
        tab.evaluate(UNFOLD)
        contrasts = tab.evaluate(CONTRASTS)
        assert len(contrasts) > 5
        assert [(text, ratio) for text, ratio in contrasts if ratio < 4.5] == [], path


@pytest.mark.parametrize(
    "path", ["index.html", DATASET, "tasks/land_shop_files/index.html", "tasks/index.html"]
)
def test_the_keyboard_reaches_everything_and_focus_is_seen(tab: Page, base: str, path: str) -> None:
    tab.goto(base + path)
    tab.wait_for_load_state("networkidle")
    assert tab.evaluate(TABBED) > 5
    tab.keyboard.press("Tab")
    assert "Skip to content" in tab.evaluate("() => document.activeElement.textContent")
    while tab.evaluate(FOCUSED):
        tab.keyboard.press("Tab")
        tab.wait_for_timeout(20)
    assert tab.evaluate(MISSED) == {"missed": [], "unseen": []}


def test_the_skip_link_leads_past_the_header(tab: Page, base: str) -> None:
    tab.goto(base + DATASET)
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    tab.keyboard.press("Tab")
    assert tab.evaluate("() => document.querySelector('article').contains(document.activeElement)")


def test_a_box_of_a_picture_is_opened_by_keyboard(tab: Page, base: str) -> None:
    tab.goto(base + DATASET)
    tab.locator("article svg a", has_text="stg_orders").first.focus()
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/stg_orders/**")


def test_the_menu_of_a_phone_opens_by_keyboard(browser: Browser, base: str) -> None:
    page = browser.new_page(viewport={"width": PHONE[0], "height": PHONE[1]})
    page.goto(base)
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.getAttribute('for')") == "__drawer":
            break
    link = page.locator(".md-nav--primary").get_by_role("link", name="Tasks")
    assert not link.is_visible(), "closed, nobody comes to it by the keyboard"
    page.keyboard.press("Enter")
    link.press("Enter")
    # The page gives up the file's name in its address as soon as its script runs.
    page.wait_for_url(re.compile(r"/tasks/(index\.html)?$"))
    page.close()


@pytest.mark.parametrize("tab", [{"reduced_motion": "reduce"}], indirect=True)
def test_nothing_moves_where_less_motion_is_asked_for(
    tab: Page, base: str, addressed_site: Path
) -> None:
    moving = """() => [...document.querySelectorAll("*")].filter(one => {
        const style = getComputedStyle(one)
        return [style.transitionDuration, style.animationDuration].join()
          .split(",").some(one => parseFloat(one) > 0) || style.scrollBehavior === "smooth"
    }).map(one => one.outerHTML.slice(0, 80))"""
    for path in kinds(addressed_site):
        if not path.startswith(DOCS):
            tab.goto(base + path)
            assert tab.evaluate(moving) == [], path


@pytest.mark.parametrize(
    "tab",
    [
        {"color_scheme": "dark", "viewport": PAPER},
        pytest.param({"color_scheme": "light", "viewport": PAPER}, marks=pytest.mark.exhaustive),
    ],
    indirect=True,
    ids=["dark", "light"],
)
def test_a_printed_page_is_dark_on_white_as_wide_as_paper_and_short(
    tab: Page, base: str, addressed_site: Path
) -> None:
    for path in [*kinds(addressed_site), f"{GONE}index.html"]:
        if path.startswith(DOCS):
            continue
        tab.emulate_media(media="screen")
        tab.goto(base + path)
        tab.emulate_media(media="print")
        assert not tab.locator(".md-header, .md-footer, .md-tabs").filter(visible=True).count()
        assert tab.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0, path
        wide = """() => [...document.querySelectorAll("article *")].filter(one =>
            one.getBoundingClientRect().right > innerWidth + 1 && !one.closest("pre")
        ).map(one => one.outerHTML.slice(0, 80))"""
        assert tab.evaluate(wide) == [], path
        if tab.locator("article").count():
            faint = [one for one in tab.evaluate(CONTRASTS) if one[1] < 4.5]
            assert faint == [], path
            if path in MAIN:
                assert violations(tab, COLOURS) == [], path
    for path in (DATASET, f"{RAW}orders/index.html"):
        tab.goto(base + path)
        for sheet in ("A4", "Letter"):
            printed = PdfReader(BytesIO(tab.pdf(format=sheet))).pages
            assert 2 <= len(printed) <= 4, (path, sheet)
            words = " ".join(" ".join(page.extract_text() for page in printed).split())
            in_table = "cancelled before it was sent: never counted as revenue"
            texts = ["order_id integer", in_table, "If this changes", "Other names"]
            assert [part for part in texts if part not in words] == [], (path, sheet)
            folded = ["further on", "2026-10-05"]
            assert [part for part in folded if part in words] == [], (path, sheet)
            assert not re.search(r"\b(\w ){8}", words), (path, sheet)  # a letter a line
