"""What of a log could not be used."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

WHOLE = "whole log"
_MOST = 1_000


@dataclass(slots=True)
class Rejects:
    """Places and reasons; of a log that is full of them, the first and how many more there are."""

    found: list[tuple[str, str]] = field(default_factory=list)
    more: int = 0

    def add(self, position: str, reason: str) -> None:
        """Take one."""
        if len(self.found) < _MOST:
            self.found.append((position, reason))
        else:
            self.more += 1

    def add_for_log(self, reason: str) -> None:
        """Take one that has no place."""
        self.add(WHOLE, reason)

    def join(self, other: Rejects) -> None:
        """Take all of another's."""
        for position, reason in other.found:
            self.add(position, reason)
        self.more += other.more

    def rows(self, origin: str) -> list[dict[str, Any]]:
        """Rows of the store's table."""
        rest = [(WHOLE, f"{self.more} more pieces could not be used")] if self.more else []
        return [
            {"origin": origin, "position": position, "reason": reason, "excerpt": ""}
            for position, reason in (*self.found, *rest)
        ]
