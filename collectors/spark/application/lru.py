"""A dict of limited size, so that memory does not grow with the length of a log."""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class LruDict(OrderedDict[K, V]):
    """A dict that drops its least recently used entry when it is full."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        """Set an entry and mark it as used."""
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)

    def recall(self, key: K) -> V | None:
        """Return the value and mark it as used; None where there is none."""
        value = self.get(key)
        if value is not None:
            self.move_to_end(key)
        return value
