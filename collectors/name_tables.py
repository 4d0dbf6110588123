"""Tables of names, written as texts."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def words_in_order(text: str) -> tuple[str, ...]:
    """The words of a text, in its order."""
    return tuple(text.split())
