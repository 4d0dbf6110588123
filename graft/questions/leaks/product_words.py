"""The words that the product itself puts into pages and their JSON.

A hidden name that is one of them cannot be searched for, so they are few: those of code that is
shipped as it is (`shipped_code`) are none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from dbt_graft.analysis.audience.words import WORD
from dbt_graft.graft.questions.leaks.shipped_code import (
    SHORTEST,
    code_pieces,
    design_folder,
    files_in,
    folder_of,
    own_code,
    read_source,
)
from dbt_graft.injector import stock
from dbt_graft.lineage.errors import GraftError

# Whose words get into pages and their JSON: our rooms and dbt's artifacts.
_PACKAGES = (
    *(f"dbt_graft.{room}" for room in ("lineage", "analysis", "catalog", "injector", "exporters")),
    "dbt.artifacts",
)
# The theme's pages, of which the shell of each page is made.
_THEME = ("*.html", "partials/*.html", "partials/javascripts/*.html", "partials/languages/en*")
# Texts in Python's sources, and the fields of its classes, which are keys in JSON; raw texts are
# patterns, which no page shows.
_PYTHON_WORDS = re.compile(
    r'r"(?:[^"\\\n]|\\.)*"'
    r'|("""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^ {4}\w+(?=:))',
    re.MULTILINE,
)
_PYTHON_COMMENT = re.compile(
    r'^\s*"""(?:[^"\\]|\\.|"(?!""))*?"""|(?<!\S)#[^\n]*', re.DOTALL | re.MULTILINE
)
_PAGE_COMMENT = re.compile(r"/\*.*?\*/|\{#.*?#\}|<!--.*?-->", re.DOTALL)
# The start page of dbt docs, where a project has none.
_OVERVIEW = "include/global_project/docs/overview.md"
# Signs of the pieces of dbt's page that take our data.
_FILLED = ("<!doctype", "main.js.", "manifest.json", stock.FAVICON)


@cache
def product_words() -> frozenset[str]:
    """The words of the product's own pages, in lower case.

    They are of templates, of texts in the sources that write pages, and of dbt's artifacts,
    without comments.
    """
    return frozenset(word.casefold() for text in product_texts() for word in WORD.findall(text))


@cache
def product_texts() -> tuple[str, ...]:
    """The texts that the product writes with its own words, without comments."""
    return (*_source_texts(), *_short_lines(), *_changed_code())


def _source_texts() -> Iterator[str]:
    for folder, patterns in (
        (design_folder(), ("**/*.j2", "*.yml")),
        (folder_of("material") / "templates", _THEME),
        (folder_of("dbt"), (_OVERVIEW,)),
    ):
        for file in files_in(folder, patterns):
            yield _PAGE_COMMENT.sub("", read_source(file))
    for package in _PACKAGES:
        for file in files_in(folder_of(package), ("**/*.py",)):
            source = _PYTHON_COMMENT.sub("", read_source(file))
            yield "\n".join(_PYTHON_WORDS.findall(source))


def _short_lines() -> Iterator[str]:
    """The lines of our scripts and styles that are too short to be known again."""
    for text in own_code():
        yield "\n".join(line for line in text.splitlines() if len(line) < SHORTEST)


def _changed_code() -> Iterator[str]:
    """The pieces of dbt's page that injection changes, and what it puts beside them."""
    yield from map(read_source, files_in(folder_of("dbt_graft.injector"), ("page.*",)))
    try:
        page = stock.read()
        changed = {*code_pieces(stock.change_page(page, {}))}
    except GraftError:  # without dbt's page no site has it
        return
    for piece in dict.fromkeys(code_pieces(page)):
        if piece not in changed or any(sign in piece for sign in _FILLED):
            yield piece
