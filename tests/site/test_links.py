"""No link of the site is dead: as files, at a server's root, below a subpath, with its URL set."""

from __future__ import annotations

import re
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urljoin
from xml.etree import ElementTree

import orjson
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.cases import for_each
from tests.site.conftest import MOVED, SUBPATH, served, visiting
from tests.site.crawl import Fetch, Http, faults, from_disk

pytestmark = [pytest.mark.browser, pytest.mark.demo]

DOCS = "dbt/index.html"


def _pages(site: Path) -> list[str]:
    files = sorted(site.rglob("*.html"))
    return [path for file in files if (path := file.relative_to(site).as_posix()) != DOCS]


@pytest.fixture(scope="module", params=["without its URL", "with its URL"])
def published(request: pytest.FixtureRequest) -> Path:
    """The demo's site; with its URL it also has a page that is gone and a redirect."""
    name = "addressed_site" if "without" not in request.param else "site"
    site: Path = request.getfixturevalue(name)
    return site


def _dead(site: Path, base: str, fetch: Fetch, pages: list[str]) -> list[str]:
    return list(map(str, faults([base + page for page in pages], fetch, base)))


def test_no_link_is_dead_on_a_disk(published: Path) -> None:
    assert _dead(published, f"{published.as_uri()}/", from_disk, _pages(published)) == []


@pytest.mark.parametrize("below", ["", SUBPATH], ids=["root", "subpath"])
def test_no_link_is_dead_on_a_server(published: Path, below: str) -> None:
    pages = _pages(published)
    with served(published, below) as base:
        fetch = Http(HTTPConnection(base.split("/")[2]))
        if not below and (published / "sitemap.xml").is_file():
            pages.remove("404.html")  # its links begin at the path of `site.url`
        assert _dead(published, base, fetch, pages) == []


def test_a_dead_link_of_each_kind_is_found(tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    page.write_text(
        '<link rel="stylesheet" href="a.css"><a href="b/">b</a><a href="#c">c</a>'
        '<a href="../d.html">d</a><img src="https://e.example.com/e.png">'
        '<p style="background: url(f.png)" id="x"><p id="x">'
        '<a class="graft-box" href="other.html"></a>'
        '<script type="application/json">{"names": ["G"], "lists": [[0]], "boxes": [[0]]}</script>'
        '<meta http-equiv="refresh" content="0; url=h.html">'
        '<a href="explore/index.html#dataset=m&amp;up=2&amp;down=2">m</a>'
        '<a href="explore/index.html#dataset=n&amp;up=n">n</a>'
        '<a href="https://example.com/fine">i</a><a href="javascript:j()">j</a>'
    )
    (tmp_path / "other.html").write_text("<p id='column-h'>")
    (tmp_path / "explore").mkdir()
    (tmp_path / "explore" / "index.html").write_text("<p>")
    (tmp_path / "a.css").write_text("@import 'k.css'; b { background: url('l.png') }")
    found = faults([page.as_uri()], from_disk, f"{tmp_path.as_uri()}/")
    assert sorted((fault.link, fault.problem) for fault in found) == [
        ("#c", "there is no such anchor"),
        ("#x", "is there twice"),
        ("../d.html", "lies outside of the site"),
        ("b/", "leads nowhere"),
        ("explore/index.html#dataset=m&up=2&down=2", "leads nowhere"),
        ("explore/index.html#dataset=n&up=n", "there is no such anchor"),
        ("f.png", "leads nowhere"),
        ("h.html", "leads nowhere"),
        ("https://e.example.com/e.png", "lies outside of the site"),
        ("javascript:j()", "is no address of a page"),
        ("k.css", "leads nowhere"),
        ("l.png", "leads nowhere"),
        ("other.html#column-g", "there is no such anchor"),
    ]


def test_every_address_of_the_sitemap_and_every_canonical_one_is_a_page(
    addressed_site: Path,
) -> None:
    url = f"https://docs.example.com{SUBPATH}/"
    tree = ElementTree.parse(addressed_site / "sitemap.xml")  # noqa: S314
    listed = [str(entry.text) for entry in tree.iter() if entry.tag.endswith("loc")]
    assert listed
    for page in _pages(addressed_site):
        text = (addressed_site / page).read_text("utf-8")
        canonical = re.findall(r'<link rel="canonical" href="([^"]*)"', text)
        assert [urljoin(url, page.removesuffix("index.html"))] == canonical or not canonical, page
        listed += canonical
    for address in listed:
        path = address.removeprefix(url)
        assert path != address
        assert (addressed_site / path).is_file() or (addressed_site / path / "index.html").is_file()


def test_every_page_that_the_docs_page_links_to_exists(published: Path) -> None:
    text = (published / DOCS).read_text("utf-8")
    data = orjson.loads(re.findall(r"\}\)\((\{.*\})\);\s*</script>", text)[0])
    [manifest] = re.findall('id="graft-manifest">([^<]*)', text)
    url = f"https://docs.example.com{SUBPATH}/dbt/"
    in_texts = set(re.findall(r"\]\((\.\./[^)\\]*)\)", manifest))
    links = {data["home"], *(link for _, link in data["pages"].values()), *in_texts}
    assert len(in_texts) > 10
    for link in links:
        path = (published / "dbt" / link.partition("#")[0]).resolve()
        assert (path / "index.html").is_file() or path.is_file(), link
        if "#" in link:
            file = path if path.is_file() else path / "index.html"
            assert f'id="{link.partition("#")[2]}"' in file.read_text("utf-8"), link
    assert not re.search(re.escape(url), text), "links are relative, also where the URL is known"


def test_a_redirect_leads_to_the_page_of_the_present_name(
    browser: Browser, addressed_site: Path
) -> None:
    with served(addressed_site) as base, visiting(browser, base) as visit:
        page: Page = visit.page
        page.goto(base + MOVED)
        page.wait_for_url("**/datasets/spark/raw/orders/**")
        expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("raw.orders"))


@for_each("missing", ["tasks/no/such/", "datasets/spark/raw/none/index.html", "no"])
def test_all_links_of_the_page_for_missing_addresses_lead_to_pages(
    browser: Browser, published: Path, missing: str
) -> None:
    body = (published / "404.html").read_text("utf-8")
    page = browser.new_page()
    with served(published) as base:
        page.route(
            base + missing,
            lambda route: route.fulfill(status=404, body=body, content_type="text/html"),
        )
        page.goto(base + missing)
        links = page.locator("a").evaluate_all("links => links.map(a => a.href)")
        fetch = Http(HTTPConnection(base.split("/")[2]))
        assert len(links) > 3
        assert [link for link in links if fetch(link) is None] == []
    page.close()
