"""Work beside other work, on a processor of its own: in a fork, which has the lineage at hand."""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Generic, TypeVar

from dbt_graft.lineage.errors import GraftError

K = TypeVar("K")
T = TypeVar("T")


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
