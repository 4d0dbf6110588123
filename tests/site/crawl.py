"""A crawler: every address that the pages of a site name, and those that lead nowhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit
from urllib.request import url2pathname

import orjson

from dbt_graft.lineage.frozen import frozen

# The content of an address, None if it has none.
Fetch = Callable[[str], bytes | None]

_CSS_URL = re.compile(
    r"""url\(\s*(?:"([^"]*)"|'([^']*)'|([^)"'\s]*))\s*\)|@import\s+["']([^"']*)"""
)
_REFRESH = re.compile(r"\d+\s*;\s*url=(.*)", re.IGNORECASE)
# The address of an explorer's view.
_START = re.compile(r"#(?P<kind>dataset|task)=(?P<path>[^&]+)(?:&up=\d+&down=\d+)?")
_SORTED = re.compile(r"(#[a-z]+-sort=)-?[a-z]+$")
_LINKS = ("href", "src", "action", "poster", "xlink:href")
_IGNORED = ("mailto:", "tel:", "data:", "blob:")


@frozen
class Fault:
    """A link that leads nowhere, or to another server without being asked to."""

    page: str
    link: str
    problem: str

    def __str__(self) -> str:
        return f"{self.page}: {self.link}: {self.problem}"


class _Reader(HTMLParser):
    """The links, loaded files and anchors of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.base = ""
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.twice: set[str] = set()
        self._data: str | None = None
        self._style = False
        self._boxes: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {key: value or "" for key, value in attrs}
        for name in {found.get("id"), found.get("name") if tag == "a" else None} - {None, ""}:
            if name in self.anchors:
                self.twice.add(name)
            self.anchors.add(name)
        if "data-list" in found:  # an address may sort it
            self.anchors.add(f"{found['data-list']}-sort=")
        if tag == "base":
            self.base = found.get("href", "")
            return
        is_loaded = tag not in ("a", "form") and found.get("rel") != "canonical"
        for key in _LINKS:
            if key in found:
                (self.loaded if is_loaded else self.links).append(found[key])
        for candidate in found.get("srcset", "").split(","):
            self.loaded += candidate.split()[:1]
        if refresh := _REFRESH.match(found.get("content", "")):
            self.links.append(refresh[1])
        self.loaded += css_links(found.get("style", ""))
        if tag == "a" and "graft-box" in found.get("class", "").split():
            self._boxes.append("" if "aria-current" in found else found["href"])
        self._style = tag == "style"
        self._data = "" if found.get("type") == "application/json" else None

    def handle_endtag(self, tag: str) -> None:
        if tag == "script" and self._data:
            document = orjson.loads(self._data)
            if isinstance(document, dict) and "boxes" in document:
                self.links += self._columns(document)
                self._boxes = []
        self._style, self._data = False, None

    def handle_data(self, data: str) -> None:
        if self._style:
            self.loaded += css_links(data)
        if self._data is not None:
            self._data += data

    def _columns(self, document: dict[str, Any]) -> Iterator[str]:
        """The links that the boxes of a picture unfold, as `site/scripts/columns.js` makes them."""
        for box, columns in zip(self._boxes, document["boxes"], strict=True):
            names = document["lists"][columns[0]] if columns else ()
            for at in range(names) if isinstance(names, int) else names:
                name = document["names"][at]
                anchor = f"column-{name.lower()}" if isinstance(name, str) else name[1]
                yield f"{box}#{anchor}"


def css_links(style: str) -> list[str]:
    """The files that a style sheet loads."""
    return ["".join(match) for match in _CSS_URL.findall(style)]


@frozen
class _Page:
    """The links and anchors of a page or style sheet; links are absolute, with their text."""

    loaded: tuple[tuple[str, str], ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    anchors: frozenset[str] = frozenset()
    twice: tuple[str, ...] = ()


def _page(address: str, content: bytes) -> _Page | None:
    """A page or style sheet; None for other files."""

    def absolute(base: str, links: list[str]) -> tuple[tuple[str, str], ...]:
        wanted = (link for link in links if link and not link.startswith(_IGNORED))
        return tuple((link, urljoin(base, link)) for link in wanted)

    if address.endswith(".css"):
        return _Page(absolute(address, css_links(content.decode())))
    if not address.endswith((".html", "/")):
        return None
    read = _Reader(content.decode())
    # A page opened as a file cannot know the address at which it will be published.
    base = address if urlsplit(address).scheme == "file" else urljoin(address, read.base)
    return _Page(
        absolute(base, read.loaded),
        absolute(base, read.links),
        frozenset(read.anchors),
        tuple(sorted(read.twice)),
    )


def faults(pages: list[str], fetch: Fetch, home: str) -> list[Fault]:
    """Crawl a site.

    Args:
        pages: The addresses to begin with.
        home: The beginning of all addresses of the site; what lies elsewhere is not fetched.
    """
    found: list[Fault] = []
    origin = {page: ("", page) for page in pages}
    anchors: dict[str, frozenset[str]] = {}
    wanted: dict[tuple[str, str], tuple[str, str]] = {}  # address, anchor -> page, link
    queue = list(pages)
    while queue:
        address = queue.pop()
        content = fetch(address)
        if content is None:
            found.append(Fault(*origin[address], "leads nowhere"))
        elif page := _page(address, content):
            anchors[address] = page.anchors
            found += [Fault(address, f"#{one}", "is there twice") for one in page.twice]
            found += _outside(address, page, home)
            for link, target in (*page.loaded, *page.links):
                target, anchor = urldefrag(_opened(target, home))
                if not target.startswith(home):
                    continue
                if target not in origin:
                    origin[target] = (address, link)
                    queue.append(target)
                if anchor and not anchor.startswith("!"):
                    wanted.setdefault((target, unquote(anchor)), (address, link))
    return found + [
        Fault(*where, "there is no such anchor")
        for (target, anchor), where in sorted(wanted.items())
        if target in anchors and anchor not in anchors[target]
    ]


def _opened(address: str, home: str) -> str:
    """The page of what the explorer opens with, the one that search opens over, the list that is
    sorted; else the address itself.
    """
    if address == f"{home}index.html#search=":
        return f"{home}index.html"
    if match := _START.fullmatch(address.removeprefix(f"{home}explore/index.html")):
        return f"{home}{match['kind']}s/{match['path']}/index.html"
    return _SORTED.sub(r"\1", address)


def _outside(address: str, page: _Page, home: str) -> Iterator[Fault]:
    """Links to what is no page, to other folders, and files loaded from other servers."""
    for link, target in (*page.loaded, *page.links):
        if urlsplit(target).scheme not in ("http", "https", "file"):
            yield Fault(address, link, "is no address of a page")
        elif not target.startswith(home) and ((link, target) in page.loaded or "://" not in link):
            yield Fault(address, link, "lies outside of the site")


def from_disk(address: str) -> bytes | None:
    """The content of a file by its address; a folder has none: a browser would list it."""
    path = Path(url2pathname(urlsplit(address).path))
    return path.read_bytes() if path.is_file() else None


@dataclass
class Http:
    """Fetches from one server over one connection."""

    connection: HTTPConnection

    def __call__(self, address: str) -> bytes | None:
        """The content at an address, unless the server answers with an error or a redirect."""
        self.connection.request("GET", urlsplit(address)._replace(scheme="", netloc="").geturl())
        response = self.connection.getresponse()
        content = response.read()
        return content if response.status == 200 else None
