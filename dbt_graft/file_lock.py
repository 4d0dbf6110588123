"""Locks of files among the processes of this machine; one that ends lets go, however it does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum, auto
from pathlib import Path


class Hold(Enum):
    """A lock as it was got: held, held by another process, or absent where there are no locks."""

    HELD = auto()
    BUSY = auto()
    NONE = auto()


@contextmanager
def file_lock(file: Path, wait: float = -1) -> Iterator[Hold]:
    """Hold a file, which is made for it and goes with it.

    Where it cannot be made or locked (some network file systems, folders that are read-only)
    nothing is held: whoever writes there gets the reason.

    Args:
        wait: Seconds to wait for another process; without end if it is negative.
    """
    from filelock import FileLock, Timeout  # executors of Spark may lack it

    lock = FileLock(file, timeout=wait, fallback_to_soft=False)
    hold = Hold.NONE
    with suppress(OSError):
        try:
            lock.acquire()
            hold = Hold.HELD
        except Timeout:
            hold = Hold.BUSY
    try:
        yield hold
    finally:
        if hold is Hold.HELD:
            # Still held: whoever waits for it sees that it is gone, and makes another.
            with suppress(OSError):
                file.unlink()
            lock.release()
