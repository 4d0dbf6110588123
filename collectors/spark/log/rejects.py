"""Rejects of a log: the pieces that could not be used, with their places and reasons."""

from __future__ import annotations

from dataclasses import dataclass, field

from dbt_graft.lineage.records import Reject

_LOG = "whole log"
_MOST = 1_000


@dataclass(slots=True)
class Rejects:
    """The first thousand rejects of a log, and the number of further ones."""

    entries: list[tuple[str, str]] = field(default_factory=list)
    left_out: int = 0

    def add(self, position: str, reason: str) -> None:
        """Add a reject."""
        if len(self.entries) < _MOST:
            self.entries.append((position, reason))
        else:
            self.left_out += 1

    def add_for_log(self, reason: str) -> None:
        """Add a reject that is about the log, not about a place in it."""
        self.add(_LOG, reason)

    def join(self, other: Rejects) -> None:
        """Add all rejects of another one."""
        for position, reason in other.entries:
            self.add(position, reason)
        self.left_out += other.left_out

    def records(self, origin: str) -> tuple[Reject, ...]:
        """The records for the store."""
        rest = [(_LOG, f"{self.left_out} more pieces could not be used")] if self.left_out else []
        return tuple(
            Reject(origin, position, reason) for position, reason in (*self.entries, *rest)
        )
