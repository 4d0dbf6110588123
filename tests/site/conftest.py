"""A real browser on the published demo, served from a subpath of a plain file server."""

from __future__ import annotations

import functools
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from dbt_graft.collectors.store import door as store
from dbt_graft.graft.project.config import load
from dbt_graft.graft.project.progress import Progress
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.steps.sites import publish_site
from dbt_graft.lineage.addresses import Address

SUBPATH = "/published/here"
# Smaller docs pages of the site with its URL.
PARTS = {"finance": "tag:finance", "marts": "+path:models/marts"}
GONE, MOVED = "datasets/spark/raw/gone_orders/", "datasets/spark/raw/former_orders/"
expect.set_options(timeout=20_000)  # the machine may be busy


@dataclass
class Visit:
    """A browser tab on the site that collects faults.

    Attributes:
        base: The site's address, with a slash at its end.
        faults: Console errors and warnings of the security kind, script errors, failed responses,
            dialogs.
        foreign: Requests to other servers; there are none, for the browser.
    """

    page: Page
    base: str
    faults: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        """Go to a page of the site and wait until it is loaded."""
        if self.page.url != "about:blank":
            self.page.goto("about:blank")
        self.page.goto(self.base + path, wait_until="load")
        return self.page


class _SiteHandler(SimpleHTTPRequestHandler):
    def translate_path(self, path: str) -> str:
        return super().translate_path(path.removeprefix(SUBPATH))

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def site(root: Path) -> Path:
    """The published demo."""
    folder = root / "build" / "site"
    if not (folder / "index.html").is_file():
        pytest.skip("build/site does not exist: run `make docs` first")
    return folder


@pytest.fixture(scope="session")
def addressed_site(root: Path, site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo again with `site.url`, smaller docs pages, a table that is gone, a renamed one."""
    folder = tmp_path_factory.mktemp("addressed")
    config = load(root / "dbt_project" / "graft.yml")
    place = str(shutil.copytree(config.path(config.store), folder / "store"))
    section = {"url": f"https://docs.example.com{SUBPATH}/", "out": str(folder / "site")}
    config = replace(
        config,
        store=place,
        site=replace(config.site, **section),
        docs=replace(config.docs, pages=PARTS),
    )
    at = datetime(2026, 1, 1, tzinfo=UTC)
    store.write_addresses(
        place,
        [
            *store.addresses(place),
            Address(GONE, "raw.gone_orders", at, True, at),
            Address(MOVED, "raw.former_orders", at, True, at, "datasets/spark/raw/orders/"),
        ],
    )
    progress = Progress(quiet=True)
    grafted = Project(config).grafted()
    return publish_site(config, progress, grafted).index.parent


def kinds(site: Path) -> list[str]:
    """A page of each kind, relative to the site's root: the largest of each folder and depth."""
    paths: dict[tuple[str, int], Path] = {}
    for file in sorted(site.rglob("*.html")):
        parts = file.relative_to(site).parts
        kind = parts[0], len(parts)
        if kind not in paths or file.stat().st_size > paths[kind].stat().st_size:
            paths[kind] = file
    return [file.relative_to(site).as_posix() for file in paths.values()]


@contextmanager
def served(folder: Path, below: str = SUBPATH) -> Iterator[str]:
    """The address under which a published site is served, ending in a slash."""
    handler = functools.partial(_SiteHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}{below}/"
        http.shutdown()


@pytest.fixture(scope="session")
def server(site: Path) -> Iterator[str]:
    """The address under which the demo is served."""
    with served(site) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The installed Chromium, headless."""
    if _installed() is None:
        pytest.skip("Chromium is not installed: apt-get install chromium-headless-shell")
    with chromium() as browser:
        yield browser


def _installed() -> str | None:
    """The browser: the shell first, which opens a page with a third of the work of the others."""
    names = ("chromium-headless-shell", "chromium", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The installed Chromium, headless."""
    arguments = ["--disable-background-networking", "--disable-component-update", "--disable-gpu"]
    # No other server is reached. To ask us about each request costs a fifth of a page.
    arguments.append("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_installed(), args=arguments)
        yield browser
        browser.close()


@contextmanager
def visiting(browser: Browser, server: str, width: int = 1400, **options: Any) -> Iterator[Visit]:
    """A visit in a new tab."""
    page = browser.new_page(**options)
    with watching(page, server, width) as visit:
        yield visit
    page.close()


@contextmanager
def watching(page: Page, server: str, width: int = 1400) -> Iterator[Visit]:
    """A visit in a tab; in the end it has no faults and made no requests to other servers."""
    visit = Visit(page, server)
    ours = (server.removesuffix(SUBPATH + "/"), "data:", "blob:", "about:")
    listeners: dict[Any, Callable[[Any], object]] = {
        "request": lambda request: (
            request.url.startswith(ours) or visit.foreign.append(request.url)
        ),
        "console": lambda entry: entry.type == "error" and visit.faults.append(entry.text),
        "pageerror": lambda error: visit.faults.append(str(error)),
        "dialog": lambda dialog: (visit.faults.append(dialog.message), dialog.dismiss()),
        "response": lambda response: (
            response.status >= 400 and visit.faults.append(f"{response.status} {response.url}")
        ),
    }
    page.set_viewport_size({"width": width, "height": 900})
    for event, listener in listeners.items():
        page.on(event, listener)
    try:
        yield visit
    finally:
        for event, listener in listeners.items():
            page.remove_listener(event, listener)
        page.unroute_all()
        page.emulate_media(media="null")
        page.mouse.move(0, 0)
        page.goto("about:blank")
    assert visit.foreign == []
    assert visit.faults == []


@pytest.fixture(scope="session")
def shared_tab(browser: Browser) -> Iterator[Page]:
    """A tab for many visits: a new one takes longer than the page that it opens."""
    page = browser.new_page()
    yield page
    page.close()


@pytest.fixture
def visit(shared_tab: Page, server: str) -> Iterator[Visit]:
    """A visit of the demo."""
    with watching(shared_tab, server) as visit:
        yield visit
