"""Closing logs: those of which only old runs are known, so that what these did can stay folded.

A log is closed as one. All its runs ended before a time and may be folded, and so are all runs that
it shares with other logs.
"""

from __future__ import annotations

from datetime import datetime

from dbt_graft.lineage.building.run_group import RunGroup
from dbt_graft.lineage.fold.scope import FoldScope
from dbt_graft.lineage.fold.settled import origins_of
from dbt_graft.lineage.grouping import group_by_key


class ClosingLogs:
    """The logs that may be closed, found group by group.

    Args:
        before: A run that went on until then, or later, keeps its logs open.
    """

    def __init__(self, scope: FoldScope, before: datetime) -> None:
        self._scope = scope
        self._before = before
        self._old: set[str] = set()
        self._open: set[str] = set()
        self._shared: list[set[str]] = []

    def add(self, group: RunGroup) -> None:
        """Take a group of runs, with all that logs show of it."""
        origins = origins_of(group)
        is_old = is_before(group, self._before)
        if is_old:
            self._old |= origins
        if not is_old or not self._scope.allows(group):
            self._open |= origins
        elif len(origins) > 1:
            self._shared.append(origins)

    def keep_open(self, group: RunGroup) -> None:
        """Keep the logs of a group open."""
        self._open |= origins_of(group)

    def closable_logs(self) -> tuple[set[str], int]:
        """The logs that may be closed, and how many others have old runs."""
        shared = group_by_key((origin, origins) for origins in self._shared for origin in origins)
        left_open = set(self._open)
        waiting = [*left_open]
        while waiting:
            for origins in shared.pop(waiting.pop(), ()):
                waiting += origins - left_open
                left_open |= origins
        closing = self._old - left_open
        return closing, len(self._old) - len(closing)


def is_before(group: RunGroup, limit: datetime) -> bool:
    """Whether a group ended before a time; one without any time did not."""
    times = [at for _, run in group.runs for at in (run.started_at, run.ended_at) if at]
    times += [access.last_at for _, access in group.accesses if access.last_at]
    return bool(times) and max(times) < limit
