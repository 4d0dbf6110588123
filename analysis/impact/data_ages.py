"""Ages of the data that a change concerns: of the dataset itself and of what consumers read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from datetime import UTC, datetime

from dbt_graft.analysis.history.data_age import DataAge, WriteHistory, age_text, data_age
from dbt_graft.analysis.render.json import exact_iso
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen

_OLDEST = datetime.min.replace(tzinfo=UTC)


@frozen
class DataAges:
    """The ages of datasets at a moment; each is worked out when somebody looks at it."""

    history: WriteHistory
    now: datetime
    _ages: dict[DatasetId, DataAge] = field(default_factory=dict)

    def of(self, datasets: Iterable[DatasetId]) -> tuple[DatasetId, DataAge] | None:
        """The oldest of some datasets, one whose age is not known before all; None of none."""
        ages = [(dataset, self._age(dataset)) for dataset in datasets]
        return min(ages, key=lambda pair: (pair[1].at or _OLDEST, pair[0]), default=None)

    def text(self, *datasets: DatasetId) -> str:
        """The age of the oldest in a cell."""
        oldest = self.of(datasets)
        return age_text(oldest[1], oldest[0], self.now) if oldest else ""

    def json(self, *datasets: DatasetId) -> object:
        """The age of the oldest for programs."""
        oldest = self.of(datasets)
        if oldest is None:
            return None
        dataset, age = oldest
        return {
            "dataset": str(dataset),
            "at": exact_iso(age.at),
            "source": str(age.source) if age.at else None,
            "unknown": [*map(str, age.unknown)],
        }

    def _age(self, dataset: DatasetId) -> DataAge:
        if dataset not in self._ages:
            self._ages[dataset] = data_age(self.history, dataset, None, self.now)
        return self._ages[dataset]
