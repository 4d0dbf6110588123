"""Tables that live as long as a run: made in it and dropped in it, whatever they are called.

Teams use such tables as temporary ones, so they are seen through like those. To rename a table is
to drop the old name and make the new one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from dbt_graft.lineage.building.drops import drops
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.records import Access, Direction, Status


def transient(accesses: Iterable[Access]) -> frozenset[DatasetId]:
    """The lasting datasets that every run which used them made first and dropped last.

    One that two tasks use is not among them: it hands data from the one to the other. Nor is one
    of which a log does not show when.
    """
    done = [a for a in accesses if a.status is not Status.FAILED]
    dropped = {a.dataset for a in done if a.kind is not Kind.TEMPORARY and drops(a)}
    if not dropped:
        return frozenset()
    runs: dict[DatasetId, dict[tuple[str, str], list[Access]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for access in done:
        if access.dataset in dropped:
            runs[access.dataset][access.task, access.run_id].append(access)
    return frozenset(
        dataset
        for dataset, by in runs.items()
        if len({task for task, _ in by}) == 1 and all(map(_is_within_run, by.values()))
    )


def _is_within_run(run: Sequence[Access]) -> bool:
    """Whether a run's accesses of a dataset begin with making it and end with dropping it."""
    created, dropped, used = [], [], []
    for access in run:
        if access.first_at is None or access.last_at is None:
            return False
        times = (access.first_at, access.last_at)
        if drops(access):
            dropped.append(times)
        elif access.direction is Direction.WRITE and access.operation.creates:
            created.append(times)
        else:
            used.append(times)
    if not created or not dropped:
        return False
    # A drop before it is made is that of a run that broke off: DROP TABLE IF EXISTS.
    begins = min(first for first, _ in created)
    return all(first >= begins for first, _ in used) and max(map(_end, dropped)) > max(
        map(_end, [*created, *used])
    )


def _end(times: tuple[datetime, datetime]) -> tuple[datetime, datetime]:
    """The last time of a shape, then the first: a run may do all again at one time."""
    first, last = times
    return last, first
