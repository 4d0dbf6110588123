"""What the product itself puts into every site: its words, and the files and code that it ships.

A hidden name that is one of these words cannot be searched for. So they are few: those of the pages
and of their JSON. Code that stands in a site as it was shipped (dbt's page, the theme, Pagefind) is
recognised instead, so that its thousands of words stay searchable.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

from dbt_graft.injector import stock
from dbt_graft.lineage.audience.words import WORD
from dbt_graft.lineage.errors import GraftError

# The rooms whose words get into pages and their JSON.
_ROOMS = ("lineage", "catalog", "injector", "exporters")
# Texts in Python's sources, and the fields of its classes, which are keys in JSON; raw texts are
# patterns, which no page shows.
_PYTHON_WORDS = re.compile(
    r'r"(?:[^"\\\n]|\\.)*"'
    r'|("""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^ {4}\w+(?=:))',
    re.MULTILINE,
)
# The theme's pages, of which the shell of each page is made.
_THEME_PAGES = (
    "*.html",
    "partials/*.html",
    "partials/javascripts/*.html",
    "partials/languages/en*",
)
_COMMENT = re.compile(
    r'^\s*"""(?:[^"\\]|\\.|"(?!""))*?"""|(?<!\S)#(?!\{)[^\n]*|/\*.*?\*/|\{#.*?#\}|(?<!\S)//[^\n]*',
    re.DOTALL | re.MULTILINE,
)
# Where a piece of code begins, as a new line does.
FUNCTION = "function("
# Signs of the pieces of dbt's page that take our data.
_FILLED = ("<!doctype", "main.js.", "manifest.json", stock.FAVICON)
# Shorter pieces may be anybody's: `email;` is one of dbt's page.
_SHORTEST = 16


@cache
def product_words() -> frozenset[str]:
    """The words of the product's own pages, in lower case.

    They are of templates, styles and scripts, of texts in the sources that write pages, and of
    dbt's artifacts, without comments.
    """
    return frozenset(word.casefold() for text in product_texts() for word in WORD.findall(text))


def _shipped_texts() -> tuple[str, ...]:
    """The text of files that are in every site, whole or in parts."""
    patterns = ("**/*.js", "**/*.css")
    folders = (_design_folder(), _folder_of("dbt_graft.injector"), _theme_assets())
    texts = [_read(file) for folder in folders for file in _files(folder, patterns)]
    with suppress(GraftError):  # without dbt's page no site has it
        texts.append(stock.read())
    return tuple(texts)


@cache
def shipped_digests() -> frozenset[bytes]:
    """The SHA-256 digests of files that are in sites as they were shipped."""
    folders = (_design_folder(), _theme_assets())
    files = (file for folder in folders for file in _files(folder, ("**/*",)))
    return frozenset(
        (*(sha256(file.read_bytes()).digest() for file in files), *_pagefind_digests())
    )


def without_shipped(text: str) -> str:
    """Text without the pieces of code that are shipped."""
    shipped = _shipped_pieces()
    return "\n".join(piece for piece in _pieces(text) if piece not in shipped)


@cache
def _shipped_pieces() -> frozenset[str]:
    pieces = (piece for text in _shipped_texts() for piece in _pieces(text))
    return frozenset(
        piece for piece in pieces if len(piece) >= _SHORTEST or piece.startswith(FUNCTION)
    )


def _pieces(text: str) -> list[str]:
    """Lines, and functions of code in one line: a change in one of them leaves the others."""
    return text.replace(FUNCTION, f"\n{FUNCTION}").replace("}.md-", "}\n.md-").split("\n")


@cache
def product_texts() -> tuple[str, ...]:
    """What the product writes with its own words, without comments."""
    return tuple(_product_texts())


def _product_texts() -> Iterator[str]:
    files = [*_files(_design_folder(), ("**/*",))]
    files += _files(_folder_of("material") / "templates", _THEME_PAGES)
    for package in (*(f"dbt_graft.{room}" for room in _ROOMS), "dbt.artifacts"):
        files += _files(_folder_of(package), ("**/*.py", "**/*.js", "**/*.css"))
    for file in files:
        text = _COMMENT.sub("", _read(file))
        yield "\n".join(_PYTHON_WORDS.findall(text)) if file.suffix == ".py" else text
    yield from _changed_code()
    overview = resources.files("dbt").joinpath("include/global_project/docs/overview.md")
    if overview.is_file():
        yield overview.read_text("utf-8")


def _pagefind_digests() -> Iterator[bytes]:
    """Those of Pagefind's program for browsers, which is inside of its own program."""
    from dbt_graft.catalog.full_text import NoPagefindError, SearchText, write_full_text
    from dbt_graft.catalog.name_index import NameKind

    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder, "site")
        site.mkdir()
        try:
            write_full_text(site, [SearchText(NameKind.TASK, "", "", "")])
        except NoPagefindError:  # then no site has them
            return
        for file in _files(site, ("**/*.js", "**/*.pagefind")):
            yield sha256(file.read_bytes()).digest()


def _design_folder() -> Path:
    from dbt_graft.catalog.build import design_folder  # what makes pages is slow to import

    return design_folder()


def _changed_code() -> Iterator[str]:
    """The pieces of dbt's page that injection changes, and what it puts beside them."""
    yield from (_read(file) for file in _files(_folder_of("dbt_graft.injector"), ("page.*",)))
    try:
        page = stock.read()
        changed = {*_pieces(stock.changed(page, {}))}
    except GraftError:  # without dbt's page no site has it
        return
    for piece in dict.fromkeys(_pieces(page)):
        if piece not in changed or any(sign in piece for sign in _FILLED):
            yield piece


def _theme_assets() -> Path:
    return _folder_of("material") / "templates" / "assets"


def _folder_of(package: str) -> Path:
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) if places else Path("/nonexistent")


def _files(folder: Path, patterns: Iterable[str]) -> Iterator[Path]:
    return (file for pattern in patterns for file in folder.glob(pattern) if file.is_file())


def _read(file: Path) -> str:
    return file.read_text("utf-8", "replace")
