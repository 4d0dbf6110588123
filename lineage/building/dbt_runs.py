"""Records of dbt's own runs, in logs of the engine that dbt runs on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from dbt_graft.lineage.building.foreign_models import DBT_PART
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.records import Access, ColumnEdge, Dataset, Direction, Records, Run, Status

_NEVER = datetime.min.replace(tzinfo=UTC)


def split(records: Records) -> tuple[Records, Records]:
    """Return the records of tasks, and those of dbt's own runs without what is out of date.

    A log of dbt's own has no records of tasks. Of a dataset that several of them show, the edges
    of the last one that wrote it count: models change.
    """
    origins = {
        run.origin
        for run in records.runs
        # An event's run of a model of another project is a task.
        if run.engine == DefinitionKind.DBT and (not run.job or run.origin.endswith(DBT_PART))
    }
    if not origins:
        return records, Records()

    def of_dbt(record: Access | Run | Dataset | ColumnEdge) -> bool:
        # Of a run of events that several logs show, one origin is left.
        return record.origin in origins or record.origin.endswith(DBT_PART)

    def of_task(record: Access | Run | Dataset | ColumnEdge) -> bool:
        return not of_dbt(record)

    dbt = _select(records, of_dbt)
    newest = _newest(dbt)
    edges = tuple(e for e in dbt.column_edges if newest.get(e.to_dataset, e.origin) == e.origin)
    return _select(records, of_task), replace(
        dbt, shapes={}, rejects=(), node_results=(), column_edges=edges
    )


def _select(
    records: Records, wanted: Callable[[Access | Run | Dataset | ColumnEdge], bool]
) -> Records:
    return replace(
        records,
        accesses=tuple(filter(wanted, records.accesses)),
        runs=tuple(filter(wanted, records.runs)),
        datasets=tuple(filter(wanted, records.datasets)),
        column_edges=tuple(filter(wanted, records.column_edges)),
    )


def _newest(records: Records) -> dict[DatasetId, str]:
    """For each dataset the log that wrote it last."""
    last: dict[DatasetId, tuple[datetime, str]] = {}
    for access in records.accesses:
        if access.direction is Direction.WRITE and access.status is not Status.FAILED:
            at = (access.last_at or _NEVER, access.origin)
            last[access.dataset] = max(at, last.get(access.dataset, at))
    return {dataset: origin for dataset, (_, origin) in last.items()}
