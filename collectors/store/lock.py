"""Locks of a store: who is committing, who compacts and who folds.

They are locks of this machine. In a bucket, which has none, commits take turns by a lease; nothing
else is held there, nor where a file system has no locks: a second commit is then noticed by its
positions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from dbt_graft.collectors.store.lease import hold_lease
from dbt_graft.file_lock import Hold, file_lock


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
