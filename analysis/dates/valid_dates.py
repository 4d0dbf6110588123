"""The dates of each dataset that may be used: completed, or perhaps, and not tainted on record."""

from __future__ import annotations

from typing import NamedTuple

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.entity_states import EntityState, entity_states
from dbt_graft.analysis.dates.recorded_states import taints_now
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.date_text import dates_iso
from dbt_graft.lineage.model import Lineage


class UsableDates(NamedTuple):
    """The dates of a dataset that may be used, in ranges.

    Attributes:
        valid: Those that are completed.
        unsure: Those that are completed or partial: no log tells.
    """

    valid: list[list[str | None]]
    unsure: list[list[str | None]]


def usable_dates(lineage: Lineage) -> dict[DatasetId, UsableDates]:
    """Dataset -> its dates that may be used; only datasets that are written by dates."""
    if not any(access.periods for access in lineage.history.accesses):
        return {}
    history = AccessHistory(lineage)
    taints = taints_now(history)
    ranges = {}
    for dataset in lineage.datasets:
        if history.grain(dataset) is None:
            continue
        states = entity_states(history, dataset)
        if states.is_dated:
            by_state, bad = states.dates_by_state(states.written), taints.dates(dataset)
            ranges[dataset] = UsableDates(
                dates_iso(by_state[EntityState.COMPLETED] - bad),
                dates_iso(by_state[EntityState.UNSURE] - bad),
            )
    return ranges
