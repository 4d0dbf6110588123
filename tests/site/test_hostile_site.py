"""The site of a hostile project: nothing runs, leads nowhere, or is cut off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from dbt_graft.lineage.urls import dataset_path
from tests.site import hostile
from tests.site.conftest import kinds, served, visiting
from tests.site.crawl import faults, from_disk
from tests.site.test_accessibility import (
    ALL_BUT_COLOURS,
    ALL_RULES,
    UNFOLD,
    Rules,
    serious_faults,
)

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# Elements beyond the right edge that nothing scrolls into view.
CUT_OFF = """() => {
  const scrolls = one => ["auto", "scroll"].includes(getComputedStyle(one).overflowX)
  const inside = one => {
    for (let above = one.parentElement; above; above = above.parentElement) {
      if (scrolls(above)) return true
    }
    return false
  }
  const found = [...document.querySelectorAll("body *")].filter(one => {
    const box = one.getBoundingClientRect()
    return box.width && box.right > innerWidth + 1 && box.left >= 0 && !inside(one)
      && one.checkVisibility({ visibilityProperty: true, opacityProperty: true })
      && !one.closest(".md-search, .md-sidebar--primary, .md-header__title, .md-skip")
  })
  return [document.documentElement.scrollWidth - innerWidth,
    found.map(one => one.outerHTML.slice(0, 120))]
}"""


@pytest.fixture(scope="module")
def hostile_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile.publish(tmp_path_factory.mktemp("hostile") / "site")


@pytest.fixture(scope="module")
def base(hostile_site: Path) -> Iterator[str]:
    with served(hostile_site) as address:
        yield address


@pytest.fixture(scope="module")
def samples(hostile_site: Path) -> list[str]:
    datasets = [dataset_path(one) for one in (hostile.WIDE, hostile.HUB)]
    return [*kinds(hostile_site), *(f"{path}index.html" for path in datasets)]


def test_every_name_has_a_page_of_its_own_inside_the_site(hostile_site: Path) -> None:
    tasks = {file.parent.name for file in hostile_site.glob("tasks/*/index.html")}
    # Names and consumers, and the readers.
    assert len(tasks) >= len(hostile.NAMES) + hostile.READERS
    assert len({name.casefold() for name in tasks}) == len(tasks)
    assert {file.name for file in hostile_site.parent.iterdir()} == {hostile_site.name}


def test_no_link_of_it_is_dead(hostile_site: Path) -> None:
    pages = [file.as_uri() for file in hostile_site.rglob("*.html")]
    found = faults(pages, from_disk, f"{hostile_site.as_uri()}/")
    assert [str(fault)[:300] for fault in found] == []


def test_nothing_of_it_runs_or_fails(browser: Browser, base: str, samples: list[str]) -> None:
    with visiting(browser, base) as visit:
        dialogs: list[str] = []
        visit.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        for path in samples:
            page = visit.open(path)
            page.evaluate(UNFOLD)
            for box in page.locator("article svg a").all()[:5]:
                box.hover(force=True)
            assert dialogs == [], path
            assert visit.faults == [], path


# Axe looks at the colours of the demo, at the demo in the dark and on a phone.
@pytest.mark.parametrize(
    ("width", "scheme", "rules"),
    [
        (1400, "light", ALL_BUT_COLOURS),
        (390, "light", None),
        pytest.param(1400, "light", ALL_RULES, marks=pytest.mark.exhaustive),
        pytest.param(1400, "dark", ALL_RULES, marks=pytest.mark.exhaustive),
        pytest.param(390, "dark", ALL_RULES, marks=pytest.mark.exhaustive),
    ],
    ids=str,
)
def test_axe_finds_no_serious_fault_in_it_and_nothing_is_cut_off(
    browser: Browser,
    base: str,
    samples: list[str],
    width: int,
    scheme: Literal["light", "dark"],
    rules: Rules | None,
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page: Page = context.new_page()
    problems = []
    for path in samples:
        page.goto(base + path)
        page.evaluate(UNFOLD)
        beyond, elements = page.evaluate(CUT_OFF)
        problems += [f"{path}: {beyond} px beyond the right edge"] if beyond > 0 else []
        problems += [f"{path}: cut off: {element}" for element in elements]
        # A page of thousands of rows takes axe minutes: it has the same kinds of rows as others.
        if rules is not None and page.locator("article *").count() < 5_000:
            problems += [f"{path}: {fault[:300]}" for fault in serious_faults(page, rules)]
    context.close()
    assert problems == []
