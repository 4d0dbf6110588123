"""Taints on record: what was bad, since when, and why, until somebody clears them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import Dates
from dbt_graft.lineage.frozen import frozen


@frozen
class RecordedSupersession:
    """A clean write took the place of bad dates of a dataset before the taint was recorded."""

    dataset: DatasetId
    dates: Dates
    task: str
    run: str
    at: datetime


@frozen
class RecordedTaint:
    """A taint in the store.

    Attributes:
        number: Its id.
        at: The time of the newest access that it knew; later ones may supersede it.
        dataset: The dataset that it begins with; of several the first.
        begin: The bad dates of that dataset.
        task, run: The first bad run; empty where no log shows it.
        reason: People's words.
        link: The URL of the incident.
        tainted: Task or definition, and the dataset that it wrote -> the bad dates at that time.
        doubtful: Of them those that may be bad, or not.
        cleared_at: When somebody cleared it; None while it counts.
    """

    number: int
    recorded_at: datetime
    at: datetime
    dataset: DatasetId
    begin: Dates
    task: str = ""
    run: str = ""
    reason: str = ""
    link: str = ""
    tainted: Mapping[tuple[str, DatasetId], Dates] = field(default_factory=dict, hash=False)
    superseded: tuple[RecordedSupersession, ...] = ()
    cleared_at: datetime | None = None
    doubtful: Mapping[tuple[str, DatasetId], Dates] = field(default_factory=dict, hash=False)
