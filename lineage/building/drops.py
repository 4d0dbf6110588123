"""Drops: which datasets were dropped at a time, or renamed away, and not made again since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Access, Dataset, Direction, Status


class Drops:
    """The last drop and the last write of each dataset, by its accesses.

    Args:
        until: What happened later does not count; None if all does.
    """

    def __init__(self, accesses: Iterable[Access], until: datetime | None = None) -> None:
        self._until = until
        self._done = [access for access in accesses if access.status is not Status.FAILED]
        self._dropped = self._last_times(filter(drops, self._done))

    @cached_property
    def _written(self) -> Mapping[DatasetId, datetime]:
        # Most are never dropped, and then nobody asks.
        writes = (access for access in self._done if access.direction is Direction.WRITE)
        return self._last_times(access for access in writes if not drops(access))

    def _last_times(self, accesses: Iterable[Access]) -> dict[DatasetId, datetime]:
        latest: dict[DatasetId, datetime] = {}
        for access in accesses:
            for at in self._times(access):
                latest[access.dataset] = max(at, latest.get(access.dataset, at))
        return latest

    def drop_time(self, dataset: Dataset) -> datetime | None:
        """The time at which a dataset was dropped; None if it is there."""
        recorded = dataset.dropped_at
        times = [self._dropped.get(dataset.id)]
        if recorded and (self._until is None or recorded <= self._until):
            times.append(recorded)
        dropped = max((at for at in times if at), default=None)
        written = self._written.get(dataset.id) if dropped else None
        if dropped is None or written is None or written < dropped:
            return dropped
        # Of one moment the log itself knows the order.
        return recorded if written == dropped == recorded else None

    def _times(self, access: Access) -> Iterator[datetime]:
        for at in (access.first_at, access.last_at):
            if at and (self._until is None or at <= self._until):
                yield at


def drops(access: Access) -> bool:
    """Whether an access takes the dataset away: it drops it, or gives it another name."""
    if access.direction is Direction.READ:
        return access.operation.renames
    return access.operation.removes
