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
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from dbt_graft.catalog.markup import printable
from dbt_graft.catalog.name_index import NameKind

FOLDER = "search/text"
# What the browser needs of Pagefind's output; the rest are user interfaces.
_NEEDED = ("pagefind.js", "pagefind-worker.js", "pagefind-entry.json", "wasm.*", "*.pf_meta")
_FOLDERS = ("index", "fragment")
_DIGEST = "digest.txt"
# Between a text and the words by which it is found, but which are not shown.
SENTINEL = "graftabout"
_STUB = """\
<html lang="en"><body data-kind="{kind}" data-name="{name}" data-path="{path}" data-note="{note}" \
data-platform="{platform}" data-owner="{owner}" data-pagefind-meta="kind[data-kind], \
name[data-name], path[data-path], note[data-note], platform[data-platform], owner[data-owner]">
<p>{text}</p><p>{sentinel} <b data-pagefind-weight="0.2">{name}</b> {tokens}</p></body></html>
"""


@dataclass(frozen=True, slots=True)
class SearchText:
    """A page that has more words than its name; other attributes as in the name index.

    Attributes:
        text: Plain text.
    """

    kind: NameKind
    name: str
    path: str
    text: str
    platforms: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    note: str = ""


class NoPagefindError(Exception):
    """Pagefind cannot run here."""


def facet_token(facet: str, value: str) -> str:
    """The word that stands for a platform or an owner.

    Pagefind's own filters differ from build to build for the same pages.
    """
    return f"x{hashlib.sha256(f'{facet}:{value}'.encode('utf-8', 'replace')).hexdigest()[:15]}"


def write_full_text(site: Path, texts: Iterable[SearchText], previous: Path | None = None) -> bool:
    """Write the full-text index into the site; False without any text.

    Args:
        previous: The site of the build before: its index is taken where no text has changed.

    Raises:
        NoPagefindError: Pagefind has no program for this platform, or it failed.
    """
    stubs = {_stub_name(one): _stub(one) for one in texts}
    if not stubs:
        return False
    digest, target = _digest(stubs), site / FOLDER
    if previous and _read(previous / FOLDER / _DIGEST) == digest:
        shutil.copytree(previous / FOLDER, target, copy_function=_linked)
        return True
    with tempfile.TemporaryDirectory(dir=site.parent, prefix=f".{site.name}-") as folder:
        pages, made = Path(folder, "pages"), Path(folder, "made")
        pages.mkdir()
        for name, content in stubs.items():
            (pages / name).write_text(content, encoding="utf-8")
        _run_pagefind(pages, made)
        target.mkdir(parents=True)
        for name in _FOLDERS:
            (made / name).replace(target / name)
        for file in (file for pattern in _NEEDED for file in made.glob(pattern)):
            file.replace(target / file.name)
    (target / _DIGEST).write_text(digest, encoding="utf-8")
    return True


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


def _stub_name(one: SearchText) -> str:
    return f"{hashlib.sha256(one.path.encode()).hexdigest()[:20]}.html"


def _stub(one: SearchText) -> str:
    tokens = (
        *(facet_token("platform", value) for value in one.platforms),
        *(facet_token("owner", value) for value in one.owners),
    )
    return _STUB.format(
        kind=one.kind.name.lower(),
        name=_safe(one.name),
        path=_safe(one.path),
        note=_safe(one.note),
        platform=_safe(", ".join(one.platforms)),
        owner=_safe(", ".join(one.owners)),
        text=_safe(one.text),
        sentinel=SENTINEL,
        tokens=" ".join(tokens),
    )


def _safe(value: str) -> str:
    return html.escape(printable(value))


def _digest(stubs: dict[str, str]) -> str:
    """The digest of all texts and of the program that indexes them."""
    total = hashlib.sha256(_pagefind_version().encode())
    for name, content in sorted(stubs.items()):
        total.update(f"{name}\n{content}".encode())
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


def _linked(source: str, target: str) -> None:
    """The same file, or a copy where the file system has no links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
