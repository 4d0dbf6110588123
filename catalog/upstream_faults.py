"""Faults upstream of datasets, for pages and badges; see `lineage.quality`."""

from __future__ import annotations

from functools import lru_cache

from dbt_graft.analysis.quality.carriers import has_data_of
from dbt_graft.analysis.quality.downstream import Faults, ReachedFault, faults_downstream, nearest
from dbt_graft.analysis.quality.faults import FaultKind, QualityFault, quality_faults
from dbt_graft.analysis.quality.history import write_history
from dbt_graft.catalog.index import Index
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Direction, Status

# Faults that the page of a dataset names.
_MOST = 6


def last_write_failed(index: Index, dataset: DatasetId) -> bool:
    """Whether the newest run of all that write it, or tried to, failed."""
    runs = map(index.last_run, index.lineage.usages_of(dataset, Direction.WRITE))
    dated = [(run.started_at, run.status) for run in runs if run and run.started_at]
    return bool(dated) and max(dated)[1] is Status.FAILED


@lru_cache(maxsize=1)
def upstream_faults(index: Index) -> Faults:
    """For each dataset the faults upstream of it, the nearest first, a few of each kind."""
    faults = quality_faults(index.lineage, index.descriptions)
    if not faults:
        return {}
    has_data = has_data_of(index.lineage, write_history(index.lineage, index.descriptions))
    return faults_downstream(index.impact_graph, faults, has_data)


def shown_faults(index: Index, dataset: DatasetId) -> list[ReachedFault]:
    """The faults upstream that the page of a dataset names, the nearest."""
    return nearest(upstream_faults(index).get(dataset, ()))[:_MOST]


def fault_words(fault: QualityFault) -> str:
    """The fault in words, without its dataset."""
    if fault.kind is FaultKind.WRITE:
        return "last write failed"
    if fault.kind is FaultKind.FRESHNESS and not fault.name:
        return "no new rows"
    return f"{fault.name} of {fault.column} failed" if fault.column else f"{fault.name} failed"
