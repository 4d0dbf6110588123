"""Dates of datasets that a change of some dates of a table reaches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import NO_DATES, Dates
from dbt_graft.lineage.dates.date_text import dates_json, dates_text
from dbt_graft.lineage.frozen import frozen

_RANGES = 3


@frozen
class ReachedDates:
    """The dates that are made of those that change, as far as anything wrote them yet.

    Attributes:
        changed: Those that change.
        by_dataset: The dates downstream; a dataset without any has none so far.
        unknown_before: The first access on record, if dates that change are older: what read or
            wrote them before it is not known.
    """

    changed: Dates
    by_dataset: Mapping[DatasetId, Dates]
    unknown_before: datetime | None = None

    def of(self, datasets: Iterable[DatasetId]) -> Dates:
        """The dates of some datasets that are reached."""
        dates = NO_DATES
        for dataset in datasets:
            dates |= self.by_dataset.get(dataset, NO_DATES)
        return dates

    def text(self, *datasets: DatasetId) -> str:
        """The dates of some datasets in a cell."""
        dates = self.of(datasets)
        return dates_text(dates, most=_RANGES) if dates else "none so far"

    def json(self, *datasets: DatasetId) -> object:
        """The dates of some datasets for programs."""
        return dates_json(self.of(datasets))

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about dates that may be missing here, and why."""
        if self.unknown_before is None:
            return ()
        first = f"{self.unknown_before:%Y-%m-%d}"
        return (
            f"no run before {first} is on record: what was made of older dates until then is not "
            "among these dates",
        )
