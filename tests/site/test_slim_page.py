"""The docs page, slim or full, shows the same as dbt's own page with the full artifacts, except for
the graft's notes, markup in plain texts, and sources that became models: every page, tab, tree,
search and selection of the demo."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import Any

import orjson
import pytest
from playwright.sync_api import Browser, Page, Route

from dbt_graft.injector import docs, stock
from tests.cases import for_each

pytestmark = [pytest.mark.browser, pytest.mark.demo]

Tour = dict[str, str]

TOUR = Path(__file__).with_name("tour.js").read_text("utf-8")
OWN, FULL, SLIM = "dbt's own", "full", "slim"
# Of sources that became models dbt's own page finds none.
FORMER = "graph source:raw"
# The parts of a manifest whose members have a page.
PARTS = ("nodes", "sources", "exposures", "metrics", "unit_tests", "semantic_models")


@pytest.fixture(scope="module")
def manifest(root: Path) -> dict[str, Any]:
    return dict(orjson.loads((root / "build" / "graft" / "manifest.json").read_bytes()))


@pytest.fixture(scope="module")
def pages(root: Path, site: Path, manifest: dict[str, Any]) -> dict[str, str]:
    """dbt's own page with the artifacts without the graft's notes, the published page with the full
    artifacts (`slim: false`), and the published page."""
    published = (site / "dbt" / "index.html").read_text("utf-8")
    own, full = _with_plain_texts(stock.read()), published
    catalog = orjson.loads((root / "build" / "graft" / "catalog.json").read_bytes())
    [shown] = re.findall('id="graft-manifest">([^<]*)', published)
    manifest = _with_links(manifest, orjson.loads(shown))
    for name, placeholder, document in (
        ("manifest", stock.MANIFEST, manifest),
        ("catalog", stock.CATALOG, catalog),
    ):
        text = docs.inline(document)
        [inlined] = re.findall(f'id="graft-{name}">([^<]*)', published)
        assert len(inlined) < len(text), "the published page is not slim"
        own = own.replace(placeholder, docs.inline(_without_notes(document)))
        full = full.replace(inlined, text)
    return {OWN: own, FULL: full, SLIM: published}


def _with_plain_texts(page: str) -> str:
    """dbt's page, in which fields that are no Markdown show none."""
    script = resources.files("dbt_graft.injector").joinpath("page.js").read_text("utf-8")
    [plain] = re.findall(r"Object\.defineProperty\(String.*?\n  \}\);", script, re.DOTALL)
    shorten = {
        "n.shorten=function(e){if(null!=e": "n.shorten=function(e){if(null!=(e=e?.graftPlain())"
    }
    for piece, instead in {**stock.PLAIN, **shorten}.items():
        page = page.replace(piece, instead)
    return page.replace("<head>", f"<head><script>{plain}</script>", 1)


def _with_links(document: dict[str, Any], published: dict[str, Any]) -> dict[str, Any]:
    """An artifact with the texts of the published page, which link to the catalog beside it."""
    found: dict[str, Any] = orjson.loads(orjson.dumps(document))
    for part in PARTS:
        for node_id, node in (found.get(part) or {}).items():
            shown = (published.get(part) or {}).get(node_id) or {}
            node |= {field: shown[field] for field in ("description", "url") if field in shown}
            for name, column in (shown.get("columns") or {}).items():
                node["columns"].setdefault(name, {"name": name, "meta": {}})
                node["columns"][name]["description"] = column.get("description", "")
    return found


def _without_notes(document: dict[str, Any]) -> dict[str, Any]:
    """An artifact without the notes for programs (`meta.graft`), which the page does not show."""
    found: dict[str, Any] = orjson.loads(orjson.dumps(document))
    for part in (found.get(part) or {} for part in PARTS):
        for node in part.values():
            (node.get("meta") or {}).pop("graft", None)
    return found


@pytest.fixture(
    scope="module",
    params=[False, pytest.param(True, marks=pytest.mark.exhaustive)],
    ids=["few tests", "each test"],
)
def each_test(request: pytest.FixtureRequest) -> bool:
    """Whether a tour visits each data test, or those of a kind."""
    return bool(request.param)


@pytest.fixture(scope="module")
def tours(browser: Browser, pages: dict[str, str], each_test: bool) -> dict[str, Tour]:
    """The text of each place on dbt's own page and on the published one."""
    return _tour(browser, {name: pages[name] for name in (OWN, SLIM)}, each_test)


@pytest.fixture(scope="module")
def full(browser: Browser, pages: dict[str, str], each_test: bool) -> Tour:
    """The text of each place on the published page with the full artifacts."""
    return _tour(browser, {FULL: pages[FULL]}, each_test)[FULL]


def _tour(browser: Browser, pages: dict[str, str], each_test: bool) -> dict[str, Tour]:
    """The text of each place on each page; the pages are toured at the same time."""
    tabs = {}
    for name, content in pages.items():
        tabs[name] = browser.new_page(viewport={"width": 1400, "height": 900})
        _start(tabs[name], content, each_test)
    seen: dict[str, Tour] = {name: tab.evaluate("() => window.tour") for name, tab in tabs.items()}
    for tab in tabs.values():
        tab.close()
    return seen


def _start(page: Page, content: str, each_test: bool) -> None:
    def respond(route: Route) -> None:
        if route.request.url.startswith("http://site.invalid/dbt/"):
            route.fulfill(body=content, content_type="text/html; charset=utf-8")
        else:
            route.abort()

    page.route("**/*", respond)
    page.goto("http://site.invalid/dbt/#!/overview", wait_until="load")
    page.evaluate(f"each => {{ window.tour = ({TOUR})(each) }}", each_test)


def test_the_page_shows_the_same_as_dbt_s_own(tours: dict[str, Tour]) -> None:
    _compare(tours[SLIM], tours[OWN])


@pytest.mark.exhaustive
def test_the_page_with_the_full_artifacts_shows_the_same(
    tours: dict[str, Tour], full: Tour
) -> None:
    _compare(full, tours[OWN])


def _compare(seen: Tour, own: Tour) -> None:
    assert seen.keys() == own.keys()
    others = {
        place: (text, own[place])
        for place, text in seen.items()
        if text != own[place] and not place.startswith(FORMER)
    }
    assert others == {}
    assert "model.python_tasks.raw_orders" in seen[FORMER]


def test_the_comparison_visits_every_page(
    tours: dict[str, Tour], manifest: dict[str, Any], each_test: bool
) -> None:
    nodes = {
        f"dbt.{node['resource_type']} {unique_id}"
        for part in PARTS
        for unique_id, node in (manifest.get(part) or {}).items()
        if each_test or node["resource_type"] != "test"
    }
    macros = {
        f"dbt.macro {unique_id}"
        for unique_id, macro in manifest["macros"].items()
        if macro["package_name"] not in ("dbt", "dbt_spark")
    }
    assert nodes | macros <= tours[SLIM].keys()


def test_the_graft_s_notes_for_programs_are_not_shown(
    tours: dict[str, Tour], manifest: dict[str, Any]
) -> None:
    noted = {
        f"dbt.{node['resource_type']} {unique_id}"
        for part in PARTS
        for unique_id, node in (manifest.get(part) or {}).items()
        if "graft" in (node.get("meta") or {})
    }
    assert {place.split()[0] for place in noted} == {"dbt.model", "dbt.source", "dbt.exposure"}
    for place in noted:
        assert "graft" not in map(str.casefold, tours[SLIM][place].splitlines()), place


@for_each(
    "place, text",
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
        ("dbt.project_overview shop", "Welcome"),
        ("search orders: name", "stg_orders"),
        ("options", '"python_task"'),
        ("graph tag:daily", "model.shop.orders"),
        ("graph 1+orders+1", "model.shop.stg_orders -> model.shop.orders"),
    ],
)
def test_the_comparison_sees(tours: dict[str, Tour], place: str, text: str) -> None:
    assert text in tours[SLIM][place]
