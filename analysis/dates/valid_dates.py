"""The dates of each dataset that may be used: completed, and not tainted on record."""

from __future__ import annotations

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.entity_states import EntityState, entity_states
from dbt_graft.analysis.dates.recorded_states import taints_now
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.date_text import dates_iso
from dbt_graft.lineage.model import Lineage


def valid_dates(lineage: Lineage) -> dict[DatasetId, list[list[str | None]]]:
    """Dataset -> its dates that may be used, in ranges; only those that are written by dates."""
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
            completed = states.dates_by_state(states.written)[EntityState.COMPLETED]
            ranges[dataset] = dates_iso(completed - taints.dates(dataset))
    return ranges
