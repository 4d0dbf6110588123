"""Rejects of a log: the pieces that could not be used, with their places and reasons."""

from __future__ import annotations

from dataclasses import dataclass, field

from dbt_graft.lineage.records import Reject

_LOG = "whole log"
_MOST = 1_000


@dataclass(slots=True)
class Rejects:
    """The first thousand rejects of a log, and the number of further ones."""

    found: list[tuple[str, str]] = field(default_factory=list)
    more: int = 0

    def add(self, position: str, reason: str) -> None:
        """Add a reject."""
        if len(self.found) < _MOST:
            self.found.append((position, reason))
        else:
            self.more += 1

    def add_for_log(self, reason: str) -> None:
        """Add a reject that is about the log, not about a place in it."""
        self.add(_LOG, reason)

    def join(self, other: Rejects) -> None:
        """Add all rejects of another one."""
        for position, reason in other.found:
            self.add(position, reason)
        self.more += other.more

    def records(self, origin: str) -> tuple[Reject, ...]:
        """The records for the store."""
        rest = [(_LOG, f"{self.more} more pieces could not be used")] if self.more else []
        return tuple(Reject(origin, position, reason) for position, reason in (*self.found, *rest))
