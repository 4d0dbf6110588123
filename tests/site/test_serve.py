"""`graft serve --watch` in a browser: an open page shows what the next build made of it."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.graft.commands.test_serve import WAIT, serving
from tests.graft.small_project import declare, small_project


def test_an_open_page_loads_itself_again_after_a_build(browser: Browser, tmp_path: Path) -> None:
    small_project(tmp_path)
    with serving(tmp_path, "--watch") as (line, _):
        page = browser.new_page()
        page.goto(f"{line.split()[0]}tasks/load/index.html")
        expect(page.get_by_role("link", name="raw.orders").first).to_be_visible()
        expect(page.get_by_text("raw.returns")).to_have_count(0)
        declare(tmp_path, "raw.orders", "raw.returns")
        shown = page.get_by_role("link", name="raw.returns").first
        expect(shown).to_be_visible(timeout=WAIT * 1000)
        page.close()
