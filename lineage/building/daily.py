"""Years by day, as pages show them: the runs of each task, and the rows of each dataset, by day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import date
from typing import NamedTuple

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen

# Days that pages show.
YEAR = 365


class DayRuns(NamedTuple):
    """The runs of a task in one day."""

    day: date
    runs: int
    failed: int


class DayRows(NamedTuple):
    """The rows that tasks wrote into a dataset in one day."""

    day: date
    rows: int


@frozen
class DailyHistory:
    """By day, of each task and dataset the last year up to its newest day, oldest first."""

    tasks: Mapping[str, Sequence[DayRuns]] = field(default_factory=dict)
    datasets: Mapping[DatasetId, Sequence[DayRows]] = field(default_factory=dict)
