"""Locks of a store: who is writing to it, and who is committing.

They are locks of this machine. In a bucket, which has none, commits take turns by a lease; nothing
else is held there. On other systems without locks (Windows, some network file systems) nothing is
held at all: a second commit is then noticed by its positions. Leftovers are swept by their age.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from dbt_graft.collectors.store.lease import hold_lease

_BUSY = frozenset({errno.EAGAIN, errno.EACCES})
_WRITING, _COMMITTING = ".writing.lock", ".committing.lock"
_COMPACTING, _FOLDING = ".compacting.lock", ".folding.lock"


@contextmanager
def writing(store: str) -> Iterator[WritingLock]:
    """Note that this process writes to a store, along with others."""
    with _lock(store, _WRITING) as handle:
        yield WritingLock(handle)


@contextmanager
def committing(store: str) -> Iterator[Callable[[], None]]:
    """Hold a store for one commit; other processes wait for theirs, in a bucket other machines too.

    Yields:
        A function to be called before the last step, which raises GraftError if it is too late.
    """
    if "://" in store:
        with hold_lease(store) as ensure_held:
            yield ensure_held
    else:
        with _lock(store, _COMMITTING, exclusive=True):
            yield lambda: None


@dataclass(frozen=True, slots=True)
class CompactingLock:
    """The lock of a process that compacts.

    Attributes:
        is_held: No other process on this machine compacts.
        is_busy: Another one does, and was not waited for.
    """

    is_held: bool
    is_busy: bool = False


@contextmanager
def compacting(store: str, *, wait: bool) -> Iterator[CompactingLock]:
    """Hold a store for one compaction.

    Args:
        wait: Wait for another one; else give up at once.
    """
    with _open_lock(store, _COMPACTING) as handle:
        if handle is None:
            yield CompactingLock(is_held=False)
            return
        import fcntl

        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError as error:
            yield CompactingLock(is_held=False, is_busy=error.errno in _BUSY)
        else:
            yield CompactingLock(is_held=True)


@contextmanager
def folding(store: str) -> Iterator[bool]:
    """Hold a store for one fold; whether no other process folds it."""
    with _lock(store, _FOLDING) as handle:
        yield handle is None or WritingLock(handle).is_alone()


class WritingLock:
    """The lock of a process that writes."""

    def __init__(self, handle: int | None) -> None:
        self._handle = handle

    def is_alone(self) -> bool:
        """Whether nobody else writes; to be asked when this process has written all."""
        if self._handle is None:
            return False
        import fcntl

        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


@contextmanager
def _lock(store: str, name: str, *, exclusive: bool = False) -> Iterator[int | None]:
    with _open_lock(store, name) as handle:
        if handle is None:
            yield None
            return
        import fcntl

        locked = False
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
            locked = True
        yield handle if locked else None


@contextmanager
def _open_lock(store: str, name: str) -> Iterator[int | None]:
    """The file of a lock, which ends when it is closed; None where a system has no locks."""
    try:
        import fcntl  # noqa: F401 (there is none on Windows)
    except ImportError:
        yield None
        return
    if "://" in store:
        yield None
        return
    Path(store).mkdir(parents=True, exist_ok=True)
    handle = os.open(Path(store) / name, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        yield handle
    finally:
        os.close(handle)
