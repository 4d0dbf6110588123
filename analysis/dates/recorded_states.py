"""Taints on record as they are now: what is still bad, and what was written again since."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import field
from datetime import timedelta

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.taint import spread
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import NO_DATES, Dates
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.recorded_taint import RecordedSupersession, RecordedTaint


@frozen
class DatasetTaint:
    """A taint on record, as a page of a dataset shows it.

    Attributes:
        tainted: The dates that are still bad, or may be.
        doubtful: Of them those that may be.
        superseded: What was written again.
    """

    taint: RecordedTaint
    tainted: Dates
    superseded: tuple[RecordedSupersession, ...] = ()
    doubtful: Dates = NO_DATES


@frozen
class TaintsNow:
    """Dataset -> the taints on record that it has or had, the newest first."""

    by_dataset: Mapping[DatasetId, tuple[DatasetTaint, ...]] = field(default_factory=dict)

    def dates(self, dataset: DatasetId) -> Dates:
        """The dates of a dataset that are bad now, or may be, by all of them that count."""
        certain, doubtful = self.parts(dataset)
        return certain | doubtful

    def parts(self, dataset: DatasetId) -> tuple[Dates, Dates]:
        """The dates that are bad in any case, and those beside them that may be."""
        certain = doubtful = NO_DATES
        for dataset_taint in self.by_dataset.get(dataset, ()):
            if dataset_taint.taint.cleared_at is None:
                certain |= dataset_taint.tainted - dataset_taint.doubtful
                doubtful |= dataset_taint.doubtful
        return certain, doubtful - certain


def taints_now(history: AccessHistory) -> TaintsNow:
    """The taints on record, gone on with by the accesses since they were recorded."""
    by_dataset: dict[DatasetId, list[DatasetTaint]] = defaultdict(list)
    for taint in history.lineage.history.taints:
        since = taint.at + timedelta(microseconds=1)
        now = certain = spread(history, (), taint.tainted, since)
        if taint.doubtful:
            sure = {
                output: dates - taint.doubtful.get(output, NO_DATES)
                for output, dates in taint.tainted.items()
            }
            certain = spread(history, (), sure, since)
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
            tainted = now.of_dataset(dataset)
            doubtful = tainted - certain.of_dataset(dataset, is_certain=True)
            by_dataset[dataset].append(
                DatasetTaint(taint, tainted, tuple(again[dataset]), doubtful)
            )
    return TaintsNow({dataset: tuple(taints) for dataset, taints in sorted(by_dataset.items())})
