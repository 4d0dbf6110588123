"""Code that is in each site as it was shipped: ours, the theme's, Pagefind's, dbt's page.

It says nothing about a project, so the search of a published folder leaves it out, in files of its
own and around our data: none of its thousands of words hides a name of a column.
"""

from __future__ import annotations

import tempfile
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from dbt_graft.injector import stock
from dbt_graft.lineage.errors import GraftError

# Where a piece of code begins, as a new line does.
FUNCTION = "function("
# Characters of a line that is known again; a shorter one may be anybody's.
SHORTEST = 16
_LONG = 40  # characters of a part of one
_CODE = ("**/*.js", "**/*.css")


def without_shipped(text: str) -> str:
    """Text without the pieces of code that are shipped."""
    first, *others = code_pieces(text)
    if not others:
        return first
    *inner, last = others
    shipped = _shipped_pieces()
    forward, backward = _sorted_pieces()
    # A window of a file begins and ends within a piece.
    if len(first) >= _LONG and _begins_any(backward, first[::-1]):
        first = ""
    if len(last) >= _LONG and _begins_any(forward, last):
        last = ""
    return "\n".join(piece for piece in (first, *inner, last) if piece not in shipped)


@cache
def shipped_digests() -> frozenset[bytes]:
    """The SHA-256 digests of files that are in sites as they were shipped."""
    folders = (design_folder(), _theme_assets())
    files = (file for folder in folders for file in files_in(folder, ("**/*",)))
    digests = (sha256(file.read_bytes()).digest() for file in files)
    return frozenset((*digests, *_pagefind_digests()))


def code_pieces(text: str) -> list[str]:
    """Lines, and functions of code in one line: a change in one of them leaves the others."""
    return text.replace(FUNCTION, f"\n{FUNCTION}").replace("}.md-", "}\n.md-").split("\n")


def own_code() -> Iterator[str]:
    """Our scripts and styles, which are published as they are."""
    for folder in (design_folder(), folder_of("dbt_graft.injector")):
        yield from map(read_source, files_in(folder, _CODE))


def design_folder() -> Path:
    """The designer's folder."""
    from dbt_graft.catalog import build  # what makes pages is slow to import

    return build.design_folder()


def folder_of(package: str) -> Path:
    """The folder of an installed package; one that is not there if it is not installed."""
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) if places else Path("/nonexistent")


def files_in(folder: Path, patterns: Iterable[str]) -> Iterator[Path]:
    """The files of a folder that fit patterns."""
    return (file for pattern in patterns for file in folder.glob(pattern) if file.is_file())


def read_source(file: Path) -> str:
    """The text of a file of ours."""
    return file.read_text("utf-8", "replace")


@cache
def _shipped_pieces() -> frozenset[str]:
    pieces = (piece for text in _shipped_texts() for piece in code_pieces(text))
    return frozenset(
        piece for piece in pieces if len(piece) >= SHORTEST or piece.startswith(FUNCTION)
    )


@cache
def _sorted_pieces() -> tuple[list[str], list[str]]:
    """They as they are, and written backward."""
    shipped = _shipped_pieces()
    return sorted(shipped), sorted(piece[::-1] for piece in shipped)


def _begins_any(pieces: list[str], text: str) -> bool:
    """Whether one of sorted pieces begins with a text."""
    at = bisect_left(pieces, text)
    return at < len(pieces) and pieces[at].startswith(text)


def _shipped_texts() -> Iterator[str]:
    yield from own_code()
    yield from map(read_source, files_in(_theme_assets(), _CODE))
    with suppress(GraftError):  # without dbt's page no site has it
        yield stock.read()


def _theme_assets() -> Path:
    return folder_of("material") / "templates" / "assets"


def _pagefind_digests() -> Iterator[bytes]:
    """Those of Pagefind's program for browsers, which is inside of its own program."""
    from dbt_graft.catalog.full_text import NoPagefindError, SearchText, write_full_text
    from dbt_graft.catalog.name_index import IndexedName, NameKind

    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder, "site")
        site.mkdir()
        try:
            write_full_text(site, [SearchText(IndexedName(NameKind.TASK, "", ""), "")])
        except NoPagefindError:  # then no site has them
            return
        for file in files_in(site, ("**/*.js", "**/*.pagefind")):
            yield sha256(file.read_bytes()).digest()
