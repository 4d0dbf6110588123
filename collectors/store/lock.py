"""Locks of a store: who is committing, who compacts and who folds.

They are locks of this machine. In a bucket, which has none, commits take turns by a lease; nothing
else is held there, nor where a file system has no locks: a second commit is then noticed by its
positions.

By a lease, who wants to commit announces it in the store.
An announcement is a file beside the tables. Whoever finds the announcement of another takes the own
one back and waits; whoever finds none after writing the own one holds the store. What is written is
listed at once in all stores that Spark can write to, so of two that announce at the same time at
least one finds the other. No request of these systems that pyarrow knows is refused because a file
is there, else one would do.

A machine that died leaves its announcement behind. Others remove it after `LEASE`, by their own
clock; who holds a store that long has lost it, and is refused its last step.
"""

from __future__ import annotations

import logging
import random
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import field
from pathlib import Path

from pyarrow import fs

from dbt_graft.collectors.files import filesystem
from dbt_graft.file_lock import Hold, file_lock
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen

_log = logging.getLogger(__name__)
# Hidden files: no reader, backup or copy of a store has them.
_PREFIX = ".committing-"
# In seconds. A commit takes some, of a large store on a slow server a minute.
LEASE = 300.0
# The share of a lease after which its holder begins no last step, which may take a while.
_SHARE = 0.6
# In seconds: how often others are looked for.
PAUSE = 0.5


@frozen
class _Announcements:
    """The announcements in a store.

    Attributes:
        first_seen: Announcement of another -> when it was seen first, in seconds of this machine.
    """

    place: str
    files: fs.FileSystem
    root: str
    first_seen: dict[str, float] = field(default_factory=dict)

    def others(self, own_path: str = "") -> bool:
        """Whether others have announced a commit; those that died do not count."""
        now, is_held = time.monotonic(), False
        for info in self.files.get_file_info(fs.FileSelector(self.root, allow_not_found=True)):
            if info.base_name.startswith(_PREFIX) and info.path != own_path:
                if now - self.first_seen.setdefault(info.path, now) < LEASE:
                    is_held = True
                else:
                    _log.warning("%s: a commit that did not end is given up", self.place)
                    self.withdraw(info.path)
        return is_held

    def announce(self) -> str:
        """Write an announcement; its path."""
        path = f"{self.root}/{_PREFIX}{uuid.uuid4().hex}"
        try:
            with self.files.open_output_stream(path) as out:
                out.write(b"\n")
        except OSError:
            self.withdraw(path)  # it may be there all the same
            raise
        return path

    def withdraw(self, path: str) -> None:
        """Remove an announcement; where that fails, the others do it later."""
        with suppress(OSError):
            self.files.delete_file(path)


@contextmanager
def hold_lease(store: str) -> Iterator[Callable[[], None]]:
    """Hold a store; others wait.

    Yields:
        A function to be called before the last step. It raises GraftError where that would be too
        late: another machine may hold the store now.

    Raises:
        OSError: The store cannot be written.
    """
    announcements = _Announcements(store, *filesystem(store))
    announcement, began = _take(announcements)

    def ensure_held() -> None:
        is_late = time.monotonic() - began > LEASE * _SHARE
        # A machine that slept meanwhile does not know by its clock.
        if is_late or announcements.files.get_file_info(announcement).type is fs.FileType.NotFound:
            raise GraftError(
                "was not committed: it took so long that another machine may hold the store now",
                place=store,
                remedy="run it again; if it happens again, the store is too slow to be written",
            )

    try:
        yield ensure_held
    finally:
        announcements.withdraw(announcement)


def _take(announcements: _Announcements) -> tuple[str, float]:
    """Wait for a store; the own announcement, and when it was begun."""
    while True:
        while announcements.others():
            time.sleep(PAUSE)
        began = time.monotonic()
        announcement = announcements.announce()
        if not announcements.others(announcement):
            return announcement, began
        announcements.withdraw(announcement)
        # Two that met do not meet again.
        time.sleep(random.uniform(0, 4 * PAUSE))  # noqa: S311


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
        with _lock(store, ".committing.lock"):
            yield lambda: None


def compacting(store: str, *, wait: bool) -> AbstractContextManager[Hold]:
    """Hold a store for one compaction.

    Args:
        wait: Wait for another one; else give up at once.
    """
    return _lock(store, ".compacting.lock", wait=wait)


def folding(store: str) -> AbstractContextManager[Hold]:
    """Hold a store for one fold."""
    return _lock(store, ".folding.lock")


@contextmanager
def _lock(store: str, name: str, *, wait: bool = True) -> Iterator[Hold]:
    if "://" in store:
        yield Hold.NONE
        return
    Path(store).mkdir(parents=True, exist_ok=True)
    with file_lock(Path(store) / name, -1 if wait else 0) as hold:
        yield hold
