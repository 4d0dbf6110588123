"""Results that are remembered by texts, until these are too many or too long."""

from __future__ import annotations

from typing import Generic, TypeVar

Result = TypeVar("Result")

# By number, and by the length of all texts in characters.
_MOST, _MOST_CHARACTERS = 50_000, 16_000_000


class Remembered(Generic[Result]):
    """Texts -> results; too many are forgotten all at once."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._results: dict[str, Result] = {}
        self._characters = 0

    def get(self, text: str) -> Result | None:
        """The result of a text; None where it is not known."""
        return self._results.get(text)

    def add(self, text: str, result: Result) -> Result:
        """Remember the result of a text, and return it."""
        self._characters += len(text)
        if len(self._results) >= self._most or self._characters > _MOST_CHARACTERS:
            self._results.clear()
            self._characters = len(text)
        self._results[text] = result
        return result
