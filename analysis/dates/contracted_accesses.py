"""Accesses to datasets that a data contract says are partitioned by dates.

No log shows their partitions, and an overwrite of all would be a snapshot. By the contract it is
one of dates: those of the interval that its run is for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dbt_graft.lineage.building.nominal_periods import data_interval
from dbt_graft.lineage.dates.period import Period
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access


def contracted_accesses(lineage: Lineage) -> Iterable[Access]:
    """The accesses in logs, overwrites without dates with those of their run's data interval."""
    accesses, partitioned = lineage.history.accesses, lineage.history.partition_columns
    return _with_intervals(lineage) if partitioned else accesses


def _with_intervals(lineage: Lineage) -> Iterator[Access]:
    orchestrators = lineage.history.orchestrator_runs
    runs = {(run.task, run.run_id): run for task in lineage.tasks.values() for run in task.runs}
    intervals: dict[tuple[str, str], Period | None] = {}
    for access in lineage.history.accesses:
        if (
            access.dataset in lineage.history.partition_columns
            and access.operation is Operation.INSERT_OVERWRITE
            and access.partitions is None
            and not access.periods
        ):
            key = access.task, access.run_id
            if key not in intervals:
                intervals[key] = data_interval(runs.get(key), orchestrators)
            if period := intervals[key]:
                access = replace(access, periods=(period,))
        yield access
