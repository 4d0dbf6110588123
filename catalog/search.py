"""The index of the theme's search: titles and texts of pages and their sections."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import orjson
from markupsafe import Markup

from dbt_graft.catalog.page import SECTION, Page

_LEFT_OUT = re.compile(r"<(\w+)\b[^>]*\bdata-search-exclude\b.*?</\1>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


class SearchEntry(NamedTuple):
    """A page or a section, as Material's search reads it."""

    location: str
    title: str
    text: str


def search_entries(page: Page, body: str) -> Iterator[SearchEntry]:
    """The entries of a page that search finds: its beginning, and each section with a text."""
    if not page.searched:
        return
    parts = SECTION.split(_LEFT_OUT.sub("", body))
    location = f"{page.path}index.html"
    yield SearchEntry(location, page.title, _plain(parts[0]))
    for id_, title, content in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        if plain := _plain(content):
            yield SearchEntry(f"{location}#{id_}", _plain(title), plain)


def write_search_index(site: Path, entries: Iterable[SearchEntry]) -> None:
    """Put the entries into the index that MkDocs has written for the blank pages."""
    folder = site / "search"
    found = orjson.loads((folder / "search_index.json").read_bytes())
    content = orjson.dumps({**found, "docs": [one._asdict() for one in entries]})
    (folder / "search_index.json").write_bytes(content)
    # For pages that a browser opens as files.
    (folder / "search_index.js").write_bytes(b"var __index = " + content)


def _plain(html: str) -> str:
    return " ".join(Markup(_TAG.sub(" ", html)).unescape().split())  # noqa: S704  # text comes out
