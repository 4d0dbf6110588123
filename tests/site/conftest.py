"""A real browser on the published demo, served from a subpath of a plain file server."""

from __future__ import annotations

import functools
import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

SUBPATH = "/published/here"
expect.set_options(timeout=20_000)  # a busy machine is no fault of the page


@dataclass
class Visit:
    """A browser tab on the site that writes down all that goes wrong in it.

    Attributes:
        base: The site's address, with a slash at its end.
        faults: Console errors and warnings of the security kind, script errors, failed answers.
        foreign: Requests that left the site's own server; they are refused.
    """

    page: Page
    base: str
    faults: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        """Go to a page of the site and wait until it is loaded."""
        self.page.goto("about:blank")
        self.page.goto(self.base + path, wait_until="load")
        return self.page


class _Quiet(SimpleHTTPRequestHandler):
    def translate_path(self, path: str) -> str:
        return super().translate_path(path.removeprefix(SUBPATH))

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def site(root: Path) -> Path:
    """The published demo."""
    folder = root / "build" / "site"
    if not (folder / "index.html").is_file():
        pytest.skip("build/site is not there: run `make docs` first")
    return folder


@pytest.fixture(scope="session")
def server(site: Path) -> Iterator[str]:
    """The address under which the demo is served."""
    handler = functools.partial(_Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}{SUBPATH}/"
        http.shutdown()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium, the machine's own."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    arguments = ["--disable-background-networking", "--disable-component-update", "--disable-gpu"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser, server: str) -> Iterator[Visit]:
    """A fresh tab; at its end nothing may have gone wrong and nothing may have left the site."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    visit = Visit(page, server)

    def guard(route: Route) -> None:
        if route.request.url.startswith((server.removesuffix(SUBPATH + "/"), "data:", "blob:")):
            route.continue_()
        else:
            visit.foreign.append(route.request.url)
            route.abort()

    page.route("**/*", guard)
    page.on("console", lambda said: said.type == "error" and visit.faults.append(said.text))
    page.on("pageerror", lambda error: visit.faults.append(str(error)))
    page.on(
        "response",
        lambda answer: (
            answer.status >= 400 and visit.faults.append(f"{answer.status} {answer.url}")
        ),
    )
    yield visit
    page.close()
    assert visit.foreign == []
    assert visit.faults == []
