"""Pages -> files, several at a time."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2

from dbt_graft.catalog.beside import processors, settled
from dbt_graft.catalog.page import Page, compile_templates, render
from dbt_graft.catalog.shell import Shells

# As many pages as one process writes faster than two could be started.
_FEW = 400
_AT_ONCE = 25
# Pages that a process writes before a new one takes its place: what it looks at of the lineage
# becomes its own memory, since Python counts references where an object lies. To begin a process
# costs time too, more with a larger lineage: of very many pages each writes more.
_A_LIFE, _MOST_LIVES = 100, 300


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """A page as a file: its address and its title."""

    path: str
    title: str


@dataclass(frozen=True, slots=True)
class PageWriter:
    """Writes pages into a site.

    Attributes:
        pages: Makes each page; a page takes longer to make than to write.
        busy: The processors that other work of the build takes now.
    """

    pages: Sequence[Callable[[], Page]]
    site: Path
    shells: Shells
    jinja: jinja2.Environment
    busy: Callable[[], int] = int

    def write(self, processes: int | None = None) -> list[WrittenPage]:
        """Write all pages, in order.

        Args:
            processes: How many write at a time; by default as many as there are processors.

        Raises:
            GraftError: A template is missing or faulty.
            OSError: A file cannot be written.
        """
        count = len(self.pages)
        if processes is None:
            processes = processors() if count > _FEW else 1
        if processes == 1:
            return self._write(range(count))
        compile_templates(self.jinja)
        found: list[WrittenPage] = []
        life = max(_A_LIFE, count // _MOST_LIVES)
        # A fork has the lineage at hand: nothing is copied but what is written.
        context = multiprocessing.get_context("fork")
        with settled():
            while (start := len(found)) < count:
                some = max(1, processes - self.busy())
                end = min(start + some * life, count)
                parts = [range(at, min(at + _AT_ONCE, end)) for at in range(start, end, _AT_ONCE)]
                with context.Pool(some, _begin, (self,)) as pool:
                    for pages in pool.imap(_write_part, parts):
                        found += pages
        return found

    def _write(self, part: range) -> list[WrittenPage]:
        found = []
        for at in part:
            page = self.pages[at]()
            body = render(page, self.jinja)
            target = self.site / page.path / "index.html"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(self.shells.filled(page, body), encoding="utf-8")
            found.append(WrittenPage(page.path, page.title))
        return found


_writer: PageWriter | None = None


def _begin(writer: PageWriter) -> None:
    """Keep the writer in a new process."""
    global _writer
    _writer = writer


def _write_part(part: range) -> list[WrittenPage]:
    assert _writer
    return _writer._write(part)
