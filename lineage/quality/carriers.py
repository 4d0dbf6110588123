"""The question whether a dataset has what its parent was last written with."""

from __future__ import annotations

from collections.abc import Callable

from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.quality.deadlines import WriteHistory


def has_data_of(lineage: Lineage, history: WriteHistory) -> Callable[[DatasetId, DatasetId], bool]:
    """Whether a dataset was written after its parent; yes where no log shows it, and of a view."""

    def has_data(parent: DatasetId, dataset: DatasetId) -> bool:
        facts = lineage.datasets.get(dataset)
        if facts and facts.kind is Kind.VIEW:
            return True
        since, written = history.finished.get(parent), history.finished.get(dataset)
        return not since or not written or written[-1] >= since[-1]

    return has_data
