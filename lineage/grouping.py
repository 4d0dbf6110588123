"""Values by key, each list in the order of the values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def group_by_key(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """For each key the values that come with it."""
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
