"""The question whether a dataset has what its parent was last written with."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import cache

from dbt_graft.analysis.history.data_age import WriteHistory
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.model import Lineage


def has_data_of(lineage: Lineage, history: WriteHistory) -> Callable[[DatasetId, DatasetId], bool]:
    """Whether a dataset was written after its parent; yes where no log shows it, and of a view.

    A view has the data of the tables behind it, whenever it was made; its own time counts where
    theirs are not known.
    """

    def is_view(dataset: DatasetId) -> bool:
        facts = lineage.datasets.get(dataset)
        return facts is not None and facts.kind is Kind.VIEW

    @cache
    def written_at(dataset: DatasetId) -> datetime | None:
        seen, waiting = {dataset}, [dataset]
        times: list[datetime] = []
        while waiting:
            current = waiting.pop()
            if not is_view(current):
                times += history.finished.get(current, ())[-1:]
                continue
            parents = set(history.parents(current)) - seen
            seen |= parents
            waiting += parents
        return max(times or history.finished.get(dataset, ()), default=None)

    def has_data(parent: DatasetId, dataset: DatasetId) -> bool:
        if is_view(dataset):
            return True
        since, written = written_at(parent), written_at(dataset)
        return not since or not written or written >= since

    return has_data
