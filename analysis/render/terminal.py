"""Text from logs for a terminal, without the control characters that would command it."""

from __future__ import annotations

import re

# With those that turn the direction of what follows.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")


def one_line(text: str) -> str:
    """A text without control characters and line ends."""
    return _CONTROL.sub(" ", text)
