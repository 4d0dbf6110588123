"""Parsing in a child process, so that a text that kills or hangs the parser costs only itself.

A parser written in C may crash on its input, and no exception interrupts a hang inside it. So a
child does the work, one for each process: Spark has a process for each core already. A batch is
sent in one piece, and each answer comes back as soon as it is ready; when the child is gone, the
first text without an answer is the cause. An alarm of the operating system ends a child that takes
too long, even where its parent is gone.
"""

from __future__ import annotations

import gc
import logging
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Lock
from typing import Generic, TypeVar

from dbt_graft.lineage.errors import exception_reason

_log = logging.getLogger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")

# Far above what the longest text takes that is parsed at all.
SECONDS = 30.0
# Windows has neither fork nor alarms: there, the work is done in this process.
_HAS_FORK = hasattr(signal, "setitimer") and "fork" in multiprocessing.get_all_start_methods()
# A child that starts while another's pipe has both its ends here would keep that one open.
_STARTING = Lock()
# Of a pool: enough for what a child is sent at a time, few enough for them to end together.
_BATCH = 8
_MOST = 8
# Objects before cycles are looked for: a tree has thousands, all of them in cycles.
_YOUNG = 100_000


class Worker(Generic[Item, Result]):
    """A child process that does one kind of work; leaving its context ends the child.

    Args:
        work: Applied to each item. Its results must be picklable.
        failed: An item whose work failed, and the reason -> its result. Reasons: `crashed the
            parser (SIGSEGV)`, `took longer than 30 s`.
        seconds: The longest that one item may take.
    """

    def __init__(
        self,
        work: Callable[[Item], Result],
        failed: Callable[[Item, str], Result],
        seconds: float = SECONDS,
    ) -> None:
        self._work, self._failed, self._seconds = work, failed, seconds
        self._child: BaseProcess | None = None
        self._pipe: Connection | None = None

    def __enter__(self) -> Worker[Item, Result]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def map(self, items: Sequence[Item]) -> list[Result]:
        """The results of all items, in order."""
        if not _HAS_FORK:
            return [_done(self._work, self._failed, item) for item in items]
        results: list[Result] = []
        while len(results) < len(items):
            results += self._answers(items[len(results) :])
            if len(results) < len(items):
                results.append(self._failed(items[len(results)], self._why()))
        return results

    def _answers(self, items: Sequence[Item]) -> Iterator[Result]:
        pipe = self._pipe or self._start()
        with suppress(EOFError, OSError):
            pipe.send(items)
            for _ in items:
                yield pipe.recv()

    def _start(self) -> Connection:
        # A fork has all modules at hand, also those that came in an archive.
        context = multiprocessing.get_context("fork")
        with _STARTING:
            self._pipe, theirs = context.Pipe()
            self._child = context.Process(
                target=_serve,
                args=(theirs, self._pipe, self._work, self._failed, self._seconds),
                daemon=True,
            )
            self._child.start()
            theirs.close()
        return self._pipe

    def _why(self) -> str:
        assert self._child
        self._child.join()
        code = self._child.exitcode or 0
        self.close()
        if code == -signal.SIGALRM:
            return f"took longer than {self._seconds:g} s"
        return f"crashed the parser ({_end_reason(code)})"

    def close(self) -> None:
        """End the child; the next work starts another."""
        if self._child and self._pipe:
            self._pipe.close()
            self._child.kill()
            self._child.join()
            self._child.close()
            self._child = self._pipe = None


class WorkerPool(Generic[Item, Result]):
    """Several workers that share items; leaving its context ends their children."""

    def __init__(
        self,
        work: Callable[[Item], Result],
        failed: Callable[[Item, str], Result],
        processes: int | None = None,
    ) -> None:
        count = (processes or min(os.cpu_count() or 1, _MOST)) if _HAS_FORK else 1
        self._workers = [Worker(work, failed) for _ in range(count)]

    def __enter__(self) -> WorkerPool[Item, Result]:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.close()

    def map(self, items: Sequence[Item], done: Callable[[int], None]) -> list[Result]:
        """The results of all items, in order.

        Args:
            done: Called with the number of items of each batch that is ready.
        """
        results: list[list[Result]] = [[] for _ in range(0, len(items), _BATCH)]
        places = deque(range(len(results)))

        def serve(worker: Worker[Item, Result]) -> None:
            while True:
                try:
                    index = places.popleft()
                except IndexError:
                    return
                batch = items[index * _BATCH : (index + 1) * _BATCH]
                results[index] = worker.map(batch)
                done(len(batch))

        with ThreadPoolExecutor(len(self._workers)) as threads:
            try:
                list(threads.map(serve, self._workers[: len(results)]))
            finally:
                places.clear()  # after Ctrl-C, no further batch begins
        return [result for batch in results for result in batch]


def _serve(
    pipe: Connection,
    other_end: Connection,
    work: Callable[[Item], Result],
    failed: Callable[[Item, str], Result],
    seconds: float,
) -> None:
    """Serve items in the child until its parent closes the pipe or is gone."""
    other_end.close()
    gc.freeze()  # the parent's objects: looking through them would copy their memory
    gc.enable()
    gc.set_threshold(_YOUNG, 10, 10)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # its parent decides
    with suppress(EOFError, OSError):
        while True:
            for item in pipe.recv():
                signal.setitimer(signal.ITIMER_REAL, seconds)
                result = _done(work, failed, item)
                signal.setitimer(signal.ITIMER_REAL, 0)
                pipe.send(result)


def _done(
    work: Callable[[Item], Result], failed: Callable[[Item, str], Result], item: Item
) -> Result:
    try:
        return work(item)
    except Exception as error:
        # The parser raises nothing by contract: an exception is a crash.
        return failed(item, f"crashed the parser ({exception_reason(error, _log)})")


def _end_reason(code: int) -> str:
    """The signal that ended a process, or its exit code."""
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"
