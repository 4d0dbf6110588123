"""Python's search for garbage, paused where there is none."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Pause the collection of reference cycles, while millions of objects without any are made.

    Searching them takes longer than the work itself.
    """
    if not gc.isenabled():
        yield  # Who paused it goes on.
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
