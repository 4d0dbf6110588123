"""Everybody can use the site: axe-core, the keyboard alone, dark mode, less motion, paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page
from pypdf import PdfReader

from tests.site.conftest import GONE, Visit, kinds, served, visiting

pytestmark = [pytest.mark.browser, pytest.mark.demo]

DOCS = "dbt/"
DATASET = "datasets/spark/analytics/orders/index.html"
RAW = "datasets/spark/raw/"
WIDE, PHONE, PAPER = (1400, 900), (390, 844), (718, 1047)
PHONE_SIZE = {"width": PHONE[0], "height": PHONE[1]}
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
MOVING = """() => [...document.querySelectorAll("*")].filter(one => {
  const style = getComputedStyle(one)
  return [style.transitionDuration, style.animationDuration].join()
    .split(",").some(one => parseFloat(one) > 0) || style.scrollBehavior === "smooth"
}).map(one => one.outerHTML.slice(0, 80))"""
WIDER_THAN_PAPER = """() => [document.documentElement, ...document.querySelectorAll("article *")]
  .filter(one => one.matches("html") ? one.scrollWidth > innerWidth
    : one.getBoundingClientRect().right > innerWidth + 1 && !one.closest("pre")
  ).map(one => one.outerHTML.slice(0, 80))"""
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
  window.round = false
  document.addEventListener("focusin", ({ target: one }) => {
    round = reached.has(one)
    reached.set(one, { seen: look(one) !== before.get(one), html: one.outerHTML })
  })
  const article = document.querySelector("article")
  return [...before.keys()].filter(one => article.contains(one)).length
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


@dataclass(frozen=True)
class Look:
    """A page on the screen, unfolded, where less motion is asked for, and then on paper.

    Attributes:
        faults: What failed, and what was asked of other servers.
        serious: The serious findings of axe-core.
        moving: The elements that move.
        printed: What is wrong on paper.
    """

    faults: list[str]
    serious: list[str]
    moving: list[str]
    printed: list[str]


# The scheme and size of the screen, what axe looks at there, and the scheme of what is printed.
@pytest.fixture(
    scope="module",
    params=[
        ("light", WIDE, ALL_RULES, "dark"),
        pytest.param(("dark", WIDE, COLOURS, "light"), marks=pytest.mark.exhaustive),
        pytest.param(("light", PHONE, ALL_BUT_COLOURS, "light"), marks=pytest.mark.exhaustive),
        pytest.param(("dark", PHONE, ALL_RULES, "dark"), marks=pytest.mark.exhaustive),
    ],
    ids=["light", "dark", "phone", "dark phone"],
)
def looks(
    request: pytest.FixtureRequest, browser: Browser, base: str, addressed_site: Path
) -> dict[str, Look]:
    """A page of each kind."""
    scheme, size, rules, paper = request.param
    with visiting(browser, base, reduced_motion="reduce") as visit:
        return {
            path: _look(visit, path, scheme, size, rules, paper)
            for path in [*kinds(addressed_site), f"{GONE}index.html"]
        }


def _look(
    visit: Visit, path: str, scheme: Any, size: tuple[int, int], rules: Rules, paper: Any
) -> Look:
    page = visit.page
    _show(page, "screen", paper, PAPER)
    visit.open(path)
    printed, moving = [], []
    if not path.startswith(DOCS):
        moving = page.evaluate(MOVING)
        _show(page, "print", paper, PAPER)
        printed = _faults_on_paper(page, path)
    _show(page, "screen", scheme, size)
    page.evaluate(UNFOLD)
    serious = serious_faults(page, rules)
    faults = [*visit.faults, *visit.foreign]
    visit.faults.clear()
    visit.foreign.clear()
    return Look(faults, serious, moving, printed)


def _show(page: Page, media: Any, scheme: Any, size: tuple[int, int]) -> None:
    page.emulate_media(media=media, color_scheme=scheme)
    page.set_viewport_size({"width": size[0], "height": size[1]})


def _faults_on_paper(page: Page, path: str) -> list[str]:
    """Texts and parts that are not dark on white, or wider than the paper."""
    shell = page.locator(".md-header, .md-footer, .md-tabs").filter(visible=True)
    colours = violations(page, COLOURS) if path == DATASET else []
    return [
        *(shell.evaluate_all("all => all.map(one => one.className)")),
        *page.evaluate(WIDER_THAN_PAPER),
        *(f"{text}: {ratio}" for text, ratio in page.evaluate(CONTRASTS) if ratio < 4.5),
        *map(str, colours),
    ]


def test_no_kind_of_page_has_an_error_or_asks_another_server(looks: dict[str, Look]) -> None:
    assert len(looks) > 15
    assert {path: look.faults for path, look in looks.items() if look.faults} == {}


def test_axe_finds_no_serious_fault_on_any_kind_of_page(looks: dict[str, Look]) -> None:
    assert {path: look.serious for path, look in looks.items() if look.serious} == {}


def test_nothing_moves_where_less_motion_is_asked_for(looks: dict[str, Look]) -> None:
    assert {path: look.moving for path, look in looks.items() if look.moving} == {}


def test_a_printed_page_is_dark_on_white_and_as_wide_as_paper(looks: dict[str, Look]) -> None:
    assert {path: look.printed for path, look in looks.items() if look.printed} == {}


@pytest.mark.parametrize(
    ("tab", "rules"),
    [({"color_scheme": "dark"}, COLOURS), ({"viewport": PHONE_SIZE}, ALL_BUT_COLOURS)],
    indirect=["tab"],
    ids=["dark", "phone"],
)
def test_axe_finds_no_serious_fault_in_the_dark_and_on_a_phone(
    tab: Page, base: str, rules: Rules
) -> None:
    tab.goto(base + DATASET)
    tab.evaluate(UNFOLD)
    assert serious_faults(tab, rules) == []


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
    """All findings of axe-core; it would describe each element without one, too.

    Text in the very colour of its ground counts, of which it only says that a person has to look.
    """
    options = {"resultTypes": ["violations", "incomplete"], **rules}
    response = Axe().run(page, context, options).response
    found: list[dict[str, Any]] = response["violations"]
    for finding in response["incomplete"]:
        nodes = [node for node in finding["nodes"] if _is_unseen(node)]
        if nodes:
            found.append({**finding, "nodes": nodes})
    return found


def _is_unseen(node: dict[str, Any]) -> bool:
    contrasts = [check["data"] or {} for check in node["any"] if check["id"] == "color-contrast"]
    return any(contrast.get("messageKey") == "equalRatio" for contrast in contrasts)


def test_text_in_the_colour_of_its_ground_is_a_fault(tab: Page, base: str) -> None:
    tab.goto(base)
    tab.evaluate("() => { document.querySelector('article h1').style.color = '#fff' }")
    assert any(fault.startswith("color-contrast") for fault in serious_faults(tab, COLOURS))


def test_axe_finds_a_serious_fault_where_there_is_one(tab: Page, base: str) -> None:
    tab.goto(base)
    tab.evaluate("() => document.querySelector('article').append(new Image())")
    assert any(fault.startswith("image-alt") for fault in serious_faults(tab))


def test_text_in_pictures_has_the_contrast_of_other_text(tab: Page, base: str) -> None:
    for path in ("index.html", DATASET, "datasets/landing/orders/index.html"):
        tab.goto(base + path)
        tab.evaluate(UNFOLD)
        for scheme, name in (("dark", "slate"), ("light", "default")):
            _show(tab, "screen", scheme, WIDE)
            tab.wait_for_selector(f"body[data-md-color-scheme={name}]")
            contrasts = tab.evaluate(CONTRASTS)
            assert len(contrasts) > 5
            faint = [(text, ratio) for text, ratio in contrasts if ratio < 4.5]
            assert faint == [], (path, scheme)


# Without motion the look of what has the focus is there at once.
@pytest.mark.parametrize("tab", [{"reduced_motion": "reduce"}], indirect=True, ids=[""])
@pytest.mark.parametrize(
    "path", ["index.html", DATASET, "tasks/land_shop_files/index.html", "tasks/index.html"]
)
def test_the_keyboard_reaches_everything_and_focus_is_seen(tab: Page, base: str, path: str) -> None:
    tab.goto(base + path)
    assert tab.evaluate(TABBED) > 5
    tab.keyboard.press("Tab")
    assert "Skip to content" in tab.evaluate("() => document.activeElement.textContent")
    while not tab.evaluate("() => round"):
        tab.keyboard.press("Tab")
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


@pytest.mark.parametrize(
    ("path", "sheet"),
    [
        (DATASET, "A4"),
        (f"{RAW}orders/index.html", "Letter"),
        pytest.param(DATASET, "Letter", marks=pytest.mark.exhaustive),
        pytest.param(f"{RAW}orders/index.html", "A4", marks=pytest.mark.exhaustive),
    ],
)
def test_a_printed_page_is_short(tab: Page, base: str, path: str, sheet: Any) -> None:
    tab.goto(base + path)
    printed = PdfReader(BytesIO(tab.pdf(format=sheet))).pages
    assert 2 <= len(printed) <= 4
    words = " ".join(" ".join(page.extract_text() for page in printed).split())
    in_table = "cancelled before it was sent: never counted as revenue"
    texts = ["order_id integer", in_table, "If this changes", "Other names"]
    assert [part for part in texts if part not in words] == []
    assert [part for part in ("further on", "2026-10-05") if part in words] == []
    assert not re.search(r"\b(\w ){8}", words)  # a letter a line
