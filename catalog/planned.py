"""Planned pages -> files: each is made, or taken from the previous site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from dbt_graft.catalog.page import Page
from dbt_graft.catalog.page_keys import Digest
from dbt_graft.catalog.previous import PreviousSite, RecordedPage
from dbt_graft.catalog.writing import PageWriter, WrittenPage


@dataclass(frozen=True, slots=True)
class PlannedPage:
    """A page to be.

    Attributes:
        key: See `page_keys`; without one it is made in every build.
    """

    path: str
    make: Callable[[], Page]
    key: Digest | None = None


@dataclass(frozen=True, slots=True)
class WrittenPages:
    """The pages of a site, in order.

    Attributes:
        changed: How many of them are new, or other than in the previous site.
        record: Those with a key, by path.
    """

    pages: Sequence[WrittenPage]
    changed: int
    record: Mapping[str, RecordedPage]


def write_pages(
    planned: Sequence[PlannedPage], writer: PageWriter, previous: PreviousSite
) -> WrittenPages:
    """Put pages into a site.

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
    pages, record = [], {}
    for page in planned:
        recorded = taken.get(page.path)
        written = recorded.page if recorded else next(rest)
        pages.append(written)
        if page.key:
            record[page.path] = recorded or RecordedPage(page.key, written)
    changed = sum(not previous.has(page) for page in new_pages)
    return WrittenPages(pages, changed, record)
