"""The history of datasets: what runs read and wrote, and for which dates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.declared_dates import DeclaredDates
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.recorded_taint import RecordedTaint
from dbt_graft.lineage.records import Access, Run

RunKey = tuple[str, str]


@frozen
class Supersession:
    """A later run that did again what a run did.

    Attributes:
        task, run_id, at: The later run, and when it began or wrote.
        dataset: Where it wrote the same dates again; None where all of the run was done again.
    """

    task: str
    run_id: str
    at: datetime | None
    dataset: DatasetId | None = None


@frozen
class History:
    """The accesses of runs, the runs around them, and words of people about dates of data.

    Attributes:
        accesses: The accesses of lasting datasets with a time.
        orchestrator_runs: The runs of an orchestrator's tasks and DAGs, by id.
        superseded: The runs that were done again, by task and run id, with the later ones.
        declared_dates: What people declare of the dates of datasets.
        partition_columns: The columns that data contracts say datasets are partitioned by, with
            the unit of their dates.
        taints: Taints on record, the newest first.
        fed_again: Task and dataset, where the task puts values of the dataset into it again: into
            the rows of the next day.
    """

    # Each log has its own; what they say is in all else.
    accesses: tuple[Access, ...] = field(default=(), compare=False)
    orchestrator_runs: Mapping[str, Run] = field(default_factory=dict)
    superseded: Mapping[RunKey, tuple[Supersession, ...]] = field(default_factory=dict)
    declared_dates: Mapping[DatasetId, DeclaredDates] = field(default_factory=dict)
    partition_columns: Mapping[DatasetId, Mapping[str, Grain]] = field(default_factory=dict)
    taints: tuple[RecordedTaint, ...] = ()
    fed_again: tuple[tuple[str, DatasetId], ...] = ()
