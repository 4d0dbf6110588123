"""The kind of a dataset from its history: how its dates grow."""

from __future__ import annotations

from dbt_graft.analysis.dates.access_effects import removes_rows
from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.dataset_kind import DatasetKind


def dataset_kind(history: AccessHistory, dataset: DatasetId) -> DatasetKind | None:
    """The declared kind of a dataset, or the one that its runs show; None where nothing does."""
    declared = history.lineage.history.declared_dates.get(dataset)
    if declared and declared.kind:
        return declared.kind
    writes = [write for write in history.writes(dataset) if not removes_rows(write)]
    if not writes:
        is_read = bool(history.reads(dataset)) and not history.upstream.get(dataset)
        return DatasetKind.STATIC if is_read else None
    mappings = [history.mapping(edge) for edge in history.upstream.get(dataset, ())]
    rules = [mapping for mapping in mappings if mapping.period is not None]
    if any(mapping.is_cumulative for mapping in rules):
        return DatasetKind.CUMULATIVE
    if any((mapping.first or 0) < (mapping.last or 0) for mapping in rules):
        return DatasetKind.SLIDING
    if any(write.periods for write in writes):
        return DatasetKind.TIME_SERIES
    if all(write.operation.replaces and write.partitions is None for write in writes):
        return DatasetKind.SNAPSHOT
    if any(
        history.written_dates(write) is not None and not write.operation.replaces
        for write in writes
    ):
        return DatasetKind.TIME_SERIES
    appended = not any(write.operation.replaces for write in writes)
    return DatasetKind.CUMULATIVE if appended else None
