"""Dates downstream that are made of some dates of a dataset: the taint, were these dates bad."""

from __future__ import annotations

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.bad_writes import BadWrite, bad_dates, writes_of_dates
from dbt_graft.analysis.dates.taint import spread
from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.analysis.impact.reached_dates import ReachedDates
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import NO_DATES, Dates, hour_of
from dbt_graft.lineage.errors import GraftError


def reached_dates(
    history: AccessHistory, dataset: DatasetId, dates: Dates, kind: ChangeType
) -> ReachedDates:
    """The dates downstream that these dates of a dataset went into.

    Args:
        kind: Wrong data is what an incident of these dates takes as bad, so that both answer alike;
            any other change is one of all that was ever written for them.
    """
    reached: dict[DatasetId, Dates] = {}
    for (_, output), bad in spread(
        history, _changes(history, dataset, dates, kind)
    ).tainted.items():
        reached[output] = reached.get(output, NO_DATES) | bad
    times = (access.first_at or access.last_at for access in history.accesses())
    first = min(filter(None, times), default=None)
    is_older = first and dates and dates.span[0] < hour_of(first)
    return ReachedDates(dates, reached, first if is_older else None)


def _changes(
    history: AccessHistory, dataset: DatasetId, dates: Dates, kind: ChangeType
) -> list[BadWrite]:
    if kind is ChangeType.DATA_INCORRECT:
        try:
            return bad_dates(history, dataset, dates)
        except GraftError:
            pass  # No incident of these dates can be opened, and they may change all the same.
    return writes_of_dates(history, dataset, dates)
