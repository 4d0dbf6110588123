"""Taints on record as they are now: what is still bad, and what was written again since."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.taint import spread
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import NO_DATES, Dates
from dbt_graft.lineage.recorded_taint import RecordedSupersession, RecordedTaint


@dataclass(frozen=True, slots=True)
class DatasetTaint:
    """A taint on record, as a page of a dataset shows it.

    Attributes:
        tainted: The dates that are still bad.
        superseded: What was written again.
    """

    taint: RecordedTaint
    tainted: Dates
    superseded: tuple[RecordedSupersession, ...] = ()


@dataclass(frozen=True, slots=True)
class TaintsNow:
    """Dataset -> the taints on record that it has or had, the newest first."""

    by_dataset: Mapping[DatasetId, tuple[DatasetTaint, ...]] = field(default_factory=dict)

    def dates(self, dataset: DatasetId) -> Dates:
        """The bad dates of a dataset now, by all of them that count."""
        dates = NO_DATES
        for dataset_taint in self.by_dataset.get(dataset, ()):
            if dataset_taint.taint.cleared_at is None:
                dates |= dataset_taint.tainted
        return dates


def taints_now(history: AccessHistory) -> TaintsNow:
    """The taints on record, gone on with by the accesses since they were recorded."""
    by_dataset: dict[DatasetId, list[DatasetTaint]] = defaultdict(list)
    for taint in history.lineage.history.taints:
        now = spread(history, (), taint.tainted, taint.at + timedelta(microseconds=1))
        again: dict[DatasetId, list[RecordedSupersession]] = defaultdict(list)
        for before in taint.superseded:
            again[before.dataset].append(before)
        for rewrite in now.superseded:
            dataset = rewrite.output[1]
            again[dataset].append(
                RecordedSupersession(dataset, rewrite.dates, rewrite.task, rewrite.run, rewrite.at)
            )
        datasets = {dataset for _, dataset in (*taint.tainted, *now.tainted)} | {*again}
        for dataset in sorted(datasets):
            by_dataset[dataset].append(
                DatasetTaint(taint, now.of_dataset(dataset), tuple(again[dataset]))
            )
    return TaintsNow({dataset: tuple(taints) for dataset, taints in sorted(by_dataset.items())})
