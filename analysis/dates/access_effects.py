"""Effects of an access: whether it takes data, puts data in, or takes rows out, and when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from dbt_graft.lineage.dates.calendar import ALL_DATES, NO_DATES, Dates, dates_of, entire_dates
from dbt_graft.lineage.dates.period_union import PARTITIONS
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access

_REMOVES = frozenset({Operation.DELETE, Operation.TRUNCATE, Operation.DROP})
# Their rows take the place of those of the same dates.
_REWRITES = frozenset({Operation.MERGE, Operation.RESTORE, Operation.SWITCH, Operation.EXCHANGE})


def takes_data(access: Access) -> bool:
    """Whether an access takes data from its dataset."""
    return access.operation.reads_data


def changes_data(access: Access) -> bool:
    """Whether an access puts data into its dataset, or takes some out."""
    operation = access.operation
    brings = operation.brings_data and operation is not Operation.CREATE_VIEW
    return brings or operation in _REMOVES


def removes_rows(access: Access) -> bool:
    """Whether an access takes rows out and puts none in."""
    return access.operation in _REMOVES


def removed_dates(access: Access, *, perhaps: bool = False) -> Dates:
    """The dates of which a DELETE, TRUNCATE or DROP removes all rows; none where it is not known.

    Args:
        perhaps: Those of which it removes some count, too.
    """
    if access.periods:
        return dates_of(access.periods) if perhaps else entire_dates(access.periods)
    is_part = access.operation is Operation.DELETE or any(
        position.kind == PARTITIONS for position in access.positions
    )
    return NO_DATES if is_part else ALL_DATES


def replaces_rows(access: Access) -> bool:
    """Whether what an access writes takes the place of what was there for the same dates."""
    return access.operation.replaces or access.operation in _REWRITES


def read_dates(reads: Sequence[Access]) -> Dates | None:
    """The dates of several reads; None where one of them names none."""
    if len(reads) == 1:
        periods = reads[0].periods
        return dates_of(periods) if periods else None
    dates = NO_DATES
    for read in reads:
        if not read.periods:
            return None
        dates |= dates_of(read.periods)
    return dates


def is_in_part(access: Access) -> bool:
    """Whether an access is about a part of some of its dates."""
    return any(period.in_part for period in access.periods)


def times(access: Access) -> Sequence[datetime]:
    """The times at which an access counts: when it ended; of several statements the first, too."""
    if access.last_at is None:
        return ()
    if access.statements > 1 and access.first_at and access.first_at < access.last_at:
        return access.first_at, access.last_at
    return (access.last_at,)
