"""Pages -> files, several at a time."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import jinja2

from dbt_graft.catalog.beside import Beside, first_done, freeze_memory, processors
from dbt_graft.catalog.page import Page, compile_templates, render
from dbt_graft.catalog.page_keys import Digest, digest_of
from dbt_graft.catalog.shell import Shells

# As many pages as one process writes faster than two could be started.
_FEW = 400
# Pages that a process writes before a new one takes its place: what it looks at of the lineage
# becomes its own memory, since Python counts references where an object lies.
_A_LIFE, _LEAST = 200, 20


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """A page as a file.

    Attributes:
        content: The digest of its bytes.
    """

    path: str
    title: str
    content: Digest


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
        # A fork has the lineage at hand: nothing is copied but what is written.
        parts = _parts(count, processes)
        done: dict[int, list[WrittenPage]] = {}
        works: dict[int, Beside[list[WrittenPage]]] = {}
        with freeze_memory():
            try:
                for part in parts:
                    works[part.start] = Beside(partial(self._write_apart, part), forked=True)
                    while len(works) >= max(1, processes - self.busy()):
                        at = first_done(works)
                        done[at] = works.pop(at).result()
                done |= {at: work.result() for at, work in works.items()}
            finally:
                for work in works.values():
                    work.close()
        return [page for at in sorted(done) for page in done[at]]

    def _write_apart(self, part: range) -> list[WrittenPage]:
        """Write pages in a process that ends then: what it leaves behind need not be collected."""
        gc.disable()
        return self._write(part)

    def _write(self, part: range) -> list[WrittenPage]:
        written = []
        for at in part:
            page = self.pages[at]()
            body = render(page, self.jinja)
            target = self.site / page.path / "index.html"
            target.parent.mkdir(parents=True, exist_ok=True)
            content = self.shells.fill(page, body).encode()
            target.write_bytes(content)
            written.append(WrittenPage(page.path, page.title, digest_of(content)))
        return written


def _parts(count: int, processes: int) -> Iterator[range]:
    """Pages by the process that writes them; the last ones write less, so that all end together."""
    start = 0
    while start < count:
        end = min(count, start + max(_LEAST, min(_A_LIFE, (count - start) // (2 * processes))))
        yield range(start, end)
        start = end
