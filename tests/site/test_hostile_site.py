"""The site of a hostile project: nothing runs, leads nowhere, or is cut off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from dbt_graft.lineage.urls import dataset_path
from tests.site import hostile
from tests.site.conftest import Visit, kinds, served, visiting
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


@dataclass(frozen=True)
class View:
    """A page as a browser shows it.

    Attributes:
        faults: What ran, and what failed, up to it.
        beyond: Pixels that it has beyond the right edge.
        cut_off: Elements that are there.
        serious: The serious findings of axe-core.
    """

    faults: list[str]
    beyond: int
    cut_off: list[str]
    serious: list[str]


@pytest.fixture(scope="module", params=[200, pytest.param(1_000, marks=pytest.mark.exhaustive)])
def readers(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def hostile_site(tmp_path_factory: pytest.TempPathFactory, readers: int) -> Path:
    return hostile.publish(tmp_path_factory.mktemp("hostile") / "site", readers)


@pytest.fixture(scope="module")
def base(hostile_site: Path) -> Iterator[str]:
    with served(hostile_site) as address:
        yield address


@pytest.fixture(scope="module")
def samples(hostile_site: Path) -> list[str]:
    datasets = [dataset_path(one) for one in (hostile.WIDE, hostile.HUB)]
    paths = [*kinds(hostile_site), *(f"{path}index.html" for path in datasets)]
    return list(dict.fromkeys(paths))


def test_every_name_has_a_page_of_its_own_inside_the_site(hostile_site: Path, readers: int) -> None:
    tasks = {file.parent.name for file in hostile_site.glob("tasks/*/index.html")}
    # Names and consumers, and the readers.
    assert len(tasks) >= len(hostile.NAMES) + readers
    assert len({name.casefold() for name in tasks}) == len(tasks)
    assert {file.name for file in hostile_site.parent.iterdir()} == {hostile_site.name}


def test_no_link_of_it_is_dead(hostile_site: Path) -> None:
    pages = [file.as_uri() for file in hostile_site.rglob("*.html")]
    found = faults(pages, from_disk, f"{hostile_site.as_uri()}/")
    assert [str(fault)[:300] for fault in found] == []


# Axe looks at the colours of the demo, at the demo in the dark and on a phone.
@pytest.fixture(
    scope="module",
    params=[
        ((1400, 390), "light", ALL_BUT_COLOURS),
        # Between both lists have two columns, tables as much room as is left.
        pytest.param(((768, 1000), "light", ALL_BUT_COLOURS), marks=pytest.mark.exhaustive),
        pytest.param(((1400,), "light", ALL_RULES), marks=pytest.mark.exhaustive),
        pytest.param(((1400,), "dark", ALL_RULES), marks=pytest.mark.exhaustive),
        pytest.param(((390,), "dark", ALL_RULES), marks=pytest.mark.exhaustive),
    ],
    ids=str,
)
def views(
    request: pytest.FixtureRequest, browser: Browser, base: str, samples: list[str]
) -> dict[str, View]:
    """Each sample, opened, unfolded, looked at by axe, pointed at, and seen at more widths."""
    widths, scheme, rules = request.param
    with visiting(browser, base, color_scheme=scheme) as visit:
        return {path: _view(visit, path, widths, rules) for path in samples}


def _view(visit: Visit, path: str, widths: tuple[int, ...], rules: Rules) -> View:
    page = visit.page
    page.set_viewport_size({"width": widths[0], "height": 900})
    visit.open(path)
    page.evaluate(UNFOLD)
    # A page of thousands of rows takes axe minutes: it has the same kinds of rows as others.
    is_long = page.locator("article *").count() >= 5_000
    serious = [] if is_long else serious_faults(page, rules)
    for box in page.locator("article svg a").all()[:5]:
        box.hover(force=True)
    beyond, elements = 0, list[str]()
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        if path.startswith("explore/"):  # drawn for the width at which it is opened
            page.reload()
        pixels, cut_off = page.evaluate(CUT_OFF)
        beyond = max(beyond, pixels)
        elements += [f"{width}: {element}" for element in cut_off]
    return View(list(visit.faults), beyond, elements, [fault[:300] for fault in serious])


def test_nothing_of_it_runs_or_fails(views: dict[str, View]) -> None:
    assert {path: view.faults for path, view in views.items() if view.faults} == {}


def test_axe_finds_no_serious_fault_in_it(views: dict[str, View]) -> None:
    assert {path: view.serious for path, view in views.items() if view.serious} == {}


def test_nothing_is_cut_off(views: dict[str, View]) -> None:
    beyond = {path: view.beyond for path, view in views.items() if view.beyond > 0}
    assert beyond == {}, "pixels beyond the right edge"
    assert {path: view.cut_off for path, view in views.items() if view.cut_off} == {}
