"""Pages -> files, several at a time; and other work beside it, in forks, which have the lineage."""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Generic, TypeVar

import jinja2

from dbt_graft.catalog.page import Page, compile_templates, render
from dbt_graft.catalog.page_keys import Digest, digest_of
from dbt_graft.catalog.shells import Shells
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen

K = TypeVar("K")
T = TypeVar("T")
# As many pages as one process writes faster than two could be started.
_FEW = 400
# Pages that a process writes before a new one takes its place: what it looks at of the lineage
# becomes its own memory, since Python counts references where an object lies.
_A_LIFE, _LEAST = 200, 20


class Beside(Generic[T]):
    """Work that is done beside other work.

    It begins at once in a process of its own, or, without one, when its result is wanted.

    Attributes:
        end: The end of the pipe, of work in a process, out of which its result comes.
    """

    end: Connection

    def __init__(self, work: Callable[[], T], forked: bool) -> None:
        self._work = work
        self._process: ForkProcess | None = None
        if not forked:
            return
        context = multiprocessing.get_context("fork")
        self.end, end = context.Pipe(duplex=False)
        with freeze_memory():
            self._process = context.Process(target=_send, args=(work, end), daemon=True)
            self._process.start()
        end.close()

    def busy(self) -> int:
        """The processors that it takes now: none or one."""
        return int(self._process is not None and not self.end.poll())

    def result(self) -> T:
        """The result of the work; an error of it is raised here."""
        if self._process is None:
            return self._work()
        try:
            value, error = self.end.recv()
        except EOFError:
            self._process.join()
            code = self._process.exitcode
            raise GraftError(f"a process of the build ended early, with {code}") from None
        self.close()
        if error is not None:
            raise error
        result: T = value
        return result

    def close(self) -> None:
        """Wait until its process has ended: nothing writes into the site any more."""
        if self._process is not None:
            self._process.join()


def first_done(works: Mapping[K, Beside[T]]) -> K:
    """Wait until one of these works, each in a process of its own, is done."""
    [first, *_] = wait([work.end for work in works.values()])
    return next(key for key, work in works.items() if work.end is first)


@contextmanager
def freeze_memory() -> Iterator[None]:
    """The garbage collector passes over all that is there, so that forks go on sharing it."""
    if gc.get_freeze_count():  # inside of another one
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def processors() -> int:
    """The processors that may be used; one where this process cannot be forked safely."""
    if sys.platform != "linux" or multiprocessing.current_process().daemon:
        return 1
    return len(os.sched_getaffinity(0))


def _send(work: Callable[[], T], end: Connection) -> None:
    try:
        end.send((work(), None))
    except Exception as error:  # raised again by the build
        end.send((None, error))


@frozen
class WrittenPage:
    """A page as a file.

    Attributes:
        content: The digest of its bytes.
        key: That for which it has these bytes, see `page_keys`; empty if each build makes it.
    """

    path: str
    title: str
    content: Digest
    key: Digest = b""


@frozen
class PageWriter:
    """Writes pages into a site.

    Attributes:
        pages: Makes each page; a page takes longer to make than to write.
        busy: The processors that other work of the build takes now.
        prepare: Works out what many pages need, before processes share the pages: each would do
            it again. A few pages need little of it.
    """

    pages: Sequence[Callable[[], Page]]
    site: Path
    shells: Shells
    jinja: jinja2.Environment
    busy: Callable[[], int] = int
    prepare: Callable[[], None] = lambda: None

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
        self.prepare()
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
