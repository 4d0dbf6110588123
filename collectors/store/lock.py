"""Locks of a store on this machine: who is writing to it, and who is committing.

Where a system has no such lock (Windows, object stores, some network file systems) nothing is
held: a second commit is then noticed by its positions, and leftovers are swept by their age.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_WRITING, _COMMITTING = ".writing.lock", ".committing.lock"


@contextmanager
def writing(store: str) -> Iterator[WritingLock]:
    """Note that this process writes to a store, along with others."""
    with _locked(store, _WRITING) as handle:
        yield WritingLock(handle)


@contextmanager
def committing(store: str) -> Iterator[None]:
    """Hold a store for one commit; other processes wait for theirs."""
    with _locked(store, _COMMITTING, exclusive=True):
        yield


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
def _locked(store: str, name: str, *, exclusive: bool = False) -> Iterator[int | None]:
    try:
        import fcntl
    except ImportError:
        yield None
        return
    if "://" in store:
        yield None
        return
    Path(store).mkdir(parents=True, exist_ok=True)
    handle = os.open(Path(store) / name, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        locked = False
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
            locked = True
        yield handle if locked else None
    finally:
        os.close(handle)
