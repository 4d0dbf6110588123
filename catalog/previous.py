"""Planned pages -> files: each is made, or taken from the site of the last build.

A record says which bytes a page had for which key (`page_keys`). It claims nothing about the files
that lie in the site now: each is taken only if its bytes are still those, so a site that somebody
edited, or half of one, costs time and no more. A record that is damaged counts as none.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

import orjson

from dbt_graft.analysis.history.changes import NO_BUILDS, BuildHistory
from dbt_graft.catalog.page import Page
from dbt_graft.catalog.page_keys import Digest, digest_of
from dbt_graft.catalog.writing import PageWriter, WrittenPage
from dbt_graft.lineage.addresses import Address
from dbt_graft.lineage.frozen import frozen
from dbt_graft.replaced_file import replace_file

_log = logging.getLogger(__name__)
# The form of a record, and of the pages in it.
_FORM = b"pages 1"


@frozen
class PreviousSite:
    """The site of the last build.

    Attributes:
        folder: Where it lies; nothing is written there.
        pages: Those with a key, by path.
        keep: Called with each file that is part of the new site as it lies here; without it, files
            are taken over: making their folders takes longer than all else.
    """

    folder: Path = Path()
    pages: Mapping[str, WrittenPage] = field(default_factory=dict)
    keep: Callable[[str], None] | None = None

    def take(self, path: str, key: Digest, site: Path) -> WrittenPage | None:
        """Put a page of this key into the new site; None where it must be made.

        Where it is not kept, it becomes a second name of the same file where the file system has
        such, and is not written.
        """
        recorded = self.pages.get(path)
        if recorded is None or recorded.key != key:
            return None
        file = _file(self.folder, path)
        try:
            content = file.read_bytes()
        except OSError:
            return None
        if digest_of(content) != recorded.content or file.is_symlink():
            return None
        if self.keep:
            self.keep(f"{path}index.html")
            return recorded
        target = _file(site, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(file, target)
        except (OSError, NotImplementedError):
            target.write_bytes(content)
        return recorded

    def has(self, page: WrittenPage) -> bool:
        """Whether a page of the new site lies here with the same bytes."""
        try:
            return digest_of(_file(self.folder, page.path).read_bytes()) == page.content
        except OSError:
            return False


@frozen
class EarlierBuilds:
    """The earlier builds of a site.

    Attributes:
        addresses: Those that they published.
        history: What each published.
        site: That of the last one: pages that did not change are taken from it.
    """

    addresses: tuple[Address, ...] = ()
    history: BuildHistory = NO_BUILDS
    site: PreviousSite = PreviousSite()


def read_previous(record: Path, folder: Path) -> PreviousSite:
    """The site of the last build; without pages where there is no record that can be used."""
    try:
        head, _, content = record.read_bytes().partition(b"\n")
    except OSError:
        return PreviousSite(folder)
    if head != _head(content):
        return PreviousSite(folder)
    pages = {
        path: WrittenPage(path, title, bytes.fromhex(digest), bytes.fromhex(key))
        for path, (key, digest, title) in orjson.loads(content).items()
    }
    return PreviousSite(folder, pages)


def write_record(record: Path, pages: Mapping[str, WrittenPage]) -> None:
    """Write the record for the next build."""
    content = orjson.dumps(
        {path: (page.key.hex(), page.content.hex(), page.title) for path, page in pages.items()}
    )
    try:
        replace_file(record, b"\n".join((_head(content), content)))
    except OSError:
        # The next build makes all pages again, no more.
        _log.debug("the pages are not recorded", exc_info=True)


def _head(content: bytes) -> bytes:
    return b" ".join((_FORM, digest_of(content).hex().encode()))


def _file(site: Path, path: str) -> Path:
    return site / path / "index.html"


@frozen
class PlannedPage:
    """A page to be.

    Attributes:
        key: See `page_keys`; without one it is made in every build.
    """

    path: str
    make: Callable[[], Page]
    key: Digest = b""


def write_pages(
    planned: Sequence[PlannedPage], writer: PageWriter, previous: PreviousSite
) -> tuple[list[WrittenPage], int]:
    """Put pages into a site; how many of them are new, or other than in the previous site.

    Args:
        writer: The writer of the site, without pages.

    Raises:
        GraftError: A template is missing or faulty.
        OSError: A file cannot be written.
    """
    site, taken = writer.site, {}
    times = Counter(page.path for page in planned)
    for page in planned:
        # Of several pages with one path the last is the one that stays.
        if page.key and times[page.path] == 1:
            taken[page.path] = previous.take(page.path, page.key, site)
    makes = [page.make for page in planned if not taken.get(page.path)]
    new_pages = replace(writer, pages=makes).write()
    rest = iter(new_pages)
    pages = [taken.get(page.path) or replace(next(rest), key=page.key) for page in planned]
    return pages, sum(not previous.has(page) for page in new_pages)
