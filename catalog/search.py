"""The index of the theme's search: titles and texts of pages and their sections."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from markupsafe import Markup

from dbt_graft.catalog.page import Page

_LEFT_OUT = re.compile(r"<(section|nav|div)\b[^>]*\bdata-search-exclude\b.*?</\1>", re.DOTALL)
_SECTION = re.compile(r'<h2 id="([\w-]+)">(.*?)</h2>')
_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """The entries of an index while pages are written.

    Attributes:
        entries: What Material's search reads: `location`, `title`, `text`, `boost`.
    """

    entries: list[dict[str, Any]] = field(default_factory=list)

    def add(self, page: Page, body: str) -> None:
        """Add a page if search finds it: its beginning, and each section with its text."""
        if page.searched:
            self.entries.extend(_entries(page, body))

    def write(self, site: Path) -> None:
        """Put the entries into the index that MkDocs has written for the blank pages."""
        folder = site / "search"
        found = orjson.loads((folder / "search_index.json").read_bytes())
        content = orjson.dumps({**found, "docs": self.entries})
        (folder / "search_index.json").write_bytes(content)
        # For pages that a browser opens as files.
        (folder / "search_index.js").write_bytes(b"var __index = " + content)


def _entries(page: Page, body: str) -> Iterator[dict[str, Any]]:
    parts = _SECTION.split(_LEFT_OUT.sub("", body))
    location = f"{page.path}index.html"
    yield {"location": location, "title": page.title, "text": _plain(parts[0]), "boost": 2}
    for id_, title, content in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        if plain := _plain(content):
            yield {"location": f"{location}#{id_}", "title": _plain(title), "text": plain}


def _plain(html: str) -> str:
    return " ".join(Markup(_TAG.sub(" ", html)).unescape().split())  # noqa: S704  # text comes out
