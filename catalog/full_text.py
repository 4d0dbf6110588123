"""The full-text index of the site, by Pagefind: https://pagefind.app.

Pagefind reads pages of HTML. It gets one for each text, with what search shows of it and nothing
else, so that indexing takes a fraction of the time that the site's pages would take. Its program
exists for the common platforms only; without it search finds names (`name_index`).
"""

from __future__ import annotations

import hashlib
import html
import os
import shutil
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Lock

import orjson

from dbt_graft.catalog.markup import printable
from dbt_graft.catalog.name_index import IndexedName
from dbt_graft.lineage.frozen import frozen

FOLDER = "search/text"
# What the browser needs of Pagefind's output; the rest are user interfaces.
_NEEDED = ("pagefind.js", "pagefind-worker.js", "pagefind-entry.json", "wasm.*", "*.pf_meta")
_FOLDERS = ("index", "fragment")
_DIGEST = "digest.txt"
# Texts of one index: some 26 kB of memory each. The browser asks each index by itself.
_MOST = 4_000
# The stubs of an index are written while Pagefind reads those of another; two of it at a time would
# hold twice the texts.
_AT_ONCE = 2
# Between a text and the words by which it is found, but which are not shown.
SENTINEL = "graftabout"
_STUB = """\
<html lang="en"><body data-kind="{kind}" data-name="{name}" data-path="{path}" data-note="{note}" \
data-platform="{platform}" data-owner="{owner}" data-pagefind-meta="kind[data-kind], \
name[data-name], path[data-path], note[data-note], platform[data-platform], owner[data-owner]">
<p>{text}</p><p>{sentinel} <b data-pagefind-weight="0.2">{name}</b> {tokens}</p></body></html>
"""


@frozen
class SearchText:
    """A page that has more words than its name, as plain text."""

    entry: IndexedName
    text: str


class NoPagefindError(Exception):
    """Pagefind cannot run here."""


def facet_token(facet: str, value: str) -> str:
    """The word that stands for a platform or an owner.

    Pagefind's own filters differ from build to build for the same pages.
    """
    return f"x{hashlib.sha256(f'{facet}:{value}'.encode('utf-8', 'replace')).hexdigest()[:15]}"


def write_full_text(site: Path, texts: Iterable[SearchText], previous: Path | None = None) -> int:
    """Write the full-text index into the site; return the number of its parts, 0 without any text.

    Pagefind holds all pages of an index in memory, so many texts are several indexes, which the
    browser merges; a text is in the same part in each build.

    Args:
        previous: The site of the build before: a part is taken from it where no text has changed.

    Raises:
        NoPagefindError: Pagefind has no program for this platform, or it failed.
    """
    with tempfile.TemporaryDirectory(dir=site.parent, prefix=f".{site.name}-") as folder:
        stubs = _spool_stubs(texts, Path(folder, "stubs"))
        count = -(-len(stubs.places) // _MOST)
        parts: list[list[str]] = [[] for _ in range(count)]
        for name in sorted(stubs.places):
            parts[int(name[:8], 16) % count].append(name)

        alone = Lock()

        def write(number: int) -> None:
            part = Path(FOLDER, str(number))
            before = previous / part if previous else None
            _write_part(stubs, parts[number], Path(folder, str(number)), site / part, before, alone)

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            # Raises the error of a part, after which no other is begun.
            deque(pool.map(write, range(count)), maxlen=0)
    return count


@frozen
class _Stubs:
    """The stubs of all texts: in one file, since together they would fill the memory.

    Attributes:
        places: Where the line of each begins, by its name; a line is the stub as JSON.
    """

    file: Path
    places: Mapping[str, int]

    def read(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """The stubs of these names."""
        with self.file.open("rb") as lines:
            for name in names:
                lines.seek(self.places[name])
                content: str = orjson.loads(lines.readline())
                yield name, content.encode()


def _spool_stubs(texts: Iterable[SearchText], file: Path) -> _Stubs:
    """Write the stubs of texts; of several with one path the last counts."""
    places: dict[str, int] = {}
    end = 0
    with file.open("wb") as lines:
        for text in texts:
            places[_stub_name(text)] = end
            end += lines.write(orjson.dumps(_stub(text)) + b"\n")
    return _Stubs(file, places)


def _write_part(
    stubs: _Stubs,
    names: Sequence[str],
    folder: Path,
    target: Path,
    previous: Path | None,
    alone: Lock,
) -> None:
    """Write one index.

    Args:
        alone: Held while Pagefind runs.
    """
    digest = _digest(stubs.read(names))
    if previous and _read(previous / _DIGEST) == digest:
        shutil.copytree(previous, target, copy_function=_link_file)
        return
    pages, bundle = folder / "pages", folder / "made"
    pages.mkdir(parents=True)
    for name, content in stubs.read(names):
        (pages / name).write_bytes(content)
    with alone:
        _run_pagefind(pages, bundle)
    target.mkdir(parents=True)
    for name in _FOLDERS:
        (bundle / name).replace(target / name)
    for file in (file for pattern in _NEEDED for file in bundle.glob(pattern)):
        file.replace(target / file.name)
    (target / _DIGEST).write_text(digest, encoding="utf-8")
    shutil.rmtree(folder)


def _run_pagefind(pages: Path, out: Path) -> None:
    command = [sys.executable, "-m", "pagefind", "--silent", "--force-language", "en"]
    try:
        done = subprocess.run(
            [*command, "--site", str(pages), "--output-path", str(out)],
            capture_output=True,
            check=False,
            text=True,
            errors="replace",
            cwd=pages,  # it reads a configuration from where it runs
        )
    except OSError as error:
        raise NoPagefindError(str(error)) from error
    if done.returncode or not (out / "pagefind-entry.json").is_file():
        lines = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
        raise NoPagefindError(lines[-1])


def _stub_name(text: SearchText) -> str:
    return f"{hashlib.sha256(text.entry.path.encode()).hexdigest()[:20]}.html"


def _stub(text: SearchText) -> str:
    entry = text.entry
    tokens = (
        *(facet_token("platform", value) for value in entry.platforms),
        *(facet_token("owner", value) for value in entry.owners),
    )
    return _STUB.format(
        kind=entry.kind.name.lower(),
        name=_escape_text(entry.name),
        path=_escape_text(entry.path),
        note=_escape_text(entry.note),
        platform=_escape_text(", ".join(entry.platforms)),
        owner=_escape_text(", ".join(entry.owners)),
        text=_escape_text(text.text),
        sentinel=SENTINEL,
        tokens=" ".join(tokens),
    )


def _escape_text(value: str) -> str:
    return html.escape(printable(value))


def _digest(stubs: Iterable[tuple[str, bytes]]) -> str:
    """The digest of stubs and of the program that indexes them."""
    total = hashlib.sha256(_pagefind_version().encode())
    for name, content in stubs:
        total.update(name.encode() + b"\n" + content)
    return total.hexdigest()


def _pagefind_version() -> str:
    try:
        return version("pagefind")
    except PackageNotFoundError:
        return ""


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _link_file(source: str, target: str) -> None:
    """The same file, or a copy where the file system has no links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
