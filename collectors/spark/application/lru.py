"""A mapping that keeps what was used last, so that it is no larger for a longer log."""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class LruDict(OrderedDict[K, V]):
    """So many entries at most; what was neither set nor looked up for the longest time goes."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        """Set it, as the latest."""
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)

    def recall(self, key: K) -> V | None:
        """The value, which counts as used; None where there is none."""
        found = self.get(key)
        if found is not None:
            self.move_to_end(key)
        return found
